"""How often two tables say the same of the same sentences, and where they do not.

It is the check by which Conneau et al. 2018 (section 2) judge their automatic labels, with a second
table in place of people: gold trees against a parser's, or one parser against another. Sentences
are matched by their digests, which are those of their tokens. DuckDB counts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sentprobe.errors import SentprobeError
from sentprobe.probes.corpus.queries import Corpus, open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.natural.catalogue import TASKS
from sentprobe.probes.natural.task import NaturalTask, Said, TableNeed


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
    classes: bool
    """Whether its values are classes; else they are positions in the sentence."""
    trees: bool
    """Whether it needs constituents."""


def measures() -> tuple[AgreementMeasure, ...]:
    """Return all that is compared: the labels of all tasks, and then their answers."""
    tasks = TASKS.values()
    return (
        *(_measure(t, n, said, Compared.LABEL) for t in tasks for n, said in t.labels.items()),
        *(_measure(t, t.name, t.answer, Compared.TASK) for t in tasks if t.answer is not None),
    )


def _measure(task: NaturalTask, name: str, said: Said, kind: Compared) -> AgreementMeasure:
    return AgreementMeasure(
        name=name,
        kind=kind,
        task=task.name,
        sql=said.sql,
        classes=said.classes,
        trees=task.need is TableNeed.TREE,
    )


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
    compared = tuple(each for each in measures() if trees or not each.trees)
    with open_corpus(first) as corpus:
        corpus.add(second, view="others")
        pairs = Pairs(corpus, compared)
        if not len(pairs):
            raise SentprobeError(
                f"{first.path} and {second.path} have no sentence in common; sentences are matched "
                "by their tokens, so analyse the tokens of one for the other (--format tokens)"
            )
        yield pairs
