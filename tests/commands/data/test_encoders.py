"""The command ``probe encoders``: the list of kinds and of missing extras."""

import json
import subprocess
import sys

import pytest
from helpers.in_process import Command

from sentprobe.commands.lists import describe_extra
from sentprobe.probes.encoders.kinds import ENCODERS


def test_the_table_has_each_kind(command: Command) -> None:
    code, out, err = command("encoders")
    assert (code, err) == (0, "")
    for kind in ENCODERS:
        assert kind.example in out
        assert kind.summary in out


def test_json(command: Command) -> None:
    code, out, _ = command("encoders", "--format", "json")
    assert code == 0
    entries = {entry["name"]: entry for entry in json.loads(out)}
    assert list(entries) == [kind.name for kind in ENCODERS]
    assert entries["bow"]["argument"] == "optional"
    assert entries["bow"]["extra"] == "gensim"
    assert entries["file"] == {
        "name": "file",
        "example": "file:vectors.npz",
        "summary": next(kind.summary for kind in ENCODERS if kind.name == "file"),
        "argument": "required",
        "extra": "",
        "extra_for": "",
        "installed": True,
    }


def test_a_missing_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    rows = {row.name: row for row in ENCODERS}
    assert describe_extra(rows["st"]) == "sentence-transformers: not installed"
    assert describe_extra(rows["file"]) == "none needed"


def test_unknown_format(command: Command) -> None:
    code, out, err = command("encoders", "--format", "jsn")
    assert (code, out) == (2, "")
    assert err == "probe: there is no format 'jsn' (did you mean 'json'?); known: text, json\n"


def test_nothing_heavy_is_imported_to_list_them() -> None:
    script = (
        "import sys\nfrom sentprobe.commands.lists import encoders\n"
        "encoders()\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'pyarrow', 'gensim', 'transformers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
