"""The command ``gen parse``: annotate sentences that came from elsewhere."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.gen_space import record_format
from sentprobe.commands.options import LexiconOption, format_among, out_to
from sentprobe.errors import SentprobeError, UsageError, counted
from sentprobe.files import decode_line, make_folder_of
from sentprobe.generator.parse import plain
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
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Take capitals and a final stop for mistakes."),
    ] = False,
    out: Annotated[Path | None, out_to("File instead of stdout; its folder is made.")] = None,
    format: Annotated[
        str | None, format_among("conllu (default), jsonl, trees, text, parquet.")
    ] = None,
) -> None:
    """Annotate sentences that came from elsewhere: arguments, a file, or standard input.

    They are written as gen writes them: tokens separated by spaces (did n't). Capitals and a
    final stop are taken off, and a line on stderr says so.

    Those that the grammar does not cover are reported on stderr, with the token where parsing
    stopped; the exit code is then 1.
    """
    if sentences and file is not None:
        raise UsageError("give sentences as arguments or in a file, not both")
    _refuse_files(sentences or ())
    words = load_lexicon(lexicon)
    name = record_format(out, format, otherwise=".conllu")
    reader = _Reader(words, strict=strict)
    annotated = reader.annotated(_lines(sentences or [], file))
    if out is not None:
        make_folder_of(out)
        write_annotated(annotated, out, name)
    else:
        for sentence in annotated:
            sys.stdout.write(RECORD_FORMATS[name].write(sentence))
        sys.stdout.flush()
    reader.report()
    if reader.failures:
        raise typer.Exit(1)


def _refuse_files(sentences: Iterable[str]) -> None:
    """Refuse the name of a file where a sentence should stand."""
    for text in sentences:
        if os.path.isfile(text):  # noqa: PTH113 - Path raises where the name is too long
            raise UsageError(f"{text}: is a file; gen parse --file {shlex.quote(text)} reads it")


def _lines(sentences: Sequence[str], file: Path | None) -> Iterator[tuple[int, str, bytes]]:
    """Yield each sentence with its number, or that of its line, and where it stands."""
    if sentences:
        for number, text in enumerate(sentences, 1):
            yield number, f"sentence {number}", text.encode()
    elif file is None or str(file) == "-":
        if sys.stdin is None:  # closed by whoever started us
            raise UsageError("standard input is closed; give sentences as arguments, or --file")
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


@dataclass(slots=True)
class _Reader:
    """Reads sentences, and keeps which failed and how many were not written as gen writes them."""

    lexicon: Lexicon
    strict: bool
    failures: list[str] = field(default_factory=list)
    changed: int = 0

    def annotated(self, lines: Iterable[tuple[int, str, bytes]]) -> Iterator[Sentence]:
        """Yield the sentences that can be read; tell of the others on stderr."""
        for number, where, line in lines:
            try:
                yield self._annotate(decode_line(line, number), f"s{number}")
            except SentprobeError as error:
                self.failures.append(f"{where}: {error}")
            else:
                continue
            print(f"gen: {self.failures[-1]}", file=sys.stderr)

    def _annotate(self, text: str, name: str) -> Sentence:
        read = text if self.strict else plain(text)
        sentence = annotate_text(read, self.lexicon, id=name)
        self.changed += read != text
        return sentence

    def report(self) -> None:
        """Say of how many sentences something was taken off."""
        if self.changed:
            of = counted(self.changed, "sentence")
            print(f"gen: capitals or the final stop of {of} were taken off", file=sys.stderr)
