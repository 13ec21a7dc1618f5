"""The space of all minimal pairs of a paradigm; the index of a pair is the index of its good sentence."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.generator.bulk.columns import NOTHING
from sentprobe.generator.bulk.generation import Decoder, Renderer, SentenceChunk, parse_column
from sentprobe.generator.bulk.word_tables import WordTables
from sentprobe.generator.minimal.alternatives import build_alternatives
from sentprobe.generator.minimal.changes import SentenceEdit, apply_edit, compile_change, find_first_change, find_tables
from sentprobe.generator.minimal.paradigms import ALL_PARADIGMS, build_vocabulary_error, find_paradigm, load_paradigms
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import json_escape, write_json
from sentprobe.generator.spaces.counting import IndexArray, divide_evenly, sample_distinct
from sentprobe.lexicon import Lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalPair:
    """A minimal pair: a good sentence, and a bad sentence with one error.

    The sentences are escaped as in JSON strings. ``critical`` is the number, from 1, of the first token that differs.
    ``annotation`` is the annotated good sentence as JSON text.
    """

    good: str
    bad: str
    critical: int
    annotation: str


POOL = 16
"""The number of pairs from which one pair of a sample is chosen."""


class _EditedWords:
    """Store of the column, or the word of the grammar, that a change edits first in each shape."""

    def __init__(self, change: str) -> None:
        self._change = change
        self._columns: list[int] = []
        self._words: list[int] = []
        self._known: dict[str, int] = {}

    def add(self, marked: Sentence) -> frozenset[int]:
        """Add a shape; return the number of its column."""
        edit = compile_change(self._change, marked)
        place = next((i for i, token in enumerate(edit) if token.table or token.position != i), len(edit))
        text = marked.tokens[place].form if place < len(marked.tokens) else ""
        self._columns.append(parse_column(text))
        self._words.append(self._known.setdefault(text, -1 - len(self._known)))
        return frozenset({self._columns[-1]})

    def find_words(self, chunk: SentenceChunk) -> NDArray[np.int64]:
        """Return the edited word of each sentence: its number in the columns, or a negative number."""
        columns = np.array(self._columns)[chunk.shapes]
        words = chunk.words[np.arange(len(chunk)), columns].astype(np.int64)
        return np.where(columns == NOTHING, np.array(self._words)[chunk.shapes], words)


class MinimalPairSpace:
    """The minimal pairs of a paradigm, with the words of a vocabulary.

    Raises:
        UsageError: an unknown paradigm or vocabulary; a vocabulary without the words that the paradigm needs.

    >>> from sentprobe.lexicon import english
    >>> space = MinimalPairSpace(english(), "verb_form_after_be", vocabulary="compeval")
    >>> pair = next(space.iterate_pairs(space.sample(1, seed=1)))
    >>> pair.good, pair.bad, pair.critical
    ('the student is sleeping', 'the student is sleep', 4)
    """

    def __init__(self, lexicon: Lexicon, uid: str, *, vocabulary: str) -> None:
        self.paradigm = find_paradigm(uid, lexicon.language)
        self._space = self.paradigm.build_space(lexicon, vocabulary)
        words, lacks = lexicon.vocabulary(vocabulary), self.paradigm.lacks
        names = find_tables(self.paradigm.change)
        self._tables = {name: build_alternatives(name, lexicon, words, lacks) for name in names}
        if not all(self._tables.values()):
            raise build_vocabulary_error(uid, vocabulary)
        self._edits: list[SentenceEdit] = []

    def count(self) -> int:
        """Return the exact number of pairs."""
        return self._space.count()

    def check_count(self, count: int) -> None:
        """Raise UsageError if *count* is not positive, or larger than the space."""
        if not 0 < count <= self.count():
            uid = self.paradigm.uid
            raise UsageError(f"{count} pairs of {uid} were asked for; from 1 to {self.count():,} are possible")

    def sample(self, count: int, *, seed: int) -> IndexArray:
        """Return the indices of *count* different pairs, in random order. Raises UsageError.

        Each word that the change edits is about equally frequent in their good sentences: the pairs are chosen among
        POOL times as many, equally many of each frame (intransitive, transitive, ditransitive).
        """
        self.check_count(count)
        rng, ranges = np.random.default_rng(seed), self._space.find_frame_ranges()
        sizes = [end - start for start, end in ranges]
        shares = divide_evenly(min(POOL * count, self.count()), sizes, Random(seed))
        dtype = np.int64 if self.count() < 2**63 else object
        rows = zip(ranges, shares, sizes, strict=True)
        parts = [sample_distinct(share, size, rng).astype(dtype) + start for (start, _), share, size in rows]
        pool = rng.permutation(np.concatenate(parts))
        edited = _EditedWords(self.paradigm.change)
        chunks = Decoder(self._space, WordTables(self._space), [edited]).decode_chunks(pool)
        words = np.concatenate([edited.find_words(chunk) for chunk in chunks])
        # Sorted by edited word, the pool has a run of pairs for each word; each run gives a share from its start.
        order = np.argsort(words, kind="stable")
        _, counts = np.unique(words, return_counts=True)
        chosen = divide_evenly(count, counts.tolist(), Random(seed))
        firsts = (np.cumsum(counts) - counts).tolist()
        places = np.concatenate([order[i : i + share] for i, share in zip(firsts, chosen, strict=True)])
        sample: IndexArray = pool[np.sort(places)]
        return sample

    def iterate_pairs(self, indices: IndexArray) -> Iterator[MinimalPair]:
        """Yield the pairs at *indices*, in the order of *indices*."""
        renderer = Renderer(self._space, self._format_record, escape=json_escape)
        start = 0
        for size, chunk in renderer.render_chunks(indices):
            rows = zip(chunk.split("\n"), indices[start : start + size].tolist(), strict=False)
            for record, index in rows:
                good, tags, number, annotation = record.split("\t")
                words = good.split(" ")
                bad = apply_edit(self._edits[int(number)], words, tags.split(" "), self._tables, index)
                critical = find_first_change(words, bad)
                yield MinimalPair(good=good, bad=" ".join(bad), critical=critical, annotation=annotation)
            start += size

    def _format_record(self, sentence: Sentence) -> str:
        """Return text, tags, edit index and annotation of *sentence*, joined by tabs. Append the edit to ``_edits``."""
        self._edits.append(compile_change(self.paradigm.change, sentence))
        tags = " ".join(token.xpos for token in sentence.tokens)
        return f"{sentence.text}\t{tags}\t{len(self._edits) - 1}\t{write_json(sentence)}"


def build_pair_spaces(lexicon: Lexicon, uids: Sequence[str], *, vocabulary: str) -> list[MinimalPairSpace]:
    """Return the space of each paradigm in *uids*; ``["all"]``: see :data:`~.paradigms.ALL_PARADIGMS`.

    Raises:
        UsageError: a paradigm or the vocabulary is unknown, or the vocabulary lacks words for a paradigm in *uids*.
    """
    if [*uids] != [ALL_PARADIGMS]:
        return [MinimalPairSpace(lexicon, uid, vocabulary=vocabulary) for uid in dict.fromkeys(uids)]
    lexicon.vocabulary(vocabulary)
    spaces = []
    for uid in (uid for uid, row in load_paradigms(lexicon.language).items() if not row.on_request):
        with suppress(UsageError):
            spaces.append(MinimalPairSpace(lexicon, uid, vocabulary=vocabulary))
    return spaces
