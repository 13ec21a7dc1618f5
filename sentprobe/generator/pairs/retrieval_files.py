"""Retrieval sets as files in the layout of BEIR: queries, documents and relevance judgements.

A query is the anchor of a triplet, and the positive is its relevant document. The negatives, and the documents of other
queries, are not relevant.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sentprobe.disk.files import atomic_new_folder
from sentprobe.errors import UsageError
from sentprobe.generator.bulk.generation import PART_SIZE
from sentprobe.generator.events.event import Event
from sentprobe.generator.events.meaning import compute_meaning
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.pairs.exclusion_queries import ExclusionSpace, join_questions, join_statements
from sentprobe.generator.pairs.triplets import SIDES, SentenceMaker, TripletRows, TripletSet, TripletSide, TripletSpace
from sentprobe.generator.spaces.layout import build_layout_event
from sentprobe.values import format_json


def sample_distinct_meanings(spaces: Sequence[TripletSpace], count: int, *, seed: int) -> list[TripletSet]:
    """Return *count* triplets of each space. The anchors and negatives of different triplets have different meanings.

    In exclusion queries, questions are compared instead. The query "who helped X but did not help Y" has the questions
    "who helped X" and "who helped Y". No question of one query means the same as a question of another query.

    Raises:
        UsageError: a space has too few triplets with different meanings.
    """
    meanings: set[Hashable] = set()
    return [_select_distinct(space, count, seed, meanings) for space in spaces]


def _select_distinct(space: TripletSpace, count: int, seed: int, meanings: set[Hashable]) -> TripletSet:
    """Return *count* triplets with meanings that are not in *meanings*; add their meanings to *meanings*."""
    space.check_count(count)
    triplets = space.sample_unchecked(min(2 * count, space.count()), seed=seed)
    positions: list[int] = []
    for start, portion in triplets.iterate_portions(PART_SIZE):
        for position, pair in enumerate(_list_meanings(portion), start):
            if len(positions) < count and meanings.isdisjoint(pair):
                meanings.update(pair)
                positions.append(position)
    if len(positions) < count:
        raise UsageError(
            f"{count} queries of the contrast {space.contrast.name} were asked for, but only {len(positions)} with "
            "different meanings were found; take fewer, or a larger vocabulary"
        )
    return triplets.select(np.array(positions))


def _list_meanings(triplets: TripletSet) -> Iterable[Iterable[Hashable]]:
    """Return, for each triplet, the meanings of its anchor and of its negative.

    For an exclusion query such as "who helped X but did not help Y", return the meanings of "who helped X" and of
    "who helped Y" instead.
    """
    space = triplets.space
    if isinstance(space, ExclusionSpace):
        questions = (_compute_meanings(triplets, space.make_question(number)) for number in range(2))
        return zip(*questions, strict=True)
    makers = triplets.list_makers((TripletSide.ANCHOR, TripletSide.NEGATIVE))
    return zip(*(_compute_meanings(triplets, maker) for maker in makers), strict=True)


def _compute_meanings(triplets: TripletSet, maker: SentenceMaker) -> list[Hashable]:
    meanings = map(compute_meaning, _build_events(triplets, maker))
    return [(frozenset(meaning.clauses.items()), frozenset(meaning.nouns.items())) for meaning in meanings]


def _build_events(triplets: TripletSet, maker: SentenceMaker) -> list[Event]:
    """Return the event of the sentence that *maker* makes for each triplet, in the order of the triplets."""
    events: dict[int, Event] = {}
    for part in triplets.parts:
        draft = maker(part)
        layout = draft.build_layout()
        for row, position in enumerate(part.positions.tolist()):
            values = {v.name: v.values[draft.values[v.name][row]] for v in layout.variables}
            events[position] = build_layout_event(values, layout)
    return [events[position] for position in range(len(triplets))]


CARD = """---
configs:
- {config_name: corpus, data_files: corpus.jsonl}
- {config_name: queries, data_files: queries.jsonl}
- {config_name: default, data_files: [{split: test, path: qrels/test.jsonl}]}
---

A retrieval set of sentprobe, in the layout of BEIR. The configurations above are for MTEB.
"""


FILES = ("README.md", "corpus.jsonl", "queries.jsonl", "qrels/test.jsonl", "qrels/test.tsv")


def write_retrieval(triplet_sets: Sequence[TripletSet], folder: Path) -> None:
    """Write ``corpus.jsonl``, ``queries.jsonl``, ``qrels/`` and a card. Raises UsageError if *folder* has files."""
    with atomic_new_folder(folder, FILES) as temporary:
        queries = [*chain.from_iterable(map(_iterate_queries, triplet_sets))]
        _write_lines(temporary / "queries.jsonl", (record for record, _ in queries))
        _write_lines(temporary / "corpus.jsonl", (record for _, documents in queries for record in documents))
        names = [query["_id"] for query, _ in queries]
        rows = [dict(zip(QRELS, (name, f"{name}-{TripletSide.POSITIVE}", 1), strict=True)) for name in names]
        (temporary / "qrels").mkdir()
        _write_lines(temporary / "qrels" / "test.jsonl", rows)
        lines = ("\t".join(map(str, row)) for row in (QRELS, *(row.values() for row in rows)))
        (temporary / "qrels" / "test.tsv").write_bytes("".join(f"{line}\n" for line in lines).encode())
        (temporary / "README.md").write_bytes(CARD.encode())


QRELS = ("query-id", "corpus-id", "score")
"""The columns of a file of relevance judgements."""

Record: TypeAlias = dict[str, object]


def _iterate_queries(triplets: TripletSet) -> Iterator[tuple[Record, list[Record]]]:
    """Yield the record of each query with the records of its documents. A document's sentences are in random order."""
    space = triplets.space
    makers: Mapping[str, tuple[SentenceMaker, ...]] = (
        space.list_makers()
        if isinstance(space, ExclusionSpace)
        else {side: (partial(triplets.build_draft, side=side),) for side in SIDES}
    )
    query_label, *labels = makers
    columns = (_describe_sentences(triplets, makers[label]) for label in (query_label, *labels))
    orders = np.random.default_rng((triplets.seed, 3)).choice((1, -1), len(triplets)).tolist()
    for number, (order, query, *documents) in enumerate(zip(orders, *columns, strict=True), 1):
        name = f"{space.contrast.name}-{number}"
        rows = zip(labels, documents, strict=True)
        yield (
            _build_record(name, query, join_questions),
            [_build_record(f"{name}-{label}", row[::order], join_statements, title="") for label, row in rows],
        )


_DescribedSentence: TypeAlias = tuple[str, str]
"""A sentence, and its event in text notation."""


def _describe_sentences(
    triplets: TripletSet, makers: Sequence[SentenceMaker]
) -> Iterator[tuple[_DescribedSentence, ...]]:
    """Yield, for each triplet, the sentences that *makers* make, each with its event."""
    texts = TripletRows(triplets, makers).render_texts()
    events = (map(write_event, _build_events(triplets, maker)) for maker in makers)
    return zip(*(zip(*column, strict=True) for column in zip(texts, events, strict=True)), strict=True)


def _build_record(
    name: str, sentences: Sequence[_DescribedSentence], join: Callable[[Sequence[str]], str], **fields: str
) -> Record:
    texts, events = zip(*sentences, strict=True)
    return {"_id": name, **fields, "text": join(texts), "metadata": {"events": events}}


def _write_lines(path: Path, records: Iterable[Record]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(format_json(record) + "\n" for record in records)
