"""The command ``probe embed``: write the vectors of sentences to a file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.interruption import report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import check_output_file
from sentprobe.disk.files import find_cache_directory
from sentprobe.disk.reading import open_lines
from sentprobe.display.screen import print_message, print_place
from sentprobe.errors import FormatError, UsageError
from sentprobe.lexicon.read import load_lexicon
from sentprobe.processes import check_count, limit_threads
from sentprobe.progress import Reporter, SilentReporter, show_bars
from sentprobe.specs import COMPEVAL


@opt.expand_option_groups
def embed(
    source: Annotated[
        str, typer.Argument(metavar="DATASET", help="Dataset, folder of datasets, text file, or compeval.")
    ],
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="Encoder, as listed by probe encoders.")],
    out: Annotated[Path, opt.build_out_option(f"File to write: .npz, .npy, ...; {opt.REPLACED}"), OUTPUT_FILE],
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
    from sentprobe.probes.encoders.cache.embedding import embed as encode
    from sentprobe.probes.encoders.cache.vector_cache import Cache
    from sentprobe.probes.encoders.files.vector_formats import find_format, write_vectors
    from sentprobe.probes.encoders.kinds import find_kind, make_encoder, read_spec
    from sentprobe.probes.encoders.protocol import get_capabilities

    spec = read_spec(encoder)
    find_kind(spec)
    vector_format = find_format(out, format_)
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
        write_vectors(out, sentences, vectors, format=vector_format)
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
    from sentprobe.probes.formats.registry import read_datasets, recognise

    path = Path(source)
    if source == COMPEVAL and not path.exists():
        from sentprobe.probes.compeval.assemble import build
        from sentprobe.probes.compeval.tasks import TASKS

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
