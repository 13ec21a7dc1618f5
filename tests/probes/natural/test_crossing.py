"""Tasks across languages: no test sentence or translation in training, equal sizes, equal test items, refusals."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest
from helpers.runs.natural_tables import sample_rows, write_table
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import Size
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.datasets.dataset import ProbeDataset, Split, TooFewError
from sentprobe.probes.datasets.known_task import name_in_languages, remove_languages
from sentprobe.probes.natural.crossing import LEFT_OUT, Crossing, build_crossed_datasets, make_crossing
from sentprobe.probes.natural.datasets import NaturalRecipe, find_tasks
from sentprobe.probes.runs import suites
from sentprobe.probes.runs.suite_options import ItemOptions, NaturalOptions
from sentprobe.probes.runs.suites import find_known_task, make_natural, rename_as_published

LANGUAGES = ("de", "fr", "it")
Built = dict[str, ProbeDataset | TooFewError]


@cache
def make_language(number: int) -> tuple[Row, ...]:
    """Return 600 sentences with words of their own; two in three have an id that other languages have, too."""
    rng = Random(number)
    rows = []
    for place, row in enumerate(sample_rows(600, seed=100 + number)):
        shared = f"n{(place * 7 + rng.randrange(2)) % 400}"
        rows.append(replace(row, sentence_id=shared if rng.random() < 2 / 3 else None))
    return tuple(rows)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder = tmp_path_factory.mktemp("languages")
    return [
        write_table(make_language(number), folder / f"{name}.table", language=name)
        for number, name in enumerate(LANGUAGES)
    ]


def build_all(tables: list[Table], crossing: Crossing, size: Size, *, seed: int = 0) -> Built:
    recipe = NaturalRecipe(size=size, seed=seed, audit=False)
    return dict(build_crossed_datasets(crossing, tables, recipe=recipe))


def find_ids(number: int) -> dict[str, str]:
    return {row.text: row.sentence_id for row in make_language(number) if row.sentence_id}


def list_texts(data: ProbeDataset, *splits: Split) -> list[str]:
    return [data.sentences[row] for split in splits if split in data.splits for row in data.splits[split].rows]


language_lists = st.lists(st.sampled_from(LANGUAGES), min_size=1, max_size=3, unique=True).map(tuple)


@settings(max_examples=5)
@given(
    task=st.sampled_from(("SentLen", "SubjNum", "Tense")),
    train_on=language_lists,
    test_on=language_lists,
    test=st.integers(12, 60),
    seed=st.integers(0, 5),
)
def test_tested_sentences_are_never_trained(
    tables: list[Table], *, task: str, train_on: tuple[str, ...], test_on: tuple[str, ...], test: int, seed: int
) -> None:
    crossing = Crossing(tasks=tuple(find_tasks([task])), train_on=train_on, test_on=test_on)
    built = build_all(tables, crossing, Size(train=150, test=test, validation=30), seed=seed)
    datasets = {name: data for name, data in built.items() if isinstance(data, ProbeDataset)}
    assert [*datasets] == [name_in_languages(task, *pair) for pair in product(train_on, test_on)]
    ids = {name: find_ids(number) for number, name in enumerate(LANGUAGES)}
    tested: set[str] = set()
    for data in datasets.values():
        texts = list_texts(data, Split.TEST)
        tested |= {*texts, *(ids[data.card.test_language].get(text, "") for text in texts)} - {""}
    training: dict[str, list[str]] = {}
    tests: dict[str, list[tuple[str, int]]] = {}
    for data in datasets.values():
        train_language, test_language = data.card.train_language, data.card.test_language
        texts = list_texts(data, Split.TRAIN, Split.VALIDATION)
        keys = {*texts, *(ids[train_language].get(text, "") for text in texts)}
        assert keys.isdisjoint(tested)
        assert training.setdefault(train_language, texts) == texts
        items = [*zip(list_texts(data, Split.TEST), data.splits[Split.TEST].targets.tolist(), strict=True)]
        assert tests.setdefault(test_language, items) == items
        for split in data.splits.values():
            assert len({*Counter(split.targets.tolist()).values()}) == 1, "the labels are balanced"
    assert len({len(texts) for texts in training.values()}) == 1


def test_progress_counts_pairs_of_languages(tables: list[Table]) -> None:
    suite = make_natural(
        tables[:2],
        ["SentLen", "DepDepth"],
        NaturalOptions(train_on="de", test_on="fr"),
        ItemOptions(train=60, test=30, validation=12),
    )
    reporter = Mock(spec=SilentReporter)
    names = [name for name, _ in suites.build_all(suite, command="", reporter=reporter)]
    assert names == ["SentLen.de-fr", "DepDepth.de-de", "DepDepth.fr-fr"], "the last two failed"
    reporter.begin.assert_called_once_with("build the tasks", 2)
    assert sum((*call.args, 1)[0] for call in reporter.advance.mock_calls) == 2


@pytest.mark.parametrize("task", ["BShift", "SOMO", "CoordInv"])
def test_changed_sentences_keep_original_id(tables: list[Table], task: str) -> None:
    crossing = Crossing(tasks=tuple(find_tasks([task])), train_on=("de",), test_on=("fr",))
    (data,) = build_all(tables, crossing, Size(train=40, test=40, validation=8)).values()
    assert isinstance(data, ProbeDataset), data
    ids = [_index_by_words(number) for number in (0, 1)]
    tested = {ids[1].get(_key(text)) for text in list_texts(data, Split.TEST)} - {None}
    trained = {ids[0].get(_key(text)) for text in list_texts(data, Split.TRAIN, Split.VALIDATION)} - {None}
    assert tested
    assert trained.isdisjoint(tested)
    assert data.card.counts[LEFT_OUT] > 0


def _key(text: str) -> tuple[str, ...]:
    """Return what a changed sentence shares with its original: its words, but for one of SOMO."""
    return tuple(sorted(text.lower().split()))


def _index_by_words(number: int) -> dict[tuple[str, ...], str]:
    return {_key(row.text): row.sentence_id for row in make_language(number) if row.sentence_id}


def test_one_sided_language_gives_all_sentences(tables: list[Table]) -> None:
    task = find_tasks(["SubjNum"])
    one_sided = Crossing(tasks=tuple(task), train_on=("de",), test_on=("fr",))
    both = Crossing(tasks=tuple(task), train_on=("de", "fr"), test_on=("fr", "de"))
    size = Size(train=1000, test=1000, validation=0)
    counts = [
        len(data.splits[Split.TEST])
        for data in (build_all(tables, crossing, size)["SubjNum.de-fr"] for crossing in (one_sided, both))
        if isinstance(data, ProbeDataset)
    ]
    assert counts[0] > counts[1]


def test_language_without_label_is_left_out(tables: list[Table], tmp_path: Path) -> None:
    bare = [replace(row, verb=None, subject=None, object=None) for row in make_language(1)]
    crossing = make_crossing(
        [tables[0], write_table(bare, tmp_path / "fr", language="fr")],
        find_tasks(["Tense"]),
        train_on=None,
        test_on=None,
        chosen=True,
    )
    built = build_all([tables[0], crossing_table(tmp_path / "fr")], crossing, Size(train=60, test=20, validation=10))
    assert str(built["Tense.fr-fr"]).startswith("fr: Tense: needs the main clause, which none of the 600 sentences")
    assert [name for name, data in built.items() if isinstance(data, ProbeDataset)] == ["Tense.de-de"]


def crossing_table(path: Path) -> Table:
    from sentprobe.probes.corpus.table import open_table

    return open_table(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("WC", "it asks about words of one language"),
        ("AdiContent", "it asks about words of one language"),
        ("AdiLength-random", "its sentences are changed at random"),
    ],
)
def test_tasks_about_words_are_refused(tables: list[Table], name: str, reason: str) -> None:
    crossing = Crossing(tasks=tuple(find_tasks([name])), train_on=("de",), test_on=("fr",))
    (error,) = build_all(tables, crossing, Size(30, 10, 10)).values()
    assert str(error) == f"{name}: cannot be tested in another language: {reason}"


def test_word_tasks_are_left_out_by_default(tables: list[Table]) -> None:
    crossing = make_crossing(tables, find_tasks(), train_on="de", test_on="fr, it", chosen=False)
    assert "WC" not in {task.name for task in crossing.tasks}
    assert (crossing.train_on, crossing.test_on) == (("de",), ("fr", "it"))


@pytest.mark.parametrize(
    ("train_on", "message"),
    [
        ("es", "--train-on: there is no table of the language 'es'; the tables are of: de, fr, it"),
        ("de,", "--train-on: there is no table of the language ''"),
        ("de,de", "language 'de' is given twice"),
    ],
)
def test_wrong_languages_are_refused(tables: list[Table], train_on: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        make_crossing(tables, find_tasks(), train_on=train_on, test_on=None, chosen=False)


def test_tables_need_different_known_languages(tables: list[Table]) -> None:
    for second, message in ((tables[0], "are both of the language de"), (replace(tables[1], language=""), "not known")):
        with pytest.raises(UsageError, match=message):
            make_crossing([tables[0], second], find_tasks(), train_on=None, test_on=None, chosen=False)


def test_too_many_test_items_are_refused() -> None:
    rows = [replace(row, sentence_id=str(place)) for place, row in enumerate(make_language(0)[:200])]
    with TemporaryDirectory() as folder:
        pair = [write_table(rows, Path(folder) / name, language=name) for name in ("aa", "bb")]
        crossing = Crossing(tasks=tuple(find_tasks(["SentLen"])), train_on=("aa",), test_on=("bb",))
        (error,) = build_all(pair, crossing, Size(60, 10_000, 6)).values()
    assert "training items of aa with the label" in str(error)
    assert str(error).endswith("are sentences, or translations, of test items; ask for fewer test items (--test)")


@given(st.from_regex(r"[A-Za-z]\w{0,5}", fullmatch=True), st.from_regex(r"[A-Za-z]\w{0,5}", fullmatch=True))
def test_names_in_languages_keep_the_task(train: str, test: str) -> None:
    name = name_in_languages("Tense", train, test)
    assert remove_languages(name) == "Tense"
    assert (task := find_known_task(name)) is not None
    assert task.name == "Tense"


def test_published_names_keep_the_languages(tables: list[Table]) -> None:
    crossing = Crossing(tasks=tuple(find_tasks(["SubjNum"])), train_on=("de",), test_on=("fr",))
    (data,) = build_all(tables, crossing, Size(30, 10, 0)).values()
    assert isinstance(data, ProbeDataset)
    assert rename_as_published(data).name == "subj_number.de-fr"
