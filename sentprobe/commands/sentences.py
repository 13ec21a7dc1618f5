"""The command ``probe sentences``: what is to be encoded, for those who encode it elsewhere."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.targets import parse_targets
from sentprobe.commands.task_list import ListsTasks
from sentprobe.errors import UsageError
from sentprobe.files import check_apart, make_folder_of, write_atomically
from sentprobe.probes.runs.built_suites import failed
from sentprobe.probes.runs.targets import Found, find_datasets
from sentprobe.progress import bars
from sentprobe.specs import choose

app = typer.Typer(add_completion=False)


class SentenceFormat(StrEnum):
    """How the sentences are written, one a line."""

    TEXT = "text"
    JSONL = "jsonl"
    """Each as an object, whose only field is ``sentence``."""


@app.command("sentences", cls=ListsTasks)
@opt.with_groups
def sentences(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE|PATH...", help="compeval, natural TABLE, or datasets: files or folders."
        ),
    ],
    out: Annotated[Path | None, opt.out_to("File instead of stdout; its folder is made.")] = None,
    format_: Annotated[
        str | None,
        opt.format_among(f"text (a sentence a line) or jsonl. {opt.OUT_DECIDES}"),
    ] = None,
    task: opt.TaskOption = None,
    seed: Annotated[int, opt.seed_of("the tasks that are built; that of the run")] = 0,
    *,
    compeval: opt.CompevalOptions,
    items: opt.ItemOptions,
    natural: opt.NaturalOptions,
) -> None:
    """Write the sentences that a run encodes, to encode them elsewhere.

    Each different sentence once, always in the same order. Suites are built as probe run builds
    them with the same options. probe run -e file:VECTORS takes the vectors.
    """
    form = find_form(format_, out)
    wanted = parse_targets(
        targets,
        task or (),
        compeval=compeval,
        natural=natural,
        items=items,
        seed=seed,
        given=opt.options_given(context),
    )
    if out is not None:
        check_apart(out, [Path(word) for word in wanted.words])
    with bars() as reporter:
        found = find_datasets(wanted, command=opt.command_line(), reporter=reporter)
    texts = distinct(found)
    written = "".join(WRITERS[form](texts))
    if out is None:
        sys.stdout.write(written)
        sys.stdout.flush()
    else:
        make_folder_of(out)
        write_atomically(out, written)
        print(f"{out}: {len(texts)} sentences")
    if found.failures:
        names = {*found.failures, *(data.name for data in found.datasets)}
        raise failed(found.failures.values(), of=len(names))


def find_form(name: str | None, out: Path | None) -> SentenceFormat:
    """Return the format of that name; of none, the one that the suffix of *out* says.

    Raises:
        UsageError: there is no such format.
    """
    if name is not None:
        return choose(SentenceFormat, name, what="format")
    is_jsonl = out is not None and out.suffix.lower() == ".jsonl"
    return SentenceFormat.JSONL if is_jsonl else SentenceFormat.TEXT


def distinct(found: Found) -> list[str]:
    """Return each different sentence of the datasets once, in the order in which a run has them."""
    return list(dict.fromkeys(text for data in found.datasets for text in data.sentences))


def _lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield a line for each sentence.

    Raises:
        UsageError: a sentence is empty or has an end of line in it.
    """
    for text in texts:
        if not text or not {"\n", "\r"}.isdisjoint(text):
            raise UsageError(f"the sentence {text!r} is not one line; write --format jsonl")
        yield f"{text}\n"


def _objects(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield json.dumps({"sentence": text}, ensure_ascii=False) + "\n"


WRITERS: Mapping[SentenceFormat, Callable[[Sequence[str]], Iterator[str]]] = {
    SentenceFormat.TEXT: _lines,
    SentenceFormat.JSONL: _objects,
}
"""A writer per format."""
