"""Parts of the natural-text tasks, by hand and by property, and their errors."""

from pathlib import Path
from random import Random

import pytest
from helpers.runs.natural_tables import build_one, parse_rows, sample_rows, write_table
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.specs import Size, TaskGroup
from sentprobe.probes.corpus.queries import open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.corpus.table_rows import build_row
from sentprobe.probes.corpus.trees import ParsedSentence
from sentprobe.probes.datasets.dataset import ProbeDataset, Split, TooFewError
from sentprobe.probes.natural.changed_sentences import LongerClause, _swap_neighbours, divide_sentence, render_sentence
from sentprobe.probes.natural.datasets import TASKS, NaturalRecipe, build_datasets, find_tasks
from sentprobe.probes.natural.selection import FrequencyBand, NaturalSettings, parse_band
from sentprobe.probes.natural.surface_tasks import FULL_CORPUS, compute_target_band


def make_recipe(train: int = 200, test: int = 40, *, seed: int = 0) -> NaturalRecipe:
    return NaturalRecipe(size=Size(train, test, test), seed=seed, audit=False)


# Bands


@pytest.mark.parametrize(
    ("tokens", "band"), [(10_000_000, "100-5000"), (90_000_000, "100-5000"), (1_000_000, "10-500"), (5, "1-2")]
)
def test_band_scales_with_corpus(tokens: int, band: str) -> None:
    assert str(FrequencyBand(100, 5000).scale(tokens)) == band


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_target_band_keeps_relative_frequency(tokens: int, extra: int) -> None:
    small, large = compute_target_band(tokens), compute_target_band(tokens + extra)
    assert small.low <= large.low <= 100
    assert 30 <= small.high <= large.high <= 5000
    if small.high > 30 and tokens < FULL_CORPUS:
        assert small.high / tokens == pytest.approx(5000 / FULL_CORPUS, rel=0.05)


@pytest.mark.parametrize("text", ["", "5", "5-", "9-5", "0-5", "a-b", "-1-5", "1.5-3", "1-2-3"])
def test_malformed_band_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a frequency band is LOW-HIGH, such as 100-5000"):
        parse_band(text)


@pytest.mark.parametrize("field", ["words", "first_rank", "sequences"])
def test_settings_must_be_positive(field: str) -> None:
    with pytest.raises(UsageError, match="must be at least"):
        NaturalSettings(**{field: 0})  # type: ignore[arg-type]


# BShift


def list_swaps(text: str) -> set[str | None]:
    return {_swap_neighbours(text, Random(seed)) for seed in range(60)}


def test_bshift_swaps_two_inner_words() -> None:
    assert list_swaps("He saw the old man .") == {
        "He the saw old man .",
        "He saw old the man .",
        "He saw the man old .",
    }
    assert list_swaps("Yes , he did .") == {"Yes , did he ."}
    assert list_swaps("Qui a donné l' exemple ?") == {"Qui donné a l' exemple ?"}
    assert list_swaps("Que dit -il de vrai ?") == {"Que dit -il vrai de ?"}


@pytest.mark.parametrize("text", ["Well , no !", "Go !", "Oh no no ! --", "And that That ."])
def test_bshift_finds_nothing_to_swap(text: str) -> None:
    assert list_swaps(text) == {None}


# CoordInv


def invert_clauses(tree: str) -> str | None:
    """Return the inverted sentence if the original is rendered unchanged."""
    row = build_row(ParsedSentence(tree=tree))
    if row.clauses is None:
        return None
    parts = divide_sentence(row.text, row.tags, (*row.clauses.first, *row.clauses.second))
    if parts is None or render_sentence(parts, inverted=False) != row.text:
        return None
    return render_sentence(parts, inverted=True)


def format_clause(subject: str, verb: str) -> str:
    return f"(S (NP {subject}) (VP (VBD {verb})))"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("(DT The) (NN man)", "(PRP he)", "He slept , but the man ran ."),
        ("(PRP I)", "(DT the) (NN man)", "The man slept , but I ran ."),
        ("(NNP Ann)", "(PRP I)", "I slept , but Ann ran ."),
        ("(DT A) (NN man)", "(NNP Bob)", "Bob slept , but a man ran ."),
        ("(DT the) (NN man)", "(PRP he)", None),
        ("(DT The) (NN man)", "(DT The) (NN dog)", None),
    ],
)
def test_coordinv_mends_casing_and_stop(first: str, second: str, expected: str | None) -> None:
    tree = f"(S {format_clause(first, 'ran')} (, ,) (CC but) {format_clause(second, 'slept')} (. .))"
    assert invert_clauses(tree) == expected


def test_coordinv_keeps_quotes_around() -> None:
    tree = f'(S (`` ") {format_clause("(PRP He)", "ran")} (CC or) {format_clause("(PRP she)", "did")} (. ?))'
    row = build_row(ParsedSentence(tree=tree))
    spans = (1, 3, 4, 6)
    parts = divide_sentence(row.text, row.tags, spans)
    assert parts is not None
    assert parts.longer is LongerClause.NEITHER
    assert render_sentence(parts, inverted=True) == '" She did or he ran ?'


@pytest.mark.parametrize(
    ("opening", "stop", "usable"),
    [
        ("", "(. .)", True),
        ("", "(. !)", False),
        ("", "(: ...)", False),
        ("", "", False),
        ('(`` ")', "(. .)", False),
        ("(`` “)", "(. .) ('' ”)", False),
        ("", "(. .) ('' '')", False),
    ],
)
def test_coordinv_leaves_out_quotations(opening: str, stop: str, usable: bool, tmp_path: Path) -> None:
    trees = [
        f"(S {opening} {format_clause('(DT The) (NN man)', f'ran{n}')} (CC and) "
        f"{format_clause(subject, f'slept{n}')} {stop})"
        for n in range(20)
        for subject in ("(PRP she)", "(DT the) (JJ old) (NN dog)")
    ]
    table = write_table(parse_rows(f"{tree}\n" for tree in trees), tmp_path / "table")
    sizes = NaturalRecipe(size=Size(8, 2, 2), audit=False)
    ((_, built),) = build_datasets(find_tasks(["CoordInv"]), table, recipe=sizes)
    assert isinstance(built, ProbeDataset) == usable
    assert usable or "first clause longer: 0" in str(built)


# Tasks and errors


def test_task_groups_have_their_tasks() -> None:
    assert len(find_tasks()) == 10
    assert find_tasks() == find_tasks(["conneau"])
    assert [task.name for task in find_tasks(["adi"])] == ["AdiLength", "AdiContent", "AdiOrder"]
    assert len(find_tasks(TaskGroup)) == len(TASKS)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Tens"], r"no natural-text task 'Tens' \(did you mean 'Tense'\?\)"),
        (["conau"], r"\(did you mean 'conneau'\?\); the tasks are SentLen, WC"),
        (["adi", "AdiOrder"], "the task 'AdiOrder' is named twice"),
    ],
)
def test_unknown_or_repeated_tasks_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_tasks(names)


@pytest.mark.parametrize(
    ("name", "need"), [("TreeDepth", "constituents"), ("Tense", "the main clause"), ("SOMO", "tags")]
)
def test_task_names_what_table_lacks(name: str, need: str, tmp_path: Path) -> None:
    rows = [build_row(ParsedSentence(tokens=("men", f"ran{n}", "."))) for n in range(9)]
    bare = write_table(rows, tmp_path / "bare")
    with pytest.raises(TooFewError, match=rf"^{name}: needs {need}, which none of the 9"):
        build_one(TASKS[name], bare, recipe=make_recipe())


@pytest.mark.parametrize(
    ("settings_", "name", "message"),
    [
        (NaturalSettings(words=5000), "WC", r"WC: the corpus has \d+ words of at least 4 letters"),
        (NaturalSettings(first_rank=99_999), "WC", r"WC: the corpus has 0 words of at least 4 letters"),
        (
            NaturalSettings(band=FrequencyBand(4000, 4001)),
            "Tense",
            r"Tense: the corpus has too few sentences: at least 1 are needed of each class, and no "
            r"word may be in two splits; it has PAST in test: 0, ",
        ),
        (NaturalSettings(odd_band=FrequencyBand(4000, 4001)), "SOMO", "SOMO: the corpus has too few"),
    ],
)
def test_corpus_without_items_is_refused(settings_: NaturalSettings, name: str, message: str, table: Table) -> None:
    small_recipe = NaturalRecipe(size=Size(60, 10, 10), settings=settings_, audit=False)
    with pytest.raises(SentprobeError, match=message):
        build_one(TASKS[name], table, recipe=small_recipe)


def test_topconst_without_sequences_is_refused(tmp_path: Path) -> None:
    rows = parse_rows(f"(S (NP (NN man)) (, ,) (VP (VBD ran{n}) (RB off)) (. .))" for n in range(30))
    commas = write_table(rows, tmp_path / "commas")
    with pytest.raises(TooFewError, match="TopConst: the corpus has no sequence of top const"):
        build_one(TASKS["TopConst"], commas, recipe=make_recipe())


@pytest.mark.parametrize(
    ("count", "requested", "is_marked"), [(60, 10_000, True), (900, 10_000, False), (60, 4, False)]
)
def test_few_test_items_are_noted(count: int, requested: int, is_marked: bool, tmp_path: Path) -> None:
    trees = (
        f"(S {format_clause(first, f'ran{n}')} (CC and) {format_clause(second, f'slept{n}')} (. .))"
        for n in range(count)
        for first, second in (("(DT The) (NN man)", "(PRP she)"), ("(PRP She)", "(DT the) (JJ old) (NN dog)"))
    )
    table = write_table(parse_rows(f"{tree}\n" for tree in trees), tmp_path / "table")
    recipe = NaturalRecipe(size=Size(10 * requested, requested, requested), audit=False)
    data = build_one(TASKS["CoordInv"], table, recipe=recipe)
    marks = [note for note in data.card.notes if note.startswith("only ")]
    number = len(data.splits[Split.TEST].rows)
    assert (number < 50) == (count == 60)
    assert bool(marks) == is_marked
    if is_marked:
        assert marks[0].startswith(f"only {number} test items: the 95% interval of an accuracy of 50% is ")


def test_subjnum_asks_about_plural_coordinations(tmp_path: Path) -> None:
    """The number of the whole is that of the noun in *dogs and a cat*, not in *a cat and dogs* or *dogs or cats*."""
    cat, dogs = "(NP (DT a) (NN cat))", "(NP (NNS dogs))"
    subjects = {
        f"(NP {dogs} (CC and) {cat})": "NNS",
        f"(NP {cat} (CC and) {dogs})": None,
        f"(NP {cat} (CC and) {cat})": None,
        f"(NP {dogs} (CC or) {dogs})": None,
    }
    for subject, answer in subjects.items():
        tree = f"(S {subject} (VP (VBD saw) (ADVP (RB very) (RB often))) (. .))"
        table = write_table(parse_rows([tree]), tmp_path / str(len([*tmp_path.iterdir()])))
        with open_corpus(table, threads=1, memory="100MB") as corpus:
            assert TASKS["SubjNum"].answer is not None
            assert corpus.query(f"SELECT {TASKS['SubjNum'].answer.sql} FROM sentences") == [(answer,)], subject


def test_wc_refusal_names_word_length(tmp_path: Path) -> None:
    """Most Chinese words have fewer than four letters."""
    rows = [build_row(ParsedSentence(tokens=("我们", "看见", f"大{n}", "大学生活", "。"))) for n in range(40)]
    rare = build_row(ParsedSentence(tokens=("我们", "看见", "国际关系", "的", "。")))
    chinese = write_table([*rows, rare], tmp_path / "chinese")
    with pytest.raises(TooFewError, match="1 of 2 words of at least 4 letters from frequency rank"):
        build_one(TASKS["WC"], chinese, recipe=make_recipe())


@pytest.mark.parametrize("size", [Size(0, 5, 5), Size(5, 0, 5), Size(5, 5, -1)])
def test_sizes_are_positive(size: Size, table: Table) -> None:
    with pytest.raises(UsageError, match=r"the number of \w+ items must be positive, not"):
        build_one(TASKS["SentLen"], table, recipe=NaturalRecipe(size=size))


def test_vanished_shard_is_named(tmp_path: Path) -> None:
    gone = write_table(sample_rows()[:50], tmp_path / "gone")
    Path(gone.files[0]).unlink()
    with pytest.raises(SentprobeError, match=r"part-00000\.parquet"):
        build_one(TASKS["SentLen"], gone, recipe=make_recipe())
