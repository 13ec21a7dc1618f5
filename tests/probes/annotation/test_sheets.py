"""The sheets of a study: what annotators see and do not see, and their page in a browser."""

import csv
import re
from pathlib import Path

import pytest
from helpers.browser import ask, needs_chromium
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.common.errors import UsageError
from sentprobe.probes.annotation.answers import read_sheet
from sentprobe.probes.annotation.sheets import SHEETS, render_page, write_study
from sentprobe.probes.annotation.study import KEY, Study, StudyItem, draw_study, read_study

QUESTION = "Is {probe1} in the sentence?"
STUDY = draw_study(make_learnable_dataset(), n=20, seed=0, question=QUESTION, command="probe")
HOSTILE = '</script><script>document.title = "x"</script><img src=http://x.invalid/a onerror=alert(1)>'


def make_study(labels: tuple[str, ...], *, sentence: str = "a b", question: str = "which?") -> Study:
    """A study of two test items for each label, and a control item."""
    items = [
        StudyItem(
            name=f"toy.abc.{number}",
            question=question,
            sentence=f"{sentence} {number}",
            label=labels[number % len(labels)],
            is_control=number == 0,
            index=number,
            unit=number,
        )
        for number in range(1 + 2 * len(labels))
    ]
    return Study(
        task="toy",
        dataset_fingerprint="0",
        labels=labels,
        meanings={},
        majority=0.5,
        seed=0,
        items=tuple(items),
        command="probe",
        versions={},
    )


def test_folder_has_key_and_sheets(tmp_path: Path) -> None:
    out = tmp_path / "study"
    write_study(STUDY, out, annotators=2)
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*"))
    assert names == [KEY, *(f"{SHEETS}/annotator-{n}.{suffix}" for n in (1, 2) for suffix in ("csv", "html"))]
    assert read_study(out) == STUDY
    before = {path: path.read_bytes() for path in out.rglob("*.*")}
    write_study(STUDY, out, annotators=2)  # the same again
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == before
    (out / SHEETS / "annotator-1.csv").write_text("filled", "utf-8")
    with pytest.raises(UsageError, match="not a new or empty folder"):
        write_study(STUDY, out, annotators=2)


def test_table_has_each_item_without_its_answer(tmp_path: Path) -> None:
    write_study(STUDY, tmp_path / "study", annotators=2)
    orders = []
    for number in (1, 2):
        with (tmp_path / "study" / SHEETS / f"annotator-{number}.csv").open(encoding="utf-8", newline="") as file:
            rows = [*csv.DictReader(file)]
        assert {row["answer"] for row in rows} == {""}
        assert {row["possible answers"] for row in rows} == {"FALSE (no) | TRUE (yes)"}
        shown = {row["item"]: (row["sentence"], row["question"]) for row in rows}
        assert shown == {item.name: (item.sentence, item.question) for item in STUDY.items}
        orders.append([row["item"] for row in rows])
    assert orders[0] != orders[1]


def test_page_does_not_tell_control_items_from_others() -> None:
    page = render_page(STUDY, STUDY.items, name="annotator-1")
    fields = re.findall(r'<fieldset data-name="(.*?)">(.*?)</fieldset>', page, re.DOTALL)
    assert [name for name, _ in fields] == [item.name for item in STUDY.items]
    shapes = set()
    for item, (_, field) in zip(STUDY.items, fields, strict=True):
        texts = "|".join(map(re.escape, (item.sentence, item.question, item.name)))
        shapes.add(re.sub(rf"\d+ of \d+|{texts}", "", field))
    assert len(shapes) == 1
    _, examples, _ = page.split("<h2>")
    for item in STUDY.controls:
        answer = STUDY.meanings[item.label]
        assert f"<td>{item.sentence}</td><td>{item.question}</td><td>{answer}</td>" in examples
    assert "key.json" not in page
    assert "is_control" not in page


def test_texts_are_escaped_and_nothing_is_loaded() -> None:
    study = make_study((HOSTILE, "=b"), sentence=HOSTILE, question=HOSTILE)
    page = render_page(study, study.items, name="annotator-1")
    assert "<img" not in page
    assert page.count("<script>") == 1
    assert not re.search(r"<[^>]*\b(src|href)\s*=", re.sub('"[^"]*"', '""', page))  # outside of values
    assert "default-src 'none'" in page


ANSWER_SCRIPT = """
const fields = [...document.querySelectorAll("fieldset")];
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const saved = [];
URL.createObjectURL = (blob) => { saved.push(blob); return "#"; };
const texts = [];
const BlobOfPage = window.Blob;
window.Blob = function (parts, options) { texts.push(parts.join("")); return new BlobOfPage(parts, options); };
document.querySelector(".next").click();
const state = { first: fields.indexOf(document.activeElement.closest("fieldset")) };
press("2"); press("1");
state.next = fields.indexOf(document.activeElement.closest("fieldset"));
fields[4].querySelectorAll("input")[1].click();
state.progress = document.getElementById("progress").textContent;
state.answered = fields.map((field) => field.classList.contains("answered"));
document.querySelector(".save").click();
state.file = texts[0];
state.warning = document.getElementById("warning").textContent;
state.title = document.title;
state.images = document.images.length;
state.requests = performance.getEntriesByType("resource").length;
state.overflow = document.documentElement.scrollWidth - innerWidth;
return state;
"""


@needs_chromium
@pytest.mark.slow
def test_page_keeps_and_saves_answers(tmp_path: Path) -> None:
    study = make_study((HOSTILE, '=say "b", c'), sentence=HOSTILE, question=HOSTILE)
    seen = ask(render_page(study, study.items, name="annotator-1"), tmp_path, ANSWER_SCRIPT, width=400)
    state = seen.message
    assert isinstance(state, dict), seen.dom[-500:]
    assert (state["first"], state["next"], state["progress"]) == (0, 2, "3 of 5 answered")
    assert state["answered"] == [True, True, False, False, True]
    assert (state["title"], state["images"], state["requests"]) == ("toy, annotator-1", 0, 0)
    assert state["overflow"] <= 0
    labels = [study.labels[1], study.labels[0], "", "", study.labels[1]]
    padded = [f" {label}" if label.startswith("=") else label for label in labels]
    rows = [*csv.reader(state["file"].splitlines())]
    assert rows == [["answer", "item"], *([*row] for row in zip(padded, [i.name for i in study.items], strict=True))]
    path = tmp_path / "annotator-1.csv"
    quoted = HOSTILE.replace('"', '""')
    path.write_text(re.sub('^"",', f'"{quoted}",', state["file"], flags=re.MULTILINE), "utf-8")
    assert [*read_sheet(path, study).values()] == [label or HOSTILE for label in labels]


KEEP_SCRIPT = """
const { store } = document.body.dataset;
const names = [...document.querySelectorAll("fieldset")].map((field) => field.dataset.name);
const input = document.querySelector("input");
const write = (text) => { input.value = text; input.dispatchEvent(new Event("input", { bubbles: true })); };
write("zebra"); const unknown = [input.validity.valid, document.getElementById("progress").textContent];
write(" w3 "); const known = [input.validity.valid, document.getElementById("progress").textContent];
return { unknown, known, kept: JSON.parse(localStorage.getItem(store))[names[0]] };
"""


@needs_chromium
@pytest.mark.slow
def test_many_labels_are_typed(tmp_path: Path) -> None:
    study = make_study(tuple(f"w{number}" for number in range(30)))
    seen = ask(render_page(study, study.items, name="annotator-1"), tmp_path, KEEP_SCRIPT, width=400)
    total = len(study.items)
    assert seen.message == {
        "unknown": [False, f"0 of {total} answered"],
        "known": [True, f"1 of {total} answered"],
        "kept": "w3",
    }
