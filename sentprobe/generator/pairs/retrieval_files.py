"""Retrieval sets in BEIR's layout: queries, documents and judgements.

A query is the anchor of a triplet. Its positive is relevant; its negatives, and the documents of the other queries,
have other meanings.
"""

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sentprobe.disk.files import atomic_folder, check_new_folder
from sentprobe.errors import UsageError
from sentprobe.generator.bulk.generation import PART_SIZE
from sentprobe.generator.events.meaning import compute_meaning
from sentprobe.generator.pairs.triplets import SIDES, TripletSet, TripletSide, TripletSpace
from sentprobe.generator.spaces.layout import build_layout_event


def sample_distinct_meanings(spaces: Sequence[TripletSpace], count: int, *, seed: int) -> list[TripletSet]:
    """Return *count* triplets of each space; no meaning of an anchor or negative occurs in two triplets.

    Raises:
        UsageError: a space has too few triplets.
    """
    meanings: set[Hashable] = set()
    return [_select_distinct(space, count, seed, meanings) for space in spaces]


def _select_distinct(space: TripletSpace, count: int, seed: int, meanings: set[Hashable]) -> TripletSet:
    """Return triplets whose meanings are not in *meanings*, and add theirs."""
    space.check_count(count)
    triplets = space.sample_unchecked(min(2 * count, space.count()), seed=seed)
    positions: list[int] = []
    for start, portion in triplets.iterate_portions(PART_SIZE):
        sides = (_compute_meanings(portion, side) for side in (TripletSide.ANCHOR, TripletSide.NEGATIVE))
        for position, pair in enumerate(zip(*sides, strict=True), start):
            if len(positions) < count and meanings.isdisjoint(pair):
                meanings.update(pair)
                positions.append(position)
    if len(positions) < count:
        raise UsageError(
            f"{count} queries of the contrast {space.contrast.name} were asked for, but only {len(positions)} with "
            "different meanings were found; take fewer, or a larger vocabulary"
        )
    return triplets.select(np.array(positions))


def _compute_meanings(triplets: TripletSet, side: TripletSide) -> list[Hashable]:
    """Return the meaning of one side of each triplet."""
    meanings: dict[int, Hashable] = {}
    for part in triplets.parts:
        draft = triplets.build_draft(part, side=side)
        layout = draft.build_layout()
        for row, position in enumerate(part.positions.tolist()):
            values = {v.name: v.values[draft.values[v.name][row]] for v in layout.variables}
            meaning = compute_meaning(build_layout_event(values, layout))
            meanings[position] = (frozenset(meaning.clauses.items()), frozenset(meaning.nouns.items()))
    return [meanings[position] for position in range(len(triplets))]


def write_retrieval(triplet_sets: Sequence[TripletSet], folder: Path) -> None:
    """Write ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/test.tsv``. Raises UsageError for a folder with files."""
    with atomic_folder(folder, check=partial(check_new_folder, folder)) as temporary:
        queries = [query for triplets in triplet_sets for query in _iterate_queries(triplets)]
        documents = ((f"{name}-{side}", text) for name, _, texts in queries for side, text in texts.items())
        _write_lines(temporary / "queries.jsonl", ({"_id": name, "text": anchor} for name, anchor, _ in queries))
        _write_lines(temporary / "corpus.jsonl", ({"_id": n, "title": "", "text": text} for n, text in documents))
        judgements = "".join(f"{name}\t{name}-{TripletSide.POSITIVE}\t1\n" for name, _, _ in queries)
        (temporary / "qrels").mkdir()
        (temporary / "qrels" / "test.tsv").write_bytes(f"query-id\tcorpus-id\tscore\n{judgements}".encode())


def _iterate_queries(triplets: TripletSet) -> Iterator[tuple[str, str, dict[TripletSide, str]]]:
    """Yield the name and the text of each query, and its documents by side."""
    rows = zip(*map(triplets.render_texts, SIDES), strict=True)
    for number, (anchor, *texts) in enumerate(rows, 1):
        yield f"{triplets.space.contrast.name}-{number}", anchor, dict(zip(SIDES[1:], texts, strict=True))


def _write_lines(path: Path, records: Iterable[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
