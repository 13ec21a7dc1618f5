"""The command ``probe intervene``: its table, formats and errors."""

import json
from pathlib import Path

import pytest
from helpers.encoders.word_models import make_role_data, save_word_model
from helpers.in_process import Command, check_refusal, check_success

from sentprobe.probes.datasets.formats import write_dataset

PROMPT = "so {sentence} it was the"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT, a GPT-2, and a dataset of SemRole."""
    folder = tmp_path_factory.mktemp("models")
    data = make_role_data()
    for kind in ("Bert", "GPT2LMHead"):
        save_word_model(folder / kind, (*data.sentences, PROMPT), kind=kind)
    write_dataset(data, folder / "data")
    return folder


def test_table_has_each_layer_and_direction(folder: Path, command: Command) -> None:
    model = f"hf:{folder / 'Bert'}?name=tiny&device=cpu"
    arguments = ("intervene", model, "--data", folder / "data", "--no-cache", "--n", 5)
    shown = check_success(command(*arguments))
    for text in ("probe", "mean difference", "random", "whole state", "  layer 0", "  layer 2", "on 5 mirror pairs"):
        assert text in shown
    records = json.loads(check_success(command(*arguments, "--format", "json", "--layer", "-1")))
    assert [record["layer"] for record in records] == [2] * 4
    assert {(record["model"], record["task"], record["pairs"]) for record in records} == {("tiny", "SemRole", 5)}
    assert check_success(command(*arguments, "--format", "json", "--layer", 2)) == json.dumps(records, indent=2) + "\n"


def test_next_word_has_no_last_layer(folder: Path, command: Command, tmp_path: Path) -> None:
    model = f"hf:{folder / 'GPT2LMHead'}?name=tiny&device=cpu"
    out = tmp_path / "effects.csv"
    command("intervene", model, "--data", folder / "data", "--prompt", PROMPT, "--out", out)
    lines = out.read_text("utf-8").splitlines()
    assert len(lines) == 1 + 2 * 4
    assert all("the next word" in line for line in lines[1:])


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("bow", (), "bow: an intervention needs a model of transformers, hf:MODEL"),
        ("hf:{Bert}?layer=1", (), "leave out layer=; --layer names the layers to intervene on"),
        ("hf:{Bert}?part=mlp", (), "leave out part="),
        ("hf:{Bert}?pool=mean,max", (), "pool= with one method is expected"),
        ("hf:{Bert}?pool=verb", (), "pool=verb: the final probe reads pooled states: cls, mean, max, last"),
        ("hf:{Bert}", ("--layer", "3"), "--layer 3: the model has the layers 0 (embeddings) to 2"),
        ("hf:{Bert}", ("--layer", "x"), "--layer x: a whole number or all is expected"),
        ("hf:{Bert}", ("--prompt", "it was"), "--prompt 'it was': it must contain {sentence} once"),
        ("hf:{Bert}", ("--prompt", PROMPT, "--preset", "adi"), "--train and --preset are for the final probe"),
        ("hf:{GPT2LMHead}", ("--prompt", PROMPT, "--layer", "2"), "--layer 2: the model has the layers 0"),
        ("hf:{Bert}", ("--prompt", PROMPT), "Bert is no causal language model, which predicts the next word"),
        ("hf:{Bert}", ("--n", "0"), "n"),
        ("hf:{Bert}", ("--n", "1"), "to learn from and 1 to measure; at least 2 of each are needed"),
        ("hf:{Bert}", ("--task", "SemRol"), "there is no task 'SemRol' (did you mean 'SemRole'?)"),
        ("hf:{Bert}", ("--preset", "conneu"), "conneau"),
        ("hf:{Bert}", ("--vocabulary", "english"), "--vocabulary is for the suite"),
    ],
)
def test_bad_usage_is_one_sentence(
    folder: Path, command: Command, model: str, options: tuple[str, ...], message: str
) -> None:
    model = model.format(Bert=folder / "Bert", GPT2LMHead=folder / "GPT2LMHead")
    outcome = command("intervene", model, "--data", folder / "data", "--no-cache", *options)
    check_refusal(outcome, message, progress=True)


def test_task_without_mirrors_is_refused(folder: Path, command: Command) -> None:
    outcome = command("intervene", f"hf:{folder / 'Bert'}", "--task", "Content1Probe", "--train", 40, "--no-cache")
    check_refusal(outcome, "Content1Probe: the train items have no mirror pairs", progress=True)


def test_word_that_is_cut_off_is_refused(folder: Path, command: Command) -> None:
    """Else the states of another token would be exchanged."""
    model = f"hf:{folder / 'Bert'}?absent=last&max_length=4"
    outcome = command("intervene", model, "--data", folder / "data", "--no-cache", "--n", 5)
    check_refusal(outcome, "Bert: a word asked about has no token in '", code=1, progress=True)
