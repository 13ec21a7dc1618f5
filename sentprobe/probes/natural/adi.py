"""Length, word content and word order: the tasks of Adi et al. 2017, section 3, and their controls.

Each sentence is asked about once. Words are compared in lower case, and punctuation is no word. Of
word content, each word is as often the right answer as the wrong one, in each split, so that the
word by itself tells nothing; of word order, the pair of words does tell something, as in the paper,
and the run without the sentence says how much.

PERMUTED sentences have the tokens of the sentence in a random order, RANDOM ones the same number of
random tokens of the corpus (as frequent as there). What is asked is asked about the sentence that
then stands there: a question about the one before would keep the usual order of its two words.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from sentprobe.lengths import ADI_BINS
from sentprobe.probes.dataset import Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.natural.pairs import is_word
from sentprobe.probes.natural.select import (
    Draw,
    Selection,
    Share,
    item,
    share_out,
    size_notes,
    splits_of,
    too_few,
    wanted_share,
)
from sentprobe.probes.natural.sentlen import length_classes

LABELS = ("FALSE", "TRUE")

Slots = list[set[str]]
"""The words that each slot has in training; empty while training itself is made."""

Asker = Callable[[Sequence[str], Slots, Random], list[tuple[bool, str, tuple[str, ...]]]]
"""From the sentences of a split to items: label, sentence, probe words."""

Change = Callable[[Sequence[str], Random], Mapping[str, str]]
"""From sentences to what stands in the place of each, as many tokens, no two the same."""


def unchanged(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return the sentences themselves."""
    del rng
    return {text: text for text in texts}


def adi_length(draw: Draw, change: Change = unchanged) -> Selection:
    """Return length: 8 classes by the number of tokens, from 5 to 70."""
    found = length_classes(draw, ADI_BINS)
    texts = change([entry.sentence for entry in found.entries], draw.random("change"))
    there = (entry for entry in found.entries if entry.sentence in texts)
    return replace(found, entries=tuple(replace(e, sentence=texts[e.sentence]) for e in there))


def adi_content(draw: Draw, change: Change = unchanged) -> Selection:
    """Return word content (is the probe word in the sentence?).

    Positive: a random word of the sentence. Negative: a word that is positive elsewhere and not in
    this sentence.
    """
    return _asked(draw, _ask_content, change, slots=1)


def adi_order(draw: Draw, change: Change = unchanged) -> Selection:
    """Return word order (is the first probe word before the second?); both are there once."""
    return _asked(draw, _ask_order, change, slots=2)


def _asked(draw: Draw, ask: Asker, change: Change, *, slots: int) -> Selection:
    pool = draw.pool(
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {ADI_BINS[0][0]} AND {ADI_BINS[-1][1]}",
        limit=2 * draw.total + 100,
    )
    texts = list(change(draw.corpus.texts(pool.handles), draw.random("change")).values())
    wanted = wanted_share(draw.size, classes=2)
    got = share_out(len(texts) // 2, wanted)
    if got is None:
        raise too_few(draw.task, {"sentences": len(texts)}, needed=2 * len(wanted))
    words: Slots = [set() for _ in range(slots)]
    entries: list[Entry] = []
    for split in splits_of(draw.size):
        part, texts = texts[: 2 * got[split]], texts[2 * got[split] :]
        asked = ask(part, words, draw.random(split))
        if not asked:
            raise too_few(draw.task, {f"items in {split.value}": 0}, needed=2)
        entries += [item(split, LABELS[label], text, probes) for label, text, probes in asked]
        if split is Split.TRAIN:
            words = [set(column) for column in zip(*(each[2] for each in asked), strict=True)]
    share = Share(wanted, {split: _per_class(entries, split) for split in wanted})
    why = "each sentence is asked about once, and test asks about words of training"
    return Selection(LABELS, tuple(entries), size_notes(draw, share, classes=2, why=why))


def _per_class(entries: Sequence[Entry], split: Split) -> int:
    return sum(entry.split is split for entry in entries) // 2


def words_of(text: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return [token.lower() for token in text.split(" ") if is_word(token)]


def _ask_content(
    texts: Sequence[str], known: Slots, rng: Random
) -> list[tuple[bool, str, tuple[str, ...]]]:
    """Return items of which each word is in as many positive as negative ones."""
    asked = [(text, word) for text in texts[::2] if (word := _one(text, known[0], rng))]
    words = [word for _, word in asked]
    rng.shuffle(words)
    refused = dict(_refuse(texts[1::2], words))
    counted = Counter(refused.values())
    items: list[tuple[bool, str, tuple[str, ...]]] = [
        (False, text, (word,)) for text, word in refused.items()
    ]
    for text, word in asked:
        if counted[word]:
            counted[word] -= 1
            items.append((True, text, (word,)))
    rng.shuffle(items)
    return items


def _one(text: str, known: set[str], rng: Random) -> str:
    """Return a random word of the sentence that training asks about, or the empty string."""
    words = [word for word in words_of(text) if not known or word in known]
    return rng.choice(words) if words else ""


def _refuse(texts: Sequence[str], words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with a word that it does not have, each word at most once.

    A word that is in the sentence waits for the next one; one that waits goes first.
    """
    waiting: list[str] = []
    rest = iter(words)
    for text in texts:
        inside = set(words_of(text))
        word = next((each for each in waiting if each not in inside), "")
        if word:
            waiting.remove(word)
        while not word:
            word = next(rest, "")
            if not word:
                break
            if word in inside:
                waiting.append(word)
                word = ""
        if word:
            yield text, word


def _ask_order(
    texts: Sequence[str], known: Slots, rng: Random
) -> list[tuple[bool, str, tuple[str, ...]]]:
    """Return items of which half have the words in their order."""
    items: list[tuple[bool, str, tuple[str, ...]]] = []
    for text in texts:
        label = len(items) % 2 == 0
        pair = _two(text, known, rng, forward=label)
        if pair is not None:
            items.append((label, text, pair))
    del items[len(items) // 2 * 2 :]
    rng.shuffle(items)
    return items


def _two(text: str, known: Slots, rng: Random, *, forward: bool) -> tuple[str, str] | None:
    """Return two words that training asks about, in their order in the sentence or the other."""
    words = words_of(text)
    once = [word for word in words if words.count(word) == 1]
    pairs = [
        pair
        for place, word in enumerate(once)
        for later in once[place + 1 :]
        if _trained(pair := (word, later) if forward else (later, word), known)
    ]
    return rng.choice(pairs) if pairs else None


def _trained(pair: tuple[str, str], known: Slots) -> bool:
    return all(not words or word in words for word, words in zip(pair, known, strict=True))


_TRIES = 200

Redo = Callable[[str], str]
"""From a sentence to one that may stand in its place."""


def permuted(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return each sentence with its tokens in a random order."""

    def mixed(text: str) -> str:
        tokens = text.split(" ")
        rng.shuffle(tokens)
        return " ".join(tokens)

    return _distinct(texts, mixed)


def random_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return for each sentence as many random tokens of all of them."""
    tokens = [token for text in texts for token in text.split(" ")]
    return _distinct(texts, lambda text: " ".join(rng.choices(tokens, k=text.count(" ") + 1)))


def _distinct(texts: Sequence[str], redo: Redo) -> dict[str, str]:
    """Return what stands for each sentence; one for which nothing new is found is left out."""
    found: dict[str, str] = {}
    used: set[str] = set()
    for text in texts:
        tries = (redo(text) for _ in range(_TRIES))
        new = next((each for each in tries if each not in used), None)
        if new is not None:
            found[text] = new
            used.add(new)
    return found
