"""Curly marks: a text has the same tokens and labels as its twin in straight marks."""

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
from helpers.encoders.parser_models import BLLIP, PUNKT, SPACY, skip_unless_installed, unpack
from helpers.hostile.curly import curl, uncurl
from helpers.shared import SHARED, needs_shared
from helpers.strategies.corpus_strategies import make_table, read_rows
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import example, given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import write_tree
from sentprobe.lexicon import english
from sentprobe.probes.corpus import parsers
from sentprobe.probes.corpus.parsers import ParserOutcome
from sentprobe.probes.corpus.sources import RecordFields, TextUnit
from sentprobe.probes.corpus.table import AnalysisRecipe, load_splitter, load_tokenizer, make_recipe
from sentprobe.probes.corpus.table_rows import build_row
from sentprobe.probes.corpus.trees import (
    ParsedSentence,
    restore_written_forms,
    straighten,
    straighten_word,
    unescape_word,
)


@pytest.fixture(autouse=True)
def clear_parser_cache() -> Iterator[None]:
    yield
    parsers._load_cached.cache_clear()


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
def test_curled_text_is_straightened(text: str) -> None:
    straight = straighten(curl(text))
    assert straight.text == text
    assert list(straight.starts) == sorted(straight.starts)
    assert straight.restore_form(0, len(text)) == curl(text).replace("\u00ad", "")
    assert straighten(text).text == text


@given(texts())
def test_tokens_keep_forms_of_text(text: str) -> None:
    tokens = load_tokenizer()(text)
    (forms,) = restore_written_forms(straighten(curl(text)), [tokens])
    assert list(map(uncurl, forms)) == list(map(unescape_word, tokens))
    squeezed = re.sub(r"\s|\u00ad", "", curl(text))
    assert "".join(forms) == squeezed
    assert next(iter(restore_written_forms(straighten(text), [tokens]))) == tuple(tokens)


def list_labels(rows: Sequence[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(map(row.__getitem__, ("place", *LABELS))) for row in rows]


def list_tokens(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    return [list(map(uncurl, row["tokens"])) for row in rows]


@examples(15)
@given(st.lists(texts(), min_size=1, max_size=8, unique=True), st.sampled_from(TextUnit))
def test_twins_have_equal_tables(tmp_path_factory: pytest.TempPathFactory, lines: list[str], holds: TextUnit) -> None:
    folder = tmp_path_factory.mktemp("twins")
    punkt = str(PUNKT) if holds is TextUnit.TEXT and PUNKT.is_dir() else None
    recipe = AnalysisRecipe(reading=RecordFields(holds=holds), parser="none", punkt=punkt)
    tables = []
    for name, mark in (("straight", str), ("curly", curl)):
        file = folder / f"{name}.jsonl"
        file.write_text("".join(f"{json.dumps({'text': mark(line)})}\n" for line in lines))
        tables.append(read_rows(make_table([file], folder / name, recipe=recipe)))
    straight, curly = tables
    assert {row["place"] for row in straight} <= {row["place"] for row in curly}
    curly = [row for row in curly if row["place"] in {row["place"] for row in straight}]
    assert list_tokens(curly) == list_tokens(straight)
    assert list_labels(curly) == list_labels(straight)


@given(full_events(english()))
def test_curly_trees_have_straight_labels(event: Event) -> None:
    tree = write_tree(realize(event, english()))
    straight, curly = (build_row(ParsedSentence(tree=tree)), build_row(ParsedSentence(tree=tree.replace("'", "’"))))
    assert curly.tokens == tuple(token.replace("'", "’") for token in straight.tokens)
    blank = {"text": "", "digest": "", "tokens": (), "tree": None}
    assert replace(curly, **blank) == replace(straight, **blank)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tree",
    [
        "(S (NP (PRP It)) (VP (VBZ 's) (NP (DT a) (NN dog))) (. .))",
        "(S (NP (PRP We)) (VP (AUX 've) (VP (VBN seen) (NP (DT a) (NN dog)))) (. .))",
    ],
)
def test_listed_words_are_known_curly(tree: str) -> None:
    straight, curly = (build_row(ParsedSentence(tree=tree)), build_row(ParsedSentence(tree=tree.replace("'", "’"))))
    assert (curly.verb, curly.object, curly.tags) == (straight.verb, straight.object, straight.tags)


def test_dependencies_know_curly_words() -> None:
    tokens, tags, heads = ("It", "’s", "rain", "."), ("PRP", "VBZ", "NN", "."), (2, 0, 2, 2)
    assert build_row(ParsedSentence(tokens=tokens, tags=tags, heads=heads)).object is None


class Fake:
    """A parser that stores its input."""

    fingerprint = "fake 1"
    splits = True

    def __init__(self) -> None:
        self.given: list[object] = []

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        self.given += map(list, sentences)
        return [ParsedSentence(tokens=tuple(tokens)) for tokens in sentences]

    def tokenize(self, sentence: str) -> list[str]:
        return sentence.split()

    def parse_text(self, text: str) -> list[ParserOutcome]:
        self.given.append(text)
        first = ParsedSentence(tokens=("-LRB-", "It", "'s", "``", "gonna", "''", "rain", "..."))
        return [first, "no parse", ParsedSentence(tokens=("Yes", "."))]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    parser = Fake()
    kind = parsers.ParserKind("fake", "json", lambda _: parser)
    monkeypatch.setattr(parsers, "PARSERS", (kind,))
    return parser


def test_parser_gets_straight_tokens(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "a.tok"
    file.write_text("It ’s “ 1914–18 ” — so…\n\u00ad x\n", encoding="utf-8")
    table = make_table([file], tmp_path / "out", recipe=AnalysisRecipe(parser="fake"))
    assert fake.given == [["It", "'s", '"', "1914-18", '"', "--", "so..."], ["\u00ad", "x"]]
    assert [row["text"] for row in read_rows(table)] == ["It ’s “ 1914–18 ” — so…", "\u00ad x"]


def test_splitting_parser_gets_straight_text(fake: Fake, tmp_path: Path) -> None:
    """Its tokens are matched with the text even if it writes some otherwise or changes some."""
    file = tmp_path / "a.txt"
    file.write_text("(It’s “going to” rain…\nYes.\n", encoding="utf-8")
    table = make_table([file], tmp_path / "out", recipe=AnalysisRecipe(parser="fake"))
    assert fake.given == ['(It\'s "going to" rain... Yes.']
    assert [row["text"] for row in read_rows(table)] == ["( It ’s “ gonna ” rain …", "Yes ."]


@pytest.mark.parametrize(
    ("text", "tokens", "forms"),
    [
        ("wait.… no", ["wait", "...", ".", "no"], ["wait", "...", ".", "no"]),
        ("wait…. no", ["wait", "...", ".", "no"], ["wait", "…", ".", "no"]),
        ("Mr. ——", ["Mr.", "--", "--"], ["Mr.", "—", "—"]),
        ("«co\u00adop» \u201e2\u2033", ["``", "coop", "''", '"', "2", '"'], ["«", "coop", "»", "„", "2", "″"]),
        ("un\u00ad til \u00ad, ha\u00ad", ["until", ",", "ha"], ["until", ",", "ha"]),
        ("``a'' ‘b’", ["``", "a", "''", "'", "b", "'"], ["``", "a", "''", "‘", "b", "’"]),
        ("a’b", ["x", "'b", "", "y"], ["x", "’b", "", "y"]),
    ],
)
def test_written_forms_are_restored(text: str, tokens: list[str], forms: list[str]) -> None:
    assert list(next(iter(restore_written_forms(straighten(text), [tokens])))) == forms


def test_straightened_word_stays_one_word() -> None:
    assert [straighten_word(word) for word in ("\u00ad", "1\u00a0000", "–", "naïve")] == [
        *("\u00ad", "1_000", "--", "naïve")
    ]


@cache
def read_novel_sentences() -> list[str]:
    """Return the distinct sentences of novels that have quotes, apostrophes, dashes or ellipses."""
    sentences: dict[str, None] = {}
    for file in sorted((SHARED / "novels" / "raw").iterdir()):
        with lzma.open(file, "rt", encoding="utf-8-sig") as text:
            for paragraph in re.split(r"\n\s*\n", text.read()):
                sentences |= dict.fromkeys(load_splitter(str(PUNKT))(" ".join(paragraph.split())))
    return [sentence for sentence in sentences if re.search(r"['\"]|--|\.\.\.", sentence)]


PATHS = (
    pytest.param("none", 1, True, id="none"),
    pytest.param("spacy", 25, True, id="spacy", marks=skip_unless_installed("spacy")),
    pytest.param("spacy", 25, False, id="spacy-splits", marks=skip_unless_installed("spacy")),
    pytest.param("bllip", 60, True, id="bllip", marks=skip_unless_installed("bllip")),
)


@pytest.mark.slow
@needs_shared
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "step", "split"), PATHS)
def test_real_sentences_and_their_twins(tmp_path: Path, kind: str, step: int, split: bool) -> None:
    """Bllip parses the novels in full."""
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
    sentences = list(islice(read_novel_sentences(), 0, None, step))
    tables = []
    for name, mark in (("straight", str), ("curly", curl)):
        file = tmp_path / f"{name}.txt"
        file.write_text("\n\n".join(map(mark, sentences)), encoding="utf-8")
        table = make_table([file], tmp_path / name, recipe=recipe)
        tables.append({row["place"]: row for row in read_rows(table)})
    straight, curly = tables
    assert len(straight) > 100
    assert set(straight) <= set(curly)
    same = [
        list_tokens([row]) == list_tokens([curly[place]]) and list_labels([row]) == list_labels([curly[place]])
        for place, row in straight.items()
    ]
    assert sum(same) >= 0.98 * len(same)
