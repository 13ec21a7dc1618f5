"""The controls of a run: validation items, control tasks, no sentence, fixed positions, bags across languages."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.runs.planted import (
    PlantedEncoder,
    make_linear_vectors,
    make_numbered_dataset,
    sample_answers,
    sample_noise,
)
from helpers.strategies.probe_strategies import datasets, make_learnable_dataset, make_sample_result, to_items
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import ResultsError, SentprobeError, UsageError
from sentprobe.probes.classifier.fit import TrainingProblem
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Card, Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.baselines import PLACES_WIDTH, compute_place_bound, describe_places, list_place_sets
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.word_vectors import sample_word_vectors
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.reports.comparisons import compare_encoders
from sentprobe.probes.reports.control_verdicts import ControlVerdict, find_controls
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.data_facts import DataFacts, collect_data_facts
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.results.store import format_result
from sentprobe.probes.runs import controls, job_vectors
from sentprobe.probes.runs.controls import (
    CHANGES,
    ProbeItems,
    encode_bag_of_words,
    find_word_types,
    make_control_bow,
    sample_labels,
    split_validation,
)
from sentprobe.probes.runs.run import run


@st.composite
def items_with_groups(draw: st.DrawFn) -> tuple[Items, Indices]:
    """Training items with repeated words, in groups of a few items."""
    size = draw(st.integers(4, 60))
    slots = draw(st.integers(0, 2))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    items = Items(np.arange(size), generator.integers(3, size=(size, slots)), generator.integers(2, size=size))
    return items, generator.integers(max(1, size // draw(st.integers(1, 4))), size=size)


@given(items_with_groups(), st.floats(0.05, 0.95), st.integers(0, 9))
def test_split_keeps_items_groups_and_words(training: tuple[Items, Indices], share: float, seed: int) -> None:
    items, groups = training
    try:
        training_items, validation = split_validation(items, groups, share=share, seed=seed)
    except SentprobeError:
        return
    assert len(validation) > 0
    assert sorted([*training_items.rows, *validation.rows]) == list(range(len(items)))
    assert not set(groups[training_items.rows]) & set(groups[validation.rows])
    assert set(training_items.targets) == set(items.targets)
    for slot in range(items.slots):
        assert set(training_items.probes[:, slot]) == set(items.probes[:, slot])
    for part in (training_items, validation):
        assert (items.probes[part.rows] == part.probes).all()
        assert (items.targets[part.rows] == part.targets).all()
    if len(np.unique(groups[validation.rows])) > 1:
        allowed = Counter(items.targets.tolist())
        for label, count in Counter(validation.targets.tolist()).items():
            assert count <= round(share * allowed[label])


def test_share_of_single_items_is_exact() -> None:
    generator = np.random.default_rng(0)
    items = Items(np.arange(1000), generator.integers(5, size=(1000, 2)), np.arange(1000) % 2)
    training_items, validation = split_validation(items, np.arange(1000), share=0.1, seed=3)
    assert (len(training_items), len(validation)) == (900, 100)
    assert validation.targets.sum() == 50
    again = split_validation(items, np.arange(1000), share=0.1, seed=3)
    assert (training_items, validation) == again
    assert split_validation(items, np.arange(1000), share=0.1, seed=4)[1] != validation


def test_mirror_pairs_stay_together() -> None:
    items = Items(np.arange(100), [], np.arange(100) % 2)  # type: ignore[arg-type]
    _, validation = split_validation(items, np.arange(100) // 2, share=0.2, seed=0)
    assert len(validation) == 20
    assert sorted(validation.rows // 2) == sorted(np.unique(validation.rows // 2).repeat(2))


@pytest.mark.parametrize(
    ("groups", "share", "kind", "message"),
    [
        (2, 0.1, SentprobeError, "no validation items can be taken"),
        (2, 0.0, UsageError, "is not between 0 and 1"),
        (2, 1.0, UsageError, "is not between 0 and 1"),
        (2, -0.1, UsageError, "is not between 0 and 1"),
        (3, 0.1, UsageError, r"groups of shape \(3,\) for 2 training items"),
    ],
)
def test_validation_cannot_be_split_off(groups: int, share: float, kind: type[Exception], message: str) -> None:
    items = Items([0, 1], [[0], [1]], [0, 1])  # type: ignore[arg-type]
    with pytest.raises(kind, match=message):
        split_validation(items, np.arange(groups), share=share)


WORDS = [f"w{number}" for number in range(20)]


def test_control_labels_by_hand() -> None:
    """Of six training items four are of label 0. Two types have three of them each, so that the second lacks room."""
    types = np.array([0, 0, 0, 1, 1, 1, 2])  # the last type is in no training item
    train = to_items([(row, [], int(row > 3)) for row in range(6)])
    assignments = {tuple(sample_labels(types, train, 2, np.random.default_rng(seed)).tolist()) for seed in range(30)}
    assert {labels[:6] for labels in assignments} == {(0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)}
    assert {labels[6] for labels in assignments} == {0, 1}


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30), st.integers(0, 99))
@examples(40)
def test_labels_are_of_types(types: Sequence[int], seed: int) -> None:
    numbers = np.array(types)
    train = to_items([(row, [], row % 2) for row in range(len(types))])
    labels = sample_labels(numbers, train, 2, np.random.default_rng(seed))
    assert all(len(set(labels[numbers == word_type].tolist())) == 1 for word_type in types)
    assert set(labels.tolist()) <= {0, 1}


def test_types_are_last_words_or_sentences() -> None:
    items = to_items([(0, [], 0), (1, [], 1), (2, [], 0)])
    texts = ("a man slept .", "The man SLEPT", "he ran")

    def find_types(test: Sequence[int]) -> list[int]:
        test_items = to_items([(row, [], row % 2) for row in test])
        train = to_items([(0, [], 0), (1, [], 1)])
        splits = {Split.TRAIN: train, Split.TEST: test_items}
        data = ProbeDataset("t", texts, ("F", "T"), (), splits, Card("t"))
        return [*map(int, find_word_types(data))]

    assert len(items) == 3
    assert find_types([2, 1]) == [1, 1, 0]
    assert find_types([0, 1]) == [0, 1, 2]


def compute_accuracies(encoder: PlantedEncoder, targets: Indices) -> tuple[float, float]:
    """The accuracies on the task and on its control task."""
    data = make_numbered_dataset(targets, train=400, words=WORDS)
    results = run(data, encoder, preset="logreg", controls=False, control_task=True)
    (record,) = results.records
    return record.accuracy, record.scores[Condition.CONTROL_TASK].accuracy


def test_selectivity_of_what_is_planted() -> None:
    targets = sample_answers(600)
    words = np.eye(len(WORDS), dtype=np.float32)[np.arange(600) % len(WORDS)]
    knows, by_heart = compute_accuracies(PlantedEncoder(make_linear_vectors(targets)), targets)
    assert knows == 1.0
    assert abs(by_heart - 0.5) < 0.12
    knows, by_heart = compute_accuracies(PlantedEncoder(words), targets)
    assert abs(knows - 0.5) < 0.12
    assert by_heart == 1.0
    assert all(
        abs(accuracy - 0.5) < 0.12 for accuracy in compute_accuracies(PlantedEncoder(sample_noise(600)), targets)
    )


def test_control_task_depends_on_seed() -> None:
    def run_with_seed(seed: int) -> Results:
        data = make_numbered_dataset(sample_answers(60), train=40, words=WORDS)
        encoder = PlantedEncoder(sample_noise(60), fingerprint="noise")
        return run(data, encoder, preset="logreg", controls=False, control_task=True, seed=seed)

    def get_answers(results: Results) -> str:
        return results.records[0].scores[Condition.CONTROL_TASK].seeds[0].right

    assert get_answers(run_with_seed(0)) == get_answers(run_with_seed(0))
    assert len({get_answers(run_with_seed(seed)) for seed in range(3)}) > 1


@pytest.mark.parametrize("method_options", [{"control_task": True}, {"methods": ["mdl", "complexity"]}])
def test_method_is_added_to_finished_run(method_options: dict[str, object], tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    settings = {"preset": replace(find_preset("ettinger"), max_epochs=3), "controls": False}
    plain = run(data, "bow?dim=4", out=tmp_path, **settings)  # type: ignore[arg-type]
    more = run(data, "bow?dim=4", out=tmp_path, **settings, **method_options)  # type: ignore[arg-type]
    both = more.records[0].scores
    assert both[Condition.PROBE] == plain.records[0].scores[Condition.PROBE]
    assert len(both) > 1
    again = run(data, "bow?dim=4", out=tmp_path, **settings, **method_options)  # type: ignore[arg-type]
    assert [*map(format_result, again.records)] == [*map(format_result, more.records)]


ALL_ROWS = CellStyle(all_rows=True)

FAST = replace(find_preset("ettinger"), max_epochs=6)


@given(datasets())
def test_balanced_probes_by_counting(data: ProbeDataset) -> None:
    test = data.splits[Split.TEST]
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for probe, target in zip(test.probes.tolist(), test.targets.tolist(), strict=True):
        counts.setdefault(tuple(probe), Counter())[target] += 1
    equal = all(len({count[label] for label in (0, 1)}) == 1 for count in counts.values())
    assert data.balanced_probes == (equal or not data.slots)


@given(st.integers(1, 9), st.integers(1, 9))
def test_no_sentence_replaces_vectors_by_zeros(rows: int, dim: int) -> None:
    vectors = np.ones((rows, dim), dtype=np.float32)
    material = ProbeItems(
        name="", train=to_items([(0, [0], 0)]), validation=None, test=to_items([(0, [0], 0)]),
        words=1, labels=2,
    )  # fmt: skip
    change = CHANGES[Condition.NO_SENTENCE]
    changed, same = change(vectors, material, np.random.default_rng(0))
    assert changed.shape == (rows, 1)
    assert not changed.any()
    assert same is material


@pytest.mark.parametrize("preset", ["ettinger", "logreg"])
def test_balanced_probe_words_tell_nothing(preset: str) -> None:
    """Words occur equally often with either label, so that any probe is half correct."""
    data = build_task("SemRole", train=400, test=56)
    assert data.balanced_probes
    chosen = replace(find_preset(preset), max_epochs=6)
    (record,) = run([data], [make_encoder("bow?dim=8")], preset=chosen).records
    assert record.balanced_probes
    assert record.scores[Condition.NO_SENTENCE].accuracy == 0.5


def make_ordered_dataset() -> ProbeDataset:
    """Which comes first? Always w0 before w1, w2 before w3, ... whatever the sentence."""
    data = make_learnable_dataset(size=300)
    generator = np.random.default_rng(0)
    entries = []
    for row in range(len(data.sentences)):
        low = 2 * int(generator.integers(5))
        entries.append((row, [low, low + 1], 1) if row % 2 else (row, [low + 1, low], 0))
    cut = len(entries) * 3 // 4
    splits = {Split.TRAIN: to_items(entries[:cut]), Split.TEST: to_items(entries[cut:])}
    return replace(data, name="AdiOrder", splits=splits)


def test_ordered_probe_words_are_no_fault() -> None:
    preset = replace(find_preset("ettinger"), max_epochs=120)
    data = make_ordered_dataset()
    assert not data.balanced_probes
    results = run([data], [make_encoder("bow?dim=4")], preset=preset)
    (record,) = results.records
    assert record.scores[Condition.NO_SENTENCE].accuracy > 0.95
    must = [control.condition for control in find_controls(results) if control.must_be_at_chance]
    assert must == [Condition.RANDOM_SENTENCES, Condition.RANDOM_PROBES]
    notes = describe_all(results)
    assert "do not believe" not in notes
    assert "If they reveal something, random sentence vectors should add nothing to it." in notes
    assert (
        "AdiOrder: the probe words alone (without the sentence) reach 100.0, above chance; compare encoders "
        "with that, not with chance." in notes
    )


def make_result(no_sentence: int, random_sentences: int, *, balanced: bool) -> Result:
    sample = make_sample_result("bow", "order", 700, random_sentences, 500, 500, no_sentence)
    return replace(sample, balanced_probes=balanced)


@pytest.mark.parametrize(
    ("no_sentence", "random_sentences", "balanced", "failed"),
    [
        (500, 500, True, []),
        (600, 500, True, [Condition.NO_SENTENCE]),  # it cannot be: the dataset is not what it says
        (600, 600, True, [Condition.RANDOM_SENTENCES, Condition.NO_SENTENCE]),
        (600, 600, False, []),  # the words tell it, with whatever sentence
        (600, 655, False, []),  # by accident
        (600, 670, False, [Condition.RANDOM_SENTENCES]),  # the words do not tell so much
        (500, 600, False, [Condition.RANDOM_SENTENCES]),  # it is not the words that tell it
    ],
)
def test_verdicts_on_controls_without_sentence(
    no_sentence: int, random_sentences: int, balanced: bool, failed: list[Condition]
) -> None:  # fmt: skip
    results = Results((make_result(no_sentence, random_sentences, balanced=balanced),))
    runs = [control for control in find_controls(results) if control.must_be_at_chance]
    assert [control.condition for control in runs if control.verdict is not ControlVerdict.AT_CHANCE] == failed
    assert ("do not believe" in describe_all(results)) == bool(failed)


def test_leak_beside_probe_words_is_found() -> None:
    """The test items are training items; the two words are in their usual order in 3 of 4."""
    data = make_ordered_dataset()
    train = data.splits[Split.TRAIN]
    words = np.where(train.rows[:, None] % 8 < 6, train.probes, train.probes[:, ::-1])
    again = replace(train, probes=words)
    leaking = replace(data, splits={Split.TRAIN: again, Split.TEST: again})
    preset = replace(find_preset("ettinger"), max_epochs=120)
    results = run([leaking], [make_encoder("bow?dim=64")], preset=preset)
    assert 0.6 < results.records[0].scores[Condition.NO_SENTENCE].accuracy < 0.8
    runs = {control.condition: control for control in find_controls(results)}
    assert not runs[Condition.NO_SENTENCE].must_be_at_chance
    assert runs[Condition.RANDOM_SENTENCES].verdict is ControlVerdict.ABOVE
    assert "do not believe that column" in describe_all(results)


def test_no_sentence_has_no_width() -> None:
    results = Results(
        (make_result(540, 500, balanced=False), replace(make_result(540, 500, balanced=False), encoder="b", dim=9))
    )
    assert [row.label for row in build_grid(results, style=ALL_ROWS).rows].count("no sentence") == 1
    names = [control.name for control in find_controls(results)]
    assert names.count("no sentence on order") == 1
    assert "order: the probe words without the sentence are not above chance (52.0)" in describe_all(
        Results((make_result(520, 500, balanced=False),))
    )
    assert "No sentence: the probe sees only the probe words" in describe_all(results)


POSITIONS = Condition.FIXED_POSITIONS


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The shapes of the vectors on which the control was trained."""
    shapes: list[tuple[int, int]] = []
    train: Callable[..., Any] = controls.train_under_condition

    def record_shape(condition: Condition, items: Any, vectors: Any, **arguments: Any) -> Any:
        arrays = [*vectors]
        shapes.extend(array.shape for array in arrays if condition is POSITIONS)
        return train(condition, items, arrays, **arguments)

    monkeypatch.setattr(job_vectors, "train_under_condition", record_shape)
    return shapes


def test_positions_control_is_trained_once(tmp_path: Path, shapes: list[tuple[int, int]]) -> None:
    data = [build_task("Order", train=80, test=24), make_learnable_dataset(size=60)]
    results = run(data, ["bow?dim=8", "bow?dim=4&name=b"], preset=FAST, out=tmp_path)
    assert [width for _, width in shapes] == [PLACES_WIDTH, PLACES_WIDTH]
    for task in results.tasks:
        first, second = (record for record in results.records if record.task == task)
        assert first.scores[POSITIONS].seeds == second.scores[POSITIONS].seeds
        assert first.data is not None
        assert first.data.places
    run(data, ["bow?dim=6&name=c"], preset=FAST, out=tmp_path)  # from the stored results
    assert len(shapes) == 2


def test_positions_control_learns_below_its_bound() -> None:
    data = build_task("Attachment", train=800, test=200)  # what words at fixed places tell is easy to learn here
    (record,) = run([data], ["bow?dim=8"], preset=replace(FAST, max_epochs=60)).records
    facts, control = record.data, record.scores[POSITIONS]
    assert facts is not None
    bounds = {
        describe_places(places): compute_place_bound(data, Split.TEST, places) for places in list_place_sets(data)
    }
    own_bound = bounds[facts.places]
    assert own_bound is not None
    assert control.accuracy <= own_bound
    assert facts.place_bound == max(bound or 0 for bound in bounds.values())
    assert control.accuracy > 0.5 + 0.4 * (own_bound - 0.5)


def test_places_need_controls() -> None:
    (record,) = run([make_learnable_dataset(size=60)], ["bow?dim=4"], preset=FAST, controls=False).records
    assert record.data is not None
    assert (record.data.places, POSITIONS in record.scores) == ("", False)


def make_table(*right: int, positions: int) -> Results:
    records = (
        make_sample_result(f"e{n}", "Order", count, 500, 500, 500, 500, positions) for n, count in enumerate(right)
    )
    return Results(tuple(records))


def test_last_rows_are_controls_with_positions() -> None:
    record = make_sample_result("e0", "Order", 900, 500, 500, 500, 500, 800, 850)
    grid = build_grid(Results((record, replace(record, encoder="e1", dim=4))))
    names = ["words and positions, dim 3", "words and positions, dim 4", "fixed positions"]
    assert [row.label for row in grid.rows] == ["e0", "e1", *names]
    assert [row.cells[0].text for row in grid.rows[2:]] == ["85.0", "85.0", "80.0"]


def test_encoders_are_compared_with_a_control() -> None:
    comparisons = compare_encoders(make_table(900, 700, positions=800), against="fixed positions")
    assert [(c.first.encoder, c.second_name, c.accuracies) for c in comparisons] == [
        ("e0", "fixed positions", (0.9, 0.8)),
        ("e1", "fixed positions", (0.7, 0.8)),
    ]
    assert [c.is_better for c in comparisons] == [True, False]
    assert compare_encoders(make_table(900, 700, positions=800), against="bag of words")[0].accuracies == (0.9, 0.5)
    ordered = Results((make_sample_result("e0", "Order", 900, 500, 500, 500, 500, 800, 850),))
    assert compare_encoders(ordered, against="words and positions")[0].accuracies == (0.9, 0.85)


def test_comparison_with_missing_control_is_refused() -> None:
    without = Results((make_sample_result("a", "Order", 900), make_sample_result("b", "Order", 800)))
    with pytest.raises(ResultsError, match="no control with fixed positions: run it again without --no-controls"):
        compare_encoders(without, against="fixed positions")


def test_notes_state_places_and_bounds() -> None:
    data = build_task("Negation", train=80, test=24)
    notes = describe_all(run([data], ["bow?dim=4"], preset=FAST))
    assert "Fixed positions, chosen on training items: word" in notes
    assert "exceeds" in notes
    assert "(mirror pairs: an exact bound)" in notes
    unmirrored = describe_all(run([make_learnable_dataset(size=60)], ["bow?dim=4"], preset=FAST))
    assert "Fixed positions, chosen on training items: word" in unmirrored
    assert "an exact bound" not in unmirrored


ENGLISH, GERMAN = ("dogs", "sleep", "see", "a", "cat"), ("hunde", "sehen", "eine", "katze", "nicht")
SHARED = (".", "Anna")


def make_dataset(training: Sequence[str], test: Sequence[str]) -> ProbeDataset:
    """Return a dataset with labels in turn, English training and German test sentences."""
    sentences = tuple(dict.fromkeys((*training, *test)))
    splits = {
        split: to_items([(sentences.index(text), [], number % 2) for number, text in enumerate(texts)])
        for split, texts in ((Split.TRAIN, training), (Split.TEST, test))
    }
    return ProbeDataset(
        name="Tense.en-de",
        sentences=sentences,
        labels=("PRES", "PAST"),
        probe_words=(),
        splits=splits,
        card=Card("Tense", train_language="en", test_language="de"),
    )


def texts_of(words: Sequence[str], *, least: int = 2) -> st.SearchStrategy[list[str]]:
    text = st.lists(st.sampled_from(words), min_size=1, max_size=6).map(" ".join)
    return st.lists(text, min_size=least, max_size=8, unique=True).map(lambda texts: texts[: len(texts) // 2 * 2])


@given(texts_of(ENGLISH + SHARED), texts_of(GERMAN + SHARED), st.integers(0, 9))
def test_bag_vectors_average_words_of_training(training: list[str], test: list[str], seed: int) -> None:
    data = make_dataset(training, test)
    vectors = encode_bag_of_words(make_control_bow(seed=seed, dim=5), data)
    words = sample_word_vectors(seed=seed, dim=5)
    training_words = set(" ".join(training).split())
    for sentence, vector in zip(data.sentences, vectors, strict=True):
        rows = [words.find(word) for word in sentence.split() if word in training_words]
        expected = np.mean(np.array(rows), axis=0) if rows else np.zeros(5)
        np.testing.assert_allclose(vector, expected, atol=1e-6)


@given(texts_of(ENGLISH + SHARED), texts_of(GERMAN))
def test_bag_is_zero_without_training_words(training: list[str], test: list[str]) -> None:
    data = make_dataset(training, test)
    vectors = encode_bag_of_words(make_control_bow(seed=0, dim=4), data)
    assert not vectors[data.splits[Split.TEST].rows].any()
    assert collect_data_facts(data).known_words == 0


def test_bag_without_training_words_is_chance() -> None:
    data = make_dataset([f"dogs see{n}" for n in range(60)], [f"hunde sehen{n}" for n in range(40)])
    (result,) = run(data, "bow?dim=8", preset="logreg").records
    assert result.scores[Condition.BAG_OF_WORDS].accuracy == 0.5
    assert CONTROLS[Condition.BAG_OF_WORDS].must_be_at_chance(result)


def test_items_with_training_words_are_counted() -> None:
    data = make_dataset(["dogs sleep .", "Anna sleep"], ["hunde sehen .", "eine katze", "Anna nicht", "katze"])
    facts = collect_data_facts(data)
    assert (facts.train_language, facts.test_language, facts.known_words) == ("en", "de", 2)
    assert DataFacts(**facts.to_json()) == facts


def test_digest_of_test_items_ignores_training() -> None:
    test = ["eine katze", "katze nicht"]
    first, second = (collect_data_facts(make_dataset(texts, test)) for texts in (["a cat", "dogs"], ["see", "a"]))
    assert first.test_digest == second.test_digest
    assert first.test_digest != collect_data_facts(make_dataset(["see", "a"], test[::-1])).test_digest


@pytest.mark.parametrize("language", ["", "de"])
def test_bow_is_control_in_one_language(language: str) -> None:
    data = make_dataset(
        [f"dogs {n}" for n in range(20)], [f"{word} {n}" for n in range(10) for word in ("hunde", "sehen")]
    )
    data = replace(data, card=replace(data.card, train_language="en" if language else "", test_language=language))
    (result,) = run(data, "bow?dim=8", preset="logreg").records
    rights = {result.scores[condition].seeds[0].right for condition in (Condition.PROBE, Condition.BAG_OF_WORDS)}
    assert (len(rights) == 1) is not bool(language)


def test_draws_may_differ_in_validation_items() -> None:
    facts = collect_data_facts(make_dataset(["dogs sleep", "see"], ["katze", "hunde"]), origin="a table")
    first = replace(facts, sampling="natural", seed=0, train=300, validation=18)
    second = replace(first, seed=10, train=310, validation=30)
    assert first.is_other_draw(second)
    assert not first.is_other_draw(replace(second, train=400))
    assert not first.is_other_draw(replace(second, test_language="fr"))


def test_probe_serves_all_test_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores are those of a run of each dataset alone; only the random vectors depend on the test language."""
    training = [f"dogs see{n}" for n in range(60)]
    german = make_dataset(training, [f"hunde sehen{n}" for n in range(40)])
    french = make_dataset(training, [f"chiens dogs{n}" for n in range(30)])
    french = replace(french, name="Tense.en-fr", card=replace(french.card, test_language="fr"))
    smaller = replace(make_dataset(training[:50], ["eine katze", "katze"]), name="Tense.it-de")
    trainings: list[int] = []

    def count(self: TrainingProblem, *args: Any) -> Any:
        trainings.append(len(self.train))
        return train_probes(self, *args)

    train_probes = TrainingProblem.train_probes
    monkeypatch.setattr(TrainingProblem, "train_probes", count)
    options: dict[str, Any] = {"preset": "logreg", "seeds": 2}
    together = run([german, french, smaller], "bow?dim=8", **options).records
    assert sorted(trainings) == [46] * 5 + [54] * 6  # without validation items
    for result, data in zip(together, (german, french, smaller), strict=True):
        (alone,) = run(data, "bow?dim=8", **options).records
        for condition, scores in alone.scores.items():
            for first, second in zip(result.scores[condition].seeds, scores.seeds, strict=True):
                assert first == second, condition
