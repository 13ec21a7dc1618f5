"""``probe run --dry-run``: missing results and estimated time; nothing is written."""

import json
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.in_process import Command, check_success
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import parse_spec
from sentprobe.probes.classifier.fit import TrainingProblem
from sentprobe.probes.classifier.presets import PRESETS, BankShape, find_preset, override
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.results.result import METHODS, USUAL_CONDITIONS, Condition
from sentprobe.probes.runs import forecast, planned_work
from sentprobe.probes.runs import forecast as measured_speed
from sentprobe.probes.runs.planned_work import EncoderFacts, PlannedFit, UnloadedModel, read_unloaded_model
from sentprobe.probes.runs.run import execute_request
from sentprobe.probes.runs.settings import Run, RunRequest
from sentprobe.probes.runs.suite_options import ItemOptions
from sentprobe.probes.runs.targets import find_targets

TINY = ("--task", "Order", "--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1")


def test_dry_run_counts_results(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    out = tmp_path / "run"
    arguments = ("run", "compeval", *TINY, "--out", out)
    bow = ("-e", "bow?dim=8")
    stdout = check_success(command(*arguments, *bow, "--dry-run"))
    assert f"{len(USUAL_CONDITIONS)} probes: {', '.join(USUAL_CONDITIONS)}" in stdout
    assert "0 results found, 1 missing. Nothing was written.\nAbout " in stdout
    assert not out.exists()
    assert command(*arguments, *bow)[0] == 0
    before = sorted(out.iterdir())
    _, stdout, _ = command(*arguments, *bow, "-e", "majority", "--dry-run")
    assert "nothing" in stdout
    assert "1 result found, 1 missing." in stdout
    _, stdout, _ = command(*arguments, *bow, "--dry-run")
    assert stdout.endswith("1 result found, 0 missing. Nothing was written.\n")
    assert sorted(out.iterdir()) == before


@pytest.mark.parametrize("options", ["", "?sentences={sentences}"])
def test_dry_run_with_stored_vectors(options: str, tmp_path: Path, command: Command) -> None:
    """The tasks are built in full size: smaller ones have other sentences, of which the file has no vectors."""
    suite = ("compeval", "--task", "Order", "--train", 112, "--test", 56)
    sentences, vectors = tmp_path / "sentences.txt", tmp_path / "vectors.npy"
    assert command("sentences", *suite, "--out", sentences)[0] == 0
    np.save(vectors, np.eye(len(sentences.read_text("utf-8").splitlines()), 4, dtype=np.float32))
    spec = f"file:{vectors}{options.format(sentences=sentences)}"
    stdout = check_success(command("run", *suite, "-e", spec, "--jobs", 1, "--no-controls", "--no-cache", "--dry-run"))
    assert "0 results found, 1 missing. Nothing was written.\nAbout " in stdout


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_dry_run_counts_draws(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    run = ("run", "compeval", *TINY, "-e", "bow?dim=8", "--no-controls", "--no-cache")
    out = ("--out", tmp_path / "run")
    assert command(*run, "--draws", 1, *out)[0] == 0
    before = files_in(tmp_path / "run")
    _, stdout, _ = command(*run, "--draws", 3, *out, "--dry-run")
    assert "2 probes in 2 of 3 draws: probe" in stdout
    assert "1 result found, 2 missing. Nothing was written.\nAbout " in stdout
    assert files_in(tmp_path / "run") == before
    _, _, stderr = command(*run, "--draws", 3, *out)
    assert stderr.endswith("1 result found, 2 made\n")
    _, stdout, _ = command(*run, "--draws", 3, *out, "--dry-run")
    assert stdout.endswith("3 results found, 0 missing. Nothing was written.\n")


def test_dry_run_counts_draws_of_datasets(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one")
    run = ("run", tmp_path / "one", "-e", "bow?dim=8", "--set", "max_epochs=2", "--jobs", 1)
    out = ("--no-controls", "--no-cache", "--out", tmp_path / "run")
    assert command(*run, *out)[0] == 0
    _, stdout, _ = command(*run, *out, "--draws", 2, "--dry-run")
    assert "1 result found, 1 missing." in stdout
    assert command(*run, *out, "--draws", 2)[2].endswith("1 result found, 1 made\n")


def test_dry_run_of_stored_dataset(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one")
    options = ("-e", "bow?dim=8", "--set", "max_epochs=2", "--jobs", "1", "--dry-run")
    code, stdout, stderr = command("run", tmp_path / "one", *options)
    assert code == 0
    assert "0 results found, 1 missing." in stdout
    assert {line.split(":")[0] for line in stderr.splitlines()} == {"measure the speed of encoders"}


def test_dry_run_refuses_as_run_does(tmp_path: Path, command: Command) -> None:
    (tmp_path / "thesis.tex").touch()
    run = ("run", "compeval", *TINY, "-e", "bow?dim=8", "--out", tmp_path)
    refused = command(*run, "--dry-run")
    assert refused == command(*run)
    message = f"probe: {tmp_path}: not empty, and not a directory of sentprobe's results\n"
    assert refused == (2, "", message)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


TASKS = ("Order", "Negation")


def make_request(*encoders: str, train: int = 56, preset: str = "ettinger", **training: Any) -> RunRequest:
    items = ItemOptions(train=train, test=28)
    targets = find_targets(["compeval"], tasks=list(TASKS), items=items)
    specs = [parse_spec(encoder) for encoder in encoders]
    quick = override(find_preset(preset), [("max_epochs", "1")])
    return RunRequest(targets=targets, encoders=specs, preset=quick, run=Run(**training))


def list_forecast_fits(request: RunRequest, monkeypatch: pytest.MonkeyPatch) -> list[PlannedFit]:
    """Return the fits whose time a forecast estimates."""
    fits: list[PlannedFit] = []

    def keep_fits(planned: Sequence[PlannedFit], run: Run) -> float:
        del run
        fits.extend(planned)
        return 0.0

    with monkeypatch.context() as patched:
        patched.setattr(forecast, "measure_training", keep_fits)
        forecast.make_forecast(request, reporter=SilentReporter())
    return fits


@pytest.mark.parametrize(
    ("encoders", "training"),
    [
        (("bow?dim=8", "majority"), {}),
        (("bow?dim=8", "lstm?hidden=4&dim=3", "gru-uni?hidden=4&dim=3"), {"seeds": 2}),
        (("bow?dim=8&dims=4", "lstm?hidden=4&dim=3"), {"draws": 2, "methods": METHODS}),
        (("bow?dim=8",), {"preset": "adi", "controls": False}),
    ],
)
def test_planned_fits_are_those_of_run(
    encoders: tuple[str, ...], training: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = make_request(*encoders, **training)
    trained: Counter[tuple[object, ...]] = Counter()
    train_grids = TrainingProblem.train_grids

    def count_fit(problem: TrainingProblem, seeds: Sequence[int], *arguments: Any) -> Any:
        trained[problem.shape, len(problem.train), problem.preset.hidden, len(seeds)] += 1
        return train_grids(problem, seeds, *arguments)

    planned = list_forecast_fits(request, monkeypatch)
    monkeypatch.setattr(TrainingProblem, "train_grids", count_fit)
    execute_request(request)
    assert Counter((fit.shape, fit.items, fit.preset.hidden, fit.probes) for fit in planned) == trained


PASSES = st.floats(1, 1e3)


@given(st.integers(1, 10**6), st.integers(1, 2000), st.integers(1, 9), PASSES)
def test_time_is_proportional_to_probes_and_passes(items: int, dim: int, probes: int, passes: float) -> None:
    shape = BankShape(dim=dim, slots=1, words=7, labels=2)
    one = PlannedFit(shape=shape, preset=find_preset("ettinger"), items=items, validation=0, probes=1, passes=passes)
    several = replace(one, probes=probes)
    assert several.operations == pytest.approx(probes * one.operations)
    run = Run()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(measured_speed, "_time_short_fit", lambda *_: (0.0, 0.5))
        actual = measured_speed.measure_training([one, several, replace(one, passes=2 * passes)], run)
    assert actual == pytest.approx(0.5 * passes * (1 + probes + 2))


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_has_a_short_fit(preset: Preset) -> None:
    shape = BankShape(dim=12, slots=2, words=5, labels=3, word_dim=4)
    fit = PlannedFit(shape=shape, preset=preset, items=90, validation=9, probes=1, passes=10.0)
    assert 0 < measured_speed.measure_training([fit], Run()) < math.inf


@given(st.sampled_from(PRESETS), st.sampled_from(Condition), st.integers(1, 10**5), st.booleans())
def test_assumed_passes_are_within_the_limit(preset: Preset, condition: Condition, dim: int, pretrained: bool) -> None:
    encoder = EncoderFacts(name="one", dim=dim, is_pretrained=pretrained)
    assert 0 < planned_work.assume_passes(preset, condition, encoder) <= preset.max_epochs


class WaitingEncoder:
    """An encoder that waits, as for a server."""

    name = fingerprint = "waiting"

    def encode(self, sentences: Sequence[str]) -> Any:
        time.sleep(0.15)
        return np.zeros((len(sentences), 3), dtype=np.float32)


def test_waiting_encoder_is_timed_by_wall_clock() -> None:
    dim, seconds = measured_speed.measure_encoding(WaitingEncoder(), ["one", "two"], threads=None)
    assert dim == 3
    assert seconds >= 0.15 / measured_speed.SENTENCE_COUNTS[0]


def write_model(folder: Path, *, width: int = 6) -> Path:
    """Write the parts of a sentence-transformers model that a forecast reads: 4 x 5 weights besides embeddings."""
    from safetensors.numpy import save_file

    (folder / "1_Pooling").mkdir(parents=True)
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Pooling", "type": "..."}]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config.json").write_text("{}")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": width}))
    weights = {"embeddings.word": (9, 6), "layer.weight": (4, 5), "layer.bias": (5,)}
    save_file({name: np.zeros(shape, np.float32) for name, shape in weights.items()}, folder / "model.safetensors")
    return folder


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs sentence-transformers")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", b"abc"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"[]"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{x"),
        ("modules.json", b'["a"]'),
        ("modules.json", b'{"path": "a"}'),
        ("1_Pooling/config.json", b'{"word_embedding_dimension": "8"}'),
    ],
)
def test_damaged_model_is_left_to_loader(name: str, content: bytes, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    (model / name).write_bytes(content)
    assert read_unloaded_model(parse_spec(f"st:{model}")) is None


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs sentence-transformers")
def test_large_model_is_not_loaded(tmp_path: Path, command: Command) -> None:
    model = write_model(tmp_path / "model")
    unloaded = read_unloaded_model(parse_spec(f"st:{model}"))
    assert unloaded == UnloadedModel(f"st:{model}", 6, 20)
    assert unloaded.count_multiplications(10) == pytest.approx(20 * 13)
    assert read_unloaded_model(parse_spec(f"st:{model}?dims=4")) is None
    code, stdout, _ = command("run", "compeval", *TINY, "-e", f"st:{model}", "--dry-run")
    assert (code, f"and the speed of st:{model}. " in stdout.replace("\n", " ")) == (0, True)
    assert command("run", "compeval", *TINY, "-e", f"st:{tmp_path}", "--dry-run")[0] == 2
