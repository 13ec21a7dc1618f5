"""Rules shared by the tasks of Adi et al. 2017, section 3: questions about words, and two controls.

A sentence has one item or, with sampling as published, two: one of each label. Words are compared in lower case, and
punctuation is no word.

PERMUTED sentences have their tokens in a random order. RANDOM sentences consist of as many random tokens, drawn by
corpus frequency (as published: each type equally often). Items ask about the changed sentence, since two words of the
original sentence would be in their usual order.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Protocol

from sentprobe.lengths import ADI_BINS
from sentprobe.probes.dataset import ENCODER_WORDS, Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.known_task import Reasons
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.changed_sentences import is_word
from sentprobe.probes.natural.natural_task import NaturalTask, TaskGroup

LABELS = ("FALSE", "TRUE")

SlotWords = list[set[str]]
"""Training words of each slot; empty while the training items are built."""

WordItems = list[tuple[bool, str, tuple[str, ...]]]
"""Items: label, sentence, probe words."""

WordAsker = Callable[[Sequence[str], SlotWords, Random], WordItems]
"""A function from the sentences of a split to its items."""


@dataclass(frozen=True, slots=True)
class AdiQuestion:
    """The number of probe words of a task, and the functions that make its items."""

    slots: int
    """Number of probe words of an item."""
    make_one_item: WordAsker
    """Makes one item from each sentence; the probe words also occur in training."""
    make_two_items: WordAsker
    """Makes two items from each sentence, one per label; the probe words also occur in training."""


Change = Callable[[Sequence[str], Random], Mapping[str, str]]
"""A function from sentences to distinct replacements, each with as many tokens as the sentence."""


class AdiRule(Protocol):
    """A rule that can ask about changed sentences."""

    def __call__(self, request: selection.SelectionRequest, change: Change) -> selection.Selection:
        """Return the items of a task."""


def keep_sentences(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return the sentences themselves."""
    del rng
    return {text: text for text in texts}


def change_sentences(texts: Sequence[str], request: selection.SelectionRequest, change: Change) -> Mapping[str, str]:
    """Return the replacement of each sentence; as published, random words come from the dictionary."""
    if request.as_published and change is sample_corpus_words:
        change = sample_dictionary_words
    return change(texts, request.make_random("change"))


def select_word_items(
    request: selection.SelectionRequest, question: AdiQuestion, change: Change
) -> selection.Selection:
    """Return the items of a task about words; validation and test ask about words of training. Raises TooFewError.

    As published there are two items of each sentence.
    """
    pool = request.select_pool(
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {ADI_BINS[0][0]} AND {ADI_BINS[-1][1]}",
        limit=2 * request.total + 100,
    )
    texts = list(change_sentences(request.corpus.read_texts(pool.handles), request, change).values())
    requested = selection.compute_class_share(request.size, classes=2)
    ask, sentences_per_pair = (question.make_two_items, 1) if request.as_published else (question.make_one_item, 2)
    counts = selection.scale_share(len(texts) // sentences_per_pair, requested)
    if counts is None:
        raise selection.make_too_few_error(
            request.task, {"sentences": len(texts)}, needed=sentences_per_pair * len(requested)
        )
    words: SlotWords = [set() for _ in range(question.slots)]
    entries: list[Entry] = []
    for split in selection.list_splits(request.size):
        split_texts, texts = (texts[: sentences_per_pair * counts[split]], texts[sentences_per_pair * counts[split] :])
        word_items = ask(split_texts, words, request.make_random(split))
        if not word_items:
            raise selection.make_too_few_error(request.task, {f"items in {split.value}": 0}, needed=2)
        entries += [selection.make_entry(split, LABELS[label], text, probes) for label, text, probes in word_items]
        if split is Split.TRAIN:
            words = [set(column) for column in zip(*(question_item[2] for question_item in word_items), strict=True)]
    split_counts = Counter(entry.split for entry in entries)
    share = selection.ClassShare(requested, {split: split_counts[split] // 2 for split in requested})
    times = "twice" if request.as_published else "once"
    why = f"each sentence is asked about {times}, and test asks about words of training"
    return selection.Selection(LABELS, tuple(entries), selection.describe_size(request, share, classes=2, why=why))


def list_words(text: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return [token.lower() for token in text.split(" ") if is_word(token)]


_TRIES = 200


def permute_tokens(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return each sentence with its tokens in a random order."""

    def permute(text: str) -> str:
        tokens = text.split(" ")
        rng.shuffle(tokens)
        return " ".join(tokens)

    return _change_distinctly(texts, permute)


def sample_corpus_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return, for each sentence, random tokens of all sentences, as many as it has tokens."""
    tokens = [token for text in texts for token in text.split(" ")]
    return _change_distinctly(texts, lambda text: " ".join(rng.choices(tokens, k=text.count(" ") + 1)))


def sample_dictionary_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Return, for each sentence, random types of all sentences (equally likely), as many as it has tokens.

    Adi et al. 2017, section 7. The dictionary consists of the drawn sentences.
    """
    types = sorted({token for text in texts for token in text.split(" ")})
    return _change_distinctly(texts, lambda text: " ".join(rng.choices(types, k=text.count(" ") + 1)))


def _change_distinctly(texts: Sequence[str], change: Callable[[str], str]) -> dict[str, str]:
    """Return distinct replacements; *change* returns candidates, and a sentence without a new one is left out."""
    changed_texts: dict[str, str] = {}
    used: set[str] = set()
    for text in texts:
        tries = (change(text) for _ in range(_TRIES))
        new = next((candidate for candidate in tries if candidate not in used), None)
        if new is not None:
            changed_texts[text] = new
            used.add(new)
    return changed_texts


CHANGES: Mapping[str, Change] = {"permuted": permute_tokens, "random": sample_corpus_words}
"""The controls of each task."""


def make_adi_tasks(
    name: str,
    rule: AdiRule,
    *,
    asks: str,
    classes: str = "FALSE, TRUE",
    may_answer: Reasons,
    control_reasons: Reasons | None = None,
    slots: int = 0,
) -> list[NaturalTask]:
    """Return a task and its controls; *control_reasons* None: the same as *may_answer*."""

    def make_task(name: str, suite: TaskGroup, change: Change, reasons: Reasons) -> NaturalTask:
        return NaturalTask(
            name=name,
            suite=suite,
            question_text=asks,
            classes=classes,
            preset="adi",
            words=ENCODER_WORDS,
            select_items=partial(rule, change=change),
            slots=slots,
            may_answer=reasons,
        )

    effective_reasons = may_answer if control_reasons is None else control_reasons
    return [
        make_task(name, TaskGroup.ADI, keep_sentences, may_answer),
        *(
            make_task(f"{name}-{change_name}", TaskGroup.CONTROLS, CHANGES[change_name], effective_reasons)
            for change_name in CHANGES
        ),
    ]
