"""The public function ``generate``, which writes sentences to a file in one call."""

from collections.abc import Sequence
from pathlib import Path

from sentprobe.generator.bulk.sentence_files import write_file
from sentprobe.generator.events.event import Event
from sentprobe.generator.events.lemmas import check_lemmas, check_sorts, infer_frames
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.sentence_records import find_record_format
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.profile import load_profile
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.table import find_language
from sentprobe.lexicon.read import choose_vocabulary, read_built_in
from sentprobe.progress import show_bars


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
    progress: bool = False,
) -> Space:
    """Write *n* annotated sentences to a file, as ``gen --out`` does; return the space from which they were drawn.

    - out: without *format*, the suffix (.txt, .jsonl, .parquet, .conllu, .trees) determines the format
    - template: one or several names that ``gen templates`` lists
    - require, forbid: events in text notation, such as ``"help[past](agent: lawyer[pl])"``
    - require_word, forbid_word: lemmas
    - choices: fixed and varying features of the sentences
    - profile: weights of structures and features, as in ``--profile``

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
    with show_bars(show=progress) as reporter:
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
