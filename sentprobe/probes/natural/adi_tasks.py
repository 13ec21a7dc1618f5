"""The tasks of Adi et al. 2017, section 3 (length, content, order), and controls that ask about changed sentences.

Each task has two controls. In "permuted", the tokens of each sentence are in random order. In "random", each token is
replaced by a token of any sentence or, with ``Sampling.PAPER``, by a random type. Words are compared in lower case.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from random import Random

from sentprobe.common.specs import ADI_BINS, TaskGroup
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, Split
from sentprobe.probes.datasets.known_task import ABOUT_ORDER, ABOUT_WORDS, Cue, Reasons, give_reason
from sentprobe.probes.datasets.records import Entry
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.changed_sentences import is_word
from sentprobe.probes.natural.natural_task import NaturalTask
from sentprobe.probes.natural.surface_tasks import ABOUT_LENGTH, HOW_LONG, format_bins, select_length_classes

LABELS = ("FALSE", "TRUE")
SlotWords = list[set[str]]
"""For each slot (first or second probe word), the set of words allowed in it; an empty set allows all words."""
WordItems = list[tuple[bool, str, tuple[str, ...]]]
"""Items as triples of label, sentence and probe words."""
WordAsker = Callable[[Sequence[str], SlotWords, Random], WordItems]
"""A function that builds a split's items from sentences, the words allowed in each slot, and a random generator."""
Change = Callable[[Sequence[str], Random], Mapping[str, str]]
"""A function that maps sentences to changed sentences of the same length; no two changed sentences are equal."""


def keep_sentences(texts: Sequence[str], _: Random) -> Mapping[str, str]:
    return {text: text for text in texts}


def change_sentences(texts: Sequence[str], request: selection.SelectionRequest, change: Change) -> Mapping[str, str]:
    """Map sentences to changed ones. With ``Sampling.PAPER``, random tokens are drawn regardless of their frequency."""
    if request.as_published and change is sample_corpus_words:
        change = sample_dictionary_words
    return change(texts, request.make_random("change"))


def select_word_items(
    request: selection.SelectionRequest, askers: tuple[WordAsker, WordAsker], change: Change, *, slots: int
) -> selection.Selection:
    """Return the items of AdiContent or AdiOrder; all probe words occur in training items. Raises TooFewError.

    Usually, the first function in *askers* builds the items: at most one from each sentence. With ``Sampling.PAPER``,
    the second does: from each sentence, it builds a TRUE item and a FALSE item, or none.
    """
    pool = request.select_pool(
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {ADI_BINS[0][0]} AND {ADI_BINS[-1][1]}",
        limit=2 * sum(map(request.size.count_items, Split)) + 100,
    )
    texts = list(change_sentences(request.corpus.read_texts(pool.handles), request, change).values())
    requested = selection.compute_class_share(request.size, classes=2)
    ask, sentences_per_pair = (askers[1], 1) if request.as_published else (askers[0], 2)
    counts = selection.scale_share(len(texts) // sentences_per_pair, requested)
    if counts is None:
        needed = sentences_per_pair * len(requested)
        raise selection.make_too_few_error(request.task, {"sentences": len(texts)}, needed=needed)
    words: SlotWords = [set() for _ in range(slots)]
    entries: list[Entry] = []
    for split in selection.list_splits(request.size):
        number = sentences_per_pair * counts[split]
        word_items = ask(texts[:number], words, request.make_random(split))
        texts = texts[number:]
        if not word_items:
            raise selection.make_too_few_error(request.task, {f"items in {split.value}": 0}, needed=2)
        entries += [
            Entry(split=split, label=LABELS[label], sentence=text, probes=probes) for label, text, probes in word_items
        ]
        # Training comes first (Split), so that the later splits ask only about words that it asks about.
        if split is Split.TRAIN:
            words = [set(column) for column in zip(*(probes for _, _, probes in word_items), strict=True)]
    items = Counter(entry.split for entry in entries)
    share = {split: items[split] // 2 for split in requested}
    times = "twice" if request.as_published else "once"
    why = f"each sentence is asked about {times}, and test asks about words of training"
    return selection.Selection(LABELS, tuple(entries), selection.describe_size(request, share, classes=2, why=why))


def list_words(text: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return [token.lower() for token in text.split(" ") if is_word(token)]


_TRIES = 200
"""Maximum number of attempts to change a sentence into one that is not used yet."""
_ABSENT_TRIES = 100
"""Maximum number of attempts to draw a word that is not in the sentence."""


def permute_tokens(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    def permute(text: str) -> str:
        tokens = text.split(" ")
        rng.shuffle(tokens)
        return " ".join(tokens)

    return _change_distinctly(texts, permute)


def sample_corpus_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Map each sentence to an equally long text, whose tokens are drawn at random from the tokens of all sentences."""
    tokens = [token for text in texts for token in text.split(" ")]
    return _change_distinctly(texts, lambda text: " ".join(rng.choices(tokens, k=text.count(" ") + 1)))


def sample_dictionary_words(texts: Sequence[str], rng: Random) -> Mapping[str, str]:
    """Map each sentence to a random text of equal length, drawn from all distinct tokens (Adi et al. 2017, sec. 7)."""
    types = sorted({token for text in texts for token in text.split(" ")})
    return _change_distinctly(texts, lambda text: " ".join(rng.choices(types, k=text.count(" ") + 1)))


def _change_distinctly(texts: Sequence[str], change: Callable[[str], str]) -> dict[str, str]:
    """Map each sentence to a changed version that no other sentence has; omit a sentence if _TRIES tries find none."""
    changed_texts: dict[str, str] = {}
    used: set[str] = set()
    for text in texts:
        tries = (change(text) for _ in range(_TRIES))
        if new := next((candidate for candidate in tries if candidate not in used), ""):
            changed_texts[text] = new
            used.add(new)
    return changed_texts


CHANGES: Mapping[str, Change] = {"permuted": permute_tokens, "random": sample_corpus_words}


def make_adi_tasks(
    name: str,
    rule: Callable[..., selection.Selection],
    *,
    asks: str,
    classes: str = "FALSE, TRUE",
    may_answer: Reasons,
    control_reasons: Reasons | None = None,
    slots: int = 0,
) -> list[NaturalTask]:
    """Return a task, and controls with changed sentences. *control_reasons* replaces *may_answer* in the controls."""
    task = NaturalTask(
        name=name,
        suite=TaskGroup.ADI,
        question_text=asks,
        classes=classes,
        preset="adi",
        words=ENCODER_WORDS,
        select_items=partial(rule, change=keep_sentences),
        slots=slots,
        may_answer=may_answer,
    )
    control = replace(task, suite=TaskGroup.CONTROLS, may_answer=control_reasons or may_answer)
    return [
        task,
        *(
            replace(control, name=f"{name}-{change_name}", select_items=partial(rule, change=change))
            for change_name, change in CHANGES.items()
        ),
    ]


def select_adi_length(request: selection.SelectionRequest, change: Change) -> selection.Selection:
    """Return the items of AdiLength, in 8 classes of sentence length; classes are balanced unless sampling is PAPER."""
    items = select_length_classes(request, ADI_BINS, balanced=not request.as_published)
    texts = change_sentences([entry.sentence for entry in items.entries], request, change)
    entries = (entry for entry in items.entries if entry.sentence in texts)
    return replace(items, entries=tuple(replace(e, sentence=texts[e.sentence]) for e in entries))


ADI_LENGTH = make_adi_tasks(
    "AdiLength", select_adi_length, asks=HOW_LONG, classes=", ".join(format_bins(ADI_BINS)), may_answer=ABOUT_LENGTH
)


def _make_single_content_items(texts: Sequence[str], trained_words: SlotWords, rng: Random) -> WordItems:
    """Return at most one item for each sentence; a probe word has as many positive as negative items.

    So the word alone does not reveal the answer, as it does in published sampling.
    """
    positives = [(text, word) for text in texts[::2] if (word := _sample_word(text, trained_words[0], rng))]
    words = [word for _, word in positives]
    rng.shuffle(words)
    # The words of the positives are dealt to the other sentences, so that each is as often absent as present.
    negatives = dict(_assign_absent_words(texts[1::2], words))
    negative_counts = Counter(negatives.values())
    items: WordItems = [(False, text, (word,)) for text, word in negatives.items()]
    for text, word in positives:
        if negative_counts[word]:
            negative_counts[word] -= 1
            items.append((True, text, (word,)))
    rng.shuffle(items)
    return items


def _make_paired_content_items(texts: Sequence[str], trained_words: SlotWords, rng: Random) -> WordItems:
    """Return two items for each sentence: one about a word in the sentence, one about a word that is not in it."""
    positives = [(text, word) for text in texts if (word := _sample_word(text, trained_words[0], rng))]
    words = [word for _, word in positives]
    items: WordItems = []
    for text, word in positives:
        sentence_words = set(list_words(text))
        tries = (rng.choice(words) for _ in range(_ABSENT_TRIES))
        absent_word = next((candidate for candidate in tries if candidate not in sentence_words), "")
        if absent_word:
            items += [(True, text, (word,)), (False, text, (absent_word,))]
    rng.shuffle(items)
    return items


def _sample_word(text: str, trained_words: set[str], rng: Random) -> str:
    """Return a random word of the sentence that is in *trained_words* (if empty: any word); "" if no word qualifies."""
    words = [word for word in list_words(text) if not trained_words or word in trained_words]
    return rng.choice(words) if words else ""


def _assign_absent_words(texts: Iterable[str], words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a sentence and a word that is not in it; use each entry of *words* at most once."""
    remaining = deque(words)
    for text in texts:
        sentence_words = set(list_words(text))
        word = next((candidate for candidate in remaining if candidate not in sentence_words), "")
        if word:
            remaining.remove(word)
            yield text, word


ADI_CONTENT = make_adi_tasks(
    "AdiContent",
    partial(select_word_items, askers=(_make_single_content_items, _make_paired_content_items), slots=1),
    asks="is w in s?",
    slots=1,
    may_answer=give_reason(ABOUT_WORDS, Cue.BAG, Cue.NGRAMS, Cue.POSITION)
    | give_reason("a short sentence lacks more words; beat this figure", Cue.LENGTH),
)


def _make_single_order_items(texts: Sequence[str], trained_words: SlotWords, rng: Random) -> WordItems:
    """Return at most one item for each sentence; half of the items name the words in the order of the sentence."""
    items: WordItems = []
    for text in texts:
        label = len(items) % 2 == 0
        pair = _sample_word_pair(text, trained_words, rng, forward=label)
        if pair is not None:
            items.append((label, text, pair))
    del items[len(items) // 2 * 2 :]
    rng.shuffle(items)
    return items


def _make_paired_order_items(texts: Sequence[str], trained_words: SlotWords, rng: Random) -> WordItems:
    """Return two items for each sentence: two of its words in their order, and the same words reversed."""
    items: WordItems = []
    for text in texts:
        pair = _sample_word_pair(text, trained_words, rng, forward=True)
        if pair is not None:
            items += [(True, text, pair), (False, text, (pair[1], pair[0]))]
    rng.shuffle(items)
    return items


def _sample_word_pair(text: str, trained_words: SlotWords, rng: Random, *, forward: bool) -> tuple[str, str] | None:
    words = list_words(text)
    # Of a word that occurs twice, it would not be clear whether it comes first.
    unique_words = [word for word in words if words.count(word) == 1]
    pairs = [
        pair
        for earlier, later in combinations(unique_words, 2)
        for pair in [(earlier, later) if forward else (later, earlier)]
        if all(not slot or word in slot for word, slot in zip(pair, trained_words, strict=True))
    ]
    return rng.choice(pairs) if pairs else None


_ORDER_REASONS = give_reason(ABOUT_ORDER, Cue.NGRAMS, Cue.POSITION)

ADI_ORDER = make_adi_tasks(
    "AdiOrder",
    partial(select_word_items, askers=(_make_single_order_items, _make_paired_order_items), slots=2),
    asks="the words w and w' are in s; does w come first?",
    slots=2,
    may_answer=_ORDER_REASONS
    | give_reason(
        "of many two words, one is usually first in text; beat this figure", *(Cue.PROBE, Cue.LENGTH, Cue.BAG)
    ),
    # In random sentences, no two words have a usual order.
    control_reasons=_ORDER_REASONS,
)
