"""Shell completion of options and arguments."""

import subprocess
import sys

import pytest
from helpers.in_process import run_command
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.cli import COMMANDS
from sentprobe.commands.lists import list_tasks
from sentprobe.commands.shared import output_paths
from sentprobe.common.specs import DEVICES, SUITES
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.probes.classifier.presets import PRESETS
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT, Sampling
from sentprobe.probes.datasets.formats import check_format
from sentprobe.probes.encoders.kinds import ENCODERS


def offered(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what bash offers for the last word of *line*."""
    program = line.partition(" ")[0]
    monkeypatch.setenv(f"_{program.upper()}_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    code, out, err = run_command(program, monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (0, "")
    return out.split()


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
        ("probe run compeval --encoder b", ["bow", "bilstm-last", "bilstm-max"]),
        ("probe run compeval -e s", ["st:", "skipthought:", "sdae:"]),
        ("probe run compeval --probe-vectors o", ["one-hot", "openai:"]),
        ("probe run compeval --sampling p", ["paper"]),
        ("probe build compeval --hold-out-structure pa", ["passive", "past"]),
        ("probe show run --by at", ["attractors"]),
        ("probe run compeval --preset a", ["adi"]),
        ("probe run compeval --pre", ["--preset"]),
        ("probe show --format m", ["markdown", "mteb"]),
        ("probe embed data -e t", ["trained:", "tfidf"]),
    ],
)
def test_what_is_offered(
    line: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert offered(line, monkeypatch, capsys) == words


def test_everything_is_offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for program, commands in COMMANDS.items():
        assert offered(f"{program} ", monkeypatch, capsys) == list(commands)
    suites = {task.suite for task in list_tasks()} - {"compeval", "structure"}
    tasks = offered("probe run compeval --task ", monkeypatch, capsys)
    assert sorted(tasks) == sorted([*(task.name for task in list_tasks()), *suites])
    assert offered("gen -t ", monkeypatch, capsys) == list(list_template_names(deep=True))
    assert offered("probe run compeval --device ", monkeypatch, capsys) == list(DEVICES)
    assert offered("probe run compeval --sampling ", monkeypatch, capsys) == [*Sampling]
    assert offered("probe build ", monkeypatch, capsys) == list(SUITES)
    vectors = offered("probe run compeval --probe-vectors ", monkeypatch, capsys)
    assert vectors[:2] == [ONE_HOT, ENCODER_WORDS]
    assert offered("probe run compeval --preset ", monkeypatch, capsys) == [preset.name for preset in PRESETS]
    kinds = offered("probe run compeval -e ", monkeypatch, capsys)
    assert [word.rstrip(":") for word in kinds] == [kind.name for kind in ENCODERS]
    for name in offered("probe build compeval --format ", monkeypatch, capsys):
        check_format(name)


@given(st.text(max_size=5), st.lists(st.text(max_size=5)))
def test_what_is_offered_begins_with_what_is_typed(typed: str, names: list[str]) -> None:
    actual = output_paths.build_completer(lambda: names)(typed)
    assert all(name.startswith(typed) for name in actual)
    assert output_paths.build_completer(lambda: names)("") == names


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("program", COMMANDS)
def test_the_script_for_a_shell(
    program: str, shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"_{program.upper()}_COMPLETE", f"source_{shell}")
    code, out, err = run_command(program, monkeypatch=monkeypatch, capture=capsys)
    assert (code, err) == (0, "")
    assert f"_{program.upper()}_COMPLETE=complete_{shell}" in out


def test_it_answers_without_pytorch() -> None:
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
