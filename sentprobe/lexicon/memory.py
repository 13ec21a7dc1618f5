"""A cache on disk of the inflected forms that lemminflect returns for a user's lexicon file."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from sentprobe.disk.files import atomic_path
from sentprobe.errors import FormatError, SentprobeError
from sentprobe.lexicon.inflect import FormSource, is_guess, look_up
from sentprobe.lexicon.words import Form
from sentprobe.values import parse_json
from sentprobe.versions import describe_package

FORMAT = "sentprobe-forms 2"
"""The name and version of the file format, with which a cache file begins."""
FOLDER = "lexicons"
"""The subfolder of sentprobe's cache for these files."""
_FILE = re.compile(r"[0-9a-f]{32}\.json|\.[0-9a-f]{32}\.json\.\w+\.part")
Answers = dict[tuple[str, Form], tuple[str | None, bool]]
"""For each lemma and form, the spelling (None: lemminflect has none), and whether it is a guess."""


class DamagedAnswersError(SentprobeError):
    """A cache file is damaged: its content does not match its digest, or has the wrong format."""


@contextmanager
def remember_forms(cache: Path | None, text: str, answers: Answers) -> Iterator[FormSource]:
    """Provide a source of forms for the lexicon in *text*, which adds its answers to *answers*.

    The end of the block stores new answers below the folder *cache*, unless it is None.
    """
    path = cache and find_answers_path(cache, text)
    stored: Answers = {}
    if path:
        with suppress(OSError, DamagedAnswersError):
            stored = read_answers(path.read_bytes())

    def ask(lemma: str, form: Form) -> str | None:
        key = lemma, form
        if key not in answers:
            answers[key] = stored[key] if key in stored else (look_up(*key), is_guess(*key))
        return answers[key][0]

    yield ask
    if path and answers.keys() - stored.keys():
        with suppress(OSError, SentprobeError):  # a full or read-only disk ends no command
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(path) as temporary:
                temporary.write_bytes(write_answers(answers))


def find_answers_path(cache: Path, text: str) -> Path:
    """Return the path of a lexicon's cache file, named by a digest of the lexicon's text and lemminflect's version."""
    key = f"{describe_package('lemminflect')}\n{text}".encode()
    return cache / FOLDER / f"{sha256(key).hexdigest()[:32]}.json"


def find_kept_files(cache: Path) -> list[Path]:
    """Return the paths of all files of inflected forms below the folder *cache*, including incomplete ones."""
    try:
        return sorted(path for path in (cache / FOLDER).iterdir() if _FILE.fullmatch(path.name))
    except (FileNotFoundError, NotADirectoryError):
        return []


def write_answers(answers: Answers) -> bytes:
    """Return the content of a cache file, as bytes.

    >>> write_answers({("wolf", Form.NNS): ("wolves", False)}).splitlines()[1]
    b'[["wolf", "NNS", "wolves", false]]'
    """
    rows = [[lemma, form.value, *answer] for (lemma, form), answer in answers.items()]
    body = json.dumps(rows).encode()
    return _format_head(body) + body + b"\n"


def read_answers(data: bytes) -> Answers:
    """Return the answers in a cache file's content; inverse of :func:`write_answers`. Raises DamagedAnswersError.

    >>> read_answers(write_answers({("wolf", Form.NNS): ("wolves", False)}))
    {('wolf', <Form.NNS: 'NNS'>): ('wolves', False)}
    """
    head, _, remainder = data.partition(b"\n")
    body = remainder.removesuffix(b"\n")
    if head + b"\n" != _format_head(body) or remainder == body:
        raise DamagedAnswersError("its digest does not fit its content")
    try:
        return {(lemma, Form(form)): (spelling, guessed) for lemma, form, spelling, guessed in parse_json(body)}
    except (FormatError, ValueError, TypeError) as error:
        raise DamagedAnswersError("it does not hold answers") from error


def _format_head(body: bytes) -> bytes:
    return f"{FORMAT} {sha256(body).hexdigest()}\n".encode()
