"""Facts about a dataset that a result stores, so that figures can be traced to their data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.results.split_overlap import SplitOverlap, find_overlap
from sentprobe.specs import NATURAL


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
    """The sizes and the origin of a dataset."""

    train: int
    test: int
    validation: int = 0
    """The dataset's own validation items; a classifier may take others from training."""
    word_types: int
    """The number of distinct tokens in its sentences."""
    vocabulary: str = ""
    """The name of the vocabulary of its sentences; empty: unknown."""
    sampling: str = ""
    """The sampling method of its items; empty: unknown, as in published datasets."""
    seed: int | None = None
    """The sampling seed; None: unknown."""
    source: str = ""
    """The author or source, from its card."""
    origin: str = ""
    """A digest of everything the dataset was built from except the seed: lexicon or table rows, and settings. Empty:
    unknown, as the dataset was read from files."""
    held_out: str = ""
    """The structure that half of the test items and no training items have; empty: none."""
    repeated: int = 0
    """The number of test items whose sentence is a training sentence."""
    inflected: int = 0
    """The number of further test items whose sentence has the lemmas of a training sentence."""

    @property
    def overlap(self) -> SplitOverlap:
        """The test items whose sentences also occur in training."""
        return SplitOverlap(self.test, self.repeated, self.inflected)

    def is_other_draw(self, facts: "DataFacts") -> bool:
        """Say whether two datasets differ only in their seed.

        The numbers of items of natural-text datasets may differ by up to a quarter: the number of balanced items in a
        corpus depends on the draw. Datasets of unknown origin never match, since two vocabularies may share a name.
        """
        if None in (self.seed, facts.seed) or "" in (self.origin, facts.origin) or self.seed == facts.seed:
            return False
        if self._source() != facts._source():
            return False
        allowed_ratio = 1.25 if self.sampling.startswith(NATURAL) else 1.0
        sizes = zip(self._sizes(), facts._sizes(), strict=True)
        return all(max(pair) <= allowed_ratio * min(pair) for pair in sizes)

    def _source(self) -> tuple[str, ...]:
        return self.vocabulary, self.sampling, self.source, self.origin, self.held_out

    def _sizes(self) -> tuple[int, int, int]:
        return self.train, self.validation, self.test

    def to_json(self) -> dict[str, Any]:
        """Return the facts as a JSON value."""
        value = asdict(self)
        if not self.held_out:
            del value["held_out"]
        return value


def collect_data_facts(data: ProbeDataset, *, origin: str = "") -> DataFacts:
    """Return the facts of a dataset, from its items and its card."""
    sizes = {split: len(items) for split, items in data.splits.items()}
    overlap = find_overlap(data)
    return DataFacts(
        train=sizes[Split.TRAIN],
        test=sizes[Split.TEST],
        validation=sizes.get(Split.VALIDATION, 0),
        word_types=len({token for sentence in data.sentences for token in sentence.split()}),
        vocabulary=data.card.vocabulary,
        sampling=data.card.sampling,
        seed=data.card.seed if data.card.sampling else None,
        source=data.card.source,
        origin=origin,
        held_out=data.held_out,
        repeated=overlap.repeated,
        inflected=overlap.inflected,
    )


def parse_data_facts(value: Mapping[str, Any] | None) -> DataFacts | None:
    """Read facts from a JSON value (None stays None); raise TypeError or ValueError for another form."""
    if value is None:
        return None
    facts = DataFacts(**value)
    counts = (facts.train, facts.test, facts.validation, facts.word_types, facts.repeated, facts.inflected)
    texts = (facts.vocabulary, facts.sampling, facts.source, facts.origin, facts.held_out)
    is_valid = all(type(count) is int and count >= 0 for count in counts)
    if not (
        is_valid
        and facts.repeated + facts.inflected <= facts.test
        and type(facts.seed) in (int, NoneType)
        and {*map(type, texts)} == {str}
    ):
        raise ValueError("facts about the data are not numbers and texts")
    return facts
