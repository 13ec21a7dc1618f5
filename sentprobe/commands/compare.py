"""The command ``probe compare``: differences between encoders, with intervals and paired tests.

The command ``probe verify``: repeat a run, or compare two, figure by figure.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.run_file import TRUST_HELP
from sentprobe.commands.shared.table_output import find_caption, find_table_format, write_tables
from sentprobe.common.errors import ResultsError, SentprobeError, UsageError, format_count
from sentprobe.common.scratch import make_scratch_folder
from sentprobe.common.screen import print_message, print_text
from sentprobe.common.specs import choose_member
from sentprobe.common.tables import ShownTable, TableFormat

if TYPE_CHECKING:
    from sentprobe.probes.language_models.pair_results import PairTables
    from sentprobe.probes.reports import distance_comparisons as distances
    from sentprobe.probes.reports.comparisons import Comparison
    from sentprobe.probes.results.result import Result, Results
    from sentprobe.probes.similarity.distance_draws import GeometryTable
    from sentprobe.probes.similarity.measures import Nearness
    from sentprobe.probes.statistics import Correction


MAX_ROWS = 200
"""Maximum number of differences between probes that are all printed."""


@opt.expand_option_groups
def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN [RUN]", help="Results folder, or an encoder in it: DIR#ENCODER.")
    ],
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: opt.OutFileOption = None,
    correction: opt.CorrectionOption = "holm",
    against: Annotated[
        str | None,
        typer.Option(help="Compare with this encoder or control ('words and positions') only. Default: all."),
    ] = None,
    table: opt.TableOption = None,
    nearness: opt.NearnessOption = "cosine",
    *,
    all_pairs: Annotated[
        bool,
        typer.Option(
            "--all-pairs",
            help=f"Print all differences, also above {MAX_ROWS}: else those from the best and the next better encoder.",
        ),
    ] = False,
    latex: opt.LatexOptions,
) -> None:
    """Compare encoders on each task: differences, intervals, paired tests.

    Results of probe geometry are compared on each contrast, those of probe lm on each paradigm.
    """
    from sentprobe.probes.similarity.measures import Nearness
    from sentprobe.probes.statistics import Correction

    style = find_table_format(format_, out, subject="a comparison")
    caption = find_caption(latex, style)
    corrected = choose_member(Correction, correction, what="correction")
    chosen_nearness = choose_member(Nearness, nearness, what="nearness")
    run_comparisons = compare_runs(runs, correction=corrected, against=against, table=table, nearness=chosen_nearness)
    max_rows = None if all_pairs or against is not None or out is not None else MAX_ROWS
    tables = run_comparisons.tables(corrected, max_rows=max_rows)
    write_tables(tables, run_comparisons.to_records, style, out=out, caption=caption)


@dataclass(frozen=True, slots=True)
class RunComparisons:
    """Comparisons of encoders by probe accuracy and by distances (``geometry``), and comparisons of language models."""

    probes: "tuple[Comparison, ...]" = ()
    geometry: "tuple[distances.GeometryComparison, ...]" = ()
    language_models: "PairTables" = ()

    def tables(self, correction: "Correction", *, max_rows: int | None) -> Iterator[ShownTable]:
        """Yield (empty title, cells, notes) for each table. The notes name the *correction* of p-values.

        - max_rows: if more differences between probes were computed, only the main ones are rows; None: all
        """
        from sentprobe.probes.reports import comparisons
        from sentprobe.probes.reports import distance_comparisons as distances

        if self.probes:
            notes = comparisons.describe_comparisons(self.probes, correction=correction)
            shown: Sequence[Comparison] = self.probes
            if max_rows is not None and len(self.probes) > max_rows:
                shown = comparisons.select_main_comparisons(self.probes)
                notes += (
                    f"Shown: {len(shown):,} of {len(self.probes):,} differences, each encoder from the best on its "
                    "task and from the next better one; --all-pairs prints all, and files have all.\n"
                )
            yield "", comparisons.build_comparison_grid(shown), notes
        if self.geometry:
            notes = distances.describe_geometry_comparisons(self.geometry, correction=correction)
            yield "", distances.build_geometry_comparison_grid(self.geometry), notes
        for table in self.language_models:
            yield "", *table.build_comparison_grid()

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each comparison, all with the same keys."""
        from sentprobe.probes.reports import comparisons
        from sentprobe.probes.reports import distance_comparisons as distances
        from sentprobe.probes.reports.tables.distance_report import fill_missing_keys

        return fill_missing_keys(
            comparisons.to_comparison_records(self.probes),
            distances.to_geometry_comparison_records(self.geometry),
            [record for table in self.language_models for record in table.to_comparison_records()],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run's results. If ``encoder`` is not None, ``tables`` and ``language_models`` have only its results."""

    path: Path
    encoder: str | None
    results: "Results"
    tables: "tuple[GeometryTable, ...]"
    language_models: "PairTables"

    @property
    def probed(self) -> bool:
        """Whether the run, or the chosen encoder, has results of probes."""
        names = {record.encoder for record in self.results.records}
        return bool(names) if self.encoder is None else self.encoder in names


def compare_runs(
    runs: Sequence[str], *, correction: "Correction", against: str | None, table: int | None, nearness: "Nearness"
) -> RunComparisons:
    """Compare encoders by each kind of result (probes, distances, language models) that all runs have.

    If *table* is given, only the probes in table number *table* of ``probe show`` are compared. Kinds whose comparison
    fails are named on stderr, and so are probes that only one run has.
    """
    from sentprobe.commands.shared.shown_results import check_distances

    _check_runs(runs, against)
    compared_runs = [_read_run(run) for run in runs]
    options: Any = {"correction": correction, "against": against}
    compare_all_probes = partial(compare_probes, compared_runs, table=table, **options)
    if table is not None:
        for run in compared_runs:
            if not run.results.records and run.tables:
                raise UsageError(f"{run.path}: --table is for probes, and the run has results of geometry alone")
        return RunComparisons(compare_all_probes())
    requests: dict[str, Callable[[], Any]] = {}
    if all(run.language_models for run in compared_runs):
        requests["language_models"] = partial(compare_models, compared_runs, **options)
    else:
        _check_kinds(compared_runs)
    if all(run.tables for run in compared_runs):
        requests["geometry"] = partial(compare_distances, compared_runs, nearness=nearness, **options)
    else:
        check_distances([], nearness)
    # Probes are requested last: if nothing can be compared, the error about them is raised.
    unprobed = [run for run in compared_runs if not run.probed]
    if not unprobed or not requests:
        requests["probes"] = compare_all_probes
    elif len(unprobed) < len(compared_runs):
        print_message(f"left out: probes: {unprobed[0].path} has no results of probes")
    return RunComparisons(**_collect_comparisons(requests))


def _collect_comparisons(requests: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return the comparisons of each kind. Errors are printed; if all requests fail, the last error is raised."""
    comparisons, errors = {}, {}
    for kind, compare_pairs in requests.items():
        try:
            comparisons[kind] = compare_pairs()
        except (UsageError, ResultsError) as error:
            errors[kind] = error
    if not comparisons:
        raise errors.popitem()[1]
    for kind, reason in errors.items():
        print_message(f"left out: {kind.replace('_', ' ')}: {reason}")
    return comparisons


def _read_run(text: str) -> ComparedRun:
    from sentprobe.commands.shared.shown_results import read_distances
    from sentprobe.probes.language_models.pair_results import list_model_names, read_pair_tables, select_models
    from sentprobe.probes.reports import distance_comparisons as distances
    from sentprobe.probes.reports.comparisons import choose_encoder
    from sentprobe.probes.results.store import read_results
    from sentprobe.probes.similarity.distance_draws import build_geometry_tables

    path, encoder = split_run(text)
    results = read_results(path)
    tables = build_geometry_tables(read_distances([path]))
    pair_tables = read_pair_tables([path])
    if encoder is not None and (tables or pair_tables):
        names = sorted({record.encoder for record in results.records})
        names += [*_list_encoder_names(tables), *list_model_names(pair_tables)]
        choose_encoder([*dict.fromkeys(names)], encoder, source=str(path))
        tables = tuple(filter(None, (distances.select_encoder_results(table, encoder) for table in tables)))
        pair_tables = select_models(pair_tables, encoder)
    return ComparedRun(path=path, encoder=encoder, results=results, tables=tables, language_models=pair_tables)


def _list_encoder_names(tables: "Sequence[GeometryTable]") -> list[str]:
    from sentprobe.probes.similarity.distance_tables import list_encoders

    return list_encoders([result for table in tables for result in table])


def compare_distances(
    compared_runs: Sequence[ComparedRun], *, correction: "Correction", against: str | None = None, nearness: "Nearness"
) -> "tuple[distances.GeometryComparison, ...]":
    """Compare encoders by the distances of their vectors, within a run or between two runs."""
    from sentprobe.commands.shared.shown_results import check_distances
    from sentprobe.probes.reports import distance_comparisons as distances
    from sentprobe.probes.reports.comparisons import choose_encoder

    if len(compared_runs) == 1:
        (run,) = compared_runs
        names = _list_encoder_names(run.tables)
        if len(names) < 2:
            raise UsageError(f"{run.path} has {format_count(len(names), 'encoder')}; a comparison needs two")
        choose_encoder(names, against or names[0], source=str(run.path))
        pairs = [p for table in run.tables for p in distances.list_table_pairs(table, against=against)]
    else:
        for run in compared_runs:
            choose_encoder(_list_encoder_names(run.tables), None, source=str(run.path))
        first, second = compared_runs
        pairs = [*product(first.tables, second.tables)]
    check_distances([result for run in compared_runs for result in chain(*run.tables)], nearness)
    comparisons = distances.compare_geometry(pairs, correction=correction, nearness=nearness)
    if not comparisons:
        where = " and ".join(str(run.path) for run in compared_runs)
        raise ResultsError(f"{where}: no two encoders were measured on the same triplets")
    return comparisons


def compare_models(
    compared_runs: Sequence[ComparedRun], *, correction: "Correction", against: str | None
) -> "PairTables":
    """Compare language models, within a run or between two runs."""
    from sentprobe.probes.language_models.pair_results import match_models, match_tables

    first = compared_runs[0]
    if len(compared_runs) == 2:
        matched = match_tables(first.language_models, compared_runs[1].language_models)
    else:
        matched = match_models(first.language_models, against, source=str(first.path))
    return tuple(replace(table, correction=correction) for table in matched)


def _check_kinds(compared_runs: Sequence[ComparedRun]) -> None:
    """Raise ResultsError if one run has only geometry and the other run has no geometry."""
    without_geometry = [run for run in compared_runs if not run.tables]
    geometry_only = [run for run in compared_runs if run.tables and not run.probed]
    if geometry_only and without_geometry:
        raise ResultsError(
            f"{geometry_only[0].path} has results of geometry alone, and {without_geometry[0].path} has no geometry: "
            "nothing can be compared"
        )


def compare_probes(
    compared_runs: Sequence[ComparedRun], *, correction: "Correction", against: str | None, table: int | None
) -> "tuple[Comparison, ...]":
    """Compare encoders by their probes, within a run or between two runs.

    - against: the encoder of a single run with which all others are compared; None: compare all pairs
    - table: number of the table to compare, if a run has several
    """
    from sentprobe.commands.shared.shown_results import build_sides
    from sentprobe.probes.reports import comparisons
    from sentprobe.probes.reports.tables.main_table import sort_results, split_settings

    if table not in (None, 1) and all(len(split_settings(sort_results(run.results))) == 1 for run in compared_runs):
        raise UsageError(f"{compared_runs[0].path} has one table, not a table {table}")
    if len(compared_runs) == 2:
        first, second = (
            comparisons.select_encoder(
                build_sides(run.results, str(run.path), table), run.encoder, source=str(run.path)
            )
            for run in compared_runs
        )
        return comparisons.compare_pairs([(first, second)], correction=correction)
    (run,) = compared_runs
    sides = build_sides(run.results, str(run.path), table)
    return comparisons.compare_in_run(sides, against=against, source=str(run.path), correction=correction)


def _check_runs(runs: Sequence[str], against: str | None) -> None:
    """Raise UsageError for more than two runs, for two runs plus *against*, or for a single run ``DIR#ENCODER``."""
    if len(runs) > 2:
        raise UsageError(f"give one or two runs, not {len(runs)}")
    if len(runs) == 2 and against is not None:
        raise UsageError("--against is for the encoders of one run, not of two")
    if len(runs) == 1 and split_run(runs[0])[1] is not None:
        raise UsageError(f"{runs[0]}: name a second run to compare it with")


def split_run(text: str) -> tuple[Path, str | None]:
    """Split ``DIR`` or ``DIR#ENCODER`` into folder and encoder (or None); the folder's name may contain ``#``.

    >>> split_run("runs/first#bow")
    (PosixPath('runs/first'), 'bow')
    """
    if Path(text).exists():
        return Path(text), None
    for position, character in enumerate(text):
        if character == "#" and Path(text[:position]).is_dir():
            return Path(text[:position]), text[position + 1 :]
    head, mark, encoder = text.partition("#")
    return Path(head), encoder if mark else None


def verify(
    run: Annotated[Path, typer.Argument(help="Results folder, as written by probe run --out.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="A second results folder. Default: RUN is repeated here.")
    ] = None,
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: opt.OutFileOption = None,
    *,
    trust: Annotated[bool, typer.Option("--trust", help=TRUST_HELP)] = False,
) -> None:
    """Repeat a run, or compare two, and say which figures are equal, and why not.

    The answers of the probes are compared. The table has the figures that are not equal; CSV and JSON have all. The
    exit code is 1 if a figure is different or missing.
    """
    from sentprobe.probes.reports import verification
    from sentprobe.probes.results.store import read_results

    style = find_table_format(format_, out, subject="a verification")
    first, notes = read_results(run), ""
    if other is not None:
        second = read_results(other)
    else:
        with make_scratch_folder() as folder:
            _repeat_run(run, folder / "again", trust=trust)
            second = read_results(folder / "again")
        first, notes = _select_repeated(first, second)
    figures = verification.verify_results(first, second)
    if not figures:
        raise UsageError(f"{run}: has no results of probes")
    grid, notes = verification.build_verification_grid(figures), verification.describe_verification(figures) + notes
    if style is TableFormat.TEXT and out is None and not grid.rows:
        print_text(notes, end="")
    else:
        write_tables([("", grid, notes)], lambda: verification.to_verification_records(figures), style, out=out)
    good = (verification.FigureVerdict.EQUAL, verification.FigureVerdict.ROUNDING)
    raise typer.Exit(0 if all(figure.verdict in good for figure in figures) else 1)


def _select_repeated(first: "Results", second: "Results") -> "tuple[Results, str]":
    """Return the scores that were repeated, and a note on others: of earlier runs into the same folder."""
    from sentprobe.probes.results.result import Results

    repeated: list[Result] = []
    for record in first.records:
        again = [other.scores for other in second.records_by_cell.get(record.cell, ())]
        seeds = {
            condition: {score.seed for scores in again if condition in scores for score in scores[condition].seeds}
            for condition in record.scores
        }
        scores = {
            condition: replace(score, seeds=tuple(seed for seed in score.seeds if seed.seed in seeds[condition]))
            for condition, score in record.scores.items()
            if seeds[condition].intersection(seed.seed for seed in score.seeds)
        }
        if scores:
            repeated.append(replace(record, scores=scores))
    others = sum(map(_count_probes, first.records)) - sum(map(_count_probes, repeated))
    note = f"Not repeated: {format_count(others, 'probe')} of other runs; run.toml is of the last.\n" if others else ""
    return Results(tuple(repeated)), note


def _count_probes(record: "Result") -> int:
    return sum(len(score.seeds) for score in record.scores.values())


def _repeat_run(run: Path, out: Path, *, trust: bool) -> None:
    """Run the command of a results folder again. Raises UsageError without its run file, SentprobeError if it fails."""
    run_file = run / "run.toml"
    if not run_file.is_file():
        raise UsageError(f"{run}: has no run.toml, which probe run --out writes; name a second results folder")
    words = ["run", "--config", str(run_file), "--out", str(out), "--no-cache", *(["--trust"] if trust else [])]
    # With -P, Python imports nothing from the working directory, which may be a stranger's results folder.
    again = subprocess.run([sys.executable, "-P", "-m", "sentprobe", *words], stdout=subprocess.DEVNULL, check=False)
    if again.returncode:
        raise SentprobeError(f"{run}: cannot be repeated: probe run failed with exit code {again.returncode}")
