"""Labels by Universal Dependencies: by hand, for random blocks, against Penn tags, and tenses by language."""

import lzma
from collections import Counter
from collections.abc import Sequence

import duckdb
import pytest
from helpers.conllu_files import make_line, make_row, read_conllu, read_one
from helpers.shared import ROOT, SHARED, needs_shared
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.main_clauses import Noun
from sentprobe.probes.corpus.table_rows import Row, RowError, build_row
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence
from sentprobe.probes.corpus.universal_labels import COMPOUND_TENSES, get_feature, make_graph, resolve_compound_tenses
from sentprobe.probes.natural.parsed_tasks import TENSE_SQL
from sentprobe.probes.natural.surface_tasks import WORD_PATTERN

FIN = "VerbForm=Fin|Mood=Ind"
SEEN = (
    "Die/der/DET/2/det Frauen/Frau/NOUN|Number=Plur|Gender=Fem/6/nsubj:pass "
    f"wurden/werden/AUX|{FIN}|Tense=Past|Person=3/6/aux:pass in/in/ADP/5/case dem/der/DET/6/obl "
    "gesehen/sehen/VERB|VerbForm=Part/0/root ././PUNCT/6/punct"
)


def test_german_passive_has_its_labels() -> None:
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
def test_main_verb_and_subject_by_hand(words: str, verb: str | None, number: str | None) -> None:
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
def test_malformed_ranges_are_mistakes(lines: list[tuple[object, str]], message: str) -> None:
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
def test_target_words_have_any_script(word: str, is_target: bool) -> None:
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
def test_other_tags_are_not_penns(words: list[str], is_universal: bool) -> None:
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
def test_feature_with_two_values_is_none(features: str, tense: str | None) -> None:
    ((value,),) = duckdb.execute(f"SELECT {TENSE_SQL} FROM (SELECT 'VERB|{features}' AS verb_tag)").fetchall()
    assert value == tense


def test_circular_heads_are_refused() -> None:
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
def test_random_blocks_keep_words_and_tokens(data: st.DataObject) -> None:
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
def test_english_labels_agree_with_penn() -> None:
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
def test_other_languages_have_main_verbs(name: str) -> None:
    with lzma.open(SHARED / f"treebanks/ud/{name}.conllu.xz", "rt", encoding="utf-8") as lines:
        rows = [build_row(sentence) for sentence in read_conllu(lines) if isinstance(sentence, ParsedSentence)]
    assert all(row.universal is not None for row in rows)
    assert sum(row.verb is not None for row in rows) >= 0.9 * len(rows)


PRES, PAST = "PRES", "PAST"
BE = f"AUX|{FIN}|Tense=Pres"
PART = "Gender=Masc|Number=Sing|Tense=Past|VerbForm=Part|Voice=Act"
L = f"VERB|{PART}"
"""The participle of the Slavic past."""
BARE = "VERB|Gender=Masc|Number=Sing|VerbForm=Part"
"""The same in Slovene, where it has no tense."""
PASSIVE = "ADJ|Gender=Fem|Number=Sing|VerbForm=Part|Voice=Pass"
POLISH = "VERB|Gender=Masc|Mood=Ind|Number=Sing|Tense=Past|VerbForm=Fin|Voice=Act"
GERMANIC = "VERB|VerbForm=Part"
ROMANCE = "VERB|Gender=Masc|Number=Sing|Tense=Past|VerbForm=Part"
NOUN, PROPN = "NOUN|Number=Sing", "PROPN|Number=Sing"

SENTENCES: dict[str, list[tuple[str, str | None, str]]] = {
    "hr": [
        (f"Ivan/Ivan/{PROPN}/3/nsubj je/biti/{BE}|Person=3/3/aux kupio/kupiti/{L}/0/root", PAST, "kupio"),
        (f"Bio/biti/AUX|{PART}/3/cop je/biti/{BE}|Person=3/3/aux kod/kuća/{NOUN}/0/root", PAST, "Bio"),
        (f"Knjiga/knjiga/{NOUN}/3/nsubj je/biti/{BE}/3/aux:pass kupljena/kupiti/{PASSIVE}/0/root", PRES, "je"),
        (
            f"Knjiga/knjiga/{NOUN}/4/nsubj je/biti/{BE}/4/aux bila/biti/AUX|{PART}/4/aux:pass "
            f"kupljena/kupiti/{PASSIVE}/0/root",
            PAST,
            "bila",
        ),
        (f"Ivan/Ivan/{PROPN}/3/nsubj je/biti/{BE}|Person=3/3/cop liječnik/liječnik/{NOUN}/0/root", PRES, "je"),
        (f"Bih/biti/AUX|Mood=Cnd|Tense=Past|VerbForm=Fin|Person=1/2/aux kupio/kupiti/{L}/0/root", None, "kupio"),
        (f"Ivan/Ivan/{PROPN}/3/nsubj će/htjeti/{BE}|Person=3/3/aux doći/doći/VERB|VerbForm=Inf/0/root", None, "doći"),
        (f"budem/biti/{BE}|Person=1/2/aux kupio/kupiti/{L}/0/root", None, "kupio"),
        (f"Kupuje/kupovati/VERB|{FIN}|Tense=Pres/0/root", PRES, "Kupuje"),
    ],
    "sr": [
        (f"Је/јесам/{BE}|Person=3/2/aux купио/купити/{L}/0/root", PAST, "купио"),
        (f"je/jesam/{BE}|Person=3/2/aux kupio/kupiti/{L}/0/root", PAST, "kupio"),
        (f"Pružiće/pružiti/VERB|{FIN}|Tense=Fut/0/root", None, "Pružiće"),
    ],
    "sl": [
        (f"Janez/Janez/{PROPN}/3/nsubj je/biti/{BE}|Person=3/3/aux kupil/kupiti/{BARE}/0/root", PAST, "kupil"),
        (f"Sem/biti/{BE}/3/aux bil/biti/AUX|VerbForm=Part/3/aux prišel/priti/{BARE}/0/root", PAST, "prišel"),
        (f"bom/biti/AUX|{FIN}|Tense=Fut/2/aux kupil/kupiti/{BARE}/0/root", None, "kupil"),
        (f"bi/biti/AUX|Mood=Cnd|VerbForm=Fin/2/aux kupil/kupiti/{BARE}/0/root", None, "kupil"),
        (f"Kupuje/kupovati/VERB|{FIN}|Tense=Pres/0/root", PRES, "Kupuje"),
    ],
    "cs": [
        (f"Koupil/koupit/{L}/0/root jsem/být/{BE}|Person=1/1/aux", PAST, "Koupil"),
        (f"Koupil/koupit/{L}/0/root", PAST, "Koupil"),
        (f"Jan/Jan/{PROPN}/2/nsubj koupil/koupit/{L}/0/root", PAST, "koupil"),
        (f"Byl/být/AUX|{PART}/2/cop doma/doma/ADV/0/root", PAST, "Byl"),
        (f"Koupil/koupit/{L}/0/root bych/být/AUX|Mood=Cnd|Person=1|VerbForm=Fin/1/aux", None, "Koupil"),
        (f"Bude/být/AUX|{FIN}|Tense=Fut/2/aux kupovat/kupovat/VERB|VerbForm=Inf/0/root", None, "Bude"),
        (f"Jsem/být/{BE}|Person=1/2/cop doma/doma/ADV/0/root", PRES, "Jsem"),
    ],
    "sk": [
        (f"Kúpil/kúpiť/{L}/0/root som/byť/{BE}|Person=1/1/aux", PAST, "Kúpil"),
        (f"Bol/byť/AUX|{PART}/2/cop doma/doma/ADV/0/root", PAST, "Bol"),
    ],
    "pl": [
        (f"Kupił/kupić/{POLISH}/0/root", PAST, "Kupił"),
        (f"Kupił/kupić/{POLISH}/0/root m/być/AUX|Person=1/1/aux:clitic", PAST, "Kupiłm"),
        (f"Kupił/kupić/{POLISH}/0/root m/być/{BE}|Person=1/1/aux", PAST, "Kupiłm"),
        (f"Kupił/kupić/{POLISH}/0/root by/by/AUX/1/aux:cnd m/być/AUX|Person=1/1/aux:clitic", None, "Kupiłbym"),
        (f"Będzie/być/AUX|{FIN}|Tense=Fut/2/aux kupował/kupować/{POLISH}/0/root", None, "kupował"),
        (f"Jestem/być/{BE}|Person=1/2/cop domu/dom/{NOUN}/0/root", PRES, "Jestem"),
    ],
    "ca": [
        (f"J/J/{PROPN}/3/nsubj va/anar/{BE}|Person=3/3/aux matar/matar/VERB|VerbForm=Inf/0/root", PAST, "matar"),
        (
            f"va/anar/{BE}|Person=3/3/aux ser/ser/AUX|VerbForm=Inf/3/aux:pass presentada/presentar/{ROMANCE}/0/root",
            PAST,
            "ser",
        ),
        (f"ha/haver/{BE}|Person=3/2/aux passat/passar/{ROMANCE}/0/root", PRES, "ha"),
        (f"pot/poder/{BE}|Person=3/2/aux passar/passar/VERB|VerbForm=Inf/0/root", PRES, "pot"),
    ],
    "bg": [
        (f"е/съм/{BE}|Person=3/2/aux купил/купя/{L}/0/root", PRES, "е"),
        (f"Купи/купя/VERB|{FIN}|Tense=Past/0/root", PAST, "Купи"),
    ],
    "mk": [(f"сум/сум/{BE}|Person=1/2/aux купил/купи/{L}/0/root", PRES, "сум")],
    "hsb": [(f"je/być/{BE}|Person=3/2/aux kupił/kupić/{L}/0/root", PRES, "je")],
    "de": [
        (f"Er/er/PRON/3/nsubj hat/haben/{BE}|Person=3/3/aux gesehen/sehen/{GERMANIC}/0/root", PRES, "hat"),
        (f"Sie/sie/PRON/3/nsubj ist/sein/{BE}|Person=3/3/aux gegangen/gehen/{GERMANIC}/0/root", PRES, "ist"),
        (f"hatte/haben/AUX|{FIN}|Tense=Past/2/aux gesehen/sehen/{GERMANIC}/0/root", PAST, "hatte"),
    ],
    "fr": [
        (f"a/avoir/{BE}|Person=3/2/aux:tense vu/voir/{ROMANCE}/0/root", PRES, "a"),
        (f"avait/avoir/AUX|{FIN}|Tense=Imp/2/aux:tense vu/voir/{ROMANCE}/0/root", PAST, "avait"),
    ],
    "it": [(f"ha/avere/{BE}|Person=3/2/aux visto/vedere/{ROMANCE}/0/root", PRES, "ha")],
    "en": [(f"has/have/{BE}|Person=3/2/aux seen/see/VERB|Tense=Past|VerbForm=Part/0/root", PRES, "has")],
}
UNKNOWN = f"je/biti/{BE}|Person=3/2/aux kupio/kupiti/{L}/0/root"


def find_tense(row: Row) -> str | None:
    assert row.universal is not None
    query = f"SELECT {TENSE_SQL} FROM (SELECT ? AS verb_tag)"
    ((tense,),) = duckdb.execute(query, [row.universal.main_tags[0]]).fetchall()
    return None if tense is None else str(tense)


@pytest.mark.parametrize(
    ("language", "words", "tense", "verb"),
    [(language, *sentence) for language, sentences in SENTENCES.items() for sentence in sentences],
)
def test_compound_tenses_by_language(language: str, words: str, tense: str | None, verb: str) -> None:
    """In Polish, the verb and its endings are words of one token."""
    forms = [word.split("/")[0] for word in words.split()]
    ranges = [(1, len(forms), "".join(forms))] if verb == "".join(forms) and len(forms) > 1 else []
    row = make_row(words, ranges=ranges, language=language)
    assert (find_tense(row), None if row.verb is None else row.tokens[row.verb]) == (tense, verb)


def test_compound_tenses_are_tested_and_documented() -> None:
    assert SENTENCES.keys() == COMPOUND_TENSES.keys()
    page = (ROOT / "docs/corpus.md").read_text(encoding="utf-8")
    for language in COMPOUND_TENSES:
        assert f"`{language}`" in page


@pytest.mark.parametrize("language", ["", "fi", "ru"])
def test_other_languages_use_auxiliary_tense(language: str) -> None:
    assert find_tense(make_row(UNKNOWN, language=language)) == "PRES"


def test_person_and_mood_come_from_auxiliary() -> None:
    row = make_row(SENTENCES["hr"][0][0], language="hr")
    assert row.universal is not None
    assert row.universal.main_tags[0] == (
        "VERB|Gender=Masc|Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin|Voice=Act"
    )
    assert row.tags[1] == "AUX"


def test_coordinated_pasts_are_two_finite_clauses() -> None:
    words = (
        f"Jan/Jan/{PROPN}/2/nsubj přišel/přijít/{L}/0/root a/a/CCONJ/5/cc "
        f"Eva/Eva/{PROPN}/5/nsubj odešla/odejít/{L}/2/conj"
    )
    clauses = make_row(words, language="cs").clauses
    assert clauses is not None and (clauses.first, clauses.second) == ((0, 2), (3, 5))


TAGS = st.sampled_from([BE, L, BARE, POLISH, PASSIVE, NOUN, "AUX|Person=1", "AUX", "VERB|VerbForm=Inf"])
RELATIONS = st.sampled_from(["aux", "cop", "aux:cnd", "conj", "nsubj"])


@given(st.lists(st.tuples(TAGS, RELATIONS, st.sampled_from(["biti", "být", "anar", "x", "_"])), min_size=1), st.data())
def test_compound_tenses_change_four_features(words: list[tuple[str, str, str]], data: st.DataObject) -> None:
    """Words keep all else; without a row nothing changes, and what was resolved once is not resolved again."""
    heads = [data.draw(st.integers(0, n)) if n else 0 for n in range(len(words))]
    tags, relations, lemmas = zip(*words, strict=True)
    graph = make_graph(tags, tags, heads, relations)
    assert resolve_compound_tenses(graph, lemmas, "de") == tags
    for language in COMPOUND_TENSES:
        for before, after in zip(tags, resolve_compound_tenses(graph, lemmas, language), strict=True):
            changed = {"Mood", "Person", "Tense", "VerbForm"}
            old, new = (dict(part.split("=") for part in tag.split("|")[1:]) for tag in (before, after))
            assert {k: v for k, v in old.items() if k not in changed} == {
                k: v for k, v in new.items() if k not in changed
            }
            assert before == after or get_feature(after, "VerbForm") in {"", "Fin"}
