"""Boxes (allowed values of variables) of sentences in which a reflexive, *ever* or *any* is not licensed."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.licenses import GENDERS
from sentprobe.generator.spaces.constraints import Words
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseSite, Layout, Restriction
from sentprobe.grammars.shapes import find_subject_role
from sentprobe.lexicon import Flag, Kind, Lexicon

_POSITIVE = frozenset([NEGATIONS.index(ev.Polarity.POSITIVE.value)])


def find_reflexive_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of sentences whose reflexive, such as *herself*, differs from the agent in number or gender."""
    role = layout.clauses[0].form.reflexive
    if role is None:
        return
    genders = [lexicon.get(noun, Kind.NOUN).gender for noun in words.nouns]
    for i, word in enumerate(ev.Reflexive):
        reflexive = {f"{role.value}.self": frozenset([i])}
        if "agent." in layout.coordinations:
            if word.number is ev.Number.SINGULAR:
                yield reflexive
            continue
        wrong_numbers = frozenset(at for at, (number, _) in enumerate(words.determiners) if number != word.number)
        wrong_nouns = frozenset(at for at, gender in enumerate(genders) if gender not in ("", GENDERS[word]))
        if wrong_numbers:
            yield {**reflexive, "agent.det": wrong_numbers}
        if wrong_nouns and GENDERS[word]:
            yield {**reflexive, "agent.noun": wrong_nouns}


@lru_cache(maxsize=64)  # a task makes thousands of spaces from the same words
def has_polarity_items(words: Words, lexicon: Lexicon) -> bool:
    """Say whether *words* has a polarity item (*any*, *ever*) among its determiners and adverbs."""
    determiners = (lexicon.get(lemma, Kind.DETERMINER) for _, lemma in words.determiners)
    adverbs = (lexicon.get(lemma, Kind.ADVERB) for lemma in words.adverbs)
    return any(Flag.NPI in word.flags for word in (*determiners, *adverbs))


def find_polarity_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of sentences in which a polarity item stands neither in a question nor after a negation."""
    determiners = frozenset(
        i for i, (_, d) in enumerate(words.determiners) if Flag.NPI in lexicon.get(d, Kind.DETERMINER).flags
    )
    adverbs = frozenset(i for i, a in enumerate(words.adverbs) if Flag.NPI in lexicon.get(a, Kind.ADVERB).flags)
    for site in (site for site in layout.clauses if site.form.mood is not ev.Mood.QUESTION):
        for i in range(site.adverbs if adverbs else 0):
            yield {f"{site.path}adverb{i}": adverbs, f"{site.path}negation": _POSITIVE}
        for phrase in site.phrases if determiners else ():
            tails = ("",) if phrase.conjunct_adjectives is None else ("", "conjunct.")
            for tail, box in product(tails, _list_unlicensed(site, phrase.path)):
                yield {f"{phrase.path}{tail}det": determiners, **box}


def _list_unlicensed(site: ClauseSite, path: str) -> Iterator[Restriction]:
    """Yield a box for each voice and dative form of a clause. In a box, no negation precedes the phrase at *path*."""
    datives = [(i, str(d)) for i, d in enumerate(ev.Dative) if site.varies_dative or d is site.dative] or [(0, "")]
    for (i, voice), (j, dative) in product(enumerate(ev.Voice), datives):
        if site.voice in (None, voice):
            is_subject = path == f"{site.path}{find_subject_role(voice, dative)}."
            box = {} if is_subject else {f"{site.path}negation": _POSITIVE}
            box |= {} if site.voice else {f"{site.path}voice": frozenset([i])}
            yield {**box, f"{site.path}dative": frozenset([j])} if site.varies_dative else box
