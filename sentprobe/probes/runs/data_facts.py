"""What a dataset was made of, as a result keeps it, so that figures can be traced to their data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.specs import NATURAL


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
    origin: str = ""
    """A digest of all that a run built it from, but for the seed: the words of the lexicon or the
    rows of the table, and the settings; empty: nobody knows (it was read, or is older)."""
    held_out: str = ""
    """The structure that test items have and no training item; empty: there is none."""

    def same_but_drawn(self, other: "DataFacts") -> bool:
        """Say whether two datasets were made alike, by different seeds.

        Those of natural text may differ in their numbers of items by up to a quarter: how many a
        corpus yields that balance depends on the draw. A vocabulary may have the name of another
        and none of its words, so that those of which the origin is not known are never alike.
        """
        known = None not in (self.seed, other.seed) and "" not in (self.origin, other.origin)
        made = (self.vocabulary, self.sampling, self.source, self.origin, self.held_out)
        others = (other.vocabulary, other.sampling, other.source, other.origin, other.held_out)
        alike = made == others
        most = 1.25 if self.sampling.startswith(NATURAL) else 1.0
        sizes = zip(self._sizes(), other._sizes(), strict=True)
        near = all(max(pair) <= most * min(pair) for pair in sizes)
        return known and self.seed != other.seed and alike and near

    def _sizes(self) -> tuple[int, int, int]:
        return self.train, self.validation, self.test

    def to_json(self) -> dict[str, Any]:
        """Return the facts as a value that :mod:`json` can write."""
        value = asdict(self)
        if not self.held_out:
            del value["held_out"]
        return value


def facts_of(data: ProbeDataset, *, origin: str = "") -> DataFacts:
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
        origin=origin,
        held_out=data.held_out,
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
    texts = (found.vocabulary, found.sampling, found.source, found.origin, found.held_out)
    sound = all(type(count) is int and count >= 0 for count in counts)
    if not (sound and type(found.seed) in (int, NoneType) and {*map(type, texts)} == {str}):
        raise ValueError("what the data was made of is not numbers and texts")
    return found
