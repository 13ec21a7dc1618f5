"""What the command ``gen`` does, as functions that anyone can call."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.files import atomic_path
from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import (
    Aspect,
    Contradiction,
    Event,
    Negator,
    Number,
    Polarity,
    Tense,
    Voice,
    open_fields,
)
from sentprobe.generator.lemmas import check_lemmas, infer_frames
from sentprobe.generator.realize import realize
from sentprobe.generator.records import PARQUET, RECORD_FORMATS, annotate_text, format_of
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.sentence_files import (
    Progress,
    write_annotated,
    write_file,
    write_sentences,
)
from sentprobe.generator.space import Space
from sentprobe.generator.templates import find_patterns, template_names
from sentprobe.lexicon import Flag, Lexicon
from sentprobe.lexicon.read import default_vocabulary, load_lexicon

_MANY = 50_000
"""From so many sentences on, a progress bar is worth its while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenRequest:
    """What to generate, as it is written on the command line."""

    templates: tuple[str, ...] = ()
    vocabulary: str | None = None
    lexicon: Path | None = None
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    required_words: tuple[str, ...] = ()
    forbidden_words: tuple[str, ...] = ()
    config: Path | None = None
    main: Event = field(default_factory=Event)
    clause: Event = field(default_factory=Event)
    number: str | None = None
    determiners: tuple[str, ...] = ("the",)
    relativizers: tuple[str, ...] = ("that",)
    negators: tuple[str, ...] = ("not",)
    adverbs: str = "0"
    allow: tuple[str, ...] = ()


def features(
    *,
    tense: str | None = None,
    voice: str | None = None,
    aspect: str | None = None,
    polarity: str | None = None,
) -> Event:
    """Return the partial event that has these features."""
    return Event(
        tense=Tense(tense) if tense else None,
        voice=Voice(voice) if voice else None,
        aspect=Aspect(aspect) if aspect else None,
        polarity=Polarity(polarity) if polarity else None,
    )


def make_space(request: GenRequest) -> Space:
    """Return the space that *request* describes.

    Raises:
        UsageError: something in it is unknown or contradictory.
    """
    lexicon = load_lexicon(request.lexicon)
    constraints, templates = _constraints(request, lexicon)
    numbers = tuple(Number) if request.number is None else (Number(request.number),)
    choices = Choices(
        main=request.main,
        clause=request.clause,
        numbers=numbers,
        determiners=request.determiners,
        relativizers=request.relativizers,
        negators=tuple(_negator(name) for name in request.negators),
        adverbs=read_range(request.adverbs),
        allow=frozenset(Flag(name) for name in request.allow),
    )
    return Space(
        lexicon,
        vocabulary=request.vocabulary or default_vocabulary(lexicon),
        templates=request.templates or templates,
        choices=choices,
        constraints=constraints,
    )


def _constraints(request: GenRequest, lexicon: Lexicon) -> tuple[Constraints, tuple[str, ...]]:
    """Return the constraints, and the templates to use where none are named."""
    base = Constraints()
    templates: tuple[str, ...] = ("all",)
    if request.config is not None:
        from sentprobe.generator.config import read_config  # noqa: PLC0415

        config = read_config(request.config, lexicon)
        for warning in config.warnings:
            print(f"gen: warning: {warning}", file=sys.stderr)
        base, templates = config.constraints, config.templates or templates
    required = tuple(_read_event(text, lexicon) for text in request.required)
    forbidden = tuple(_read_event(text, lexicon) for text in request.forbidden)
    return Constraints(
        required=base.required + required,
        forbidden=base.forbidden + forbidden,
        required_words=base.required_words + request.required_words,
        forbidden_words=base.forbidden_words + request.forbidden_words,
    ), templates


def _read_event(text: str, lexicon: Lexicon) -> Event:
    from sentprobe.generator.notation import read_event  # noqa: PLC0415

    event = read_event(text)
    check_lemmas(event, lexicon)
    return infer_frames(event, lexicon)


def _negator(name: str) -> Negator:
    known = [negator.value for negator in Negator]
    if name not in known:
        raise UsageError(
            f"there is no negator {name!r}{suggest(name, known)}; there are {', '.join(known)}"
        )
    return Negator(name)


def read_range(text: str) -> tuple[int, ...]:
    """Return the numbers of a range.

    >>> read_range("2"), read_range("0-2")
    ((2,), (0, 1, 2))
    """
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise UsageError(f"expected a number of adverbs, or a range such as 0-2, not {text!r}")
    found = tuple(range(int(first), int(last if dash else first) + 1))
    if not found:
        raise UsageError(f"the range {text!r} is empty; write the smaller number first")
    return found


def count(request: GenRequest) -> int:
    """Return how many different sentences there are."""
    return make_space(request).count()


def generate(
    request: GenRequest,
    *,
    n: int,
    seed: int = 0,
    out: Path | None = None,
    fmt: str | None = None,
    quiet: bool = False,
) -> None:
    """Write *n* sentences to a file, or to standard output."""
    name = format_of(out.suffix if out else ".txt", fmt)
    if out is None and name == PARQUET:
        raise UsageError("Parquet cannot be written to standard output; name a file with --out")
    space = make_space(request)
    indices = space.sample(n, seed=seed)
    with _bar("generate", n, show=not quiet and n >= _MANY) as advance:
        if out is not None:
            write_file(space, indices, out, name, advance)
        else:
            write_sentences(space, indices, sys.stdout, name, advance)
            sys.stdout.flush()


def _bar(what: str, total: int, *, show: bool) -> Any:
    """Return a context that gives a function to report progress to: a bar on stderr, or nothing."""
    if not show or not sys.stderr.isatty():
        silent: Progress = lambda _: None  # noqa: E731
        return nullcontext(silent)
    return _progress_bar(what, total)


class _progress_bar:  # noqa: N801 - a context manager
    def __init__(self, what: str, total: int) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import Progress as RichProgress  # noqa: PLC0415

        self._bar = RichProgress(console=Console(stderr=True))
        self._task = self._bar.add_task(what, total=total)

    def __enter__(self) -> Progress:
        self._bar.start()
        return lambda amount: self._bar.advance(self._task, amount)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def list_templates(vocabulary: str | None, lexicon: Path | None) -> None:
    """Print the templates with an example and the exact number of sentences of each."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    words = load_lexicon(lexicon)
    vocabulary = vocabulary or default_vocabulary(words)
    table = Table(title=f"templates (vocabulary {vocabulary}, default options)")
    table.add_column("template", no_wrap=True)
    table.add_column("sentences", justify="right", no_wrap=True)
    table.add_column("for example", overflow="fold")
    words.vocabulary(vocabulary)
    for name in template_names(deep=True):
        table.add_row(name, *_describe_template(name, words, vocabulary))
    # In a pipe or a narrow window names stay whole, to be copied.
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    print(f"all: {', '.join(sorted({p.name.partition('.')[0] for p in find_patterns(['all'])}))}")


def _describe_template(name: str, lexicon: Lexicon, vocabulary: str) -> tuple[str, str]:
    """Return the number of sentences of a template, and an example."""
    try:
        space = Space(lexicon, vocabulary=vocabulary, templates=(name,))
    except Contradiction:
        return "0", ""
    (event,) = space.events(space.sample(1, seed=0))
    return f"{space.count():,}", realize(event, lexicon).text


def annotate(
    sentences: Sequence[str],
    file: Path | None,
    lexicon: Path | None,
    *,
    out: Path | None = None,
    fmt: str | None = None,
) -> bool:
    """Annotate sentences and write them; report those that fail on stderr.

    They come from the arguments, or else from *file*, or else from standard input. Returns whether
    all were covered.
    """
    if sentences and file is not None:
        raise UsageError("give sentences as arguments or in a file, not both")
    words = load_lexicon(lexicon)
    name = format_of(out.suffix if out else ".conllu", fmt)
    if out is None and name == PARQUET:
        raise UsageError("Parquet cannot be written to standard output; name a file with --out")
    failures: list[str] = []
    annotated = _annotated(_lines(sentences, file), words, failures)
    if out is not None:
        write_annotated(annotated, out, name)
    else:
        for sentence in annotated:
            sys.stdout.write(RECORD_FORMATS[name].write(sentence))
        sys.stdout.flush()
    return not failures


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


def show(text: str, lexicon: Path | None, *, svg: Path | None = None) -> None:
    """Draw an event in the terminal, and as a picture where *svg* names a file."""
    from sentprobe.generator.draw import draw_svg, draw_text  # noqa: PLC0415

    words = load_lexicon(lexicon)
    event = _read_event(text, words)
    print(draw_text(event, color=sys.stdout.isatty()))
    if not list(open_fields(event)):
        print(realize(event, words).text)
    if svg is not None:
        with atomic_path(svg) as temporary:
            temporary.write_text(draw_svg(event), encoding="utf-8")
