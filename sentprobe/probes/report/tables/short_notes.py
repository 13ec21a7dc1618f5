"""The notes below a table in at most four lines."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.probes.report.findings.table_findings import find_marked_cells
from sentprobe.probes.report.tables import spread_notes as sn
from sentprobe.probes.report.tables.complete_notes import count_unconverged, describe_all, find_truncated, group_by_task
from sentprobe.probes.report.tables.control_notes import join_names, summarize_controls
from sentprobe.probes.report.tables.main_table import CellStyle, describe_origins
from sentprobe.probes.results.result import Condition, EncoderOnTask, Results

LONGEST_COMMAND = 100
"""Maximum length of a command in characters; the folders are left out of a longer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteStyle:
    """The amount of notes below a table."""

    complete: bool = False
    command: str = ""
    """The command that prints all notes; empty: ``probe show``, or Python."""


SHORT = NoteStyle()
COMPLETE = NoteStyle(complete=True)


def write_table_notes(
    table: Results, style: CellStyle, notes: NoteStyle, *, folders: bool, missing: Sequence[EncoderOnTask] = ()
) -> str:
    """Return the notes below a table of one setting, without :func:`say_where_more_is`.

    - folders: whether to name the folder of each encoder, among all notes
    - missing: the encoders and tasks that only other draws have
    """
    if not notes.complete:
        return "".join(f"{line}\n" for line in summarize(table, style, missing))
    sources = describe_origins(table) if folders else ()
    lines = (*sources, *sn.describe_missing_cells(table, missing))
    return "".join(f"{line}\n" for line in lines) + describe_all(table, style=style)


def summarize(table: Results, style: CellStyle, missing: Sequence[EncoderOnTask] = ()) -> Iterator[str]:
    """Yield at most three lines: the figures, their certainty, and the verdict on the controls."""
    yield " ".join(_summarize_figures(table, style))
    yield " ".join([sn.summarize_spread(table), *sn.describe_missing_cells(table, missing), *_list_cautions(table)])
    if controls := " ".join(summarize_controls(table)):
        yield controls


def _summarize_figures(table: Results, style: CellStyle) -> Iterator[str]:
    sizes = group_by_task(table, lambda result: str(result.scores[Condition.PROBE].total))
    shares = group_by_task(table, lambda result: f"{100 * result.majority:.1f}")
    yield (
        f"Accuracy in % on {_format_values(sizes)} test items{sn.describe_mean(table)}; chance is "
        f"{_format_values(shares)}{' (by task)' if len(set(shares.values())) > 1 else ''}."
    )
    if find_marked_cells(table):
        yield (
            "Bold or *: higher than its control (chance, or a bag of words that is above chance), and significantly "
            "higher than every other encoder."
        )
    if style.published:
        yield "Rows from papers come from other data and encoders."


def _format_values(by_task: Mapping[str, str]) -> str:
    """Return the one value of all tasks, or the lowest and highest."""
    values = {value for text in by_task.values() for value in text.split(" or ")}
    least, greatest = min(values, key=float), max(values, key=float)
    return least if least == greatest else f"{least} to {greatest}"


def _list_cautions(table: Results) -> Iterator[str]:
    """Yield the most important warnings."""
    yield from sn.describe_uneven_probes(table)
    for average in sn.list_average_settings(table):
        yield f"Each probe is an average of {average} classifiers (setting average={average})."
    unconverged, probes = count_unconverged(table)
    if unconverged:
        yield f"{unconverged} of {probes} probes reached max_epochs before they converged."
    if truncated := find_truncated(table):
        encoders = join_names(dict.fromkeys(result.encoder for result in truncated))
        most = max(result.truncated or 0 for result in truncated)
        yield f"{encoders} read only the beginning of long sentences (up to {most:,} sentences on one task)."


def say_where_more_is(results: Results, notes: NoteStyle) -> str:
    """Return the line that says how to get all notes; empty if all are shown."""
    if notes.complete or not results.records:
        return ""
    return f"All notes: {notes.command or _find_command(results)}\n"


def _find_command(results: Results) -> str:
    folders = list(dict.fromkeys(result.source for result in results.records))
    if not all(folders):
        return "results.to_markdown(notes=True)"
    command = f"probe show {shlex.join(folders)} --notes"
    return command if len(command) <= LONGEST_COMMAND else "probe show RUN... --notes"
