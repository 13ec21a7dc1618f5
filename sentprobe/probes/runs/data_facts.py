"""What a dataset was made of, as a result keeps it, so that figures can be traced to their data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import NoneType
from typing import Any

from sentprobe.probes.dataset import ProbeDataset, Split


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
    """What a dataset was made of; its version is the dataset's fingerprint, a digest of it all."""

    train: int
    """The number of training items."""
    test: int
    validation: int = 0
    """As the dataset has them; a classifier may take others from training."""
    word_types: int
    """How many different tokens its sentences have."""
    vocabulary: str = ""
    """The name of that from which its sentences were made; empty: no vocabulary is known."""
    sampling: str = ""
    """How its items were drawn; empty: nobody knows (they are not ours)."""
    seed: int | None = None
    """That by which they were drawn; None where nobody knows how they were."""
    source: str = ""
    """Who made it, or what it was taken from, as its card says."""

    def same_but_drawn(self, other: "DataFacts") -> bool:
        """Say whether two datasets were made alike, by different seeds."""
        known = self.seed is not None and other.seed is not None
        return known and self.seed != other.seed and self._undrawn() == other._undrawn()

    def _undrawn(self) -> "DataFacts":
        return replace(self, seed=None, word_types=0)

    def to_json(self) -> dict[str, Any]:
        """Return the facts as a value that :mod:`json` can write."""
        return asdict(self)


def facts_of(data: ProbeDataset) -> DataFacts:
    """Return what a dataset was made of, as it shows in it and as its card says."""
    sizes = {split: len(items) for split, items in data.splits.items()}
    return DataFacts(
        train=sizes[Split.TRAIN],
        test=sizes[Split.TEST],
        validation=sizes.get(Split.VALIDATION, 0),
        word_types=len({token for sentence in data.sentences for token in sentence.split()}),
        vocabulary=data.card.vocabulary,
        sampling=data.card.sampling,
        seed=data.card.seed if data.card.sampling else None,
        source=data.card.source,
    )


def facts_from_json(value: Mapping[str, Any] | None) -> DataFacts | None:
    """Read the facts back; the inverse of ``to_json``, and None where none were kept.

    Raises:
        TypeError, ValueError: they are not what we write.
    """
    if value is None:
        return None
    found = DataFacts(**value)
    counts = (found.train, found.test, found.validation, found.word_types)
    texts = (found.vocabulary, found.sampling, found.source)
    sound = all(type(count) is int and count >= 0 for count in counts)
    if not (sound and type(found.seed) in (int, NoneType) and {*map(type, texts)} == {str}):
        raise ValueError("what the data was made of is not numbers and texts")
    return found
