"""Curly marks: a text and its twin in straight ones have the same tokens and labels."""

import json
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from corpus_strategies import make_table, rows_of
from curly import curl, uncurl
from hypothesis import example, given
from hypothesis import strategies as st
from parser_models import BLLIP, PUNKT, SPACY, installed, unpack
from shared import SHARED, needs_shared
from strategies import full_events
from thoroughness import examples

from sentprobe.generator.event import Event
from sentprobe.generator.realize import realize
from sentprobe.generator.records import write_tree
from sentprobe.lexicon import english
from sentprobe.probes.corpus.recipe import Recipe, load_splitter, load_tokenizer, make_recipe
from sentprobe.probes.corpus.text_formats import Holds, RecordFields
from sentprobe.probes.syntax import parsers
from sentprobe.probes.syntax.parser import ParserOutcome
from sentprobe.probes.syntax.rows import analyse
from sentprobe.probes.syntax.trees import Parsed, plain_word
from sentprobe.probes.syntax.typography import straight_word, straighten, written_forms


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    parsers._load.cache_clear()


LABELS = (
    *("tags", "depth", "top", "verb_index", "verb_tag", "subject_index", "subject_tag"),
    *("subject_number", "object_index", "object_tag", "object_number", "clauses", "length"),
)

PIECES = (
    *("I", "don't", "John's", "dogs'", "we'll", "'tis", "'em", "can't", "o'clock", "rock'n'roll"),
    *('"Yes', 'no"', '"', "'", "'What", "why?'", "--", "word--word", "so...", "...", "1914", "3.5"),
    *("understanding", "Mr. Smith", "(she", "said)", "Hello,", "it's", "there.", "cannot", "wait!"),
)


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map(" ".join)


@given(texts())
@example("\"'Don't' --'")
def test_a_curled_text_is_straightened_to_its_twin(text: str) -> None:
    found = straighten(curl(text))
    assert found.text == text
    assert list(found.starts) == sorted(found.starts)
    assert found.form(0, len(text)) == curl(text).replace("\u00ad", "")
    assert straighten(text).text == text


@given(texts())
def test_tokens_are_those_of_the_twin_in_the_forms_of_the_text(text: str) -> None:
    tokens = load_tokenizer()(text)
    (forms,) = written_forms(straighten(curl(text)), [tokens])
    assert list(map(uncurl, forms)) == list(map(plain_word, tokens))
    squeezed = re.sub(r"\s|\u00ad", "", curl(text))
    assert "".join(forms) == squeezed
    assert next(iter(written_forms(straighten(text), [tokens]))) == tuple(tokens)


def labels_of(rows: Sequence[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(map(row.__getitem__, ("place", *LABELS))) for row in rows]


def tokens_of(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    return [list(map(uncurl, row["tokens"])) for row in rows]


@examples(15)
@given(st.lists(texts(), min_size=1, max_size=8, unique=True), st.sampled_from(Holds))
def test_tables_of_twins(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], holds: Holds
) -> None:
    folder = tmp_path_factory.mktemp("twins")
    punkt = str(PUNKT) if holds is Holds.TEXT and PUNKT.is_dir() else None
    recipe = Recipe(reading=RecordFields(holds=holds), parser="none", punkt=punkt)
    found = []
    for name, mark in (("straight", str), ("curly", curl)):
        file = folder / f"{name}.jsonl"
        file.write_text("".join(f"{json.dumps({'text': mark(line)})}\n" for line in lines))
        found.append(rows_of(make_table([file], folder / name, recipe=recipe)))
    straight, curly = found
    assert {row["place"] for row in straight} <= {row["place"] for row in curly}
    curly = [row for row in curly if row["place"] in {row["place"] for row in straight}]
    assert tokens_of(curly) == tokens_of(straight)
    assert labels_of(curly) == labels_of(straight)


@given(full_events(english()))
def test_trees_in_curly_marks_have_the_labels_of_straight_ones(event: Event) -> None:
    tree = write_tree(realize(event, english()))
    straight, curly = analyse(Parsed(tree=tree)), analyse(Parsed(tree=tree.replace("'", "’")))
    assert curly.tokens == tuple(token.replace("'", "’") for token in straight.tokens)
    kept = {"text": "", "digest": "", "tokens": (), "tree": None}
    assert replace(curly, **kept) == replace(straight, **kept)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tree",
    [
        "(S (NP (PRP It)) (VP (VBZ 's) (NP (DT a) (NN dog))) (. .))",
        "(S (NP (PRP We)) (VP (AUX 've) (VP (VBN seen) (NP (DT a) (NN dog)))) (. .))",
    ],
)
def test_words_that_lists_know(tree: str) -> None:
    straight, curly = analyse(Parsed(tree=tree)), analyse(Parsed(tree=tree.replace("'", "’")))
    assert (curly.verb, curly.object, curly.tags) == (straight.verb, straight.object, straight.tags)


def test_dependencies_know_curly_words() -> None:
    tokens, tags, heads = ("It", "’s", "rain", "."), ("PRP", "VBZ", "NN", "."), (2, 0, 2, 2)
    assert analyse(Parsed(tokens=tokens, tags=tags, heads=heads)).object is None


class Fake:
    """A parser that keeps what it was given."""

    fingerprint = "fake 1"
    splits = True

    def __init__(self) -> None:
        self.given: list[object] = []

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        self.given += map(list, sentences)
        return [Parsed(tokens=tuple(tokens)) for tokens in sentences]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        self.given.append(text)
        whole = Parsed(tokens=("-LRB-", "It", "'s", "``", "gonna", "''", "rain", "..."))
        return [whole, "no parse", Parsed(tokens=("Yes", "."))]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    kind = parsers.ParserKind("fake", "fake", "", "", "json", lambda _: made)
    monkeypatch.setattr(parsers, "PARSERS", (kind,))
    return made


def test_parsers_are_given_straight_tokens(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "a.tok"
    file.write_text("It ’s “ 1914–18 ” — so…\n\u00ad x\n", encoding="utf-8")
    table = make_table([file], tmp_path / "out", recipe=Recipe(parser="fake"))
    assert fake.given == [["It", "'s", '"', "1914-18", '"', "--", "so..."], ["\u00ad", "x"]]
    assert [row["text"] for row in rows_of(table)] == ["It ’s “ 1914–18 ” — so…", "\u00ad x"]


def test_a_parser_that_splits_is_given_a_straight_text(fake: Fake, tmp_path: Path) -> None:
    """Its tokens are found in the text, also where it writes them otherwise, or changes some."""
    file = tmp_path / "a.txt"
    file.write_text("(It’s “going to” rain…\nYes.\n", encoding="utf-8")
    table = make_table([file], tmp_path / "out", recipe=Recipe(parser="fake"))
    assert fake.given == ['(It\'s "going to" rain... Yes.']
    assert [row["text"] for row in rows_of(table)] == ["( It ’s “ gonna ” rain …", "Yes ."]


@pytest.mark.parametrize(
    ("text", "tokens", "forms"),
    [
        ("wait.… no", ["wait", "...", ".", "no"], ["wait", "...", ".", "no"]),
        ("wait…. no", ["wait", "...", ".", "no"], ["wait", "…", ".", "no"]),
        ("Mr. ——", ["Mr.", "--", "--"], ["Mr.", "—", "—"]),
        (
            "«co\u00adop» \u201e2\u2033",
            ["``", "coop", "''", '"', "2", '"'],
            ["«", "coop", "»", "„", "2", "″"],
        ),
        ("un\u00ad til \u00ad, ha\u00ad", ["until", ",", "ha"], ["until", ",", "ha"]),
        ("``a'' ‘b’", ["``", "a", "''", "'", "b", "'"], ["``", "a", "''", "‘", "b", "’"]),
        ("a’b", ["x", "'b", "", "y"], ["x", "’b", "", "y"]),
    ],
)
def test_forms(text: str, tokens: list[str], forms: list[str]) -> None:
    assert list(next(iter(written_forms(straighten(text), [tokens])))) == forms


def test_a_word_stays_a_word() -> None:
    assert [straight_word(word) for word in ("\u00ad", "1\u00a0000", "–", "naïve")] == [
        *("\u00ad", "1_000", "--", "naïve")
    ]


@cache
def real_sentences() -> list[str]:
    """Sentences of novels with quotes, apostrophes, dashes or ellipses, each once."""
    found: dict[str, None] = {}
    for file in sorted((SHARED / "novels" / "raw").iterdir()):
        with lzma.open(file, "rt", encoding="utf-8-sig") as text:
            for paragraph in re.split(r"\n\s*\n", text.read()):
                found |= dict.fromkeys(load_splitter(str(PUNKT))(" ".join(paragraph.split())))
    return [sentence for sentence in found if re.search(r"['\"]|--|\.\.\.", sentence)]


PATHS = (
    pytest.param("none", 1, True, id="none"),
    pytest.param("spacy", 25, True, id="spacy", marks=installed("spacy")),
    pytest.param("spacy", 25, False, id="spacy-splits", marks=installed("spacy")),
    pytest.param("bllip", 60, True, id="bllip", marks=installed("bllip")),
)


@pytest.mark.slow
@needs_shared
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "step", "split"), PATHS)
def test_real_sentences_and_their_twins(tmp_path: Path, kind: str, step: int, split: bool) -> None:
    """The whole novels through bllip: docs/corpus.md."""
    model = {"none": "none", "spacy": f"spacy:{SPACY}", "bllip": f"bllip:{BLLIP}"}[kind]
    if kind != "none":
        name, _, archive = model.partition(":")
        model = f"{name}:{unpack(archive, tmp_path / 'model')}"
    recipe = make_recipe(
        reading=RecordFields(),
        parser=model + ("?overparsing=5" if kind == "bllip" else ""),
        punkt=PUNKT if split else None,
        max_tokens=100,
        has_text=True,
    )
    sentences = list(islice(real_sentences(), 0, None, step))
    found = []
    for name, mark in (("straight", str), ("curly", curl)):
        file = tmp_path / f"{name}.txt"
        file.write_text("\n\n".join(map(mark, sentences)), encoding="utf-8")
        table = make_table([file], tmp_path / name, recipe=recipe)
        found.append({row["place"]: row for row in rows_of(table)})
    straight, curly = found
    assert len(straight) > 100
    assert set(straight) <= set(curly)
    same = [
        tokens_of([row]) == tokens_of([curly[place]])
        and labels_of([row]) == labels_of([curly[place]])
        for place, row in straight.items()
    ]
    assert sum(same) >= 0.98 * len(same)
