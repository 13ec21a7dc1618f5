"""Pairs of texts from a file or from Python: a, b, whether they mean the same, and the kind of the difference.

Also the edits of a user's texts as such pairs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sentprobe.common.errors import FormatError, SentprobeError, format_count
from sentprobe.common.values import group_by
from sentprobe.generator.pairs.drafts import hash_words
from sentprobe.generator.pairs.triplets import SIDES, TripletSet, TripletSpace
from sentprobe.probes.corpus.text_edits import EditCounts, choose_usual_rules, make_edits
from sentprobe.probes.corpus.user_texts import UserText, is_parsed, read_user_texts
from sentprobe.probes.datasets.records import read_named_rows
from sentprobe.probes.datasets.row_files import JSONL, read_values
from sentprobe.probes.similarity.pair_scores import BLOCK, PairScorer, ScoredPairs, ScoredSide, TextPair

COLUMNS = ("a", "b", "same")
KIND_COLUMNS = ("kind", "contrast")
"""Names of a column by which the rates of a user's pairs are broken down."""
LABELS = {"1": True, "0": False}

PairsArgument: TypeAlias = Path | str | Iterable[Sequence[str | int | bool]]
"""A file of pairs, or tuples (a, b, same) or (a, b, same, kind)."""


def load_pairs(source: PairsArgument) -> tuple[TextPair, ...]:
    """Return the pairs of a file or of tuples. Raises UsageError or FormatError, which name the line or tuple."""
    if isinstance(source, Path | str):
        return tuple(read_pairs(Path(source)))
    rows = ((f"pair {number}", [*map(_format_field, row)]) for number, row in enumerate(source, 1))
    return tuple(_parse_row(where, row) for where, row in rows)


def read_pairs(path: Path, *, labelled: bool = True) -> Iterator[TextPair]:
    """Yield the pairs of a CSV, TSV or JSONL file. If not *labelled*, pairs without ``same`` are paraphrases.

    Raises UsageError if the file cannot be read, FormatError with the line if it is wrong.
    """
    columns = COLUMNS if labelled else COLUMNS[:2]
    aliases = {"same": "same", **dict.fromkeys(KIND_COLUMNS, KIND_COLUMNS[0])}
    is_jsonl = path.suffix.lower() == JSONL
    rows = _read_objects(path, columns) if is_jsonl else read_named_rows(path, columns, aliases=aliases)
    for where, values in rows:
        yield _parse_row(where, [values["a"], values["b"], values.get("same", "1"), values.get(KIND_COLUMNS[0], "")])


def _read_objects(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for where, value in read_values(path, keys=columns):
        if missing := [name for name in columns if name not in value]:
            raise FormatError(f"{where}: the key {missing[0]} is missing")
        if wrong := [name for name in COLUMNS[:2] if not isinstance(value[name], str)]:
            raise FormatError(f"{where}: {wrong[0]} must be a text")
        kinds = [name for name in KIND_COLUMNS if name in value]
        if len(kinds) > 1:
            raise FormatError(f"{where}: two keys name the kind; one of {' and '.join(KIND_COLUMNS)} is expected")
        fields = {name: _format_field(value[name]) for name in COLUMNS if name in value}
        yield where, {**fields, KIND_COLUMNS[0]: _format_field(value[kinds[0]]) if kinds else ""}


def _format_field(value: object) -> str:
    return "" if value is None else str(int(value) if isinstance(value, bool) else value)


def _parse_row(where: str, row: Sequence[str]) -> TextPair:
    if not 3 <= len(row) <= 4:
        raise FormatError(f"{where}: {format_count(len(row), 'value')}; a, b, same and at most a kind are expected")
    first, second, label, *kinds = map(str.strip, row)
    if not (first and second):
        raise FormatError(f"{where}: a text is empty")
    if label not in LABELS:
        raise FormatError(f"{where}: same is {label!r}; 1 (the same meaning) or 0 is expected")
    return TextPair(first, second, LABELS[label], *kinds)


ONLY_DIFFERENT = (
    "only pairs with same=0, by which no threshold can be chosen; give --threshold, --paraphrases, or pairs that mean "
    "the same (1)"
)
"""The error of pairs that are to choose a threshold and cannot."""


MAX_KINDS = 1000
"""Maximum number of kinds of a user's pairs. Each is measured beside all paraphrases, and is a row of the table."""


def check_pairs(pairs: Sequence[TextPair], source: str, *, needs_same: bool) -> tuple[str, ...]:
    """Return notes on doubtful labels.

    Raises FormatError if there are no pairs, none with different meanings, too many kinds, or, if needed, none with the
    same meaning.
    """
    labels = group_by(pairs, lambda pair: tuple(sorted(pair[:2])))
    if all(pair.same for pair in pairs):
        content = "only pairs with same=1" if pairs else "no pairs"
        raise FormatError(f"{source}: {content}; pairs that mean the same (1) and others (0) are needed")
    if needs_same and not any(pair.same for pair in pairs):
        raise FormatError(f"{source}: {ONLY_DIFFERENT}")
    kinds = {pair.kind for pair in pairs if pair.kind and not pair.same}
    if len(kinds) > MAX_KINDS:
        raise FormatError(f"{source}: {len(kinds):,} kinds of pairs with same=0; at most {MAX_KINDS:,} are measured")
    contradictory = [texts for texts, group in labels.items() if len({pair.same for pair in group}) > 1]
    notes = []
    if identical := sum(pair.first == pair.second for pair in pairs):
        notes.append(f"Own pairs: in {format_count(identical, 'pair')}, both texts are the same.")
    if contradictory:
        first, second = contradictory[0]
        count = format_count(len(contradictory), "pair")
        notes.append(f"Own pairs: {count} with both labels, same=1 and same=0, such as {first!r}, {second!r}.")
    return tuple(notes)


TextsArgument: TypeAlias = Path | str | Iterable[str]
"""A file of texts, or texts."""
VARIANTS = "variants"
"""The name of edits with the same meaning, which are easier than paraphrases."""


@dataclass(frozen=True, slots=True)
class EditedTexts:
    """A user's texts, whose opposites and variants (see ``gen edit``) are measured.

    - column: the column of a table with texts
    - parser: the parser of the texts, such as ``spacy:en_core_web_sm``
    """

    texts: TextsArgument
    column: str | None = None
    parser: str | None = None

    @property
    def name(self) -> str:
        """The texts, as a noun phrase."""
        return f"the texts in {self.texts}" if isinstance(self.texts, Path | str) else "your texts"

    def make_pairs(self, language: str) -> tuple[tuple[TextPair, ...], tuple[str, ...]]:
        """Return the opposites and variants as pairs, with notes on them.

        Raises UsageError for a wrong file or parser, SentprobeError if no text has an opposite.
        """
        has_parse = self.parser is not None
        if isinstance(self.texts, Path | str):
            has_parse = has_parse or is_parsed(str(self.texts))
            texts = read_user_texts(str(self.texts), column=self.column)
        else:
            texts = map(UserText, self.texts)
        rules = choose_usual_rules(language=language, has_parse=has_parse)
        counts = EditCounts()
        edits = make_edits(texts, rules, counts, parser=self.parser, language=language)
        pairs = tuple(TextPair(edit.a, edit.b, bool(edit.same), edit.kind) for edit in edits)
        if all(pair.same for pair in pairs):
            advice = "" if has_parse else "; --parser finds more"
            raise SentprobeError(f"{self.name}: none has an opposite{advice}, or measure your own --pairs")
        return pairs, (f"{counts.edited:,} of {format_count(counts.texts, 'text')} with an edit or variant.",)


def read_paraphrases(path: Path) -> tuple[TextPair, ...]:
    """Return the pairs of a file with the columns a and b; with a column ``same``, those that mean the same.

    Raises UsageError if the file cannot be read, FormatError if it is wrong or has no paraphrase.
    """
    pairs = [pair for pair in read_pairs(path, labelled=False) if pair.same]
    if not pairs:
        raise FormatError(f"{path}: no paraphrases")
    return tuple(pairs)


def score_pairs(scorer: PairScorer, pairs: Sequence[TextPair]) -> ScoredSide:
    """Score pairs in blocks; pairs with the same first text are one unit."""
    blocks = (pairs[start : start + BLOCK] for start in range(0, len(pairs), BLOCK))
    scores = [scorer.score_columns(*map(list, list(zip(*block, strict=True))[:2]))[0] for block in blocks]
    units = np.array([hash_words([pair.first]) for pair in pairs], np.int64)
    return ScoredSide(pairs=pairs, scores=np.concatenate(scores), units=units)


def score_own_pairs(scorer: PairScorer, pairs: Sequence[TextPair]) -> list[ScoredPairs]:
    """Score a user's pairs. The first ScoredPairs has all pairs; each kind with different meanings has its own."""
    scored = score_pairs(scorer, pairs)
    is_same, kinds = np.array([pair.same for pair in pairs]), np.array([pair.kind for pair in pairs], object)
    cells = []
    for kind in ["", *sorted({pair.kind for pair in pairs if pair.kind and not pair.same})]:
        of_kind = (kinds == kind) | (kind == "")
        same, different = scored.select(of_kind & is_same), scored.select(of_kind & ~is_same)
        cells.append(ScoredPairs(kind=kind, same=same, different=different))
    return cells


SURPLUS = 10
"""The ratio of sampled to requested triplets, since many sampled triplets do not have a suitable length."""


def select_lengths(space: TripletSpace, n: int, lengths: Counter[int], *, seed: int) -> TripletSet:
    """Sample about *n* triplets so that the lengths of their anchors, in tokens, are distributed as in *lengths*.

    A length has fewer triplets than its share if too few of the sampled anchors have this length.
    """
    triplets = space.sample(min(SURPLUS * n, space.count()), seed=seed)
    quotas = {length: ceil(n * count / lengths.total()) for length, count in lengths.items()}
    positions = []
    for start, portion in triplets.iterate_portions(BLOCK):
        for position, text in enumerate(portion.render_texts(SIDES[0]), start):
            length = len(text.split())
            if quotas.get(length, 0) > 0:
                quotas[length] -= 1
                positions.append(position)
    return triplets.select(np.array(positions, np.int64))
