"""Counts of words in a corpus, and the lexicon without the words that are rare in it (Ettinger et al. 2018, 7.1)."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path

from sentprobe.common.errors import FormatError, UsageError, format_count, path_error
from sentprobe.common.reading import open_lines, split_at_blanks
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.words import VERBS, Kind

log = logging.getLogger(__name__)
_COUNT = re.compile("[0-9]{1,18}")
MAX_RARE_WORDS = 50
"""Maximum number of words that a note names."""


def read_word_counts(path: Path) -> dict[str, int]:
    """Read a file whose lines are a word, a blank or tab, and a count; return the counts by word.

    Raises UsageError if there is no such file, and FormatError for a line that is not as expected.
    """
    counts: dict[str, int] = {}
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, 1):
                match split_at_blanks(line):
                    case [word, count] if _COUNT.fullmatch(count):
                        if counts.setdefault(word, int(count)) != int(count):
                            raise FormatError(f"line {number}: {word!r} again, with another count")
                    case _:
                        raise FormatError(f"line {number}: a word, a blank or tab, and its count are expected")
    except OSError as error:
        raise path_error(path, "cannot read the word counts", error) from None
    except FormatError as error:
        raise FormatError(f"{path}, {error}") from None
    return counts


def find_rare_words(lexicon: Lexicon, vocabulary: str, counts: Mapping[str, int], *, minimum: int) -> dict[str, str]:
    """Return the rarest form and its count, such as ``danced 12``, of each lemma with a form rarer than *minimum*.

    An encoder has a vector of its own for each form, so it knows a lemma only if it has seen every form.
    """
    rare = {}
    for kind, lemmas in lexicon.vocabulary(vocabulary).words.items():
        for lemma in lemmas:
            tokens = {token for form in lexicon.get(lemma, kind).forms.values() for token in form.split()}
            count, token = min((counts.get(token, 0), token) for token in tokens)
            if count < minimum:
                rare[lemma] = f"{token} {count}"
    return rare


def leave_out_rare_words(lexicon: Lexicon, vocabulary: str, path: Path, *, minimum: int) -> tuple[Lexicon, str]:
    """Return the lexicon whose *vocabulary* lacks words rarer than *minimum* in a file of counts, and a note on them.

    If there are none, return *lexicon* itself and an empty note. Otherwise, the note is logged as a warning, too.
    Raises UsageError, such as if no noun or no verb remains, or FormatError.
    """
    rare = find_rare_words(lexicon, vocabulary, read_word_counts(path), minimum=minimum)
    if not rare:
        return lexicon, ""
    words = lexicon.vocabulary(vocabulary).words
    frequent = {kind: [lemma for lemma in lemmas if lemma not in rare] for kind, lemmas in words.items()}
    option = f"--min-count {minimum}"
    for name, kinds in (("noun", {Kind.NOUN}), ("verb", VERBS)):
        if not any(frequent.get(kind) for kind in kinds):
            raise UsageError(
                f"{path}: {option} leaves vocabulary {vocabulary!r} no {name}; choose a smaller count, or a larger "
                "vocabulary"
            )
    names = [f"{lemma} ({form})" for lemma, form in rare.items()][:MAX_RARE_WORDS]
    others = [f"and {len(rare) - len(names)} more"] * (len(rare) > len(names))
    total = len({lemma for lemmas in words.values() for lemma in lemmas})
    note = (
        f"{option} leaves out {len(rare)} of {format_count(total, 'word')}, since a form of each is rarer in "
        f"{path.name}: {', '.join([*names, *others])}"
    )
    log.warning("%s", note)
    return lexicon.replace_words(vocabulary, frequent), note
