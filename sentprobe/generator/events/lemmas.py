"""Checks that a lexicon has the words of a partial event, in forms and roles that fit the event."""

from dataclasses import replace

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.events import event as ev
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.inflect import takes_an
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import MODIFIED, NOT, PERSON

_FRAMES = (ev.Frame.TRANSITIVE, ev.Frame.INTRANSITIVE, ev.Frame.DITRANSITIVE, ev.Frame.DATIVE)


def check_lemmas(event: ev.Event, lexicon: Lexicon) -> None:
    """Raise UsageError if *lexicon* or its language lacks what a partial event needs, such as a lemma or a passive.

    >>> from sentprobe.lexicon import english
    >>> check_lemmas(ev.Event(predicate="sleep", voice=ev.Voice.PASSIVE), english())
    Traceback (most recent call last):
    ...
    sentprobe.generator.events.event.Contradiction: 'sleep' is intransitive: it has no passive
    """
    check_predicate(event, lexicon)
    check_language(event, lexicon.language)
    for adverb in event.adverbs or ():
        lexicon.get(adverb, Kind.ADVERB)
    if event.modal is not None:
        lexicon.get(event.modal, Kind.MODAL)
    for _, person in ev.iterate_participants(event):
        for conjunct in person.conjuncts:
            _check_participant(conjunct, lexicon)


def check_language(event: ev.Event, language: Language) -> None:
    """Raise UsageError if a partial event has a feature, such as a mood, that the grammar of a language lacks."""
    name = event.predicate or "an event"
    features = {
        "frame": (event.frame, language.frames),
        "aspect": (event.aspect, language.aspects),
        "negator": (event.negator, tuple(language.cues)),
        "mood": (event.mood, language.moods),
    }
    for feature, (value, values) in features.items():
        if value is not None and value not in values:
            prefix = f"{event.predicate}: " if event.predicate else ""
            names = " and ".join(filter(None, (", ".join(values[:-1]), values[-1])))
            raise UsageError(f"{prefix}{language.name} has no {feature} {value.value!r}, only {names}")
    people = [person for _, person in ev.iterate_participants(event)]
    uses = {
        "object before its verb": event.fronting is not None and not language.has_fronting,
        "reflexive": event.reflexive is not None and not language.reflexives,
        "modal": event.modal is not None and Kind.MODAL not in language.forms,
        "coordination": not language.has_coordination and any(person.conjunct for person in people),
    }
    for use in filter(uses.get, uses):
        raise UsageError(f"{name}: sentprobe's {language.name} has no {use}")
    if len(event.adverbs or ()) > language.max_adverbs and language.closes_clauses:
        raise UsageError(f"{name}: a clause in sentprobe's {language.name} has at most {language.max_adverbs} adverb")


def check_sorts(event: ev.Event, lexicon: Lexicon, *, is_pattern: bool = False) -> None:
    """Raise Contradiction if an adjective, relativizer or verb does not accept the sort of a noun (person, thing...).

    With *is_pattern*, the verb must accept the nouns in at least one of the frames that *event* allows.
    """
    for clause, head in ev.iterate_clauses(event):
        contradictions = [
            _find_contradiction(clause, head, lexicon.get(str(clause.predicate), Kind(frame.value)), lexicon)
            for frame in find_frames(clause.predicate or "", lexicon)
            if frame is clause.frame or (is_pattern and (clause.frame or frame).includes(frame))
        ]
        if contradictions and contradictions[0] and all(contradictions):
            raise contradictions[0]
        for _, person in ev.iterate_participants(clause):
            for conjunct in person.conjuncts:
                for adjective in conjunct.adjectives:
                    word = lexicon.get(adjective, Kind.ADJECTIVE)
                    _check_sort(replace(conjunct, conjunct=None), word, MODIFIED, lexicon)
            if isinstance(person.clause, ev.RelativeClause) and person.clause.relativizer:
                _check_sort(person, lexicon.get(person.clause.relativizer, Kind.RELATIVIZER), MODIFIED, lexicon)


def _find_contradiction(
    clause: ev.Event, head: ev.Participant | None, verb: Word, lexicon: Lexicon
) -> ev.Contradiction | None:
    for role in ev.Role:
        filler = clause.agent if role is clause.reflexive else clause.argument(role)
        try:
            _check_sort(head if filler is ev.GAP else filler, verb, role.value, lexicon)
        except ev.Contradiction as contradiction:
            return contradiction
        if isinstance(filler, ev.Asked) and not accepts_asked(filler, verb, role, lexicon):
            return ev.Contradiction(f"{filler.value!r} cannot ask for the {role.value} of {verb.lemma!r}")
    return None


def accepts_asked(asked: ev.Asked, verb: Word, role: ev.Role, lexicon: Lexicon) -> bool:
    """Say whether *asked* can fill *role* of *verb*: "who" if the role accepts persons, "what" if it accepts others."""
    sorts = {(PERSON,), *(noun.sorts for noun in lexicon.words(Kind.NOUN))}
    return any(verb.accepts(s, role.value) for s in sorts if (s[0] == PERSON) is (asked is ev.Asked.WHO))


def _check_sort(person: ev.Argument | None, word: Word, role: str, lexicon: Lexicon) -> None:
    if not isinstance(person, ev.Participant) or person.noun is None:
        return
    if person.conjunct is not None:
        _check_sort(person.conjunct, word, role, lexicon)
    sorts = lexicon.get(person.noun, Kind.NOUN).sorts
    if not word.accepts(sorts, role):
        expected = " or ".join(map(_add_article, word.takes.get(role, (PERSON,))))
        place = f"the noun of {word.lemma!r}" if role == MODIFIED else f"the {role} of {word.lemma!r}"
        actual = " and ".join(map(_add_article, sorts))
        raise ev.Contradiction(f"{person.noun!r} is {actual}, and {place} is {expected}")


def _add_article(sort: str) -> str:
    name = sort.removeprefix(NOT)
    return f"{sort.removesuffix(name)}{'an' if takes_an(name) else 'a'} {name}"


def check_predicate(event: ev.Event, lexicon: Lexicon) -> None:
    """Raise UsageError if the event's verb is not in *lexicon*, or has no frame there that fits the event."""
    if event.predicate is None:
        return
    frames = find_frames(event.predicate, lexicon)
    if not frames:
        if other_kinds := lexicon.kinds_of(event.predicate):
            hint = f" (the lexicon has it as {' and '.join(other_kinds)})"
        else:
            kinds = [Kind(frame.value) for frame in (_FRAMES if event.frame is None else (event.frame,))]
            hint = suggest(event.predicate, [word.lemma for kind in kinds for word in lexicon.words(kind)])
        raise UsageError(f"unknown {f'{event.frame} ' if event.frame else ''}verb {event.predicate!r}{hint}")
    if event.frame is not None and not any(map(event.frame.includes, frames)):
        raise ev.Contradiction(f"{event.predicate!r} is {frames[0].value}: it {_explain_mismatch(event)}")


def find_frames(lemma: str, lexicon: Lexicon) -> tuple[ev.Frame, ...]:
    """Return the frames that *lexicon* has for a verb, transitive first."""
    kinds = lexicon.kinds_of(lemma)
    return tuple(frame for frame in _FRAMES if Kind(frame.value) in kinds)


def _explain_mismatch(event: ev.Event) -> str:
    if event.frame is ev.Frame.INTRANSITIVE:
        return "needs a patient, and the event is intransitive"
    if event.recipient is not None or event.dative is not None:
        return "has no recipient"
    if event.voice is ev.Voice.PASSIVE:
        return "has no passive"
    return "has no patient" if event.patient is not None else "is not transitive"


def _check_participant(person: ev.Participant, lexicon: Lexicon) -> None:
    if person.noun is not None:
        lexicon.get(person.noun, Kind.NOUN)
    if person.determiner is not None:
        determiner = lexicon.get(person.determiner, Kind.DETERMINER)
        if person.number is not None and not lexicon.language.has_determiner(determiner, person.number.value):
            number = person.number.name.lower()
            raise UsageError(f"the determiner {person.determiner!r} does not go with a {number} noun")
    for adjective in person.adjectives:
        lexicon.get(adjective, Kind.ADJECTIVE)
    if isinstance(person.clause, ev.RelativeClause):
        check_clause(person.clause, lexicon)


def check_clause(clause: ev.RelativeClause, lexicon: Lexicon) -> None:
    """Raise UsageError as :func:`check_lemmas` does, for the lemmas of a relative clause."""
    if clause.relativizer is not None:
        lexicon.get(clause.relativizer, Kind.RELATIVIZER)
    clause_with_frames = replace(clause, event=infer_frames(clause.event, lexicon))
    check_lemmas(clause_with_frames.event, lexicon)


def infer_frames(event: ev.Event, lexicon: Lexicon) -> ev.Event:
    """Return *event* with missing frames filled in, for verbs with only one frame in *lexicon*. Raises Contradiction.

    >>> from sentprobe.lexicon import english
    >>> infer_frames(ev.Event(predicate="sleep"), english()).frame
    <Frame.INTRANSITIVE: 'intransitive'>
    """
    if event.predicate is not None and event.frame in (None, ev.Frame.TRANSITIVE):
        frames = find_frames(event.predicate, lexicon)
        if len(frames) == 1 and (event.frame is None or event.frame.includes(frames[0])):
            event = replace(event, frame=frames[0])
    for role in ev.Role:
        person = event.argument(role)
        if isinstance(person, ev.Participant) and isinstance(person.clause, ev.RelativeClause):
            inner = infer_frames(person.clause.event, lexicon)
            clause = replace(person.clause, event=inner)
            event = event.with_argument(role, replace(person, clause=clause))
    return event
