"""The command ``probe repair``: its tables, the model that it writes, resumption, and errors."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.model_files import tiny_model
from helpers.in_process import Command, check_refusal

NOUNS = [f"{first}{second}" for first in ("ban", "cor", "dul", "fes", "gim", "hop", "jat", "kel", "lom", "nup")
         for second in ("a", "e", "i", "o", "u", "ar", "er", "ir", "or", "ur")]  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = pytest.importorskip("sentence_transformers")
    pytest.importorskip("accelerate")
    path = tmp_path_factory.mktemp("models") / "model"
    library.SentenceTransformer(str(tiny_model(path.with_name("inner"), kind="Bert")), device="cpu").save(str(path))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Texts with numbers, and paraphrases."""
    texts, pairs = tmp_path / "texts.txt", tmp_path / "pairs.tsv"
    texts.write_text("".join(f"{noun.capitalize()} {noun}li within 14 days?\n" for noun in NOUNS), "utf-8")
    rows = [f"Is {noun} {noun}ta?\tMay {noun}ro {noun}?\t1" for noun in NOUNS]
    pairs.write_text("\n".join(["a\tb\tsame", *rows]), "utf-8")
    return texts, pairs


def list_arguments(model: Path, files: tuple[Path, Path], out: Path, *more: object) -> list[object]:
    options = ("--texts", files[0], "--pairs", files[1], "--out", out, "--steps", 10, "--device", "cpu")
    return ["repair", f"st:{model}?name=tiny", *options, *more]


def read_weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_repaired_model_is_a_plain_folder(
    model: Path, files: tuple[Path, Path], tmp_path: Path, run_program: Command
) -> None:
    out = tmp_path / "repaired"
    code, text, progress = run_program("probe", *list_arguments(model, files, out))
    assert {line.partition(":")[0] for line in progress.splitlines()} <= {"measure", "train"}
    first = text.splitlines()[0]
    assert (code, first[:5]) in [(0, "Signi"), (1, "Worse")]
    for part in ("number", "generated role", "paraphrases, not found first", "Spearman", "Paraphrases are yours"):
        assert part in text
    assert not [*tmp_path.glob("*.checkpoints")]
    card = (out / "README.md").read_text("utf-8")
    assert first in card
    assert "--steps 10" in card
    assert (out / "model.safetensors").stat().st_mode == (out / "README.md").stat().st_mode
    code, _, _ = run_program("probe", "gate", f"st:{out}", "--n", 20, "-c", "role", "--no-cache")
    assert code == 0
    assert read_weights(out) != read_weights(model)


@pytest.mark.slow
def test_killed_repair_resumes_to_the_same_weights(
    model: Path, files: tuple[Path, Path], tmp_path: Path, run_program: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    records = [run_program("probe", *list_arguments(model, files, whole, "--format", "json"))[1]]
    from transformers import TrainerCallback

    from sentprobe.probes.repair import repair_training

    class Stop(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            if state.global_step == 7:
                raise KeyboardInterrupt

    build = repair_training.build_callback
    with monkeypatch.context() as patch:
        patch.setattr(repair_training, "build_callback", lambda *_: Stop())
        patch.setattr(repair_training, "COMPLETE", "trainer_state.json")
        code, _, error = run_program("probe", *list_arguments(model, files, stopped))
    assert (code, "the same command resumes" in error) == (130, True)
    assert not stopped.exists()
    for path in (tmp_path / "stopped.checkpoints").glob("checkpoint-*"):
        (path / repair_training.COMPLETE).touch()
    steps: list[int] = []

    def count_steps(reporter: Any, total: int) -> Any:
        reporter.advance = lambda amount=1: steps.append(amount)
        return build(reporter, total)

    monkeypatch.setattr(repair_training, "build_callback", count_steps)
    records.append(run_program("probe", *list_arguments(model, files, stopped, "--format", "json"))[1])
    assert steps[:5] == [6, 1, 1, 1, 1]
    assert read_weights(whole) == read_weights(stopped)
    assert json.loads(records[0]) == json.loads(records[1])


@pytest.mark.slow
def test_strength_is_the_share_of_the_change(
    model: Path, files: tuple[Path, Path], tmp_path: Path, run_program: Command
) -> None:
    from safetensors.torch import load_file

    changes = []
    old = load_file(model / "model.safetensors")
    for strength in (1, 0.5):
        out = tmp_path / f"repaired{strength}"
        run_program("probe", *list_arguments(model, files, out, "--strength", strength))
        new = load_file(out / "model.safetensors")
        changes.append({name: new[name] - old[name] for name in old})
    whole, half = changes
    for name in whole:
        assert half[name] == pytest.approx(whole[name] / 2, abs=1e-6)
    changed = {name for name in whole if whole[name].any()}
    assert any("attention" in name for name in changed)
    assert not any("word_embeddings" in name for name in changed)


REFUSALS = {
    "an encoder of another kind": (["bow"], "bow: only models of sentence-transformers can be repaired"),
    "an option of the vectors": (["st:{model}?dim=4"], "the option dim= is not for a repair"),
    "no such file": (["st:{model}", "--texts", "absent.txt"], "absent.txt"),
    "no step": (["st:{model}", "--steps", "0"], "steps"),
    "a loss below 0": (["st:{model}", "--max-loss", "-1"], "--max-loss must be from 0 to 100 points, not -1"),
    "a strength above 1": (["st:{model}", "--strength", "1.5"], "--strength must be above 0 and at most 1, not 1.5"),
    "a rate of 0": (["st:{model}", "--rate", "0"], "--rate must be above 0"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSALS.values(), ids=REFUSALS)
def test_bad_usage_is_refused(
    arguments: list[str], message: str, model: Path, files: tuple[Path, Path], run_program: Command
) -> None:
    spec, *more = (argument.format(model=model) for argument in arguments)
    texts = [] if "--texts" in more else ["--texts", files[0]]
    check_refusal(run_program("probe", "repair", spec, *texts, "--out", files[0].with_name("out"), *more), message)


def test_folder_with_files_is_not_replaced(
    model: Path, files: tuple[Path, Path], tmp_path: Path, run_program: Command
) -> None:
    shutil.copytree(model, tmp_path / "out")
    outcome = run_program("probe", *list_arguments(model, files, tmp_path / "out"))
    check_refusal(outcome, "not a new or empty folder; name another with --out")


def test_missing_extra_is_named(files: tuple[Path, Path], tmp_path: Path, run_program: Command) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sentprobe.common.errors.find_spec", lambda name: None if name == "accelerate" else find_spec(name)
        )
        outcome = run_program("probe", *list_arguments(tmp_path, files, tmp_path / "out"))
    assert "accelerate" in outcome[2]
    assert "pip install" in outcome[2]
    assert outcome[2].count("\n") == 1
    assert outcome[0] != 0
