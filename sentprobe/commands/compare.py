"""The command ``probe compare``: differences between encoders, intervals and paired tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.table_files import find_caption, find_table_format, print_or_write
from sentprobe.errors import UsageError
from sentprobe.probes.report import comparisons
from sentprobe.probes.report.comparisons import Comparison, Side
from sentprobe.probes.report.tables import arrange, settings
from sentprobe.probes.runs.store import read_results
from sentprobe.probes.statistics import Correction
from sentprobe.screen import print_table, say
from sentprobe.specs import choose
from sentprobe.table_writers import Caption, TableFormat, draw, write_tables


@opt.with_groups
def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN]", help="A folder of results, or an encoder of one: DIR#ENCODER."
        ),
    ],
    format_: Annotated[
        str | None, opt.format_among(f"text, markdown, latex, csv or json. {opt.OUT_DECIDES}")
    ] = None,
    out: Annotated[Path | None, opt.out_to("Write to this file.")] = None,
    correction: Annotated[
        str, typer.Option(help="For the number of comparisons: holm, bh or none.")
    ] = "holm",
    against: Annotated[
        str | None, typer.Option(help="Compare each encoder of the run with this one only.")
    ] = None,
    table: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of a run that probe show prints as several tables, the one to use."
        ),
    ] = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Compare encoders task by task: differences, intervals and paired tests."""
    style = find_table_format(format_, out, what="a comparison")
    caption = find_caption(latex, style)
    corrected = choose(Correction, correction, what="correction")
    found = find_comparisons(runs, correction=corrected, against=against, table=table)
    if style is TableFormat.TEXT and out is None:
        print_table(draw(comparisons.comparison_grid(found)))
        say(comparisons.explain(found, correction=corrected), end="")
    else:
        print_or_write(to_text(found, corrected, style, caption), out)


def to_text(
    found: Sequence[Comparison], correction: Correction, style: TableFormat, caption: Caption
) -> str:
    """Return the comparisons as text in any of the formats."""
    return write_tables(
        [comparisons.comparison_grid(found)],
        notes=comparisons.explain(found, correction=correction),
        records=lambda: comparisons.to_records(found),
        style=style,
        caption=caption,
    )


def find_comparisons(
    runs: Sequence[str],
    *,
    correction: Correction = Correction.HOLM,
    against: str | None = None,
    table: int | None = None,
) -> tuple[Comparison, ...]:
    """Compare the encoders of one run with each other, or one of a run with one of another.

    A run is a directory or, for one encoder of it, ``DIR#ENCODER``. With *against*, each encoder
    of one run is compared with that one only. *table* chooses, of a run that ``probe show`` prints
    as several tables, one of them.
    """
    if len(runs) > 2:
        raise UsageError(f"two runs are compared at a time, not {len(runs)}")
    _check_table([split(run)[0] for run in runs], table)
    if len(runs) == 2:
        if against is not None:
            raise UsageError("--against is for the encoders of one run; here are two")
        first, second = (
            comparisons.one_side(_sides(path, table), encoder, source=str(path))
            for path, encoder in map(split, runs)
        )
        return comparisons.compare([(first, second)], correction=correction)
    path, encoder = split(runs[0])
    if encoder is not None:
        raise UsageError(f"{runs[0]}: what is it to be compared with? Name a second run")
    return comparisons.compare(
        comparisons.all_pairs(_sides(path, table), baseline=against, source=str(path)),
        correction=correction,
    )


def _check_table(paths: Sequence[Path], table: int | None) -> None:
    """Refuse another number than 1 where no run has several tables."""
    if table in (None, 1):
        return
    counts = [len(settings(arrange(read_results(path)))) for path in paths]
    if max(counts) == 1:
        raise UsageError(f"{paths[0]} has one table, and no table {table}")


def _sides(path: Path, table: int | None) -> list[Side]:
    results = arrange(read_results(path))
    tables = settings(results)
    if table is not None and len(tables) > 1:
        if not 1 <= table <= len(tables):
            raise UsageError(f"{path} has the tables 1 to {len(tables)}, and no table {table}")
        return comparisons.sides(tables[table - 1], str(path))
    results = tables[0] if len(tables) == 1 else results
    hint = f"choose one of its {len(tables)} tables, as probe show numbers them, with --table"
    return comparisons.sides(results, str(path), hint=hint)


def split(text: str) -> tuple[Path, str | None]:
    """Read ``DIR`` or ``DIR#ENCODER``; a directory's name may have a # too.

    >>> split("runs/first#bow")
    (PosixPath('runs/first'), 'bow')
    """
    if Path(text).exists():
        return Path(text), None
    places = [place for place, sign in enumerate(text) if sign == "#"]
    for place in places:
        if Path(text[:place]).is_dir():
            return Path(text[:place]), text[place + 1 :]
    head, mark, encoder = text.partition("#")
    return Path(head), encoder if mark else None
