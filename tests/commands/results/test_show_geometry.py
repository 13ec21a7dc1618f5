"""``probe show`` for results of geometry, alone and beside probes."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_geometry import add_nearness, make_geometry_result, write_geometry_folder
from helpers.runs.shown_runs import TagChecker, parse_cells, write_run
from helpers.strategies.probe_strategies import make_sample_result
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.probes.reports.pages.page_pictures import draw_contrast_picture
from sentprobe.probes.reports.pages.panels import DotPanel
from sentprobe.probes.results.store import write_result
from sentprobe.probes.similarity.distance_draws import build_geometry_tables
from sentprobe.probes.similarity.measures import Nearness
from sentprobe.probes.similarity.triplet_sentences import TripletSampling

HOSTILE = 'st:<script>alert("$1")</script>&amp;'


@pytest.fixture
def distances(tmp_path: Path) -> Path:
    """Two encoders on two contrasts; half of the eight answers right, or all ties."""
    return write_geometry_folder(
        tmp_path / "distances",
        make_geometry_result("bow", "role", form="11111111"),
        make_geometry_result("bow", "tense", form="22222220", anchor="20000001"),
        make_geometry_result("lstm", "role", form="22202222"),
    )


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_geometry_is_shown(style: str, distances: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    code, stdout, stderr = command("show", distances, "-f", style)
    assert (code, stderr) == (0, "")
    assert stdout == stored_text
    cells = parse_cells(command("show", distances)[1])
    form, anchor = (f"accuracy, negative in the {side}'s form" for side in ("positive", "anchor"))
    assert (cells[form, "bow"], cells[anchor, "bow"]) == (["50.0", "87.5"], ["0.0", "18.8"])


@pytest.mark.parametrize("program", ["show", "report", "compare"])
def test_name_may_have_many_digits(program: str, tmp_path: Path, command: Command) -> None:
    names = (f"bow?dim=4&name=m{'9' * count}" for count in (3, 5000))
    folder = write_geometry_folder(tmp_path / "distances", *(make_geometry_result(name) for name in names))
    options = ["-o", tmp_path / "page.html"] if program == "report" else []
    check_success(command(program, folder, *options))


@given(st.sets(st.integers(0, 10**30), min_size=1), st.integers(0, 3))
def test_names_are_in_order_of_numbers(numbers: set[int], zeros: int) -> None:
    results = (make_geometry_result(f"m{'0' * zeros}{number}x") for number in numbers)
    (table,) = build_geometry_tables(results)
    assert [int(result.encoder[1:-1]) for result in table] == sorted(numbers)


def test_beside_probes(distances: Path, command: Command) -> None:
    """First the table of the probes, as it is without, then that of geometry."""
    alone = command("show", distances)[1]
    write_result(make_sample_result("bow", "Order", 600), distances)
    run = write_run(distances.parent / "run", make_sample_result("bow", "Order", 600))
    probes = command("show", run)[1].replace(str(run), str(distances))
    both = command("show", distances)[1]
    assert both == probes + alone
    assert command("show", run, distances)[1].count("encoder") == both.count("encoder")


def test_published_records_have_same_keys(distances: Path, command: Command) -> None:
    write_result(make_sample_result("bow", "Order", 600), distances)
    records = json.loads(command("show", distances, "--published", "-f", "json")[1])
    assert len({tuple(record) for record in records}) == 1
    assert "published" in {record["condition"] for record in records}


def test_records_and_file(distances: Path, command: Command, tmp_path: Path) -> None:
    records = json.loads(command("show", distances, "-f", "json")[1])
    assert [(record["encoder"], record["contrast"], record["kind"]) for record in records] == [
        (encoder, contrast, kind)
        for encoder, contrast in (("bow", "role"), ("bow", "tense"), ("lstm", "role"))
        for kind in ("form", "anchor")
    ]
    assert {record["run"] for record in records} == {str(distances)}
    assert records[2]["accuracy"] == 0.875
    read = list(csv.DictReader(io.StringIO(command("show", distances, "-f", "csv")[1])))
    assert [list(record) for record in read] == [list(record) for record in records]
    out = tmp_path / "table.md"
    assert command("show", distances, "-o", out)[:2] == (0, "")
    assert out.read_text("utf-8") == command("show", distances, "-f", "markdown")[1]


def test_records_of_both_have_the_same_keys(distances: Path, command: Command) -> None:
    write_result(make_sample_result("bow", "Order", 600), distances)
    records = json.loads(command("show", distances, "-f", "json")[1])
    assert len({tuple(record) for record in records}) == 1
    assert [(record["task"], record["contrast"]) for record in records[:2]] == [
        ("Order", None), (None, "role"),
    ]  # fmt: skip
    read = list(csv.DictReader(io.StringIO(command("show", distances, "-f", "csv")[1])))
    assert [record["task"] for record in read] == ["Order", *[""] * 6]


def test_labels_are_counted_over_all_tables(distances: Path, command: Command) -> None:
    write_result(make_sample_result("bow", "Order", 600), distances)
    options = ("-f", "latex", "--caption", "All", "--label", "tab:all")
    text = command("show", distances, *options)[1]
    for number in (1, 2):
        assert f"\\caption{{All ({number} of 2)}}\n  \\label{{tab:all-{number}}}\n" in text


def test_intervals(distances: Path, command: Command) -> None:
    cells = parse_cells(command("show", distances, "--intervals")[1])
    shown = cells["accuracy, negative in the positive's form", "bow"]
    assert all(re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", text) for text in shown)


def test_several_folders_are_named(distances: Path, command: Command, tmp_path: Path) -> None:
    more = write_geometry_folder(
        tmp_path / "more", make_geometry_result("hf:m?layer=10"), make_geometry_result("hf:m?layer=9")
    )
    _, stdout, _ = command("show", more, distances)
    assert f"from {more}: hf:m?layer=9, hf:m?layer=10\n" in stdout
    assert f"from {distances}: bow, lstm\n" in stdout
    assert stdout.count("triplets each") == 1
    assert "from " not in command("show", distances)[1]
    assert command("show", distances, distances)[1] == command("show", distances)[1]


def test_incomparable_results_have_own_table(command: Command, tmp_path: Path) -> None:
    """Other sizes, words and templates; another material of the same seed."""
    other_drawing = TripletSampling(n=4, vocabulary="english")
    deep = TripletSampling(n=4, templates=("transitive", "transitive-rc"))
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("bow"),
        make_geometry_result("bow", n=30, material="a"),
        make_geometry_result("bow", drawing=other_drawing, material="b"),
        make_geometry_result("bow", drawing=deep, material="c"),
        make_geometry_result("bow", material="d"),
        make_geometry_result("lstm", material="d"),
        make_geometry_result("bow", encoder_fingerprint="another"),
    )
    titles = re.findall(r"(?m)^geometry, table .*$", command("show", run)[1])
    assert len(titles) == 6
    assert [re.sub(r"table \d", "table N", title) for title in titles].count(
        "geometry, table N of 6: 4 triplets of compeval, all, seed 0"
    ) == 3
    assert any("30 triplets of compeval, all, seed 0" in title for title in titles)
    assert any("4 triplets of english, all, seed 0" in title for title in titles)
    assert any("4 triplets of compeval, transitive, transitive-rc" in title for title in titles)


def test_draws_are_one_table(command: Command, tmp_path: Path) -> None:
    """Accuracies of 50, 75 and 100: mean 75, deviation 25; Student's t of two degrees: 62.1."""
    forms = {0: "22002200", 10: "22202220", 20: "22222222"}
    run = write_geometry_folder(
        tmp_path / "run", *(make_geometry_result("m", form=f, seed=s) for s, f in forms.items())
    )
    _, stdout, _ = command("show", run, "--intervals")
    cells = parse_cells(stdout)
    assert cells["accuracy, negative in the positive's form", "m"] == ["75.0 ± 25.0 [12.9, 100.0]"]
    assert cells["margin, negative in the positive's form", "m"] == ["+0.2500"]
    assert "seeds 0, 10, 20, mean ± standard deviation over 3 draws." in stdout
    assert "Student's t, for other draws" in stdout


def test_draws_of_weights_are_joined(command: Command, tmp_path: Path) -> None:
    drawn = [
        make_geometry_result(name, seed=seed, encoder_seed=seed, encoder_fingerprint=f"{seed}")
        for name, seed in (("bow", 0), ("bow?seed=10", 10))
    ]
    joined = command("show", write_geometry_folder(tmp_path / "drawn", *drawn))[1]
    assert "over 2 draws" in joined
    assert ("paired, negative in the anchor's form", "bow") in parse_cells(joined)
    apart = [replace(result, encoder="m", encoder_seed=None) for result in drawn]
    stdout = command("show", write_geometry_folder(tmp_path / "apart", *apart))[1]
    assert "geometry, table 1 of 2" in stdout
    assert "draws" not in stdout
    fewer = [*drawn, make_geometry_result("lstm", seed=10)]
    stdout = command("show", write_geometry_folder(tmp_path / "fewer", *fewer))[1]
    assert "geometry, table 2 of 2: 4 triplets of compeval, all, seed 10" in stdout


def test_same_sentences_in_each_draw(command: Command, tmp_path: Path) -> None:
    """Of a dataset that was read, other weights alone are drawn: the interval is Wilson's."""
    drawn = [
        make_geometry_result(
            "bow",
            "SemRole",
            material="one",
            dataset="d",
            seed=s,
            encoder_seed=s,
            encoder_fingerprint=f"{s}",
            drawing=TripletSampling(n=4, templates=(), seed=s),
            form=form,
        )
        for s, form in ((0, "22222222"), (10, "00000000"))
    ]
    _, stdout, _ = command("show", write_geometry_folder(tmp_path / "run", *drawn), "--intervals")
    assert "Wilson's, for the choice of sentences" in stdout
    (shown,) = parse_cells(stdout)["accuracy, negative in the positive's form", "bow"]
    assert shown.startswith("50.0 ± 70.7 [")
    low, high = map(float, re.findall(r"\[(.*), (.*)\]", shown)[0])
    assert 10 < low < 50 < high < 90
    other_result = replace(drawn[1], material="two", dataset="e")
    stdout = command("show", write_geometry_folder(tmp_path / "other", drawn[0], other_result))[1]
    assert "table 1 of 2: test sentences of SemRole, seed 0" in stdout


def test_sentences_of_tasks_have_own_table(command: Command, tmp_path: Path) -> None:
    """Datasets of different sizes share a table; drawn triplets have another."""
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("bow", "Order", dataset="d", drawing=TripletSampling(n=9, templates=("compeval",))),
        make_geometry_result("bow"),
        make_geometry_result("bow", "SemRole", dataset="e", drawing=TripletSampling(n=4, templates=("compeval",))),
    )
    _, stdout, _ = command("show", run)
    assert "geometry, table 1 of 2: 4 triplets of compeval, all, seed 0\n" in stdout
    assert "geometry, table 2 of 2: test sentences of Order and SemRole, seed 0\n" in stdout
    assert "(mirror pairs: Order 9, SemRole 4)" in stdout
    assert "A bag of words is at 50.0 in the positive's form and at 0.0 in the anchor's: Order, " in (stdout)


def test_page(distances: Path, command: Command, tmp_path: Path) -> None:
    write_result(make_sample_result("bow", "Order", 600), distances)
    out = tmp_path / "report.html"
    assert command("show", distances, "-f", "html", "-o", out)[:2] == (0, "")
    text = out.read_text("utf-8")
    page = TagChecker()
    page.feed(text)
    assert page.open == []
    assert {"Geometry", "Accuracy by contrast", "87.5", "lstm", "60.0"} <= set(page.texts)
    assert "probe geometry -e lstm" in page.texts
    assert "numpy 9.9" in page.texts
    assert not re.search(r"(src|href)=.(?!#)", re.sub(r"xlink:href", "href", text))
    of_probes, _, of_distances = text.partition("<h2>Geometry</h2>")
    assert "<h2>Accuracy</h2>" in of_probes
    assert of_probes.count("<svg") == 1
    assert of_distances.count("<svg") == 2 + len(page_contrasts(of_distances))


def page_contrasts(text: str) -> list[str]:
    """The titles of the panels; the legend has a picture for either kind of negative."""
    return re.findall("<h3>([^<]*)</h3>", text)


def test_hostile_names_are_escaped(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(tmp_path / "run<b>", make_geometry_result(HOSTILE), make_geometry_result("bow"))
    more = write_geometry_folder(tmp_path / "more<i>", make_geometry_result("x\x1b[31m\nred"))
    page = command("show", run, more, "-f", "html")[1]
    assert page.count("<script") == 1  # the page's own
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page
    tags = TagChecker()
    tags.feed(page)
    assert tags.open == []
    assert HOSTILE in tags.texts
    for style in ("text", "markdown", "latex", "csv"):
        shown = command("show", run, more, "-f", style)[1]
        assert "\x1b[31m" not in shown
    assert r"\<script>" in command("show", run, "-f", "markdown")[1]


def test_dataset_may_have_any_name(command: Command, tmp_path: Path) -> None:
    """Its results stay in their folder, and its name is text wherever it is shown."""
    name = "../../<i>x</i>\x1b[2J"
    run = write_geometry_folder(tmp_path / "run", make_geometry_result("bow", name, dataset="d"))
    (path,) = (run / "geometry").iterdir()
    assert path.name.startswith("bow._.._i_x_i_")
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    page = command("show", run, "-f", "html")[1]
    assert "<i>" not in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    assert "\x1b" not in command("show", run)[1]


def test_plot(distances: Path, command: Command, tmp_path: Path) -> None:
    plots = [tmp_path / name for name in ("dots.svg", "again.svg")]
    for plot in plots:
        assert command("show", distances, "--plot", plot)[0] == 0
    svg, again = (plot.read_bytes() for plot in plots)
    assert svg == again
    assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_dot_for_each_kind_of_negative() -> None:
    table = (
        make_geometry_result("bow", "tense", form="22222220"),
        make_geometry_result("bow"),
        make_geometry_result("lstm", "tense"),
    )
    picture = draw_contrast_picture(table, Nearness.COSINE)
    assert [panel.title for panel in picture.panels] == ["role", "tense"]
    assert [name for name, _ in picture.legend] == [
        "negative in the positive's form", "negative in the anchor's form",
    ]  # fmt: skip
    _, tense = picture.panels
    assert isinstance(tense, DotPanel)
    assert {row.encoder: row.dots[0].value for row in tense.rows} == {"bow": 87.5, "lstm": 50.0}
    dot = tense.rows[1].dots[0]
    interval = table[2].scores[0].measured.accuracy_interval
    assert (dot.low, dot.high) == pytest.approx((100 * interval.low, 100 * interval.high))


REFUSED = [
    ("show distances --by-length bins", "--by-length is for probes"),
    ("show distances --published", "--published is for probes"),
    ("show two --plot p.svg", "there are 2 tables of geometry"),
    ("show distances --plot p.gif", "the suffix of a plot must be one of .svg"),
    ("show empty", "empty: no results yet"),
    ("show distances --nearness cosin", "there is no nearness 'cosin' (did you mean 'cosine'?); known: cosine, dot"),
    ("show distances --nearness whitened", "no result has whitened: there are more dimensions than sentences"),
    ("show probes --nearness dot", "--nearness is for geometry, and there are no results of it"),
    ("compare probes --nearness dot", "--nearness is for geometry, and there are no results of it"),
]


@pytest.mark.usefixtures("working_folder", "distances")
@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_bad_request_is_refused(line: str, message: str, command: Command) -> None:
    write_geometry_folder(Path("two"), make_geometry_result("bow"), make_geometry_result("bow", n=9, material="a"))
    write_geometry_folder(Path("empty"))
    write_run(Path("probes"), make_sample_result("bow", "Order", 600))
    check_refusal(command(*line.split()), message)


@pytest.mark.parametrize("name", ["show", "compare"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sentprobe-geometry 3", "sentprobe-geometry 2"), "of another version of sentprobe"),
        (('"right": "22002200"', '"right": "2200220"'), "differ in their number of triplets"),
        (('"right": "22002200"', '"right": "22002203"'), "differ in their number of triplets"),
        (('"units": "0 0 1 2"', '"units": "0 0 1"'), "differ in their number of triplets"),
        (('"kind": "form"', '"kind": "from"'), "not a result of sentprobe"),
        (('"kind": "form"', '"kind": "anchor"'), "their cosine scores are missing"),
        (('"paired": 0.5', '"paired": 1.5'), "an accuracy is not between 0 and 1"),
        (("{", ""), "not a result of sentprobe"),
    ],
)
def test_damaged_file_is_named(
    name: str, change: tuple[str, str], message: str, command: Command, tmp_path: Path
) -> None:
    old, new = change
    run = write_geometry_folder(tmp_path / "run", make_geometry_result("bow"))
    (path,) = (run / "geometry").iterdir()
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    check_refusal(command(name, run), message, 1)
    assert str(path) in command(name, run)[2]


def test_by_another_nearness(command: Command, tmp_path: Path) -> None:
    run = write_geometry_folder(
        tmp_path / "run",
        add_nearness(make_geometry_result("bow", "role", form="00000000"), "dot", "22222220"),
        make_geometry_result("lstm", "role", form="22222222"),
    )
    form = "accuracy, negative in the positive's form"
    assert parse_cells(command("show", run)[1])[form, "bow"] == ["0.0"]
    code, stdout, stderr = command("show", run, "--nearness", "dot")
    assert (code, stderr) == (0, "")
    cells = parse_cells(stdout)
    assert cells[form, "bow"] == ["87.5"]
    assert cells[form, "lstm"] == ["-"]
    assert "nearer than the negative, by dot; ties" in stdout
    page = command("show", run, "--nearness", "dot", "-f", "html")[1]
    assert "by dot; ties" in page


def test_held_out_structures_are_named(command: Command, tmp_path: Path) -> None:
    drawing = TripletSampling(n=4, held_out=("0.3", "transitive-rc"))
    run = write_geometry_folder(
        tmp_path / "run",
        make_geometry_result("bow", "role"),
        make_geometry_result("bow", "role", drawing=drawing, material="other"),
    )
    _, stdout, _ = command("show", run)
    message = "only held-out words and structures (0.3 transitive-rc)"
    assert f"4 triplets of compeval, all, {message}, seed 0\n" in stdout
    assert f"4 triplets each and their mirrors, {message}, seed 0. " in stdout
