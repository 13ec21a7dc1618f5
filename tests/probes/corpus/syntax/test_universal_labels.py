"""Labels by Universal Dependencies: by hand, for random blocks, and against the Penn Treebank's tags."""

import lzma
from collections import Counter
from collections.abc import Sequence

import duckdb
import pytest
from helpers.conllu_files import make_line, make_row, read_conllu, read_one
from helpers.shared import SHARED, needs_shared
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.main_clauses import Noun
from sentprobe.probes.corpus.table_rows import Row, RowError, build_row
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence
from sentprobe.probes.corpus.universal_labels import get_feature
from sentprobe.probes.natural.parsed_tasks import TENSE_SQL
from sentprobe.probes.natural.surface_tasks import WORD_PATTERN

FIN = "VerbForm=Fin|Mood=Ind"
SEEN = (
    "Die/der/DET/2/det Frauen/Frau/NOUN|Number=Plur|Gender=Fem/6/nsubj:pass "
    f"wurden/werden/AUX|{FIN}|Tense=Past|Person=3/6/aux:pass in/in/ADP/5/case dem/der/DET/6/obl "
    "gesehen/sehen/VERB|VerbForm=Part/0/root ././PUNCT/6/punct"
)


def test_a_german_passive() -> None:
    row = make_row(SEEN, ranges=[(4, 5, "im")])
    assert row.text == "Die Frauen wurden im gesehen ."
    assert row.tags[3] == "ADP+DET"
    assert row.verb == 2
    assert row.subject == Noun(1, Number.PLURAL) and row.object is None
    labels = row.universal
    assert labels is not None
    assert labels.main_tags[0] == "AUX|Mood=Ind|Person=3|Tense=Past|VerbForm=Fin"
    assert (labels.depth, labels.order, labels.voice) == (2, "nsubj aux obl root", "Pass")
    assert labels.coordination is None


@pytest.mark.parametrize(
    ("words", "verb", "number"),
    [
        (f"Il/il/PRON/2/nsubj va/aller/VERB|{FIN}/0/root", "va", None),
        (f"On/on/PRON|Number=Sing/3/nsubj est/être/AUX|{FIN}/3/cop là/là/ADV/0/root", "est", "sg"),
        ("Vado/andare/VERB|Mood=Ind|Person=1/0/root", "Vado", None),
        ("To/to/PART/2/mark go/go/VERB|VerbForm=Inf/0/root", None, None),
        ("Ja/ja/INTJ/0/root", None, None),
        ("吃/吃/VERB/0/root 了/了/AUX/1/aux", "吃", None),
        ("Gesehen/sehen/VERB|VerbForm=Part/0/root", None, None),
        (f"Miten/miten/ADV/2/advmod tämä/tämä/PRON|Number=Sing/3/nsubj:outer on/olla/AUX|{FIN}/0/root", "on", "sg"),
        ("Řekl/říci/VERB|Tense=Past|VerbForm=Part/0/root Jan/Jan/PROPN|Number=Sing/1/nsubj", "Řekl", "sg"),
        (
            f"Ei/Ei/NOUN|Number=Sing/4/nsubj und/und/CCONJ/3/cc Tee/Tee/NOUN/1/conj gehen/gehen/VERB|{FIN}/0/root",
            "gehen",
            None,
        ),
    ],
)
def test_the_main_verb_and_its_subject(words: str, verb: str | None, number: str | None) -> None:
    row = make_row(words)
    assert (None if row.verb is None else row.tokens[row.verb]) == verb
    assert (row.subject and row.subject.number) == number


CLAUSES = (
    f"Die/der/DET/2/det Frau/Frau/NOUN/3/nsubj kam/kommen/VERB|{FIN}/0/root ,/,/PUNCT/7/punct und/und/CCONJ/7/cc "
    f"Jan/Jan/PROPN/7/nsubj ging/gehen/VERB|{FIN}/3/conj ././PUNCT/3/punct"
)


def test_coordinated_clauses_and_their_first_words() -> None:
    row = make_row(CLAUSES)
    assert row.clauses is not None and row.universal is not None
    assert (row.clauses.first, row.clauses.conjunction, row.clauses.second) == ((0, 3), 4, (5, 7))
    assert row.universal.clause_words == ("die", "Jan")
    shared_verb = CLAUSES.replace(f"ging/gehen/VERB|{FIN}", "gegangen/gehen/VERB|VerbForm=Part")
    assert make_row(shared_verb).clauses is None
    shared_subject = CLAUSES.replace("Jan/Jan/PROPN/7/nsubj", "dann/dann/ADV/7/advmod")
    assert make_row(shared_subject).clauses is None


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([("2-3", "du")], "the range 2-3 is not at its place: word 1 comes next"),
        ([("1-2", "du"), (1, "de")], "a range ends at word 2, but there are 1 words"),
        ([(1, "a"), ("1.2", "b")], "empty node 1.1 has the number '1.2'"),
        ([("1-2", "x"), ("1-2", "x"), (1, "a"), (2, "b")], "the range 1-2 is not at its place: word 1 comes next"),
    ],
)
def test_faults_of_form(lines: list[tuple[object, str]], message: str) -> None:
    text = "\n".join(make_line(number, form, "X", 0, "root") for number, form in lines)
    mistake = read_one(text + "\n")
    assert isinstance(mistake, Mistake) and mistake.message == message


def test_features_have_names_and_are_sorted() -> None:
    sentence = read_one(make_line(1, "a", "NOUN|Number=Sing|Case=Nom", 0, "root") + "\n")
    assert isinstance(sentence, ParsedSentence) and sentence.universal is not None
    assert sentence.universal.tags == ("NOUN|Case=Nom|Number=Sing",)
    mistake = read_one(make_line(1, "a", "NOUN|Sing", 0, "root") + "\n")
    assert isinstance(mistake, Mistake) and mistake.message.startswith("the features of 'a' are 'Sing'")


def test_words_without_lemmas_lose_their_capital() -> None:
    row = make_row(CLAUSES.replace("Die/der/DET", "Die/_/DET"))
    assert row.universal is not None and row.universal.clause_words == ("die", "Jan")


@pytest.mark.parametrize(
    ("word", "is_target"), [("می\u200cشود", True), ("हिन्दी", True), ("col·lega", True), ("l'", False)]
)
def test_words_of_other_scripts_can_be_targets(word: str, is_target: bool) -> None:
    pattern = f"regexp_full_match(?, '{WORD_PATTERN}')"
    assert duckdb.execute(f"SELECT {pattern}", [word]).fetchall() == [(is_target,)]


def test_elided_words_lose_their_capital() -> None:
    il = CLAUSES.replace("Die/der/DET/2/det", "L'/le/DET/2/det")
    row = make_row(il)
    assert row.universal is not None and row.universal.clause_words == ("l'", "Jan")


@pytest.mark.parametrize(
    ("words", "is_universal"),
    [
        (["dogs/NNS/NOUN|Number=Plur", "him/PRP/PRON|Case=Acc|Gender=Masc", "café/NN/NOUN", "./././"], False),
        (["Hunde/NN/NOUN|Gender=Masc"], True),
        (["вода/NN/NOUN"], True),
        (["水/NN/NOUN", "好/JJ/ADJ"], True),
        (["Haus/NN/NOUN", "!/$./PUNCT"], True),
    ],
)
def test_tags_of_other_treebanks_are_not_penns(words: list[str], is_universal: bool) -> None:
    lines = []
    for number, word in enumerate(words, 1):
        form, xpos, tag, *_ = word.split("/")
        cells = make_line(number, form, tag, int(number > 1), "dep" if number > 1 else "root").split("\t")
        lines.append("\t".join((*cells[:4], xpos, *cells[5:])))
    sentence = read_one("\n".join(lines) + "\n")
    assert isinstance(sentence, ParsedSentence)
    assert (build_row(sentence).universal is not None) == is_universal


@pytest.mark.parametrize(
    ("features", "tense"),
    [
        ("Tense=Past", "PAST"),
        ("Tense=Past,Pres", None),
        ("Mood=Ind|Tense=Pres", "PRES"),
        ("Mood=Ind,Sub|Tense=Pres", None),
    ],
)
def test_several_values_of_a_feature_are_none(features: str, tense: str | None) -> None:
    ((value,),) = duckdb.execute(f"SELECT {TENSE_SQL} FROM (SELECT 'VERB|{features}' AS verb_tag)").fetchall()
    assert value == tense


def test_a_circle_is_refused() -> None:
    words = "a/a/X/0/root b/b/X/3/dep c/c/X/2/dep"
    with pytest.raises(RowError, match="2 tokens are not below the root"):
        make_row(words)


def draw_tokens(data: st.DataObject, words: Sequence[str]) -> tuple[list[str], list[str], list[range]]:
    """Return the lines of a block with ranges and empty nodes, its tokens, and the words of each token."""
    lines: list[str] = []
    expected: list[str] = []
    words_of: list[range] = []
    number = 1
    while number <= len(words):
        end = data.draw(st.integers(number, min(len(words), number + 2)))
        expected.append(f"m{number}" if end > number else f"w{number}")
        words_of.append(range(number, end + 1))
        if end > number:
            lines.append(make_line(f"{number}-{end}", expected[-1], "_"))
        for word in words_of[-1]:
            lines.append(words[word - 1])
            if data.draw(st.booleans()):
                lines.append(make_line(f"{word}.1", "gone", "_"))
        number = end + 1
    return lines, expected, words_of


@given(st.data())
def test_random_blocks_keep_their_words_and_tokens(data: st.DataObject) -> None:
    """Each word's form is its number, so that indices can be followed to the words they name."""
    size = data.draw(st.integers(1, 9))
    root = data.draw(st.integers(1, size))
    tags = [
        data.draw(st.sampled_from(("NOUN|Number=Sing", "VERB|Mood=Ind", "AUX|VerbForm=Fin", "ADP")))
        for _ in range(size)
    ]
    names = st.sampled_from(("nsubj", "obj", "aux", "cop", "conj", "cc", "punct", "nsubj:pass"))
    relations = ["root" if number == root else data.draw(names) for number in range(1, size + 1)]
    order = [root, *data.draw(st.permutations([n for n in range(1, size + 1) if n != root]))]
    heads = {root: 0} | {node: data.draw(st.sampled_from(order[:place])) for place, node in enumerate(order) if place}
    words = [make_line(n, f"w{n}", tags[n - 1], heads[n], relations[n - 1]) for n in range(1, size + 1)]
    lines, expected, words_of = draw_tokens(data, words)
    sentence = read_one("\n".join(lines) + "\n")
    assert isinstance(sentence, ParsedSentence)
    assert sentence.tokens == tuple(f"w{n}" for n in range(1, size + 1))
    row = build_row(sentence)
    assert row.tokens == tuple(expected)
    assert row.universal is not None and row.universal.depth <= size - 1
    below = [n for n in range(1, size + 1) if heads[n] == root]
    subjects, objects = ([n for n in below if relations[n - 1].split(":")[0] == name] for name in ("nsubj", "obj"))
    finite = {"VERB|Mood=Ind", "AUX|VerbForm=Fin"}
    helpers = [n for n in below if relations[n - 1] in {"aux", "cop"} and tags[n - 1] in finite]
    check_word(get_index(row.subject), row.universal.main_tags[1], subjects[:1], words_of, tags)
    check_word(get_index(row.object), row.universal.main_tags[2], objects[:1], words_of, tags)
    check_word(row.verb, row.universal.main_tags[0], [*helpers, root][:1], words_of, tags)
    assert row.verb is not None or not helpers
    if row.clauses is not None:
        assert 0 <= row.clauses.first[0] < row.clauses.first[1] <= row.clauses.conjunction
        assert row.clauses.conjunction < row.clauses.second[0] < row.clauses.second[1] <= len(row.tokens)


def check_word(
    token: int | None, tag: str | None, expected: list[int], words_of: list[range], tags: Sequence[str]
) -> None:
    """Check that the word of a role, if it has one, is the expected word, and in that token."""
    if token is None:
        assert tag is None
    else:
        assert expected[0] in words_of[token]
        assert tag == tags[expected[0] - 1]


TENSES = {"VBP": "PRES", "VBZ": "PRES", "VBD": "PAST", "Pres": "PRES", "Past": "PAST"}


def get_index(noun: Noun | None) -> int | None:
    return None if noun is None else noun.index


def find_answers(row: Row) -> tuple[str | None, str | None, str | None]:
    """Return tense, subject number and object number as the tasks ask for them."""
    tags: Sequence[str | None] = tuple(
        None if index is None else row.tags[index]
        for index in (row.verb, get_index(row.subject), get_index(row.object))
    )
    if row.universal is not None:
        tags = row.universal.main_tags
        mood = get_feature(tags[0] or "", "Mood")
        tense = TENSES.get(get_feature(tags[0] or "", "Tense")) if mood in {"", "Ind"} else None
    else:
        tense = TENSES.get(tags[0] or "")
    numbers = []
    for noun, tag in zip((row.subject, row.object), tags[1:], strict=True):
        number = None
        if noun is not None and tag is not None and row.tokens[noun.index].replace("-", "").isalpha():
            is_noun = tag.startswith("NOUN") or (tag, noun.number) in {("NN", "sg"), ("NNS", "pl")}
            number = str(noun.number) if is_noun and noun.number is not None else None
        numbers.append(number)
    return tense, numbers[0], numbers[1]


@needs_shared
@pytest.mark.skipif(not (SHARED / "treebanks/ud").is_dir(), reason="the shared data has no treebanks/ud")
def test_english_has_the_same_labels_by_both() -> None:
    total, different = 0, Counter[int]()
    for name in ("ewt/en_ewt-ud-dev", "ewt/en_ewt-ud-test", "ud/en_pud-ud-test"):
        with lzma.open(SHARED / f"treebanks/{name}.conllu.xz", "rt", encoding="utf-8") as lines:
            for sentence in read_conllu(lines):
                assert isinstance(sentence, ParsedSentence)
                penn, universal = build_row(sentence), build_row(sentence, universal=True)
                assert penn.universal is None and universal.universal is not None
                total += 1
                answers = zip(find_answers(penn), find_answers(universal), strict=True)
                different.update(place for place, (a, b) in enumerate(answers) if a != b)
    assert total == 5078
    assert all(1 - different[place] / total >= 0.99 for place in range(3)), different


@needs_shared
@pytest.mark.skipif(not (SHARED / "treebanks/ud").is_dir(), reason="the shared data has no treebanks/ud")
@pytest.mark.parametrize("name", ["de_gsd-ud-dev", "fr_gsd-ud-dev", "it_pud-ud-test", "de_pud-ud-test"])
def test_other_languages_have_labels_in_nearly_every_sentence(name: str) -> None:
    with lzma.open(SHARED / f"treebanks/ud/{name}.conllu.xz", "rt", encoding="utf-8") as lines:
        rows = [build_row(sentence) for sentence in read_conllu(lines) if isinstance(sentence, ParsedSentence)]
    assert all(row.universal is not None for row in rows)
    assert sum(row.verb is not None for row in rows) >= 0.9 * len(rows)
