"""Two tables of the same sentences: how often they say the same, beyond memory.

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
from sentprobe.probes.corpus.agreement import CLASSES, TENSES, Label, Tally, chance_of
from sentprobe.probes.corpus.conneau_semantics import LETTERS, number_condition, sql_strings
from sentprobe.probes.corpus.conneau_syntax import SEQUENCE
from sentprobe.probes.corpus.queries import Corpus, open_corpus
from sentprobe.probes.corpus.selection import LENGTHS
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.corpus.tasks import TASKS, Need
from sentprobe.probes.corpus.tree_depth import DEPTHS


class Kind(StrEnum):
    """What is compared."""

    LABEL = "label"
    """A label of every sentence."""
    TASK = "task"
    """What a task would ask: the answer, of the sentences that it could take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Something that two tables say of a sentence, as an SQL expression; NULL: nothing."""

    name: str
    kind: Kind
    task: str
    sql: str
    classes: bool = True
    """Whether its values are classes; else they are positions in the sentence."""

    @property
    def trees(self) -> bool:
        """Whether it needs constituents."""
        return TASKS[self.task].need is Need.TREE


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
        Measure(name=label.value, kind=Kind.LABEL, task=task, sql=sql, classes=label in CLASSES)
        for label, (task, sql) in _LABELS.items()
    ),
    *(
        Measure(name=task, kind=Kind.TASK, task=task, sql=sql, classes=task != "CoordInv")
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
    tallies: Mapping[Measure, Tally]
    """Without those for which one of the tables lacks constituents."""


class Pairs:
    """The sentences that are in two tables, side by side."""

    def __init__(self, corpus: Corpus, measures: tuple[Measure, ...]) -> None:
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

    def _tallies(self) -> dict[Measure, Tally]:
        numbers = range(len(self._measures))
        (row,) = self._corpus.query(f"SELECT {', '.join(map(_counts, numbers))} FROM pairs")
        return {
            each: self._tally(each, n, counts)
            for n, (each, counts) in enumerate(zip(self._measures, row, strict=True))
        }

    def _tally(self, measure: Measure, number: int, counts: Mapping[str, int]) -> Tally:
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


def _record(measure: Measure, row: tuple[Any, ...]) -> dict[str, Any]:
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
