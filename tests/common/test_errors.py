"""A plain install generates and builds; a command that needs an extra says so in one line.

The tests run processes that see only the packages of a plain install.
"""

import ast
import importlib.metadata
import json
import re
import shlex
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import pytest
from helpers.gen_command import Outcome
from helpers.in_process import Command
from helpers.plain_install import PROJECT, link_plain, run_plain
from helpers.runs.shown_runs import write_first_run
from helpers.shared import ROOT
from packaging.requirements import Requirement

import sentprobe
from sentprobe.common.errors import (
    PROBE,
    MissingError,
    UnusableError,
    find_code_files,
    format_install,
    import_module_of_extra,
    path_error,
    require_libraries,
    suggest_path,
)

Plain = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Run Python code in a process that sees a plain install, in a folder with data."""
    libraries = tmp_path_factory.mktemp("libraries")
    link_plain(libraries)
    work = tmp_path_factory.mktemp("work")
    sentprobe.write_dataset(sentprobe.build_task("Order", train=84, test=28), work / "Order")
    write_first_run(work).rename(work / "results")

    def run(code: str, *arguments: str) -> CompletedProcess[str]:
        return run_plain(libraries, code, *arguments, cwd=work)

    return run


def test_plain_install_lacks_extra_libraries(plain: Plain) -> None:
    code = "import sys, importlib.util as u; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    assert plain(code, *PROBE, "typer").stdout == "['typer']\n"


WORKING_COMMANDS = [
    "gen -n 2 --seed 1",
    "gen -n 3 --out sentences.parquet",
    "gen templates",
    "gen parse --format text 'the man sleeps'",
    "gen show 'sleep(agent: man)'",
    "probe build compeval --train 200 --test 56 --task SemRole --format jsonl --out lines",
    "probe show results",
    "probe compare results",
    "probe compare results --correction bh",
    "probe show results --format html --out page.html",
    "probe report results --out report.html",
    "probe encoders",
    "probe cache",
    "probe embed Order --encoder bow --out vectors.npz",
    "probe sentences Order compeval --task SemRole --train 200 --test 56 --out lines.txt",
]
FAILING_COMMANDS = [
    ("probe run Order", "this needs PyTorch", "probe"),
    ("probe run Order -e majority --no-controls", "this needs PyTorch", "probe"),
    ("probe run Order -e st:x -e hf:y", "this needs PyTorch", "sentence-transformers,transformers"),
    ("probe run natural table -e st:x", "this needs PyTorch", "sentence-transformers"),
    (
        "probe run Order -e st:x --engine dask --scheduler tcp://127.0.0.1:1",
        "this needs PyTorch and Dask, which are",
        "dask,probe",
    ),
    (
        "probe geometry compeval -e st:x -e hf:y",
        "an encoder st:... or hf:... needs",
        "sentence-transformers,transformers",
    ),
    ("probe train lstm --objective none --corpus t -o enc", "this needs PyTorch and lightning-fabric", "train"),
    ("probe audit Order", "this needs scikit-learn and LightGBM", "probe"),
    ("probe embed Order -e bilstm-max --out v.npz", "an encoder bilstm-max needs the extra", "probe"),
    ("probe embed Order -e bow --threads 2 --out v.npz", "this needs PyTorch", "probe"),
]

# Run all commands in one process, since starting one takes a second.
RUN_COMMANDS = """
import io, json, shlex, sys, traceback
from contextlib import redirect_stderr, redirect_stdout
from sentprobe import cli
done, lines = {}, json.loads(sys.argv[1])
for line in lines:
    sys.argv = shlex.split(line)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = getattr(cli, sys.argv[0])() or 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
    done[line] = code, *(each.buffer.getvalue().decode() for each in (out, err))
print(json.dumps(done))
"""


@pytest.fixture(scope="module")
def commands(plain: Plain) -> dict[str, Outcome]:
    """Return the outcome of each command of WORKING_COMMANDS and FAILING_COMMANDS."""
    done = plain(RUN_COMMANDS, json.dumps([*WORKING_COMMANDS, *(line for line, _, _ in FAILING_COMMANDS)]))
    assert (done.returncode, done.stderr) == (0, "")
    return {line: Outcome(*outcome) for line, outcome in json.loads(done.stdout).items()}


@pytest.mark.parametrize("line", WORKING_COMMANDS)
def test_plain_install_runs_command(commands: dict[str, Outcome], line: str) -> None:
    done = commands[line]
    assert (done.code, "Traceback" in done.err) == (0, False), done.err


@pytest.mark.parametrize(("line", "missing", "extras"), FAILING_COMMANDS)
def test_missing_extra_is_one_line(commands: dict[str, Outcome], line: str, missing: str, extras: str) -> None:
    done = commands[line]
    assert done.code == 1
    assert done.out == ""
    message = done.err.splitlines()[-1]  # a progress bar may come first
    assert re.fullmatch(rf"probe: {missing}\b.*: pip install -e '?{re.escape(str(ROOT))}\[{extras}\]'?", message)


PYTHON_CALLS = """
import sentprobe
data = sentprobe.read_dataset("Order")
results = sentprobe.read_results("results")
for call in (
    lambda: sentprobe.run(data, "bow"),
    lambda: sentprobe.audit(data),
    lambda: sentprobe.make_encoder("gated-conv"),
):
    try:
        call()
    except sentprobe.SentprobeError as error:
        print(error)
print(len(sentprobe.compare_encoders(results)), "compared")
"""


def test_missing_extra_is_named_in_python(plain: Plain) -> None:
    done = plain(PYTHON_CALLS)
    assert done.stderr == ""
    *lines, compared = done.stdout.splitlines()
    assert len(lines) == 3
    assert re.fullmatch(r"[1-9]\d* compared", compared)
    assert all(shlex.split(line)[-3:] == ["install", "-e", f"{ROOT}[probe]"] for line in lines)


def test_plain_install_has_public_names(plain: Plain) -> None:
    done = plain("import sentprobe; [getattr(sentprobe, name) for name in sentprobe.__all__]")
    assert done.stderr == ""


def test_table_needs_duckdb(plain: Plain) -> None:
    code = "from sentprobe.probes.corpus.table import Table; Table.connect(None)"
    assert "MissingError: this needs DuckDB" in plain(code).stderr


def test_missing_library_is_import_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROBE, "no_such_library", "a library")
    for find in (require_libraries, import_module_of_extra):
        with pytest.raises(MissingError, match="this needs a library, which is not") as caught:
            find("no_such_library")
        assert isinstance(caught.value, ImportError)
        assert caught.value.exit_code == 1


def test_missing_library_of_library_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        import_module_of_extra("half_there")


def test_unloadable_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os_message = "libgomp.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "not_loadable.py").write_text(f"raise OSError({os_message!r})")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(PROBE, "not_loadable", "a library")
    require_libraries("not_loadable")
    message = f"^a library is installed, but cannot be loaded: {os_message}$"
    with pytest.raises(UnusableError, match=message) as caught:
        import_module_of_extra("not_loadable")
    assert isinstance(caught.value, ImportError)
    assert caught.value.exit_code == 1


WHEEL = "file:///tmp/sentprobe-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("record", "command"),
    [
        ({"url": "file:///a%20b/c", "dir_info": {"editable": True}}, "pip install -e '/a b/c[plots,train]'"),
        ({"url": "file:///src/sentprobe", "dir_info": {}}, "pip install '/src/sentprobe[plots,train]'"),
        ({"url": WHEEL, "archive_info": {}}, f"pip install 'sentprobe[plots,train] @ {WHEEL}'"),
        (
            {"url": "https://x.org/y.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            "pip install 'sentprobe[plots,train] @ git+https://x.org/y.git@0a1b'",
        ),
        (None, "pip install 'sentprobe[plots,train]'"),
    ],
)
def test_install_command_follows_origin(
    monkeypatch: pytest.MonkeyPatch, record: dict[str, object] | None, command: str
) -> None:
    text = None if record is None else json.dumps(record)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert format_install("train", "probe", "plots") == command
    assert shlex.split(command)[-1].endswith(command.rpartition(" ")[2].strip("'"))


def test_install_command_of_bare_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", find_nothing)
    assert shlex.split(format_install("probe")) == ["pip", "install", "-e", f"{ROOT}[probe]"]


def test_extra_probe_matches_table() -> None:
    names = {Requirement(requirement).name for requirement in PROJECT["optional-dependencies"]["probe"]}
    assert names == {"scikit-learn" if library == "sklearn" else library for library in PROBE}
    assert all(find_spec(library) for library in PROBE)
    assert not names & {Requirement(requirement).name for requirement in PROJECT["dependencies"]}


TORCH_FOLDERS = {"classifier", "interventions", "training", "models"}
"""Folders of modules that import PyTorch; an earlier check names the missing extra."""

TORCH_MODULES = {"network.py", "forecast.py", "neural_scorers.py", "repair_training.py"}
"""Other modules that import PyTorch; they or an earlier check name the missing extra."""


def find_imports(path: Path) -> set[str]:
    """Return the top-level packages that a module imports, except for type checkers."""
    libraries = set()
    for node in ast.parse(path.read_text("utf-8").replace("if TYPE_CHECKING", "if ()")).body:
        if isinstance(node, ast.If):
            continue
        for child in ast.walk(node):
            if isinstance(child, ast.Import):
                libraries |= {alias.name.partition(".")[0] for alias in child.names}
            elif isinstance(child, ast.ImportFrom) and not child.level:
                libraries.add(str(child.module).partition(".")[0])
    return libraries


def test_modules_import_no_extra_libraries() -> None:
    for path in (ROOT / "sentprobe").rglob("*.py"):
        direct_imports = find_imports(path) & set(PROBE)
        if path.parent.name in TORCH_FOLDERS or path.name in TORCH_MODULES:
            direct_imports -= {"torch"}
        assert not direct_imports, path


def test_code_files_leave_out_caches(tmp_path: Path) -> None:
    """A half-written file of ``__pycache__`` has its own suffix: x.pyc.14012."""
    for name in ("a.py", "data/b.toml", "__pycache__/a.pyc", "data/__pycache__/b.pyc.14012"):
        path = tmp_path / "__pycache__" / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    folder = tmp_path / "__pycache__" / "package"
    assert find_code_files(folder) == [folder / "a.py", folder / "data" / "b.toml"]


@pytest.mark.parametrize("place", range(len("questions")))
def test_nearest_path_is_suggested(place: int, tmp_path: Path) -> None:
    """A path without one of its letters: the first part that does not exist is completed, in its folder."""
    (tmp_path / "questions" / "of-users").mkdir(parents=True)
    (tmp_path / "other.csv").touch()
    name = "questions"[:place] + "questions"[place + 1 :]
    assert suggest_path(tmp_path / name) == f" (did you mean '{tmp_path / 'questions'}'?)"
    assert suggest_path(tmp_path / name / "of-users") == suggest_path(tmp_path / name)
    assert suggest_path(tmp_path / "questions" / "of-user") == f" (did you mean '{tmp_path}/questions/of-users'?)"
    assert suggest_path(tmp_path / "questions") == suggest_path(tmp_path / "zzz") == suggest_path("\0") == ""
    error = path_error(tmp_path / name, "cannot read it", FileNotFoundError(2, "No such file"))
    assert str(error).endswith(f"cannot read it: No such file (did you mean '{tmp_path / 'questions'}'?)")


@pytest.mark.parametrize(
    "line",
    [
        "show mien",
        "report mien",
        "compare mien",
        "verify mien",
        "audit mien",
        "run mien",
        "run natural mien",
        "gate bow --pairs mien --threshold 0.5",
        "gate bow --texts mien --threshold 0.5",
        "gate bow --paraphrases mien",
    ],
)
def test_commands_suggest_the_nearest_path(line: str, working_folder: Path, command: Command) -> None:
    (working_folder / "mine").mkdir()
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    assert "(did you mean 'mine'?)" in err
    assert err.count("probe: ") == 1
