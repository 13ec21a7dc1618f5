"""Encoder specs such as ``bow:glove.txt.gz?dim=50``, and dataclasses whose fields are read from ``key=value``.

Names that options accept: enums, and the names in tables whose modules import NumPy, which ``--help`` must not import.

A test compares the latter with the modules that define the tasks, contrasts, presets and so on.

Lengths of sentences in tokens, and their bins.
"""

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin
from urllib.parse import unquote

from sentprobe.common.errors import LARGEST_SEED, UsageError, check_seed, suggest
from sentprobe.common.reading import parse_number

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Member = TypeVar("Member", bound=StrEnum)
Record = TypeVar("Record", bound="DataclassInstance")


def choose_member(kind: type[Member], text: str, *, what: str, excluded: Collection[StrEnum] = ()) -> Member:
    """Return the enum member whose value is *text*; raise UsageError if there is none, or it is *excluded*."""
    known_values = [member.value for member in kind if member not in excluded]
    if text not in known_values:
        raise UsageError(f"there is no {what} {text!r}{suggest(text, known_values)}; known: {', '.join(known_values)}")
    return kind(text)


COMPEVAL, STRUCTURE, NATURAL = "compeval", "structure", "natural"
GENERATED = (COMPEVAL, STRUCTURE)
"""Names of the suites of generated sentences."""

SUITES = (*GENERATED, NATURAL)
"""Names of all suites that sentprobe builds; a folder named ``compeval`` must be written as ``./compeval``."""

DEVICES = ("auto", "cpu", "cuda", "mps")
OptionPair = tuple[str, str]


class Natural(int):
    """Type of a field that may be 0 or a larger whole number, such as a seed. A field of type int is at least 1."""


NAME = "name"
"""Option that sets an encoder's name in tables, as in ``bow?name=small``; every kind of encoder has this option."""


@dataclass(frozen=True, slots=True)
class Spec:
    """An encoder spec: ``kind`` or ``kind:argument``, optionally followed by ``?key=value&key=value``.

    In a value, ``%26`` stands for an ampersand and ``%25`` for a percent sign, as in a URL.

    >>> spec = parse_spec("bow:vectors/glove.txt.gz?dim=50")
    >>> spec.kind, spec.argument, spec.options
    ('bow', 'vectors/glove.txt.gz', (('dim', '50'),))
    >>> str(spec)
    'bow:vectors/glove.txt.gz?dim=50'
    """

    kind: str
    argument: str = ""
    options: tuple[OptionPair, ...] = ()

    @property
    def label(self) -> str | None:
        """The value of the option ``name``, such as "small" in ``bow?name=small``; None if the spec lacks it."""
        return dict(self.options).get(NAME)

    @property
    def name(self) -> str:
        """Name of the encoder in results: the option ``name`` or, without this option, the whole spec."""
        return self.label or str(self)

    def __str__(self) -> str:
        argument = f":{self.argument}" if self.argument else ""
        options = "&".join(f"{key}={_escape(value)}" for key, value in self.options)
        return self.kind + argument + (f"?{options}" if options else "")


def parse_spec(text: str) -> Spec:
    """Parse an encoder spec, the inverse of ``str(spec)``; raise UsageError if it is malformed."""
    head, _, query = text.partition("?")
    kind, _, argument = head.partition(":")
    if not kind:
        raise UsageError(f"encoder spec {text!r} names no kind")
    pairs = [parse_pair(part) for part in query.split("&") if part]
    spec = Spec(kind, argument, tuple((key, unquote(value)) for key, value in pairs))
    if _CONTROL_CHARACTER.search(kind + argument) or "\0" in "".join(chain(*spec.options)):
        raise UsageError(f"encoder spec {text!r} has a control character")
    return spec


_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")


def _escape(value: str) -> str:
    return re.sub(r"[%&\x00-\x1f\x7f]", lambda match: f"%{ord(match[0]):02X}", value)


def parse_pair(text: str) -> OptionPair:
    """Parse ``key=value``; raise UsageError if a part is missing."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError(f"option {text!r} is not of the form key=value")
    return key, value


def check_distinct(what: str, names: Sequence[str]) -> None:
    """Raise UsageError if *names* is empty or repeats a name; *what* is the noun for messages, such as "task"."""
    if not names:
        raise UsageError(f"a run needs at least one {what}")
    if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
        raise UsageError(f"{what} {repeated[0]!r} is given twice")


def check_names(specs: Sequence[Spec]) -> None:
    """Raise UsageError if two encoder specs are equal or have the same name."""
    by_name: dict[str, Spec] = {}
    for spec in specs:
        name = spec.name
        if spec == by_name.get(name):
            raise UsageError(f"encoder {str(spec)!r} is given twice")
        if name in by_name:
            raise UsageError(
                f"two encoders have the name {name!r}: {by_name[name]} and {spec}; "
                f"give one of them another with {NAME}="
            )
        by_name[name] = spec


def read_options(spec: Spec, default: Record) -> Record:
    """Return a copy of *default* in which the options of the spec, except ``name``, replace fields.

    Raises UsageError for an unknown option or a wrong value.
    """
    if spec.label is not None:
        _read_value(_read_text, NAME, spec.label, owner=spec.kind)
    options = [(key, value) for key, value in spec.options if key != NAME]
    return replace_options(default, options, owner=spec.kind, other_names=(NAME,))


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a spec that has none, such as ``majority``."""


def replace_options(
    record: Record,
    options: Iterable[OptionPair],
    *,
    owner: str,
    other_names: Iterable[str] = (),
    fixed: Collection[str] = (),
) -> Record:
    """Return a copy of the dataclass *record* in which each option, such as ``("dim", "50")``, replaces a field.

    The type of the field determines the parser: a type in READERS, an enum, or a tuple. In the text of a tuple, commas
    separate the elements, which are enum members or of a type in LIST_READERS.

    - owner: what has the options, such as a kind of encoder; error messages begin with this text
    - other_names: further valid options, which error messages list too
    - fixed: fields that no option may replace
    """
    readers = {
        entry.name: _find_reader(entry.type)
        for entry in dataclasses.fields(record)
        if entry.name not in fixed and (isinstance(entry.type, type) or get_origin(entry.type) is tuple)
    }
    values: dict[str, object] = {}
    for key, text in options:
        if key not in readers:
            option_names = [*readers, *other_names]
            listed = ", ".join(option_names) or "none"
            raise UsageError(f"{owner} has no option {key!r}{suggest(key, option_names)}; its options: {listed}")
        values[key] = _read_value(readers[key], key, text, owner=owner)
    return dataclasses.replace(record, **values)


def _find_reader(kind: Any) -> Callable[[str], object]:
    if inner := get_args(kind):
        reader = LIST_READERS.get(inner[0]) or partial(_read_member, inner[0])
        return lambda text: tuple(map(reader, text.split(",")))
    if issubclass(kind, StrEnum):
        return partial(_read_member, kind)
    return READERS[kind]


def _read_member(kind: type[StrEnum], text: str) -> StrEnum:
    if text not in list(kind):
        raise ValueError(f"one of {', '.join(kind)} is expected{suggest(text, [member.value for member in kind])}")
    return kind(text)


def _read_value(reader: Callable[[str], object], key: str, text: str, *, owner: str) -> object:
    try:
        return reader(text)
    except ValueError as error:
        raise UsageError(f"{owner}: option {key}={text}: {error}") from None


def _read_whole(text: str, *, expected: str, smallest: int = 0, max_digits: int = 18) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > max_digits or int(text) < smallest:
        raise ValueError(expected)
    return int(text)


def _read_natural(text: str) -> Natural:
    expected = f"a whole number from 0 to {LARGEST_SEED} is expected"
    return Natural(check_seed(_read_whole(text, expected=expected, max_digits=19)))


def _read_number(text: str) -> float:
    try:
        value = parse_number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("a number is expected")
    return value


def _read_truth(text: str) -> bool:
    if text not in BOOLEANS:
        raise ValueError(f"one of {', '.join(BOOLEANS)} is expected")
    return BOOLEANS[text]


def _read_text(text: str) -> str:
    if not text:
        raise ValueError("a value is expected")
    return text


BOOLEANS: Mapping[str, bool] = {"true": True, "false": False, "yes": True, "no": False}

READERS: Mapping[type, Callable[[str], object]] = {
    int: partial(_read_whole, expected="a whole number from 1 is expected", smallest=1),
    Natural: _read_natural,
    float: _read_number,
    bool: _read_truth,
    str: _read_text,
}
"""Functions that parse an option's value, by the type of its field."""

LIST_READERS: Mapping[type, Callable[[str], object]] = {
    int: partial(_read_whole, expected="whole numbers from 0 are expected, with commas between them"),
    float: _read_number,
}
"""Functions that parse one element of a list separated by commas, by the type of the elements."""


def remove_run_seed(name: str, seed: int) -> str:
    """Return an encoder's name without its option ``seed``, if the value is *seed*, the seed of the run.

    >>> remove_run_seed("bow?dim=8&seed=10", 10), remove_run_seed("bow?seed=9", 10)
    ('bow?dim=8', 'bow?seed=9')
    """
    head, _, options = name.partition("?")
    options_left = [option for option in options.split("&") if option != f"seed={seed}"]
    return f"{head}?{'&'.join(options_left)}" if any(options_left) else head


COMPEVAL_TASKS = ("Content1Probe", "Content2Probe", "Order", "SemRole", "Negation")
STRUCTURE_TASKS = ("Attachment", "TenseOf", "NumberOf", "Modality", "Binding", "Recipient", "Question", "Mood")

UNIVERSAL_TASKS = ("DepDepth", "TopDeps", "SubjGender", "SubjPerson", "VerbMood", "Voice")
NATURAL_TASKS = (
    *("SentLen", "WC", "TreeDepth", "TopConst", "BShift", "Tense", "SubjNum", "ObjNum", "SOMO"),
    *("CoordInv", *UNIVERSAL_TASKS),
    *("AdiLength", "AdiContent", "AdiOrder", "AdiLength-permuted", "AdiLength-random"),
    *("AdiContent-permuted", "AdiContent-random", "AdiOrder-permuted", "AdiOrder-random"),
)

CONTRASTS = (
    *("role", "recipient", "modifier", "binding", "negation", "polarity", "tense"),
    *("aspect", "perfect", "modality", "mood", "number", "numeral", "name", "adjunct", "noun", "verb", "adverb"),
)

STRUCTURES = (
    *("passive", "relative", "subject-relative", "object-relative", "progressive"),
    *("negated", "past", "plural", "intransitive"),
)

ITEM_COLUMNS = (
    *("voice", "clause", "distance", "attractors", "tense", "aspect"),
    *("polarity", "template", "length", "label", "structure"),
)

LANGUAGES = ("en", "de")
MOODS = ("statement", "question", "order")
VOCABULARIES = ("english", "compeval", "structure", "everyday", "published")
PRESETS = ("ettinger", "adi", "conneau", "senteval", "logreg")
LSTM_LM, NGRAM = LANGUAGE_MODELS = ("lstm-lm", "ngram")


class TaskGroup(StrEnum):
    """A suite of natural-text tasks."""

    CONNEAU = "conneau"
    """The ten tasks of Conneau et al. 2018, the default suite."""
    ADI = "adi"
    """The three tasks of Adi et al. 2017."""
    UNIVERSAL = "universal"
    """Tasks whose labels come from Universal Dependencies."""
    CONTROLS = "adi-controls"
    """The tasks of Adi et al. 2017 on permuted sentences and on sentences of random words."""


class Sampling(StrEnum):
    """How the items of a suite are sampled.

    - MIRROR: balanced. Tasks of compeval have mirror pairs where possible. In the tasks of Adi et al., neither the
      frequencies of labels nor single words predict the answer
    - PAPER: as in the published datasets of Ettinger et al. 2018, or as described by Adi et al. 2017, section 3.1
    """

    MIRROR = "mirror"
    PAPER = "paper"


class MethodName(StrEnum):
    """A value of ``--method``: a measure for which probes are trained in addition to the main probes."""

    MDL = "mdl"
    """Minimum description length: the codelength of the labels in bits (Voita & Titov 2020)."""
    SAMPLE_EFFICIENCY = "sample-efficiency"
    """The accuracy as a function of the number of training items, and the area under this curve."""
    V_INFORMATION = "v-information"
    """The information about the labels that a probe can use, in bits (Xu et al. 2020)."""
    COMPLEXITY = "complexity"
    """The accuracies of a linear probe and of probes with ever wider hidden layers."""


@dataclass(frozen=True, slots=True)
class Size:
    """Number of items of each split; by default, that of tasks of generated sentences."""

    train: int = 4000
    test: int = 2000
    validation: int = 0

    def override(self, train: int | None, test: int | None, validation: int | None) -> "Size":
        """Return a size with other numbers of items; None leaves a number unchanged."""
        numbers = {"train": train, "test": test, "validation": validation}
        return dataclasses.replace(self, **{name: number for name, number in numbers.items() if number is not None})

    def count_items(self, split: str) -> int:
        """Return the number of items of *split*, named like its field."""
        number: int = getattr(self, split)
        return number


GENERATED_SIZE = Size()
NATURAL_SIZE = Size(100_000, 10_000, 10_000)
"""The usual size of tasks of natural text (Conneau et al. 2018, section 2)."""

DATASET_FORMATS = ("directory", "jsonl", "published", "senteval", "csv", "splits", "hub")


def enumerate_names(names: Sequence[str]) -> str:
    """Return the names as a list in English: "text, markdown or json"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


ADI_BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 29), (30, 33), (34, 70))
"""Length classes of Adi et al. 2017, section 3: smallest and largest number of tokens."""


class Lengths(StrEnum):
    """Ways to group sentences by length."""

    BINS = "bins"
    """The bins of Adi et al. 2017, with one more bin for shorter and one for longer sentences."""
    TOKENS = "tokens"
    """A bin for each number of tokens."""


@dataclass(frozen=True, slots=True, order=True)
class Bin:
    """Sentence lengths from *shortest* to *longest* (inclusive), in tokens; None means no upper limit.

    >>> str(Bin(5, 8)), str(Bin(7, 7)), str(Bin(71, None)), 9 in Bin(9, 12)
    ('5-8', '7', '71+', True)
    """

    shortest: int
    longest: int | None

    def __contains__(self, length: int) -> bool:
        return self.shortest <= length and (self.longest is None or length <= self.longest)

    def __str__(self) -> str:
        if self.longest is None:
            return f"{self.shortest}+"
        return "-".join(map(str, dict.fromkeys((self.shortest, self.longest))))


BINS = (Bin(1, ADI_BINS[0][0] - 1), *(Bin(*ends) for ends in ADI_BINS), Bin(71, None))


def find_bins(lengths: Iterable[int], by: Lengths) -> tuple[Bin, ...]:
    """Return the bins that contain at least one of the lengths, shortest first."""
    distinct = sorted(set(lengths))
    if by is Lengths.TOKENS:
        return tuple(Bin(length, length) for length in distinct)
    return tuple(length_bin for length_bin in BINS if any(length in length_bin for length in distinct))


def count_tokens(sentences: Sequence[str]) -> tuple[int, ...]:
    """Return the number of tokens of each sentence; one space separates tokens."""
    return tuple(sentence.count(" ") + 1 for sentence in sentences)
