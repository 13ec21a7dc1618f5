"""The space of all minimal pairs of a paradigm; the index of a pair is the index of its good sentence."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sentprobe.errors import UsageError
from sentprobe.generator.bulk.generation import Renderer
from sentprobe.generator.minimal.alternatives import build_alternatives
from sentprobe.generator.minimal.changes import SentenceEdit, apply_edit, compile_change, find_first_change, find_tables
from sentprobe.generator.minimal.paradigms import ALL_PARADIGMS, build_vocabulary_error, find_paradigm, load_paradigms
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import json_escape, write_json
from sentprobe.generator.spaces.counting import IndexArray
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


class MinimalPairSpace:
    """The minimal pairs of a paradigm, with the words of a vocabulary.

    Raises:
        UsageError: an unknown paradigm or vocabulary; a vocabulary without the words that the paradigm needs.

    >>> from sentprobe.lexicon import english
    >>> space = MinimalPairSpace(english(), "verb_form_after_be", vocabulary="compeval")
    >>> pair = next(space.iterate_pairs(space.sample(1, seed=1)))
    >>> pair.good, pair.bad, pair.critical
    ('the student was not meeting the professors', 'the student was not meet the professors', 5)
    """

    def __init__(self, lexicon: Lexicon, uid: str, *, vocabulary: str) -> None:
        self.paradigm = find_paradigm(uid, lexicon.language)
        self._space = self.paradigm.build_space(lexicon, vocabulary)
        words, substitutes = lexicon.vocabulary(vocabulary), self.paradigm.substitutes
        names = find_tables(self.paradigm.change)
        self._tables = {name: build_alternatives(name, lexicon, words, substitutes) for name in names}
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
        """Return the indices of *count* different pairs, in random order. Raises UsageError."""
        self.check_count(count)
        return self._space.sample(count, seed=seed)

    def iterate_pairs(self, indices: IndexArray) -> Iterator[MinimalPair]:
        """Yield the pairs at *indices*, in the order of *indices*."""
        renderer = Renderer(self._space, self._format_record, escape=json_escape)
        start = 0
        for size, chunk in renderer.render_chunks(indices):
            rows = zip(chunk.split("\n"), indices[start : start + size].tolist(), strict=False)
            yield from (self._build_pair(*row) for row in rows)
            start += size

    def _format_record(self, sentence: Sentence) -> str:
        """Return text, tags, edit index and annotation of *sentence*, joined by tabs. Append the edit to ``_edits``."""
        self._edits.append(compile_change(self.paradigm.change, sentence))
        tags = " ".join(token.xpos for token in sentence.tokens)
        return f"{sentence.text}\t{tags}\t{len(self._edits) - 1}\t{write_json(sentence)}"

    def _build_pair(self, record: str, index: int) -> MinimalPair:
        good, tags, number, annotation = record.split("\t")
        words = good.split(" ")
        bad = apply_edit(self._edits[int(number)], words, tags.split(" "), self._tables, index)
        return MinimalPair(good=good, bad=" ".join(bad), critical=find_first_change(words, bad), annotation=annotation)


def build_pair_spaces(lexicon: Lexicon, uids: Sequence[str], *, vocabulary: str) -> list[MinimalPairSpace]:
    """Return the space of each paradigm in *uids*; ``["all"]``: all paradigms for which the vocabulary has words.

    Raises:
        UsageError: a paradigm or the vocabulary is unknown, or the vocabulary lacks words for a paradigm in *uids*.
    """
    if [*uids] != [ALL_PARADIGMS]:
        return [MinimalPairSpace(lexicon, uid, vocabulary=vocabulary) for uid in dict.fromkeys(uids)]
    lexicon.vocabulary(vocabulary)
    spaces = []
    for uid in load_paradigms(lexicon.language):
        with suppress(UsageError):
            spaces.append(MinimalPairSpace(lexicon, uid, vocabulary=vocabulary))
    return spaces
