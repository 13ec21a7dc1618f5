"""Texts of the generator that each objective can learn from, of any size."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sentprobe.generator.boxes import IndexArray
from sentprobe.generator.nli import GROUP, NliSpace
from sentprobe.generator.notation import write_event
from sentprobe.generator.sentence_files import write_sentences
from sentprobe.generator.space import Space
from sentprobe.generator.training import training_columns
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.pretraining.texts import corpora
from sentprobe.probes.pretraining.texts.linear import linearise
from sentprobe.probes.pretraining.texts.meanings import Meanings, in_words
from sentprobe.probes.pretraining.texts.open_texts import LearnedTexts
from sentprobe.probes.syntax.trees import read_tree

_Space = TypeVar("_Space", bound=TripletSpace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What is drawn of the generator: how many items, of which structure and words."""

    items: int
    template: str = "transitive"
    vocabulary: str = "compeval"
    contrast: str = "role"
    """Of triplets and of pairs with a label."""
    seed: int = 1

    def events(self) -> tuple[Space, IndexArray]:
        """Return the space, and the places in it of the events that are drawn."""
        space = Space(english(), templates=[self.template], vocabulary=self.vocabulary)
        return space, space.sample(self.items, seed=self.seed)

    def written(self, form: str) -> tuple[str, ...]:
        """Return the sentences of the events in a format of the generator, a line each."""
        out = io.StringIO()
        write_sentences(*self.events(), out, form)
        return tuple(out.getvalue().splitlines())

    def of(self, space: type[_Space]) -> _Space:
        """Return the space of triplets, or of what is made of them."""
        templates = [self.template]
        return space(english(), self.contrast, vocabulary=self.vocabulary, templates=templates)


def text(drawing: Drawing) -> corpora.Sentences:
    """Return sentences that have nothing to do with each other."""
    return corpora.Sentences(drawing.written("text"), (0,))


def contrasted(drawing: Drawing) -> corpora.Triplets:
    """Return sentences, each with one that says the same and one that does not."""
    made = training_columns(drawing.of(TripletSpace).sample(drawing.items, seed=drawing.seed))
    anchors, positives, negatives = map(tuple, made.values())
    return corpora.Triplets(anchors, positives, negatives)


def said_twice(drawing: Drawing) -> corpora.Sentences:
    """Return documents of two sentences, which say the same in different forms."""
    triplets = contrasted(drawing)
    pairs = zip(triplets.anchors, triplets.positives, strict=True)
    texts = tuple(text for pair in pairs for text in pair)
    return corpora.Sentences(texts, tuple(range(0, len(texts), 2)))


def translated(drawing: Drawing) -> corpora.SentencePairs:
    """Return sentences, and these in a language whose words and sentences go backwards.

    That of "the man slept" is "tpels nam eht": each word has one translation, in another place.
    """
    sources = drawing.written("text")
    return corpora.SentencePairs(sources, tuple(source[::-1] for source in sources))


def parsed(drawing: Drawing) -> corpora.Trees:
    """Return sentences and the trees that they were made by."""
    trees = tuple(linearise(read_tree(line)) for line in drawing.written("trees"))
    return corpora.Trees(drawing.written("text"), trees)


def labelled(drawing: Drawing) -> corpora.NliPairs:
    """Return pairs of which one follows from the other, contradicts it, or neither."""
    made = drawing.of(NliSpace).pairs(drawing.items // GROUP, seed=drawing.seed)
    return corpora.NliPairs(tuple(made.premise), tuple(made.hypothesis), np.array(made.label))


def stated(drawing: Drawing) -> Meanings:
    """Return sentences and the events that they state."""
    space, places = drawing.events()
    events = tuple(in_words(write_event(event)) for event in space.events(places))
    return Meanings(drawing.written("text"), events)


GENERATED: Mapping[str, Callable[[Drawing], LearnedTexts | Meanings]] = {
    "autoencoder": text,
    "denoising": text,
    "skipthought": said_twice,
    "nmt": translated,
    "seq2tree": parsed,
    "nli": labelled,
    "meaning": stated,
    "contrastive": contrasted,
}
"""By objective."""
