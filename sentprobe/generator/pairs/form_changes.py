"""Changes of form between anchor and positive: another voice, another form of a recipient, or another word order."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs import contrasts, drafts
from sentprobe.generator.spaces.templates import Pattern
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language


def is_decided_by_article(noun: Word) -> bool:
    """Say whether only the article of a noun shows the accusative, because the noun has one singular form: *der Arzt*.

    >>> from sentprobe.lexicon import Kind, german
    >>> [is_decided_by_article(german().get(noun, Kind.NOUN)) for noun in ("Arzt", "Student", "Frau")]
    [True, False, False]
    """
    return noun.gender == "masc" and len({noun.forms[f"NN.sg.{case}"] for case in ("nom", "acc", "dat")}) == 1


_PLURAL = ev.Participant(number=ev.Number.PLURAL)
PLURALS = ev.Event(agent=_PLURAL), ev.Event(patient=_PLURAL)
"""Partial events with a plural noun, because a plural article does not tell nominative and accusative apart."""


def has_contrast(language: Language, contrast: contrasts.Contrast) -> bool:
    """Say whether a language has the words, moods and forms of a contrast."""
    has_words = contrast.needed_kind in (None, *language.forms)
    return has_words and {*contrast.moods} <= {*language.moods} and contrast.name not in language.excluded_contrasts


def restrict_to_decided_nouns(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return a lexicon whose vocabulary has only nouns with one singular form, whose article shows the case.

    So an event with singular nouns keeps its words when its object moves to the front, or its nouns are exchanged.
    """
    nouns = lexicon.vocabulary(vocabulary).words[Kind.NOUN]
    decided = [noun for noun in nouns if is_decided_by_article(lexicon.get(noun, Kind.NOUN))]
    return lexicon.replace_words(vocabulary, {Kind.NOUN: decided})


def adapt_aspects(event: ev.Event, language: Language) -> ev.Event:
    """Return *event* with the perfect in place of the progressive if the language has no progressive."""
    if ev.Aspect.PROGRESSIVE in language.aspects:
        return event
    if event.aspect is ev.Aspect.PROGRESSIVE:
        event = replace(event, aspect=ev.Aspect.PERFECT)
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            inner = adapt_aspects(person.clause.event, language)
            event = event.with_argument(role, replace(person, clause=replace(person.clause, event=inner)))
    return event


def find_form_changes(pattern: Pattern, language: Language) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield the paths whose form changes between anchor and positive, and the required voice of the anchor, or None."""
    if not language.has_fronting:
        yield from _find_voice_changes(pattern)
    elif pattern.frame is not ev.Frame.INTRANSITIVE:
        yield (drafts.FRONTING,), ev.Voice.ACTIVE


def _find_voice_changes(pattern: Pattern) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield sets of clauses whose voice changes, with the required voice of the anchor's main clause, or None.

    The number of passive clauses must change. Otherwise the positive might have the same words as the anchor, and no
    negative could be nearer to the anchor. Recipients that can change their form are yielded last.
    """
    paths = contrasts.find_voice_paths(pattern)
    for size in range(1, len(paths) + 1):
        for voices in combinations(paths, size):
            inner = {dict(pattern.clauses)[drafts.parse_owner_role(p)].voice for p in voices if p}
            if size % 2:
                yield voices, None
            elif len(inner) == 1:
                yield voices, inner.pop() if drafts.MAIN in voices else None
    yield from (((path,), None) for path in contrasts.find_dative_paths(pattern))
