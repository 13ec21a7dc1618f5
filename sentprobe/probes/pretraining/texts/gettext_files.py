"""Gettext's files of translated messages (.po), read by polib."""

from collections.abc import Iterator
from typing import Any

from sentprobe.errors import FormatError, first_line
from sentprobe.extras import load
from sentprobe.probes.pretraining.texts.sieves import Sieve
from sentprobe.probes.pretraining.texts.text_files import lines_of


def gettext_pairs(name: str, sieve: Sieve) -> Iterator[tuple[str, str]]:
    """Yield messages and their translations; those without one, or an unsure one, are counted.

    Of a message in singular and plural, each has its translation: the last form is the plural's.

    Raises:
        FormatError: the file is damaged; says where.
    """
    polib = load("polib")
    # What polib is given ends in a line break, so that it is never taken for the name of a file.
    text = "".join(f"{line}\n" for line in lines_of(name, sieve.options.encoding)) or "\n"
    try:
        entries = polib.pofile(text)
    except (OSError, ValueError, IndexError) as error:
        raise FormatError(f"{name}: not a file of gettext: {first_line(error)}") from None
    for entry in entries:
        if entry.obsolete:
            continue
        pairs = _forms(entry) if entry.msgid_plural else [(entry.msgid, entry.msgstr)]
        for message, translation in pairs:
            if entry.fuzzy or not translation:
                sieve.omit("untranslated")
            else:
                yield message, translation


def _forms(entry: Any) -> list[tuple[str, str]]:
    """Return the singular and the plural of a message, each with its translation."""
    forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)] or [""]
    return [(entry.msgid, forms[0]), (entry.msgid_plural, forms[-1])]
