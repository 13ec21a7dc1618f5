"""The command ``probe encoders``: what it lists, and that it says which extras are missing."""

import json
import subprocess
import sys

import pytest
from in_process import probe

from sentprobe.commands.encoders import extra_text, list_encoders
from sentprobe.probes.encoders import ENCODERS


def test_the_table_has_each_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = probe("encoders", monkeypatch=monkeypatch, capsys=capsys)
    assert (code, err) == (0, "")
    for kind in ENCODERS:
        assert kind.example in out
        assert kind.summary in out


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = probe("encoders", "--format", "json", monkeypatch=monkeypatch, capsys=capsys)
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
    rows = {row.name: row for row in list_encoders()}
    assert extra_text(rows["st"]) == "sentence-transformers: not installed"
    assert extra_text(rows["file"]) == "none needed"


def test_unknown_format(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = probe("encoders", "--format", "jsn", monkeypatch=monkeypatch, capsys=capsys)
    assert (code, out) == (2, "")
    assert err == "probe: unknown format 'jsn' (did you mean 'json'?); known: text, json\n"


def test_nothing_heavy_is_imported_to_list_them() -> None:
    script = (
        "import sys\nfrom sentprobe.commands.encoders import encoders\n"
        "encoders()\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'pyarrow', 'gensim', 'transformers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
