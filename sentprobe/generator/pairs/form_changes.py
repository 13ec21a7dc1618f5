"""Changes of form between anchor and positive: of the voice, of a recipient's form, or of the word order."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs import contrasts, drafts
from sentprobe.generator.spaces.templates import Pattern
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language


def is_decided_by_article(noun: Word) -> bool:
    """Say whether a noun is masculine with one singular form, so that only its article shows the case: *der Arzt*.

    >>> from sentprobe.lexicon import Kind, german
    >>> [is_decided_by_article(german().get(noun, Kind.NOUN)) for noun in ("Arzt", "Student", "Frau")]
    [True, False, False]
    """
    return noun.gender == "masc" and len({noun.forms[f"NN.sg.{case}"] for case in ("nom", "acc", "dat")}) == 1


_PLURAL = ev.Participant(number=ev.Number.PLURAL)
PLURALS = ev.Event(agent=_PLURAL), ev.Event(patient=_PLURAL)
"""Partial events with a plural noun, whose article is the same in the nominative and the accusative."""


def has_contrast(language: Language, contrast: contrasts.Contrast) -> bool:
    """Say whether a language has the words, moods and forms of a contrast."""
    has_words = contrast.needed_kind in (None, *language.forms)
    return has_words and {*contrast.moods} <= {*language.moods} and contrast.name not in language.excluded_contrasts


def restrict_to_decided_nouns(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return a lexicon whose *vocabulary* has only the nouns that :func:`is_decided_by_article` accepts.

    In the singular, such a noun has the same form as subject and as object; only its article shows the case.
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
    """Yield (paths, voice). If an anchor has this voice (None: any), changed forms at the paths give a positive."""
    if not language.has_fronting:
        yield from _find_voice_changes(pattern)
    elif pattern.frame is not ev.Frame.INTRANSITIVE:
        yield (drafts.FRONTING,), ev.Voice.ACTIVE


def _find_voice_changes(pattern: Pattern) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield (paths, voice): the paths that change, and the voice that the anchor's main clause must have (None: any).

    At first, *paths* are clauses that change voice. The number of passive clauses always changes. If it did not, the
    positive might share all words with the anchor. But the hard negative must share more words with the anchor than
    the positive does. At last, *paths* is a single variable ``dative``, which changes the form of one recipient.
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
