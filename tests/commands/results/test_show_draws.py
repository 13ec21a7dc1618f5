"""``probe run --draws``, and draws in ``probe show`` and ``probe compare``."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import split_rows
from helpers.strategies.probe_strategies import CountingEncoder, make_learnable_dataset

import sentprobe
from sentprobe.lexicon import Lexicon
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated import assemble
from sentprobe.probes.generated.tasks import CompevalTask
from sentprobe.probes.reports.tables.main_table import sort_results, split_settings
from sentprobe.probes.results.draws import list_seeds
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs import suites

TINY = ("--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")
ONE = ("run", "compeval", "--task", "Order", *TINY, "-e", "bow?dim=8", "-e", "bilstm-max?hidden=8")
FAST = override(find_preset("ettinger"), [("max_epochs", "2")])


def test_draws_of_one_command(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "run"
    code, stdout, _ = command(*ONE, "--draws", 2, "--seeds", 2, "--out", out, "--sources", "--notes")
    assert code == 0
    assert "over 2 draws, with 2 probes in each" in stdout
    assert "New in each draw (seeds 0, 10): the data, the untrained weights, the probes." in stdout
    assert stdout.count("Data: 56 training, 28 test items; vocabulary compeval") == 2
    table = split_rows(stdout)
    assert [row[0] for row in table[1:3]] == ["bow?dim=8", "bilstm-max?hidden=8"]
    assert all("(draws " in row[1] and ", probes " in row[1] for row in table[1:])
    built = read_results(out).records
    assert {(r.seed, *(s.seed for s in r.scores[Condition.PROBE].seeds)) for r in built} == {
        (0, 0, 1), (10, 10, 11),
    }  # fmt: skip
    for facts in ([r.dataset_fingerprint for r in built], [r.data and r.data.seed for r in built]):
        assert len(set(facts)) == 2
    assert len({record.encoder_fingerprint for record in built}) == 4
    *_, shown = split_settings(sort_results(read_results(out)))
    assert list_seeds(shown) == [0, 10]
    # The same command trains nothing; another draw is added to these.
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("[!.]*.json")}
    assert "train" not in command(*ONE, "--draws", 2, "--seeds", 2, "--out", out)[2]
    again = command(*ONE, "--draws", 3, "--seeds", 2, "--out", out)[1]
    assert "over 3 draws, with 2 probes in each" in again
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("[!.]*.json")}
    assert {name: after[name] for name in before if name != "run.json"} == {
        name: stamp for name, stamp in before.items() if name != "run.json"
    }
    compared = command("compare", out, "-f", "json")[1]
    assert [record["draws"] for record in json.loads(compared)] == [3]


def test_runs_of_other_seeds_are_shown_as_one_table(tmp_path: Path, command: Command) -> None:
    """Each draw by a command of its own gives the same as ``--draws``."""
    for seed in (0, 10):
        assert command(*ONE, "--seed", seed, "--out", tmp_path / f"{seed}")[0] == 0
    assert command(*ONE, "--draws", 2, "--out", tmp_path / "both")[0] == 0
    apart = command("show", tmp_path / "0", tmp_path / "10", "--intervals", "--notes")[1]
    both = command("show", tmp_path / "both", "--intervals")[1]
    assert "table 1" not in apart
    assert split_rows(apart) == split_rows(both)
    assert "Each draw has one probe" in apart
    series = command("show", tmp_path / "both", "--by-length", "tokens")[1]
    assert "table 2 of 2, seed 10" in series


def test_other_words_under_one_name_are_no_other_draw(tmp_path: Path, command: Command) -> None:
    """Two lexicons with vocabularies of one name, of which the nouns are disjoint."""
    text = (files("sentprobe.lexicon") / "english.toml").read_text("utf-8")
    nouns = '"professor", "student", "man", "woman", "doctor", "scientist", "lawyer"'
    options = '"president", "child", "girl", "boy", "judge", "senator", "secretary"'
    assert f"noun = [{nouns}]" in text
    run = (*ONE[:-4], "-e", "bow?dim=8", "--no-controls")
    for seed, words in ((0, nouns), (10, options), (20, nouns)):
        lexicon = tmp_path / f"{seed}.toml"
        lexicon.write_text(text.replace(f"noun = [{nouns}]", f"noun = [{words}]"), "utf-8")
        done = command(*run, "--lexicon", lexicon, "--seed", seed, "--out", tmp_path / f"{seed}")
        assert done[0] == 0
    shown = command("show", *(tmp_path / f"{seed}" for seed in (0, 10, 20)))[1]
    assert "table 1 of 2, seed 0 and 20" in " ".join(shown.split())


def test_a_task_that_fails_in_each_draw_is_counted_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it lacks may be said otherwise in each draw."""
    build = assemble.build

    def fail(task: CompevalTask, lexicon: Lexicon, **options: Any) -> ProbeDataset:
        if task.name == "Order":
            raise TooFewError(f"Order: too few with seed {options['seed']}")
        return build(task, lexicon, **options)

    monkeypatch.setattr(suites, "build", fail)
    run = ("run", "compeval", "--task", "Order", "--task", "SemRole", *TINY, "-e", "majority")
    code, _, err = command(*run, "--draws", 3)
    assert code == 1
    assert "probe: 1 of 2 tasks could not be built:\nOrder: too few with seed" in err
    assert err.count("Order: too few") == 1


def test_stored_data_is_not_drawn_anew(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="mine", size=40), tmp_path / "mine.jsonl")
    run = ("run", tmp_path / "mine.jsonl", "--set", "max_epochs=2", "--jobs", 1, "--no-cache")
    code, stdout, _ = command(*run, "-e", "bow?dim=8", "--draws", 2, "--notes")
    assert code == 0
    assert "(seeds 0, 10): the untrained weights, the probes. The same in each: the data." in stdout
    assert stdout.count("Data: ") == 1


def test_an_encoder_that_is_not_drawn_is_made_once() -> None:
    built = CountingEncoder(make_encoder("bow?dim=4", seed=0))
    results = sentprobe.run(
        "compeval", [built, "bow?dim=4"], tasks="Order", train=56, test=28, preset=FAST,
        draws=2, controls=False,
    )  # fmt: skip
    (table,) = split_settings(results)
    assert len({r.encoder_fingerprint for r in table.records if r.encoder == "counting"}) == 1
    assert "The same in each: the vectors of counting." in results.to_markdown(notes=True)


def test_more_probes_than_are_between_two_draws(command: Command) -> None:
    code, _, err = command("run", "compeval", "--seeds", 11, "--draws", 2)
    assert code == 2
    assert "11 seeds: in several draws there are at most 10 probes each" in " ".join(err.split())
    code, _, err = command("run", "compeval", "--draws", 0)
    assert (code, "the number of draws must be positive, not 0" in err) == (2, True)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_draw_is_the_run_of_its_seed(seed: int) -> None:
    """What a draw gives does not depend on the draws beside it."""

    def run(seed: int, draws: int) -> Results:
        return sentprobe.run(
            "compeval", "bow?dim=4", tasks="Order", train=56, test=28, preset=FAST, seed=seed,
            draws=draws, controls=False,
        )  # fmt: skip

    both = run(seed, 2).records
    assert [item.scores for item in both] == [run(item, 1).records[0].scores for item in (seed, seed + 10)]
