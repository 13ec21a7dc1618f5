"""AdiContent of Adi et al. 2017, section 3: whether the probe word is in the sentence.

In each split a word has as many positive as negative items, so the word alone does not give the answer. In the
published data it partly does: a word that is in most sentences is seldom absent.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from sentprobe.probes.known_task import ABOUT_WORDS, Cue, give_reason
from sentprobe.probes.natural.adi import shared_rules
from sentprobe.probes.natural.selection import Selection, SelectionRequest


def select_adi_content(request: SelectionRequest, change: shared_rules.Change) -> Selection:
    """Return the items of AdiContent (is the probe word in the sentence?).

    Positive: a random word of the sentence. Negative: a word that is positive elsewhere and not in this sentence.
    """
    return shared_rules.select_word_items(request, shared_rules.AdiQuestion(1, _make_one_item, _make_two_items), change)


def _make_one_item(texts: Sequence[str], trained_words: shared_rules.SlotWords, rng: Random) -> shared_rules.WordItems:
    """Return items in which each word is as often positive as negative."""
    positives = [(text, word) for text in texts[::2] if (word := _sample_word(text, trained_words[0], rng))]
    words = [word for _, word in positives]
    rng.shuffle(words)
    negatives = dict(_assign_absent_words(texts[1::2], words))
    negative_counts = Counter(negatives.values())
    items: shared_rules.WordItems = [(False, text, (word,)) for text, word in negatives.items()]
    for text, word in positives:
        if negative_counts[word]:
            negative_counts[word] -= 1
            items.append((True, text, (word,)))
    rng.shuffle(items)
    return items


def _make_two_items(texts: Sequence[str], trained_words: shared_rules.SlotWords, rng: Random) -> shared_rules.WordItems:
    """Return two items for each sentence: one about a word in it, one about a word of another sentence."""
    positives = [(text, word) for text in texts if (word := _sample_word(text, trained_words[0], rng))]
    words = [word for _, word in positives]
    items: shared_rules.WordItems = []
    for text, word in positives:
        absent_word = _sample_absent_word(text, words, rng)
        if absent_word:
            items += [(True, text, (word,)), (False, text, (absent_word,))]
    rng.shuffle(items)
    return items


_TRIES = 100


def _sample_absent_word(text: str, words: Sequence[str], rng: Random) -> str:
    """Return a random word of *words* that is not in the sentence; empty if none is found."""
    sentence_words = set(shared_rules.list_words(text))
    tries = (rng.choice(words) for _ in range(_TRIES))
    return next((word for word in tries if word not in sentence_words), "")


def _sample_word(text: str, trained_words: set[str], rng: Random) -> str:
    """Return a random word of the sentence that occurs in training items, or the empty string."""
    words = [word for word in shared_rules.list_words(text) if not trained_words or word in trained_words]
    return rng.choice(words) if words else ""


def _assign_absent_words(texts: Sequence[str], words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with a word that is not in it; each word is used at most once.

    A word that is in the sentence waits for the next sentence; waiting words go first.
    """
    waiting: list[str] = []
    remaining = iter(words)
    for text in texts:
        sentence_words = set(shared_rules.list_words(text))
        word = next((candidate for candidate in waiting if candidate not in sentence_words), "")
        if word:
            waiting.remove(word)
        while not word:
            word = next(remaining, "")
            if not word:
                break
            if word in sentence_words:
                waiting.append(word)
                word = ""
        if word:
            yield text, word


TASK, *CONTROLS = shared_rules.make_adi_tasks(
    "AdiContent",
    select_adi_content,
    asks="is w in s?",
    slots=1,
    may_answer=give_reason(ABOUT_WORDS, Cue.BAG, Cue.NGRAMS, Cue.POSITION)
    | give_reason("a short sentence lacks more words; beat this figure", Cue.LENGTH),
)
