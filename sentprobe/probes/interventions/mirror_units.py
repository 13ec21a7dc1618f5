"""Mirror pairs of a dataset as base and source: two sentences, two questions, and the words that are asked about."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.common.values import group_by
from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.sentence_plan import find_slots
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.language import Language
from sentprobe.probes.datasets.dataset import Indices, ProbeDataset, Split
from sentprobe.probes.encoders.models.model_parts import find_event_words


@dataclass(frozen=True, slots=True, eq=False)
class MirrorUnits:
    """The mirror pairs of a split. A pair has two sentences and two questions, which differ in one probe word.

    In each sentence the answers to the two questions are opposite, and the other sentence reverses both.

    - sentences: the texts of n pairs, 2n, those of a pair side by side
    - words: the position in its sentence of each question's own word, (2n, 2) int64
    - items: the item of each sentence and question, (n, 2, 2) int64
    - labels: its label, (n, 2, 2) int64
    - slots: which probe word differs between the questions, (n,) int64: 0 is the first
    """

    sentences: tuple[str, ...]
    words: Indices
    items: Indices
    labels: Indices
    slots: Indices

    def __len__(self) -> int:
        return len(self.slots)


def find_mirror_units(data: ProbeDataset, split: Split, lexicon: Lexicon, *, n: int) -> MirrorUnits:
    """Return the first *n* mirror pairs of a split, or all. Raises UsageError if there are none.

    Sentences that the grammar cannot parse are left out, and so are those in which its readings place a probe word
    differently.
    """
    found: list[tuple[NDArray[np.int64], int, list[tuple[str, list[int]]]]] = []
    for items, slot in _iterate_pairs(data, split):
        rows, probes = data.splits[split].rows, data.splits[split].probes
        words = [data.probe_words[probes[item, slot]] for item in items[0]]
        texts = [data.sentences[row] for row in rows[items[:, 0]]]
        places = [find_lemmas(text, lexicon) for text in texts]
        if all(word in place for place in places for word in words):
            sentences = [(text, [place[word] for word in words]) for text, place in zip(texts, places, strict=True)]
            found.append((items, slot, sentences))
        if len(found) == n:
            break
    if not found:
        raise UsageError(
            f"{data.name}: the {split} items have no mirror pairs (same words, opposite answers to two questions) that "
            "the grammar can parse; SemRole, Order and Negation of compeval have"
        )
    all_items = np.array([items for items, _, _ in found])
    sentences = [sentence for _, _, pair in found for sentence in pair]
    return MirrorUnits(
        sentences=tuple(text for text, _ in sentences),
        words=np.array([words for _, words in sentences], np.int64),
        items=all_items,
        labels=data.splits[split].targets[all_items],
        slots=np.array([slot for _, slot, _ in found], np.int64),
    )


def _iterate_pairs(data: ProbeDataset, split: Split) -> Iterator[tuple[Indices, int]]:
    """Yield, for each pair, its items, (sentence, question) int64, and the slot in which its questions differ."""
    items = data.splits[split]
    units = data.units(split).tolist()
    for members in group_by(range(len(items)), lambda item: units[item]).values():
        by_place = {(int(items.rows[item]), tuple(items.probes[item].tolist())): item for item in members}
        rows = [*dict.fromkeys(row for row, _ in by_place)]
        questions = [*dict.fromkeys(probe for _, probe in by_place)]
        # Only a full square of two sentences and two questions: units of other tasks have other shapes.
        if (len(rows), len(questions), len(by_place), len(members)) != (2, 2, 4, 4):
            continue
        square = np.array([[by_place[row, question] for question in questions] for row in rows], np.int64)
        labels = items.targets[square]
        slots = [slot for slot, (first, second) in enumerate(zip(*questions, strict=True)) if first != second]
        if len(slots) == 1 and (labels[0] != labels[1]).all() and labels[0, 0] != labels[0, 1]:
            yield square, slots[0]


def find_lemmas(sentence: str, lexicon: Lexicon) -> dict[str, int]:
    """Return the position of each noun and verb, by lemma, that occurs once, and at one place in all readings.

    >>> from sentprobe.lexicon import english
    >>> find_lemmas("the doctors that the lawyer helped slept", english())
    {'sleep': 6, 'doctor': 1, 'help': 5, 'lawyer': 4}
    >>> find_lemmas("colourless green ideas", english())
    {}
    """
    try:
        readings = parse(sentence, lexicon)
    except (ParseError, ValueError):
        return {}
    places = [_find_lemmas_of(event, lexicon.language) for event in readings]
    return reduce(lambda first, second: {w: at for w, at in first.items() if second.get(w) == at}, places)


def _find_lemmas_of(event: Event, language: Language) -> dict[str, int]:
    slots = {slot: lemma for slot, lemma in find_slots(event).items() if slot.endswith(("noun", "verb"))}
    counts, indices = Counter(slots.values()), find_event_words(event, language)
    return {lemma: indices[slot] for slot, lemma in slots.items() if counts[lemma] == 1 and slot in indices}
