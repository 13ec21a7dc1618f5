"""The tense of hand-written sentences, by language; the features are those of the languages' UD pages."""

import duckdb
import pytest
from helpers.conllu_files import make_row
from helpers.shared import ROOT
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.corpus.universal_labels import COMPOUND_TENSES, get_feature, make_graph, resolve_compound_tenses
from sentprobe.probes.natural.parsed_tasks import TENSE_SQL

PRES, PAST = "PRES", "PAST"
FIN = "Mood=Ind|VerbForm=Fin"
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
def test_a_language_has_its_own_tenses_of_two_words(language: str, words: str, tense: str | None, verb: str) -> None:
    """In Polish, the verb and its endings are words of one token."""
    forms = [word.split("/")[0] for word in words.split()]
    ranges = [(1, len(forms), "".join(forms))] if verb == "".join(forms) and len(forms) > 1 else []
    row = make_row(words, ranges=ranges, language=language)
    assert (find_tense(row), None if row.verb is None else row.tokens[row.verb]) == (tense, verb)


def test_every_row_of_the_table_is_tested_and_documented() -> None:
    assert SENTENCES.keys() == COMPOUND_TENSES.keys()
    page = (ROOT / "docs/corpus.md").read_text(encoding="utf-8")
    for language in COMPOUND_TENSES:
        assert f"`{language}`" in page


@pytest.mark.parametrize("language", ["", "fi", "ru"])
def test_a_language_without_a_row_has_the_tense_of_the_auxiliary(language: str) -> None:
    assert find_tense(make_row(UNKNOWN, language=language)) == "PRES"


def test_person_and_mood_come_from_the_auxiliary() -> None:
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
def test_only_tense_mood_person_and_verb_form_change(words: list[tuple[str, str, str]], data: st.DataObject) -> None:
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
