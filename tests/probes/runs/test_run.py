"""A run: what it encodes, trains, shares, reports and returns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset

from sentprobe.common.errors import UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import EncoderError, Vectors, digest
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition
from sentprobe.probes.results.store import format_result, list_result_files, read_requested_results, read_results
from sentprobe.probes.runs.controls import CHANGES, ProbeItems
from sentprobe.probes.runs.run import run
from sentprobe.probes.statistics import wilson

FAST = replace(find_preset("ettinger"), max_epochs=4)
DATASETS = [make_learnable_dataset(name="one", size=40), make_learnable_dataset(name="two", size=50)]


def make_bow(dim: int = 8) -> Any:
    return make_encoder(f"bow?dim={dim}", seed=0)


def test_run_writes_what_it_returns(tmp_path: Path) -> None:
    out = tmp_path / "new" / "run"
    results = run(DATASETS, [make_bow(8), make_bow(9)], preset=FAST, seed=3, seeds=2, out=out, command="probe")
    assert (results.encoders, results.tasks) == (("bow?dim=8", "bow?dim=9"), ("one", "two"))
    read = read_results(out)
    assert sorted(map(format_result, read.records)) == sorted(map(format_result, results.records))
    record = results.records[0]
    assert set(record.scores) == set(USUAL_CONDITIONS)
    assert [seed_score.seed for seed_score in record.scores[Condition.PROBE].seeds] == [3, 4]
    assert record.dataset_fingerprint == DATASETS[0].fingerprint()
    assert (record.seed, record.command, record.preset, record.dim) == (3, "probe", FAST, 8)
    assert record.majority == 0.5
    assert {"python", "torch", "numpy", "sentprobe", "scikit-learn"} == set(record.versions)
    assert set(record.seconds) == {"encoding", *map(str, USUAL_CONDITIONS)}


def test_run_records_its_request(tmp_path: Path) -> None:
    run(DATASETS, [make_bow(8), make_bow(9)], preset=FAST, out=tmp_path, controls=False)
    requested = read_requested_results(tmp_path)
    assert {name: entry["conditions"] for name, entry in requested.items()} == {
        path.name: ["probe"] for path in list_result_files(tmp_path)
    }
    run(DATASETS, [make_bow(8)], preset=FAST, out=tmp_path)
    assert len(requested) == 4
    conditions = [len(entry["conditions"]) for entry in read_requested_results(tmp_path).values()]
    assert sorted(conditions) == [1, 1, len(USUAL_CONDITIONS), len(USUAL_CONDITIONS)]


def test_answers_are_kept() -> None:
    record = run(DATASETS[:1], [make_bow()], preset=FAST).records[0]
    for score in record.scores.values():
        for seed_score in score.seeds:
            assert seed_score.items().sum() == seed_score.correct
            assert len(seed_score.items()) == seed_score.total == len(DATASETS[0].splits[Split.TEST])


def test_equal_seeds_give_equal_bytes() -> None:
    def run_once() -> list[str]:
        results = run(DATASETS, [make_bow()], preset=FAST, seed=1, seeds=2)
        return [format_result(replace(record, seconds={})) for record in results.records]

    assert run_once() == run_once()


def test_result_is_independent_of_other_results() -> None:
    alone = run(DATASETS[1:], [CountingEncoder(make_bow())], preset=FAST, seed=1).records[0]
    among = run(DATASETS, [make_bow(), CountingEncoder(make_bow())], preset=FAST, seed=1).records[3]
    assert replace(alone, seconds={}) == replace(among, seconds={})


def test_each_sentence_is_encoded_once(tmp_path: Path) -> None:
    encoder = CountingEncoder(make_bow(4))
    datasets = [DATASETS[0], DATASETS[1], make_learnable_dataset(name="again", size=40)]
    for _ in range(2):
        run(datasets, [encoder], preset=FAST, cache=Cache(tmp_path))
    assert sorted(encoder.encoded_texts) == sorted({text for data in DATASETS for text in data.sentences})


def test_controls_of_a_width_are_shared(fits: list[dict[str, Any]]) -> None:
    results = run(
        DATASETS[:1], [CountingEncoder(make_bow()), CountingEncoder(make_bow(), name="other"), make_bow(9)], preset=FAST
    )
    counting, renamed, wider = results.records
    for condition in (Condition.RANDOM_SENTENCES, Condition.BAG_OF_WORDS):
        assert counting.scores[condition] == renamed.scores[condition]
    no_sentence = {record.scores[Condition.NO_SENTENCE] for record in results.records}
    assert len(no_sentence) == 1
    # All, then probe and random probes, then four: the probe of bow?dim=9 is the control's.
    assert len(fits) == len(USUAL_CONDITIONS) + 2 + 4
    assert wider.scores[Condition.PROBE] == wider.scores[Condition.BAG_OF_WORDS]


def test_number_of_cut_sentences_is_kept(tmp_path: Path) -> None:
    class Short:
        name = "short"

        def encode(self, sentences: Sequence[str]) -> Vectors:
            return np.array([[len(sentence[:9]), 1] for sentence in sentences], dtype=np.float32)

        def truncated(self, sentences: Sequence[str]) -> int:
            return sum(len(sentence) > 9 for sentence in sentences)

    results = run(DATASETS[:1], [Short(), make_bow()], preset=FAST, controls=False, out=tmp_path / "run")
    long = sum(len(sentence) > 9 for sentence in DATASETS[0].sentences)
    assert long
    assert [result.truncated for result in results.records] == [long, None]
    truncated_by_encoder = {result.encoder: result.truncated for result in read_results(tmp_path / "run").records}
    assert truncated_by_encoder == {"Short": long, "bow?dim=8": None}


def test_no_controls() -> None:
    result = run(DATASETS[:1], [make_bow()], preset=FAST, controls=False).records[0]
    assert set(result.scores) == {Condition.PROBE}


@dataclass
class Recorder(SilentReporter):
    """Records the reported progress: each step with its total and its count."""

    steps: list[list[object]]

    def begin(self, step: str, total: int) -> None:
        self.steps.append([step, total, 0])

    def advance(self, amount: int = 1) -> None:
        self.steps[-1][2] += amount  # type: ignore[operator]


def test_progress_is_reported_to_the_end() -> None:
    recorder = Recorder([])
    run(DATASETS, [CountingEncoder(make_bow(4))], preset=FAST, reporter=recorder)
    distinct = len({text for data in DATASETS for text in data.sentences})
    assert recorder.steps == [
        ["encode sentences with counting", distinct, distinct],
        ["train probes on counting", *[len(DATASETS) * len(USUAL_CONDITIONS)] * 2],
    ]


def test_controls_are_at_chance_unlike_probe() -> None:
    preset = replace(find_preset("ettinger"), max_epochs=60)
    result = run([make_learnable_dataset(size=500)], [make_bow(40)], preset=preset).records[0]
    assert result.accuracy > 0.8
    for condition in (Condition.RANDOM_SENTENCES, Condition.RANDOM_PROBES):
        score = result.scores[condition].seeds[0]
        assert result.majority in wilson(score.correct, score.total, confidence=0.999)


def test_random_probes_come_from_their_slot() -> None:
    probes = np.array([[0, 3], [1, 2], [1, 3], [0, 2]])
    train = Items(np.arange(4), probes, np.array([0, 1, 0, 1]))
    test = Items(np.arange(300) % 4, probes[np.arange(300) % 4], np.arange(300) % 2)
    material = ProbeItems(name="", train=train, validation=test, test=test, words=4, labels=2)
    change = CHANGES[Condition.RANDOM_PROBES]
    _, changed = change(np.zeros((4, 2), np.float32), material, np.random.default_rng(0))
    assert changed.validation is not None
    for items in (changed.test, changed.validation):
        assert {tuple(pair) for pair in items.probes.tolist()} == {(0, 2), (0, 3), (1, 2), (1, 3)}


def test_tasks_without_probe_words_lack_controls() -> None:
    data = DATASETS[0]
    bare = {split: Items(items.rows, [], items.targets) for split, items in data.splits.items()}  # type: ignore[arg-type]
    data = replace(data, probe_words=(), splits=bare)
    results = run([data], [make_bow(4)], preset=FAST)
    missing = {Condition.RANDOM_PROBES, Condition.NO_SENTENCE}
    assert set(results.records[0].scores) == set(USUAL_CONDITIONS) - missing


def test_validation_is_split_off_if_needed() -> None:
    preset = replace(find_preset("adi"), max_epochs=2)
    result = run(DATASETS[:1], [make_bow(4)], preset=preset, seeds=2).records[0]
    for score in result.scores.values():
        assert all(seed_score.validation is not None for seed_score in score.seeds)


@dataclass(frozen=True)
class Opposite:
    """A baseline that always answers the same."""

    name: str = "first label"
    fingerprint: str = "0"

    def predict(self, data: ProbeDataset, *, seed: int) -> Indices:
        return np.full(len(data.splits[Split.TEST]), seed % 2)


def test_baseline_answers_by_itself(tmp_path: Path) -> None:
    recorder = Recorder([])
    results = run(DATASETS, [Opposite()], preset=FAST, seeds=2, out=tmp_path / "run", reporter=recorder)
    assert recorder.steps == [["run baseline first label", 2, 2]]
    record = results.records[0]
    assert set(record.scores) == {Condition.PROBE}
    assert (record.dim, record.accuracy) == (0, 0.5)
    both = [seed_score.items() for seed_score in record.scores[Condition.PROBE].seeds]
    assert (both[0] != both[1]).all()


def test_encoder_that_is_a_layer() -> None:
    layer = CountingEncoder(make_bow(4))
    layer.layer, layer.family = 3, "bert"  # type: ignore[attr-defined]
    record = run(DATASETS[:1], [layer], preset=FAST).records[0]
    assert (record.layer, record.family) == (3, "bert")


class Widening:
    """Returns wider vectors at each call."""

    name = "widening"
    fingerprint = digest("widening")
    dim = 1

    def encode(self, sentences: Sequence[str]) -> Vectors:
        self.dim += 1
        return np.zeros((len(sentences), self.dim), np.float32)


def test_width_changes_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentprobe.probes.encoders.embedding.CHUNK", 7)
    with pytest.raises(EncoderError, match="width 3 after vectors of width 2"):
        run(DATASETS, [Widening()], preset=FAST)


def test_repeated_or_missing_input_is_refused() -> None:
    encoder = make_bow(4)
    with pytest.raises(UsageError, match="encoder 'bow\\?dim=4' is given twice"):
        run(DATASETS, [encoder, encoder], preset=FAST)
    with pytest.raises(UsageError, match="dataset 'one' is given twice"):
        run([DATASETS[0], DATASETS[0]], [encoder], preset=FAST)
    with pytest.raises(UsageError, match="needs at least one encoder"):
        run(DATASETS, [], preset=FAST)
    with pytest.raises(UsageError, match="the number of seeds must be positive, not 0"):
        run(DATASETS, [encoder], preset=FAST, seeds=0)


def test_directory_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="not empty, and not a directory of sentprobe's"):
        run(DATASETS, [make_bow(4)], preset=FAST, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_specs_and_paths_as_text(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=60)
    results = run([data], ["bow?dim=4", "majority"], preset=FAST, out=str(tmp_path / "out"))
    assert results.encoders == ("bow?dim=4", "majority")
    assert set(read_results(str(tmp_path / "out")).encoders) == set(results.encoders)


def test_values_show_themselves_in_a_line() -> None:
    data = make_learnable_dataset(size=60)
    results = run([data], ["majority"])
    assert re.fullmatch(r"<ProbeDataset 'toy': \d+ sentences, \d+ train items, .*>", repr(data))
    assert repr(results.records[0]).startswith("Result(task='toy', encoder='majority', accuracy=0.")


def test_encoders_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="encoder 'bow' is given twice"):
        run(DATASETS, ["bow", make_encoder("bow", seed=0)], preset=FAST, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
