"""Properties of sampled triplets: meaning, form and words."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from itertools import chain
from random import Random
from time import sleep

import numpy as np
import pytest
from helpers.oracles.model_checker import Model, evaluate
from helpers.oracles.pairs_at_once import build_events, choose_contrast_vocabulary
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import Mood
from sentprobe.generator.events.meaning import Property, find_differences, has_same_meaning
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.retrieval_files import render_distractors
from sentprobe.generator.pairs.triplet_files import TripletFormat, format_triplet_lines
from sentprobe.generator.pairs.triplets import SIDES, ImpossibleContrastError, TripletRows, TripletSet, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.lexicon import english, read_lexicon_text
from sentprobe.lexicon.words import NO_PROGRESSIVE, Kind

ANCHOR, POSITIVE, NEGATIVE, HARD = SIDES
every_contrast = pytest.mark.parametrize("contrast", CONTRASTS)
SAME_WORDS = ["role", "recipient", "modifier", "binding", "negation"]
contrasts = st.sampled_from([*CONTRASTS])
vocabularies = st.sampled_from(["compeval", "published", "english", "everyday"])
seeds = st.integers(0, 10**6)
WITH_RECIPIENTS = ("ditransitive", "ditransitive-rc", "transitive-rc-ditransitive", "intransitive-rc-ditransitive")
WITHOUT_RECIPIENTS = ("role", "modifier", "binding", "negation")
"""Contrasts that some of these templates cannot have: they need relative clauses or nouns of one sort."""
template_sets = st.sampled_from([("all",), ("transitive-rc-both",), WITH_RECIPIENTS])


@cache
def get_space(contrast: str, vocabulary: str = "compeval", *templates: str) -> TripletSpace:
    vocabulary = choose_contrast_vocabulary(contrast, vocabulary)
    return TripletSpace(english(), contrast, vocabulary=vocabulary, templates=templates or ("all",))


def sample_triplets(contrast: str, vocabulary: str, seed: int, count: int = 12) -> TripletSet:
    return get_space(contrast, vocabulary).sample(count, seed=seed)


@given(contrasts, template_sets, seeds)
@examples(40)
def test_triplet_properties_hold_in_all_templates(contrast: str, templates: tuple[str, ...], seed: int) -> None:
    """Where the contrast is possible: one property differs, forms differ, sentences have one reading."""
    try:
        space = get_space(contrast, "everyday", *templates)
    except ImpossibleContrastError:
        assert (contrast, len(templates)) in {("recipient", 1), *((name, 4) for name in WITHOUT_RECIPIENTS)}
        return
    check_properties(space.sample(12, seed=seed), contrast)


@given(contrasts, vocabularies, seeds)
@examples(40)
def test_one_property_differs(contrast: str, vocabulary: str, seed: int) -> None:
    check_properties(sample_triplets(contrast, vocabulary, seed), contrast)


@given(contrasts, st.sampled_from([Mood.QUESTION, Mood.ORDER]), seeds)
@examples(40)
def test_triplets_have_their_mood(contrast: str, mood: Mood, seed: int) -> None:
    """Where the contrast is possible in the mood: the properties hold of questions and orders, too."""
    try:
        triplets = get_mood_space(contrast, mood).sample(12, seed=seed)
    except ImpossibleContrastError as error:
        impossible = {("mood", Mood.QUESTION), ("adjunct", Mood.QUESTION)}
        assert (contrast, mood) in {*impossible, *((name, Mood.ORDER) for name in NOT_IN_ORDERS)}
        assert f"where all sentences are {mood}s" in str(error) or "no order of it has another form" in str(error)
        return
    check_properties(triplets, contrast)
    assert {event.mood for side in SIDES for event in build_events(triplets, side)} == {mood}


NOT_IN_ORDERS = ("mood", "recipient", "modifier", "negation", "adjunct")


@cache
def get_mood_space(contrast: str, mood: Mood) -> TripletSpace:
    return TripletSpace(english(), contrast, vocabulary="everyday", mood=mood)


@every_contrast
def test_triplets_are_statements_by_default(contrast: str) -> None:
    if CONTRASTS[contrast].common_moods:
        space = TripletSpace(english(), contrast, vocabulary=choose_contrast_vocabulary(contrast), mood=Mood.STATEMENT)
        expected = sample_triplets(contrast, "compeval", 1)
        assert [*map(space.sample(12, seed=1).render_texts, SIDES)] == [*map(expected.render_texts, SIDES)]


def check_properties(triplets: TripletSet, contrast: str) -> None:
    events = [build_events(triplets, side) for side in SIDES]
    for anchor, positive, negative, hard in zip(*events, strict=True):
        assert anchor != positive
        assert has_same_meaning(anchor, positive)
        assert has_same_meaning(negative, hard)
        assert find_differences(anchor, negative) == (Property(contrast),)
        assert find_differences(positive, hard) == (Property(contrast),)
    for anchor, stratum in zip(events[0], triplets.list_strata(), strict=True):
        (space,) = (space for space in stratum.spaces if space.find(anchor) is not None)
        assert space[space.index(anchor)] == anchor
    texts = [triplets.render_texts(side) for side in SIDES]
    for text, event in zip(chain(*texts), chain(*events), strict=True):
        assert [*parse(text, english())] == [event]


def test_threads_have_their_own_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text writers are shared by all sets of the same words."""
    sets = [sample_triplets("role", "compeval", seed) for seed in (1, 2)]
    alone = [TripletRows(triplets).render_texts() for triplets in sets]
    count = TripletRows.count

    def count_slowly(self: TripletRows) -> int:
        sleep(0.1)  # the other thread begins
        return count(self)

    monkeypatch.setattr(TripletRows, "count", count_slowly)
    with ThreadPoolExecutor(2) as pool:  # not of a cached property, which has a lock in Python 3.11
        assert [*pool.map(lambda triplets: TripletRows(triplets).render_texts(), sets)] == alone


@given(st.sampled_from(SAME_WORDS), vocabularies, seeds)
@examples(40)
def test_bag_of_words_theorem_holds(contrast: str, vocabulary: str, seed: int) -> None:
    """Positive and negative have the same words; anchor and hard negative, too."""
    triplets = sample_triplets(contrast, vocabulary, seed)
    bags = [[Counter(text.split()) for text in triplets.render_texts(side)] for side in SIDES]
    for anchor, positive, negative, hard in zip(*bags, strict=True):
        assert positive == negative
        assert anchor == hard
        assert anchor != positive


def test_theorem_holds_of_listed_contrasts() -> None:
    assert [c.name for c in CONTRASTS.values() if c.same_words] == SAME_WORDS
    for name, contrast in CONTRASTS.items():
        triplets = sample_triplets(name, "compeval", 0)
        bags = [[Counter(t.split()) for t in triplets.render_texts(s)] for s in (POSITIVE, NEGATIVE)]
        assert (bags[0] == bags[1]) is contrast.same_words


def test_bag_theorem_holds_of_other_words() -> None:
    nouns = "\n".join(f"{word} = {{}}" for word in ("actor", "officer", "child", "judge"))
    lexicon = read_lexicon_text(f"[noun]\n{nouns}\n[transitive]\nadvise = {{}}\nadmire = {{}}", "my")
    triplets = TripletSpace(lexicon, "role", vocabulary="all").sample(200, seed=3)
    for positive, negative in zip(triplets.render_texts(POSITIVE), triplets.render_texts(NEGATIVE), strict=True):
        assert Counter(positive.split()) == Counter(negative.split())


@given(contrasts, vocabularies, seeds)
@examples(20)
def test_triplets_depend_on_their_seed_alone(contrast: str, vocabulary: str, seed: int) -> None:
    triplets = (sample_triplets(contrast, vocabulary, number) for number in (seed, seed, seed + 1))
    first, second, other = ([*map(drawn.render_texts, SIDES)] for drawn in triplets)
    assert first == second != other


DIGESTS = {
    "role": ("b077599f3649", "1c821e9999b7"),
    "modifier": ("368069b37f66", "63b0a46ae653"),
    "negation": ("c3713e679b52", "b3b818e8cce5"),
    "polarity": ("ad7fe00ea473", "40ea3daebf68"),
    "tense": ("db3d67f95931", "0eb78c4697e0"),
    "aspect": ("db70be65862d", "01a277e35068"),
    "number": ("3f875180d75d", "ff4c057c8771"),
    "noun": ("766e36721b9c", "010b9eb8970a"),
    "verb": ("3346f2b09239", "6317d0732323"),
    "adverb": ("882c13b85ef9", "773a3e0a5466"),
}
"""The first digits of SHA-256 of the lines of 40 triplets, and of their distractors, none of which exchanges roles."""


@pytest.mark.parametrize("contrast", DIGESTS)
def test_first_contrasts_keep_their_bytes(contrast: str) -> None:
    triplets = sample_triplets(contrast, "compeval", 3, 40)
    lines = "".join(format_triplet_lines(triplets, TripletFormat.JSONL))
    digests = (sha256(text.encode()).hexdigest()[:12] for text in (lines, repr(render_distractors(triplets, 5))))
    assert (*digests,) == DIGESTS[contrast]


@every_contrast
def test_triplet_sentences_realize_their_events(contrast: str) -> None:
    triplets = sample_triplets(contrast, "english", 5)
    for side in SIDES:
        written = [realize(event, english()).text for event in build_events(triplets, side)]
        assert triplets.render_texts(side) == written
        assert all(len(parse(text, english())) == 1 for text in written)


@every_contrast
def test_triplets_are_drawn_once(contrast: str) -> None:
    """A sample of the whole space has no repetitions and the counted size."""
    templates = {"modifier": "transitive-rc.agent.intransitive.src", "recipient": "ditransitive"}
    template = templates.get(contrast, "intransitive-rc.agent.transitive.src")
    small = get_space(contrast, "compeval", template)
    count = min(small.count(), 3000)
    triplets = small.sample(count, seed=0)
    keys = zip(
        triplets.render_texts(ANCHOR),
        triplets.render_texts(POSITIVE),
        [stratum.place for stratum in triplets.list_strata()],
        strict=True,
    )
    assert len(set(keys)) == count


def test_triplets_are_counted_exactly() -> None:
    """Role in simple transitives: 7 * 6 nouns in order, 4 verbs, both voices, and so on."""
    triplet_space = get_space("role", "compeval", "transitive")
    assert triplet_space.count() == 7 * 6 * 4 * 2 * 2 * 2 * 2 * 2
    triplets = triplet_space.sample(triplet_space.count(), seed=1)
    assert len(set(triplets.render_texts(ANCHOR))) == triplet_space.count()


def test_strata_have_equal_shares() -> None:
    counts = Counter(id(stratum) for stratum in sample_triplets("role", "compeval", 0, 560).list_strata())
    assert set(counts.values()) <= {10, 11}
    assert len(counts) == len(get_space("role").strata)


def test_all_voice_forms_are_drawn() -> None:
    """With two transitive clauses there are three other forms."""
    strata = get_space("role", "compeval", "transitive-rc.agent.transitive.src").strata
    assert {s.voices for s in strata} == {("",), ("agent.clause.",), ("", "agent.clause.")}


def test_same_words_are_one_unit() -> None:
    triplet_space = get_space("role", "compeval", "transitive")
    triplets = triplet_space.sample(triplet_space.count(), seed=1)
    assert len(set(triplets.hash_units().tolist())) == 7 * 6 // 2 * 4


EXAMPLES = [
    (
        ("recipient", "agent.", ("dative",)),
        "the man gave the doctor the pen",
        "the man gave the pen to the doctor",
        "the doctor gave the pen to the man",
        "the doctor gave the man the pen",
    ),
    (
        ("recipient", "agent.clause.agent.", ("agent.clause.",)),
        "the pen that the man gave to the doctor faded",
        "the pen that was given to the doctor by the man faded",
        "the pen that was given to the man by the doctor faded",
        "the pen that the doctor gave to the man faded",
    ),
    (
        ("binding", "", ("",)),
        "the old man helped the young woman",
        "the young woman was helped by the old man",
        "the old woman was helped by the young man",
        "the young man helped the old woman",
    ),
    (
        ("binding", "agent.clause.", ("agent.clause.",)),
        "the old man that the young woman helped slept",
        "the old man that was helped by the young woman slept",
        "the young man that was helped by the old woman slept",
        "the young man that the old woman helped slept",
    ),
    (
        ("perfect", "", ("",)),
        "the man helps the doctor",
        "the doctor is helped by the man",
        "the doctor has been helped by the man",
        "the man has helped the doctor",
    ),
    (
        ("modality", "", ("",)),
        "the man can help the doctor",
        "the doctor can be helped by the man",
        "the doctor must be helped by the man",
        "the man must help the doctor",
    ),
    (
        ("mood", "", ("",)),
        "did the man not help the doctor",
        "was the doctor not helped by the man",
        "the doctor was not helped by the man",
        "the man did not help the doctor",
    ),
]
SMALL = """
[noun]
man = {}
woman = {}
doctor = {}
pen = {}
[transitive]
help = {}
[intransitive]
sleep = {}
fade = {}
[ditransitive]
give = {}
[adjective]
old = {}
young = {}
[modal]
can = {}
must = {}
"""


@pytest.mark.parametrize(("stratum_key", "anchor", "positive", "negative", "hard"), EXAMPLES)
def test_triplet_of_anchor_by_hand(
    stratum_key: tuple[str, str, tuple[str, ...]], anchor: str, positive: str, negative: str, hard: str
) -> None:
    """Examples, checked by hand."""
    contrast, *key = stratum_key
    lexicon = read_lexicon_text(SMALL, "my")
    triplet_space = TripletSpace(lexicon, contrast, vocabulary="all")
    (event,) = parse(anchor, lexicon)
    triplets = []
    for stratum in triplet_space.strata:
        first = 0
        for space in stratum.spaces:
            place = space.find(event)
            if place is not None and [stratum.place, stratum.voices] == key:
                parts = triplet_space._build_parts(stratum, np.array([first + place]), np.array([0]), 0)
                triplets.append(TripletSet(triplet_space, tuple(parts), 1, 0))
            first += space.count()
    (triplet,) = triplets
    assert [*chain(*map(triplet.render_texts, SIDES))] == [anchor, positive, negative, hard]


def test_patient_and_recipient_are_exchanged() -> None:
    """In `everyday`, the patient of a giving verb is a thing: only agent and recipient are exchanged."""
    places = [
        {stratum.place for stratum in TripletSpace(lexicon, "recipient", vocabulary=name).strata}
        for lexicon, name in ((english(), "everyday"), (read_lexicon_text(SMALL, "my"), "all"))
    ]
    assert {place.split(".")[-2] for place in places[0]} == {"agent"}
    assert {place.split(".")[-2] for place in places[1]} == {"agent", "patient"}


@given(contrasts, seeds)
@examples(30)
def test_noun_phrases_are_definite(contrast: str, seed: int) -> None:
    """Under other determiners but numerals, a change of voice or an exchange may not keep the meaning."""
    texts = chain(*map(sample_triplets(contrast, "everyday", seed).render_texts, SIDES))
    words = {word for text in texts for word in text.replace("no more than", "").split()}
    assert "the" in words
    assert words.isdisjoint({"a", "an", "some", "no", "every", "this", "these", "those"})


def test_modals_are_replaced_by_distant_ones() -> None:
    triplets = sample_triplets("modality", "compeval", 0, 300)
    pairs = set()
    for positive, negative in zip(triplets.render_texts(POSITIVE), triplets.render_texts(NEGATIVE), strict=True):
        (pair,) = ((p, n) for p, n in zip(positive.split(), negative.split(), strict=True) if p != n)
        pairs.add(pair)
    groups = ({"can", "could", "may", "might"}, {"must", "should"}, {"will", "would"})
    assert {word for pair in pairs for word in pair} == set().union(*groups)
    assert not any({*pair} <= group for pair in pairs for group in groups)


def test_verbs_of_two_frames_are_left_out() -> None:
    """Otherwise "the man showed the doctor that the woman helped the pen" has two readings."""
    text = SMALL.replace("help = {}", "help = {}\nshow = {}").replace("give = {}", "give = {}\nshow = {}")
    lexicon = read_lexicon_text(text, "my")
    for contrast in ("recipient", "tense", "mood", "binding"):
        triplets = TripletSpace(lexicon, contrast, vocabulary="all").sample(200, seed=0)
        for written in chain(*map(triplets.render_texts, SIDES)):
            assert len(parse(written, lexicon)) == 1


def test_volitional_adverbs_are_left_out() -> None:
    triplets = sample_triplets("adverb", "english", 0, 300)
    words = {word for side in SIDES for text in triplets.render_texts(side) for word in text.split()}
    assert "often" in words
    assert words.isdisjoint({"willingly", "deliberately", "reluctantly"})


@pytest.mark.parametrize("vocabulary", ["compeval", "structure"])
def test_roles_of_symmetric_verbs_are_not_exchanged(vocabulary: str) -> None:
    """Who met whom is the same both ways; other contrasts have the verb."""
    triplets = TripletSpace(english(), "role", vocabulary=vocabulary).sample(300, seed=0)
    tenses = TripletSpace(english(), "tense", vocabulary=vocabulary).sample(300, seed=0)
    role_words, tense_words = ({w for t in ts.render_texts(ANCHOR) for w in t.split()} for ts in (triplets, tenses))
    assert role_words.isdisjoint({"meet", "meets", "met", "meeting"})
    assert tense_words & {"met", "meeting"}


@pytest.mark.parametrize("vocabulary", ["published", "english"])
@pytest.mark.parametrize("contrast", ["verb", "aspect", "perfect"])
def test_negatives_respect_no_progressive(contrast: str, vocabulary: str) -> None:
    triplets = sample_triplets(contrast, vocabulary, 0, 300)
    lexicon = english()
    for side in SIDES:
        for event in build_events(triplets, side):
            word = lexicon.get(event.predicate or "", Kind(str(event.frame)))
            assert not word.flags & NO_PROGRESSIVE or event.aspect == "simple"


def check_with_models(contrast: str, count: int, seed: int) -> None:
    """Compare the meaning relations of triplets with truth values in small models."""
    triplets = sample_triplets(contrast, "compeval", seed, count)
    rng = Random(f"{contrast} {seed}")
    for texts in zip(*(triplets.render_texts(side) for side in SIDES), strict=True):
        annotated = [annotate_text(text, english()).tokens for text in texts]
        differs = False
        for number in range(600):
            model = Model(rng, people=1 + number % 2)
            anchor, positive, negative, hard = (evaluate(tokens, model) for tokens in annotated)
            assert anchor == positive, texts
            assert negative == hard, texts
            differs = differs or anchor != negative
            if differs and number >= 12:
                break
        assert differs, texts


@every_contrast
def test_model_checker_agrees(contrast: str) -> None:
    check_with_models(contrast, 10, seed=0)


@pytest.mark.slow
@every_contrast
def test_model_checker_agrees_on_many(contrast: str) -> None:
    check_with_models(contrast, 1000, seed=1)


def test_model_checker_tells_presupposition() -> None:
    """The checker distinguishes presupposition from assertion."""
    first = "the man that slept helped the lawyer"
    second = "the man that helped the lawyer slept"
    rng = Random(0)
    values = []
    for number in range(200):
        model = Model(rng, people=1 + number % 2)
        values.append(tuple(evaluate(annotate_text(t, english()).tokens, model) for t in (first, second)))
    assert {(True, True), (False, None), (None, False)} <= set(values)


INTRANSITIVE = "[noun]\njudge = {}\nactor = {}\n[intransitive]\nsleep = {}"
ONE_VERB = "[noun]\njudge = {}\nactor = {}\n[transitive]\nadvise = {}"
# Contrast, lexicon (of everything) or none (vocabulary compeval), template, and message.
IMPOSSIBLE = [
    ("role", None, "intransitive", "no clause of it is transitive"),
    ("modifier", None, "transitive", "needs a relative clause on the agent or the patient"),
    ("negation", None, "transitive", "needs a relative clause"),
    ("tense", None, "intransitive-rc.agent.intransitive", "no clause of it is transitive"),
    ("role", None, "transitve", "there is no template"),
    ("roles", None, "all", r"no contrast 'roles' \(did you mean 'role'\?\)"),
    (
        "recipient",
        None,
        "all",
        "needs ditransitive verbs; vocabulary 'compeval' has none; .*vocabulary .*'everyday'.* has",
    ),
    ("binding", None, "all", "needs adjectives; vocabulary 'compeval' has none; .*vocabulary .*'everyday'.* has"),
    (
        *("adjunct", None, "intransitive"),
        "no clause of it is transitive, and a time or place that moves alone leaves all words the same",
    ),
    ("role", INTRANSITIVE, "all", "has no transitive verb, so no sentence of it has a passive"),
    ("verb", ONE_VERB, "transitive", "vocabulary 'all' has too few words"),
]


@pytest.mark.parametrize(("contrast", "text", "template", "message"), IMPOSSIBLE)
def test_impossible_triplets_are_refused(contrast: str, text: str | None, template: str, message: str) -> None:
    lexicon = read_lexicon_text(text, "my") if text else english()
    with pytest.raises(UsageError, match=message):
        TripletSpace(lexicon, contrast, vocabulary="all" if text else "compeval", templates=[template])


@pytest.mark.parametrize(
    ("count", "message"), [(0, "must be positive, not 0"), (7000, "7000 .* there are only 5376 different ones")]
)
def test_impossible_count_is_refused(count: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        get_space("role", "compeval", "transitive").sample(count, seed=0)
