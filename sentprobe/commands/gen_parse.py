"""The command ``gen parse``: annotate sentences that came from elsewhere."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.gen_space import record_format
from sentprobe.commands.options import LexiconOption, format_among, out_to
from sentprobe.errors import SentprobeError, UsageError
from sentprobe.generator.records import RECORD_FORMATS, annotate_text
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.sentence_files import write_annotated
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import load_lexicon


def parse(
    sentences: Annotated[
        list[str] | None, typer.Argument(help="Sentences; their tokens separated by spaces.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file with a sentence on each line.")
    ] = None,
    lexicon: LexiconOption = None,
    out: Annotated[Path | None, out_to("File instead of stdout.")] = None,
    format: Annotated[
        str | None, format_among("conllu (default), jsonl, trees, text, parquet.")
    ] = None,
) -> None:
    """Annotate sentences that came from elsewhere: arguments, a file, or standard input.

    They are written as gen writes them: in lower case, tokens separated by spaces (did n't),
    without a final stop.

    Those that the grammar does not cover are reported on stderr, with the token where parsing
    stopped; the exit code is then 1.
    """
    if sentences and file is not None:
        raise UsageError("give sentences as arguments or in a file, not both")
    words = load_lexicon(lexicon)
    name = record_format(out, format, otherwise=".conllu")
    failures: list[str] = []
    annotated = _annotated(_lines(sentences or [], file), words, failures)
    if out is not None:
        write_annotated(annotated, out, name)
    else:
        for sentence in annotated:
            sys.stdout.write(RECORD_FORMATS[name].write(sentence))
        sys.stdout.flush()
    if failures:
        raise typer.Exit(1)


def _lines(sentences: Sequence[str], file: Path | None) -> Iterator[tuple[int, str, bytes]]:
    """Yield each sentence with its number, or that of its line, and where it stands."""
    if sentences:
        for number, text in enumerate(sentences, 1):
            yield number, f"sentence {number}", text.encode()
    elif file is None or str(file) == "-":
        yield from _numbered("<stdin>", sys.stdin.buffer)
    else:
        try:
            with file.open("rb") as lines:
                yield from _numbered(str(file), lines)
        except OSError as error:
            raise UsageError(f"{file}: cannot read it: {error.strerror}") from error


def _numbered(source: str, lines: Iterable[bytes]) -> Iterator[tuple[int, str, bytes]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, f"{source}:{number}", line.strip()


def _annotated(
    lines: Iterable[tuple[int, str, bytes]], lexicon: Lexicon, failures: list[str]
) -> Iterator[Sentence]:
    for number, where, line in lines:
        try:
            yield annotate_text(line.decode("utf-8-sig"), lexicon, id=f"s{number}")
        except UnicodeDecodeError:
            failures.append(f"{where}: not UTF-8")
        except SentprobeError as error:
            failures.append(f"{where}: {error}")
        else:
            continue
        print(f"gen: {failures[-1]}", file=sys.stderr)
