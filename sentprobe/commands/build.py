"""The command ``probe build``: write the datasets of a suite into a folder.

The command ``probe audit``: measure how accurately surface cues alone predict the labels of datasets.

The command ``probe features``: list the words that tell most about each label.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import CommandWithTaskList, map_given_options
from sentprobe.commands.shared.interruption import report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, OUTPUT_FOLDER
from sentprobe.commands.shared.table_output import find_caption, find_table_format, write_tables
from sentprobe.common import specs
from sentprobe.common.errors import SentprobeError, UsageError, require_libraries
from sentprobe.common.inputs import describe_folder, is_table
from sentprobe.common.processes import check_count
from sentprobe.common.screen import Reporter, print_message, print_place, print_table, print_text, show_bars
from sentprobe.common.settings import Repeatable
from sentprobe.common.specs import GENERATED, NATURAL, SUITES, choose_member
from sentprobe.common.tables import TableFormat, build_empty_table
from sentprobe.lexicon.read import find_built_in, load_lexicon
from sentprobe.probes.runs.suite_options import (
    CardOptions,
    CompevalOptions,
    ItemOptions,
    NaturalOptions,
    reject_unused_options,
)

if TYPE_CHECKING:
    from rich.table import Table

    from sentprobe.probes.audits.cue_audit import Audit
    from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
    from sentprobe.probes.runs.suites import AnySuite

    Located = tuple[Path, ProbeDataset]

_WITH_CARD = "directory"
"""The dataset format whose ``card.json`` can store an audit."""


class LeakError(SentprobeError):
    """Error of --strict and --expect: a surface cue that should be uninformative predicts labels above chance."""


@opt.expand_option_groups
def audit(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Datasets, or folders of datasets.")],
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: Annotated[
        Path | None, opt.build_out_option(f"File to write; {opt.REPLACED} Only verdicts are then printed."), OUTPUT_FILE
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Also write each dataset's audit to its card.json.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there is a leak.")] = False,
    expect: Annotated[
        Repeatable,
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
            help=f"Format of the datasets: {specs.enumerate_names(opt.DATASET_FORMATS[:-1])}. Default: detected.",
        ),
    ] = None,
    seed: Annotated[int, opt.build_seed_option("the classifiers")] = 0,
    lexicon: Annotated[
        Path | None, typer.Option(help="Your own lexicon file, to find forms of the probe words.")
    ] = None,
    jobs: Annotated[
        int | None, opt.build_jobs_option("Default: 1 for small datasets, else up to one per core.")
    ] = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Measure the accuracy of surface cues, and report cues that leak the answer.

    A surface cue is a partial view of an item, such as its sentence's length, or the words without order.
    """
    from sentprobe.probes.datasets import formats
    from sentprobe.probes.datasets.known_task import Cue

    require_libraries("sklearn", "lightgbm")
    style = find_table_format(format_, out, subject="an audit")
    caption = find_caption(latex, style)
    expected = [choose_member(Cue, name, what="cue") for name in expect or ()]
    if read_as is not None:
        formats.check_format(read_as)
    from sentprobe.probes.audits import audit_report as report
    from sentprobe.probes.audits.cue_audit import audit_all, count_processes

    check_count("jobs", jobs)
    for path in paths:
        _check_kind(path)
    located = [located_dataset for path in paths for located_dataset in _locate(path, read_as)]
    if write:
        _check_cards(located)
    datasets = [data for _, data in located]
    words = None
    if lexicon is not None:
        words = load_lexicon(lexicon, find_built_in(datasets[0].card.language).language.code)
    jobs = jobs or count_processes(datasets)
    with show_bars() as reporter:
        audits = audit_all(datasets, expect=expected, seed=seed, lexicon=words, jobs=jobs, reporter=reporter)

    def make_records() -> list[dict[str, Any]]:
        return [*map(report.to_json, audits)] if style is TableFormat.JSON else report.to_cue_records(audits)

    write_tables(report.build_audit_tables(audits), make_records, style, out=out, caption=caption)
    if out is not None:
        print_text("\n".join(line for dataset_audit in audits for line in report.format_verdict_lines(dataset_audit)))
        print_place(f"audit: {out}")
    if write:
        _write_cards(located, audits)
    leaking = [dataset_audit.task for dataset_audit in audits if dataset_audit.is_leaky]
    if leaking and (strict or expected):
        raise LeakError(f"leaks in {len(leaking)} of {len(audits)} datasets: {', '.join(leaking)}")


@opt.expand_option_groups
def features(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Datasets, or folders of datasets.")],
    count: Annotated[int, typer.Option("--n", "-n", min=1, help="Features of each label.")] = 5,
    ngrams: Annotated[int, typer.Option(min=1, max=2, help="1: words; 2: words and bigrams.")] = 1,
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: Annotated[Path | None, opt.build_out_option(f"File to write; {opt.REPLACED}"), OUTPUT_FILE] = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """List the words that tell most about each label, by Naive Bayes.

    They have the highest log-odds in the baseline tfidf, learned from the training items.
    """
    from sentprobe.probes.audits.audit_report import build_feature_table
    from sentprobe.probes.encoders.baselines import Tfidf

    require_libraries("sklearn")
    style = find_table_format(format_, out, subject="a list of features")
    caption = find_caption(latex, style)
    for path in paths:
        _check_kind(path)
    datasets = [data for path in paths for _, data in _locate(path, None)]
    telling = [(data, Tfidf(ngrams=ngrams).find_telling_features(data, count=count)) for data in datasets]

    def make_records() -> list[dict[str, Any]]:
        return [{"task": data.name, **asdict(feature)} for data, data_features in telling for feature in data_features]

    write_tables((build_feature_table(*pair) for pair in telling), make_records, style, out=out, caption=caption)
    if out is not None:
        print_place(f"features: {out}")


def _check_kind(path: Path) -> None:
    """Raise UsageError for a results folder or a corpus table."""
    from sentprobe.probes.datasets import formats

    kind = describe_folder(path)
    if kind and formats.recognise(path) is None:
        hint = f"; build datasets from it first: probe build natural {path}"
        raise UsageError(f"{path}: is {kind}, not a dataset{hint if is_table(path) else ''}")


def _locate(path: Path, read_as: str | None) -> "list[Located]":
    """Return the dataset at *path*, or the datasets in the folder *path*, each with its path."""
    from sentprobe.probes.datasets import formats

    if read_as is not None or not path.is_dir() or formats.recognise(path) is not None:
        return [(path, formats.read_dataset(path, format=read_as))]
    children = (child for child in sorted(path.iterdir()) if not child.name.startswith("."))
    # read_datasets raises an error if there is no dataset, or if two have the same name.
    return list(
        zip((child for child in children if formats.recognise(child)), formats.read_datasets(path), strict=True)
    )


def _check_cards(located: "Sequence[Located]") -> None:
    from sentprobe.probes.datasets import formats

    for path, _ in located:
        if (data_format := formats.recognise(path)) != _WITH_CARD:
            raise UsageError(
                f"{path}: only a dataset in the format {_WITH_CARD!r} has a card to write to, "
                f"not one in the format {data_format!r}"
            )


def _write_cards(located: "Sequence[Located]", audits: "Sequence[Audit]") -> None:
    from sentprobe.probes.audits.audit_report import to_json
    from sentprobe.probes.datasets import directory

    for (path, data), dataset_audit in zip(located, audits, strict=True):
        # The paper's baselines in the card of a natural-text task are kept.
        baselines = {key: value for key, value in data.card.audit.items() if key == "baselines"}
        card = replace(data.card, audit={**baselines, **to_json(dataset_audit)})
        directory.write_card(replace(data, card=card), path)
        print_message(f"audit written to the card: {path}")


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
    compeval: CompevalOptions,
    items: ItemOptions,
    card: CardOptions,
    natural: NaturalOptions,
) -> None:
    """Build the datasets of a suite and write them into a folder.

    A suite is a list of tasks. The dataset of a task has sentences, questions about them, and the answers.
    """
    from sentprobe.probes.datasets import hub_dataset
    from sentprobe.probes.runs.suites import (
        build_failure_error,
        check_sampling,
        make_compeval,
        make_natural,
        open_table_unchecked,
    )
    from sentprobe.probes.runs.targets import missing_table_error, unknown_suite_error

    licence_name = hub_dataset.check_licence(licence, format_)
    if suite in SUITES:
        reject_unused_options(map_given_options(context), [suite], data_name=suite)
    chosen_suite: AnySuite
    if suite == NATURAL:
        if not tables:
            raise missing_table_error("probe build")
        corpora = [open_table_unchecked(table) for table in tables]
        chosen_suite = make_natural(corpora, task or (), natural, items, seed=seed, audit=card.audit)
        check_sampling(chosen_suite.tasks, chosen_suite.recipe.settings.sampling)
    elif suite not in GENERATED:
        raise unknown_suite_error(suite)
    elif tables:
        raise UsageError(f"a table ({tables[0]}) is for the suite natural, not for {suite}")
    else:
        chosen_suite = make_compeval(task or (), compeval, items, suite=suite, seed=seed)
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
    from sentprobe.probes.datasets import directory, formats, hub
    from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
    from sentprobe.probes.runs.suites import build_all, rename_as_published

    suffix = formats.check_format(fmt).suffix
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
            formats.write_dataset(stored, paths[name], format=fmt)
            if suffix:
                hub.write_split_files(result, out / hub.PARQUET / name)
            datasets.append(result)
        else:
            failures.append(result)
    return datasets, failures


def _write_readme(out: Path, *, fmt: str, licence: str) -> None:
    from sentprobe.probes.datasets import hub, hub_dataset
    from sentprobe.probes.runs.suites import find_known_task

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
    from sentprobe.probes.runs.suites import NaturalSuite

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
    from sentprobe.probes.runs.suites import NaturalSuite

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
    from sentprobe.probes.datasets.dataset import Split
    from sentprobe.probes.generated.items import count_templates

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
