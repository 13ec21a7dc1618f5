"""Choice of the probe words and lexicon of each split. Some noun-verb pairs or some adverbs are held out for test."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from random import Random

from sentprobe.errors import UsageError, format_count
from sentprobe.lexicon import Flag, Kind, Lexicon
from sentprobe.lexicon.sorts import restrict_to_one_sort
from sentprobe.probes.compeval.items import Probe
from sentprobe.probes.dataset import Split, TooFewError

WordsByKind = Mapping[Kind, Sequence[str]]
ProbesBySplit = Mapping[Split, tuple[Probe, ...]]
MAX_WORDS = {Kind.NOUN: 12, Kind.TRANSITIVE: 9, Kind.INTRANSITIVE: 3, Kind.DITRANSITIVE: 9, Kind.ADJECTIVE: 12}
"""Maximum number of probe words of each kind.

Intransitive verbs occur in few structures. With more intransitive probe words, these structures would be too frequent.
"""


def select_usable_words(lexicon: Lexicon, vocabulary: str) -> WordsByKind:
    """Return a vocabulary's lemmas by kind: only nouns of its main sort, and no verbs like *hit* (past: *hit*)."""
    vocabulary_words = dict(lexicon.vocabulary(vocabulary).words)
    vocabulary_words[Kind.NOUN] = restrict_to_one_sort(lexicon, vocabulary).vocabulary(vocabulary).words[Kind.NOUN]
    return {
        kind: [lemma for lemma in lemmas if Flag.SYNCRETIC not in lexicon.get(lemma, kind).flags]
        for kind, lemmas in vocabulary_words.items()
    }


def select_probes(words: WordsByKind, kinds: Sequence[Kind], *, rng: Random) -> ProbesBySplit:
    """Sample probe words of *kinds*. Every split gets all of them as 1-tuples. Without *kinds*, it gets only ``()``."""
    probes: tuple[Probe, ...] = tuple((word,) for word in _sample_probed(words, kinds, rng)) if kinds else ((),)
    return dict.fromkeys(Split, probes)


VERB_KINDS = (Kind.TRANSITIVE, Kind.INTRANSITIVE)


def build_pairs(
    words: WordsByKind, kinds: Sequence[Kind] = VERB_KINDS, *, rng: Random, task: str, absent: bool, validation: bool
) -> ProbesBySplit:
    """Return, for each split, the pairs of a noun and a word of *kinds* that its items ask about. Raises TooFewError.

    Every probe word is in a test pair, and no test pair is in another split. With *validation*, no validation pair is
    in training. If training would then lack a probe word, training and validation have the same pairs. *absent*
    means that some sentences have the noun of a pair with another verb. Training omits a pair without such a verb.
    """
    verbs = _sample_probed(words, kinds, rng)
    nouns = _sample_probed(words, (Kind.NOUN,), rng)
    if len(nouns) < 2 or len(verbs) < 2:
        names = {Kind.ADJECTIVE: "adjective", Kind.DITRANSITIVE: "ditransitive verb"}
        name = names.get(kinds[0], "verb")
        counts = f"{format_count(len(nouns), 'noun')} and {format_count(len(verbs), name)}"
        raise TooFewError(f"{task}: the vocabulary has {counts}; holding out pairs takes at least two of each")

    def list_training_pairs(excluded: Sequence[Probe]) -> list[Probe]:
        return [
            (noun, verb)
            for noun, verb in product(nouns, verbs)
            if (noun, verb) not in excluded
            if not absent or _has_alternative_verb(words, noun, verb, excluded)
        ]

    test = _pair_diagonally(nouns, verbs, 0)
    validation_pairs = [pair for pair in _pair_diagonally(nouns, verbs, 1) if pair not in test] if validation else []
    train = list_training_pairs([*test, *validation_pairs])
    if validation_pairs and {word for pair in train for word in pair} != {*nouns, *verbs}:
        train = validation_pairs = list_training_pairs(test)
    pairs = {Split.TRAIN: train, Split.VALIDATION: validation_pairs, Split.TEST: test}
    return {split: order_evenly(split_pairs) for split, split_pairs in pairs.items()}


def _pair_diagonally(nouns: Sequence[str], verbs: Sequence[str], shift: int) -> list[Probe]:
    """Return a smallest set of pairs in which every noun and verb occurs; *shift* selects one of several such sets."""
    longer = max(len(nouns), len(verbs))
    return [(nouns[i % len(nouns)], verbs[(i + shift) % len(verbs)]) for i in range(longer)]


def _has_alternative_verb(words: WordsByKind, noun: str, verb: str, held_out: Sequence[Probe]) -> bool:
    """Check whether a training sentence can have *noun* with another verb of the same kind as *verb*."""
    kinds = [kind for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE) if verb in words[kind]]
    alternatives = [{*words[kind]} - {verb} for kind in kinds]
    return not any(verbs and verbs <= {v for n, v in held_out if n == noun} for verbs in alternatives)


def _sample_probed(words: WordsByKind, kinds: Sequence[Kind], rng: Random) -> list[str]:
    samples = [rng.sample(words[kind], min(MAX_WORDS[kind], len(words[kind]))) for kind in kinds]
    return list(dict.fromkeys(chain.from_iterable(samples)))


def order_evenly(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """Order tuples of probe words so that the words of each tuple occur as rarely as possible in the tuples before.

    >>> order_evenly([("man", "call"), ("man", "help"), ("doctor", "call"), ("doctor", "help")])
    (('man', 'call'), ('doctor', 'help'), ('man', 'help'), ('doctor', 'call'))
    """
    remaining, ordered = list(probes), list[Probe]()
    uses: Counter[str] = Counter()
    while remaining:
        probe = min(remaining, key=lambda words: sum(uses[word] for word in words))
        remaining.remove(probe)
        ordered.append(probe)
        uses.update(probe)
    return tuple(ordered)


def check_probe_words_trained(probes: Mapping[Split, Iterable[Probe]], *, task: str) -> None:
    """Raise TooFewItemsError if a probe word of a validation or test item is not a probe word of any training item."""
    words = {split: {word for probe in split_probes for word in probe} for split, split_probes in probes.items()}
    for split, split_words in words.items():
        if unseen := len(split_words - words[Split.TRAIN]):
            raise TooFewItemsError(
                f"{task}: too few training items for every probe word of the {split.value} items to be in "
                f"training ({unseen} would not be); ask for more of them"
            )


def restrict_to_trained_words(probes: ProbesBySplit, trained: Sequence[Probe]) -> ProbesBySplit:
    """Return *trained* as training probes; other splits keep the probes whose words all occur in *trained*."""
    words = {word for probe in trained for word in probe}
    restricted = {s: tuple(p for p in split_probes if words.issuperset(p)) for s, split_probes in probes.items()}
    return {**restricted, Split.TRAIN: tuple(trained)}


class TooFewItemsError(TooFewError, UsageError):
    """The requested number of items is too small for the task."""


MIN_ADVERBS = 4
"""Minimum number of adverbs in a split, since a sentence of Negation has up to four different adverbs."""


def split_adverbs(
    lexicon: Lexicon, vocabulary: str, *, rng: Random, task: str, validation: bool = False
) -> Mapping[Split, Lexicon]:
    """Return a lexicon for each split; training lacks the adverbs of test. Raises TooFewError.

    Test has a quarter of the adverbs, but at least MIN_ADVERBS. With *validation*, validation has its own adverbs, as
    many as test. Otherwise, or if the vocabulary has too few adverbs, validation has the training adverbs.
    """
    all_adverbs = lexicon.vocabulary(vocabulary).words[Kind.ADVERB]
    adverbs = rng.sample(all_adverbs, len(all_adverbs))
    if len(adverbs) < 2 * MIN_ADVERBS:
        raise TooFewError(
            f"{task}: the vocabulary has {format_count(len(adverbs), 'adverb')}; "
            f"holding some out takes at least {2 * MIN_ADVERBS}"
        )
    share = max(MIN_ADVERBS, len(adverbs) // 4)
    validation_share = share if validation and len(adverbs) >= 2 * share + MIN_ADVERBS else 0
    parts = {Split.TEST: adverbs[:share], Split.TRAIN: adverbs[share + validation_share :]}
    parts |= {Split.VALIDATION: adverbs[share : share + validation_share]} if validation_share else {}
    lexicons = {split: lexicon.replace_words(vocabulary, {Kind.ADVERB: words}) for split, words in parts.items()}
    return {Split.VALIDATION: lexicons[Split.TRAIN], **lexicons}


def restrict_to_probed_words(lexicon: Lexicon, vocabulary: str, probes: Sequence[Probe]) -> Lexicon:
    """Limit a lexicon's nouns, transitives and intransitives to probe words. If no noun is probed, all nouns stay."""
    verbs = {probe[-1] for probe in probes}
    nouns = {probe[0] for probe in probes if len(probe) > 1}
    words = select_usable_words(lexicon, vocabulary)
    probed = {kind: verbs for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE)}
    probed |= {Kind.NOUN: nouns} if nouns else {}
    return lexicon.replace_words(
        vocabulary, {kind: [lemma for lemma in words[kind] if lemma in allowed] for kind, allowed in probed.items()}
    )
