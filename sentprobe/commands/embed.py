"""The command ``probe embed``: write the vectors of sentences to a file."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.completion import complete_encoder
from sentprobe.commands.options import command_line, out_to, seed_of
from sentprobe.commands.stopping import stopping
from sentprobe.errors import FormatError, UsageError, told
from sentprobe.files import cache_directory, check_apart, decode_lines
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.encoders import find_kind, make_encoder, read_spec
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed as encode
from sentprobe.probes.encoders.vector_files import format_of, write_vectors
from sentprobe.processes import check_count, limit_threads
from sentprobe.progress import Reporter, Silent, bars
from sentprobe.specs import Spec

SUITE = "compeval"
"""The source that is built and not read."""


def embed(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A dataset, a text file with a sentence a line, or compeval.",
        ),
    ],
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder",
            "-e",
            help="bow, bow:FILE, st:MODEL, ...: probe encoders.",
            autocompletion=complete_encoder,
        ),
    ],
    out: Annotated[Path, out_to("File for the vectors: .npz, .safetensors, ...")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="npz, npy, safetensors, parquet, lookup. By default as the suffix says.",
        ),
    ] = None,
    seed: Annotated[int, seed_of("data and encoder")] = 0,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep no vectors, and use none that are kept.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(help="PyTorch's threads. By default as many as there are cores."),
    ] = None,
) -> None:
    """Write the vectors of a dataset's sentences to a file, for use elsewhere."""
    spec = read_spec(encoder)
    find_kind(spec)
    form = format_of(out, format_)
    check_place(out, source, spec)
    check_count("threads", threads)
    cache = None if no_cache else Cache(cache_directory())
    kept = "the vectors so far are in the cache, and the same command goes on from there"
    with stopping("nothing is kept with --no-cache" if no_cache else kept), bars() as reporter:
        made = make_encoder(spec, seed=seed)
        sentences = read_sentences(source, seed=seed, command=command_line(), reporter=reporter)
        with limit_threads(threads):
            vectors = encode(made, sentences, cache=cache, reporter=reporter)
        for note in getattr(made, "notes", ()):
            print(told(note), file=sys.stderr)
        write_vectors(out, sentences, vectors, format=form)
    print(f"{out}: {len(sentences)} sentences, vectors of width {vectors.shape[1]}")


def check_place(out: Path, source: str, encoder: Spec) -> None:
    """Refuse a file that cannot be written, or that is read: the source, that of ``bow:FILE``.

    Raises:
        UsageError: it is so.
    """
    if out.is_dir():
        raise UsageError(f"{out}: is a directory, not a file to write")
    if not out.parent.is_dir():
        raise UsageError(f"{out}: there is no directory {out.parent}")
    argument = Path(encoder.argument)
    check_apart(out, [Path(source), *([argument] if argument.is_file() else [])])


def read_sentences(
    source: str, *, seed: int = 0, command: str = "", reporter: Reporter | None = None
) -> list[str]:
    """Return the distinct sentences of a source, in its order.

    That is ``compeval`` (all its tasks, as ``probe run`` builds them), a dataset or directory of
    datasets in any format that is read, or a text file with a sentence in each line.

    Raises:
        UsageError: there is no such file, or no sentence in it.
        SentprobeError: it is not right; says where.
    """
    reporter = reporter or Silent()
    read = _sentences(source, seed=seed, command=command, reporter=reporter)
    found = list(dict.fromkeys(read))
    if not found:
        raise UsageError(f"{source}: there are no sentences in it")
    return found


def _sentences(source: str, *, seed: int, command: str, reporter: Reporter) -> Iterator[str]:
    from sentprobe.probes.formats import read_datasets, recognise  # noqa: PLC0415 - pyarrow

    path = Path(source)
    if source == SUITE and not path.exists():
        yield from _built(seed, command=command, reporter=reporter)
        return
    reporter.begin("read the sentences", 1)
    if path.is_file() and recognise(path) is None:
        yield from _lines(path)
    else:
        yield from (text for data in read_datasets(path) for text in data.sentences)
    reporter.advance()


def _built(seed: int, *, command: str, reporter: Reporter) -> Iterator[str]:
    from sentprobe.probes.compeval import TASKS, build  # noqa: PLC0415

    lexicon = load_lexicon(None)
    reporter.begin("build the tasks", len(TASKS))
    for task in TASKS.values():
        yield from build(task, lexicon, seed=seed, command=command).sentences
        reporter.advance()


def _lines(path: Path) -> list[str]:
    """Read a text file with a sentence in each line; empty lines are left out."""
    try:
        with path.open("rb") as file:
            lines = list(decode_lines(file))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot read it: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            raise FormatError(
                f"{path}, line {number}: a tab: wanted is a sentence in each line, "
                "or a dataset in a format that is recognised"
            )
    return [" ".join(line.split()) for line in lines if line.strip()]
