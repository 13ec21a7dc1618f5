"""The command ``probe embed``: write the vectors of sentences to a file.

The command ``probe cache``: show, check or clear the cache.

The command ``probe sentences``: write the sentences of a run to a file, to encode them elsewhere.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import CommandWithTaskList, HelpfulCommand, HelpfulGroup, map_given_options
from sentprobe.commands.shared.interruption import report_interruption
from sentprobe.commands.shared.options import SETTINGS
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import check_output_file
from sentprobe.common.errors import FormatError, UsageError, escape_control_characters, format_count
from sentprobe.common.files import find_cache_directory, make_parent_folder, write_atomically
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.reading import open_lines
from sentprobe.common.scratch import make_scratch_folder
from sentprobe.common.screen import (
    Reporter,
    SilentReporter,
    print_message,
    print_place,
    print_table,
    print_text,
    show_bars,
)
from sentprobe.common.specs import COMPEVAL, choose_member
from sentprobe.common.tables import build_empty_table
from sentprobe.common.values import format_json
from sentprobe.lexicon.lexicon import find_kept_files
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions, NaturalOptions

cache_app = typer.Typer(
    name="cache",
    cls=HelpfulGroup,
    help="Show, check or clear the cache.",
    context_settings=SETTINGS,
    add_completion=False,
)


@cache_app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show the cache folder, and the encoders whose sentence vectors it holds.

    The folder is $SENTPROBE_CACHE, else $XDG_CACHE_HOME/sentprobe, else ~/.cache/sentprobe.
    """
    from sentprobe.probes.encoders.cache import list_cached_encoders

    if context.invoked_subcommand is not None:
        return
    from rich.filesize import decimal
    from rich.text import Text

    directory = find_cache_directory()
    cached_encoders, form_files = list_cached_encoders(directory), find_kept_files(directory)
    print_place(f"cache: {directory}")
    if not (cached_encoders or form_files):
        print("the cache is empty")
        return
    if cached_encoders:
        header = ("encoder", "fingerprint", "sentences", "dim", "size", "last used")
        table = build_empty_table(header, left=[1, 5])
        for entry in cached_encoders:
            last_used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
            figures = f"{entry.sentences:,}", str(entry.dim), decimal(entry.size)
            names = ", ".join(entry.encoders), entry.fingerprint[:12]
            table.add_row(*map(Text, (*names, *figures, last_used)))
        print_table(table)
    if form_files:
        print_text(f"inflected forms: {format_count(len(form_files), 'lexicon')}")
    size = sum(entry.size for entry in cached_encoders) + sum(path.stat().st_size for path in form_files)
    print_text(f"{decimal(size)} in all")


@cache_app.command("clear", cls=HelpfulCommand)
def clear_command(
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            "-e",
            help="Only this encoder: its name, or at least the first 8 characters of its fingerprint.",
        ),
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only vectors that were not used for DAYS days.")
    ] = None,
) -> None:
    """Clear the cache: sentence vectors, and inflected forms of words."""
    from rich.filesize import decimal

    from sentprobe.probes.encoders.cache import clear_inflected_forms, clear_vectors

    if older_than is not None and not older_than >= 0:
        raise UsageError(f"the number of days must not be negative, not {older_than}")
    directory = find_cache_directory()
    count, size = clear_vectors(directory, encoder=encoder, older_than=older_than)
    parts = [format_count(count, "encoder")]
    # With --encoder, inflected forms of lexicons are kept.
    if encoder is None and (forms := clear_inflected_forms(directory, older_than=older_than)):
        parts.append(format_count(len(forms), "lexicon"))
        size += sum(forms)
    print_place(f"removed from {directory}: {', '.join(parts)}, {decimal(size)}")


@cache_app.command("check", cls=HelpfulCommand)
def check_command() -> None:
    """Read every file in the cache, and remove damaged files."""
    from sentprobe.probes.encoders.cache import check_cache_files

    directory = find_cache_directory()
    count, damaged, unfinished = check_cache_files(directory)
    for path in damaged:
        print_place(f"damaged, removed: {path}")
    print_place(f"cache: {directory}: {format_count(count, 'file')} read, {len(damaged)} damaged")
    if unfinished:
        print_text(f"removed: {format_count(unfinished, 'unfinished file')} of stopped processes")


@opt.expand_option_groups
def embed(
    source: Annotated[
        str, typer.Argument(metavar="DATASET", help="Dataset, folder of datasets, text file, or compeval.")
    ],
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="Encoder, as listed by probe encoders.")],
    out: Annotated[Path | None, opt.build_out_option(f"File to write: .npz, .npy, ...; {opt.REPLACED}"), OUTPUT_FILE],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="npz, npy, safetensors, parquet, lookup (text lines: id, sentence, vector). Default: by the suffix.",
        ),
    ] = None,
    seed: Annotated[int, opt.build_seed_option("data and encoder")] = 0,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not read or write the cache.")] = False,
    threads: Annotated[int | None, typer.Option(help="PyTorch threads. Default: one per core.")] = None,
) -> None:
    """Write the vectors of a dataset's sentences to a file.

    probe run -e file:FILE reads the vectors back.
    """
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.encoders.embedding import embed as encode
    from sentprobe.probes.encoders.encoder import get_capabilities
    from sentprobe.probes.encoders.kinds import find_kind, make_encoder, read_spec
    from sentprobe.probes.encoders.vector_formats import find_format, write_vectors

    spec = read_spec(encoder)
    find_kind(spec)
    if out is None and format_ is None:
        raise UsageError("--out - is standard output, which has no suffix: choose the format by --format, such as npz")
    vector_format = find_format(out or Path("-"), format_)
    check_output_file(out)
    check_count("threads", threads)
    cache = None if no_cache else Cache(find_cache_directory())
    resume_message = "finished vectors are in the cache; the same command resumes from there"
    if no_cache:
        resume_message = "nothing is kept with --no-cache"
    with report_interruption(resume_message), show_bars() as reporter:
        built_encoder = make_encoder(spec, seed=seed)
        sentences = read_sentences(source, seed=seed, command=opt.format_command_line(), reporter=reporter)
        with limit_threads(threads):
            vectors = encode(built_encoder, sentences, cache=cache, reporter=reporter)
        for note in get_capabilities(built_encoder).notes:
            print_message(note)
        with make_scratch_folder() as folder:  # in a pipe, NumPy could not find its position
            write_vectors(out or folder / "vectors", sentences, vectors, format=vector_format)
            if out is None:
                sys.stdout.buffer.write((folder / "vectors").read_bytes())
                sys.stdout.flush()
    if out is not None:
        print_place(f"{out}: {len(sentences)} sentences, vectors of width {vectors.shape[1]}")


def read_sentences(source: str, *, seed: int = 0, command: str = "", reporter: Reporter | None = None) -> list[str]:
    """Return the distinct sentences of a source in the order of the source. Raises UsageError or FormatError.

    - source: ``compeval``, a dataset, a folder of datasets, or a text file with a sentence on each line
    """
    reporter = reporter or SilentReporter()
    sentences = list(dict.fromkeys(_read_source(source, seed=seed, command=command, reporter=reporter)))
    if not sentences:
        raise FormatError(f"{source}: there are no sentences in it")
    return sentences


def _read_source(source: str, *, seed: int, command: str, reporter: Reporter) -> Iterator[str]:
    from sentprobe.probes.datasets.formats import read_datasets, recognise

    path = Path(source)
    if source == COMPEVAL and not path.exists():  # a file or folder of this name has priority
        from sentprobe.probes.generated.assemble import build
        from sentprobe.probes.generated.tasks import TASKS

        lexicon = load_lexicon(None)
        reporter.begin("build the tasks", len(TASKS))
        for task in TASKS.values():
            yield from build(task, lexicon, seed=seed, command=command).sentences
            reporter.advance()
        return
    reporter.begin("read the sentences", 1)
    if path.is_file() and recognise(path) is None:
        yield from _read_lines(path)
    else:
        yield from (text for data in read_datasets(path) for text in data.sentences)
    reporter.advance()


def _read_lines(path: Path) -> list[str]:
    try:
        with open_lines(path) as file:
            lines = list(file)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot read it: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            raise FormatError(
                f"{path}, line {number}: a tab; expected a sentence on each line, or a dataset in a known format"
            )
    return [" ".join(line.split()) for line in lines if line.strip()]


app = typer.Typer(add_completion=False)


class SentenceFormat(StrEnum):
    """Formats of a file of sentences."""

    TEXT = "text"
    JSONL = "jsonl"


@app.command("sentences", cls=CommandWithTaskList)
@opt.expand_option_groups
def sentences(
    context: typer.Context,
    targets: opt.TargetsArgument,
    out: opt.InsteadOfStdoutOption = None,
    format_: Annotated[
        str | None, opt.build_format_option(("text (a sentence per line)", "jsonl"), opt.DEFAULT_FORMAT_HELP)
    ] = None,
    task: opt.TaskOption = None,
    seed: Annotated[int, opt.build_seed_option("generated tasks, as in probe run")] = 0,
    *,
    compeval: CompevalOptions,
    items: ItemOptions,
    natural: NaturalOptions,
) -> None:
    """Write the sentences that a run needs, to encode them elsewhere.

    Each distinct sentence is written once, in a fixed order. Give the suites and options of the later
    probe run, which reads the vectors by -e file:VECTORS.
    """
    from sentprobe.probes.runs.suites import build_failure_error
    from sentprobe.probes.runs.targets import find_datasets, find_targets

    if format_ is None:
        format_ = "jsonl" if out is not None and out.suffix.lower() == ".jsonl" else "text"
    sentence_format = choose_member(SentenceFormat, format_, what="format")
    parsed_targets = find_targets(
        targets,
        tasks=task or (),
        compeval=compeval,
        natural=natural,
        items=items,
        seed=seed,
        given_options=map_given_options(context),
    )
    with show_bars() as reporter:
        datasets, failures = find_datasets(parsed_targets, command=opt.format_command_line(), reporter=reporter)
    texts = list(dict.fromkeys(text for data in datasets for text in data.sentences))
    text = "".join(WRITERS[sentence_format](texts))
    if out is None:
        sys.stdout.write(escape_control_characters(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()
    else:
        make_parent_folder(out)
        write_atomically(out, text)
        print_place(f"{out}: {len(texts)} sentences")
    if failures:
        raise build_failure_error(failures.values(), total=len({*failures, *(data.name for data in datasets)}))


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
