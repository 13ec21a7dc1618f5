"""Read pairs for natural language inference (NLI), triplets that ``gen pairs`` wrote, and translations.

Read TMX, the exchange format of translation memories; XML entities, which can be huge, are refused.
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import numpy as np

from sentprobe.common.errors import FormatError, UsageError, first_line, format_count, import_module_of_extra, suggest
from sentprobe.generator.pairs import inference_pairs
from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.probes.training.corpora import (
    SUFFIXES,
    NliPairs,
    SentencePairs,
    Triplets,
    find_format,
    open_file,
    read_column_names,
    read_lines,
    read_rows,
    read_tab_pairs,
    to_text,
)
from sentprobe.probes.training.text_filters import DEFAULT_OPTIONS, TextFilter, TextOptions

_MARKUP_REPLACEMENTS = {"bpt": "", "ept": "", "ph": " ", "it": " ", "ut": " "}
"""Elements that contain markup of another format, and the text that replaces it; a space separates words."""
_LANGUAGE_ATTRIBUTE = "{http://www.w3.org/XML/1998/namespace}lang"

_ANY_LANGUAGE = "*all*"
"""The value for the source language of a file whose translation units have different source languages."""
_DECLARATION = re.compile(rb"""[^<]{0,3}<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']""")
"""A regular expression for an XML file's declaration of its encoding, which may follow a byte-order mark."""
_DECLARATION_BYTES = 1024

_PARSER_ENCODINGS = {"utf-8", "utf-16", "iso-8859-1", "us-ascii"}
"""Encodings that the XML parser can decode."""
_MAX_UNTAGGED = 1 << 20
"""Maximum number of bytes without the start or end of an element. The parser needs time by the square of a token."""
_DOMAIN_ENCODINGS = {"idna", "punycode"}
"""Python's codecs for domain names, which cannot decode a file."""


def read_tmx_pairs(name: str, languages: Sequence[str] | None, text_filter: TextFilter) -> Iterator[tuple[str, str]]:
    """Yield pairs of a text and its translation; units that lack one of the languages are counted as left out.

    - languages: the two languages; ``en`` includes varieties such as ``en-US``. None: the file's source language, and
      its only other language

    Raises UsageError or FormatError.
    """
    chosen_languages = languages
    seen_languages: dict[str, None] = {}
    has_pairs = False
    for source, unit in _read_units(name):
        seen_languages |= dict.fromkeys(unit)
        if chosen_languages is None and len(unit) > 1:
            chosen_languages = _choose_languages(name, source, [*unit])
        pair = [_find_segment(unit, language) for language in chosen_languages or ()]
        if len(pair) == 2 and all(pair):
            has_pairs = True
            yield pair[0], pair[1]
        else:
            text_filter.count_omission("untranslated")
    if chosen_languages and not has_pairs:
        raise UsageError(_describe_missing_language(name, chosen_languages, [*seen_languages]))


def _describe_missing_language(name: str, requested: Sequence[str], known_languages: Sequence[str]) -> str:
    for language in requested:
        if not _find_segment({code: code for code in known_languages}, language):
            suggestion = suggest(language, known_languages)
            language_list = ", ".join(known_languages) or "none"
            return f"{name}: there is no language {language!r}{suggestion}; its languages: {language_list}"
    return f"{name}: no unit has both {requested[0]!r} and {requested[1]!r}"


def _choose_languages(name: str, source: str, languages: Sequence[str]) -> Sequence[str]:
    matches = (code for code in languages if _is_same_language(code, source) or _is_same_language(source, code))
    source_language = next(matches, languages[0])
    other_languages = [language for language in languages if language != source_language]
    if len(other_languages) > 1:
        raise UsageError(
            f"{name}: has more than two languages ({', '.join(languages)}); name two of them by "
            f"--column {source_language} --column {other_languages[0]}"
        )
    return source_language, *other_languages


def _is_same_language(language: str, requested: str) -> bool:
    language, requested = language.lower().replace("_", "-"), requested.lower().replace("_", "-")
    return language == requested or language.startswith(f"{requested}-")


def _find_segment(unit: Mapping[str, str], requested: str) -> str:
    return next((text for language, text in unit.items() if _is_same_language(language, requested)), "")


def _read_units(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    library = import_module_of_extra("defusedxml.ElementTree")
    parser = library.DefusedXMLParser()
    source = _ANY_LANGUAGE
    with open_file(name, "tmx") as opened:
        try:
            xml = _DecodedXml(name, opened.stream, parser)
            for event, element in library.iterparse(xml, events=("start", "end"), parser=parser):
                xml.untagged = 0
                if event == "start":
                    source = element.get("srclang", source) if element.tag == "header" else source
                elif element.tag == "tu":
                    yield element.get("srclang", source), _read_segments(element)
                    element.clear()
        except library.ParseError as error:
            line, _ = error.position
            raise FormatError(f"{name}, line {line}: not XML: {error.msg}") from None
        except import_module_of_extra("defusedxml").DefusedXmlException as error:
            raise FormatError(f"{name}: not safe to read: it declares an entity ({type(error).__name__})") from None
        except UnicodeError as error:
            raise FormatError(f"{name}: not in the encoding that it declares: {first_line(error)}") from None
        except LookupError as error:
            raise FormatError(f"{name}: cannot decode it: {first_line(error)}") from None


class _DecodedXml:
    """A reader of an XML file. It returns bytes if the XML parser can decode them, and otherwise decoded text."""

    untagged = 0
    """Number of bytes or characters read since the caller last set it to 0."""

    def __init__(self, name: str, stream: IO[bytes], parser: Any) -> None:
        self._name, self._stream, self._parser = name, stream, parser
        self._start = stream.read(_DECLARATION_BYTES)
        self._decoder = _make_decoder(self._start)

    def read(self, size: int) -> bytes | str:
        if self.untagged > _MAX_UNTAGGED:
            place = f"{self._name}, line {self._parser.parser.CurrentLineNumber}"
            raise FormatError(f"{place}: more than {_MAX_UNTAGGED:,} bytes without a tag")
        part: bytes | str
        while True:
            encoded, self._start = self._start or self._stream.read(size), b""
            part = encoded if self._decoder is None else self._decoder.decode(encoded, final=not encoded)
            if part or not encoded:  # a part of a character decodes to nothing, which would end the file
                break
        self.untagged += len(part)
        return part


def _make_decoder(start: bytes) -> codecs.IncrementalDecoder | None:
    """Return a decoder for the encoding that *start* declares; None if the XML parser has one. Raises LookupError."""
    declaration = _DECLARATION.match(start.replace(b"\0", b""))
    encoding = declaration[1].decode("latin-1") if declaration else "utf-8"
    if encoding.lower() in _PARSER_ENCODINGS:
        return None
    if not encoding.isprintable() or encoding.lower() in _DOMAIN_ENCODINGS:
        raise LookupError(f"{encoding!r} is not a text encoding")
    "<".encode(encoding)  # raises LookupError for codecs that do not encode text, such as hex
    return codecs.getincrementaldecoder(encoding)()


def _read_segments(unit: Any) -> dict[str, str]:
    segments: dict[str, str] = {}
    for variant in unit.iterfind("tuv"):
        language = variant.get(_LANGUAGE_ATTRIBUTE) or variant.get("lang") or ""
        segment = variant.find("seg")
        if not language or segment is None:
            continue
        for markup in [element for element in segment.iter() if element.tag in _MARKUP_REPLACEMENTS]:
            following_text = markup.tail  # the words after the element, which clear() would remove too
            markup.clear()
            markup.text, markup.tail = _MARKUP_REPLACEMENTS[markup.tag], following_text
        segments.setdefault(language, "".join(segment.itertext()))
    return segments


PUBLISHED_COLUMNS = ("sentence1", "sentence2", "gold_label")
COLUMNS = ("premise", "hypothesis", "label")
"""The columns in files that ``gen pairs --nli`` wrote, and in SNLI and MultiNLI on the Hugging Face hub."""

_LABELS: Mapping[object, NliLabel] = {
    **{label.value: label for label in NliLabel},
    **{str(label.value): label for label in NliLabel},
    **{label.name.lower(): label for label in NliLabel},
}
_NO_LABEL = ("-", "", None, -1, "-1")
"""Values of the label column if the annotators did not agree on a label."""


def read_nli(path: Path | str, *, options: TextOptions = DEFAULT_OPTIONS) -> NliPairs:
    """Read NLI pairs, except those without a label or with an empty or too long sentence. Raises SentprobeError."""
    name = str(path)
    file_format = find_format(name, SUFFIXES)
    file_columns = read_column_names(name, file_format, options.encoding)
    columns = PUBLISHED_COLUMNS if PUBLISHED_COLUMNS[-1] in file_columns else COLUMNS
    text_filter = TextFilter(options)
    pairs: list[tuple[str, str, int]] = []
    rows = read_rows(name, file_format, columns, options.encoding)
    for number, (*texts, value) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        label = _parse_label(where, value)
        premise, hypothesis = text_filter.to_sentences(where, columns, texts)
        if label is None:
            text_filter.count_omission("unlabelled")
        elif text_filter.is_kept(premise, hypothesis):
            pairs.append((premise, hypothesis, label))
    omitted = text_filter.check_enough(name, pairs, "pair")
    premises, hypotheses, labels = zip(*pairs, strict=True)
    return NliPairs(premises, hypotheses, np.array(labels, np.int64), omitted)


def _parse_label(where: str, value: object) -> NliLabel | None:
    if value in _NO_LABEL:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool) and value in _LABELS:
        return _LABELS[value]
    names = [label.name.lower() for label in NliLabel]
    raise FormatError(
        f"{where}: there is no label {value!r}{suggest(str(value), names)}; known: "
        f"{', '.join(names)}, their numbers from 0, and - for no label"
    )


TRIPLET_COLUMNS = tuple(map(str, inference_pairs.COLUMNS))


def read_triplets(path: Path | str, *, options: TextOptions = DEFAULT_OPTIONS) -> Triplets:
    """Read triplets, except those with an empty or too long sentence. Raises UsageError or FormatError."""
    name, text_filter = str(path), TextFilter(options)
    file_format = find_format(name, SUFFIXES)
    rows = read_rows(name, file_format, TRIPLET_COLUMNS, options.encoding)
    triplets: list[list[str]] = []
    for number, row in enumerate(rows, 1):
        triplet = text_filter.to_sentences(f"{name}, row {number}", TRIPLET_COLUMNS, row)
        if text_filter.is_kept(*triplet):
            triplets.append(triplet)
    omitted = text_filter.check_enough(name, triplets, "triplet")
    anchors, positives, negatives = zip(*triplets, strict=True)
    return Triplets(anchors, positives, negatives, omitted)


SIDES = ("source", "target")
"""The default names of the columns with a sentence and its translation."""
PARALLEL_SUFFIXES = {**SUFFIXES, ".tmx": "tmx"}


def read_parallel(
    path: Path | str,
    translation: Path | str | None = None,
    *,
    columns: tuple[str, str] | None = None,
    options: TextOptions = DEFAULT_OPTIONS,
) -> SentencePairs:
    """Read pairs of a sentence and its translation. Raises UsageError or FormatError.

    Pairs with an empty or too long sentence are left out.

    - translation: a second file, whose line i translates line i of the first
    - columns: the names of two columns or, for TMX, two languages. None: the first two columns of a TSV file,
      which then has no header; the two languages of a TMX file; ``source`` and ``target`` in all other formats
    """
    text_filter = TextFilter(options)
    pairs: list[tuple[str, str]] = []
    for source, target in _read_pairs(str(path), str(translation or ""), columns, text_filter):
        pair = text_filter.to_sentence(source), text_filter.to_sentence(target)
        if text_filter.is_kept(*pair):
            pairs.append(pair)
    omitted = text_filter.check_enough(f"{path} and {translation}" if translation else str(path), pairs, "pair")
    sources, targets = zip(*pairs, strict=True)
    return SentencePairs(sources, targets, omitted)


def _read_pairs(
    name: str, translation: str, columns: tuple[str, str] | None, text_filter: TextFilter
) -> Iterator[tuple[str, str]]:
    encoding = text_filter.options.encoding
    if translation:
        lines = zip_longest(read_lines(name, encoding), read_lines(translation, encoding))
        for number, (line, translated_line) in enumerate(lines, 1):
            if line is None or translated_line is None:
                short, long = (name, translation) if line is None else (translation, name)
                length = f"has only {format_count(number - 1, 'line')}" if number > 1 else "is empty"
                raise FormatError(f"{long}, line {number}: has no partner: {short} {length}")
            yield line, translated_line
        return
    advice = "; or name a second file, with the translation of each of its lines"
    file_format = find_format(name, PARALLEL_SUFFIXES, advice=advice)
    if file_format == "tmx":
        yield from read_tmx_pairs(name, columns, text_filter)
        return
    if file_format == "tsv" and columns is None:
        yield from read_tab_pairs(name, encoding)
        return
    column_names = columns or SIDES
    for number, row in enumerate(read_rows(name, file_format, column_names, encoding), 1):
        source, target = map(partial(to_text, f"{name}, row {number}"), column_names, row)
        yield source, target
