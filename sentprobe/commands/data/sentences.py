"""The command ``probe sentences``: write the sentences of a run to a file, to encode them elsewhere."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.given_options import map_given_options
from sentprobe.commands.shared.help import CommandWithTaskList
from sentprobe.disk.files import make_parent_folder, write_atomically
from sentprobe.display.screen import print_place
from sentprobe.errors import UsageError, escape_control_characters
from sentprobe.progress import show_bars
from sentprobe.specs import choose_member
from sentprobe.values import format_json

app = typer.Typer(add_completion=False)


class SentenceFormat(StrEnum):
    """Formats of a file of sentences."""

    TEXT = "text"
    JSONL = "jsonl"


@app.command("sentences", cls=CommandWithTaskList)
@opt.expand_option_groups
def sentences(
    context: typer.Context,
    targets: Annotated[
        list[str], typer.Argument(metavar="SUITE|PATH...", help="compeval, structure, natural TABLE... or datasets.")
    ],
    out: opt.InsteadOfStdoutOption = None,
    format_: Annotated[
        str | None, opt.build_format_option(("text (a sentence per line)", "jsonl"), opt.DEFAULT_FORMAT_HELP)
    ] = None,
    task: opt.TaskOption = None,
    seed: Annotated[int, opt.build_seed_option("generated tasks, as in probe run")] = 0,
    *,
    compeval: opt.CompevalOptions,
    items: opt.ItemOptions,
    natural: opt.NaturalOptions,
) -> None:
    """Write the sentences that a run needs, to encode them elsewhere.

    Each distinct sentence is written once, in a fixed order. Give the suites and options of the later
    probe run, which reads the vectors by -e file:VECTORS.
    """
    from sentprobe.commands.shared.target_options import parse_targets
    from sentprobe.probes.runs.request.built_suites import build_failure_error
    from sentprobe.probes.runs.request.targets import find_datasets

    if format_ is None:
        format_ = "jsonl" if out is not None and out.suffix.lower() == ".jsonl" else "text"
    sentence_format = choose_member(SentenceFormat, format_, what="format")
    given_options = map_given_options(context)
    parsed_targets = parse_targets(
        targets, task or (), compeval=compeval, natural=natural, items=items, seed=seed, given_options=given_options
    )
    with show_bars() as reporter:
        found_datasets = find_datasets(parsed_targets, command=opt.format_command_line(), reporter=reporter)
    texts = list(dict.fromkeys(text for data in found_datasets.datasets for text in data.sentences))
    text = "".join(WRITERS[sentence_format](texts))
    if out is None:
        sys.stdout.write(escape_control_characters(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()
    else:
        make_parent_folder(out)
        write_atomically(out, text)
        print_place(f"{out}: {len(texts)} sentences")
    if found_datasets.failures:
        names = {*found_datasets.failures, *(data.name for data in found_datasets.datasets)}
        raise build_failure_error(found_datasets.failures.values(), total=len(names))


def _format_lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield a line for each sentence; raise UsageError for an empty sentence or one with a line break."""
    for text in texts:
        if not text or not {"\n", "\r"}.isdisjoint(text):
            raise UsageError(f"the sentence {text!r} does not fit a line; use --format jsonl")
        yield f"{text}\n"


WRITERS: Mapping[SentenceFormat, Callable[[Sequence[str]], Iterator[str]]] = {
    SentenceFormat.TEXT: _format_lines,
    SentenceFormat.JSONL: lambda texts: (format_json({"sentence": text}) + "\n" for text in texts),
}
