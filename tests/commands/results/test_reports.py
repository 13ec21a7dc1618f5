"""The commands ``probe check``, ``methods``, ``correlate`` and ``report``."""

import csv
import io
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.made_audits import make_audit, write_audit_file
from helpers.runs.reviewed_runs import SOUND, change_encoder, round_probes
from helpers.runs.shown_runs import LAYERS, TagChecker, split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result
from syrupy.assertion import SnapshotAssertion

from sentprobe.commands.shared.shown_results import build_sides
from sentprobe.common.errors import format_install
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.reports.correlations import correlate_tasks, read_scores
from sentprobe.probes.reports.pages.panels import HeatPanel
from sentprobe.probes.reports.pages.plot_files import draw_heat_map
from sentprobe.probes.results.result import Condition, Provenance
from sentprobe.probes.results.store import read_results

EVIL = "bow\x1b[2J*<b>|"
SEVERE = change_encoder(lambda _: make_sample_result("poor", "Order", 700, mirrored=True), encoder="poor")


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return write_run(tmp_path / "sound", *SOUND.records)


def test_run_without_a_fault(sound: Path, command: Command) -> None:
    assert command("check", sound) == (0, "0 severe, 0 warnings, 0 notes, by 17 checks\n", "")
    assert command("check", sound, "-f", "json") == (0, "[]\n", "")


def test_warning_is_no_failure(tmp_path: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    run = write_run(tmp_path / "run", *change_encoder(round_probes, encoder="poor").records)
    code, out, err = command("check", run)
    assert (code, err) == (0, "")
    assert out == stored_text


def test_severe_finding_is_a_failure(tmp_path: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    run = write_run(tmp_path / "run", *SEVERE.records)
    code, out, err = command("check", run)
    assert (code, err) == (1, "")
    assert out == stored_text


@pytest.mark.parametrize("style", ["text", "markdown", "json"])
def test_written_review_equals_printed(tmp_path: Path, command: Command, style: str) -> None:
    run = write_run(tmp_path / "run", *SEVERE.records)
    code, out, _ = command("check", run, "-f", style)
    assert code == 1
    path = tmp_path / {"text": "x.txt", "markdown": "x.md", "json": "x.json"}[style]
    assert command("check", run, "--out", path) == (1, "", "")
    assert path.read_text("utf-8") == out


def test_records_have_everything(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *SEVERE.records)
    text = command("check", run)[1]
    for record in json.loads(command("check", run, "-f", "json")[1]):
        assert [*record] == ["severity", "check", "table", "task", "encoder", "draw", "says",
                             "figures", "advice"]  # fmt: skip
        for stderr_line in (record["says"], *record["figures"], record["advice"]):
            assert stderr_line in text


def test_names_are_text(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_sample_result(EVIL, "Order", 520, mirrored=True))
    assert r"bow\x1b[2J*<b>|" in command("check", run)[1]
    assert r"bow\\x1b\[2J\*\<b>\|" in command("check", run, "-f", "markdown")[1]


def test_several_runs_are_one(sound: Path, tmp_path: Path, command: Command) -> None:
    first = write_run(tmp_path / "first", *SOUND.records[:3])
    second = write_run(tmp_path / "second", *SOUND.records[3:])
    assert command("check", first, second) == command("check", sound)


EVIL_LATEX = "a_b%\\x{}~^#$&\x1b[2J*|"


@pytest.mark.parametrize("style", ["text", "markdown"])
def test_methods_paragraph(style: str, sound: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    code, out, err = command("methods", sound, "-f", style)
    assert (code, err) == (0, "")
    assert out == stored_text


def test_methods_in_latex_cites_its_bibtex(sound: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    out = command("methods", sound, "-f", "latex")[1]
    assert out == stored_text
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
    run = write_run(
        tmp_path / "run", replace(make_sample_result("m", "Order", 600), encoder=EVIL_LATEX, task=EVIL_LATEX)
    )
    assert r"a_b%\x{}~^#$&\x1b[2J*|" in command("methods", run)[1]
    out = command("methods", run, "-f", "latex")[1]
    text = re.sub(r"^%.*$|~?\\cite\{\w+\}|\\text\w+\{\}|\{[][]\}", "", out, flags=re.MULTILINE)
    assert not re.search(r"(?<!\\)[&%$#_~^{}]", text)
    assert "\x1b" not in out


ENCODERS = ("bow", "st:models/mini?batch=8", "lstm", "conv")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Order by encoder: 60, 70, 80, 90; SemRole: 90, 50, 60, 55."""
    results = [
        make_sample_result(encoder, task, correct)
        for task, counts in (("Order", (600, 700, 800, 900)), ("SemRole", (900, 500, 600, 550)))
        for encoder, correct in zip(ENCODERS, counts, strict=True)
    ]
    return write_run(tmp_path / "run", *results)


def scores_file(tmp_path: Path, *lines: str, name: str = "scores.csv") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return scores_file(tmp_path, "encoder,STS,MR", "conv,4.5,", "lstm,3,7", "org/mini,2,1", "bow,1,9", "other,5,5")


@pytest.mark.usefixtures("working_folder", "run", "scores")
def test_correlations_are_shown(command: Command, stored_text: SnapshotAssertion) -> None:
    code, out, err = command("correlate", "run", "--with", "scores.csv")
    assert (code, err) == (0, "")
    assert split_rows(out)[1][2].startswith("-0.50 [")  # of 9, 1, 7 by 60, 70, 80
    assert out == stored_text


def test_records(run: Path, scores: Path, command: Command) -> None:
    code, out, err = command("correlate", run, "--with", scores, "-f", "json")
    assert code == 0
    assert err.startswith("probe: warning: 3 encoders are few")
    first, *_ = records = json.loads(out)
    assert (first["task"], first["score"], first["encoders"]) == ("Order", "STS", 4)
    assert first["rho"] == pytest.approx(1)
    assert first["uncorrected_p"] == pytest.approx(2 / 24)
    assert first["p"] == pytest.approx(4 * 2 / 24)
    plain = command("correlate", run, "--with", scores, "-f", "csv", "--correction", "none")[1]
    read = list(csv.DictReader(io.StringIO(plain)))
    assert [record["p"] for record in read] == [str(record["uncorrected_p"]) for record in records]


def test_same_seed_gives_the_same_bytes(run: Path, scores: Path, command: Command) -> None:
    arguments = ("correlate", run, "--with", scores, "-f", "markdown")
    assert command(*arguments)[1] == command(*arguments)[1]
    assert command(*arguments, "--seed", 1)[0] == 0


def test_folder_of_mteb(run: Path, tmp_path: Path, command: Command) -> None:
    root = tmp_path / "mteb" / "results"
    for model, score in (("bow", 0.1), ("models__mini", 0.2), ("lstm", 0.3), ("conv", 0.4)):
        folder = root / model / "rev"
        folder.mkdir(parents=True)
        (folder / "model_meta.json").write_text("{}")
        parts = [{"main_score": score - 0.05}, {"main_score": score + 0.05}]
        message = {"task_name": "STSX", "scores": {"test": parts, "dev": []}}
        (folder / "STSX.json").write_text(json.dumps(message))
    out = check_success(command("correlate", run, "--with", tmp_path / "mteb"))
    assert split_rows(out)[:2] == [["task", "STSX"], ["Order", "1.00 [1.00, 1.00]"]]
    again = root / "bow" / "rev2"
    again.mkdir()
    (again / "STSX.json").write_bytes((root / "bow" / "rev" / "STSX.json").read_bytes())
    code, _, err = command("correlate", run, "--with", root)
    assert (code, err.count("\n")) == (1, 1)
    assert "bow has two scores on STSX; keep the folder of one revision" in err
    for value in ('"0.5"', "500", "-1.01", "true", "null"):
        (again / "STSX.json").write_text(f'{{"task_name": "x", "scores": {{"test": [{{"main_score": {value}}}]}}}}')
        code, _, err = command("correlate", run, "--with", root)
        assert code == 1
        assert f"STSX.json: main_score is {value}; a number from -1 to 1 is expected" in err
    (again / "STSX.json").write_text('{"task_name": "x"}')
    err = command("correlate", run, "--with", root)[2]
    assert "STSX.json: not a result of MTEB: it needs 'task_name' and 'scores' with" in err


@pytest.mark.parametrize(
    ("lines", "code", "message"),
    [
        (["encoder,A", "bow,1"], 2, "scores of 1 of the 4 encoders of"),
        (["encoder,A"], 2, "that must match those of encoders: none"),
        (["encoder,A", "bow,x"], 1, "line 2, A: 'x' is not a score; a number is expected"),
        (["encoder,A", "bow,1_0"], 1, "line 2, A: '1_0' is not a score; a number is expected"),
        (["encoder,A", "bow,inf"], 1, "line 2, A: 'inf' is not a score"),
        (["encoder,A", "bow,1", "bow,2"], 1, "line 3: the encoder 'bow' occurs twice"),
        (["encoder,A", ",1"], 1, "line 2: the encoder has no name"),
        (["encoder,A", "bow"], 1, "line 2: 1 fields; the first line has 2"),
        (["encoder,A,A", "bow,1,2"], 1, "names 'A' twice"),
        (["encoder,,B", "bow,1,2"], 1, "has a column without a name"),
        (["encoder", "bow"], 1, "the first line names no task"),
        ([], 1, "the first line names no task"),
    ],
)
def test_correlate_refuses_scores(lines: list[str], code: int, message: str, tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *(make_sample_result(encoder, "Order", 600) for encoder in ENCODERS))
    check_refusal(command("correlate", run, "--with", scores_file(tmp_path, *lines)), message, code)


def test_correlate_uses_one_of_several_tables(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    changed = [replace(result, preset=replace(result.preset, patience=3)) for result in read_results(run).records]
    line = ("correlate", run, write_run(tmp_path / "other", *changed), "--with", scores)
    check_refusal(command(*line), "choose one of its 2 tables, as probe show numbers them, with --table")
    check_refusal(command(*line, "--table", 3), "has the tables 1 to 2, and no table 3")
    assert command(*line, "--table", 2)[0] == 0


def test_heat_map(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "heat.svg"
    assert command("correlate", run, "--with", scores, "--plot", path)[0] == 0
    first = path.read_bytes()
    assert b"<svg" in first
    assert command("correlate", run, "--with", scores, "--plot", path)[0] == 0
    assert path.read_bytes() == first


def test_heat_map_has_figures(run: Path, scores: Path) -> None:
    actual = correlate_tasks(
        build_sides(read_results(run), "run", None), read_scores(scores), source="run", scores_source="scores"
    )
    (panel,) = draw_heat_map(actual).panels
    assert isinstance(panel, HeatPanel)
    texts = [[cell.text for cell in row] for row in panel.cells]
    assert texts == [["1.00", "-0.50"], ["-0.40", "1.00"]]
    assert (panel.rows, panel.columns) == (("Order", "SemRole"), ("STS", "MR"))
    assert panel.cells[0][0].fill == panel.colours[0][1]


def test_overlapping_runs_count_once(run: Path, scores: Path, tmp_path: Path, command: Command) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    alone = command("correlate", run, "--with", scores, "-f", "csv")[1]
    assert command("correlate", run, copy, "--with", scores, "-f", "csv")[1] == alone


def test_score_of_few_encoders_is_named(tmp_path: Path, command: Command) -> None:
    names = [f"e{n}" for n in range(12)]
    run = write_run(tmp_path / "run", *(make_sample_result(e, "Order", 500 + n) for n, e in enumerate(names)))
    lines = [f"{name},{n},{n if n < 3 else ''}" for n, name in enumerate(names)]
    path = scores_file(tmp_path, "encoder,MANY,FEW", *lines)
    out = " ".join(command("correlate", run, "--with", path)[1].split())
    assert "3 encoders are few (in FEW): with fewer than 10" in out


def test_report(first: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "report.html"
    assert command("show", first, "-f", "html", "-o", out)[:2] == (0, "")
    page = TagChecker()
    page.feed(out.read_text("utf-8"))
    assert page.open == []
    assert {"st<b>", "69.0", "bag of words (dim 3) on Order", "at chance"} <= set(page.texts)
    assert "http" not in out.read_text("utf-8").replace("http-equiv", "")


def test_short_name(first: Path, working_folder: Path, command: Command) -> None:
    for options in ((), ("--intervals", "--all-rows"), ("--by-length", "tokens", "--published")):
        _, page, _ = command("show", first, "-f", "html", *options)
        assert command("report", first, *options) == (0, "report: report.html\n", "")
        assert (working_folder / "report.html").read_text("utf-8") == page
    assert command("report", first, "-o", "other.htm")[0] == 0
    assert (working_folder / "other.htm").exists()


def test_audit_is_on_the_page(first: Path, tmp_path: Path, command: Command) -> None:
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


def test_failed_control_is_at_top(tmp_path: Path, command: Command) -> None:
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


def test_report_shows_commands_to_repeat(tmp_path: Path, command: Command) -> None:
    hostile = "probe run x\nrm -rf y"
    run = write_run(tmp_path / "run", replace(make_sample_result("bow\nrm", "Order", 600), command=hostile))
    page = command("show", run, "-f", "html")[1]
    (redo,) = re.findall(r'<pre id="redo">(.*?)</pre>', page, re.DOTALL)
    lines = re.sub("<[^>]*>", "", redo).split("\n")[1:-1]
    assert lines[0] == "probe run x rm -rf y"
    assert all(line.startswith("# ") for line in lines[1:])
    assert any(line.startswith("# data of Order, seed 0: ") for line in lines)
    assert any(line.startswith("# vectors of bow rm: ") for line in lines)


def test_report_has_each_classifier_once(first: Path, tmp_path: Path, command: Command) -> None:
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
    out = check_success(command("show", run, "-f", style))
    assert "Accuracy in % on 1000 test items" in out.replace("\\", "")
    assert "ettinger" not in out


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "html"])
def test_run_without_sanity_runs_says_so(style: str, tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_sample_result("bow", "Order", 600))
    out = command("show", run, "-f", style, "--notes")[1]
    assert "No controls were run (--no-controls), so nothing tests these figures" in out
    assert "Probes were trained in float32." in out
    if style == "html":
        assert "controls: none were run</summary>" in out
        assert "Before you believe the table" in out


def test_report_names_commands_of_later_seeds(tmp_path: Path, command: Command) -> None:
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


def test_plot_is_of_one_setting(tmp_path: Path, command: Command) -> None:
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


REFUSED = [
    ("check sound -f latex", 2, "a review has no format 'latex'; known: text, markdown, json"),
    ("check sound -f csv", 2, "a review has no format 'csv'; known: text, markdown, json"),
    ("check sound -f markdwon", 2, "there is no format 'markdwon' (did you mean 'markdown'?)"),
    ("check empty", 2, "empty: no results of probes or language models yet\n"),
    ("methods empty", 2, "empty: no results of probes or language models yet\n"),
    ("methods sound -f csv", 2, "a paragraph has no format 'csv'; known: text, markdown, latex\n"),
    ("methods sound -f json", 2, "a paragraph has no format 'json'; known: text, markdown, latex\n"),
    ("methods sound -f html", 2, "a paragraph has no format 'html'; known: text, markdown, latex\n"),
    ("correlate run --with nothing", 2, "there is no such file or folder of scores"),
    ("correlate run --with run", 2, "no results of MTEB"),
    ("correlate run --with scores.csv -f html", 2, "a table of correlations has no format 'html'"),
    ("correlate run --with scores.csv --correction hol", 2, "did you mean 'holm'?"),
    ("correlate run --with scores.csv --plot x.gif", 2, "the suffix of a plot must be one of .svg"),
    ("correlate run", 2, "--with"),
    ("correlate run more --with scores.csv", 2, "two results of bow on Order"),
    ("report run --out report.md", 2, "report.md: a report is an .html file; probe show writes other formats\n"),
    ("report run --audit a.json", 1, "not the output of probe audit --format json (the key 'format' is missing)\n"),
    ("show run --audit a.json", 2, "--audit is for the page: add --format html\n"),
    ("show run --audit a.json --by label", 2, "--audit and --by cannot be combined: omit one of them\n"),
]


@pytest.mark.usefixtures("working_folder", "sound", "run", "scores")
@pytest.mark.parametrize(("line", "code", "message"), REFUSED, ids=[line for line, _, _ in REFUSED])
def test_bad_request_is_refused(line: str, code: int, message: str, command: Command) -> None:
    write_run(Path("empty"))
    write_run(Path("more"), replace(make_sample_result("bow", "Order", 500), dataset_fingerprint="1"))
    Path("a.json").write_text("[{}]")
    check_refusal(command(*line.split()), message, code)
    assert not Path("report.md").exists()
