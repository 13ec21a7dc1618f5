"""Writers and readers of sentence files, and ``generate``, which writes sentences to a file in one call.

A file gets its final name when it is complete.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.common.files import atomic_path
from sentprobe.common.reading import open_lines
from sentprobe.common.screen import PROGRESS_THRESHOLD, Reporter, SilentReporter, show_bars
from sentprobe.generator.bulk.generation import Renderer
from sentprobe.generator.events.checks import check_lemmas, check_sorts, infer_frames
from sentprobe.generator.events.event import Event
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import PARQUET, RECORD_FORMATS, TEXT, find_record_format
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.profile import load_profile
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages import find_language
from sentprobe.lexicon.read import choose_vocabulary, read_built_in

ROW_GROUP_SIZE = 32_768
"""The number of sentences in a row group of a Parquet file."""


def write_sentences(
    space: Space, indices: IndexArray, out: IO[str], fmt: str, reporter: Reporter | None = None
) -> None:
    """Write the sentences of *space* at *indices* to a text stream, in the format *fmt*."""
    reporter = reporter or SilentReporter()
    reporter.begin("generate sentences", len(indices))
    form = RECORD_FORMATS[fmt]
    for count, records in Renderer(space, form.write, escape=form.escape).render_chunks(indices):
        out.write(records)
        reporter.advance(count)


def write_file(
    space: Space, indices: IndexArray, path: Path | str, fmt: str | None = None, reporter: Reporter | None = None
) -> None:
    """Write the sentences of *space* at *indices* to a file; the default format follows from the file's suffix.

    Raises:
        UsageError: the format is unknown, or the path cannot be written.
    """
    path = Path(path)
    name = find_record_format(path.suffix, fmt)
    with atomic_path(path) as temporary:
        if name == PARQUET:
            _write_row_groups(space, indices, temporary, reporter or SilentReporter())
        else:
            with _open_text(temporary) as out:
                write_sentences(space, indices, out, name, reporter)


def _write_row_groups(space: Space, indices: IndexArray, path: Path, reporter: Reporter) -> None:
    from sentprobe.generator.bulk.parquet import TableMaker, open_parquet

    reporter.begin("generate sentences", len(indices))
    tables = TableMaker(space)
    with open_parquet(path, tables.schema) as writer:
        for start in range(0, len(indices), ROW_GROUP_SIZE):
            group = tables.build_row_group(indices[start : start + ROW_GROUP_SIZE], start)
            writer.write_table(group)
            reporter.advance(len(group))


def write_annotated(sentences: Iterable[Sentence], path: Path | str, fmt: str | None = None) -> None:
    """Write annotated sentences to a file; the default format follows from the file's suffix.

    Raises:
        UsageError: the format is unknown, or the path cannot be written.
    """
    path = Path(path)
    name = find_record_format(path.suffix, fmt)
    with atomic_path(path) as temporary:
        if name == PARQUET:
            from sentprobe.generator.bulk.parquet import write_parquet

            write_parquet(sentences, temporary)
        else:
            with _open_text(temporary) as out:
                out.writelines(map(RECORD_FORMATS[name].write, sentences))


def _open_text(path: Path) -> IO[str]:
    return path.open("w", encoding="utf-8", newline="\n")


def read_file(path: Path | str, lexicon: Lexicon, fmt: str | None = None) -> Iterator[Sentence]:
    """Yield the annotated sentences of a file. The parser annotates text and trees; other formats contain annotations.

    Raises:
        UsageError: the file cannot be read, or its format is unknown.
        FormatError: the content is invalid; the message names the line or row.
    """
    path = Path(path)
    name = find_record_format(path.suffix, fmt)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    if name == PARQUET:
        from sentprobe.generator.bulk.parquet import read_parquet

        yield from read_parquet(path)
        return
    with _open_records(path) as lines:
        yield from RECORD_FORMATS[name].read(lines, lexicon)


@contextmanager
def _open_records(path: Path) -> Iterator[Iterator[str]]:
    try:
        with open_lines(path) as lines:
            yield lines
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot read it: {error.strerror}") from error


def find_excluded_indices(paths: Iterable[Path], space: Space) -> list[int]:
    """Return the sorted indices of the files' sentences that are in *space*. Raises UsageError or FormatError."""
    indices = {space.find(event) for path in paths for event in _read_events(path, space.lexicon)}
    return sorted(index for index in indices if index is not None)


def _read_events(path: Path, lexicon: Lexicon) -> Iterator[Event]:
    try:
        fmt = find_record_format(path.suffix)
    except UsageError:
        fmt = TEXT
    if fmt != TEXT:
        yield from (sentence.event for sentence in read_file(path, lexicon, fmt))
        return
    from sentprobe.generator.sentences.parse import ParseError, normalize_sentence, parse

    with _open_records(path) as lines:
        for line in lines:
            try:
                yield from parse(normalize_sentence(line, lexicon), lexicon)
            except ParseError:  # a sentence that the grammar does not cover is in no space
                continue


def generate(
    out: Path | str,
    *,
    template: str | Sequence[str] = "all",
    n: int = 10,
    seed: int = 0,
    vocabulary: str | None = None,
    lexicon: Lexicon | None = None,
    language: str = "en",
    require: str | Sequence[str] = (),
    forbid: str | Sequence[str] = (),
    require_word: str | Sequence[str] = (),
    forbid_word: str | Sequence[str] = (),
    choices: Choices | None = None,
    profile: str | None = None,
    format: str | None = None,
    progress: bool | None = None,
) -> Space:
    """Write *n* annotated sentences to a file, as ``gen --out`` does; return the space from which they were drawn.

    - out: without *format*, the suffix (.txt, .jsonl, .parquet, .conllu, .trees) determines the format
    - template: one or several names that ``gen templates`` lists
    - require, forbid: events in text notation, such as ``"help[past](agent: lawyer[pl])"``
    - require_word, forbid_word: lemmas
    - choices: fixed and varying features of the sentences
    - profile: weights of structures and features, as in ``--profile``
    - progress: whether to show progress on stderr; by default, of many sentences in a terminal or notebook

    Raises:
        UsageError: an argument is unknown or contradictory; the space has fewer sentences; the file cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "out.txt"
    ...     space = generate(file, template="transitive-rc", n=1, seed=1)
    ...     print(file.read_text(), end="")
    the artists were appointing the caretakers that do not rescue the consultant
    """
    find_record_format(Path(out).suffix, format)
    lexicon = lexicon or read_built_in(find_language(language))
    space = Space(
        lexicon,
        vocabulary=vocabulary or choose_vocabulary(lexicon),
        templates=_to_tuple(template),
        choices=choices or Choices(),
        constraints=Constraints(
            required=tuple(read_known_event(text, lexicon) for text in _to_tuple(require)),
            forbidden=tuple(read_known_event(text, lexicon) for text in _to_tuple(forbid)),
            required_words=_to_tuple(require_word),
            forbidden_words=_to_tuple(forbid_word),
        ),
        profile=load_profile(profile),
    )
    with show_bars(show=False if progress is None and n < PROGRESS_THRESHOLD else progress) as reporter:
        write_file(space, space.sample(n, seed=seed), out, format, reporter)
    return space


def _to_tuple(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def read_known_event(text: str, lexicon: Lexicon) -> Event:
    """Return the event that *text* states in notation. Raises UsageError if the lexicon lacks a word."""
    event = read_event(text)
    check_lemmas(event, lexicon)
    event = infer_frames(event, lexicon)
    check_sorts(event, lexicon, is_pattern=True)
    return event
