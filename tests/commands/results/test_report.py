"""The page of ``probe show`` and ``probe report``, and plots."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers.in_process import Command
from helpers.runs.made_audits import make_audit, write_audit_file
from helpers.runs.shown_runs import LAYERS, TagChecker, write_run
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.common.errors import format_install
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.results.result import Condition, Provenance


def test_report(first: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "report.html"
    assert command("show", first, "-f", "html", "-o", out)[:2] == (0, "")
    page = TagChecker()
    page.feed(out.read_text("utf-8"))
    assert page.open == []
    assert {"st<b>", "69.0", "bag of words (dim 3) on Order", "at chance"} <= set(page.texts)
    assert "http" not in out.read_text("utf-8").replace("http-equiv", "")


def test_the_short_name(first: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for options in ((), ("--intervals", "--all-rows"), ("--by-length", "tokens", "--published")):
        _, page, _ = command("show", first, "-f", "html", *options)
        assert command("report", first, *options) == (0, "report: report.html\n", "")
        assert (tmp_path / "report.html").read_text("utf-8") == page
    assert command("report", first, "-o", "other.htm")[0] == 0
    assert (tmp_path / "other.htm").exists()


def test_a_report_is_a_page(first: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "report.md"
    code, stdout, stderr = command("report", first, "--out", out)
    assert (code, stdout) == (2, "")
    assert stderr.endswith("report.md: a report is an .html file; probe show writes other formats\n")
    assert not out.exists()


def test_an_audit_is_on_the_page(first: Path, tmp_path: Path, command: Command) -> None:
    audit = write_audit_file(tmp_path / "audit.json", make_audit(leaks=True))
    out = tmp_path / "report.html"
    assert command("report", first, "--audit", audit, "--out", out) == (0, f"report: {out}\n", "")
    page = out.read_text("utf-8")
    assert command("show", first, "--audit", audit, "-f", "html")[1] == page
    assert "<h2>What surface cues achieve</h2>" in page
    assert "Order: LEAK: length and probe gives 62.0%" in page
    tags = TagChecker()
    tags.feed(page)
    assert tags.open == []


def test_an_audit_that_is_none(first: Path, tmp_path: Path, command: Command) -> None:
    audit = tmp_path / "audit.json"
    audit.write_text("[{}]")
    message = f"probe: {audit}: not the output of probe audit --format json ('format')\n"
    assert command("report", first, "--audit", audit) == (1, "", message)
    message = "probe: --audit is for the page: add --format html\n"
    assert command("show", first, "--audit", audit) == (2, "", message)
    arguments = command("show", first, "--audit", audit, "--by", "label")
    assert arguments == (2, "", "probe: --audit and --by cannot be combined: omit one of them\n")


def test_a_failed_sanity_run_stands_at_the_top(tmp_path: Path, command: Command) -> None:
    failed = make_sample_result("bow", "Order", 600, 620, 505, 500, mirrored=True)
    page = command("show", write_run(tmp_path / "run", failed), "-f", "html")[1]
    top, _, remaining = page.partition("<table")
    assert "Before you believe the table" in top
    assert "1 of 3 controls that must be at chance is outside the interval" in top
    assert "do not believe that column" in top
    assert '<details class="bad"' in remaining
    assert "controls: 2 of 3 that must be at chance are at chance, not random sentences" in remaining


def test_sound_sanity_runs_are_folded(first: Path, command: Command) -> None:
    page = command("show", first, "-f", "html")[1]
    assert "Before you believe" not in page
    assert '<details class="good">' in page
    assert "</span> controls: 6 of 6 that must be at chance are at chance</summary>" in page


def test_how_to_do_it_again(tmp_path: Path, command: Command) -> None:
    hostile = "probe run x\nrm -rf y"
    run = write_run(tmp_path / "run", replace(make_sample_result("bow\nrm", "Order", 600), command=hostile))
    page = command("show", run, "-f", "html")[1]
    (redo,) = re.findall(r'<pre id="redo">(.*?)</pre>', page, re.DOTALL)
    lines = re.sub("<[^>]*>", "", redo).split("\n")[1:-1]
    assert lines[0] == "probe run x rm -rf y"
    assert all(line.startswith("# ") for line in lines[1:])
    assert any(line.startswith("# data of Order, seed 0: ") for line in lines)
    assert any(line.startswith("# vectors of bow rm: ") for line in lines)


def test_the_report_has_each_classifier_once(first: Path, tmp_path: Path, command: Command) -> None:
    changed = override(find_preset("ettinger"), [("batch", "64")])
    again = write_run(tmp_path / "again", make_sample_result("bow", "Order", 600))
    other_run = write_run(tmp_path / "other", replace(make_sample_result("bow", "Order", 600), preset=changed))
    page = TagChecker()
    page.feed(command("show", first, again, other_run, "-f", "html")[1])
    texts = [text for text in page.texts if text.startswith("classifier: ")]
    assert texts == [
        "classifier: ettinger",
        "classifier: ettinger with batch=64",
        f"classifier: {find_preset('ettinger')}",
        f"classifier: {changed}",
    ]


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "html"])
def test_baselines_alone_name_no_classifier(style: str, tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", replace(make_sample_result("length", "Order", 600), dim=0))
    code, out, _ = command("show", run, "-f", style)
    assert code == 0
    assert "Accuracy in % on 1000 test items" in out.replace("\\", "")
    assert "ettinger" not in out


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "html"])
def test_a_run_without_sanity_runs_says_so(style: str, tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_sample_result("bow", "Order", 600))
    out = command("show", run, "-f", style, "--notes")[1]
    assert "No controls were run (--no-controls), so nothing tests these figures" in out
    assert "Probes were trained in float32." in out
    if style == "html":
        assert "controls: none were run</summary>" in out
        assert "Before you believe the table" in out


def test_commands_and_versions_of_later_seeds_are_in_the_report(tmp_path: Path, command: Command) -> None:
    result = replace(make_sample_result("bow", "Order", 600, seeds=2), command="probe run one")
    score = result.scores[Condition.PROBE]
    built = Provenance("probe run two", {"numpy": "9.9"}, "cpu")
    later = replace(score, seeds=(score.seeds[0], replace(score.seeds[1], provenance=built)))
    run = write_run(tmp_path / "run", replace(result, scores={Condition.PROBE: later}))
    page = TagChecker()
    page.feed(command("show", run, "-f", "html")[1])
    assert {"probe run one", "probe run two", "numpy 9.9"} <= set(page.texts)


def test_plot_of_layers(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *LAYERS)
    plots = [tmp_path / name for name in ("plot.svg", "again.svg", "plot.png", "plot.pdf")]
    for plot in plots:
        assert command("show", run, "--plot", plot)[0] == 0
    svg, again, png, pdf = (plot.read_bytes() for plot in plots)
    assert svg == again
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert png.startswith(b"\x89PNG")
    assert pdf.startswith(b"%PDF")
    _, page, _ = command("show", run, "-f", "html")
    assert "<svg" in page
    assert page.index("<svg") < page.index("<figcaption>Accuracy of the probe by layer")
    assert "<?xml" not in page


def test_a_plot_is_of_one_setting(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *LAYERS)
    other_run = write_run(tmp_path / "other", *(replace(result, seed=1) for result in LAYERS))
    plot = tmp_path / "plot.svg"
    code, _, stderr = command("show", run, other_run, "--plot", plot)
    assert code == 2
    assert "there are 2 settings with layers" in stderr
    assert not plot.exists()
    assert command("show", run, run, "--plot", plot)[0] == 0


def test_without_the_extra_a_plot_is_svg(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path / "run", *LAYERS)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert command("show", run, "--plot", tmp_path / "plot.svg")[0] == 0
    for name in ("plot.png", "plot.pdf"):
        code, _, stderr = command("show", run, "--plot", tmp_path / name)
        assert (code, (tmp_path / name).exists()) == (2, False)
        assert stderr == (f"probe: a plot as PNG or PDF needs the extra (SVG does not): {format_install('plots')}\n")
