"""Generated training texts for each objective, of any size."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from helpers.oracles.pairs_at_once import build_training_columns, sample_pairs

from sentprobe.generator.bulk.generate import write_sentences
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.pairs.inference_pairs import PAIRS_PER_GROUP, NliSpace
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
from sentprobe.probes.corpus.trees import read_tree
from sentprobe.probes.training import corpora
from sentprobe.probes.training.corpora import LearnedTexts, Meanings, split_notation
from sentprobe.probes.training.running_text import linearise

_Space = TypeVar("_Space", bound=TripletSpace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Number, structure and words of generated items."""

    items: int
    template: str = "transitive"
    vocabulary: str = "compeval"
    contrast: str = "role"
    """For triplets and labelled pairs."""
    seed: int = 1

    def events(self) -> tuple[Space, IndexArray]:
        """Return the space, and the places of the drawn events."""
        space = Space(english(), templates=[self.template], vocabulary=self.vocabulary)
        return space, space.sample(self.items, seed=self.seed)

    def written(self, form: str) -> tuple[str, ...]:
        """Return the lines of the sentences in a format of the generator."""
        out = io.StringIO()
        write_sentences(*self.events(), out, form)
        return tuple(out.getvalue().splitlines())

    def make_space(self, space: type[_Space]) -> _Space:
        """Return a space of triplets or labelled pairs."""
        templates = [self.template]
        return space(english(), self.contrast, vocabulary=self.vocabulary, templates=templates)


def text(drawing: Drawing) -> corpora.Sentences:
    """Return unrelated sentences."""
    return corpora.Sentences(drawing.written("text"), (0,))


def make_triplet_columns(drawing: Drawing) -> corpora.Triplets:
    """Return anchors with positives and negatives."""
    columns = build_training_columns(drawing.make_space(TripletSpace).sample(drawing.items, seed=drawing.seed))
    anchors, positives, negatives = map(tuple, columns.values())
    return corpora.Triplets(anchors, positives, negatives)


def said_twice(drawing: Drawing) -> corpora.Sentences:
    """Return documents of two sentences that state the same event."""
    triplets = make_triplet_columns(drawing)
    pairs = zip(triplets.anchors, triplets.positives, strict=True)
    texts = tuple(text for pair in pairs for text in pair)
    return corpora.Sentences(texts, tuple(range(0, len(texts), 2)))


def translated(drawing: Drawing) -> corpora.SentencePairs:
    """Return sentences and translations with reversed words and reversed word order.

    That of "the man slept" is "tpels nam eht": each word has one translation, in another place.
    """
    sources = drawing.written("text")
    return corpora.SentencePairs(sources, tuple(source[::-1] for source in sources))


def parsed(drawing: Drawing) -> corpora.Trees:
    """Return sentences and their trees."""
    trees = tuple(linearise(read_tree(line)) for line in drawing.written("trees"))
    return corpora.Trees(drawing.written("text"), trees)


def make_labelled_pairs(drawing: Drawing) -> corpora.NliPairs:
    """Return pairs labelled as entailment, contradiction or neutral."""
    pairs = sample_pairs(drawing.make_space(NliSpace), drawing.items // PAIRS_PER_GROUP, seed=drawing.seed)
    return corpora.NliPairs(tuple(pairs.premise), tuple(pairs.hypothesis), np.array(pairs.label))


def stated(drawing: Drawing) -> Meanings:
    """Return sentences and the events that they state."""
    space, places = drawing.events()
    events = tuple(split_notation(write_event(event)) for event in space.events(places))
    return Meanings(drawing.written("text"), events)


GENERATED: Mapping[str, Callable[[Drawing], LearnedTexts | Meanings]] = {
    "autoencoder": text,
    "denoising": text,
    "skipthought": said_twice,
    "nmt": translated,
    "seq2tree": parsed,
    "nli": make_labelled_pairs,
    "meaning": stated,
    "contrastive": make_triplet_columns,
}
"""Functions that generate texts, by objective."""
