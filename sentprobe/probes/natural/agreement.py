"""How often two tables say the same of the same sentences, and where they do not.

It is the check by which Conneau et al. 2018 (section 2) judge their automatic labels, with a second
table in place of people: gold trees against a parser's, or one parser against another. Sentences
are matched by their digests, which are those of their tokens. DuckDB counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sentprobe.errors import SentprobeError
from sentprobe.probes.corpus.queries import Corpus, open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.natural.catalogue import TASKS, TableNeed
from sentprobe.probes.natural.select import LENGTHS
from sentprobe.probes.natural.tense_number import LETTERS, TENSES, number_condition, sql_strings
from sentprobe.probes.natural.topconst import SEQUENCE
from sentprobe.probes.natural.treedepth import DEPTHS
from sentprobe.probes.syntax.rows import Row


class Label(StrEnum):
    """A label that two rows can agree on."""

    TENSE = "tense"
    VERB = "verb"
    SUBJECT = "subject"
    SUBJECT_NUMBER = "subject number"
    OBJECT = "object"
    OBJECT_NUMBER = "object number"
    DEPTH = "depth"
    TOP = "top constituents"
    CLAUSES = "coordinated clauses"


CLASSES = frozenset(
    (Label.TENSE, Label.SUBJECT_NUMBER, Label.OBJECT_NUMBER, Label.DEPTH, Label.TOP)
)
"""The labels that are classes; the others are positions in the sentence."""


_VALUES: Mapping[Label, Callable[[Row], object]] = {
    Label.TENSE: lambda row: None if row.verb is None else TENSES.get(row.tag(row.verb)),
    Label.VERB: lambda row: row.verb,
    Label.SUBJECT: lambda row: row.subject and row.subject.index,
    Label.SUBJECT_NUMBER: lambda row: row.subject and row.subject.number,
    Label.OBJECT: lambda row: row.object and row.object.index,
    Label.OBJECT_NUMBER: lambda row: row.object and row.object.number,
    Label.DEPTH: lambda row: row.depth,
    Label.TOP: lambda row: row.top,
    Label.CLAUSES: lambda row: row.clauses,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How often two analyses, A and B, say the same of one label: counts of sentences."""

    neither: int = 0
    """Neither has the label."""
    same: int = 0
    """Both have it, with the same value."""
    different: int = 0
    """Both have it, with different values."""
    only_a: int = 0
    only_b: int = 0
    chance: float | None = None
    """How often both would say the same if they were independent; None without classes."""

    @property
    def total(self) -> int:
        """The number of sentences."""
        return self.neither + self.same + self.different + self.only_a + self.only_b

    @property
    def agreed(self) -> int:
        """The sentences for which both say the same, if only that there is none."""
        return self.neither + self.same

    @property
    def both(self) -> int:
        """The sentences to which both give a value."""
        return self.same + self.different

    @property
    def of_a(self) -> int:
        """The sentences to which A gives a value."""
        return self.both + self.only_a

    @property
    def of_b(self) -> int:
        """The sentences to which B gives a value."""
        return self.both + self.only_b

    @property
    def rate(self) -> float:
        """The share of all sentences for which both say the same, if only that there is none."""
        return self.agreed / self.total if self.total else 1.0

    @property
    def rate_of_both(self) -> float:
        """The share with the same value among the sentences to which both give one."""
        return self.same / self.both if self.both else 1.0

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960, equation 1) over the sentences to which both give a value.

        None without classes, without such sentences, and where all are of one class.
        """
        if self.chance is None or not self.both or self.chance == 1:
            return None
        return (self.rate_of_both - self.chance) / (1 - self.chance)


def chance_of(agreeing: int, both: int) -> float:
    """Return the expected agreement: *agreeing* of the pairs of any two of *both* sentences.

    That is the sum over classes of how often A has the class times how often B has it, over the
    square of the number of sentences; 1 if there are none.

    >>> chance_of(2 * 1 + 2 * 3, 4)
    0.5
    """
    return agreeing / both**2 if both else 1.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sentence for which two analyses say different things."""

    text: str
    first: object
    second: object


@dataclass(slots=True)
class Agreement:
    """What two analyses say of one label: counts of sentences, and those that differ."""

    neither: int = 0
    """Neither has the label."""
    same: int = 0
    """Both have it, with the same value."""
    different: list[Disagreement] = field(default_factory=list)
    """Both have it, with different values."""
    one_only: list[Disagreement] = field(default_factory=list)
    """One has it; the other's value is None."""
    classes: tuple[Counter[object], Counter[object]] | None = field(default=None, compare=False)
    """Of a label with classes: how often each says which, where both have it."""

    @property
    def tally(self) -> Tally:
        """The counts."""
        only_a = sum(each.second is None for each in self.one_only)
        both = self.same + len(self.different)
        chance = None
        if self.classes is not None:
            first, second = self.classes
            chance = chance_of(sum(n * second[value] for value, n in first.items()), both)
        return Tally(
            neither=self.neither,
            same=self.same,
            different=len(self.different),
            only_a=only_a,
            only_b=len(self.one_only) - only_a,
            chance=chance,
        )

    @property
    def total(self) -> int:
        """The number of sentences."""
        return self.tally.total

    @property
    def rate(self) -> float:
        """The share of all sentences for which both say the same, if only that there is none."""
        return self.tally.rate

    @property
    def rate_of_both(self) -> float:
        """The share with the same value among the sentences to which both give one."""
        return self.tally.rate_of_both


def agreement(pairs: Iterable[tuple[Row, Row]]) -> dict[Label, Agreement]:
    """Compare two rows of each of many sentences, label by label, in memory.

    The two must have the same tokens for positions to mean the same. For whole tables see
    :mod:`sentprobe.probes.corpus.table_agreement`.
    """
    found = {
        label: Agreement(classes=(Counter(), Counter()) if label in CLASSES else None)
        for label in Label
    }
    for one, other in pairs:
        for label, value in _VALUES.items():
            _count(found[label], one.text, value(one), value(other))
    return found


def _count(counts: Agreement, text: str, first: object, second: object) -> None:
    if first is None and second is None:
        counts.neither += 1
        return
    if counts.classes is not None and first is not None and second is not None:
        counts.classes[0][first] += 1
        counts.classes[1][second] += 1
    if first == second:
        counts.same += 1
    else:
        where = counts.one_only if first is None or second is None else counts.different
        where.append(Disagreement(text, first, second))


class Compared(StrEnum):
    """What is compared."""

    LABEL = "label"
    """A label of every sentence."""
    TASK = "task"
    """What a task would ask: the answer, of the sentences that it could take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementMeasure:
    """Something that two tables say of a sentence, as an SQL expression; NULL: nothing."""

    name: str
    kind: Compared
    task: str
    sql: str
    classes: bool = True
    """Whether its values are classes; else they are positions in the sentence."""

    @property
    def trees(self) -> bool:
        """Whether it needs constituents."""
        return TASKS[self.task].need is TableNeed.TREE


_TENSE = (
    "CASE "
    + " ".join(f"WHEN verb_tag = '{tag}' THEN '{tense}'" for tag, tense in TENSES.items())
    + " END"
)


def _number(role: str) -> str:
    """Return what asks about a common noun whose phrase has the number that its tag shows."""
    asked = f"{LENGTHS} AND {number_condition(role)} AND {_is_word(role)}"
    return f"CASE WHEN {asked} THEN {role}_tag END"


def _is_word(role: str) -> str:
    return f"regexp_full_match(lower(tokens[{role}_index + 1]), '{LETTERS}')"


_LABELS: Mapping[Label, tuple[str, str]] = {
    Label.DEPTH: ("TreeDepth", "depth"),
    Label.TOP: ("TopConst", "top"),
    Label.VERB: ("Tense", "verb_index"),
    Label.TENSE: ("Tense", _TENSE),
    Label.SUBJECT: ("SubjNum", "subject_index"),
    Label.SUBJECT_NUMBER: ("SubjNum", "subject_number"),
    Label.OBJECT: ("ObjNum", "object_index"),
    Label.OBJECT_NUMBER: ("ObjNum", "object_number"),
    Label.CLAUSES: ("CoordInv", "clauses"),
}
_ANSWERS: Mapping[str, str] = {
    "TreeDepth": f"CASE WHEN {LENGTHS} AND depth BETWEEN {DEPTHS[0]} AND {DEPTHS[-1]} "
    "THEN depth END",
    "TopConst": f"CASE WHEN {LENGTHS} AND {SEQUENCE} THEN top END",
    "Tense": f"CASE WHEN {LENGTHS} AND verb_tag IN {sql_strings(tuple(TENSES))} "
    f"AND {_is_word('verb')} THEN {_TENSE} END",
    "SubjNum": _number("subject"),
    "ObjNum": _number("object"),
    "CoordInv": f"CASE WHEN {LENGTHS} THEN clauses END",
}

MEASURES = (
    *(
        AgreementMeasure(
            name=label.value, kind=Compared.LABEL, task=task, sql=sql, classes=label in CLASSES
        )
        for label, (task, sql) in _LABELS.items()
    ),
    *(
        AgreementMeasure(
            name=task, kind=Compared.TASK, task=task, sql=sql, classes=task != "CoordInv"
        )
        for task, sql in _ANSWERS.items()
    ),
)
"""All that is compared. A task's answer is that of its questions before frequency bands, balance
and size decide which are asked; a sequence of TopConst that is not frequent counts as itself."""

PARSED = tuple(_ANSWERS)
"""The tasks that depend on the parse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAgreement:
    """What two tables, A and B, have in common and how often they say the same."""

    both: int
    """Sentences in both."""
    only_a: int
    only_b: int
    tags: Tally
    """Of the tokens' tags."""
    tallies: Mapping[AgreementMeasure, Tally]
    """Without those for which one of the tables lacks constituents."""


class Pairs:
    """The sentences that are in two tables, side by side."""

    def __init__(self, corpus: Corpus, measures: tuple[AgreementMeasure, ...]) -> None:
        self._corpus = corpus
        self._measures = measures
        corpus.query(
            "CREATE TEMP TABLE pairs AS SELECT * FROM "
            f"(SELECT digest, id, {self._values('a')} FROM sentences) "
            f"JOIN (SELECT digest, {self._values('b')} FROM others) USING (digest)"
        )

    def __len__(self) -> int:
        ((found,),) = self._corpus.query("SELECT count(*) FROM pairs")
        return int(found)

    def _values(self, side: str) -> str:
        return ", ".join(f"{each.sql} AS {side}{n}" for n, each in enumerate(self._measures))

    def agreement(self) -> TableAgreement:
        """Count how often the two say the same.

        Raises:
            SentprobeError: a shard cannot be read, or there is no room for temporary files.
        """
        ((first, second),) = self._corpus.query(
            "SELECT (SELECT count(*) FROM sentences), (SELECT count(*) FROM others)"
        )
        both = len(self)
        return TableAgreement(
            both=both,
            only_a=first - both,
            only_b=second - both,
            tags=self._tags(),
            tallies=self._tallies(),
        )

    def _tags(self) -> Tally:
        ((total, same),) = self._corpus.query(
            "SELECT count(*), count(*) FILTER (a = b) FROM ("
            "SELECT unnest(one.tags) AS a, unnest(two.tags) AS b "
            "FROM sentences one JOIN others two USING (digest) "
            "WHERE len(one.tags) = len(two.tags))"
        )
        return Tally(same=same, different=total - same)

    def _tallies(self) -> dict[AgreementMeasure, Tally]:
        numbers = range(len(self._measures))
        (row,) = self._corpus.query(f"SELECT {', '.join(map(_counts, numbers))} FROM pairs")
        return {
            each: self._tally(each, n, counts)
            for n, (each, counts) in enumerate(zip(self._measures, row, strict=True))
        }

    def _tally(self, measure: AgreementMeasure, number: int, counts: Mapping[str, int]) -> Tally:
        chance = None
        if measure.classes:
            agreeing = self._agreeing(f"a{number}", f"b{number}")
            chance = chance_of(agreeing, counts["same"] + counts["different"])
        return Tally(**counts, chance=chance)

    def _agreeing(self, a: str, b: str) -> int:
        """Return how many pairs of a sentence of A and one of B have the same class."""
        counts = (
            f"(SELECT {side} AS value, count(*) AS {name} FROM pairs "
            f"WHERE {a} IS NOT NULL AND {b} IS NOT NULL GROUP BY {side})"
            for side, name in ((a, "n"), (b, "m"))
        )
        ((found,),) = self._corpus.query(
            f"SELECT coalesce(sum(n * m), 0) FROM {' JOIN '.join(counts)} USING (value)"
        )
        return int(found)

    def disagreements(self) -> Iterator[dict[str, Any]]:
        """Yield a record of each disagreement, by measure and then in the order of table A.

        A value is null where its table says nothing. Positions come with the words there.
        """
        for number, measure in enumerate(self._measures):
            a, b = f"a{number}", f"b{number}"
            rows = self._corpus.stream(
                f"SELECT one.digest, one.source, one.place, one.text, {a}, {b} "
                "FROM pairs JOIN sentences one USING (digest) "
                f"WHERE {a} IS DISTINCT FROM {b} ORDER BY one.id"
            )
            yield from (_record(measure, row) for row in rows)


def _counts(number: int) -> str:
    """Return the SQL of the counts of a measure, as a struct."""
    a, b = f"a{number}", f"b{number}"
    conditions = {
        "neither": f"{a} IS NULL AND {b} IS NULL",
        "same": f"{a} = {b}",
        "different": f"{a} <> {b}",
        "only_a": f"{a} IS NOT NULL AND {b} IS NULL",
        "only_b": f"{a} IS NULL AND {b} IS NOT NULL",
    }
    counted = (f"'{name}': count(*) FILTER ({which})" for name, which in conditions.items())
    return f"{{{', '.join(counted)}}}"


def _record(measure: AgreementMeasure, row: tuple[Any, ...]) -> dict[str, Any]:
    digest, source, place, text, first, second = row
    found = {
        "kind": measure.kind.value,
        "name": measure.name,
        "a": first,
        "b": second,
        "digest": digest,
        "source": source,
        "place": place,
        "text": text,
    }
    if not measure.classes:
        found |= {f"{side}_words": _words(text, found[side]) for side in ("a", "b")}
    return found


def _words(text: str, position: int | Mapping[str, int] | None) -> str | list[str] | None:
    """Return the word at a position, or the two clauses."""
    if position is None:
        return None
    tokens = text.split(" ")
    if isinstance(position, int):
        return tokens[position]
    spans = ((position[f"{name}_start"], position[f"{name}_end"]) for name in ("first", "second"))
    return [" ".join(tokens[start:end]) for start, end in spans]


@contextmanager
def open_pairs(first: Table, second: Table) -> Iterator[Pairs]:
    """Match the sentences of two tables by their tokens.

    Raises:
        SentprobeError: there is no sentence that is in both, or a shard cannot be read.
    """
    trees = first.constituents and second.constituents
    measures = tuple(each for each in MEASURES if trees or not each.trees)
    with open_corpus(first) as corpus:
        corpus.add(second, view="others")
        pairs = Pairs(corpus, measures)
        if not len(pairs):
            raise SentprobeError(
                f"{first.path} and {second.path} have no sentence in common; sentences are matched "
                "by their tokens, so analyse the tokens of one for the other (--format tokens)"
            )
        yield pairs
