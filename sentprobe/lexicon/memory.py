"""lemminflect's answers for a lexicon of one's own, kept on disk.

lemminflect takes seconds to load. What it said of a file's words is kept in the folder ``lexicons``
of the cache, in a file of two lines: the format with the digest of the second line, and in JSON a
list of lemma, form, spelling for each answer. It is named after the digest of the lexicon file and
of lemminflect's version, so that a changed lexicon, or another lemminflect, is asked anew. It is
data, never code; one that is damaged is not used, and where none can be written the work is done
again.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sentprobe.errors import FormatError, SentprobeError
from sentprobe.files import atomic_path
from sentprobe.lexicon.inflect import Answer, look_up
from sentprobe.lexicon.words import Form
from sentprobe.values import parse_json
from sentprobe.versions import library

FORMAT = "sentprobe-forms 1"
"""What the first line begins with."""

FOLDER = "lexicons"
"""Where in the cache the files are."""

_FILE = re.compile(r"[0-9a-f]{32}\.json|\.[0-9a-f]{32}\.json\.\w+\.part")

Answers = dict[tuple[str, Form], str | None]
"""The spelling of a form of a lemma; None: lemminflect has none."""


class DamagedAnswersError(SentprobeError):
    """A file of answers is not as it was written."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Answers as far as they are there; lemminflect is asked for the others, once each."""

    answers: Answers

    def __call__(self, lemma: str, form: Form) -> str | None:
        """Return lemminflect's first spelling of a form, or None if it has none."""
        if (lemma, form) not in self.answers:
            self.answers[lemma, form] = look_up(lemma, form)
        return self.answers[lemma, form]


@contextmanager
def remembering(cache: Path, text: str) -> Iterator[Answer]:
    """Give what answers for the words of the lexicon *text*; what is new is kept, if all went well.

    The file is below the folder *cache*, which is made if need be.
    """
    path = path_of(cache, text)
    memory = Memory(_read(path))
    before = len(memory.answers)
    yield memory
    if len(memory.answers) > before:
        with suppress(OSError, SentprobeError):  # a full or read-only disk ends no command
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(path) as temporary:
                temporary.write_bytes(write_answers(memory.answers))


def path_of(cache: Path, text: str) -> Path:
    """Return the file of the answers for a lexicon's text, whether it is there or not."""
    said = f"{library('lemminflect')}\n{text}".encode()
    return cache / FOLDER / f"{sha256(said).hexdigest()[:32]}.json"


def kept_files(cache: Path) -> list[Path]:
    """Return the files that are kept below the folder *cache*, and what killed processes left."""
    try:
        return sorted(each for each in (cache / FOLDER).iterdir() if _FILE.fullmatch(each.name))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read(path: Path) -> Answers:
    try:
        return read_answers(path.read_bytes())
    except (OSError, DamagedAnswersError):
        return {}


def write_answers(answers: Answers) -> bytes:
    """Return answers as the bytes of their file.

    >>> write_answers({("wolf", Form.NNS): "wolves"}).splitlines()[1]
    b'[["wolf", "NNS", "wolves"]]'
    """
    rows = [[lemma, form.value, spelling] for (lemma, form), spelling in answers.items()]
    body = json.dumps(rows).encode()
    return _head(body) + body + b"\n"


def read_answers(data: bytes) -> Answers:
    """Return the answers of a file; the inverse of :func:`write_answers`.

    Raises:
        DamagedAnswersError: it is not as it was written.

    >>> read_answers(write_answers({("wolf", Form.NNS): "wolves"}))
    {('wolf', <Form.NNS: 'NNS'>): 'wolves'}
    """
    head, _, rest = data.partition(b"\n")
    body = rest.removesuffix(b"\n")
    if head + b"\n" != _head(body) or rest == body:
        raise DamagedAnswersError("its digest does not fit its content")
    try:
        return {(lemma, Form(form)): spelling for lemma, form, spelling in parse_json(body)}
    except (FormatError, ValueError, TypeError) as error:
        raise DamagedAnswersError("it does not hold answers") from error


def _head(body: bytes) -> bytes:
    return f"{FORMAT} {sha256(body).hexdigest()}\n".encode()
