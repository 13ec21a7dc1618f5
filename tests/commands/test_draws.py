"""``probe run --draws``, and what ``probe show`` and ``probe compare`` make of draws."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from in_process import Command
from probe_strategies import Counting, learnable
from shown_runs import rows

import sentprobe
from sentprobe.probes.compeval import CompevalTask
from sentprobe.probes.dataset import ProbeDataset, TooFewError
from sentprobe.probes.encoders import make_encoder
from sentprobe.probes.formats import write_dataset
from sentprobe.probes.report.draws import seeds_of
from sentprobe.probes.report.tables import arrange, settings
from sentprobe.probes.runs.built_suites import CompevalSuite
from sentprobe.probes.runs.results import Condition, Results
from sentprobe.probes.runs.store import read_results
from sentprobe.probes.trainer.presets import find_preset, override

TINY = ("--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")
ONE = ("run", "compeval", "--task", "Order", *TINY, "-e", "bow?dim=8", "-e", "bilstm-max?hidden=8")
FAST = override(find_preset("ettinger"), [("max_epochs", "2")])


def test_draws_of_one_command(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "run"
    code, stdout, _ = command(*ONE, "--draws", 2, "--seeds", 2, "--out", out, "--sources")
    assert code == 0
    assert "over 2 draws of 2 probes each" in stdout
    assert "New in each draw (seeds 0, 10): the data, the weights, the probes." in stdout
    assert stdout.count("Data: 56 training, 28 test items; vocabulary compeval") == 2
    table = rows(stdout)
    assert [row[0] for row in table[1:3]] == ["bow?dim=8", "bilstm-max?hidden=8"]
    assert all("(draws " in row[1] and ", probes " in row[1] for row in table[1:])
    made = read_results(out).records
    assert {(r.seed, *(s.seed for s in r.scores[Condition.PROBE].seeds)) for r in made} == {
        (0, 0, 1), (10, 10, 11),
    }  # fmt: skip
    for facts in ([r.dataset_fingerprint for r in made], [r.data and r.data.seed for r in made]):
        assert len(set(facts)) == 2
    assert len({record.encoder_fingerprint for record in made}) == 4
    *_, shown = settings(arrange(read_results(out)))
    assert seeds_of(shown) == [0, 10]
    # The same command trains nothing; another draw is added to these.
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("[!.]*.json")}
    assert "train" not in command(*ONE, "--draws", 2, "--seeds", 2, "--out", out)[2]
    again = command(*ONE, "--draws", 3, "--seeds", 2, "--out", out)[1]
    assert "over 3 draws of 2 probes each" in again
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
    apart = command("show", tmp_path / "0", tmp_path / "10", "--intervals")[1]
    both = command("show", tmp_path / "both", "--intervals")[1]
    assert "table 1" not in apart
    assert rows(apart) == rows(both)
    assert "Each has one probe" in apart
    series = command("show", tmp_path / "both", "--by-length", "tokens")[1]
    assert "table 2 of 2, seed 10" in series


def test_other_words_under_one_name_are_no_other_draw(tmp_path: Path, command: Command) -> None:
    """Two lexicons with vocabularies of one name, of which the nouns are disjoint."""
    text = (files("sentprobe.lexicon") / "english.toml").read_text("utf-8")
    nouns = '"professor", "student", "man", "woman", "doctor", "scientist", "lawyer"'
    others = '"president", "child", "girl", "boy", "judge", "senator", "secretary"'
    assert f"noun = [{nouns}]" in text
    run = (*ONE[:-4], "-e", "bow?dim=8", "--no-controls")
    for seed, words in ((0, nouns), (10, others), (20, nouns)):
        lexicon = tmp_path / f"{seed}.toml"
        lexicon.write_text(text.replace(f"noun = [{nouns}]", f"noun = [{words}]"), "utf-8")
        done = command(*run, "--lexicon", lexicon, "--seed", seed, "--out", tmp_path / f"{seed}")
        assert done[0] == 0
    shown = command("show", *(tmp_path / f"{seed}" for seed in (0, 10, 20)))[1]
    assert "table 1 of 2, seed 0 and 20" in " ".join(shown.split())


def test_a_task_that_fails_in_each_draw_is_counted_once(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it lacks may be said otherwise in each draw."""
    build = CompevalSuite._build

    def fail(suite: CompevalSuite, task: CompevalTask, text: str) -> ProbeDataset:
        if task.name == "Order":
            raise TooFewError(f"Order: too few with seed {suite.seed}")
        return build(suite, task, text)

    monkeypatch.setattr(CompevalSuite, "_build", fail)
    run = ("run", "compeval", "--task", "Order", "--task", "SemRole", *TINY, "-e", "majority")
    code, _, err = command(*run, "--draws", 3)
    assert code == 1
    assert "probe: 1 of 2 tasks could not be built:\nOrder: too few with seed" in err
    assert err.count("Order: too few") == 1


def test_stored_data_is_not_drawn_anew(tmp_path: Path, command: Command) -> None:
    write_dataset(learnable(name="mine", size=40), tmp_path / "mine.jsonl")
    run = ("run", tmp_path / "mine.jsonl", "--set", "max_epochs=2", "--jobs", 1, "--no-cache")
    code, stdout, _ = command(*run, "-e", "bow?dim=8", "--draws", 2)
    assert code == 0
    assert "(seeds 0, 10): the weights, the probes. The same in each: the data." in stdout
    assert stdout.count("Data: ") == 1


def test_an_encoder_that_is_not_drawn_is_made_once() -> None:
    made = Counting(make_encoder("bow?dim=4", seed=0))
    results = sentprobe.run(
        "compeval", [made, "bow?dim=4"], tasks="Order", train=56, test=28, preset=FAST,
        draws=2, controls=False,
    )  # fmt: skip
    (table,) = settings(results)
    assert len({r.encoder_fingerprint for r in table.records if r.encoder == "counting"}) == 1
    assert "The same in each: the vectors of counting." in str(results).replace("\n", " ")


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
    assert [each.scores for each in both] == [
        run(each, 1).records[0].scores for each in (seed, seed + 10)
    ]
