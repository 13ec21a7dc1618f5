"""The command ``probe methods``."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.reviewed_runs import SOUND
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import make_sample_result

EVIL = "a_b%\\x{}~^#$&\x1b[2J*|"


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return write_run(tmp_path / "sound", *SOUND.records)


def test_a_paragraph_and_its_references(sound: Path, command: Command) -> None:
    code, out, err = command("methods", sound)
    assert (code, err) == (0, "")
    assert out.startswith("With sentprobe we probed good (3 dimensions")
    assert re.findall(r"^@\w+\{(\w+),$", out, re.MULTILINE) == [
        "sentprobe", "ettinger2018", "kingma2015", "smyth2004",
    ]  # fmt: skip


def test_markdown(sound: Path, command: Command) -> None:
    out = command("methods", sound, "-f", "markdown")[1]
    assert "(Ettinger et al. 2018)" in out
    assert "\n```bibtex\n@misc{sentprobe,\n" in out
    assert out.endswith("}\n```\n")


def test_latex_cites_and_its_bibtex_is_in_comments(sound: Path, command: Command) -> None:
    out = command("methods", sound, "-f", "latex")[1]
    assert r"The task is Order~\cite{ettinger2018}." in out
    assert r"is 50.0 (in \%)" in out
    assert "% @misc{sentprobe,\n" in out
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", out) for key in keys.split(",")}
    assert cited == set(re.findall(r"^% @\w+\{(\w+),$", out, re.MULTILINE))


def test_bibtex_in_a_file_of_its_own(sound: Path, tmp_path: Path, command: Command) -> None:
    bib, tex = tmp_path / "run.bib", tmp_path / "run.tex"
    assert command("methods", sound, "--bib", bib, "--out", tex) == (0, "", "")
    assert "@" not in tex.read_text("utf-8")
    assert r"\cite{sentprobe}" in tex.read_text("utf-8")
    both = command("methods", sound)[1]
    assert both.endswith(bib.read_text("utf-8"))


def test_names_mean_nothing_to_latex(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", replace(make_sample_result("m", "Order", 600), encoder=EVIL, task=EVIL))
    assert r"a_b%\x{}~^#$&\x1b[2J*|" in command("methods", run)[1]
    out = command("methods", run, "-f", "latex")[1]
    text = re.sub(r"^%.*$|~?\\cite\{\w+\}|\\text\w+\{\}|\{[][]\}", "", out, flags=re.MULTILINE)
    assert not re.search(r"(?<!\\)[&%$#_~^{}]", text)
    assert "\x1b" not in out


@pytest.mark.parametrize("style", ["csv", "json", "html"])
def test_other_formats_are_refused(sound: Path, command: Command, style: str) -> None:
    message = f"probe: a paragraph has no format {style!r}; known: text, markdown, latex\n"
    assert command("methods", sound, "-f", style) == (2, "", message)


def test_a_folder_without_results(tmp_path: Path, command: Command) -> None:
    empty = write_run(tmp_path / "empty")
    assert command("methods", empty) == (2, "", f"probe: {empty}: no results of probes or language models yet\n")
