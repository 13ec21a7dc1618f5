"""Finished runs are recognized by recipes, without their data."""

import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.sentence_models import make_chain, write_trees
from helpers.in_process import Command

from sentprobe.common.specs import parse_spec
from sentprobe.lexicon import Lexicon, german
from sentprobe.probes.datasets.formats import read_datasets
from sentprobe.probes.encoders.baselines import TfidfOptions
from sentprobe.probes.encoders.kinds import FILE_OPTIONS, make_encoder
from sentprobe.probes.encoders.models.untrained import TreeOptions, UntrainedOptions
from sentprobe.probes.encoders.word_vectors import BowOptions
from sentprobe.probes.results.store import read_results, write_result
from sentprobe.probes.runs import completed_tasks
from sentprobe.probes.runs import run as runs
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions
from sentprobe.probes.runs.suites import CompevalSuite, PresetChoice, make_compeval
from sentprobe.probes.runs.targets import Targets, find_targets

TASKS = ("--task", "Order", "--task", "Content1Probe")
TINY = (*TASKS, "--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1")
BOTH = ("-e", "bow?dim=8", "-e", "majority")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("recipes") / "run"
    arguments = ("run", "compeval", *TINY, *BOTH, "--out", str(out))
    subprocess.run([sys.executable, "-c", CODE, *arguments], check=True, capture_output=True)
    return out


CODE = "from sentprobe.cli import probe; probe()"

WATCHED = """
import sys
from sentprobe.cli import probe
try:
    probe()
finally:
    print("torch" in sys.modules, file=sys.stderr)
"""


def read_files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_finished_run_is_found_without_torch(folder: Path) -> None:
    before = read_files(folder)
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "run", "compeval", *TINY, *BOTH, "--out", str(folder)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines() == ["4 results found", "False"]
    assert read_files(folder) == before


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("the data is built")


@pytest.mark.parametrize(
    "options", [[], ["--no-controls"], ["--threads", "1"], ["--probe-vectors", "one-hot"], ["--preset", "ettinger"]]
)
def test_neutral_options_find_results(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(runs, "find_datasets", refuse)
    code, out, err = command("run", "compeval", *TINY, *BOTH, "--out", folder, *options)
    assert (code, err) == (0, "4 results found\n")
    assert out.endswith(f"results: {folder}\n")


@pytest.mark.parametrize(
    "options",
    [
        ["--train", "84"],
        ["--test", "56"],
        ["--validation", "28"],
        ["--seed", "1"],
        ["--seeds", "2"],
        ["--vocabulary", "english"],
        ["--sampling", "paper"],
        ["--set", "max_epochs=3"],
        ["--preset", "logreg"],
        ["--task", "SemRole"],
        ["-e", "bow?dim=4"],
        ["--probe-vectors", "encoder"],
        ["--force"],
    ],
)
def test_changed_options_build_data(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(runs, "find_datasets", refuse)
    with pytest.raises(AssertionError, match="the data is built"):
        command("run", "compeval", *remove_option(options[0]), *BOTH, "--out", folder, *options)


def remove_option(option: str) -> list[str]:
    """Return the tiny run without an option of one value, which is to be replaced."""
    arguments = list(TINY)
    if option in ("--train", "--test"):
        index = arguments.index(option)
        del arguments[index : index + 2]
    return arguments


def find_recipes(**changes: Any) -> set[str]:
    """The recipes of a small request."""
    options: dict[str, Any] = {"items": ItemOptions(train=56, test=28), "compeval": CompevalOptions(), "seed": 0}
    targets = find_targets(
        ["compeval"], tasks=["Order"], **{key: changes.pop(key, value) for key, value in options.items()}
    )
    encoders = completed_tasks.build_encoders_with_files(parse_spec("bow?dim=8"), seed=0)
    preset = changes.pop("preset", None)
    words = changes.pop("words", None)
    run = Run(**changes)
    return {
        request.recipe
        for request in completed_tasks.find_requests(targets, encoders, run=run, preset=preset, words=words)
    }


def test_recipe_depends_on_profile() -> None:
    """Results of uniformly sampled sentences were once found for those of a profile."""
    assert find_recipes(compeval=CompevalOptions(profile="published")).isdisjoint(find_recipes())


def test_another_version_is_another_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    before = find_recipes()
    assert len(before) == 1 and before == find_recipes()
    monkeypatch.setattr(completed_tasks, "digest_code", lambda: "another")
    assert find_recipes().isdisjoint(before)
    monkeypatch.undo()
    monkeypatch.setattr(completed_tasks, "find_versions", lambda *_: {"numpy": "1.0"})
    assert find_recipes().isdisjoint(before)


def test_recipe_needs_independence_of_data() -> None:
    assert find_recipes(preset=lambda _: PresetChoice().find_preset_of("Order")) == set()
    assert find_recipes(words="bow:glove.txt") == set()
    assert find_recipes(words=make_encoder("bow?dim=8&name=words"))


def test_result_of_another_version_gets_recipe(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_results(folder)
    monkeypatch.setattr(completed_tasks, "digest_code", lambda: "another")
    arguments = ("run", "compeval", *TINY, *BOTH, "--out", folder)
    code, _, err = command(*arguments)
    assert code == 0
    assert "train probes on" not in err
    assert err.splitlines()[-1] == "4 results found"
    after = read_results(folder)
    assert [replace(result, recipe="") for result in before.records] == [
        replace(result, recipe="") for result in after.records
    ]
    monkeypatch.setattr(runs, "find_datasets", refuse)
    assert command(*arguments)[2] == "4 results found\n"


def test_built_data_adds_its_origin(folder: Path, tmp_path: Path, command: Command) -> None:
    """Results of the same data, read from files, have no recipe."""
    before = read_results(folder)
    for record in before.records:
        write_result(replace(record, data=record.data and replace(record.data, origin="")), tmp_path)
    arguments = ("compeval", *TASKS, "--train", "56", "--test", "28")
    assert command("build", *arguments, "--out", tmp_path / "data")[0] == 0
    run_options = ("--set", "max_epochs=2", "--jobs", "1", *BOTH, "--out", tmp_path)
    (tmp_path / "run.json").write_bytes((folder / "run.json").read_bytes())
    assert command("run", tmp_path / "data", *run_options)[2].endswith("4 results found\n")
    assert {result.recipe for result in read_results(tmp_path).records} == {result.recipe for result in before.records}
    assert {result.data and result.data.origin for result in read_results(tmp_path).records} == {""}
    for record in before.records:
        facts = record.data and replace(record.data, origin="")
        write_result(replace(record, data=facts, recipe=""), tmp_path)
    assert command("run", "compeval", *TINY, *BOTH, "--out", tmp_path)[0] == 0
    assert [result.data for result in read_results(tmp_path).records] == [result.data for result in before.records]


def test_found_and_made_results_are_counted(tmp_path: Path, command: Command, folder: Path) -> None:
    for path in folder.glob("*.json"):
        if "Order" in path.name or path.name == "run.json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    code, _, err = command("run", "compeval", *TINY, *BOTH, "--out", tmp_path)
    assert code == 0
    assert err.splitlines()[-1] == "2 results found, 2 made"


def test_result_of_changed_trees_is_made_anew(tmp_path: Path, command: Command) -> None:
    """Results of the trees that a file had before were once found."""
    trees, size = tmp_path / "trees.conllu", ("--task", "Order", "--train", "56", "--test", "28")
    assert command("build", "compeval", *size, "--out", tmp_path / "data")[0] == 0
    sentences = dict.fromkeys(text for data in read_datasets(tmp_path / "data") for text in data.sentences)
    write_trees(trees, [(text, make_chain(len(text.split()))) for text in sentences])
    options = ("--set", "max_epochs=2", "--no-controls", "--jobs", "1", "--out", tmp_path / "run")
    arguments = ("run", "compeval", *size, *options, "-e", f"tree-lstm?dim=4&hidden=4&trees={trees}")
    assert command(*arguments)[0] == 0
    assert command(*arguments)[2] == "1 result found\n"
    write_trees(trees, [(text, (0, *[1] * text.count(" "))) for text in sentences])
    code, _, err = command(*arguments)
    assert code == 0 and "found" not in err
    first, second = read_results(tmp_path / "run").records
    assert first.recipe != second.recipe
    trees.unlink()
    code, _, err = command(*arguments)
    assert code == 2 and f"{trees}: " in err


@pytest.mark.parametrize("options", [BowOptions, TfidfOptions, UntrainedOptions, TreeOptions])
def test_options_that_name_files_are_known(options: type) -> None:
    """The kinds with these options need no argument, so that their specs may be all that determines an encoder."""
    texts = {field.name for field in fields(options) if field.type is str} - {"language"}
    assert texts == ({*FILE_OPTIONS} if options is TreeOptions else set())


@pytest.mark.parametrize(
    "change", [{"gender": "fem"}, {"sort": "thing"}, {"auxiliary": "sein"}, {"takes": {"agent": ("thing",)}}]
)
def test_recipe_includes_properties_of_words(change: dict[str, Any]) -> None:
    first, *entries = german().entries
    lexicon = replace(german(), entries=(replace(first, **change), *entries))
    assert find_origins(german()) == find_origins(replace(german()))
    assert find_origins(lexicon) != find_origins(german())


def find_origins(lexicon: Lexicon) -> dict[str, str]:
    suite = replace(make_compeval(["SemRole"], CompevalOptions(language="de")), lexicon=lexicon)
    return completed_tasks.digest_origins(Targets((suite.name,), (suite,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedSuite(CompevalSuite):
    """A suite with a setting that no other code names."""

    max_words: int | None = None


def test_recipe_includes_a_new_setting_of_a_suite() -> None:
    """A result without the setting must not be found for a run with it."""
    suite = make_compeval(["SemRole"], CompevalOptions())
    values = {field.name: getattr(suite, field.name) for field in fields(suite)}
    usual, unset, limited = (
        completed_tasks.digest_origins(Targets((suite.name,), (some_suite,)))
        for some_suite in (suite, LimitedSuite(**values), LimitedSuite(**values, max_words=9))
    )
    assert usual == unset != limited
