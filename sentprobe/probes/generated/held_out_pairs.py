"""Choice of the probe words and lexicon of each split. Some noun-verb pairs or some adverbs are held out for test.

Structures that can be held out of training, such as the passive, defined by partial events.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, combinations, product
from random import Random

from sentprobe.common.errors import UsageError, format_count, suggest
from sentprobe.generator.events import event as ev
from sentprobe.lexicon import Flag, Kind, Lexicon
from sentprobe.lexicon.lexicon import restrict_to_one_sort
from sentprobe.probes.datasets.dataset import TRAINED, Split, TooFewError, name_structure_part
from sentprobe.probes.generated.items import ALL_SENTENCES, Part, Probe, Questions


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure that can be held out of training."""

    name: str
    description: str
    events: tuple[ev.Event, ...]
    """A sentence has the structure if its main clause or a relative clause matches one of these partial events."""


def _build_noun_events(person: ev.Participant) -> tuple[ev.Event, ...]:
    return ev.Event(agent=person), ev.Event(patient=person)


def _build_relative_events(kind: ev.ClauseKind | None) -> tuple[ev.Event, ...]:
    return _build_noun_events(ev.Participant(clause=ev.RelativeClause(event=ev.Event(), kind=kind)))


STRUCTURES: Mapping[str, Structure] = {
    structure.name: structure
    for structure in (
        Structure("passive", "a passive clause", (ev.Event(voice=ev.Voice.PASSIVE),)),
        Structure("relative", "a relative clause", _build_relative_events(None)),
        Structure("subject-relative", "a subject relative", _build_relative_events(ev.ClauseKind.SUBJECT)),
        Structure("object-relative", "an object relative", _build_relative_events(ev.ClauseKind.OBJECT)),
        Structure("progressive", "a progressive verb", (ev.Event(aspect=ev.Aspect.PROGRESSIVE),)),
        Structure("negated", "a negated verb", (ev.Event(polarity=ev.Polarity.NEGATIVE),)),
        Structure("past", "a verb in the past tense", (ev.Event(tense=ev.Tense.PAST),)),
        Structure("plural", "a plural noun", _build_noun_events(ev.Participant(number=ev.Number.PLURAL))),
        Structure("intransitive", "an intransitive verb", (ev.Event(frame=ev.Frame.INTRANSITIVE),)),
    )
}


def find_structure(name: str) -> Structure:
    """Return the structure *name*. Raises UsageError for an unknown name."""
    if name not in STRUCTURES:
        raise UsageError(
            f"there is no structure {name!r}{suggest(name, STRUCTURES)} to hold out; "
            f"the structures are {', '.join(STRUCTURES)}"
        )
    return STRUCTURES[name]


def list_test_parts(held_out: Structure | None) -> tuple[Part, ...]:
    """Return the two parts of the test items, with and without the structure; if *held_out* is None, one part."""
    if held_out is None:
        return (ALL_SENTENCES,)
    return Part(name=name_structure_part(held_out.name), having=held_out.events), get_trained_part(held_out)


def get_trained_part(held_out: Structure | None) -> Part:
    """Return the part for training and validation: sentences without *held_out*, or all sentences if it is None."""
    return ALL_SENTENCES if held_out is None else Part(name=TRAINED, lacking=held_out.events)


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
MANY_NOUNS = 10
"""From this number of nouns, each verb holds out three of them, so that test has more pairs; below, two."""
MIN_BLOCKS = 4
"""Validation gets pairs of its own if there are at least so many blocks. With fewer, training would have few nouns."""


def build_pairs(
    words: WordsByKind,
    kinds: Sequence[Kind] = VERB_KINDS,
    *,
    rng: Random,
    task: str,
    validation: bool,
    find_class: Callable[[str], str],
    share: int | None,
) -> ProbesBySplit:
    """Return, for each split, the pairs of a noun and a word of *kinds* that its items ask about. Raises TooFewError.

    No test pair is in another split. With *validation*, validation has its own pairs, or those of training if there
    are few nouns.

    - find_class: returns the class of a noun, such as its gender; nouns of different classes cannot change places
    - share: the number of nouns that each verb holds out; None: two, three with many nouns, or one with three nouns
    """
    verbs = _sample_probed(words, kinds, rng)
    nouns = _sample_probed(words, (Kind.NOUN,), rng)
    classes: dict[str, list[str]] = {}
    for noun in nouns:
        classes.setdefault(find_class(noun), []).append(noun)
    largest = max(map(len, classes.values()), default=0)
    if largest < 3 - (share == 1) or len(verbs) < 2:
        names = {Kind.ADJECTIVE: "adjective", Kind.DITRANSITIVE: "ditransitive verb"}
        counts = f"{format_count(largest, 'noun')} and {format_count(len(verbs), names.get(kinds[0], 'verb'))}"
        of_class = " that can change places" if len(classes) > 1 else ""
        raise TooFewError(
            f"{task}: the vocabulary has {counts}{of_class}; "
            "holding out pairs takes at least three nouns and two others"
        )
    share = share or (1 if largest == 3 else 3 if len(nouns) >= MANY_NOUNS and largest >= 6 else 2)
    # Verbs of a block hold out the same nouns, so that a training sentence of two such verbs lacks few nouns. Each
    # block has verbs of all kinds: a noun whose transitive verbs were all held out could stand beside no other noun.
    blocks = [members[at : at + share] for members in classes.values() for at in range(0, len(members), share)]
    # A shorter block at the end of a class would hold out fewer pairs of some verbs.
    blocks = [block for block in blocks if len(block) == share]

    def pair(shift: int) -> list[Probe]:
        return [(noun, verb) for at, verb in enumerate(verbs) for noun in blocks[(at + shift) % len(blocks)]]

    # Validation takes the block after a verb's block in test, so that the two share no pair.
    test = pair(0)
    has_own = validation and len(blocks) >= MIN_BLOCKS
    own = pair(1) if has_own else []
    train = [probe for probe in product(nouns, verbs) if probe not in test and probe not in own]
    return {Split.TRAIN: tuple(train), Split.VALIDATION: tuple(own if has_own else train), Split.TEST: tuple(test)}


def _sample_probed(words: WordsByKind, kinds: Sequence[Kind], rng: Random) -> list[str]:
    samples = [rng.sample(words[kind], min(MAX_WORDS[kind], len(words[kind]))) for kind in kinds]
    return list(dict.fromkeys(chain.from_iterable(samples)))


def cross_questions(
    probes: Sequence[Probe], slots: Sequence[int], classes: Mapping[str, object], *, partners: Sequence[Probe] = ()
) -> dict[int, list[Questions]]:
    """Return the pairs of questions that differ in one of *slots* only, by slot; each question is asked evenly.

    Words are exchanged for words of the same class in *classes*, such as verbs for verbs of the same kind. If no two of
    *probes* differ in their nouns, the second question is one of *partners*.

    >>> cross_questions([("man", "call"), ("man", "help"), ("doctor", "help")], (0,), {})
    {0: [(('man', 'help'), ('doctor', 'help'))]}
    """

    def differ(pair: Questions, slot: int) -> bool:
        changed = [words for words in zip(*pair, strict=True) if words[0] != words[1]]
        return changed == [(pair[0][slot], pair[1][slot])] and len({classes.get(word) for word in changed[0]}) == 1

    pairs = {slot: [pair for pair in combinations(probes, 2) if differ(pair, slot)] for slot in slots}
    if not pairs[0]:
        pairs[0] = [pair for pair in product(probes, partners) if differ(pair, 0)]
    return {slot: order_evenly(slot_pairs) for slot, slot_pairs in pairs.items()}


def order_evenly(pairs: Sequence[Questions]) -> list[Questions]:
    """Order pairs of questions so that the questions and words of each occur as rarely as possible in those before.

    >>> order_evenly([(("man",), ("doctor",)), (("man",), ("lawyer",)), (("lawyer",), ("student",))])
    [(('man',), ('doctor',)), (('lawyer',), ('student',)), (('man',), ('lawyer',))]
    """
    uses: Counter[object] = Counter()
    parts = [[*pair, *chain.from_iterable(pair)] for pair in pairs]
    heap = [(0, number) for number in range(len(pairs))]
    ordered = []
    while heap:
        count, number = heappop(heap)
        now = sum(uses[part] for part in parts[number])
        if now > count:  # counts only grow, so a pair whose count is still the least can be taken
            heappush(heap, (now, number))
        else:
            ordered.append(pairs[number])
            uses.update(parts[number])
    return ordered


def check_probe_words_trained(probes: Mapping[Split, Iterable[Probe]], *, task: str) -> None:
    """Raise TooFewItemsError if a probe word of a validation or test item is not a probe word of any training item."""
    words = {split: {word for probe in split_probes for word in probe} for split, split_probes in probes.items()}
    for split, split_words in words.items():
        if unseen := len(split_words - words[Split.TRAIN]):
            raise TooFewItemsError(
                f"{task}: too few training items for every probe word of the {split.value} items to be in "
                f"training ({unseen} would not be); ask for more of them"
            )


class TooFewItemsError(TooFewError, UsageError):
    """The requested number of items is too small for the task."""


MIN_ADVERBS = 4
"""Minimum number of adverbs in a split, since a sentence of Negation has up to four different adverbs."""


def split_adverbs(
    lexicon: Lexicon, vocabulary: str, *, rng: Random, task: str, validation: bool
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
    # Else training would keep fewer than MIN_ADVERBS.
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
