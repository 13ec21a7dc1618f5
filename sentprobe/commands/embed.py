"""What ``probe embed`` does, as functions that anyone can call."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sentprobe.errors import FormatError, UsageError
from sentprobe.files import check_apart, decode_lines
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.encoders import find_kind, make_encoder
from sentprobe.probes.encoders.cache import Cache, default_directory
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.vector_files import format_of, write_vectors
from sentprobe.processes import check_count, limit_threads
from sentprobe.progress import Bars, Reporter, Silent, columns
from sentprobe.specs import parse_spec

SUITE = "compeval"
"""The source that is built and not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedRequest:
    """What to encode, by which encoder, into which file."""

    source: str
    encoder: str
    out: Path
    format: str | None = None
    """Of the file; None: its suffix says."""
    seed: int = 0
    cache: bool = True
    threads: int | None = None
    """PyTorch's; None leaves them as they are."""


def embed_command(plan: EmbedRequest) -> None:
    """Encode and write with a bar for the progress, and print what was written."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    check(plan)
    with Progress(*columns(), console=Console(stderr=True)) as progress:
        sentences, dim = embed_into_file(plan, reporter=Bars(progress))
    print(f"{plan.out}: {sentences} sentences, vectors of width {dim}")


def embed_into_file(plan: EmbedRequest, *, reporter: Reporter | None = None) -> tuple[int, int]:
    """Encode the distinct sentences of the source, write their vectors, return (n, dim).

    Raises:
        UsageError: the source, the encoder or the format of the file is not known, or the file
            cannot be written, or is or lies inside the source.
        SentprobeError: the source is not right, or the encoder failed.
    """
    check(plan)
    reporter = reporter or Silent()
    encoder = make_encoder(plan.encoder, seed=plan.seed)
    sentences = read_sentences(plan.source, seed=plan.seed, reporter=reporter)
    cache = Cache(default_directory()) if plan.cache else None
    with limit_threads(plan.threads):
        vectors = embed(encoder, sentences, cache=cache, reporter=reporter)
    for note in getattr(encoder, "notes", ()):
        print(note, file=sys.stderr)
    write_vectors(plan.out, sentences, vectors, format=plan.format)
    return len(sentences), vectors.shape[1]


def check(plan: EmbedRequest) -> None:
    """Refuse what can be seen to be wrong before any work is done.

    Raises:
        UsageError: see :func:`embed_into_file`.
    """
    find_kind(plan.encoder)
    format_of(plan.out, plan.format)
    if plan.out.is_dir():
        raise UsageError(f"{plan.out}: is a directory, not a file to write")
    if not plan.out.parent.is_dir():
        raise UsageError(f"{plan.out}: there is no directory {plan.out.parent}")
    check_apart(plan.out, _inputs(plan))
    check_count("threads", plan.threads)


def _inputs(plan: EmbedRequest) -> list[Path]:
    """Return what may be a file that is read: the source, and that of the encoder (bow:FILE)."""
    argument = parse_spec(plan.encoder).argument
    return [Path(plan.source), *([Path(argument)] if Path(argument).is_file() else [])]


def read_sentences(source: str, *, seed: int = 0, reporter: Reporter | None = None) -> list[str]:
    """Return the distinct sentences of a source, in its order.

    That is ``compeval`` (all its tasks, as ``probe run`` builds them), a dataset or directory of
    datasets in any format that is read, or a text file with a sentence in each line.

    Raises:
        UsageError: there is no such file, or no sentence in it.
        SentprobeError: it is not right; says where.
    """
    found = list(dict.fromkeys(_sentences(source, seed=seed, reporter=reporter or Silent())))
    if not found:
        raise UsageError(f"{source}: there are no sentences in it")
    return found


def _sentences(source: str, *, seed: int, reporter: Reporter) -> Iterator[str]:
    from sentprobe.probes.formats import read_datasets, recognise  # noqa: PLC0415 - pyarrow

    path = Path(source)
    if source == SUITE and not path.exists():
        yield from _built(seed, reporter=reporter)
        return
    reporter.begin("read the sentences", 1)
    if path.is_file() and recognise(path) is None:
        yield from _lines(path)
    else:
        yield from (text for data in read_datasets(path) for text in data.sentences)
    reporter.advance()


def _built(seed: int, *, reporter: Reporter) -> Iterator[str]:
    from sentprobe.probes.compeval import TASKS, build  # noqa: PLC0415

    lexicon, command = load_lexicon(None), shlex.join(["probe", *sys.argv[1:]])
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
