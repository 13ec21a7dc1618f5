"""Sentences of a space that is described in a few words, written to a file in one call."""

from collections.abc import Sequence
from pathlib import Path

from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import Event
from sentprobe.generator.lemmas import check_lemmas, infer_frames
from sentprobe.generator.records import format_of
from sentprobe.generator.sentence_files import write_file
from sentprobe.generator.space import Space
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.read import default_vocabulary
from sentprobe.progress import bars


def generate(
    out: Path | str,
    *,
    template: str | Sequence[str] = "all",
    n: int = 10,
    seed: int = 0,
    vocabulary: str | None = None,
    lexicon: Lexicon | None = None,
    require: str | Sequence[str] = (),
    forbid: str | Sequence[str] = (),
    require_word: str | Sequence[str] = (),
    forbid_word: str | Sequence[str] = (),
    choices: Choices | None = None,
    format: str | None = None,
    progress: bool = False,
    jobs: int | None = 1,
) -> Space:
    """Write *n* annotated sentences to a file, as ``gen --out`` does; return their space.

    - out: its suffix says the format (.txt, .jsonl, .parquet, .conllu, .trees) if *format* does not
    - template: one or several of those that ``gen templates`` lists
    - require, forbid: events as they are written, such as ``"help[past](agent: lawyer[pl])"``
    - require_word, forbid_word: lemmas
    - choices: what else is fixed, or may vary
    - jobs: they are made by so many processes (started by spawning: a script needs its
      ``__main__`` guard); None is as many as are worth it; the bytes are the same

    Raises:
        UsageError: something in them is unknown or contradictory; there are fewer sentences; the
            file cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "out.txt"
    ...     space = generate(file, template="transitive-rc", n=1, seed=1)
    ...     print(file.read_text(), end="")
    the director did not mislead the tenant that did not discourage the accountant
    """
    format_of(Path(out).suffix, format)
    lexicon = lexicon or english()
    space = Space(
        lexicon,
        vocabulary=vocabulary or default_vocabulary(lexicon),
        templates=_listed(template),
        choices=choices or Choices(),
        constraints=Constraints(
            required=tuple(read_known(text, lexicon) for text in _listed(require)),
            forbidden=tuple(read_known(text, lexicon) for text in _listed(forbid)),
            required_words=_listed(require_word),
            forbidden_words=_listed(forbid_word),
        ),
    )
    with bars(show=progress) as reporter:
        write_file(space, space.sample(n, seed=seed), out, format, reporter, jobs=jobs)
    return space


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def read_known(text: str, lexicon: Lexicon) -> Event:
    """Read an event, of words of the lexicon.

    Raises:
        UsageError: it is none, or a word in it is unknown.
    """
    from sentprobe.generator.notation import read_event  # noqa: PLC0415 - Lark is slow

    event = read_event(text)
    check_lemmas(event, lexicon)
    return infer_frames(event, lexicon)
