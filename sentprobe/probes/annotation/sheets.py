"""The sheets of a study: for each annotator a CSV file and an HTML page, both without the right answers."""

import base64
import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from sentprobe.common.files import atomic_new_folder
from sentprobe.common.tables import format_csv_row
from sentprobe.probes.annotation.study import KEY, MAX_BUTTONS, Study, StudyItem, format_study
from sentprobe.probes.datasets.records import write_lines
from sentprobe.probes.reports.tables.view import load_template

SHEETS = "sheets"
"""The folder of the sheets, beside the key."""
ANSWER, ITEM = "answer", "item"
"""The columns of a sheet that are read: an empty column for the answer, and the item's name."""


def write_study(study: Study, out: Path, *, annotators: int) -> None:
    """Write the key and the sheets of a study into the new folder *out*. Raises UsageError if it has other files."""
    names = [f"annotator-{number}" for number in range(1, annotators + 1)]
    files = [f"{SHEETS}/{name}.{suffix}" for name in names for suffix in ("csv", "html")]
    with atomic_new_folder(out, [KEY, *files]) as folder:
        (folder / SHEETS).mkdir()
        write_lines([format_study(study).removesuffix("\n")], folder / KEY)
        for name in names:
            items = [*study.items]
            random.Random(f"{study.seed} {name}").shuffle(items)  # so that fatigue falls on other items of each
            sheet = folder / SHEETS / name
            write_lines(_format_sheet(study, items), sheet.with_suffix(".csv"))
            write_lines([render_page(study, items, name=name).removesuffix("\n")], sheet.with_suffix(".html"))


def _format_sheet(study: Study, items: Sequence[StudyItem]) -> list[str]:
    labels = " | ".join(map(study.describe_label, study.labels)) if len(study.labels) <= MAX_BUTTONS else "see the page"
    rows = [(ANSWER, ITEM, "sentence", "question", "possible answers")]
    rows += [("", item.name, item.sentence, item.question, labels) for item in items]
    return [format_csv_row(row, padded=True) for row in rows]


def render_page(study: Study, items: Sequence[StudyItem], *, name: str) -> str:
    """Return an annotator's page, which needs no server and loads nothing: instructions, and a form for each item.

    Answers stay in the browser until the annotator saves them as a CSV file. All texts are escaped.
    """
    script = load_template("annotate.js").render()
    return load_template("annotate.html.j2").render(
        study=study,
        items=items,
        name=name,
        has_buttons=len(study.labels) <= MAX_BUTTONS,
        store=f"sentprobe {study.prefix} {name}",
        columns=(ANSWER, ITEM),
        script=Markup(script),  # a constant file of the package
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
