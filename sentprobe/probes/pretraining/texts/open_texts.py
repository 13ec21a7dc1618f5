"""The kinds of text, and what reads each: the one list of them."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.probes.pretraining.texts import corpora, sieves
from sentprobe.probes.pretraining.texts.nli import read_nli
from sentprobe.probes.pretraining.texts.parallel import read_parallel
from sentprobe.probes.pretraining.texts.sentences import read_sentences
from sentprobe.probes.pretraining.texts.trees import read_trees
from sentprobe.probes.pretraining.texts.triplets import read_triplets

LearnedTexts: TypeAlias = (
    corpora.Sentences | corpora.SentencePairs | corpora.NliPairs | corpora.Triplets | corpora.Trees
)
"""Anything that an encoder learns from."""


class TextKind(StrEnum):
    """What an objective learns from."""

    SENTENCES = "sentences"
    PARALLEL = "parallel"
    NLI = "nli"
    TRIPLETS = "triplets"
    TREES = "trees"
    EVENTS = "events"
    """Sentences with their events: the generator draws them (:mod:`.meanings`), none is read."""


READERS: Mapping[TextKind, Callable[..., LearnedTexts]] = {
    TextKind.SENTENCES: read_sentences,
    TextKind.PARALLEL: read_parallel,
    TextKind.NLI: read_nli,
    TextKind.TRIPLETS: read_triplets,
    TextKind.TREES: read_trees,
}


def open_texts(
    kind: TextKind,
    *paths: Path | str,
    options: sieves.TextOptions = sieves.TextOptions(),  # noqa: B008 - frozen
    **others: Any,
) -> LearnedTexts:
    """Read texts of a kind; *others* are what its reader takes besides.

    Raises:
        SentprobeError: they cannot be read, or are too few; says why.
    """
    return READERS[kind](*paths, options=options, **others)
