"""Edits of a user's texts, in a stream: rows of opposites and variants, and the texts without an edit, by reason.

Also the sample for a person to review, and the precision of each kind in a reviewed sample.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.generator.edits.edit_engine import TextEdit, collect_phrases, edit_text, takes_own_phrases
from sentprobe.generator.edits.edit_table import EditRule, EditTable, load_table
from sentprobe.generator.edits.edit_text import EditableText
from sentprobe.generator.edits.own_phrases import PhraseSample
from sentprobe.probes.corpus.user_texts import UserText, parse_user_texts
from sentprobe.probes.datasets.records import read_named_rows
from sentprobe.probes.statistics import Interval, wilson

COLUMNS = ("a", "b", "same", "kind", "rule", "changed")
GROUPS: Mapping[str, bool] = {"opposites": False, "variants": True}
"""Names of groups of kinds, and whether their edits mean the same."""


@dataclass(slots=True)
class EditCounts:
    """The number of texts and edits so far, and of texts without an edit, by reason."""

    texts: int = 0
    edits: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def edited(self) -> int:
        """The number of texts with an edit."""
        return self.texts - self.reasons.total()


def choose_edit_rules(
    kinds: Sequence[str], *, language: str = "en", has_parse: bool, excluded: Iterable[str] = ()
) -> list[EditRule]:
    """Return the rules of the named kinds or groups of kinds, or the default ones, without the kinds *excluded*.

    Without a parse, the default are the kinds that need none. Raises UsageError for an unknown kind, for one that needs
    a parse, or if no rule remains.
    """
    table = load_table(language)
    names = [*chain.from_iterable(_expand_group(name, table.kinds) for name in kinds)]
    rules = table.choose_rules(names)
    if not has_parse:
        usable = [rule for rule in rules if not rule.needs_parse]
        unusable = {rule.kind.name for rule in rules} - {rule.kind.name for rule in usable}
        if name := next((name for name in kinds if name in unusable), None):
            raise UsageError(
                f"the kind {name!r} needs a parse: add --parser spacy:MODEL or --parser stanza, or read CoNLL-U"
            )
        rules = usable
    banned = {*excluded}
    rules = [rule for rule in rules if rule.kind.name not in banned]
    if not rules:
        raise UsageError("no kind of edit remains")
    return rules


def choose_usual_rules(*, language: str, has_parse: bool) -> list[EditRule]:
    """Return the rules of the default kinds, and of variants if the language has any. Raises UsageError."""
    groups: list[tuple[str, ...]] = [()]
    if _expand_group("variants", load_table(language).kinds) != ["variants"]:
        groups.append(("variants",))
    return [rule for kinds in groups for rule in choose_edit_rules(kinds, language=language, has_parse=has_parse)]


def _expand_group(name: str, kinds: Mapping[str, object]) -> list[str]:
    if name not in GROUPS:
        return [name]
    return [kind for kind, value in kinds.items() if getattr(value, "same", None) is GROUPS[name]] or [name]


def make_edits(
    texts: Iterable[UserText],
    rules: Sequence[EditRule],
    counts: EditCounts,
    *,
    parser: str | None = None,
    language: str = "en",
) -> Iterator[TextEdit]:
    """Yield the edits of texts, and count in *counts*. Raises UsageError or ParserError for the parser."""
    return select_edits(find_edits(texts, rules, counts, parser=parser, language=language))


class RefusedText(NamedTuple):
    """A text without an edit, and why it has none."""

    text: str
    reason: str


def find_edits(
    texts: Iterable[UserText], rules: Sequence[EditRule], counts: EditCounts, *, parser: str | None, language: str
) -> Iterator[Sequence[TextEdit] | RefusedText]:
    """Yield the edits of each text, or the text with the reason why it has none. See :func:`make_edits`."""
    table = load_table(language)
    parses = parse_user_texts(texts, parser, language=language)
    if any(map(takes_own_phrases, rules)):
        table = replace(table, own_phrases=PhraseSample())
        # Phrases are exchanged for those of other texts, so some texts are read before the first is edited.
        parses = _read_ahead(parses, rules, table)
    for text in parses:
        counts.texts += 1
        edits: list[TextEdit] = []
        if isinstance(text, tuple):
            refused = RefusedText(*text)
        else:
            edits, reason = edit_text(text, rules, table)
            refused = RefusedText(text.text, reason)
        if refused.reason:
            counts.reasons[refused.reason] += 1
            yield refused
        for edit in edits:
            counts.edits[edit.kind] += 1
        if edits:
            yield edits


def select_edits(outcomes: Iterable[Sequence[TextEdit] | RefusedText]) -> Iterator[TextEdit]:
    """Yield the edits, without the refused texts."""
    for outcome in outcomes:
        if not isinstance(outcome, RefusedText):
            yield from outcome


_TEXTS_AHEAD = 2_048
"""Number of texts that are read before the first of them is edited, so that it can get words of a later one."""


def _read_ahead(
    parses: Iterator[EditableText | tuple[str, str]], rules: Sequence[EditRule], table: EditTable
) -> Iterator[EditableText | tuple[str, str]]:
    """Yield the texts, after the phrases of their window, and of the windows before, are in the table's sample."""
    while window := [*islice(parses, _TEXTS_AHEAD)]:
        for text in window:
            if isinstance(text, EditableText):
                collect_phrases(text, rules, table)
        yield from window


MARK_COLUMN = "right"
"""The empty column of a review sheet: 1 if the edit is grammatical and *same* is right, else 0."""


def sample_for_review(edits: Iterable[TextEdit], n: int, *, seed: int) -> list[TextEdit]:
    """Return *n* edits, as many of each kind as possible, in random order. Memory depends on *n* and the kinds only."""
    generator = random.Random(seed)
    samples: dict[str, list[TextEdit]] = {}
    seen: Counter[str] = Counter()
    for edit in edits:
        sample = samples.setdefault(edit.kind, [])
        seen[edit.kind] += 1
        # Reservoir sampling: whatever their number, all edits of a kind are equally likely to be in the sample.
        place = generator.randrange(seen[edit.kind])
        if len(sample) < n:
            sample.append(edit)
        elif place < n:
            sample[place] = edit
    for sample in samples.values():
        generator.shuffle(sample)
    chosen: list[TextEdit] = []
    while len(chosen) < n and any(samples.values()):
        for _, sample in sorted(samples.items()):
            if sample and len(chosen) < n:
                chosen.append(sample.pop())
    generator.shuffle(chosen)
    return chosen


class KindPrecision(NamedTuple):
    """The number of reviewed edits of a kind, the number of right ones, and the 95% interval of their share."""

    kind: str
    right: int
    total: int
    interval: Interval

    @property
    def share(self) -> float:
        """The share of right edits."""
        return self.right / self.total


def read_review(path: Path) -> list[KindPrecision]:
    """Return the precision of each kind in a marked review sheet. Raises FormatError for a sheet that is not marked."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for where, row in read_named_rows(path, ["kind"], aliases={MARK_COLUMN: MARK_COLUMN}):
        if (mark := row.get(MARK_COLUMN)) is None:
            raise FormatError(f"{path}: a review sheet has a column {MARK_COLUMN}; write it with --review, and mark it")
        if mark not in ("0", "1", ""):
            raise FormatError(f"{where}: {MARK_COLUMN} is {mark!r}; 1 (right), 0 (wrong) or nothing is expected")
        if mark:
            total[row["kind"]] += 1
            right[row["kind"]] += mark == "1"
    if not total:
        raise FormatError(f"{path}: no row is marked; write 1 (right) or 0 (wrong) into the column {MARK_COLUMN}")
    return [KindPrecision(kind, right[kind], total[kind], wilson(right[kind], total[kind])) for kind in sorted(total)]
