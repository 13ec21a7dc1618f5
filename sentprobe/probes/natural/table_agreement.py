"""Agreement of two analysed tables, such as gold trees and a parser's output, on the labels of the same sentences."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.corpus.queries import Corpus, open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.natural.datasets import TASKS
from sentprobe.probes.natural.natural_task import ParseLabel, TableNeed


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementCounts:
    """Numbers of sentences by their labels in tables A and B: same, different, only in A, only in B, in neither."""

    neither: int = 0
    same: int = 0
    different: int = 0
    only_a: int = 0
    only_b: int = 0
    chance: float | None = None
    """Expected share of equal labels if the tables were independent; None for labels that are positions."""

    @property
    def total(self) -> int:
        """Number of sentences."""
        return self.neither + self.same + self.different + self.only_a + self.only_b

    @property
    def agreed(self) -> int:
        """Number of sentences with the same label in both tables, or with a label in neither."""
        return self.neither + self.same

    @property
    def both(self) -> int:
        """Number of sentences with a label in both tables."""
        return self.same + self.different

    @property
    def labelled_by_a(self) -> int:
        """Number of sentences with a label in table A."""
        return self.both + self.only_a

    @property
    def labelled_by_b(self) -> int:
        """Number of sentences with a label in table B."""
        return self.both + self.only_b

    @property
    def rate(self) -> float:
        """Share of sentences with the same label in both tables, or with a label in neither."""
        return self.agreed / self.total if self.total else 1.0

    @property
    def rate_of_both(self) -> float:
        """Share of equal labels among the sentences with a label in both tables."""
        return self.same / self.both if self.both else 1.0

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960, equation 1) over the sentences with a label in both tables; None if undefined."""
        if self.chance is None or not self.both or self.chance == 1:
            return None
        return (self.rate_of_both - self.chance) / (1 - self.chance)


class MeasureKind(StrEnum):
    """The kind of label by which two tables are compared."""

    LABEL = "label"
    """A label from the parse of a sentence, such as its depth."""
    TASK = "task"
    """The answer of a task, for the sentences that the task may select."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementMeasure:
    """A label by which two tables are compared."""

    name: str
    kind: MeasureKind
    task: str
    label: ParseLabel
    needs_constituents: bool
    """Whether both tables must have constituents."""


def list_measures() -> tuple[AgreementMeasure, ...]:
    """Return all measures. Labels from parses, such as tense, come before the answers that tasks derive from them."""
    tasks = TASKS.values()
    labels = [(task, MeasureKind.LABEL, name, label) for task in tasks for name, label in task.labels.items()]
    answers = [(task, MeasureKind.TASK, task.name, task.answer) for task in tasks if task.answer is not None]
    return tuple(
        AgreementMeasure(
            name=name,
            kind=kind,
            task=task.name,
            label=label,
            needs_constituents=task.need in {TableNeed.TREE, TableNeed.CLAUSES},
        )
        for task, kind, name, label in (*labels, *answers)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAgreement:
    """The agreement of two tables, A and B, with the numbers of sentences in both tables and in only one."""

    both: int
    only_a: int
    only_b: int
    tags: AgreementCounts
    tallies: Mapping[AgreementMeasure, AgreementCounts]
    """Agreement by measure, without the measures of constituents if a table has no constituents."""


class TablePairs:
    """The sentences that two tables share, with their labels in both tables."""

    def __init__(self, corpus: Corpus, measures: tuple[AgreementMeasure, ...]) -> None:
        self._corpus = corpus
        self._measures = measures
        corpus.query(
            "CREATE TEMP TABLE pairs AS SELECT * FROM "
            f"(SELECT digest, id, {self._build_values_sql('a')} FROM sentences) "
            f"JOIN (SELECT digest, {self._build_values_sql('b')} FROM others) USING (digest)"
        )

    def __len__(self) -> int:
        ((count,),) = self._corpus.query("SELECT count(*) FROM pairs")
        return int(count)

    def _build_values_sql(self, side: str) -> str:
        return ", ".join(f"{measure.label.sql} AS {side}{n}" for n, measure in enumerate(self._measures))

    def compute_agreement(self) -> TableAgreement:
        """Return the agreement of the two tables on tags and on each measure."""
        ((first, second),) = self._corpus.query(
            "SELECT (SELECT count(*) FROM sentences), (SELECT count(*) FROM others)"
        )
        both = len(self)
        # A sentence without tags in one of the tables is left out.
        ((total, same),) = self._corpus.query(
            "SELECT count(*), count(*) FILTER (a = b) FROM ("
            "SELECT unnest(one.tags) AS a, unnest(two.tags) AS b "
            "FROM sentences one JOIN others two USING (digest) "
            "WHERE len(one.tags) = len(two.tags))"
        )
        return TableAgreement(
            both=both,
            only_a=first - both,
            only_b=second - both,
            tags=AgreementCounts(same=same, different=total - same),
            tallies=self._count_measures(),
        )

    def _count_measures(self) -> dict[AgreementMeasure, AgreementCounts]:
        numbers = range(len(self._measures))
        (row,) = self._corpus.query(f"SELECT {', '.join(map(_build_counts_sql, numbers))} FROM pairs")
        tallies = {}
        for n, (measure, counts) in enumerate(zip(self._measures, row, strict=True)):
            both = counts["same"] + counts["different"]
            # Cohen's p_e: the sum, over labels, of the product of their shares in both tables.
            chance = self._count_agreeing_pairs(f"a{n}", f"b{n}") / both**2 if both else 1.0
            tallies[measure] = AgreementCounts(**counts, chance=chance if measure.label.classes else None)
        return tallies

    def _count_agreeing_pairs(self, a: str, b: str) -> int:
        """Compare every label in column *a* with every label in *b*. Return how many are equal. Omit rows with NULL."""
        counts = (
            f"(SELECT {side} AS value, count(*) AS {name} FROM pairs "
            f"WHERE {a} IS NOT NULL AND {b} IS NOT NULL GROUP BY {side})"
            for side, name in ((a, "n"), (b, "m"))
        )
        ((pair_count,),) = self._corpus.query(
            f"SELECT coalesce(sum(n * m), 0) FROM {' JOIN '.join(counts)} USING (value)"
        )
        return int(pair_count)

    def list_disagreements(self) -> Iterator[dict[str, Any]]:
        """Yield, for each measure, a record of each sentence with different labels in the tables (None: no label)."""
        for number, measure in enumerate(self._measures):
            a, b = f"a{number}", f"b{number}"
            rows = self._corpus.stream(
                f"SELECT {a}, {b}, one.digest, one.source, one.place, one.text "
                "FROM pairs JOIN sentences one USING (digest) "
                f"WHERE {a} IS DISTINCT FROM {b} ORDER BY one.id"
            )
            for row in rows:
                columns = dict(zip(("a", "b", "digest", "source", "place", "text"), row, strict=True))
                record = {"kind": measure.kind.value, "name": measure.name, **columns}
                if not measure.label.classes:
                    record |= {f"{side}_words": _find_words(record["text"], record[side]) for side in ("a", "b")}
                yield record


def _build_counts_sql(number: int) -> str:
    a, b = f"a{number}", f"b{number}"
    conditions = {
        "neither": f"{a} IS NULL AND {b} IS NULL",
        "same": f"{a} = {b}",
        "different": f"{a} <> {b}",
        "only_a": f"{a} IS NOT NULL AND {b} IS NULL",
        "only_b": f"{a} IS NULL AND {b} IS NOT NULL",
    }
    counted = (f"'{name}': count(*) FILTER ({condition})" for name, condition in conditions.items())
    return f"{{{', '.join(counted)}}}"


def _find_words(text: str, position: int | Mapping[str, int] | None) -> str | list[str] | None:
    if position is None:
        return None
    tokens = text.split(" ")
    if isinstance(position, int):
        return tokens[position]
    spans = ((position[f"{name}_start"], position[f"{name}_end"]) for name in ("first", "second"))
    return [" ".join(tokens[start:end]) for start, end in spans]


@contextmanager
def open_pairs(first: Table, second: Table) -> Iterator[TablePairs]:
    """Open two tables and match their sentences by tokens. Raises SentprobeError if no sentence is in both."""
    trees = first.constituents and second.constituents
    compared = tuple(measure for measure in list_measures() if trees or not measure.needs_constituents)
    with open_corpus(first) as corpus:
        corpus.add_table(second, view="others")
        pairs = TablePairs(corpus, compared)
        if not len(pairs):
            raise SentprobeError(
                f"{first.path} and {second.path} have no sentence in common; sentences are matched "
                "by their tokens, so analyse the tokens of one for the other (--format tokens)"
            )
        yield pairs
