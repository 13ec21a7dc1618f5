"""Kinds of training text, and the reader of each."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.probes.pretraining.texts import corpora, text_filters
from sentprobe.probes.pretraining.texts.constituents import read_trees
from sentprobe.probes.pretraining.texts.pair_texts import read_nli, read_parallel, read_triplets
from sentprobe.probes.pretraining.texts.running_text import read_sentences

LearnedTexts: TypeAlias = (
    corpora.Sentences | corpora.SentencePairs | corpora.NliPairs | corpora.Triplets | corpora.Trees
)


class TextKind(StrEnum):
    """Kind of text that an objective learns from."""

    SENTENCES = "sentences"
    PARALLEL = "parallel"
    NLI = "nli"
    TRIPLETS = "triplets"
    TREES = "trees"
    EVENTS = "events"
    """Sentences with events, which the generator draws (:mod:`.corpora`); no file is read."""


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
    options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS,
    **reader_options: Any,
) -> LearnedTexts:
    """Read texts of a kind; *reader_options* are further arguments of its reader."""
    return READERS[kind](*paths, options=options, **reader_options)
