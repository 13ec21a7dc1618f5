"""The changes of form between anchor and positive: other voices, another form of a recipient, another order."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs import contrasts, drafts
from sentprobe.generator.spaces.templates import Pattern
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language


def is_decided_by_article(noun: Word) -> bool:
    """Say whether the article of a noun shows the accusative, and the noun itself has one form: *der Arzt*.

    >>> from sentprobe.lexicon import Kind, german
    >>> [is_decided_by_article(german().get(noun, Kind.NOUN)) for noun in ("Arzt", "Student", "Frau")]
    [True, False, False]
    """
    return noun.gender == "masc" and len({noun.forms[f"NN.sg.{case}"] for case in ("nom", "acc", "dat")}) == 1


_PLURAL = ev.Participant(number=ev.Number.PLURAL)
PLURALS = ev.Event(agent=_PLURAL), ev.Event(patient=_PLURAL)
"""Events with a plural noun, whose article tells no case."""


def has_contrast(language: Language, contrast: contrasts.Contrast) -> bool:
    """Say whether a language has the words, moods and forms of a contrast."""
    has_words = contrast.needed_kind in (None, *language.forms)
    return has_words and {*contrast.moods} <= {*language.moods} and contrast.name not in language.excluded_contrasts


def restrict_to_decided_nouns(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return a lexicon with only those nouns in a vocabulary whose article alone shows the case.

    So all forms of an event with singular nouns have one bag of words.
    """
    nouns = lexicon.vocabulary(vocabulary).words[Kind.NOUN]
    decided = [noun for noun in nouns if is_decided_by_article(lexicon.get(noun, Kind.NOUN))]
    return lexicon.replace_words(vocabulary, {Kind.NOUN: decided})


def adapt_aspects(event: ev.Event, language: Language) -> ev.Event:
    """Return a condition with the perfect in place of the progressive, in a language that has no progressive."""
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
    """Yield the changes of form of :func:`_find_voice_changes`, or the order of the object where that can change."""
    if not language.has_fronting:
        yield from _find_voice_changes(pattern)
    elif pattern.frame is not ev.Frame.INTRANSITIVE:
        yield (drafts.FRONTING,), ev.Voice.ACTIVE


def _find_voice_changes(pattern: Pattern) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield sets of clauses whose voice may change, with the required voice of the anchor's main clause, or None.

    The number of passive clauses must change. If an active and a passive clause exchanged their voices, the positive
    might have the same words as the anchor, and no negative could be nearer to the anchor. Where no voice changes, a
    recipient changes its form.
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
