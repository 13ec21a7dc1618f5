"""``--held-out``: the commands that use held-out words and structures only."""

import json
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success

from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated.items import count_templates
from sentprobe.probes.similarity.distance_results import read_geometry

TINY = ("--train", "56", "--test", "28")
SIDE = ("-v", "english", "--held-out", "0.3")


def test_sentences_and_cards_of_a_suite(command: Command, tmp_path: Path) -> None:
    sets = tmp_path / "sets"
    arguments = ("compeval", "--task", "SemRole", *TINY, *SIDE, "--held-out", "transitive-rc")
    shown = check_success(command("build", *arguments, "--out", str(sets)))
    note = "words and structures are those of --held-out 0.3 --held-out transitive-rc"
    assert f"SemRole: {note}" in shown
    data = read_dataset(sets / "SemRole")
    assert data.card.notes == (note,)
    for split in Split:
        assert all(name.startswith("transitive-rc.") for name in count_templates(data.card, split))
    assert command("sentences", *arguments)[1].splitlines() == [*data.sentences]


@pytest.mark.slow
def test_run_file_keeps_it(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "results"
    arguments = ("compeval", "-e", "bow?dim=4", "--task", "Order", *TINY, *SIDE, "--no-controls")
    short = ("--set", "max_epochs=1", "--no-cache")
    assert command("run", *arguments, *short, "--out", str(out))[0] == 0
    assert 'held-out = ["0.3"]' in (out / "run.toml").read_text("utf-8")
    again = ("run", "--config", str(out / "run.toml"), "--no-cache", "--out", str(out))
    assert "1 result found" in command(*again)[2]


def test_geometry_draws_and_keeps_it(command: Command, tmp_path: Path) -> None:
    few = ("-n", "20", "--distractors", "0", "--no-cache", "-f", "json")
    arguments = ("geometry", "-e", "bow?dim=4", "-c", "role", *few)
    all_records = json.loads(command(*arguments, "-v", "english", "-o", str(tmp_path))[1])
    held = json.loads(command(*arguments, *SIDE, "-o", str(tmp_path))[1])
    assert {record["held_out"] for record in all_records} == {""}
    assert {record["held_out"] for record in held} == {"0.3"}
    assert all_records[0]["material"] != held[0]["material"]
    selected = {result.drawing.held_out for result in read_geometry(tmp_path)}
    assert selected == {(), ("0.3",)}


@pytest.mark.slow
def test_geometry_of_suite_has_held_out_words(command: Command, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path), "--no-cache", *SIDE)
    arguments = ("compeval", "-e", "bow?dim=4", "--task", "SemRole")
    assert command("run", *arguments, *out, "--no-controls", "--set", "max_epochs=1")[0] == 0
    shown = check_success(command("geometry", *arguments, *out))
    assert "a probe on the same sentences" in shown
    (result,) = read_geometry(tmp_path)
    assert result.drawing.held_out == ("0.3",)


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run compeval --held-out 2", "--held-out 2: the share of the words that is held out is"),
        ("run compeval --held-out 0.01", "leaves vocabulary 'compeval' no noun"),
        ("build compeval --held-out intransitive-rc.agent.transitive.src --out x", "hold all of"),
        ("geometry --held-out 0.3 --held-out 0.4", "one share of the words, not 0.3 and 0.4"),
        ("geometry -c modifier --held-out transitive", "cannot have the contrast 'modifier'"),
        ("geometry -v english --held-out 0.01 -c role", "that leaves vocabulary 'english' no"),
        ("geometry sets --held-out 0.3", "--held-out is for the suite compeval or structure, not for sets"),
        ("run sets --held-out 0.3", "--held-out is for the suite compeval or structure, not for sets"),
    ],
)
def test_bad_request_is_refused(line: str, message: str, command: Command) -> None:
    Path("sets").mkdir()
    check_refusal(command(*line.split()), message)


def test_task_without_such_structures_is_named(command: Command, tmp_path: Path) -> None:
    arguments = ("build", "compeval", *TINY, "-v", "english", "--held-out", "transitive")
    code, _, err = command(*arguments, "--out", str(tmp_path))
    assert code == 1
    assert "Negation: --held-out transitive leaves none of its structures" in err
