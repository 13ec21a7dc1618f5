"""The command ``probe build``: write the datasets of a suite into a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.given_options import map_given_options, reject_unused_options
from sentprobe.commands.shared.help import CommandWithTaskList
from sentprobe.commands.shared.interruption import report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.display.screen import print_message, print_place, print_table, print_text
from sentprobe.display.table_writers import build_empty_table
from sentprobe.errors import UsageError
from sentprobe.progress import Reporter, show_bars
from sentprobe.specs import GENERATED, NATURAL, SUITES

if TYPE_CHECKING:
    from rich.table import Table

    from sentprobe.probes.dataset import ProbeDataset, TooFewError
    from sentprobe.probes.runs.request.built_suites import AnySuite

app = typer.Typer(add_completion=False)
WITHOUT_COLUMNS = ("hub", "published", "senteval")
"""Dataset formats that cannot store additional columns of items."""


@app.command("build", cls=CommandWithTaskList)
@opt.expand_option_groups
def build(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="compeval, structure, or natural (needs a table).")],
    out: Annotated[Path, opt.build_out_option("Folder for the datasets; old ones are replaced."), OUTPUT_FOLDER],
    tables: Annotated[
        list[Path] | None,
        typer.Argument(metavar="TABLE...", help="Tables of corpora, from probe analyze; one per language."),
    ] = None,
    task: opt.TaskOption = None,
    seed: Annotated[int, opt.build_seed_option("the datasets")] = 0,
    format_: Annotated[str, opt.build_format_option(opt.DATASET_FORMATS)] = "directory",
    licence: Annotated[
        str | None, typer.Option("--license", help="With --format hub: licence to name in the README.")
    ] = None,
    *,
    compeval: opt.CompevalOptions,
    items: opt.ItemOptions,
    card: opt.CardOptions,
    natural: opt.NaturalOptions,
) -> None:
    """Build the datasets of a suite and write them into a folder.

    A suite is a list of tasks. The dataset of a task has sentences, questions about them, and the answers.
    """
    from sentprobe.commands.shared.target_options import parse_compeval, parse_natural
    from sentprobe.probes.formats import hub_dataset
    from sentprobe.probes.runs.request.built_suites import build_failure_error, check_sampling, open_table_unchecked
    from sentprobe.probes.runs.request.targets import missing_table_error, unknown_suite_error

    licence_name = hub_dataset.check_licence(licence, format_)
    if suite in SUITES:
        reject_unused_options(map_given_options(context), [suite], data_name=suite)
    chosen_suite: AnySuite
    if suite == NATURAL:
        if not tables:
            raise missing_table_error("probe build")
        corpora = [open_table_unchecked(table) for table in tables]
        chosen_suite = parse_natural(corpora, task or (), natural, items, seed=seed, audit=card.audit)
        check_sampling(chosen_suite.tasks, chosen_suite.recipe.settings.sampling)
    elif suite not in GENERATED:
        raise unknown_suite_error(suite)
    elif tables:
        raise UsageError(f"a table ({tables[0]}) is for the suite natural, not for {suite}")
    else:
        chosen_suite = parse_compeval(suite, task or (), compeval, items, seed=seed)
        if chosen_suite.structure is not None and format_ in WITHOUT_COLUMNS:
            raise UsageError(
                f"the format {format_} cannot mark items with a held-out structure; "
                "choose directory, jsonl, csv or splits"
            )
    resume_message = f"finished datasets are in {out}; the same command rebuilds all datasets"
    with report_interruption(resume_message), show_bars() as reporter:
        datasets, failures = build_into(
            chosen_suite, out=out, fmt=format_, command=opt.format_command_line(), reporter=reporter
        )
        _write_readme(out, fmt=format_, licence=licence_name)
    _print_summary(chosen_suite, datasets)
    if failures:
        raise build_failure_error(failures, total=len(datasets) + len(failures))
    print_place(f"datasets: {out}")


def build_into(
    suite: "AnySuite", *, out: Path, fmt: str, command: str, reporter: Reporter
) -> "tuple[list[ProbeDataset], list[TooFewError]]":
    """Build the datasets of a suite, and write each into *out* under the name of its task.

    Returns the datasets, and an error for each task that could not be built.
    """
    from sentprobe.probes.dataset import ProbeDataset, TooFewError
    from sentprobe.probes.formats import directory, hub, registry
    from sentprobe.probes.runs.request.built_suites import build_all
    from sentprobe.probes.suites import rename_as_published

    suffix = registry.check_format(fmt).suffix
    published = fmt == "senteval"
    if published:
        _check_no_probe_words(suite)
    paths = {task.name: out / f"{(published and task.published) or task.name}{suffix}" for task in suite.tasks}
    directory.prepare_folder(out, [] if suffix else [*paths.values()])
    datasets: list[ProbeDataset] = []
    failures: list[TooFewError] = []
    for name, result in build_all(suite, command=command, reporter=reporter):
        if isinstance(result, ProbeDataset):
            stored = rename_as_published(result) if published else result
            hub.remove_folder_readme(out)  # so that an interrupted command leaves no outdated README
            registry.write_dataset(stored, paths[name], format=fmt)
            if suffix:
                hub.write_split_files(result, out / hub.PARQUET / name)
            datasets.append(result)
        else:
            failures.append(result)
    return datasets, failures


def _write_readme(out: Path, *, fmt: str, licence: str) -> None:
    from sentprobe.probes.formats import hub, hub_dataset
    from sentprobe.probes.suites import find_known_task

    if fmt == hub_dataset.HUB:
        is_written = hub_dataset.write_hub_readme(
            out, licence=licence, get_question=lambda name: getattr(find_known_task(name), "question_text", "")
        )
    else:
        is_written = hub.write_folder_readme(out)
    if not is_written:
        print_message(f"{out / 'README.md'}: not written by sentprobe, so it is not changed")


def _check_no_probe_words(suite: "AnySuite") -> None:
    """Raise UsageError if a task of the suite has probe words, which SentEval's format cannot hold."""
    from sentprobe.probes.runs.request.built_suites import NaturalSuite

    if isinstance(suite, NaturalSuite):
        asking = [f"{task.name} has" for task in suite.tasks if task.slots]
    else:
        asking = [f"the {suite.name} tasks have"]
    if asking:
        raise UsageError(
            f"{asking[0]} probe words, which the format senteval cannot hold; choose directory, jsonl or published"
        )


def _print_summary(suite: "AnySuite", datasets: "Sequence[ProbeDataset]") -> None:
    from sentprobe.probes.natural.selection import merge_scaled_notes
    from sentprobe.probes.runs.request.built_suites import NaturalSuite

    if datasets:
        print_table(build_summary(datasets, natural=isinstance(suite, NaturalSuite)))
        if not isinstance(suite, NaturalSuite):
            print_table(build_composition_table(datasets))
    for note in merge_scaled_notes(f"{data.name}: {note}" for data in datasets for note in data.card.notes):
        print_text(note)


BASELINES = ("majority", "length", "nb-uni-tfidf", "nb-bi-tfidf")
"""Names of the paper's baselines in the card of a natural-text dataset."""


def build_summary(datasets: "Sequence[ProbeDataset]", *, natural: bool) -> "Table":
    """Return a terminal table with a row for each dataset: the number of items in each split, and further columns.

    For *natural* text, the further columns are the number of classes, and the baselines' accuracies in percent.
    Otherwise, they are the numbers of sentences and structures, and the share of the most frequent structure.
    """
    from sentprobe.probes.compeval.item_counts import count_templates
    from sentprobe.probes.dataset import Split

    splits = [split for split in Split if any(split in data.splits for data in datasets)]
    heads = ("classes", *BASELINES) if natural else ("sentences", "structures", "largest share")
    table = build_empty_table(["task", *(split.value for split in splits), *heads])
    for data in datasets:
        if natural:
            scores = data.card.audit.get("baselines", {})
            cells = [f"{100 * scores[name]:.1f}" if name in scores else "-" for name in BASELINES]
            cells.insert(0, str(len(data.labels)))
        else:
            largest_share = f"{100 * max(data.card.largest_share.values()):.1f}%"
            cells = [str(len(data.sentences)), str(len(count_templates(data.card, Split.TRAIN))), largest_share]
        sizes = (f"{len(data.splits.get(split, ())):{',' if natural else ''}}" for split in splits)
        table.add_row(data.name, *sizes, *cells)
    return table


def build_composition_table(datasets: "Sequence[ProbeDataset]") -> "Table":
    """Return a table to print: the percentage of sentences with each feature, in *datasets* and published datasets."""
    table = build_empty_table(["share in %", *(data.name for data in datasets), "published"])
    rows = {name: shares for data in datasets for name, shares in data.card.composition.items()}
    for name, shares in rows.items():
        own_shares = [data.card.composition.get(name, {}).get("share") for data in datasets]
        cells = ["-" if share is None else f"{100 * share:.1f}" for share in (*own_shares, shares["published"])]
        table.add_row(name, *cells)
    return table
