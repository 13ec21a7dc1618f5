"""The pairs and texts of a repair: edits of the user's texts and the user's own pairs, split by groups of texts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from sentprobe.common.errors import SentprobeError, UsageError, format_count
from sentprobe.generator.edits.edit_table import EditRule
from sentprobe.probes.corpus.text_edits import EditCounts, make_edits
from sentprobe.probes.corpus.user_texts import UserText
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.repair.text_groups import choose_held_out, group_texts, normalize
from sentprobe.probes.similarity.pair_scores import TextPair

HELD_OUT = 0.3
"""The share of the texts that no training sees."""
FEWEST_OPPOSITES = 20
"""The least number of opposites on each side of the split."""
FEWEST_PARAPHRASES = 20
"""With fewer held-out paraphrases of the user's, variants stand for paraphrases: two halves of 10 fix a threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSide:
    """The pairs and texts on one side of the split."""

    opposites: tuple[TextPair, ...]
    """Edits of another meaning, and the user's pairs of another meaning, with their kinds."""
    variants: tuple[TextPair, ...]
    """Edits of the same meaning."""
    paraphrases: tuple[TextPair, ...]
    """The user's pairs of the same meaning."""
    texts: tuple[str, ...]
    """The user's texts, and the first texts of the user's pairs, each once."""
    neutral: tuple[str, ...]
    """Texts among which cosines are to stay: those of --keep-texts and *texts*."""

    @property
    def same(self) -> tuple[TextPair, ...]:
        """The paraphrases if there are enough to measure with, else the variants."""
        return self.paraphrases if len(self.paraphrases) >= FEWEST_PARAPHRASES else self.variants

    @property
    def has_paraphrases(self) -> bool:
        """Whether *same* are the user's paraphrases."""
        return self.same is self.paraphrases


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairData:
    """The two sides of the split, the counts of edits, and generated pairs."""

    training: RepairSide
    held_out: RepairSide
    counts: EditCounts
    generated: tuple[tuple[str, str], ...] = ()
    """Generated sentences whose cosines are to stay: of each contrast, anchors with positives and with negatives."""

    def digest(self) -> str:
        """Return a digest of the training side, which a resumed repair must share."""
        side = self.training
        pairs = chain(*side.opposites, *side.variants, *side.paraphrases, *self.generated)
        return digest("repair", *pairs, *side.texts, *side.neutral)


def prepare_data(
    texts: Iterable[UserText],
    rules: Sequence[EditRule],
    *,
    pairs: Sequence[TextPair],
    keep_texts: Iterable[str],
    parser: str | None = None,
    language: str = "en",
    seed: int,
) -> RepairData:
    """Edit the texts, and split them, their edits and the user's pairs into a side for training and a held-out side.

    No text, no edit and no near-copy of a text is on both sides.

    Raises UsageError for a parser that cannot be used, SentprobeError if a side has too few opposites.
    """
    counts = EditCounts()
    own_texts: dict[str, None] = {}

    def read() -> Iterable[UserText]:
        seen: set[str] = set()
        for text in texts:
            if text.text and (name := normalize(text.text)) not in seen:
                seen.add(name)
                own_texts[text.text] = None
                yield text

    edits = [*make_edits(read(), rules, counts, parser=parser, language=language)]
    own_texts |= dict.fromkeys(pair.first for pair in pairs)
    keep = [*dict.fromkeys(filter(None, map(str.strip, keep_texts)))]
    links = [*((edit.a, edit.b) for edit in edits), *((pair.first, pair.second) for pair in pairs)]
    changed = [*(edit.b for edit in edits), *(pair.second for pair in pairs)]
    groups = group_texts([*own_texts, *changed, *keep], links)
    edited = [TextPair(edit.a, edit.b, bool(edit.same), edit.kind) for edit in edits]
    # Texts without a pair do not measure errors: the held-out share is one of those with a pair, and one of the rest.
    paired = {groups[normalize(first)] for first, _ in links}
    all_texts = [*own_texts, *keep]
    parts = (
        [text for text in all_texts if (groups[normalize(text)] in paired) is is_paired] for is_paired in (True, False)
    )
    held_out = set().union(*(choose_held_out(groups, part, share=HELD_OUT, seed=seed) for part in parts))

    def select(*, is_held_out: bool) -> RepairSide:
        def is_here(text: str) -> bool:
            return (groups[normalize(text)] in held_out) is is_held_out

        chosen = [pair for pair in edited if is_here(pair.first)]
        own = [pair for pair in pairs if is_here(pair.first)]
        here = tuple(filter(is_here, own_texts))
        return RepairSide(
            # Pairs of one meaning are measured apart: variants are edits, paraphrases are the user's own.
            opposites=tuple(pair for pair in (*chosen, *own) if not pair.same),
            variants=tuple(pair for pair in chosen if pair.same),
            paraphrases=tuple(pair for pair in own if pair.same),
            texts=here,
            neutral=(*here, *(text for text in keep if is_here(text) and text not in own_texts)),
        )

    data = RepairData(training=select(is_held_out=False), held_out=select(is_held_out=True), counts=counts)
    _check_sizes(data, len(own_texts), max(Counter(groups.values()).values(), default=0))
    return data


def _check_sizes(data: RepairData, texts: int, largest: int) -> None:
    """Raise SentprobeError if a side has too few opposites, or the held-out side no two paraphrases."""
    for name, side in (("training", data.training), ("measuring", data.held_out)):
        if len(side.opposites) < FEWEST_OPPOSITES:
            alike = f"; {largest:,} of them are near-copies, which stay together" if largest > texts / 3 else ""
            raise SentprobeError(
                f"too few texts: {format_count(texts, 'different text')} {'gives' if texts == 1 else 'give'} "
                f"{format_count(len(side.opposites), 'opposite')} for {name}, and {FEWEST_OPPOSITES} are needed{alike}"
                "; add texts, --pairs, or --parser, which allows more kinds"
            )
    if len(data.held_out.same) < FEWEST_PARAPHRASES:
        raise UsageError(
            f"too few paraphrases: the held-out texts have {len(data.held_out.same)} variants and "
            f"{len(data.held_out.paraphrases)} paraphrases, and {FEWEST_PARAPHRASES} of either are needed; add --pairs "
            "with same=1, or --parser, which allows more kinds of variant"
        )
