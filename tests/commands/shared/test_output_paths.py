"""Outputs that are inputs, lie in a folder of results or coincide; options given twice; shell completion."""

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.cli import COMMANDS, load_command
from sentprobe.commands.lists import list_tasks
from sentprobe.commands.shared import output_paths
from sentprobe.commands.shared.output_paths import (
    OUTPUT_FILE,
    check_output_paths,
    find_outputs,
    find_standard_output,
    list_single_valued_options,
    reject_repeated_options,
)
from sentprobe.common.errors import UsageError
from sentprobe.common.files import atomic_path, write_atomically
from sentprobe.common.inputs import README_HEAD, declare_output, guarding_inputs, manage_folder, record_input
from sentprobe.common.specs import DEVICES, SUITES, Sampling
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.probes.classifier.presets import PRESETS
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT
from sentprobe.probes.datasets.formats import check_format
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.results.store import prepare_directory

IS_READ = "is an input; the output needs another path"
IN_RESULTS = "lies in a folder of results, which probe run made; write it elsewhere"


def list_commands() -> Iterator[tuple[str, Any]]:
    """Yield all commands, with the commands of groups."""
    pending = [(program, load_command("sentprobe", program)) for program in COMMANDS["sentprobe"]]
    while pending:
        name, command = pending.pop()
        yield name, command
        pending += [(f"{name} {inner}", child) for inner, child in getattr(command, "commands", {}).items()]
    yield from ((f"gen {name}", load_command("gen", name)) for name in COMMANDS["gen"])


EVERY = {name: command for name, command in list_commands() if command.callback}
OUTPUTS = {name: find_outputs(command) for name, command in EVERY.items()}
FILE_OUTPUTS = [
    (name, out) for name, outputs in OUTPUTS.items() for out, kind in outputs.items() if kind is OUTPUT_FILE
]


@pytest.mark.parametrize("name", EVERY)
def test_writing_option_is_an_output(name: str) -> None:
    options = [parameter for parameter in EVERY[name].params if parameter.param_type_name == "option"]
    for option in options:
        if re.match(r"(\w+ )?file (to write|for)|(new or empty |results )?folder( for|[,;])", option.help or "", re.I):
            assert option.name in OUTPUTS[name], option.name


def test_walk_finds_outputs() -> None:
    assert {"methods", "show", "correlate", "gen parse", "gen show", "agree"} <= {name for name, _ in FILE_OUTPUTS}
    assert len(FILE_OUTPUTS) > 20


def check(name: str, **values: Any) -> None:
    check_output_paths(EVERY[name], dict.fromkeys(OUTPUTS[name]) | values)


@given(
    st.sampled_from(["same", "link", "hard link", "linked folder", "inside"]),
    st.sampled_from(["read before", "read after", "written without a declaration"]),
)
@examples(60)
def test_no_output_is_an_input(tmp_path_factory: pytest.TempPathFactory, kind: str, order: str) -> None:
    folder = tmp_path_factory.mktemp("place")
    (folder / "in").mkdir()
    path = folder / "in" / "read"
    path.write_text("mine")
    (folder / "link").symlink_to(path)
    (folder / "hard").hardlink_to(path)
    (folder / "linked").symlink_to(folder / "in")
    out = {"same": path, "link": folder / "link", "hard link": folder / "hard"}.get(kind, folder / "linked" / "read")
    out = folder / "linked" / "new" if kind == "inside" else out

    def read() -> None:
        if kind == "inside":
            record_input(folder / "in")
        else:
            path.read_text()

    with guarding_inputs():
        steps: list[Callable[[], None]] = [read, lambda: declare_output(out)]
        if order == "written without a declaration":
            steps[1] = lambda: write_atomically(out, "new")
        with pytest.raises(UsageError) as caught:
            for step in steps[::-1] if order == "read after" else steps:
                step()
        write_atomically(folder / "new", "new")
    said = f"lies inside {folder / 'in'}, which is read; write it elsewhere" if kind == "inside" else IS_READ
    assert str(caught.value) == f"{out}: {said}"
    assert sorted(child.name for child in (folder / "in").iterdir()) == ["read"]
    assert path.read_text() == "mine"


def test_own_output_may_be_rewritten(tmp_path: Path) -> None:
    with guarding_inputs():
        for text in ("one", "two"):
            write_atomically(tmp_path / "a", text)
            assert (tmp_path / "a").read_text() == text


def test_input_in_managed_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("seed = 1")
    with guarding_inputs():
        (tmp_path / "run.toml").read_text()
        manage_folder(tmp_path)
        write_atomically(tmp_path / "run.toml", "seed = 2")
    assert (tmp_path / "run.toml").read_text() == "seed = 2"


def test_without_a_command_nothing_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with atomic_path(tmp_path / "a") as temporary:
        temporary.write_text((tmp_path / "a").read_text() + "er")
    assert (tmp_path / "a").read_text() == "older"


NATIVE_READERS = {"read_table", "read_schema", "read_metadata", "ParquetFile", "safe_open", "memory_map"}
"""Functions of libraries that open a path without Python, so that the audit hook does not see it."""
IN_A_RECORDED_FOLDER = {"table.py", "chunks.py"}
"""Modules that read files of a table, whose folder is recorded, and their own temporary files."""


def list_native_reads(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the path in each call of a native reader, but not of a function of the package with the same name."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = {alias.name for node in imports if (node.module or "").startswith("sentprobe") for alias in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("pq" | "pa"), name)) if name in NATIVE_READERS:
                yield node.args[0]
            case ast.Call(ast.Name(name)) if name in NATIVE_READERS - own:
                yield node.args[0]


def test_files_opened_by_libraries_are_recorded() -> None:
    found = 0
    for path in sorted(Path(sentprobe.__file__).parent.rglob("*.py")):
        for argument in list_native_reads(ast.parse(path.read_text("utf-8"))):
            found += 1
            is_recorded = "to_input_path(" in ast.unparse(argument) or ast.unparse(argument).endswith(".stream")
            assert is_recorded or path.name in IN_A_RECORDED_FOLDER, f"{path}: {ast.unparse(argument)}"
    assert found > 8


MARKED = {
    "run.json": '{\n  "format": "sentprobe-run 1"\n}\n',
    "table.json": '{"format": "sentprobe-table 9"}',
    "card.json": '{\n  "format": "sentprobe-dataset 1"}',
    "README.md": f"---\n{README_HEAD}\n---\n",
    "config.json": '{\n  "format": "sentprobe sentence model 2"}',
}


@pytest.mark.parametrize("marker", MARKED)
@pytest.mark.parametrize(("name", "option"), FILE_OUTPUTS)
def test_output_in_results_is_refused(name: str, option: str, marker: str, tmp_path: Path) -> None:
    (tmp_path / "r" / "lm").mkdir(parents=True)
    (tmp_path / "r" / marker).write_text(MARKED[marker])
    with guarding_inputs():
        for out in (tmp_path / "r" / marker, tmp_path / "r" / "new.csv", tmp_path / "r" / "lm" / "x.json"):
            with pytest.raises(UsageError, match=r": lies in (a|the) .*, which probe \w+ made; write it elsewhere"):
                check(name, **{option: out})
        (tmp_path / marker).write_text("the file of another program")
        check(name, **{option: tmp_path / "beside"})


@pytest.mark.parametrize("name", [name for name, kinds in OUTPUTS.items() if [*kinds.values()].count(OUTPUT_FILE) > 1])
def test_no_two_outputs_are_one(name: str, tmp_path: Path) -> None:
    first, second = (option for option, kind in OUTPUTS[name].items() if kind is OUTPUT_FILE)
    (tmp_path / "link").symlink_to(tmp_path / "m")
    for path in (tmp_path / "m", tmp_path / "x" / ".." / "m", tmp_path / "link"):
        with pytest.raises(UsageError, match=f"m?: is the path of --{first} and of --{second}; give each its own"):
            check(name, **{first: tmp_path / "m", second: path})
    check(name, **{first: tmp_path / "m", second: tmp_path / "n"})
    check(name, **{first: Path("/dev/null"), second: Path("/dev/null")})


def test_file_of_standard_input_is_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    saved, file = os.dup(0), os.open(tmp_path / "a", os.O_RDONLY)
    try:
        os.dup2(file, 0)
        with guarding_inputs():
            with pytest.raises(UsageError, match="a: is standard input; the output needs another path"):
                check("gen parse", out=tmp_path / "a")
            check("gen parse", out=tmp_path / "b")
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(file)


MODULE = """
def encode(sentences): return [[float(len(sentence))] for sentence in sentences]
def score(texts): return [float(len(text)) for text in texts]
"""
GATE = ("--contrast", "negation", "--n", 10, "--threshold", 0.5, "-f", "text", "-o")
PAIR = '{"sentence_good": "a b", "sentence_bad": "a c", "UID": "u", "linguistics_term": "t", "pairID": "0"}\n'
LM = ("probe", "lm", "--pairs", "pairs.jsonl")
OVERWRITING: dict[str, tuple[object, ...]] = {
    "sentences": ("gen", "parse", "--file", "y.txt", "-f", "text", "-o", "y.txt"),
    "exclude": ("gen", "--n", 2, "--exclude", "y.txt", "-o", "y.txt"),
    "config of a model": ("probe", "gate", "trained:enc", *GATE, "enc/config.json"),
    "config of a bare model": ("probe", "gate", "./enc", *GATE, "enc/config.json"),
    "config of a transformers model": ("probe", "gate", "hf:hub-model", *GATE, "hub-model/config.json"),
    "new file in a transformers model": ("probe", "gate", "hf:hub-model", *GATE, "hub-model/new.txt"),
    "scores in a transformers model": (*LM, "hf:hub-model", "--scores", "hub-model/a"),
    "new file in a model": ("probe", "gate", "trained:enc", *GATE, "enc/new.txt"),
    "scores": (*LM, "trained:enc", "--scores", "enc/config.json"),
    "pairs": (*LM, "python:own_module:score", "--scores", "pairs.jsonl"),
    "module": ("probe", "gate", "python:own_module", *GATE, "own_module.py"),
    "module of lm": (*LM, "python:own_module:score", "--scores", "own_module.py"),
    "vectors": ("probe", "embed", "y.txt", "-e", "bow:vectors.txt", "-o", "vectors.txt", "--format", "npz"),
    "dataset": ("probe", "audit", "items.jsonl", "-f", "json", "-o", "items.jsonl"),
    "ngram in results": ("probe", "train", "ngram", "--corpus", "y.txt", "-o", "r/run.json"),
    "ngram over its corpus": ("probe", "train", "ngram", "--corpus", "y.txt", "-o", "y.txt"),
    "readme of data": ("gen", "--n", 2, "-f", "text", "-o", "data/README.md"),
    "lm of results": ("gen", "--n", 2, "-o", "r/lm/a.txt"),
    "geometry of results": ("gen", "--n", 2, "-o", "r/geometry/a.txt"),
    "results": ("probe", "show", "r", "-f", "csv", "-o", "r/run.toml"),
}


def read_files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


@pytest.mark.parametrize("case", OVERWRITING)
def test_every_file_stays(case: str, working_folder: Path, run_program: Command) -> None:
    prepare_directory(Path("r"), "seed = 1\n")
    for folder in ("r/lm", "r/geometry", "data", "enc", "hub-model"):
        Path(folder).mkdir()
    contents = {
        "y.txt": "the man slept\nthe men slept\n", "pairs.jsonl": PAIR, "own_module.py": MODULE,
        "vectors.txt": "the 1 2\nman 3 4\n",
        "data/README.md": MARKED["README.md"], "enc/config.json": MARKED["config.json"], "hub-model/config.json": "{}",
        "items.jsonl": "".join(
            f'{{"split": "{split}", "label": "{label}", "sentence": "{label} {n}"}}\n'
            for split in ("train", "test") for n in range(20) for label in "ab"
        ),
    }  # fmt: skip
    for name, text in contents.items():
        Path(name).write_text(text)
    before = read_files(working_folder)
    program, *line = OVERWRITING[case]
    code, out, err = run_program(str(program), *line)
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    refusal = r"(is an input; the output needs another path|lies (in|inside) .*; write it elsewhere)"
    assert re.fullmatch(rf"{program}: {re.escape(str(line[-1 if '--format' not in line else -3]))}: {refusal}", last)
    assert read_files(working_folder) == before


@pytest.mark.usefixtures("working_folder")
def test_output_of_run_file_is_checked(command: Command) -> None:
    Path("a.toml").write_text('out = "a.toml"\n')
    assert command("run", "compeval", "--config", "a.toml") == (2, "", f"probe: a.toml: {IS_READ}\n")


@pytest.mark.usefixtures("working_folder")
def test_methods_writes_two_files(command: Command) -> None:
    prepare_directory(Path("r"), "seed = 1\n")
    said = "m: is the path of --out and of --bib; give each its own"
    assert command("methods", "r", "-o", "m", "--bib", "m") == (2, "", f"probe: {said}\n")
    assert command("show", "other", "-o", "r/run.toml") == (2, "", f"probe: r/run.toml: {IN_RESULTS}\n")


NAMES = [(program, name) for program in ("gen", "probe") for name in COMMANDS[program]]
NAMES.append(("sentprobe", "gen"))


@cache
def loaded(program: str, name: str) -> tuple[Any, Any]:
    """Return a command, and a context in which it reads a command line."""
    command = load_command(program, name)
    return command, command.make_context(name, [], resilient_parsing=True)


def spellings(options: list[Any]) -> list[list[str]]:
    return [option.opts for option in options]


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_single_option_is_refused_twice(program: str, name: str) -> None:
    command, context = loaded(program, name)
    for names in spellings(list_single_valued_options(command, context)):
        long = max(names, key=len)
        for again in names:
            with pytest.raises(UsageError) as caught:
                reject_repeated_options(command, context, [long, "1", again, "2"])
            assert str(caught.value) == f"{long} is given twice, but takes one value"


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_switches_and_lists_may_be_repeated(program: str, name: str) -> None:
    command, context = loaded(program, name)
    for parameter in command.get_params(context):
        if parameter.param_type_name == "option" and (parameter.is_flag or parameter.multiple):
            value = ["1"] * (not parameter.is_flag)
            reject_repeated_options(command, context, [parameter.opts[0], *value] * 2)


@given(st.data())
@examples(40)
def test_each_option_once_is_valid(data: st.DataObject) -> None:
    command, context = loaded(*data.draw(st.sampled_from(NAMES)))
    names = [max(item.opts) for item in list_single_valued_options(command, context)] or [""]
    arguments = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=5))
    line = [word for name in arguments if name for word in (name, "1")]
    reject_repeated_options(command, context, line)
    if line:
        with pytest.raises(UsageError):
            reject_repeated_options(command, context, [*line, data.draw(st.sampled_from(arguments)), "1"])


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("gen -n 3 --n 4", "--n"),
        ("gen --seed 1 --seed 1", "--seed"),
        ("gen templates --lexicon a --lexicon b", "--lexicon"),
        ("probe show x --by voice --by clause", "--by"),
        ("probe build compeval --train 9 --out x --train 8", "--train"),
        ("probe cache clear -e x --encoder y", "--encoder"),
    ],
)
def test_repeated_option_is_refused(line: str, option: str, run_program: Command) -> None:
    program = line.split(maxsplit=1)[0]
    expected = (2, "", f"{program}: {option} is given twice, but takes one value\n")
    assert run_program(*line.split()) == expected


def test_help_and_switches_may_be_repeated(command: Command) -> None:
    code, out, err = command("show", "x", "--by", "voice", "--by", "clause", "--help")
    assert (code, "probe show" in out, err) == (0, True, "")
    code, _, err = command("show", "none", "--intervals", "--intervals")
    assert (code, err) == (2, "probe: none: no such folder of results\n")


Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, run_program: Command) -> Complete:
    """A function that returns what bash offers for the last word of a line."""

    def run(line: str) -> list[str]:
        program = line.partition(" ")[0]
        monkeypatch.setenv(f"_{program.upper()}_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        code, out, err = run_program(program)
        assert (code, err) == (0, "")
        return out.split()

    return run


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gen p", ["parse", "pairs"]),
        ("gen --tense p", ["past", "pres"]),
        ("gen --vocabulary c", ["compeval"]),
        ("gen parse --format c", ["conllu"]),
        ("gen --template nothing-like-it", []),
        ("sentprobe g", ["gen", "geometry", "gate"]),
        ("sentprobe gen p", ["parse", "pairs"]),
        ("sentprobe gen parse --format c", ["conllu"]),
        ("sentprobe run c", ["compeval"]),
        ("probe c", ["compare", "check", "correlate", "cache"]),
        ("probe build n", ["natural"]),
        ("probe run c", ["compeval"]),
        ("probe run ./c", []),
        ("probe run compeval --encoder b", ["bow", "bilstm-last", "bilstm-max", "bilstm-att"]),
        ("probe run compeval -e s", ["st:", "skipthought:", "sdae:"]),
        ("probe run compeval --probe-vectors o", ["one-hot", "openai:"]),
        ("probe run compeval --sampling p", ["paper"]),
        ("probe build compeval --hold-out-structure pa", ["passive", "past"]),
        ("probe show run --by at", ["attractors"]),
        ("probe run compeval --preset a", ["adi"]),
        ("probe run compeval --pre", ["--preset"]),
        ("probe show --format m", ["markdown", "mteb"]),
        ("probe embed data -e t", ["tree-lstm", "trained:", "tfidf"]),
    ],
)
def test_completion_offers_words(line: str, words: list[str], complete: Complete) -> None:
    assert complete(line) == words


def test_completion_offers_all_names(complete: Complete) -> None:
    for program, commands in COMMANDS.items():
        assert complete(f"{program} ") == list(commands)
    suites = {task.suite for task in list_tasks()} - {"compeval", "structure"}
    tasks = complete("probe run compeval --task ")
    assert sorted(tasks) == sorted([*(task.name for task in list_tasks()), *suites])
    assert complete("gen -t ") == list(list_template_names(deep=True))
    assert complete("probe run compeval --device ") == list(DEVICES)
    assert complete("probe run compeval --sampling ") == [*Sampling]
    assert complete("probe build ") == list(SUITES)
    vectors = complete("probe run compeval --probe-vectors ")
    assert vectors[:2] == [ONE_HOT, ENCODER_WORDS]
    assert complete("probe run compeval --preset ") == [preset.name for preset in PRESETS]
    kinds = complete("probe run compeval -e ")
    assert [word.rstrip(":") for word in kinds] == [kind.name for kind in ENCODERS]
    for name in complete("probe build compeval --format "):
        check_format(name)


@given(st.text(max_size=5), st.lists(st.text(max_size=5)))
def test_completion_begins_with_typed_text(typed: str, names: list[str]) -> None:
    actual = output_paths.build_completer(lambda: names)(typed)
    assert all(name.startswith(typed) for name in actual)
    assert output_paths.build_completer(lambda: names)("") == names


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("program", COMMANDS)
def test_script_for_a_shell(program: str, shell: str, monkeypatch: pytest.MonkeyPatch, run_program: Command) -> None:
    monkeypatch.setenv(f"_{program.upper()}_COMPLETE", f"source_{shell}")
    code, out, err = run_program(program)
    assert (code, err) == (0, "")
    assert f"_{program.upper()}_COMPLETE=complete_{shell}" in out


def test_completion_imports_nothing_heavy() -> None:
    code = (
        "import sys, os\nfrom sentprobe.cli import probe\n"
        "os.environ |= {'_PROBE_COMPLETE': 'complete_bash', 'COMP_CWORD': '4',"
        " 'COMP_WORDS': 'probe run compeval -e b'}\n"
        "try: probe()\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'pyarrow', 'duckdb', 'nltk'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""


OUT_OPTIONS = [(name, kind) for name, outputs in OUTPUTS.items() for out, kind in outputs.items() if out == "out"]


@pytest.mark.parametrize(("name", "kind"), OUT_OPTIONS)
def test_dash_is_standard_output(name: str, kind: output_paths.Output) -> None:
    """It is read where all commands parse their words, so no command writes a file of this name."""
    values: dict[str, Any] = dict.fromkeys(inspect.signature(EVERY[name].callback).parameters)
    values["out"] = Path("-")
    if kind is OUTPUT_FILE:
        find_standard_output(EVERY[name], values)
        assert values["out"] is None
    else:
        with pytest.raises(UsageError, match=r"^--out -: a folder is expected, and - is standard output$"):
            find_standard_output(EVERY[name], values)


def run_in_pipe(*arguments: str) -> bytes:
    """Run a command of ``sentprobe`` in a process of its own; return its standard output, bytes of which may be any."""
    code = "from sentprobe.cli import sentprobe; sentprobe()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False)
    assert (done.returncode, Path("-").exists()) == (0, False), done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("working_folder")
def test_dash_gives_the_bytes_of_a_file() -> None:
    Path("s.txt").write_text("the man slept\nthe doctor slept\n")
    for line in (("gen", "-n", "3"), ("gen", "pairs", "-c", "role"), ("gen", "minimal", "-p", "transitive"),
                 ("gen", "parse", "the man slept", "-f", "jsonl"), ("gate", "bow?dim=4", "-c", "role", "-f", "json"),
                 ("embed", "s.txt", "-e", "bow?dim=4", "--format", "npy"),
                 ("embed", "s.txt", "-e", "bow?dim=4", "--format", "lookup")):  # fmt: skip
        suffix = line[-1] if line[-2] in ("-f", "--format") else "txt" if line[1] == "-n" else "jsonl"
        shown = run_in_pipe(*line, "--out", "-")
        run_in_pipe(*line, "-o", f"out.{suffix}")
        written = Path(f"out.{suffix}").read_bytes()
        if line[0] != "gate":  # which says how fast it was
            assert shown == written
        assert len(shown) > 20


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gen -n 1 -f parquet", "Parquet cannot be written to standard output; name a file with --out"),
        ("gen minimal -p transitive -f lm-eval", "the format lm-eval cannot be written to standard output"),
        ("run compeval", "--out -: a folder is expected, and - is standard output"),
        ("gen retrieval -c role", "--out -: a folder is expected, and - is standard output"),
        ("embed compeval -e bow", "--out - is standard output, which has no suffix: choose the format by --format"),
    ],
)
def test_dash_is_refused_where_nothing_can_be_printed(line: str, message: str, working_folder: Path) -> None:
    code = "from sentprobe.cli import sentprobe; sentprobe()"
    arguments = [sys.executable, "-c", code, *line.split(), "-o", "-"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert [*working_folder.iterdir()] == []
