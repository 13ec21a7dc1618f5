"""The command ``probe compare``: differences between encoders, intervals and paired tests."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.given_runs import check_distances, read_distances, sides_of
from sentprobe.commands.table_files import find_caption, find_table_format, print_or_write
from sentprobe.errors import ResultsError, UsageError, suggest, told
from sentprobe.probes.geometry.draws import GeometryTable, geometry_tables
from sentprobe.probes.geometry.measures import Nearness
from sentprobe.probes.geometry.tables import encoders_of
from sentprobe.probes.report import comparisons
from sentprobe.probes.report import distance_comparisons as distances
from sentprobe.probes.report.comparisons import Comparison, Side
from sentprobe.probes.report.geometry import same_keys
from sentprobe.probes.report.tables import arrange, settings
from sentprobe.probes.report.view import to_text as write_sections
from sentprobe.probes.runs.results import Results
from sentprobe.probes.runs.store import read_results
from sentprobe.probes.statistics import Correction
from sentprobe.screen import print_table, say
from sentprobe.specs import choose
from sentprobe.table_writers import Caption, Grid, TableFormat, draw, write_records


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
    correction: Annotated[str, opt.correction_for("comparisons")] = "holm",
    against: Annotated[
        str | None, typer.Option(help="Compare each encoder of the run with this one only.")
    ] = None,
    table: opt.TableOption = None,
    nearness: opt.NearnessOption = "cosine",
    *,
    latex: opt.LatexOptions,
) -> None:
    """Compare encoders task by task: differences, intervals and paired tests.

    Where the folders have results of probe geometry, contrast by contrast as well.
    """
    style = find_table_format(format_, out, what="a comparison")
    caption = find_caption(latex, style)
    corrected = choose(Correction, correction, what="correction")
    near = choose(Nearness, nearness, what="nearness")
    found = find_all(runs, correction=corrected, against=against, table=table, nearness=near)
    if style is TableFormat.TEXT and out is None:
        for grid, notes in found.tables(corrected):
            print_table(draw(grid))
            say(notes, end="")
    else:
        print_or_write(to_text(found, corrected, style, caption), out)


@dataclass(frozen=True, slots=True)
class ComparisonsFound:
    """What was compared: encoders by their probes, and by their distances."""

    probes: tuple[Comparison, ...]
    geometry: tuple[distances.GeometryComparison, ...] = ()

    def tables(self, correction: Correction) -> Iterator[tuple[Grid, str]]:
        """Yield each table with the lines below it; p-values are corrected within one."""
        if self.probes:
            notes = comparisons.explain(self.probes, correction=correction)
            yield comparisons.comparison_grid(self.probes), notes
        if self.geometry:
            notes = distances.explain_geometry(self.geometry, correction=correction)
            yield distances.geometry_comparison_grid(self.geometry), notes

    def to_records(self) -> list[dict[str, Any]]:
        """Return a flat dictionary for each comparison, all with the same keys."""
        of_geometry = distances.geometry_comparison_records(self.geometry)
        return same_keys(comparisons.to_records(self.probes), of_geometry)


def to_text(
    found: ComparisonsFound, correction: Correction, style: TableFormat, caption: Caption
) -> str:
    """Return the comparisons as text in any of the formats."""
    if style in (TableFormat.CSV, TableFormat.JSON):
        return write_records(found.to_records(), style)
    shown = [("", grid, notes) for grid, notes in found.tables(correction)]
    return write_sections(shown, style, caption=caption)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run that is compared, or an encoder of it: what its probes have, and its geometry."""

    path: Path
    encoder: str | None
    results: Results
    """Of all its encoders."""
    tables: tuple[GeometryTable, ...]

    @property
    def probed(self) -> bool:
        """Whether what is compared has probes."""
        names = {record.encoder for record in self.results.records}
        return bool(names) if self.encoder is None else self.encoder in names


def find_all(
    runs: Sequence[str],
    *,
    correction: Correction = Correction.HOLM,
    against: str | None = None,
    table: int | None = None,
    nearness: Nearness = Nearness.COSINE,
) -> ComparisonsFound:
    """Compare encoders by their probes and by their distances, as far as the runs have these.

    If one of the two cannot be compared and the other can, a line on stderr says why.
    """
    _check_runs(runs, against)
    given = [_read_run(run) for run in runs]
    of_probes = partial(compare_probes, given, correction=correction, against=against, table=table)
    if table is not None:
        _check_probed(given)
        return ComparisonsFound(of_probes())
    _check_kinds(given)
    if not all(run.tables for run in given):
        check_distances([], nearness)
        return ComparisonsFound(of_probes())
    probed = all(run.probed for run in given)
    if not probed and any(run.probed for run in given):
        (without,) = (run.path for run in given if not run.probed)
        print(told(f"left out: probes: {without} has none"), file=sys.stderr)
    of_distances = partial(compare_distances, correction=correction, nearness=nearness)
    try:
        geometry = of_distances(given, against=against)
    except (UsageError, ResultsError) as error:
        if not probed:
            raise
        probes = of_probes()
        print(told(f"left out: geometry: {error}"), file=sys.stderr)
        return ComparisonsFound(probes)
    return ComparisonsFound(_or_none(of_probes) if probed else (), geometry)


def _check_probed(given: Sequence[ComparedRun]) -> None:
    """Refuse --table, which is of probes, for a folder that has geometry alone."""
    for run in given:
        if not run.results.records and run.tables:
            raise UsageError(
                f"{run.path}: --table is of probes, and it has results of geometry alone"
            )


def _or_none(find: Callable[[], tuple[Comparison, ...]]) -> tuple[Comparison, ...]:
    """Return what is found or, where nothing can be compared, say why."""
    try:
        return find()
    except (UsageError, ResultsError) as error:
        print(told(f"left out: probes: {error}"), file=sys.stderr)
        return ()


def _read_run(text: str) -> ComparedRun:
    path, encoder = split(text)
    results = read_results(path)
    tables = geometry_tables(read_distances([path], probed=bool(results.records)))
    if encoder is not None and tables:
        names = sorted({record.encoder for record in results.records})
        known = [*dict.fromkeys([*names, *_names(tables)])]
        if encoder not in known:
            raise _no_encoder(path, encoder, known)
        tables = tuple(filter(None, (distances.of_encoder(each, encoder) for each in tables)))
    return ComparedRun(path=path, encoder=encoder, results=results, tables=tables)


def _names(tables: Sequence[GeometryTable]) -> list[str]:
    return encoders_of([each for table in tables for each in table])


def compare_distances(
    given: Sequence[ComparedRun],
    *,
    correction: Correction,
    against: str | None = None,
    nearness: Nearness = Nearness.COSINE,
) -> tuple[distances.GeometryComparison, ...]:
    """Compare the encoders of a run, or one of a run with one of another, by their distances.

    Raises:
        UsageError: which encoder of a run is not said; there is one only, or none of that name;
            they have not been measured by this nearness.
        ResultsError: they have not been measured on the same triplets.
    """
    if len(given) == 1:
        (run,) = given
        _check_against(run, against)
        pairs = [p for each in run.tables for p in distances.table_pairs(each, against=against)]
    else:
        first, second = map(_one_encoder, given)
        pairs = [*product(first, second)]
    check_distances([each for run in given for each in chain(*run.tables)], nearness)
    found = distances.compare_geometry(pairs, correction=correction, nearness=nearness)
    if not found:
        where = " and ".join(str(run.path) for run in given)
        raise ResultsError(f"{where}: no two encoders were measured on the same triplets")
    return found


def _one_encoder(run: ComparedRun) -> tuple[GeometryTable, ...]:
    names = _names(run.tables)
    if len(names) > 1:
        raise UsageError(
            f"{run.path} has {len(names)} encoders; name one, as in '{run.path}#{names[0]}'"
        )
    return run.tables


def _check_against(run: ComparedRun, against: str | None) -> None:
    names = _names(run.tables)
    if len(names) < 2:
        raise UsageError(f"{run.path} has {len(names)} encoders; a comparison needs two")
    if against is not None and against not in names:
        raise _no_encoder(run.path, against, names)


def _no_encoder(path: Path, encoder: str, known: Sequence[str]) -> UsageError:
    near = suggest(encoder, known)
    return UsageError(f"{path} has no encoder {encoder!r}{near}; it has: {', '.join(known)}")


def _check_kinds(given: Sequence[ComparedRun]) -> None:
    """Refuse distances alone beside what has none."""
    without = [run for run in given if not run.tables]
    alone = [run for run in given if run.tables and not run.probed]
    if alone and without:
        raise ResultsError(
            f"{alone[0].path} has results of geometry alone, and {without[0].path} has none of "
            "these: nothing can be compared"
        )


def compare_probes(
    given: Sequence[ComparedRun],
    *,
    correction: Correction,
    against: str | None = None,
    table: int | None = None,
) -> tuple[Comparison, ...]:
    """Compare the encoders of one run with each other, or one of a run with one of another.

    With *against*, each encoder of one run is compared with that one only. *table* chooses, of a
    run that ``probe show`` prints as several tables, one of them.
    """
    _check_table(given, table)
    if len(given) == 2:
        first, second = (
            comparisons.one_side(_sides(run, table), run.encoder, source=str(run.path))
            for run in given
        )
        return comparisons.compare([(first, second)], correction=correction)
    (run,) = given
    return comparisons.compare(
        comparisons.all_pairs(_sides(run, table), baseline=against, source=str(run.path)),
        correction=correction,
    )


def _check_runs(runs: Sequence[str], against: str | None) -> None:
    """Refuse what are not two sides."""
    if len(runs) > 2:
        raise UsageError(f"two runs are compared at a time, not {len(runs)}")
    if len(runs) == 2 and against is not None:
        raise UsageError("--against is for the encoders of one run; here are two")
    if len(runs) == 1 and split(runs[0])[1] is not None:
        raise UsageError(f"{runs[0]}: what is it to be compared with? Name a second run")


def _check_table(given: Sequence[ComparedRun], table: int | None) -> None:
    """Refuse another number than 1 where no run has several tables."""
    if table in (None, 1):
        return
    if all(len(settings(arrange(run.results))) == 1 for run in given):
        raise UsageError(f"{given[0].path} has one table, and no table {table}")


def _sides(run: ComparedRun, table: int | None) -> list[Side]:
    return sides_of(run.results, str(run.path), table)


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
