"""The command ``gen parse``: annotate the user's sentences.

The command ``gen show``: draw an event as a tree, and as a picture.

The command ``gen templates``: list the templates, which are structures of sentences.
"""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared.options import (
    REPLACED,
    InsteadOfStdoutOption,
    LanguageOption,
    LexiconOption,
    VocabularyOption,
    build_format_option,
)
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.common.errors import FormatError, SentprobeError, UsageError, format_count
from sentprobe.common.files import make_parent_folder, write_atomically
from sentprobe.common.reading import decode_line, iterate_lines, open_input
from sentprobe.common.screen import print_message, print_place, print_table, print_text
from sentprobe.common.tables import build_empty_table
from sentprobe.generator.events.checks import find_open_fields
from sentprobe.generator.events.drawing import draw_svg, draw_text
from sentprobe.generator.events.event import Contradiction
from sentprobe.generator.sentences.parse import find_only_reading, normalize_sentence, parse_clauses
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.templates import expand_templates, find_patterns, list_template_names
from sentprobe.grammars.shapes import QUESTION
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon

if TYPE_CHECKING:
    from sentprobe.generator.bulk.parsed_records import ParsedText


def parse(
    sentences: Annotated[list[str] | None, typer.Argument(help="Sentences, with spaces between tokens.")] = None,
    file: Annotated[Path | None, typer.Option(help="File with a sentence on each line; - is stdin.")] = None,
    lexicon: LexiconOption = None,
    language: LanguageOption = "en",
    strict: Annotated[bool, typer.Option("--strict", help="Reject what is normalized, such as capitals.")] = False,
    out: InsteadOfStdoutOption = None,
    format: Annotated[
        str | None, build_format_option(("conllu (default)", "jsonl", "trees", "text", "parquet"))
    ] = None,
) -> None:
    """Annotate your own sentences (arguments, file or standard input).

    Tokens are separated by spaces. Capitals become lower case, curly apostrophes straight, didn't becomes did n't; one
    final mark (. ? or !) and a comma after a first time or place are dropped; stderr reports this. An ambiguous
    sentence gets a record for each reading; --format text prints the sentence once.

    If the grammar does not cover a sentence, stderr names the token where parsing stopped, and the exit code is 1.
    """
    from sentprobe.commands.shared.gen_space import choose_record_format
    from sentprobe.generator.bulk.parsed_records import format_parsed, write_parsed

    if sentences and file is not None:
        raise UsageError("give sentences as arguments or in a file, not both")
    for text in sentences or ():
        if os.path.isfile(text):  # noqa: PTH113 - Path raises where the name is too long
            raise UsageError(f"{text}: is a file; gen parse --file {shlex.quote(text)} reads it")
    if file is not None and file.suffix.lower() in (".jsonl", ".conllu", ".parquet"):
        raise UsageError(f"{file}: gen parse reads lines of text, not {file.suffix}")
    words = load_lexicon(lexicon, language)
    name = choose_record_format(out, format, otherwise=".conllu")
    reader = _SentenceReader(words, strict=strict)
    parsed = reader.parse_lines(_read_lines(sentences or [], file))
    if out is not None:
        make_parent_folder(out)
        write_parsed(parsed, words, out, name)
    else:
        is_typed = not sentences and str(file or "-") == "-" and sys.stdin is not None and sys.stdin.isatty()
        sys.stdout.writelines(format_parsed(parsed, words, name, is_interactive=is_typed))
        sys.stdout.flush()
    reader.report_changes()
    if reader.failure_count:
        raise typer.Exit(1)


def _read_lines(sentences: Sequence[str], file: Path | None) -> Iterator[tuple[int, str, bytes]]:
    """Yield, for each sentence, the number of its argument or line (from 1), its location (``FILE:3``) and bytes."""
    if sentences:
        yield from ((number, f"sentence {number}", text.encode()) for number, text in enumerate(sentences, 1))
    elif file is None or str(file) == "-":
        if sys.stdin is None:  # closed by the caller
            raise UsageError("standard input is closed; give sentences as arguments, or --file")
        yield from _number_lines("<stdin>", sys.stdin.buffer)
    else:
        try:
            with open_input(file) as lines:
                yield from _number_lines(str(file), lines)
        except OSError as error:
            raise UsageError(f"{file}: cannot read it: {error.strerror}") from error


def _number_lines(source: str, stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    """Yield the number, location and bytes of each nonblank line; raise FormatError if all are blank or one is huge."""
    is_blank = True
    try:
        for number, line in enumerate(iterate_lines(stream), 1):
            if line.strip():
                is_blank = False
                yield number, f"{source}:{number}", line.strip()
    except FormatError as error:
        raise FormatError(f"{source}: {error}") from None
    if is_blank:
        raise FormatError(f"{source}: there are no sentences in it")


MAX_SENTENCE = 10_000
"""The longest sentence that is parsed, in bytes."""


@dataclass(slots=True)
class _SentenceReader:
    """A parser that counts sentences that fail, are changed by normalization, or are ambiguous."""

    lexicon: Lexicon
    strict: bool
    failure_count: int = 0
    changed_count: int = 0
    ambiguous_count: int = 0

    def parse_lines(self, lines: Iterable[tuple[int, str, bytes]]) -> "Iterator[ParsedText]":
        """Yield the parsed sentences; for each sentence that cannot be parsed, print an error on stderr."""
        from sentprobe.generator.bulk.parsed_records import ParsedText

        for number, where, line in lines:
            try:
                if len(line) > MAX_SENTENCE:
                    raise SentprobeError(f"longer than {MAX_SENTENCE:,} bytes, the longest sentence that is parsed")
                text = decode_line(line, number)
                plain_text = text if self.strict else normalize_sentence(text, self.lexicon)
                clauses = parse_clauses(plain_text, self.lexicon)
                if text.endswith("?"):
                    clauses = [clause for clause in clauses if clause.shape.mood == QUESTION]
                if not clauses:
                    raise SentprobeError("the question mark ends a sentence that is not a question")
                self.ambiguous_count += find_only_reading(clauses) is None
                self.changed_count += plain_text != text
                yield ParsedText(number, plain_text, clauses)
            except SentprobeError as error:
                self.failure_count += 1
                print_message(f"gen: {where}: {error}")

    def report_changes(self) -> None:
        """Print on stderr how many sentences were normalized, and how many have several readings."""
        if self.changed_count:
            amount = format_count(self.changed_count, "sentence")
            print_message(f"gen: normalized capitals, apostrophes or punctuation of {amount}")
        if self.ambiguous_count:
            amount = format_count(self.ambiguous_count, "ambiguous sentence")
            print_message(f"gen: {amount}: each reading is a record")


def show(
    event: Annotated[str, typer.Argument(help="Event, such as 'help[past](agent: lawyer)'.")],
    svg: Annotated[Path | None, typer.Option(help=f"SVG file for a picture; {REPLACED}"), OUTPUT_FILE] = None,
    lexicon: LexiconOption = None,
    language: LanguageOption = "en",
) -> None:
    """Draw an event as a tree; print its sentence if no field is open."""
    from sentprobe.generator.bulk.generate import read_known_event

    words = load_lexicon(lexicon, language)
    parsed_event = read_known_event(event, words)
    print(draw_text(parsed_event, color=sys.stdout.isatty()))
    if not list(find_open_fields(parsed_event)):
        print(realize(parsed_event, words).text)
    if svg is not None:
        write_atomically(svg, draw_svg(parsed_event))
        print_place(f"picture: {svg}")


def templates(
    vocabulary: VocabularyOption = None, lexicon: LexiconOption = None, language: LanguageOption = "en"
) -> None:
    """List the templates, with an example and the number of sentences."""
    words = load_lexicon(lexicon, language)
    name = vocabulary or choose_vocabulary(words)
    words.vocabulary(name)
    table = build_empty_table(("template, and an example", "sentences"))
    table.title = f"templates (vocabulary {name}, default options)"
    for template in list_template_names(deep=True, language=words.language):
        count, example = _describe_template(template, words, name)
        if example or "ditransitive" not in template or "." not in template:  # many vocabularies lack such verbs
            table.add_row(f"{template}\n  {example}", count)
    print_table(table)
    patterns = find_patterns(expand_templates(["all"], words.language))
    print_text(f"all: {', '.join(sorted({pattern.name.partition('.')[0] for pattern in patterns}))}")


def _describe_template(name: str, lexicon: Lexicon, vocabulary: str) -> tuple[str, str]:
    """Return the number of sentences of a template (``"1,200"``), and an example; ``("0", "")`` if there are none."""
    from sentprobe.generator.spaces.space import Space

    try:
        space = Space(lexicon, vocabulary=vocabulary, templates=(name,))
    except Contradiction:
        return "0", ""
    (event,) = space.events(space.sample(1, seed=0))
    return f"{space.count():,}", realize(event, lexicon).text
