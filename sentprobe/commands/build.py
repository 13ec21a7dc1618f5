"""The command ``probe build``: the datasets of a suite, into a folder."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.completion import complete_suite
from sentprobe.commands.stopping import stopping
from sentprobe.commands.targets import parse_compeval, parse_natural
from sentprobe.commands.task_list import ListsTasks
from sentprobe.errors import UsageError
from sentprobe.probes import formats
from sentprobe.probes.compeval import structures_of
from sentprobe.probes.dataset import ProbeDataset, Split, TooFewError
from sentprobe.probes.natural.select import told_once
from sentprobe.probes.runs.built_suites import (
    AnySuite,
    NaturalSuite,
    build_all,
    check_sampled,
    failed,
    find_table,
)
from sentprobe.probes.runs.targets import unknown_suite, without_table
from sentprobe.probes.suites import as_published, known_task
from sentprobe.progress import Reporter, bars
from sentprobe.screen import print_table, say
from sentprobe.specs import COMPEVAL, NATURAL, SUITES
from sentprobe.table_writers import empty_table

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(add_completion=False)

WITHOUT_COLUMNS = ("hub", "published", "senteval")
"""The formats that hold no columns of items."""


@app.command("build", cls=ListsTasks)
@opt.with_groups
def build(
    context: typer.Context,
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help="The tasks: compeval, or natural with a table.",
            autocompletion=complete_suite,
        ),
    ],
    out: Annotated[Path, opt.out_to("Folder for the datasets.")],
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="What probe analyze made of a corpus.")
    ] = None,
    task: opt.TaskOption = None,
    seed: Annotated[int, opt.seed_of("the datasets; the same gives the same bytes")] = 0,
    format_: Annotated[
        str, opt.format_among("directory, jsonl, published, senteval, csv, splits or hub.")
    ] = "directory",
    licence: Annotated[
        str | None,
        typer.Option("--license", help="With --format hub: the licence that the README names."),
    ] = None,
    *,
    compeval: opt.CompevalOptions,
    items: opt.ItemOptions,
    card: opt.CardOptions,
    natural: opt.NaturalOptions,
) -> None:
    """Build the datasets of a suite and write them into a folder."""
    named = _find_licence(licence, format_)
    if suite in SUITES:
        opt.refuse_idle(opt.options_given(context), [suite], what=suite)
    wanted: AnySuite
    if suite == NATURAL:
        if table is None:
            raise without_table("probe build")
        corpus = find_table(table)
        wanted = parse_natural(corpus, task or (), natural, items, seed=seed, audit=card.audit)
        check_sampled(wanted.tasks, wanted.recipe.settings.sampling)
    elif suite != COMPEVAL:
        raise unknown_suite(suite)
    elif table is not None:
        raise UsageError(f"a table ({table}) is for the suite natural, not for {suite}")
    else:
        wanted = parse_compeval(task or (), compeval, items, seed=seed)
        if wanted.structure is not None and format_ in WITHOUT_COLUMNS:
            raise UsageError(
                f"the format {format_} cannot say of an item whether its structure is held out; "
                "choose directory, jsonl, csv or splits"
            )
    kept = f"the datasets that were finished are in {out}; the same command builds all of them anew"
    with stopping(kept), bars() as reporter:
        datasets, failures = build_into(
            wanted, out=out, fmt=format_, command=opt.command_line(), reporter=reporter
        )
        _write_readme(out, fmt=format_, licence=named)
    _print(wanted, datasets)
    if failures:
        raise failed(failures, of=len(datasets) + len(failures))
    print(f"datasets: {out}")


def build_into(
    suite: AnySuite, *, out: Path, fmt: str, command: str, reporter: Reporter
) -> tuple[list[ProbeDataset], list[TooFewError]]:
    """Build the datasets of a suite and write each into *out*, under the name of its task.

    For SentEval it is the name of its file. Return them, and the errors of the tasks that could
    not be built.

    Raises:
        UsageError: no such format, or one that holds no probe words; *out*, or what is to be
            written there, is in the way.
        SentprobeError: a dataset or the table cannot be made, read or written.
    """
    suffix = formats.check_format(fmt).suffix
    published = fmt == "senteval"
    if published:
        _check_no_probe_words(suite)
    places = {
        task.name: out / f"{(published and task.published) or task.name}{suffix}"
        for task in suite.tasks
    }
    formats.prepare_folder(out, [] if suffix else [*places.values()])
    datasets: list[ProbeDataset] = []
    failures: list[TooFewError] = []
    for name, built in build_all(suite, command=command, reporter=reporter):
        if isinstance(built, ProbeDataset):
            stored = as_published(built) if published else built
            formats.write_dataset(stored, places[name], format=fmt)
            if suffix:
                formats.write_split_files(built, out / formats.PARQUET / name)
            datasets.append(built)
        else:
            failures.append(built)
    return datasets, failures


def _find_licence(name: str | None, fmt: str) -> str:
    """Return the licence that the README names.

    Raises:
        UsageError: the format has none; it is no name of a licence.
    """
    if name is not None and fmt != formats.HUB:
        raise UsageError(f"--license is for --format hub, not for {fmt}")
    return formats.check_licence(formats.UNKNOWN if name is None else name)


def _write_readme(out: Path, *, fmt: str, licence: str) -> None:
    def asks(name: str) -> str:
        task = known_task(name)
        return task.asks if task else ""

    if fmt == formats.HUB:
        ours = formats.write_hub_readme(out, licence=licence, asks=asks)
    else:
        ours = formats.write_folder_readme(out)
    if not ours:
        print(f"{out / 'README.md'}: is not sentprobe's, and left as it is", file=sys.stderr)


def _check_no_probe_words(suite: AnySuite) -> None:
    if isinstance(suite, NaturalSuite):
        asking = [f"{task.name} has" for task in suite.tasks if task.slots]
    else:
        asking = ["the compeval tasks have"]
    if asking:
        raise UsageError(
            f"{asking[0]} probe words, which the format senteval cannot hold; "
            "choose directory, jsonl or published"
        )


def _print(suite: AnySuite, datasets: Sequence[ProbeDataset]) -> None:
    if datasets:
        natural = isinstance(suite, NaturalSuite)
        print_table((natural_summary if natural else compeval_summary)(datasets))
    for note in told_once(f"{data.name}: {note}" for data in datasets for note in data.card.notes):
        say(note)


def compeval_summary(datasets: Sequence[ProbeDataset]) -> "Table":
    """Return a table for a terminal: what each dataset consists of."""
    rows = [
        (
            str(len(data.sentences)),
            str(len(structures_of(data.card, Split.TRAIN))),
            f"{100 * max(data.card.largest_share.values()):.1f}%",
        )
        for data in datasets
    ]
    return _summary(datasets, ("sentences", "structures", "largest share"), rows, style="{}")


BASELINES = ("majority", "length", "nb-uni-tfidf", "nb-bi-tfidf")
"""The baselines of a card's audit, in the order of the paper's table."""


def natural_summary(datasets: Sequence[ProbeDataset]) -> "Table":
    """Return a table for a terminal: sizes, classes, and what the baselines achieve (percent)."""
    rows = []
    for data in datasets:
        scores = data.card.audit.get("baselines", {})
        shown = [f"{100 * scores[name]:.1f}" if name in scores else "-" for name in BASELINES]
        rows.append((str(len(data.labels)), *shown))
    return _summary(datasets, ("classes", *BASELINES), rows, style="{:,}")


def _summary(
    datasets: Sequence[ProbeDataset],
    heads: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    style: str,
) -> "Table":
    """Return a table of the sizes of the splits, in *style*, and the other cells of each row."""
    splits = [split for split in Split if any(split in data.splits for data in datasets)]
    table = empty_table(["task", *(split.value for split in splits), *heads])
    for data, row in zip(datasets, rows, strict=True):
        sizes = [style.format(len(data.splits[split])) for split in splits]
        table.add_row(data.name, *sizes, *row)
    return table
