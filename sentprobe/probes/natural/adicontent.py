"""AdiContent of Adi et al. 2017, section 3: whether the probe word is in the sentence.

Each word is as often the right answer as the wrong one, in each split, so that the word by itself
tells nothing. As published it does tell something: a word of most sentences is seldom absent.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from sentprobe.probes.known_task import ABOUT_WORDS, Cue, why
from sentprobe.probes.natural import adi
from sentprobe.probes.natural.select import Draw, Selection


def adi_content(draw: Draw, change: adi.Change) -> Selection:
    """Return word content (is the probe word in the sentence?).

    Positive: a random word of the sentence. Negative: a word that is positive elsewhere and not in
    this sentence.
    """
    return adi.asked_selection(draw, adi.AdiQuestion(1, _ask, _ask_twice), change)


def _ask(texts: Sequence[str], known: adi.Slots, rng: Random) -> adi.AskedWords:
    """Return items of which each word is in as many positive as negative ones."""
    asked = [(text, word) for text in texts[::2] if (word := _one(text, known[0], rng))]
    words = [word for _, word in asked]
    rng.shuffle(words)
    refused = dict(_refuse(texts[1::2], words))
    counted = Counter(refused.values())
    items: adi.AskedWords = [(False, text, (word,)) for text, word in refused.items()]
    for text, word in asked:
        if counted[word]:
            counted[word] -= 1
            items.append((True, text, (word,)))
    rng.shuffle(items)
    return items


def _ask_twice(texts: Sequence[str], known: adi.Slots, rng: Random) -> adi.AskedWords:
    """Return of each sentence an item about a word in it, and one about a word of another's."""
    inside = [(text, word) for text in texts if (word := _one(text, known[0], rng))]
    words = [word for _, word in inside]
    items: adi.AskedWords = []
    for text, word in inside:
        other = _absent(text, words, rng)
        if other:
            items += [(True, text, (word,)), (False, text, (other,))]
    rng.shuffle(items)
    return items


_TRIES = 100


def _absent(text: str, words: Sequence[str], rng: Random) -> str:
    """Return a random one of the words that is not in the sentence; empty where none is found."""
    inside = set(adi.words_of(text))
    tries = (rng.choice(words) for _ in range(_TRIES))
    return next((word for word in tries if word not in inside), "")


def _one(text: str, known: set[str], rng: Random) -> str:
    """Return a random word of the sentence that training asks about, or the empty string."""
    words = [word for word in adi.words_of(text) if not known or word in known]
    return rng.choice(words) if words else ""


def _refuse(texts: Sequence[str], words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with a word that it does not have, each word at most once.

    A word that is in the sentence waits for the next one; one that waits goes first.
    """
    waiting: list[str] = []
    rest = iter(words)
    for text in texts:
        inside = set(adi.words_of(text))
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


TASK, *CONTROLS = adi.adi_tasks(
    "AdiContent",
    adi_content,
    asks="is w in s?",
    slots=1,
    may_answer=why(ABOUT_WORDS, Cue.BAG, Cue.NGRAMS, Cue.POSITION)
    | why("a short sentence lacks more words; beat this figure", Cue.LENGTH),
)
