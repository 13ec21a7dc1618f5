"""Tasks of Conneau et al. 2018, section 2, about the parse of a sentence.

- Tense: the tense of the main verb
- SubjNum, ObjNum: the number of its subject and of its object
- TopConst: the sequence of constituents under the top clause
- TreeDepth: the depth of the tree, nearly uncorrelated with length

In TreeDepth, as in the paper, lengths have the same Gaussian distribution at each depth. All depths are equally
frequent if the corpus has enough sentences for the dataset. Otherwise, ever narrower Gaussian distributions of depth
are tried. In the narrowest, depths 5 and 12 are the rarest, with about 5% each. The first distribution that gives all
items is used. Long shallow trees and short deep trees are rare in any corpus. If no distribution gives all items, the
dataset is made smaller until the corpus lacks at most about 7% of its items. The distribution that then gives most
items is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.datasets.dataset import Indices, Split, TooFewError
from sentprobe.probes.datasets.known_task import Cue, Redundancy, give_reason
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.natural_task import (
    BAG_AND_ORDER,
    CORRELATED_IN_TEXT,
    REVEALS_STRUCTURE,
    NaturalTask,
    ParseLabel,
    TableNeed,
)
from sentprobe.probes.natural.selection import LENGTHS_SQL, Selection, SelectionRequest
from sentprobe.probes.natural.surface_tasks import build_askable_sql, select_target_words

PRESENT, PAST = "PRES", "PAST"

_PAST_TENSES = ("Past", "Imp", "Pqp")
_PASTS = " OR ".join(f"verb_tag || '|' LIKE '%|Tense={tense}|%'" for tense in _PAST_TENSES)
TENSE_SQL = (
    f"CASE WHEN verb_tag IN ('VBP', 'VBZ') THEN '{PRESENT}' WHEN verb_tag = 'VBD' THEN '{PAST}' "
    "WHEN verb_tag LIKE '%|Mood=%' AND verb_tag || '|' NOT LIKE '%|Mood=Ind|%' THEN NULL "
    f"WHEN verb_tag || '|' LIKE '%|Tense=Pres|%' THEN '{PRESENT}' WHEN {_PASTS} THEN '{PAST}' END"
)
"""SQL for the main verb's tense, PRES or PAST; NULL if its tag has no tense or is not indicative."""

TENSE_ANSWER_SQL = f"CASE WHEN {LENGTHS_SQL} AND {build_askable_sql('verb')} THEN {TENSE_SQL} END"


_REDUNDANCY = Redundancy(
    feature="tense of its verbs",
    tags={
        PRESENT: ("VBP", "VBZ", "Mood=Ind|Tense=Pres"),
        PAST: ("VBD", *(f"Mood=Ind|Tense={tense}" for tense in _PAST_TENSES)),
    },
    published=95.2,
)

TENSE = NaturalTask(
    name="Tense",
    published="past_present",
    question_text="is the main verb of s in the present or the past?",
    classes="PRES, PAST",
    select_items=partial(
        select_target_words, role="verb", answer=TENSE_ANSWER_SQL, labels=(PRESENT, PAST), redundancy=_REDUNDANCY
    ),
    need=TableNeed.CLAUSE,
    feature=("verb", "Tense"),
    labels={"verb": ParseLabel("verb_index", classes=False), "tense": ParseLabel(TENSE_SQL)},
    answer=ParseLabel(TENSE_ANSWER_SQL),
    redundancy=_REDUNDANCY,
    may_answer=give_reason("other words go with the tense of the verb; beat this figure", *BAG_AND_ORDER)
    | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
)

NUMBER_TAGS = ("NN", "NNS")
"""Classes of SubjNum and ObjNum: the head of the subject or object is singular (NN) or plural (NNS)."""


def _make_task(name: str, published: str, role: str, *, commonest: float) -> NaturalTask:
    tags = {"NN": ("NN", "NOUN|Number=Sing"), "NNS": ("NNS", "NOUN|Number=Plur")}
    redundancy = Redundancy(feature="number of its nouns", tags=tags, published=commonest)
    is_penn = f"{role}_tag NOT LIKE 'NOUN%'"
    tag = f"CASE WHEN {is_penn} THEN {role}_tag WHEN {role}_number = 'sg' THEN 'NN' ELSE 'NNS' END"
    fits = f"({tag}, {role}_number) IN (('NN', 'sg'), ('NNS', 'pl'))"
    answer = f"CASE WHEN {LENGTHS_SQL} AND {fits} AND {build_askable_sql(role)} THEN {tag} END"
    return NaturalTask(
        name=name,
        published=published,
        question_text=f"is the {role} of the main clause of s singular or plural?",
        classes=", ".join(NUMBER_TAGS),
        select_items=partial(select_target_words, role=role, answer=answer, labels=NUMBER_TAGS, redundancy=redundancy),
        need=TableNeed.CLAUSE,
        feature=(role, "Number"),
        labels={role: ParseLabel(f"{role}_index", classes=False), f"{role} number": ParseLabel(f"{role}_number")},
        answer=ParseLabel(answer),
        redundancy=redundancy,
        may_answer=give_reason("other words agree with the number of the noun; beat this figure", *BAG_AND_ORDER)
        | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
    )


SUBJECT = _make_task("SubjNum", "subj_number", "subject", commonest=75.9)
OBJECT = _make_task("ObjNum", "obj_number", "object", commonest=78.7)


SEQUENCES = 19
"""The paper's number of classes besides OTHER."""
OTHER = "OTHER"
"""Class of all rarer sequences."""
MIN_SENTENCES = 12
"""Minimum number of sentences of a class, so that each split has the class; 1 if the user sets the class count."""
ANSWER_SQL = rf"CASE WHEN {LENGTHS_SQL} AND regexp_full_match(top, '([A-Z]+ )+\.') THEN top END"
"""SQL for the top constituents, such as ``NP VP .``; NULL unless the only punctuation is a full stop at the end."""


def select_top_constituents(request: SelectionRequest, answer: str = ANSWER_SQL) -> Selection:
    """Return the items of TopConst or, if *answer* is the SQL of TopDeps, of TopDeps. Raises TooFewError.

    The classes are the most frequent values of *answer*, up to 19 by default, and OTHER for all other values.
    """
    tops, notes = _find_sequences(request, answer)
    cases = " ".join(f"WHEN '{top}' THEN {n}" for n, top in enumerate(tops))
    pool = request.select_pool(
        f"SELECT digest, CASE answer {cases} ELSE {len(tops)} END AS label, 0 AS form "
        f"FROM {selection.build_answered_rows_sql(answer)}"
    )
    labels = (*(top.replace(" ", "_") for top in tops), OTHER)
    return selection.select_classes(request, pool, labels, notes=notes)


def _find_sequences(request: SelectionRequest, answer: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the most frequent values of the SQL expression *answer*; if there are not 19, also a note for the card."""
    max_sequences = request.settings.sequences or SEQUENCES
    class_items = sum(selection.compute_class_share(request.size, classes=max_sequences + 1).values())
    min_sentences = 1 if request.settings.sequences else min(MIN_SENTENCES, class_items)
    rows = request.corpus.query(
        f"SELECT answer FROM {selection.build_answered_rows_sql(answer)} "
        "GROUP BY answer HAVING count(*) >= ? ORDER BY count(*) DESC, answer LIMIT ?",
        min_sentences,
        max_sequences,
    )
    if not rows:
        raise TooFewError(
            f"{request.task}: the corpus has no sequence of top constituents with {min_sentences} sentences "
            "of 5 to 28 tokens; the task needs sentences with trees"
        )
    # Any other number than the paper's is worth a note, even if the user asked for it.
    if len(rows) == SEQUENCES:
        return [top for (top,) in rows], ()
    note = f"{len(rows)} sequences instead of {SEQUENCES}"
    if len(rows) < max_sequences:
        note += f": no other has {min_sentences} sentences"
    return [top for (top,) in rows], (note,)


TOP_CONST = NaturalTask(
    name="TopConst",
    published="top_constituents",
    question_text="which constituents are under the top clause of s?",
    classes="the 19 most frequent sequences, OTHER",
    select_items=select_top_constituents,
    need=TableNeed.TREE,
    labels={"top constituents": ParseLabel("top")},
    answer=ParseLabel(ANSWER_SQL),
    may_answer=give_reason(REVEALS_STRUCTURE, *BAG_AND_ORDER) | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
)


def build_answer_sql(depths: range, column: str = "depth") -> str:
    """Return SQL for the depth in *column*; NULL unless it is in *depths* and the sentence has 5 to 28 tokens."""
    return f"CASE WHEN {LENGTHS_SQL} AND {column} BETWEEN {depths[0]} AND {depths[-1]} THEN {column} END"


_LENGTHS = range(6, 23)
"""Sentence lengths in tokens, as in the published data."""
Weights = NDArray[np.float64]
_DEPTH_SPREADS = (np.inf, 4.0, 3.0, 2.5, 2.2)
"""Standard deviations of depth to try, widest first; with the first, all depths are equally frequent."""
LENGTH_SPREADS = (4.5,)
"""Standard deviations of length to try, in tokens, widest first; within _LENGTHS, 4.5 becomes about 3.7."""
_LENGTH_MEANS = np.arange(12, 16.5, 0.5)
_SIZE_STEP = 0.99
"""Factor by which the size of a dataset is reduced until the corpus can fill it."""
_MAX_MISSING = 0.07
"""Maximum share of the target distribution's items that a dataset may lack."""
_MAX_CORRELATION = 0.07
"""Maximum correlation of length and depth in a dataset: that of the published data."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthTarget:
    """The shares of tree depths and of sentence lengths that a dataset should have.

    ``depths`` has one share for each depth, (d,). ``lengths`` has one share for each length from 6 to 22 tokens, (17,).
    The other fields are parameters of two Gaussians. If ``depth_spread`` is infinite, all depths have equal shares.
    """

    depths: Weights
    lengths: Weights
    depth_spread: float
    length_mean: float
    length_spread: float

    def compute_quotas(self, size: Mapping[Split, int], cells: Indices) -> dict[Split, Indices]:
        """Return, for each split, the number of items of each depth and length, (d, 17) int64.

        *cells* has the number of corpus sentences of each of the d depths and 17 lengths (6 to 22 tokens), (d, 17).
        """
        is_even, depths = np.isinf(self.depth_spread), len(self.depths)
        requested = np.stack(
            [
                np.full(depths, -(-number // depths), np.int64) if is_even else apportion_items(self.depths, number)
                for number in size.values()
            ]
        )
        # Lengths are apportioned once for all splits of a depth: each split alone would round them in its own way.
        rows = np.stack([apportion_items(self.lengths, int(total)) for total in requested.sum(axis=0)])
        available = np.minimum(rows, cells)
        dealt = [_deal_to_splits(row, requested[:, depth]) for depth, row in enumerate(available)]
        return {split: np.stack([split_rows[n] for split_rows in dealt]) for n, split in enumerate(size)}


def select_tree_depth(
    request: SelectionRequest,
    column: str = "depth",
    usual: range = selection.DEPTHS,
    length_spreads: Sequence[float] = LENGTH_SPREADS,
) -> Selection:
    """Return items whose class, the depth in *column*, is nearly independent of sentence length. Raises TooFewError."""
    depths = usual if request.settings.depths == selection.DEPTHS else request.settings.depths
    pool = request.select_pool(
        f"SELECT digest, answer - {depths[0]} AS label, length AS form "
        f"FROM {selection.build_answered_rows_sql(build_answer_sql(depths, column))} "
        f"AND length BETWEEN {_LENGTHS[0]} AND {_LENGTHS[-1]}"
    )
    cells = np.zeros((len(depths), len(_LENGTHS)), np.int64)
    np.add.at(cells, (pool.labels, pool.forms - _LENGTHS[0]), 1)
    size = {split: request.size.count_items(split) for split in selection.list_splits(request.size)}
    best = find_best_target(cells, size, length_spreads)
    if best is None:
        counts = {f"depth {d}": int(n) for d, n in zip(depths, cells.sum(axis=1), strict=True)}
        raise selection.make_too_few_error(request.task, counts, needed=len(size))
    target, quotas = best
    indices = _select_indices(pool, quotas)
    labels = tuple(map(str, depths))
    notes = [describe_target(target, quotas, depths)]
    items = {split: int(quota.sum()) for split, quota in quotas.items()}
    if any(items[split] < number for split, number in size.items()):
        notes.append(selection.format_scaled_note(request.size, items, why="a rare depth and length decides"))
    return Selection(labels, selection.read_entries(request, pool, indices, labels=labels), tuple(notes))


def apportion_items(shares: Weights, number: int) -> Indices:
    """Divide *number* items in proportion to *shares*, (n,), by largest remainders (Hamilton's method); (n,) int64.

    >>> apportion_items(np.array([0.5, 0.25, 0.25]), 5).tolist()
    [3, 1, 1]
    """
    exact = shares / shares.sum() * number
    # A whole number that rounding made a little smaller must not lose an item.
    counts: Indices = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(-(exact - counts), kind="stable")
    counts[order[: number - int(counts.sum())]] += 1
    return counts


def _deal_to_splits(row: Indices, requested: Indices) -> Indices:
    """Divide the item counts in *row*, (n,), among s splits in proportion to *requested*, (s,); return (s, n) int64.

    >>> _deal_to_splits(np.array([4, 2]), np.array([4, 2])).tolist()
    [[3, 1], [1, 1]]
    """
    dealt = np.zeros((len(requested), len(row)), np.int64)
    if not row.any():
        return dealt
    numbers = apportion_items(requested / requested.sum(), int(row.sum()))
    # Each split takes its turns at equal distances, so that all lengths are dealt in the same proportion.
    turns = np.concatenate([(np.arange(number) + 0.5) / max(1, number) for number in numbers])
    split = np.repeat(np.arange(len(numbers)), numbers)[np.argsort(turns, kind="stable")]
    np.add.at(dealt, (split, np.repeat(np.arange(len(row)), row)), 1)
    return dealt


def find_best_target(
    cells: Indices, size: Mapping[Split, int], length_spreads: Sequence[float] = LENGTH_SPREADS
) -> tuple[DepthTarget, dict[Split, Indices]] | None:
    """Return the best target and, for each split, the number of items at each of d depths and 17 lengths, (d, 17).

    Wide targets are tried first. The best target is the first that gives all requested items. If none does, it is the
    one with the most items. Return None if every target leaves a split without items of some depth.
    """
    best: tuple[DepthTarget, dict[Split, Indices]] | None = None
    best_count = 0
    for target in _iterate_targets(len(cells), length_spreads):
        # An estimate in fractions of items, which may also lack some; compute_quotas counts whole items.
        number = _find_fitting_size(target, cells, sum(size.values()))
        scale = min(1.0, number / sum(size.values()))
        scaled = {split: max(1, int(count * scale + 1e-9)) for split, count in size.items()}
        quotas = target.compute_quotas(scaled, cells)
        items = sum(int(quota.sum()) for quota in quotas.values())
        if items > best_count and all(quota.sum(axis=1).all() for quota in quotas.values()):
            best, best_count = (target, quotas), items
        if items >= sum(size.values()):
            break
    return best


def _iterate_targets(depth_count: int, length_spreads: Sequence[float]) -> Iterator[DepthTarget]:
    depths, lengths = np.arange(depth_count, dtype=np.float64), np.array(_LENGTHS, np.float64)
    for length_spread, depth_spread, mean in product(length_spreads, _DEPTH_SPREADS, map(float, _LENGTH_MEANS)):
        depth_shares = _compute_gaussian(depths, float(depths.mean()), depth_spread)
        length_shares = _compute_gaussian(lengths, mean, length_spread)
        yield DepthTarget(depth_shares, length_shares, depth_spread, mean, length_spread)


def _compute_gaussian(values: Weights, mean: float, spread: float) -> Weights:
    weights = np.exp(-(((values - mean) / spread) ** 2) / 2)
    return np.asarray(weights / weights.sum())


def _find_fitting_size(target: DepthTarget, cells: Indices, total: int) -> int:
    """Return the largest number of items, up to *total*, for which the corpus can nearly meet *target*; 0 if none."""
    steps = int(np.log(total) / -np.log(_SIZE_STEP)) + 1
    numbers = np.floor(total * _SIZE_STEP ** np.arange(steps))
    target_cells = numbers[:, None, None] * np.outer(target.depths, target.lengths)
    available = np.minimum(target_cells, cells)
    is_filled = available.sum(axis=(1, 2)) >= (1 - _MAX_MISSING) * numbers
    fits = is_filled & (np.abs(compute_correlation(available)) <= _MAX_CORRELATION)
    return int(numbers[fits.argmax()]) if fits.any() else 0


def _select_indices(pool: SentencePool, quotas: Mapping[Split, Indices]) -> selection.SplitIndices:
    indices: dict[Split, list[Indices]] = {split: [] for split in quotas}
    width = len(_LENGTHS)
    cell_of = pool.labels * width + pool.forms - _LENGTHS[0]
    order = np.argsort(cell_of, kind="stable")
    starts = np.searchsorted(cell_of[order], np.arange(len(next(iter(quotas.values()))) * width))
    for split, quota in quotas.items():
        for cell in np.flatnonzero(quota):
            number = int(quota.flat[cell])
            indices[split].append(order[starts[cell] : starts[cell] + number])
            starts[cell] += number
    return {split: np.sort(np.concatenate(cell_indices)) for split, cell_indices in indices.items()}


def describe_target(target: DepthTarget, quotas: Mapping[Split, Indices], depths: range) -> str:
    """Return the note for the card that describes the distribution of depths and lengths."""
    shares = (
        "all depths equally frequent"
        if np.isinf(target.depth_spread)
        else f"depths in a Gaussian of standard deviation {target.depth_spread} around {(depths[0] + depths[-1]) / 2:g}"
    )
    correlations = ", ".join(
        f"{split.value} {float(compute_correlation(quota)):.3f}".replace("-0.000", "0.000")
        for split, quota in quotas.items()
    )
    rows = np.sum([*quotas.values()], axis=0)
    met = all(np.array_equal(row, apportion_items(target.lengths, int(row.sum()))) for row in rows)
    even = not np.isinf(target.depth_spread) or len({*rows.sum(axis=1).tolist()}) == 1
    return (
        f"sampled to {_LENGTHS[0]} to {_LENGTHS[-1]} tokens in a Gaussian of mean "
        f"{target.length_mean} and standard deviation {target.length_spread}, the same at each depth, "
        f"and {shares}{'' if met and even else ', but fewer where the corpus has too few'}; "
        f"correlation of length and depth that remains: {correlations}"
    )


def compute_correlation(quota: NDArray[Any]) -> Weights:
    """Return the correlation of depth and length, (...), from item counts, (..., depths, lengths); 0 if undefined."""
    shares = quota / np.maximum(quota.sum(axis=(-2, -1), keepdims=True), 1e-12)
    depth, length = (np.arange(n) for n in quota.shape[-2:])
    by_depth, by_length = shares.sum(axis=-1), shares.sum(axis=-2)
    mean_depth, mean_length = by_depth @ depth, by_length @ length
    variance_product = (by_depth @ depth**2 - mean_depth**2) * (by_length @ length**2 - mean_length**2)
    covariance = np.einsum("...dl,d,l->...", shares, depth, length) - mean_depth * mean_length
    # Adding 0.0 makes 0.0 of -0.0.
    return np.asarray(covariance / np.sqrt(np.maximum(variance_product, 1e-12))).round(9) + 0.0


TREE_DEPTH = NaturalTask(
    name="TreeDepth",
    published="tree_depth",
    question_text="how many edges lead from the root to the deepest word of s?",
    classes="5 to 12",
    select_items=select_tree_depth,
    need=TableNeed.TREE,
    labels={"depth": ParseLabel("depth")},
    answer=ParseLabel(build_answer_sql(selection.DEPTHS)),
    may_answer=give_reason(REVEALS_STRUCTURE, *BAG_AND_ORDER),
)
