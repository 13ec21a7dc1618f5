"""Labels from trees: by hand on real sentences, by construction, and on generated sentences."""

import io
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from helpers.conllu_files import read_conllu
from helpers.oracles.row_agreement import Agreement, Disagreement, Label, compare_rows
from helpers.runs.natural_tables import read_treebank_rows
from helpers.shared import needs_shared
from helpers.strategies.strategies import full_events
from helpers.strategies.tree_strategies import nltk_trees
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree as NltkTree

from sentprobe.generator.events.event import (
    Event,
    Mood,
    Number,
    Participant,
    Reflexive,
    Tense,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import write_conllu, write_tree
from sentprobe.lexicon import english
from sentprobe.probes.corpus.main_clauses import find_head_noun, find_main_clause
from sentprobe.probes.corpus.table_rows import SCHEMA, Row, RowError, build_row, make_record_batch
from sentprobe.probes.corpus.tree_files import compute_depth, find_coordination, list_top_constituents
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence, read_tree

TENSES = {"VBD": Tense.PAST, "VBP": Tense.PRESENT, "VBZ": Tense.PRESENT}


def make_row(tree: str) -> Row:
    return build_row(ParsedSentence(tree=tree))


def find_words(row: Row) -> tuple[str | None, str | None, str | None]:
    """Return main verb, subject and object as words."""
    subject = None if row.subject is None else row.tokens[row.subject.index]
    verb = None if row.verb is None else row.tokens[row.verb]
    return verb, subject, None if row.object is None else row.tokens[row.object.index]


def is_tensed_and_uncoordinated(event: Event) -> bool:
    persons = [person for clause, _ in iterate_clauses(event) for _, person in iterate_participants(clause)]
    return event.tense is not None and all(person.conjunct is None for person in persons)


statements = full_events(english(), moods=(Mood.STATEMENT,)).filter(is_tensed_and_uncoordinated)


@given(statements)
def test_generated_sentences_get_event_labels(event: Event) -> None:
    row = make_row(write_tree(realize(event, english())))
    assert row.verb is not None
    assert TENSES[row.tags[row.verb]] is event.tense
    subject = event.argument(event.subject)
    assert isinstance(subject, Participant)
    assert row.subject is not None
    assert row.subject.number is subject.number
    assert row.tags[row.subject.index] in (("NN", "NNP") if subject.number is Number.SINGULAR else ("NNS",))
    if event.voice == "active" and isinstance(event.patient, Participant | Reflexive):
        assert row.object is not None
        assert row.object.number is event.patient.number
    else:
        assert row.object is None


@given(st.lists(statements, min_size=1, max_size=4))
def test_generated_trees_and_dependencies_agree(events: list[Event]) -> None:
    text = "".join(write_conllu(realize(event, english())) for event in events)
    sentences = [_require_parsed(sentence) for sentence in read_conllu(io.StringIO(text))]
    tree_rows = [build_row(sentence) for sentence in sentences]
    dependency_rows = [build_row(replace(sentence, tree=None)) for sentence in sentences]
    agreements = compare_rows(zip(tree_rows, dependency_rows, strict=True))
    for label in (Label.VERB, Label.SUBJECT, Label.OBJECT, Label.OBJECT_NUMBER, Label.TENSE):
        assert agreements[label].rate == 1


def _require_parsed(outcome: ParsedSentence | Mistake) -> ParsedSentence:
    assert isinstance(outcome, ParsedSentence), str(outcome)
    return outcome


@given(nltk_trees())
def test_depth_and_top_are_nltks(tree: NltkTree) -> None:
    row = make_row(tree.pformat(margin=10_000))
    assert row.depth == tree.height() - 1
    top = tree[0] if len(tree) == 1 else tree
    labels = [child.label().split("|")[0] for child in top]
    categories = [label if label.startswith("-") else label.split("-")[0] for label in labels]
    assert row.top == " ".join(categories)


@given(nltk_trees())
def test_row_is_reread_from_its_tree(tree: NltkTree) -> None:
    row = make_row(tree.pformat(margin=10_000))
    assert row.tree is not None
    reread = make_row(row.tree)
    assert reread == row
    assert len(row.tokens) == len(row.tags) == len(row.text.split())


@examples(40)
@given(st.lists(nltk_trees(), max_size=3))
def test_columns_hold_rows(trees: list[NltkTree]) -> None:
    rows = [make_row(tree.pformat(margin=10_000)) for tree in trees]
    batch = make_record_batch(rows, first=7)
    batch.validate(full=True)
    assert batch.schema == SCHEMA
    for number, (row, cells) in enumerate(zip(rows, batch.to_pylist(), strict=True)):
        assert cells["id"] == 7 + number
        assert (cells["text"], tuple(cells["tokens"])) == (row.text, row.tokens)
        assert cells["length"] == len(row.tokens)
        assert (cells["tree"], cells["depth"], cells["top"]) == (row.tree, row.depth, row.top)
        assert cells["verb_index"] == row.verb
        assert cells["verb_tag"] == (None if row.verb is None else row.tags[row.verb])
        for name, noun in (("subject", row.subject), ("object", row.object)):
            assert cells[f"{name}_index"] == (noun and noun.index)
            assert cells[f"{name}_number"] == (noun and noun.number)
            assert cells[f"{name}_tag"] == (None if noun is None else row.tags[noun.index])
        assert (cells["clauses"] is None) == (row.clauses is None)


def test_depth_is_that_of_paper() -> None:
    assert compute_depth(read_tree("(ROOT (S (NP (NN word))))")) == 4
    assert compute_depth(read_tree("(ROOT (S (VP (VB see) (NP (NN word)))))")) == 5
    tree = read_tree(
        "(ROOT (S (ADVP (RB Then)) (NP (NP (ADJP (RB very) (JJ dark)) (JJ gray) (NNS letters))"
        " (PP (IN on) (NP (DT a) (JJ black) (NN screen)))) (VP (VBD appeared)) (. .)))"
    )
    assert list_top_constituents(tree) == ("ADVP", "NP", "VP", ".")


HEADS = {
    "(NP (DT the) (NN bus) (NN driver))": ("driver", "sg"),
    "(NP (NP (DT the) (NNS drivers)) (PP (IN of) (NP (DT the) (NN bus))))": ("drivers", "pl"),
    "(NP (NP (NNP Ann) (POS 's)) (NNS books))": ("books", "pl"),
    "(NP (NNP Ann) (POS 's))": ("Ann", "sg"),
    "(NP (NP (DT the) (NN man)) (CC and) (NP (DT the) (NN boy)))": ("man", "pl"),
    "(NP (NP (DT the) (NN man)) (CC or) (NP (DT the) (NN boy)))": ("man", None),
    "(NP (NN bread) (CC and) (NN butter))": ("bread", "pl"),
    "(NP (NN bread) (, ,) (CC and) (NN butter))": ("bread", "pl"),
    "(NP (NN profit) (CC and) (NN loss) (NN account))": ("account", "sg"),
    "(NP (JJ black) (CC and) (JJ white) (NN cat))": ("cat", "sg"),
    "(NP (NP (NNP Ann)) (, ,) (NP (DT the) (NNS boys)) (, ,))": ("Ann", "sg"),
    "(NP (QP (IN about) (CD ten)) (NNS men))": ("men", "pl"),
    "(NP (PRP they))": ("they", "pl"),
    "(NP (PRP you))": ("you", None),
    "(NP (EX there))": ("there", None),
    "(NP (DT those))": ("those", "pl"),
    "(NP (DT the) (JJ rich))": ("rich", None),
    "(NP ($ $) (CD 5))": ("$", None),
    "(NP (CD three))": ("three", None),
    "(NP (PRP she) (RB alone))": ("she", "sg"),
    "(WHNP (WDT which) (NNS men))": ("men", "pl"),
    "(NP (DT the) (NX (NX (NN man)) (CC and) (NX (NN boy))))": ("man", "pl"),
}


@pytest.mark.parametrize("phrase", HEADS)
def test_heads_of_noun_phrases(phrase: str) -> None:
    tree = read_tree(f"(ROOT (S {phrase} (VP (VBD slept))))")
    noun = find_head_noun(tree, 2)
    assert (tree.words[noun.index], noun.number) == HEADS[phrase]


@pytest.mark.parametrize("verb", ["(VBP are) {}", "(VBP have) (VP (VBN been) {} (NP (NN today)))"])
@pytest.mark.parametrize("phrase", HEADS)
def test_existential_subject_is_announced_noun(phrase: str, verb: str) -> None:
    tree = read_tree(f"(S (NP (EX There)) (VP {verb.format(phrase)}))")
    clause = find_main_clause(tree)
    assert clause.subject is not None
    assert (tree.words[clause.subject.index], clause.subject.number) == HEADS[phrase]
    assert clause.object is None


CLAUSES = {
    # auxiliaries: the finite one is the verb, and the object is that of the last
    "(S (NP (NNS men)) (VP (VBP have) (VP (VBN been) (VP (VBG eating) (NP (NN snow))))))": (*("have", "men", "snow"),),
    "(S (NP (PRP He)) (VP (MD will) (RB not) (VP (VB go))) (. .))": ("will", "He", None),
    "(S (NP (PRP He)) (VP (VBD was) (NP (DT a) (NN man))) (. .))": ("was", "He", None),
    "(S (NP (PRP He)) (VP (VBD became) (NP (NN king))))": ("became", "He", None),
    # of several verb phrases or clauses the first
    "(S (NP (PRP He)) (VP (VP (VBD ate) (NP (NN fish))) (CC and) (VP (VBZ drinks))))": (*("ate", "He", "fish"),),
    "(S (S (NP (PRP I)) (VP (VBP sing))) (CC and) (S (NP (NNS cats)) (VP (VBD ran))))": (*("sing", "I", None),),
    "(S (S (VP (VBG Seeing) (NP (PRP it)))) (, ,) (S (NP (PRP he)) (VP (VBD ran))))": (*("ran", "he", None),),
    # quotations
    "(S (`` ``) (S (NP (PRP I)) (VP (VBP go))) (, ,) ('' '') (NP (PRP he)) (VP (VBD said)))": (*("said", "he", None),),
    "(SINV (`` ``) (S (VP (VB Go))) ('' '') (VP (VBD said)) (NP (NNS boys)) (. .))": (*("said", "boys", None),),
    # inversion and questions
    "(SQ (VBP Do) (NP (PRP you)) (VP (VB see) (NP (DT the) (NN sea))) (. ?))": (*("Do", "you", "sea"),),
    "(SBARQ (WHNP (WDT Which) (NNS men)) (SQ (VP (VBD came))) (. ?))": ("came", "men", None),
    "(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP he)) (VP (VB say))) (. ?))": (*("did", "he", None),),
    "(S (MD Could) (NP (NNP Ann)) (VP (VB come)))": ("Could", "Ann", None),
    "(S (ADVP (RB Here)) (VP (VBZ comes)) (NP (NN Ann)))": ("comes", None, None),
    "(SINV (ADVP (RB Never)) (VBD had) (NP (NN man)) (VP (VBN seen) (NP (PRP it))))": (*("had", "man", "it"),),
    # existentials: the noun that there announces
    "(S (NP (EX There)) (VP (VBP are) (NP (CD two) (NNS men)) (PP (IN in) (NP (PRP it)))))": (*("are", "men", None),),
    "(S (NP-SBJ (EX There)) (VP (VBZ 's) (NP-TMP (NN today)) (NP-PRD (DT a) (NN man))))": (*("'s", "man", None),),
    "(S (NP (EX There)) (VP (MD must) (VP (VB have) (VP (VBN been) (NP (NNS men))))))": (*("must", "men", None),),
    "(S (NP (EX There)) (VP (VBD came) (NP (DT that) (NN night)) (NP (DT a) (NN man))))": (*("came", "man", None),),
    "(S (NP (EX There)) (VP (VBD were) (NP (NNS moments))))": ("were", "moments", None),
    "(SQ (VBP Are) (NP (EX there)) (NP (DT any) (NNS men)) (. ?))": ("Are", "men", None),
    "(SBARQ (WHNP (WRB How) (JJ many) (NNS men)) (SQ (VBP are) (NP (EX there))) (. ?))": (*("are", "men", None),),
    "(S (NP (EX There)) (VP (VBZ seems) (S (VP (TO to) (VP (VB be) (NP (NN man)))))))": (*("seems", "There", None),),
    # commands, infinitives, fragments
    "(S (VP (VB Go) (NP (NN home))) (. !))": ("Go", None, "home"),
    "(S (VP (TO To) (VP (VB be))))": (None, None, None),
    "(FRAG (NP (NN man)))": (None, None, None),
    "(NP (NN man))": (None, None, None),
    # objects: not what says when, not the person who gets it, not an emphatic pronoun
    "(S (NP (PRP I)) (VP (VBD gave) (NP (DT the) (NN man)) (NP (DT a) (NN dog))))": (*("gave", "I", "dog"),),
    "(S (NP (PRP I)) (VP (VBD saw) (NP (PRP him)) (NP (JJ last) (NN year))))": ("saw", "I", "him"),
    "(S (NP (PRP I)) (VP (VBD left) (NP (JJ last) (NN year))))": ("left", "I", None),
    "(S (NP (PRP I)) (VP (VBD spent) (NP (DT the) (NN year))))": ("spent", "I", "year"),
    "(S (NP (PRP I)) (VP (VBD did) (NP (PRP it)) (NP (PRP myself))))": ("did", "I", "it"),
    "(S (NP (PRP I)) (VP (VBD came) (CC and) (VBD saw) (NP (NNP Ann))))": ("came", "I", "Ann"),
    "(S (NP (PRP I)) (NP (DT this) (NN year)) (VP (VBD fell)))": ("fell", "I", None),
    # function tags decide where there are any
    "(S (NP-TMP (NN war)) (NP-SBJ (PRP he)) (VP (VBD ran) (NP-EXT (DT a) (NN mile))))": (*("ran", "he", None),),
    "(S (SBAR-SBJ (WHNP (WP What)) (S (NP-SBJ (PRP he)) (VP (VBD did)))) (VP (VBD hurt)))": (*("hurt", None, None),),
    "(S (NP-SBJ (PRP He)) (VP (VBD spent) (NP (DT this) (NN year))))": ("spent", "He", "year"),
}


@pytest.mark.parametrize("tree", CLAUSES)
def test_main_clauses(tree: str) -> None:
    assert find_words(make_row(tree)) == CLAUSES[tree]


FIRST = "(S (NP (PRP I)) (VP (VBP sing)))"
SECOND = "(S (NP (PRP you)) (VP (VBP dance) (ADVP (RB well))))"


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (f"(S {FIRST} (CC and) {SECOND} (. .))", (2, (0, 2), (3, 6))),
        (f"(S {FIRST} (, ,) (CC but) {SECOND})", (3, (0, 2), (4, 7))),
        (f"(S {FIRST} (, ,) {SECOND} (. .))", None),
        (f"(S {FIRST} (CC and) {SECOND} (CC and) {FIRST})", None),
        (f"(S (`` ``) {FIRST} (CC and) {SECOND} (. .))", (3, (1, 3), (4, 7))),
        (f"(S {FIRST} (: ;) (CC and) {SECOND} (. .) ('' ''))", (3, (0, 2), (4, 7))),
        (f"(S {FIRST} (`` ``) (CC and) {SECOND} (. .) ('' ''))", None),
        (f"(S {FIRST} (CC and) (S (NP (NN rain))))", None),
        (f"(S (CC And) {FIRST} (, ,) {SECOND})", None),
        ("(S (NP (NN rain) (CC and) (NN snow)) (VP (VBD fell)))", None),
        ("(CC and)", None),
    ],
)
def test_coordinated_clauses(tree: str, expected: Any) -> None:
    coordination = find_coordination(read_tree(tree))
    assert (coordination and (coordination.conjunction, coordination.first, coordination.second)) == expected


def test_row_has_digest_and_place() -> None:
    row = build_row(ParsedSentence(tree="(S (NP (NN rain)) (VP (VBD fell)))", source="a.mrg", place=3))
    assert (row.source, row.place, row.text) == ("a.mrg", 3, "rain fell")
    assert row.digest == sha256(b"rain fell").hexdigest()[:16]


def test_sentence_without_tree_lacks_labels() -> None:
    row = build_row(ParsedSentence(tokens=("Rain", "``", "fell"), tags=("NN", "``", "VBD")))
    assert row.text == 'Rain " fell'
    assert (row.tree, row.depth, row.top, row.verb, row.clauses) == (None,) * 5
    assert build_row(ParsedSentence(tokens=("Rain",))).tags == ()


def test_blank_in_token_becomes_underscore() -> None:
    row = build_row(ParsedSentence(tokens=("1\u00a0000", "men")))
    assert (row.tokens, row.text) == (("1_000", "men"), "1_000 men")


@pytest.mark.parametrize(
    ("parsed", "message"),
    [
        (ParsedSentence(), "a sentence of 0 tokens; a row holds 1 to 32767"),
        (ParsedSentence(tokens=("a",) * 40_000), "a sentence of 40000 tokens; a row holds 1 to 32767"),
        (ParsedSentence(tokens=("a", "\u00a0")), "token 2 of 2 is empty"),
        (ParsedSentence(tokens=("a", "b"), tags=("NN",)), "2 tokens with 1 tags"),
        (ParsedSentence(tree="(S (NN a)"), "a bracket is not closed in the tree that begins '(S (NN a)'"),
        (ParsedSentence(tree="(S (NN a))", tokens=("a", "b")), "2 tokens, but the tree has 1 words"),
        (
            ParsedSentence(tokens=("a",), tags=("NN",), heads=(2,), relations=("root",)),
            "token 1 has the head 2, not one of 0..1",
        ),
        (
            ParsedSentence(tree="(S " * 40_000 + "(NN a)" + ")" * 40_000),
            "a tree of depth 40002; a row holds at most 32767",
        ),
    ],
)
def test_impossible_row_is_refused(parsed: ParsedSentence, message: str) -> None:
    with pytest.raises(RowError) as caught:
        build_row(parsed)
    assert str(caught.value) == message


def test_agreement_counts_and_lists() -> None:
    row = make_row("(S (NP (NNS men)) (VP (VBP eat) (NP (NN fish))))")
    other_row = make_row("(S (NP (NN men)) (VP (VBD eat) (PP (NP (NN fish)))))")
    agreements = compare_rows([(row, row), (row, other_row)])
    assert agreements[Label.VERB] == Agreement(same=2)
    tense = agreements[Label.TENSE]
    assert tense.rate == tense.rate_of_both == 0.5
    assert tense.different == [Disagreement("men eat fish", "PRES", "PAST")]
    assert agreements[Label.OBJECT].rate == 0.5
    assert agreements[Label.OBJECT].rate_of_both == 1
    assert agreements[Label.CLAUSES] == Agreement(neither=2)
    assert compare_rows([])[Label.DEPTH].rate == compare_rows([])[Label.DEPTH].rate_of_both == 1


def find_treebank_rows() -> dict[str, Row]:
    """Return the rows of NLTK's treebank by text, the first row of each text."""
    return {row.text: row for row in read_treebank_rows()}


# How the sentence begins: depth, top constituents, verb, subject, number, object, number
BY_HAND: dict[str, tuple[int, str, str | None, str | None, str | None, str | None, str | None]] = {
    "Mr. Vinken is": (8, "NP VP .", "is", "Vinken", "sg", None, None),
    "Pierre Vinken , 61 years": (7, "NP VP .", "will", "Vinken", "sg", "board", "sg"),
    "A form of asbestos": (16, "S , NP VP .", "reported", "researchers", "pl", None, None),
    "Four of the five surviving": (9, "NP VP .", "have", "Four", None, "diseases", "pl"),
    "Private construction spending was": (6, "S , CC S .", "was", "spending", "sg", None, None),
    "Charities test": (8, "S , CC S .", "test", "Charities", "pl", "waters", "pl"),
    "She had seen cheating": (7, "S , CC S .", "had", "She", "sg", "cheating", "sg"),
    "Who 's telling": (6, "WHNP SQ .", "'s", "Who", None, "truth", "sg"),
    '" Now the field': (6, "`` S , '' NP VP .", "added", "he", "sg", None, None),
    '" Compare two': (8, "`` S , '' VP NP .", "says", "announcer", "sg", None, None),
    "The fire is": (9, "NP VP .", "is", "fire", "sg", None, None),
    "Price records": (8, "NP VP .", "are", "records", "pl", None, None),
    "AN EXCHANGE": (7, "NP VP .", "promises", "EXCHANGE", "sg", "change", "sg"),
    "2 . Take a": (5, "LST VP .", "Take", None, None, "vacation", "sg"),
    "Fundamentalists Jihad": (3, "NNPS NNP", None, None, None, None, None),
}


@needs_shared
@pytest.mark.parametrize("beginning", BY_HAND)
def test_real_sentences_labelled_by_hand(beginning: str) -> None:
    (row,) = (row for text, row in find_treebank_rows().items() if text.startswith(beginning))
    verb, subject, obj = find_words(row)
    numbers = [noun and noun.number for noun in (row.subject, row.object)]
    labels = (row.depth, row.top, verb, subject, numbers[0], obj, numbers[1])
    assert labels == BY_HAND[beginning]


@needs_shared
def test_position_replaces_function_tags() -> None:
    """Parsers give no function tags; most lost labels are objects that are amounts ("rose 5 %")."""
    with_tags = [read_tree(row.tree) for row in find_treebank_rows().values() if row.tree]
    without_tags = [replace(tree, labels=tree.categories) for tree in with_tags]
    rows = ([build_row(ParsedSentence(tree=tree)) for tree in trees] for trees in (with_tags, without_tags))
    agreements = compare_rows(zip(*rows, strict=True))
    assert agreements[Label.VERB].rate == agreements[Label.TOP].rate == 1
    assert agreements[Label.SUBJECT].rate > 0.995
    assert 0.965 < agreements[Label.OBJECT].rate < 1
    assert agreements[Label.OBJECT_NUMBER].rate_of_both > 0.99


@needs_shared
def test_real_coordinated_clauses() -> None:
    rows = [row for row in find_treebank_rows().values() if row.clauses]
    assert len(rows) == 94
    (row,) = (row for row in rows if row.text.startswith("Private construction spending"))
    assert row.clauses is not None
    (start, end), (second, stop) = row.clauses.first, row.clauses.second
    assert row.tokens[row.clauses.conjunction] == "but"
    assert " ".join(row.tokens[start:end]) == "Private construction spending was down"
    assert " ".join(row.tokens[second:stop]) == "government building activity was up"
