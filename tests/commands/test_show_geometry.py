"""``probe show`` of results of ``probe geometry``, alone and beside those of probes."""

import csv
import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from in_process import Command
from probe_strategies import sample_result
from shown_geometry import a_folder, also_by, measured
from shown_runs import Tags, a_run, cells_of

from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.runs.store import write_result

HOSTILE = 'st:<script>alert("$1")</script>&amp;'


@pytest.fixture
def distances(tmp_path: Path) -> Path:
    """Two encoders on two contrasts; half of the eight answers right, or all ties."""
    return a_folder(
        tmp_path / "distances",
        measured("bow", "role", form="11111111"),
        measured("bow", "tense", form="22222220", anchor="20000001"),
        measured("lstm", "role", form="22202222"),
    )


def test_alone(distances: Path, command: Command) -> None:
    code, stdout, stderr = command("show", distances)
    assert (code, stderr) == (0, "")
    cells = cells_of(stdout)
    assert stdout.startswith("geometry\n")
    assert cells["", "encoder"] == ["role", "tense"]
    form, anchor = (f"accuracy, negative in the {side}'s form" for side in ("positive", "anchor"))
    assert cells[form, "bow"] == ["50.0", "87.5"]
    assert cells[form, "lstm"] == ["87.5", "-"]
    assert cells[anchor, "bow"] == ["0.0", "18.8"]
    assert cells["paired, negative in the positive's form", "bow"] == ["25.0", "75.0"]
    assert "4 triplets each and their mirrors, seed 0." in stdout
    assert "ties count half" in stdout


def test_beside_probes(distances: Path, command: Command) -> None:
    """First the table of the probes, as it is without, then that of geometry."""
    alone = command("show", distances)[1]
    write_result(sample_result("bow", "Order", 600), distances)
    run = a_run(distances.parent / "run", sample_result("bow", "Order", 600))
    probes = command("show", run)[1]
    both = command("show", distances)[1]
    assert both == probes + alone
    assert command("show", run, distances)[1].count("encoder") == both.count("encoder")


def test_records_of_papers_have_the_keys_of_all(distances: Path, command: Command) -> None:
    write_result(sample_result("bow", "Order", 600), distances)
    found = json.loads(command("show", distances, "--published", "-f", "json")[1])
    assert len({tuple(each) for each in found}) == 1
    assert "published" in {each["condition"] for each in found}


def test_geometry_of_another_version_does_not_hide_probes(
    distances: Path, command: Command
) -> None:
    file = next(distances.rglob("*role*.json"))
    file.write_text(file.read_text().replace("sentprobe-geometry 2", "sentprobe-geometry 1"))
    code, stdout, stderr = command("show", distances)
    assert (code, stdout) == (1, "")
    write_result(sample_result("bow", "Order", 600), distances)
    code, stdout, stderr = command("show", distances)
    assert code == 0
    assert "Order" in stdout
    assert stderr.startswith("left out: geometry: ")
    assert stderr.count("\n") == 1


def test_every_format(distances: Path, command: Command, tmp_path: Path) -> None:
    markdown = command("show", distances, "-f", "markdown")[1]
    assert markdown.startswith("**geometry**\n\n| encoder | role | tense |\n")
    assert "| bow | 50.0 | 87.5 |\n" in markdown
    latex = command("show", distances, "-f", "latex", "--caption", "Near", "--label", "tab:near")[1]
    assert latex.startswith("% geometry\n\\begin{table}\n")
    assert "  \\label{tab:near}\n" in latex
    assert "  bow & 50.0 & 87.5 \\\\\n" in latex
    records = json.loads(command("show", distances, "-f", "json")[1])
    assert [(each["encoder"], each["contrast"], each["kind"]) for each in records] == [
        (encoder, contrast, kind)
        for encoder, contrast in (("bow", "role"), ("bow", "tense"), ("lstm", "role"))
        for kind in ("form", "anchor")
    ]
    assert {each["run"] for each in records} == {str(distances)}
    assert records[2]["accuracy"] == 0.875
    read = list(csv.DictReader(io.StringIO(command("show", distances, "-f", "csv")[1])))
    assert [list(each) for each in read] == [list(each) for each in records]
    out = tmp_path / "table.md"
    assert command("show", distances, "-o", out)[:2] == (0, "")
    assert out.read_text("utf-8") == markdown


def test_records_of_both_have_the_same_keys(distances: Path, command: Command) -> None:
    write_result(sample_result("bow", "Order", 600), distances)
    records = json.loads(command("show", distances, "-f", "json")[1])
    assert len({tuple(each) for each in records}) == 1
    assert [(each["task"], each["contrast"]) for each in records[:2]] == [
        ("Order", None), (None, "role"),
    ]  # fmt: skip
    read = list(csv.DictReader(io.StringIO(command("show", distances, "-f", "csv")[1])))
    assert [each["task"] for each in read] == ["Order", *[""] * 6]


def test_labels_are_counted_over_all_tables(distances: Path, command: Command) -> None:
    write_result(sample_result("bow", "Order", 600), distances)
    options = ("-f", "latex", "--caption", "All", "--label", "tab:all")
    text = command("show", distances, *options)[1]
    for number in (1, 2):
        assert f"\\caption{{All ({number} of 2)}}\n  \\label{{tab:all-{number}}}\n" in text


def test_intervals(distances: Path, command: Command) -> None:
    cells = cells_of(command("show", distances, "--intervals")[1])
    shown = cells["accuracy, negative in the positive's form", "bow"]
    assert all(re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", text) for text in shown)


def test_several_folders_are_named(distances: Path, command: Command, tmp_path: Path) -> None:
    more = a_folder(tmp_path / "more", measured("hf:m?layer=10"), measured("hf:m?layer=9"))
    _, stdout, _ = command("show", more, distances)
    assert f"from {more}: hf:m?layer=9, hf:m?layer=10\n" in stdout
    assert f"from {distances}: bow, lstm\n" in stdout
    assert stdout.count("triplets each") == 1
    assert "from " not in command("show", distances)[1]
    assert command("show", distances, distances)[1] == command("show", distances)[1]


def test_what_is_not_comparable_is_another_table(command: Command, tmp_path: Path) -> None:
    """Other sizes, words and templates; another material of the same seed."""
    other = Drawing(n=4, vocabulary="english")
    deep = Drawing(n=4, templates=("transitive", "transitive-rc"))
    run = a_folder(
        tmp_path / "run",
        measured("bow"),
        measured("bow", n=30, material="a"),
        measured("bow", drawing=other, material="b"),
        measured("bow", drawing=deep, material="c"),
        measured("bow", material="d"),
        measured("lstm", material="d"),
        measured("bow", encoder_fingerprint="another"),
    )
    titles = re.findall(r"(?m)^geometry, table .*$", command("show", run)[1])
    assert len(titles) == 6
    assert [re.sub(r"table \d", "table N", each) for each in titles].count(
        "geometry, table N of 6: 4 triplets of compeval, all, seed 0"
    ) == 3
    assert any("30 triplets of compeval, all, seed 0" in each for each in titles)
    assert any("4 triplets of english, all, seed 0" in each for each in titles)
    assert any("4 triplets of compeval, transitive, transitive-rc" in each for each in titles)


def test_draws_are_one_table(command: Command, tmp_path: Path) -> None:
    """Accuracies of 50, 75 and 100: mean 75, deviation 25; Student's t of two degrees: 62.1."""
    forms = {0: "22002200", 10: "22202220", 20: "22222222"}
    run = a_folder(tmp_path / "run", *(measured("m", form=f, seed=s) for s, f in forms.items()))
    _, stdout, _ = command("show", run, "--intervals")
    cells = cells_of(stdout)
    assert cells["accuracy, negative in the positive's form", "m"] == ["75.0 ± 25.0 [12.9, 100.0]"]
    assert cells["margin, negative in the positive's form", "m"] == ["+0.2500"]
    assert "seeds 0, 10, 20, mean ± standard deviation over 3 draws." in stdout
    assert "Student's t, for other draws" in stdout


def test_draws_of_weights_are_joined_and_of_other_encoders_not(
    command: Command, tmp_path: Path
) -> None:
    drawn = [
        measured(name, seed=seed, encoder_seed=seed, encoder_fingerprint=f"{seed}")
        for name, seed in (("bow", 0), ("bow?seed=10", 10))
    ]
    joined = command("show", a_folder(tmp_path / "drawn", *drawn))[1]
    assert "over 2 draws" in joined
    assert ("paired, negative in the anchor's form", "bow") in cells_of(joined)
    apart = [replace(each, encoder="m", encoder_seed=None) for each in drawn]
    stdout = command("show", a_folder(tmp_path / "apart", *apart))[1]
    assert "geometry, table 1 of 2" in stdout
    assert "draws" not in stdout
    fewer = [*drawn, measured("lstm", seed=10)]
    stdout = command("show", a_folder(tmp_path / "fewer", *fewer))[1]
    assert "geometry, table 2 of 2: 4 triplets of compeval, all, seed 10" in stdout


def test_the_same_sentences_in_each_draw(command: Command, tmp_path: Path) -> None:
    """Of a dataset that was read, other weights alone are drawn: the interval is Wilson's."""
    drawn = [
        measured("bow", "SemRole", material="one", dataset="d", seed=s, encoder_seed=s,
                 encoder_fingerprint=f"{s}", drawing=Drawing(n=4, templates=(), seed=s), form=form)
        for s, form in ((0, "22222222"), (10, "00000000"))
    ]  # fmt: skip
    _, stdout, _ = command("show", a_folder(tmp_path / "run", *drawn), "--intervals")
    assert "Wilson's, for the choice of sentences" in stdout
    (shown,) = cells_of(stdout)["accuracy, negative in the positive's form", "bow"]
    assert shown.startswith("50.0 ± 70.7 [")
    low, high = map(float, re.findall(r"\[(.*), (.*)\]", shown)[0])
    assert 10 < low < 50 < high < 90
    other = replace(drawn[1], material="two", dataset="e")
    stdout = command("show", a_folder(tmp_path / "other", drawn[0], other))[1]
    assert "table 1 of 2: test sentences of SemRole, seed 0" in stdout


def test_sentences_of_tasks_are_a_table_of_their_own(command: Command, tmp_path: Path) -> None:
    """Datasets of other sizes are one; what is drawn is another."""
    run = a_folder(
        tmp_path / "run",
        measured("bow", "Order", dataset="d", drawing=Drawing(n=9, templates=("compeval",))),
        measured("bow"),
        measured("bow", "SemRole", dataset="e", drawing=Drawing(n=4, templates=("compeval",))),
    )
    _, stdout, _ = command("show", run)
    assert "geometry, table 1 of 2: 4 triplets of compeval, all, seed 0\n" in stdout
    assert "geometry, table 2 of 2: test sentences of Order and SemRole, seed 0\n" in stdout
    assert "(mirror pairs: Order 9, SemRole 4)" in stdout
    assert (
        "A bag of words is at 50.0 in the positive's form and at 0.0 in the anchor's: Order, "
        in (stdout)
    )


def test_the_page(distances: Path, command: Command, tmp_path: Path) -> None:
    write_result(sample_result("bow", "Order", 600), distances)
    out = tmp_path / "report.html"
    assert command("show", distances, "-f", "html", "-o", out)[:2] == (0, "")
    text = out.read_text("utf-8")
    page = Tags()
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
    run = a_folder(tmp_path / "run<b>", measured(HOSTILE), measured("bow"))
    more = a_folder(tmp_path / "more<i>", measured("x\x1b[31m\nred"))
    page = command("show", run, more, "-f", "html")[1]
    assert page.count("<script") == 1  # the page's own
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert HOSTILE in tags.texts
    for style in ("text", "markdown", "latex", "csv"):
        shown = command("show", run, more, "-f", style)[1]
        assert "\x1b[31m" not in shown
    assert r"\<script>" in command("show", run, "-f", "markdown")[1]


def test_a_dataset_may_have_any_name(command: Command, tmp_path: Path) -> None:
    """Its results stay in their folder, and its name is text wherever it is shown."""
    name = "../../<i>x</i>\x1b[2J"
    run = a_folder(tmp_path / "run", measured("bow", name, dataset="d"))
    (path,) = (run / "geometry").iterdir()
    assert path.name.startswith("bow._.._i_x_i_")
    assert [each.name for each in tmp_path.iterdir()] == ["run"]
    page = command("show", run, "-f", "html")[1]
    assert "<i>" not in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    assert "\x1b" not in command("show", run)[1]


def test_the_plot(distances: Path, command: Command, tmp_path: Path) -> None:
    plots = [tmp_path / name for name in ("dots.svg", "again.svg")]
    for plot in plots:
        assert command("show", distances, "--plot", plot)[0] == 0
    svg, again = (plot.read_bytes() for plot in plots)
    assert svg == again
    assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_the_dots_are_where_the_figures_are() -> None:
    from sentprobe.probes.report.dots import draw_dots

    table = (measured("bow", "tense", form="22222220"), measured("bow"), measured("lstm", "tense"))
    left, right = draw_dots(table).axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["role", "tense"]
    dots: dict[str, Any] = {str(box.get_label()): box for box in left.containers}
    across = {name: box.lines[0].get_xdata().tolist() for name, box in dots.items()}
    assert across == {"bow": [50.0, 87.5], "lstm": [50.0]}
    heights = {name: box.lines[0].get_ydata().tolist() for name, box in dots.items()}
    assert heights == {"bow": [0, 3], "lstm": [4]}
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the first contrast is at the top
    (ends,) = (segment for segment in dots["lstm"].lines[2][0].get_segments())
    interval = table[2].scores[0].measured.accuracy_interval
    assert ends[:, 0].tolist() == pytest.approx([100 * interval.low, 100 * interval.high])
    assert [each.get_text() for each in (left.title, right.title)] == [
        "negative in the positive's form", "negative in the anchor's form",
    ]  # fmt: skip


def test_without_matplotlib_the_page_has_its_pictures(
    distances: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    code, page, _ = command("show", distances, "-f", "html")
    assert code == 0
    assert "<h2>Accuracy by contrast</h2>" in page
    assert "is not drawn" not in page
    assert page.count("<svg") == 2 + len(page_contrasts(page))


def test_refused(distances: Path, command: Command, tmp_path: Path) -> None:
    two = a_folder(tmp_path / "two", measured("bow"), measured("bow", n=9, material="a"))
    empty = a_folder(tmp_path / "empty")
    cases = [
        (("show", distances, "--by-length", "bins"), "--by-length is of probes"),
        (("show", distances, "--published"), "--published is of probes"),
        (("show", two, "--plot", tmp_path / "p.svg"), "there are 2 tables of geometry"),
        (("show", distances, "--plot", tmp_path / "p.gif"), "a plot is written to .svg"),
        (("show", empty), "empty: no results yet"),
    ]
    for arguments, message in cases:
        code, stdout, stderr = command(*arguments)
        assert (code, stdout) == (2, "")
        assert message in stderr
        assert len(stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["show", "compare"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sentprobe-geometry 2", "sentprobe-geometry 1"), "of another version of sentprobe"),
        (('"right": "22002200"', '"right": "2200220"'), "of different numbers of triplets"),
        (('"right": "22002200"', '"right": "22002203"'), "of different numbers of triplets"),
        (('"units": "0 0 1 2"', '"units": "0 0 1"'), "of different numbers of triplets"),
        (('"kind": "form"', '"kind": "from"'), "not a result of sentprobe"),
        (('"kind": "form"', '"kind": "anchor"'), "their cosines are missing"),
        (('"paired": 0.5', '"paired": 1.5'), "no share of the triplets"),
        (("{", ""), "not a result of sentprobe"),
    ],
)
def test_a_damaged_file_is_named_in_one_sentence(
    name: str, change: tuple[str, str], message: str, command: Command, tmp_path: Path
) -> None:
    old, new = change
    run = a_folder(tmp_path / "run", measured("bow"))
    (path,) = (run / "geometry").iterdir()
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    code, stdout, stderr = command(name, run)
    assert (code, stdout) == (1, "")
    assert str(path) in stderr
    assert message in stderr
    assert len(stderr.splitlines()) == 1


def test_by_another_nearness(command: Command, tmp_path: Path) -> None:
    run = a_folder(
        tmp_path / "run",
        also_by(measured("bow", "role", form="00000000"), "dot", "22222220"),
        measured("lstm", "role", form="22222222"),
    )
    form = "accuracy, negative in the positive's form"
    assert cells_of(command("show", run)[1])[form, "bow"] == ["0.0"]
    code, stdout, stderr = command("show", run, "--nearness", "dot")
    assert (code, stderr) == (0, "")
    cells = cells_of(stdout)
    assert cells[form, "bow"] == ["87.5"]
    assert cells[form, "lstm"] == ["-"]
    assert "nearer than the negative, by dot; ties" in stdout
    page = command("show", run, "--nearness", "dot", "-f", "html")[1]
    assert "by dot; ties" in page


@pytest.mark.parametrize(
    ("nearness", "message"),
    [
        ("cosin", "there is no nearness 'cosin' (did you mean 'cosine'?); known: cosine, dot"),
        ("whitened", "no result has whitened: there are more dimensions than sentences"),
    ],
)
def test_a_nearness_that_is_not_there(
    nearness: str, message: str, distances: Path, command: Command
) -> None:
    code, stdout, stderr = command("show", distances, "--nearness", nearness)
    assert (code, stdout) == (2, "")
    assert message in stderr


def test_a_nearness_of_probes(command: Command, tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", sample_result("bow", "Order", 600))
    for name in ("show", "compare"):
        code, _, stderr = command(name, run, "--nearness", "dot")
        assert code == 2
        assert "--nearness is of geometry, and here are results of probes alone" in stderr


def test_what_is_held_out_is_told(command: Command, tmp_path: Path) -> None:
    drawing = Drawing(n=4, held_out=("0.3", "transitive-rc"))
    run = a_folder(
        tmp_path / "run",
        measured("bow", "role"),
        measured("bow", "role", drawing=drawing, material="other"),
    )
    _, stdout, _ = command("show", run)
    told = "only of what is held out (0.3 transitive-rc)"
    assert f"4 triplets of compeval, all, {told}, seed 0\n" in stdout
    assert f"4 triplets each and their mirrors, {told}, seed 0. " in stdout
