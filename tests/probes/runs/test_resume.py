"""A run that goes on where another stopped: nothing is done twice, nothing is lost."""

import errno
import logging
import os
import signal
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from probe_strategies import Counting, learnable
from processes import ENVIRONMENT, PROBE, alive, descendants, wait_for
from thoroughness import examples

from sentprobe.commands.options import ItemOptions
from sentprobe.commands.targets import parse_targets
from sentprobe.errors import ResultsError, SentprobeError
from sentprobe.probes.encoders import make_encoder
from sentprobe.probes.runs import todo
from sentprobe.probes.runs.results import Condition, Made, Result, Results, makings
from sentprobe.probes.runs.run import run, run_targets
from sentprobe.probes.runs.settings import make_run
from sentprobe.probes.runs.store import MARKER, file_name, read_results, write_result
from sentprobe.probes.trainer import fit as trainer
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.specs import parse_pair, parse_spec

FAST = replace(find_preset("ettinger"), max_epochs=2)
FEW = [learnable(name="one", size=40), learnable(name="two", size=50)]


def encoder(name: str = "bow") -> Any:
    return Counting(make_encoder("bow?dim=4", seed=0), name=name)


def timeless(results: Results) -> list[Result]:
    """Results without what may differ between equal runs."""
    return [replace(record, seconds={}) for record in results.records]


def stamps(directory: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in directory.rglob("*") if path.is_file() and path.name != MARKER]
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_a_second_run_does_nothing(tmp_path: Path) -> None:
    first = run(FEW, [encoder()], preset=FAST, out=tmp_path)
    before = stamps(tmp_path)
    again = encoder()
    assert run(FEW, [again], preset=FAST, out=tmp_path) == first
    assert again.seen == []
    assert stamps(tmp_path) == before


def test_only_what_is_missing_is_encoded_and_trained(tmp_path: Path) -> None:
    run(FEW[:1], [encoder()], preset=FAST, out=tmp_path)
    more = encoder()
    both = run(FEW, [more], preset=FAST, out=tmp_path)
    assert set(more.seen) == set(FEW[1].sentences)
    assert timeless(both) == timeless(run(FEW, [encoder()], preset=FAST))


@pytest.fixture
def seeds_trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    seen = []
    fit = trainer.fit

    def spying(*args: Any, **kwargs: Any) -> Any:
        seen.append(tuple(kwargs["seeds"]))
        return fit(*args, **kwargs)

    monkeypatch.setattr(trainer, "fit", spying)
    return seen


def test_missing_seeds_are_added(tmp_path: Path, seeds_trained: list[tuple[int, ...]]) -> None:
    run(FEW[:1], [encoder()], preset=FAST, out=tmp_path, seeds=2)
    run(FEW[:1], [encoder()], preset=FAST, out=tmp_path, seeds=3)
    assert seeds_trained == [(0, 1)] * 5 + [(2,)] * 5
    (kept,) = read_results(tmp_path).records
    for score in kept.scores.values():
        assert [each.seed for each in score.seeds] == [0, 1, 2]


def test_each_probe_says_how_it_was_made(tmp_path: Path) -> None:
    """The first command and its versions are the result's; later ones stand beside their seeds."""

    def go(name: str, *, seeds: int, command: str) -> Result:
        run([FEW[0]], [encoder(name)], preset=FAST, out=tmp_path, seeds=seeds, command=command)
        return next(each for each in read_results(tmp_path).records if each.encoder == name)

    first = go("bow", seeds=2, command="one")
    assert (first.command, makings(first)) == ("one", (first.made,))
    later = go("bow", seeds=3, command="two")
    assert later.command == "one"
    for score in later.scores.values():
        made = [each.made for each in score.seeds]
        assert made == [None, None, Made("two", first.versions, "cpu")]
    assert [each.command for each in makings(later)] == ["one", "two"]
    # Another encoder of this width takes over what is the same for both.
    other = go("other", seeds=3, command="three")
    by = {c: [e.made and e.made.command for e in s.seeds] for c, s in other.scores.items()}
    assert by[Condition.PROBE] == by[Condition.RANDOM_PROBES] == [None] * 3
    assert by[Condition.BAG_OF_WORDS] == by[Condition.RANDOM_SENTENCES] == ["one", "one", "two"]


def test_versions_that_changed_are_kept_with_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run([FEW[0]], [encoder()], preset=FAST, out=tmp_path, controls=False)
    monkeypatch.setattr(todo, "versions", lambda *packages: dict.fromkeys(packages, "9"))
    run([FEW[0]], [encoder()], preset=FAST, out=tmp_path, seeds=2, controls=False)
    (kept,) = read_results(tmp_path).records
    first, second = kept.scores[Condition.PROBE].seeds
    assert (first.made, kept.versions["numpy"] == "9") == (None, False)
    assert second.made is not None
    assert second.made.versions["numpy"] == "9"


def test_fewer_seeds_are_taken_from_what_is_there(
    tmp_path: Path, seeds_trained: list[tuple[int, ...]]
) -> None:
    run(FEW[:1], [encoder()], preset=FAST, out=tmp_path, seeds=3)
    before = stamps(tmp_path)
    seeds_trained.clear()
    made = run(FEW[:1], [encoder()], preset=FAST, out=tmp_path, seeds=1).records[0]
    assert (seeds_trained, len(made.scores[Condition.PROBE].seeds)) == ([], 1)
    assert stamps(tmp_path) == before


def test_missing_controls_are_added(tmp_path: Path, seeds_trained: list[tuple[int, ...]]) -> None:
    run(FEW[:1], [encoder()], preset=FAST, out=tmp_path, controls=False)
    made = run(FEW[:1], [encoder()], preset=FAST, out=tmp_path)
    assert len(seeds_trained) == 5
    assert timeless(made) == timeless(run(FEW[:1], [encoder()], preset=FAST))


def test_what_encoders_share_is_not_trained_again(
    tmp_path: Path, seeds_trained: list[tuple[int, ...]]
) -> None:
    """The second encoder is as wide as the first: three of its sanity runs are there already."""
    run(FEW[:1], [encoder()], preset=FAST, out=tmp_path)
    seeds_trained.clear()
    made = run(FEW[:1], [encoder("other")], preset=FAST, out=tmp_path, seeds=2)
    assert sorted(seeds_trained) == [(0, 1), (0, 1), (1,), (1,), (1,)]
    alone = run(FEW[:1], [encoder("other")], preset=FAST, seeds=2)
    one, other = made.records[0].scores, alone.records[0].scores
    assert {c: s.accuracy for c, s in one.items()} == pytest.approx(
        {c: s.accuracy for c, s in other.items()}, abs=0.1
    )


def test_force_does_all_again(tmp_path: Path, seeds_trained: list[tuple[int, ...]]) -> None:
    first = run(FEW[:1], [encoder()], preset=FAST, out=tmp_path)
    second = run(FEW[:1], [encoder()], preset=FAST, out=tmp_path, force=True)
    assert len(seeds_trained) == 10
    assert timeless(first) == timeless(second)


@cache
def at_once() -> Results:
    return run(FEW, [encoder()], preset=FAST, seeds=2)


@examples(8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from([[0], [1], [0, 1]]), st.integers(1, 2), st.booleans()), max_size=3
    )
)
def test_whatever_was_run_before_the_end_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[list[int], int, bool]]
) -> None:
    out = tmp_path_factory.mktemp("run") / "out"
    for places, seeds, controls in history:
        datasets = [FEW[place] for place in places]
        run(datasets, [encoder()], preset=FAST, out=out, seeds=seeds, controls=controls)
    made = run(FEW, [encoder()], preset=FAST, out=out, seeds=2)
    for one, other in zip(made.records, at_once().records, strict=True):
        assert one.scores.keys() == other.scores.keys()
        for condition, score in one.scores.items():
            assert score.accuracy == pytest.approx(other.scores[condition].accuracy, abs=0.1)


@pytest.mark.parametrize("text", ["", "{", "\0\0"])
def test_a_damaged_file_is_named_and_made_anew(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    first = run(FEW[:1], [encoder()], preset=FAST, out=tmp_path)
    path = tmp_path / file_name(first.records[0])
    path.write_text(text)
    with caplog.at_level(logging.WARNING):
        again = run(FEW[:1], [encoder()], preset=FAST, out=tmp_path)
    assert str(path) in caplog.text
    assert timeless(first) == timeless(again)
    assert read_results(tmp_path) == again


def test_a_full_disk_loses_the_task_in_hand_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = Path.replace
    full = [False]

    def renames(self: Path, target: Any) -> Path:
        if full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        full[0] = Path(target).name != MARKER
        return replaced(self, target)

    monkeypatch.setattr(Path, "replace", renames)
    with pytest.raises(ResultsError, match="cannot write it: No space left on device"):
        run(FEW, [encoder()], preset=FAST, out=tmp_path)
    monkeypatch.setattr(Path, "replace", replaced)
    (kept,) = read_results(tmp_path).records
    assert kept.task == "one"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
    assert len(run(FEW, [encoder()], preset=FAST, out=tmp_path).records) == 2


def test_no_room_for_what_processes_share(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sentprobe.probes.runs.vectors.np.save", full)
    with pytest.raises(SentprobeError, match="no room for the vectors that the processes share"):
        run(FEW, [encoder()], preset=FAST, jobs=2)


OVERRIDES = ("enough=0", "patience=900", "max_epochs=40")
SAME = (
    "run", "compeval", "--encoder", "bow?dim=30", "--train", "56", "--test", "28", "--seeds", "2",
    "--no-cache", "--jobs", "2", *(part for text in OVERRIDES for part in ("--set", text)),
)  # fmt: skip


def run_here(out: Path | None) -> Results:
    """Run the same as SAME in this process."""
    targets = parse_targets(["compeval"], items=ItemOptions(train=56, test=28))
    preset = override(find_preset("ettinger"), [parse_pair(text) for text in OVERRIDES])
    settings = make_run(seeds=2, out=out)
    return run_targets(targets, [parse_spec("bow?dim=30")], run=settings, preset=preset).results


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
@pytest.mark.slow  # three runs of all tasks
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """After kill -9: no process is left, finished tasks are not trained again, the end is equal."""
    out = tmp_path / "run"
    running = subprocess.Popen(
        [*PROBE, *SAME, "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    wait_for(lambda: out.exists() and len(list(out.glob("[!.]*.json"))) >= 3)
    children = descendants(running.pid)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=20)
    before = {name: stamp for name, stamp in stamps(out).items() if not name.startswith(".")}
    assert 2 <= len([name for name in before if not name.endswith(".parquet")]) < 5
    del before["run.toml"]  # a run from Python, which has none, makes the rest
    wait_for(lambda: not any(map(alive, children)))
    made = run_here(out)
    assert not (out / "run.toml").exists()
    assert {name: stamp for name, stamp in stamps(out).items() if name in before} == before
    whole = run_here(None)
    assert [record.scores for record in made.records] == [r.scores for r in whole.records]


def test_what_an_older_file_does_not_say_is_filled_in(tmp_path: Path) -> None:
    """From before the number of labels, the lengths of sentences and what data is of were kept."""
    data = learnable(size=40)
    (new,) = run([data], ["bow?dim=4"], preset=FAST, out=tmp_path).records
    older = replace(
        new, data=None, encoder_seed=None, labels=None, lengths=(), balanced_probes=True
    )
    write_result(older, tmp_path)
    (found,) = run([data], ["bow?dim=4"], preset=FAST, out=tmp_path).records
    assert (found.data, found.labels, found.lengths) == (new.data, new.labels, new.lengths)
    assert found.balanced_probes == new.balanced_probes
    assert found.encoder_seed == new.encoder_seed == 0
    assert read_results(tmp_path).records == (replace(new, source=str(tmp_path)),)


def test_data_of_the_same_name_that_was_changed_is_probed_anew(tmp_path: Path) -> None:
    """What stands for a result is the digest of texts and items, and not how they are called."""
    one, other = FEW[0], replace(FEW[1], name=FEW[0].name, card=FEW[0].card)
    (first,) = run([one], [encoder()], preset=FAST, out=tmp_path).records
    again = encoder()
    (second,) = run([other], [again], preset=FAST, out=tmp_path).records
    assert set(again.seen) == set(other.sentences)
    assert first.dataset_fingerprint != second.dataset_fingerprint
    assert first.data != second.data
    assert set(read_results(tmp_path).records) == {
        replace(first, source=str(tmp_path)),
        replace(second, source=str(tmp_path)),
    }
