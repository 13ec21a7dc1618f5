"""TMX, the format in which translation memories are exchanged: units with a variant a language.

It is XML of anybody's: entities, by which a small file grows to gigabytes, are refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentprobe.errors import FormatError, UsageError, suggest
from sentprobe.extras import load
from sentprobe.probes.pretraining.texts.sieves import Sieve
from sentprobe.probes.pretraining.texts.text_files import opened_file

_CODES = {"bpt": "", "ept": "", "ph": " ", "it": " ", "ut": " "}
"""Elements that hold markup of another format, and what is read for it: *ph* may part words."""

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"

_ANY = "*all*"
"""The source language of a file in which each may be one."""


def tmx_pairs(
    name: str, languages: Sequence[str] | None, sieve: Sieve
) -> Iterator[tuple[str, str]]:
    """Yield the segments of two languages; units that lack one of them are counted.

    Without *languages* they are the file's source language and its only other one. ``en`` is any
    kind of English, such as ``en-US``.

    Raises:
        FormatError: the file is damaged, or declares an entity.
        UsageError: it has not these languages, or more than two and none are named.
    """
    chosen = languages
    seen: dict[str, None] = {}
    found = False
    for source, unit in _units(name):
        seen |= dict.fromkeys(unit)
        if chosen is None and len(unit) > 1:
            chosen = _two(name, source, [*unit])
        pair = [_variant(unit, language) for language in chosen or ()]
        if len(pair) == 2 and all(pair):
            found = True
            yield pair[0], pair[1]
        else:
            sieve.omit("untranslated")
    if chosen and not found:
        raise UsageError(_missing(name, chosen, [*seen]))


def _missing(name: str, wanted: Sequence[str], known: Sequence[str]) -> str:
    for language in wanted:
        if not _variant({each: each for each in known}, language):
            near = suggest(language, known)
            has = ", ".join(known) or "none"
            return f"{name}: there is no language {language!r}{near}; its languages: {has}"
    return f"{name}: no unit has both {wanted[0]!r} and {wanted[1]!r}"


def _two(name: str, source: str, known: Sequence[str]) -> Sequence[str]:
    first = next((each for each in known if _same(each, source) or _same(source, each)), known[0])
    others = [each for each in known if each != first]
    if len(others) > 1:
        raise UsageError(
            f"{name}: has more than two languages ({', '.join(known)}); name the two that are "
            f"wanted, such as {first} and {others[0]} (--column, twice)"
        )
    return first, *others


def _same(found: str, wanted: str) -> bool:
    """Say whether a language is the one that is wanted, or a kind of it.

    >>> _same("en-US", "EN"), _same("eng", "en")
    (True, False)
    """
    found, wanted = found.lower().replace("_", "-"), wanted.lower().replace("_", "-")
    return found == wanted or found.startswith(f"{wanted}-")


def _variant(unit: Mapping[str, str], wanted: str) -> str:
    return next((text for language, text in unit.items() if _same(language, wanted)), "")


def _units(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the source language and the segments, by language, of each unit."""
    parser = load("defusedxml.ElementTree")
    source = _ANY
    with opened_file(name, "tmx") as opened:
        try:
            for event, element in parser.iterparse(opened.stream, events=("start", "end")):
                if event == "start":
                    source = element.get("srclang", source) if element.tag == "header" else source
                elif element.tag == "tu":
                    yield element.get("srclang", source), _segments(element)
                    element.clear()
        except parser.ParseError as error:
            line, _ = error.position
            raise FormatError(f"{name}, line {line}: not XML: {error.msg}") from None
        except load("defusedxml").DefusedXmlException as error:
            raise FormatError(
                f"{name}: not safe to read: it declares an entity ({type(error).__name__})"
            ) from None


def _segments(unit: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for variant in unit.iterfind("tuv"):
        language = variant.get(_LANGUAGE) or variant.get("lang") or ""
        segment = variant.find("seg")
        if language and segment is not None:
            found.setdefault(language, _text(segment))
    return found


def _text(segment: Any) -> str:
    for code in [each for each in segment.iter() if each.tag in _CODES]:
        after = code.tail
        code.clear()
        code.text, code.tail = _CODES[code.tag], after
    return "".join(segment.itertext())
