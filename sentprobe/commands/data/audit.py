"""The command ``probe audit``: measure how accurately surface cues alone predict the labels of datasets."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe import names
from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import find_table_format
from sentprobe.disk.files import atomic_path
from sentprobe.disk.markers import describe_folder, is_table
from sentprobe.display.screen import print_message, print_place, print_text
from sentprobe.display.table_writers import TableFormat
from sentprobe.errors import SentprobeError, UsageError
from sentprobe.extras import require_libraries
from sentprobe.lexicon.read import find_built_in, load_lexicon
from sentprobe.processes import check_count
from sentprobe.progress import has_width, make_console, show_bars
from sentprobe.specs import choose_member

if TYPE_CHECKING:
    from sentprobe.probes.audit.cue_audit import Audit
    from sentprobe.probes.dataset import ProbeDataset

    Located = tuple[Path, ProbeDataset]

STYLES = ("text", "markdown", "json")
_WITH_CARD = "directory"
"""The dataset format whose ``card.json`` can store an audit."""


class LeakError(SentprobeError):
    """Error of --strict and --expect: a surface cue that should be uninformative predicts labels above chance."""


def audit(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Datasets, or folders of datasets.")],
    format_: Annotated[str, opt.build_format_option(STYLES)] = "text",
    out: Annotated[
        Path | None, opt.build_out_option(f"File to write; {opt.REPLACED} Only verdicts are then printed."), OUTPUT_FILE
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Also write each dataset's audit to its card.json.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there is a leak.")] = False,
    expect: Annotated[
        opt.Repeatable,
        typer.Option(
            metavar="CUE",
            help="Accept that this cue leaks: probe (the probe words alone), length, bag-of-words, n-grams, position, "
            "fixed-positions, template or sentence (the sentence alone); repeatable. Exit with 1 if another cue leaks.",
        ),
    ] = None,
    read_as: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Format of the datasets: {names.enumerate_names(opt.DATASET_FORMATS[:-1])}. Default: detected.",
        ),
    ] = None,
    seed: Annotated[int, opt.build_seed_option("the classifiers")] = 0,
    lexicon: Annotated[
        Path | None, typer.Option(help="Your own lexicon file, to find forms of the probe words.")
    ] = None,
    jobs: Annotated[
        int | None, opt.build_jobs_option("Default: 1 for small datasets, else up to one per core.")
    ] = None,
) -> None:
    """Measure the accuracy of surface cues, and report cues that leak the answer.

    A surface cue is a partial view of an item, such as its sentence's length, or the words without order.
    """
    from sentprobe.probes.formats import registry
    from sentprobe.probes.known_task import Cue

    require_libraries("sklearn", "lightgbm")
    style = find_table_format(format_, None, subject="an audit", allowed=[*map(TableFormat, STYLES)])
    expected = [choose_member(Cue, name, what="cue") for name in expect or ()]
    if read_as is not None:
        registry.check_format(read_as)
    from sentprobe.probes.audit.audit_report import format_verdict_lines, render
    from sentprobe.probes.audit.cue_audit import audit_all, count_processes

    check_count("jobs", jobs)
    for path in paths:
        _check_kind(path)
    located = [located_dataset for path in paths for located_dataset in _locate(path, read_as)]
    if write:
        _check_cards(located)
    # Opened before the work, so that a wrong path fails at once.
    with nullcontext() if out is None else atomic_path(out) as file:
        datasets = [data for _, data in located]
        words = None
        if lexicon is not None:
            words = load_lexicon(lexicon, find_built_in(datasets[0].card.language).language.code)
        jobs = jobs or count_processes(datasets)
        with show_bars() as reporter:
            audits = audit_all(datasets, expect=expected, seed=seed, lexicon=words, jobs=jobs, reporter=reporter)
        if file is None:
            _print_audits(audits, style)
        else:
            file.write_text(render(audits, style=style), encoding="utf-8", newline="\n")
            print_text("\n".join(line for dataset_audit in audits for line in format_verdict_lines(dataset_audit)))
            print_place(f"audit: {out}")
    if write:
        _write_cards(located, audits)
    leaking = [dataset_audit.task for dataset_audit in audits if dataset_audit.is_leaky]
    if leaking and (strict or expected):
        raise LeakError(f"leaks in {len(leaking)} of {len(audits)} datasets: {', '.join(leaking)}")


def _check_kind(path: Path) -> None:
    """Raise UsageError for a results folder or a corpus table."""
    from sentprobe.probes.formats import registry

    kind = describe_folder(path)
    if kind and registry.recognise(path) is None:
        hint = f"; build datasets from it first: probe build natural {path}"
        raise UsageError(f"{path}: is {kind}, not a dataset{hint if is_table(path) else ''}")


def _locate(path: Path, read_as: str | None) -> "list[Located]":
    """Return the dataset at *path*, or the datasets in the folder *path*, each with its path."""
    from sentprobe.probes.formats import registry

    if read_as is not None or not path.is_dir() or registry.recognise(path) is not None:
        return [(path, registry.read_dataset(path, format=read_as))]
    children = (child for child in sorted(path.iterdir()) if not child.name.startswith("."))
    # read_datasets raises an error if there is no dataset, or if two have the same name.
    return list(
        zip((child for child in children if registry.recognise(child)), registry.read_datasets(path), strict=True)
    )


def _check_cards(located: "Sequence[Located]") -> None:
    from sentprobe.probes.formats import registry

    for path, _ in located:
        if (data_format := registry.recognise(path)) != _WITH_CARD:
            raise UsageError(
                f"{path}: only a dataset in the format {_WITH_CARD!r} has a card to write to, "
                f"not one in the format {data_format!r}"
            )


def _print_audits(audits: "Sequence[Audit]", style: TableFormat) -> None:
    from sentprobe.probes.audit.audit_report import print_audits, render

    if style is TableFormat.TEXT and has_width():
        print_audits(audits, make_console())
    else:
        print(render(audits, style=style), end="")


def _write_cards(located: "Sequence[Located]", audits: "Sequence[Audit]") -> None:
    from sentprobe.probes.audit.audit_report import to_json
    from sentprobe.probes.formats import directory

    for (path, data), dataset_audit in zip(located, audits, strict=True):
        # The paper's baselines in the card of a natural-text task are kept.
        baselines = {key: value for key, value in data.card.audit.items() if key == "baselines"}
        card = replace(data.card, audit={**baselines, **to_json(dataset_audit)})
        directory.write_card(replace(data, card=card), path)
        print_message(f"audit written to the card: {path}")
