"""What the tasks of Adi et al. 2017, section 3, have in common: a question, and two controls.

Each sentence is asked about once, or as published twice: an item of each label about it. Words are
compared in lower case, and punctuation is no word.

PERMUTED sentences have the tokens of the sentence in a random order, RANDOM ones the same number of
random tokens of the corpus (as frequent as there; as published, each type as often as another).
What is asked is asked about the sentence that then stands there: a question about the one before
would keep the usual order of its two words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Protocol

from sentprobe.lengths import ADI_BINS
from sentprobe.probes.dataset import OWN_WORDS, Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.known_task import Reasons
from sentprobe.probes.natural import select
from sentprobe.probes.natural.pairs import is_word
from sentprobe.probes.natural.task import NaturalTask, TaskGroup

LABELS = ("FALSE", "TRUE")

Slots = list[set[str]]
"""The words that each slot has in training; empty while training itself is made."""

AskedWords = list[tuple[bool, str, tuple[str, ...]]]
"""Items: label, sentence, probe words."""

Asker = Callable[[Sequence[str], Slots, Random], AskedWords]
"""From the sentences of a split to its items."""


@dataclass(frozen=True, slots=True)
class AdiQuestion:
    """How a task asks about words."""

    slots: int
    """How many probe words an item has."""
    once: Asker
    """Asks about each sentence once, about words of training."""
    twice: Asker
    """Asks about each sentence with either label, about words of training."""


Change = Callable[[Sequence[str], Random], Mapping[str, str]]
"""From sentences to what stands in the place of each, as many tokens, no two the same."""


class AdiRule(Protocol):
    """A rule that can ask about changed sentences."""

    def __call__(self, draw: select.Draw, change: Change) -> select.Selection:
        """Return the items of a task."""


def unchanged(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return the sentences themselves."""
    del rng
    return {text: text for text in texts}


def changed(texts: Sequence[str], draw: select.Draw, change: Change) -> Mapping[str, str]:
    """Return what stands in the place of each sentence."""
    as_asked = _AS_PUBLISHED.get(change, change) if draw.as_published else change
    return as_asked(texts, draw.random("change"))


def asked_selection(draw: select.Draw, question: AdiQuestion, change: Change) -> select.Selection:
    """Return a task that asks about words; validation and test ask about words of training.

    As published there are two items of each sentence.

    Raises:
        TooFewError: a split has no sentence that can be asked about.
    """
    pool = draw.pool(
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {ADI_BINS[0][0]} AND {ADI_BINS[-1][1]}",
        limit=2 * draw.total + 100,
    )
    texts = list(changed(draw.corpus.texts(pool.handles), draw, change).values())
    wanted = select.wanted_share(draw.size, classes=2)
    ask, each = (question.twice, 1) if draw.as_published else (question.once, 2)
    got = select.share_out(len(texts) // each, wanted)
    if got is None:
        raise select.too_few(draw.task, {"sentences": len(texts)}, needed=each * len(wanted))
    words: Slots = [set() for _ in range(question.slots)]
    entries: list[Entry] = []
    for split in select.splits_of(draw.size):
        part, texts = texts[: each * got[split]], texts[each * got[split] :]
        asked = ask(part, words, draw.random(split))
        if not asked:
            raise select.too_few(draw.task, {f"items in {split.value}": 0}, needed=2)
        entries += [
            select.item(split, LABELS[label], text, probes) for label, text, probes in asked
        ]
        if split is Split.TRAIN:
            words = [set(column) for column in zip(*(each[2] for each in asked), strict=True)]
    share = select.Share(wanted, {split: _per_class(entries, split) for split in wanted})
    times = "twice" if draw.as_published else "once"
    why = f"each sentence is asked about {times}, and test asks about words of training"
    return select.Selection(
        LABELS, tuple(entries), select.size_notes(draw, share, classes=2, why=why)
    )


def _per_class(entries: Sequence[Entry], split: Split) -> int:
    return sum(entry.split is split for entry in entries) // 2


def words_of(text: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return [token.lower() for token in text.split(" ") if is_word(token)]


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


def dictionary_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return for each sentence as many random words of the dictionary, each as likely as another.

    Adi et al. 2017, section 7. The dictionary is that of the sentences that were drawn.
    """
    types = sorted({token for text in texts for token in text.split(" ")})
    return _distinct(texts, lambda text: " ".join(rng.choices(types, k=text.count(" ") + 1)))


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


CHANGES: Mapping[str, Change] = {"permuted": permuted, "random": random_words}
"""The controls of each task."""

_AS_PUBLISHED: Mapping[Change, Change] = {random_words: dictionary_words}
"""What the paper did instead."""


def adi_tasks(
    name: str,
    draw: AdiRule,
    *,
    asks: str,
    classes: str = "FALSE, TRUE",
    may_answer: Reasons,
    of_controls: Reasons | None = None,
    slots: int = 0,
) -> list[NaturalTask]:
    """Return a task and its controls; *of_controls* None: the same cues may answer these."""

    def task(name: str, suite: TaskGroup, change: Change, reasons: Reasons) -> NaturalTask:
        return NaturalTask(
            name=name,
            suite=suite,
            asks=asks,
            classes=classes,
            preset="adi",
            words=OWN_WORDS,
            draw=partial(draw, change=change),
            slots=slots,
            may_answer=reasons,
        )

    others = may_answer if of_controls is None else of_controls
    return [
        task(name, TaskGroup.ADI, unchanged, may_answer),
        *(task(f"{name}-{what}", TaskGroup.CONTROLS, CHANGES[what], others) for what in CHANGES),
    ]
