"""From events to sentences and back, by the fast path and by the slow one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import Tree
from strategies import full_events, maybe

from sentprobe.errors import UsageError
from sentprobe.generator.constraints import Choices
from sentprobe.generator.event import (
    GAP,
    Event,
    Negator,
    Number,
    Participant,
    Polarity,
    Role,
    clauses,
    participants,
)
from sentprobe.generator.notation import read_event
from sentprobe.generator.parse import ParseError, parse
from sentprobe.generator.realize import chart_parse, derive, realize
from sentprobe.generator.sentence import Sentence, Token
from sentprobe.generator.space import Space
from sentprobe.generator.templates import template_names
from sentprobe.lexicon import Form, Kind, english

LEXICON = english()
EVERYTHING = Choices(
    determiners=tuple(word.lemma for word in LEXICON.words(Kind.DETERMINER)),
    relativizers=tuple(word.lemma for word in LEXICON.words(Kind.RELATIVIZER)),
    negators=tuple(Negator),
    adverbs=(0, 1, 2),
)
NUMBERS = {"Number=Sing": Number.SINGULAR, "Number=Plur": Number.PLURAL}
SUBJECTS = ("nsubj", "nsubj:pass")

compeval_events = full_events(LEXICON)
english_events = full_events(LEXICON, vocabulary="english")
slowly = settings(max_examples=15)
briefly = settings(max_examples=60)


# ------------------------------------------------------------------ examples written by hand


@dataclass(frozen=True)
class Example:
    """A sentence and its annotation: heads and relations of the tokens in order."""

    event: str
    text: str
    tree: str
    heads: tuple[int, ...]
    relations: str

    def __str__(self) -> str:
        return self.text


EXAMPLES = [
    Example(
        "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])",
        "the man slept",
        "(S (NP (DT the) (NN man)) (VP (VBD slept)))",
        (2, 3, 0),
        "det nsubj root",
    ),
    Example(
        "help[active, pres, simple, pos, adv()]"
        "(agent: the man[sg, bare], patient: a actor[sg, bare])",
        "the man helps an actor",
        "(S (NP (DT the) (NN man)) (VP (VBZ helps) (NP (DT an) (NN actor))))",
        (2, 3, 0, 5, 3),
        "det nsubj root det obj",
    ),
    Example(
        "meet[passive, past, simple, pos, adv()]"
        "(agent: that student[pl, bare], patient: this lawyer[sg, bare])",
        "this lawyer was met by those students",
        "(S (NP (DT this) (NN lawyer)) "
        "(VP (VBD was) (VP (VBN met) (PP (IN by) (NP (DT those) (NNS students))))))",
        (2, 4, 4, 0, 7, 7, 4),
        "det nsubj:pass aux:pass root case det obl:agent",
    ),
    Example(
        "follow[active, pres, prog, pos, adv()]"
        "(agent: some woman[pl, bare], patient: no doctor[pl, bare])",
        "some women are following no doctors",
        "(S (NP (DT some) (NNS women)) "
        "(VP (VBP are) (VP (VBG following) (NP (DT no) (NNS doctors)))))",
        (2, 4, 4, 0, 6, 4),
        "det nsubj aux root det obj",
    ),
    Example(
        "call[passive, past, prog, pos, adv(often)]"
        "(agent: the scientist[sg, bare], patient: the professor[pl, bare])",
        "the professors were often being called by the scientist",
        "(S (NP (DT the) (NNS professors)) (VP (VBD were) (ADVP (RB often)) "
        "(VP (VBG being) (VP (VBN called) (PP (IN by) (NP (DT the) (NN scientist)))))))",
        (2, 6, 6, 6, 6, 0, 9, 9, 6),
        "det nsubj:pass aux advmod aux:pass root case det obl:agent",
    ),
    Example(
        "sleep[intransitive, pres, simple, not, adv(really)](agent: the lawyer[sg, bare])",
        "the lawyer does not really sleep",
        "(S (NP (DT the) (NN lawyer)) (VP (VBZ does) (RB not) (ADVP (RB really)) (VP (VB sleep))))",
        (2, 6, 6, 6, 6, 0),
        "det nsubj aux advmod advmod root",
    ),
    Example(
        "recommend[active, past, simple, n't, adv()]"
        "(agent: the doctor[pl, bare], patient: the man[pl, bare])",
        "the doctors did n't recommend the men",
        "(S (NP (DT the) (NNS doctors)) "
        "(VP (VBD did) (RB n't) (VP (VB recommend) (NP (DT the) (NNS men)))))",
        (2, 5, 5, 5, 0, 7, 5),
        "det nsubj aux advmod root det obj",
    ),
    Example(
        "dance[intransitive, pres, simple, pos, adv(always, often)](agent: the actor[pl, bare])",
        "the actors always , often dance",
        "(S (NP (DT the) (NNS actors)) (ADVP (RB always) (, ,) (RB often)) (VP (VBP dance)))",
        (2, 6, 6, 6, 6, 0),
        "det nsubj advmod punct advmod root",
    ),
    Example(
        "follow[active, pres, prog, not, adv(actually, fully)]"
        "(agent: the professor[sg, bare], patient: a student[sg, bare])",
        "the professor is not actually , fully following a student",
        "(S (NP (DT the) (NN professor)) "
        "(VP (VBZ is) (RB not) (ADVP (RB actually) (, ,) (RB fully)) "
        "(VP (VBG following) (NP (DT a) (NN student)))))",
        (2, 8, 8, 8, 8, 8, 8, 0, 10, 8),
        "det nsubj aux advmod advmod punct advmod root det obj",
    ),
    Example(
        "sleep[intransitive, past, simple, pos, adv()](agent: the professor[pl] that "
        "meet[active, pres, simple, pos, adv()](agent: _, patient: the man[sg, bare]))",
        "the professors that meet the man slept",
        "(S (NP (NP (DT the) (NNS professors)) (SBAR (WHNP (WDT that)) "
        "(S (VP (VBP meet) (NP (DT the) (NN man)))))) (VP (VBD slept)))",
        (2, 7, 4, 2, 6, 4, 0),
        "det nsubj nsubj acl:relcl det obj root",
    ),
    Example(
        "dance[intransitive, pres, simple, pos, adv()](agent: the woman[pl] who "
        "help[active, past, simple, n't, adv()](agent: that actor[sg, bare], patient: _))",
        "the women who that actor did n't help dance",
        "(S (NP (NP (DT the) (NNS women)) (SBAR (WHNP (WP who)) "
        "(S (NP (DT that) (NN actor)) (VP (VBD did) (RB n't) (VP (VB help)))))) (VP (VBP dance)))",
        (2, 9, 8, 5, 8, 8, 8, 2, 0),
        "det nsubj obj det nsubj aux advmod acl:relcl root",
    ),
    Example(
        "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg] who "
        "help[passive, pres, prog, pos, adv()](agent: the woman[pl, bare], patient: _))",
        "the man who is being helped by the women slept",
        "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ is) (VP (VBG being) "
        "(VP (VBN helped) (PP (IN by) (NP (DT the) (NNS women))))))))) (VP (VBD slept)))",
        (2, 10, 6, 6, 6, 2, 9, 9, 6, 0),
        "det nsubj nsubj:pass aux aux:pass acl:relcl case det obl:agent root",
    ),
    Example(
        "dance[intransitive, past, simple, pos, adv(always)](agent: no man[pl] that "
        "call[passive, past, simple, not, adv()](agent: _, patient: the doctor[pl, bare]))",
        "no men that the doctors were not called by always danced",
        "(S (NP (NP (DT no) (NNS men)) (SBAR (WHNP (WDT that)) (S (NP (DT the) (NNS doctors)) "
        "(VP (VBD were) (RB not) (VP (VBN called) (PP (IN by))))))) "
        "(ADVP (RB always)) (VP (VBD danced)))",
        (2, 11, 8, 5, 8, 8, 8, 2, 3, 11, 0),
        "det nsubj obl:agent det nsubj:pass aux:pass advmod acl:relcl case advmod root",
    ),
    Example(
        "help[active, past, prog, pos, adv()](agent: this student[sg, bare], patient: "
        "some professor[pl] who dance[intransitive, past, simple, n't, adv()](agent: _))",
        "this student was helping some professors who did n't dance",
        "(S (NP (DT this) (NN student)) (VP (VBD was) (VP (VBG helping) "
        "(NP (NP (DT some) (NNS professors)) (SBAR (WHNP (WP who)) "
        "(S (VP (VBD did) (RB n't) (VP (VB dance)))))))))",
        (2, 4, 4, 0, 6, 4, 10, 10, 10, 6),
        "det nsubj aux root det obj nsubj aux advmod acl:relcl",
    ),
    Example(
        "recommend[passive, past, prog, not, adv()](agent: the scientist[sg] that "
        "meet[active, past, simple, pos, adv(clearly)](agent: _, patient: the doctor[pl, bare]), "
        "patient: the actor[pl, bare])",
        "the actors were not being recommended by the scientist that clearly met the doctors",
        "(S (NP (DT the) (NNS actors)) (VP (VBD were) (RB not) (VP (VBG being) "
        "(VP (VBN recommended) (PP (IN by) (NP (NP (DT the) (NN scientist)) "
        "(SBAR (WHNP (WDT that)) (S (ADVP (RB clearly)) "
        "(VP (VBD met) (NP (DT the) (NNS doctors)))))))))))",
        (2, 6, 6, 6, 6, 0, 9, 9, 6, 12, 12, 9, 14, 12),
        "det nsubj:pass aux advmod aux:pass root case det obl:agent nsubj advmod acl:relcl det obj",
    ),
    Example(
        "meet[active, pres, simple, not, adv()](agent: a heir[sg] that "
        "sleep[intransitive, pres, prog, pos, adv()](agent: _), patient: the artist[pl] that "
        "follow[active, pres, simple, pos, adv()](agent: a student[sg, bare], patient: _))",
        "an heir that is sleeping does not meet the artists that a student follows",
        "(S (NP (NP (DT an) (NN heir)) (SBAR (WHNP (WDT that)) (S (VP (VBZ is) "
        "(VP (VBG sleeping)))))) (VP (VBZ does) (RB not) (VP (VB meet) "
        "(NP (NP (DT the) (NNS artists)) (SBAR (WHNP (WDT that)) "
        "(S (NP (DT a) (NN student)) (VP (VBZ follows))))))))",
        (2, 8, 5, 5, 2, 8, 8, 0, 10, 8, 14, 13, 14, 10),
        "det nsubj nsubj aux acl:relcl aux advmod root det obj obj det nsubj acl:relcl",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples(example: Example) -> None:
    event = read_event(example.event)
    sentence = realize(event, LEXICON)
    assert sentence.text == example.text
    assert sentence.tree == example.tree
    assert tuple(token.head for token in sentence.tokens) == example.heads
    assert " ".join(token.deprel for token in sentence.tokens) == example.relations
    assert derive(event, LEXICON) == sentence
    assert parse(example.text, LEXICON) == (event,)


def test_features_and_lemmas_of_an_example() -> None:
    event = read_event(
        "meet[active, past, prog, n't, adv(always)](agent: this man[pl] who "
        "help[passive, pres, simple, pos, adv()](agent: a actor[sg, bare], patient: _), "
        "patient: no woman[sg, bare])"
    )
    expected = """
        these   this    DET   DT   Number=Plur|PronType=Dem
        men     man     NOUN  NNS  Number=Plur
        who     who     PRON  WP   PronType=Rel
        are     be      AUX   VBP  Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin
        helped  help    VERB  VBN  Tense=Past|VerbForm=Part|Voice=Pass
        by      by      ADP   IN   -
        an      a       DET   DT   Definite=Ind|PronType=Art
        actor   actor   NOUN  NN   Number=Sing
        were    be      AUX   VBD  Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin
        n't     not     PART  RB   Polarity=Neg
        always  always  ADV   RB   PronType=Tot
        meeting meet    VERB  VBG  Tense=Pres|VerbForm=Part
        no      no      DET   DT   PronType=Neg
        woman   woman   NOUN  NN   Number=Sing
    """
    rows = [
        [t.form, t.lemma, t.upos, t.xpos, t.feats or "-"] for t in realize(event, LEXICON).tokens
    ]
    assert rows == [line.split() for line in expected.split("\n") if line.strip()]


# ------------------------------------------------------------------ there and back


@given(st.one_of(compeval_events, english_events))
@settings(max_examples=200)
def test_parsing_undoes_realizing(event: Event) -> None:
    assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


@given(st.one_of(compeval_events, english_events))
@slowly
def test_the_fast_path_equals_the_slow_path(event: Event) -> None:
    assert realize(event, LEXICON, id="s1") == derive(event, LEXICON, id="s1")


@given(st.one_of(compeval_events, english_events))
@slowly
def test_the_chart_parser_finds_the_same_event(event: Event) -> None:
    tokens = [token.form for token in realize(event, LEXICON).tokens]
    assert chart_parse(tokens, LEXICON) == [event]


@given(compeval_events, st.data())
@slowly
def test_the_parsers_agree_about_any_sequence_of_tokens(event: Event, data: st.DataObject) -> None:
    tokens = [token.form for token in realize(event, LEXICON).tokens]
    place = data.draw(st.integers(0, len(tokens) - 1), label="place")
    instead = data.draw(maybe(st.sampled_from(tokens)), label="instead")
    tokens[place : place + 1] = [] if instead is None else [instead]
    try:
        found = parse(" ".join(tokens), LEXICON)
    except ParseError:
        found = ()
    assert set(found) == set(chart_parse(tokens, LEXICON))


@pytest.mark.parametrize("vocabulary", ["compeval", "english"])
@pytest.mark.parametrize("template", [*template_names(), "all"])
def test_parsing_undoes_realizing_in_every_template(template: str, vocabulary: str) -> None:
    space = Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=EVERYTHING)
    for event in space.events(space.sample(100, seed=0)):
        assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


@pytest.mark.parametrize("template", template_names(deep=True))
def test_parsing_undoes_realizing_in_every_sub_template(template: str) -> None:
    vocabulary = "compeval" if template.count("both") else "english"
    space = Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=EVERYTHING)
    for event in space.events(space.sample(30, seed=1)):
        assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


# ------------------------------------------------------------------ the dependency tree


def number_of(token: Token) -> Number | None:
    """Return the grammatical number that a token's features state."""
    return next((n for text, n in NUMBERS.items() if text in token.feats.split("|")), None)


def finite(sentence: Sentence, verb: int) -> Token:
    """Return the finite verb or auxiliary of the clause whose verb is token *verb*."""
    group = [t for i, t in enumerate(sentence.tokens, 1) if verb in (i, t.head)]
    (found,) = [t for t in group if "VerbForm=Fin" in t.feats and t.upos in ("VERB", "AUX")]
    return found


def subject(sentence: Sentence, verb: int) -> Token:
    """Return the subject noun of a verb; a relativizer counts as the noun before it."""
    (found,) = [t for t in sentence.tokens if t.head == verb and t.deprel in SUBJECTS]
    return sentence.tokens[sentence.tokens[verb - 1].head - 1] if found.upos == "PRON" else found


@given(st.one_of(compeval_events, english_events))
@briefly
def test_subject_and_finite_verb_agree(event: Event) -> None:
    sentence = realize(event, LEXICON)
    for predicate in sentence.predicates:
        noun = subject(sentence, predicate.verb)
        assert noun.upos == "NOUN"
        assert number_of(noun) is number_of(finite(sentence, predicate.verb)) is not None


@given(st.one_of(compeval_events, english_events))
@briefly
def test_the_dependencies_are_a_tree(event: Event) -> None:
    tokens = realize(event, LEXICON).tokens
    assert [t.deprel for t in tokens if t.head == 0] == ["root"]
    assert [t.head for t in tokens if t.deprel == "root"] == [0]
    for at, token in enumerate(tokens, 1):
        assert 0 <= token.head <= len(tokens) and token.head != at
        seen = [at]
        while head := tokens[seen[-1] - 1].head:
            assert head not in seen
            seen.append(head)


# ------------------------------------------------------------------ the constituency tree


@given(st.one_of(compeval_events, english_events))
@briefly
def test_the_constituency_tree_is_over_the_tokens(event: Event) -> None:
    sentence = realize(event, LEXICON)
    tree = Tree.fromstring(sentence.tree)
    assert tree.label() == "S"
    assert tree.pos() == [(token.form, token.xpos) for token in sentence.tokens]
    assert " ".join(sentence.tree.split()) == " ".join(str(tree).split())


# ------------------------------------------------------------------ predicates and negations


def noun_of(clause: Event, role: Role, head: Participant | None) -> str | None:
    """Return the lemma of a role's noun; the gap's is that of the noun that is modified."""
    filler = clause.argument(role)
    person = head if filler is GAP else filler
    return person.noun if isinstance(person, Participant) else None


@given(st.one_of(compeval_events, english_events))
@briefly
def test_predicates_point_to_their_words(event: Event) -> None:
    sentence = realize(event, LEXICON)
    lemma = {at: token.lemma for at, token in enumerate(sentence.tokens, 1)}
    found = [
        (lemma[p.verb], lemma[p.agent], lemma[p.patient] if p.patient else None)
        for p in sentence.predicates
    ]
    stated = [
        (clause.predicate, noun_of(clause, Role.AGENT, head), noun_of(clause, Role.PATIENT, head))
        for clause, head in clauses(event)
    ]
    assert found[0] == stated[0]
    assert sorted(found, key=str) == sorted(stated, key=str)
    inner = [p.verb for p in sentence.predicates[1:]]
    assert inner == sorted(inner)
    for predicate in sentence.predicates:
        assert sentence.tokens[predicate.verb - 1].upos == "VERB"
        assert sentence.tokens[predicate.agent - 1].upos == "NOUN"


@given(st.one_of(compeval_events, english_events))
@briefly
def test_negations_point_to_cue_and_verb(event: Event) -> None:
    sentence = realize(event, LEXICON)
    found = [
        (sentence.tokens[n.cue - 1].form, sentence.tokens[n.verb - 1].lemma)
        for n in sentence.negations
    ]
    stated = [(str(c.negator), c.predicate) for c, _ in clauses(event) if c.negator is not None]
    assert sorted(found) == sorted(stated)
    for negation in sentence.negations:
        assert sentence.tokens[negation.cue - 1].head == negation.verb
    cues = {at for at, token in enumerate(sentence.tokens, 1) if token.lemma == "not"}
    assert cues == {n.cue for n in sentence.negations}


# ------------------------------------------------------------------ the words


@given(full_events(LEXICON, vocabulary="english"))
@briefly
def test_an_stands_before_a_vowel_sound(event: Event) -> None:
    tokens = realize(event, LEXICON).tokens
    for article, noun in pairwise(tokens):
        if article.lemma == "a" and article.upos == "DET":
            vowel = LEXICON.get(noun.lemma, Kind.NOUN).vowel
            assert article.form == ("an" if vowel else "a")


@given(full_events(LEXICON, vocabulary="english"))
@briefly
def test_every_adverb_is_there_and_before_its_verb(event: Event) -> None:
    sentence = realize(event, LEXICON)
    stated = sorted((c.adverbs or (), str(c.predicate)) for c, _ in clauses(event))
    found = []
    for predicate in sentence.predicates:
        own = [
            token.lemma
            for token in sentence.tokens[: predicate.verb]
            if token.head == predicate.verb and token.upos == "ADV"
        ]
        found.append((tuple(own), sentence.tokens[predicate.verb - 1].lemma))
    assert sorted(found) == stated


@given(full_events(LEXICON, vocabulary="english"))
@briefly
def test_no_token_holds_a_space(event: Event) -> None:
    sentence = realize(event, LEXICON)
    assert sentence.text.split(" ") == [token.form for token in sentence.tokens]
    assert all(token.form for token in sentence.tokens)


def test_the_id_is_kept() -> None:
    event = read_event(EXAMPLES[0].event)
    assert realize(event, LEXICON, id="x7").id == "x7"


@given(compeval_events)
@briefly
def test_long_sequences_of_adverbs_are_realized_and_parsed(event: Event) -> None:
    adverbs = LEXICON.vocabulary("compeval").words[Kind.ADVERB]
    event = replace(event, adverbs=adverbs)
    sentence = realize(event, LEXICON)
    assert " , ".join(adverbs) in sentence.text
    assert parse(sentence.text, LEXICON) == (event,)


# ------------------------------------------------------------------ what cannot be realized

NOT_REALIZED = {
    "sleep": "partly specified: tense, aspect, polarity, adverbs, agent left open",
    "sleep[intransitive, past, simple, neg, adv()](agent: the man[sg, bare])": "negator left open",
    "sleep[intransitive, past, simple, pos, adv()](agent: man[sg, bare])": "agent.determiner left",
    "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg] that dance)": (
        "agent.clause.tense, agent.clause.aspect"
    ),
    "sleep[intransitive, past, simple, pos, adv()](agent: _)": "a gap stands in a relative clause",
    "sleep[intransitive, past, simple, pos, adv()](agent: the mna[sg, bare])": "unknown noun 'mna'",
    "slepe[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])": "'slepe' (did you",
    "help[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])": (
        "unknown intransitive 'help' (the lexicon has it as transitive)"
    ),
    "sleep[intransitive, past, simple, pos, adv(man)](agent: the man[sg, bare])": (
        "unknown adverb 'man'"
    ),
    "sleep[intransitive, past, simple, pos, adv()](agent: a man[pl, bare])": (
        "the determiner 'a' does not go with a plural noun"
    ),
}


@pytest.mark.parametrize("text", NOT_REALIZED)
def test_what_cannot_be_realized(text: str) -> None:
    event = read_event(text)
    for function in (realize, derive):
        with pytest.raises(UsageError) as caught:
            function(event, LEXICON)
        assert NOT_REALIZED[text] in str(caught.value)


# ------------------------------------------------------------------ what cannot be parsed

NOT_PARSED = {
    "": (1, "ends after token 0, expected a determiner"),
    "the": (2, "a noun that goes with 'the'"),
    "the man": (3, "the sentence ends after token 2"),
    "the man sleeps .": (4, "expected the end of the sentence, not '.'"),
    "the mna sleeps": (2, "not 'mna' (not in the lexicon)"),
    "the man sleep": (3, "a singular present verb"),
    "a men sleep": (2, "a noun that goes with 'a'"),
    "the man helps": (4, "ends after token 3, expected a determiner"),
    "the man was slept by the woman": (4, "expected"),
    "the man is not": (5, "ends after token 4, expected"),
    "the man that the women helps sleeps": (6, "not 'helps'"),
}


@pytest.mark.parametrize("text", NOT_PARSED)
def test_a_failed_parse_says_where_it_stopped(text: str) -> None:
    position, message = NOT_PARSED[text]
    with pytest.raises(ParseError) as caught:
        parse(text, LEXICON)
    assert caught.value.position == position
    assert message in str(caught.value)
    assert chart_parse(text.split(), LEXICON) == []


def finite_forms() -> Iterator[tuple[str, str, Form]]:
    for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE):
        for word in LEXICON.words(kind):
            for form in (Form.VBZ, Form.VBP, Form.VBD):
                yield word.lemma, word.forms[form], form


def test_every_verb_of_the_lexicon_in_every_finite_form() -> None:
    for lemma, form, tag in finite_forms():
        noun = "men" if tag is Form.VBP else "man"
        rest = " the women" if LEXICON.kinds_of(lemma)[0] is Kind.TRANSITIVE else ""
        events = parse(f"the {noun} {form}{rest}", LEXICON)
        assert {event.predicate for event in events} == {lemma}
        assert next(participants(events[0]))[1].noun == "man"
        assert events[0].polarity is Polarity.POSITIVE
