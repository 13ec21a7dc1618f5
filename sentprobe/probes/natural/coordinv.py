"""CoordInv of Conneau et al. 2018, section 2: two coordinated clauses, in their order or not.

Originals and inverted sentences come out of one function, :func:`render`: an original is used only
if rendering its clauses in their own order gives exactly the sentence of the corpus. So neither
casing nor punctuation can tell the two apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from sentprobe.probes.dataset import Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.known_task import Cue, why
from sentprobe.probes.natural import pairs as pairing
from sentprobe.probes.natural import select
from sentprobe.probes.natural.task import NaturalTask, Said, TableNeed

ANSWER = f"CASE WHEN {select.LENGTHS} AND {pairing.NO_QUOTES} AND tokens[-1] = '.' THEN clauses END"
"""No quotations: no double quotes and no end but a full stop, as in the published data."""

_COLUMNS = (
    "text, tags, clauses.first_start, clauses.first_end, clauses.second_start, clauses.second_end"
)
_NAMES = frozenset(("NNP", "NNPS"))


class Longer(IntEnum):
    """Which clause of the sentence in the corpus has more tokens."""

    FIRST = 0
    SECOND = 1
    NEITHER = 2


@dataclass(frozen=True, slots=True)
class Coordinated:
    """A sentence in five parts: before, first clause, between, second clause, after.

    The clauses begin as they would inside a sentence: in lower case, unless it is a name or *I*.
    """

    before: tuple[str, ...]
    first: tuple[str, ...]
    between: tuple[str, ...]
    second: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def longer(self) -> Longer:
        """Which clause has more tokens."""
        if len(self.first) == len(self.second):
            return Longer.NEITHER
        return Longer.FIRST if len(self.first) > len(self.second) else Longer.SECOND


def coordination_inversion(draw: select.Draw) -> select.Selection:
    """Return CoordInv: whether the two top clauses stand in their order (O) or inverted (I).

    In each split, as many originals as inverted sentences have a first clause that is longer, a
    second that is longer, and equal clauses; the three are equally many, unless the corpus has too
    few equal clauses.

    Raises:
        TooFewError: there are no sentences with a longer first clause, or none with a second.
    """
    pairs = _pairs_by_length(draw)
    counts = {f"{longer.name.lower()} clause longer": len(pairs[longer]) for longer in Longer}
    wanted = select.wanted_share(draw.size, classes=6)
    unequal = select.share_out(
        min(len(pairs[Longer.FIRST]), len(pairs[Longer.SECOND])) // 2, wanted
    )
    if unequal is None:
        raise select.too_few(draw.task, counts, needed=2 * len(wanted))
    equal = select.share_out(len(pairs[Longer.NEITHER]) // 2, unequal) or dict.fromkeys(wanted, 0)
    entries = _entries(pairs, unequal=unequal, equal=equal)
    notes = _notes(draw, select.Share(wanted, unequal), select.Share(unequal, equal))
    return select.Selection((pairing.ORIGINAL, pairing.INVERTED), tuple(entries), notes, counts)


def _entries(
    pairs: dict[Longer, list[pairing.ChangedPair]],
    *,
    unequal: dict[Split, int],
    equal: dict[Split, int],
) -> list[Entry]:
    rest = {longer: iter(found) for longer, found in pairs.items()}
    entries: list[Entry] = []
    for split, most in unequal.items():
        for longer in Longer:
            number = equal[split] if longer is Longer.NEITHER else most
            chosen = [next(rest[longer]) for _ in range(2 * number)]
            entries += pairing.versions_of(
                chosen, split, labels=(pairing.ORIGINAL, pairing.INVERTED)
            )
    return entries


def _notes(draw: select.Draw, unequal: select.Share, equal: select.Share) -> tuple[str, ...]:
    notes = []
    if equal.scaled:
        notes.append(
            f"{2 * sum(equal.got.values()):,} sentences have clauses of equal length, fewer than "
            f"the {2 * sum(unequal.got.values()):,} with a longer first clause: the corpus has no "
            "more"
        )
    if unequal.scaled or equal.scaled:
        items = {split: 4 * n + 2 * equal.got[split] for split, n in unequal.got.items()}
        why = "both classes must have as many of each relation of lengths"
        notes.append(select.scaled_note(draw.size, items, why=why))
    return tuple(notes)


def _pairs_by_length(draw: select.Draw) -> dict[Longer, list[pairing.ChangedPair]]:
    """Return the pairs by which clause of the original is longer."""
    pool = draw.pool(f"SELECT digest, 0 AS label, 0 AS form FROM {select.asked(ANSWER)}")
    found = _coordinated(draw.corpus.columns(pool.handles, _COLUMNS))
    changes = {text: render(parts, inverted=True) for text, parts in found.items()}
    pairs: dict[Longer, list[pairing.ChangedPair]] = {longer: [] for longer in Longer}
    for pair in pairing.new_pairs(draw, changes):
        pairs[found[pair.original].longer].append(pair)
    return pairs


def _coordinated(rows: Iterable[tuple[object, ...]]) -> dict[str, Coordinated]:
    """Return the sentences that can be inverted without a trace."""
    parted = {str(row[0]): part(str(row[0]), row[1], row[2:]) for row in rows}  # type: ignore[arg-type]
    return {
        text: parts
        for text, parts in parted.items()
        if parts is not None and render(parts, inverted=False) == text
    }


def part(text: str, tags: Sequence[str], spans: Sequence[int]) -> Coordinated | None:
    """Return the five parts of a sentence, by the ends of its clauses.

    None where words stand before the first clause or after the second, where a clause has a double
    quote, of which the other may be in the other clause, and where the second clause begins with a
    capital letter for no reason.
    """
    tokens = text.split(" ")
    start, end, other_start, other_end = spans
    before, after = tokens[:start], tokens[other_end:]
    clauses = [*tokens[start:end], *tokens[other_start:other_end]]
    if any(map(pairing.is_word, [*before, *after])) or not set(pairing.DOUBLE_QUOTES).isdisjoint(
        clauses
    ):
        return None
    inside = list(tokens)
    inside[start] = _inside(tokens[start], tags[start])
    if _inside(tokens[other_start], tags[other_start]) != tokens[other_start]:
        return None
    return Coordinated(
        tuple(before),
        tuple(inside[start:end]),
        tuple(tokens[end:other_start]),
        tuple(inside[other_start:other_end]),
        tuple(after),
    )


def render(parts: Coordinated, *, inverted: bool) -> str:
    """Return the sentence; *inverted*, with the second clause first.

    >>> parts = Coordinated((), ("he", "left"), (",", "and"), ("I", "stayed"), (".",))
    >>> render(parts, inverted=False), render(parts, inverted=True)
    ('He left , and I stayed .', 'I stayed , and he left .')
    """
    first, second = parts.first, parts.second
    if inverted:
        first, second = second, first
    opening = (_capital(first[0]), *first[1:])
    return " ".join((*parts.before, *opening, *parts.between, *second, *parts.after))


def _inside(token: str, tag: str) -> str:
    """Return the first token of a sentence as it is inside one."""
    if tag in _NAMES or token == "I" or token.startswith(("I'", "I’")):
        return token
    shouted = len(token) > 1 and token.isupper()
    return token if shouted else token[:1].lower() + token[1:]


def _capital(token: str) -> str:
    return token[:1].upper() + token[1:]


TASK = NaturalTask(
    name="CoordInv",
    published="coordination_inversion",
    asks="were the two coordinated clauses of s inverted?",
    classes="O (no), I (yes)",
    draw=coordination_inversion,
    need=TableNeed.TREE,
    labels={"coordinated clauses": Said("clauses", classes=False)},
    answer=Said(ANSWER, classes=False),
    may_answer=why("the task is about the order of clauses", Cue.NGRAMS, Cue.TEMPLATE)
    | why("the capital letter says which word is first; beat this figure", Cue.BAG),
)
