"""Which words each split of a compeval task has, and what is kept for test."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from random import Random

from sentprobe.errors import UsageError, counted
from sentprobe.lexicon import Flag, Kind, Lexicon
from sentprobe.probes.compeval.items import Probe
from sentprobe.probes.dataset import Split, TooFewError

WordsByKind = Mapping[Kind, Sequence[str]]
"""The lemmas of a vocabulary by kind."""


BySplit = Mapping[Split, tuple[Probe, ...]]

MAX_NOUNS = 12
MAX_TRANSITIVE = 9
MAX_INTRANSITIVE = 3
"""Of a large vocabulary so many words are probed.

An intransitive verb goes with few structures: these would be too frequent if more were probed.
"""


def usable_words(lexicon: Lexicon, vocabulary: str) -> WordsByKind:
    """Return the words of a vocabulary, less those that are only generated when asked for."""
    return {
        kind: [lemma for lemma in lemmas if Flag.SYNCRETIC not in lexicon.get(lemma, kind).flags]
        for kind, lemmas in lexicon.vocabulary(vocabulary).words.items()
    }


def verb_probes(words: WordsByKind, *, rng: Random) -> BySplit:
    """Return the verbs to probe, the same in each split."""
    probes: tuple[Probe, ...] = tuple((verb,) for verb in _verbs(words, rng))
    return dict.fromkeys(Split, probes)


def pair_probes(
    words: WordsByKind, *, rng: Random, task: str, absent: bool, validation: bool = False
) -> BySplit:
    """Return pairs of noun and verb: none both in training and in test, but every word in both.

    With *validation*, a second set of pairs is held out for it. Where that would leave a word
    without a pair in training, validation has those of training. *absent* says whether the task
    also needs sentences without the verb.

    Raises:
        TooFewError: there are too few words for that.
    """
    verbs = _verbs(words, rng)
    nouns = _sample(words[Kind.NOUN], MAX_NOUNS, rng)
    if len(nouns) < 2 or len(verbs) < 2:
        found = f"{counted(len(nouns), 'noun')} and {counted(len(verbs), 'verb')}"
        raise TooFewError(
            f"{task}: the vocabulary has {found}; holding out pairs takes at least two of each"
        )

    def trained(held_out: Sequence[Probe]) -> list[Probe]:
        return [
            (noun, verb)
            for noun, verb in product(nouns, verbs)
            if (noun, verb) not in held_out
            if not absent or _leaves_a_verb(words, noun, verb, held_out)
        ]

    test = _diagonal(nouns, verbs, 0)
    second = [pair for pair in _diagonal(nouns, verbs, 1) if pair not in test] if validation else []
    train = trained([*test, *second])
    if second and {word for pair in train for word in pair} != {*nouns, *verbs}:
        train = second = trained(test)
    return {
        Split.TRAIN: evenly(train),
        Split.VALIDATION: evenly(second),
        Split.TEST: evenly(test),
    }


def _diagonal(nouns: Sequence[str], verbs: Sequence[str], shift: int) -> list[Probe]:
    """Return pairs in which every word is, and no word more often than it must be."""
    longer = max(len(nouns), len(verbs))
    return [(nouns[i % len(nouns)], verbs[(i + shift) % len(verbs)]) for i in range(longer)]


def _leaves_a_verb(words: WordsByKind, noun: str, verb: str, held_out: Sequence[Probe]) -> bool:
    """Say whether *noun* may occur without *verb*, but with one of its kind, in training.

    There it may not occur with the verbs that are held out with it. When these are all others of
    the kind, no sentence of the same structure lacks the verb.
    """
    kinds = [kind for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE) if verb in words[kind]]
    others = [{*words[kind]} - {verb} for kind in kinds]
    return not any(left and left <= {v for n, v in held_out if n == noun} for left in others)


def _verbs(words: WordsByKind, rng: Random) -> list[str]:
    transitive = _sample(words[Kind.TRANSITIVE], MAX_TRANSITIVE, rng)
    intransitive = _sample(words[Kind.INTRANSITIVE], MAX_INTRANSITIVE, rng)
    return list(dict.fromkeys((*transitive, *intransitive)))


def _sample(words: Sequence[str], limit: int, rng: Random) -> list[str]:
    return rng.sample(list(words), min(limit, len(words)))


def evenly(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """Order the probes so that each next one has the words that were used least until then.

    >>> evenly([("man", "call"), ("man", "help"), ("doctor", "call"), ("doctor", "help")])
    (('man', 'call'), ('doctor', 'help'), ('man', 'help'), ('doctor', 'call'))
    """
    left, ordered = list(probes), list[Probe]()
    uses: Counter[str] = Counter()
    while left:
        probe = min(left, key=lambda words: sum(uses[word] for word in words))
        left.remove(probe)
        ordered.append(probe)
        uses.update(probe)
    return tuple(ordered)


def first_probes(probes: BySplit, *, units: Mapping[Split, int], task: str) -> BySplit:
    """Return as many probes of each split as it has units for.

    Raises:
        TooFewItemsError: training would lack a word that another split has.
    """
    chosen = {split: probes[split][:count] for split, count in units.items()}
    seen = {word for probe in chosen[Split.TRAIN] for word in probe}
    for split, asked in chosen.items():
        unseen = {word for probe in asked for word in probe} - seen
        if unseen:
            raise too_few_in_training(task, split, len(unseen))
    return chosen


def of_words(probes: BySplit, trained: Sequence[Probe]) -> BySplit:
    """Return the probes with those of training replaced, and of the others those of its words."""
    known = {word for probe in trained for word in probe}
    kept = {s: tuple(p for p in asked if known.issuperset(p)) for s, asked in probes.items()}
    return {**kept, Split.TRAIN: tuple(trained)}


class TooFewItemsError(TooFewError, UsageError):
    """A task cannot be built: it was asked for with too few items."""


def too_few_in_training(task: str, split: Split, unseen: int) -> TooFewItemsError:
    """Return the error that training lacks so many of the split's probe words."""
    return TooFewItemsError(
        f"{task}: too few training items for every probe word of the {split.value} items to be in "
        f"training ({unseen} would not be); ask for more of them"
    )


MIN_ADVERBS = 4
"""A sentence of Negation has up to four adverbs, all different."""


def split_adverbs(
    lexicon: Lexicon, vocabulary: str, *, rng: Random, task: str, validation: bool = False
) -> Mapping[Split, Lexicon]:
    """Return a lexicon for each split, in which the vocabulary lacks the other splits' adverbs.

    A quarter of the adverbs are test's, and with *validation* another quarter that split's. Where
    there are too few for that, validation has those of training.

    Raises:
        TooFewError: there are too few for training and test.
    """
    chosen = lexicon.vocabulary(vocabulary)
    adverbs = _sample(chosen.words[Kind.ADVERB], len(chosen.words[Kind.ADVERB]), rng)
    if len(adverbs) < 2 * MIN_ADVERBS:
        raise TooFewError(
            f"{task}: the vocabulary has {counted(len(adverbs), 'adverb')}; "
            f"holding some out takes at least {2 * MIN_ADVERBS}"
        )
    cut = max(MIN_ADVERBS, len(adverbs) // 4)
    second = cut if validation and len(adverbs) >= 2 * cut + MIN_ADVERBS else 0
    parts = {Split.TEST: adverbs[:cut], Split.TRAIN: adverbs[cut + second :]}
    parts |= {Split.VALIDATION: adverbs[cut : cut + second]} if second else {}
    lexicons = {
        split: lexicon.with_words(vocabulary, {Kind.ADVERB: words})
        for split, words in parts.items()
    }
    return {Split.VALIDATION: lexicons[Split.TRAIN], **lexicons}


def with_probed_words(lexicon: Lexicon, vocabulary: str, probes: Iterable[Probe]) -> Lexicon:
    """Return the lexicon, with no verbs in the vocabulary but those probed; of nouns likewise.

    Where no nouns are probed, all are left.
    """
    pairs = [*probes]
    verbs = {probe[-1] for probe in pairs}
    nouns = {probe[0] for probe in pairs if len(probe) > 1}
    words = usable_words(lexicon, vocabulary)
    kept = {kind: verbs for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE)}
    kept |= {Kind.NOUN: nouns} if nouns else {}
    return lexicon.with_words(
        vocabulary,
        {kind: [lemma for lemma in words[kind] if lemma in only] for kind, only in kept.items()},
    )
