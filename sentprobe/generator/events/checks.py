"""Checks of events, and partial events as patterns.

The checks: a lexicon has the words of a partial event, in forms and roles that fit the event. A reflexive agrees with
its agent. Polarity items (*ever*, *any*) have a license, which is a question or a negation.

Two patterns can be unified; an event can match a pattern; and an event can have open fields.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import Field, fields, replace
from typing import Any, TypeVar

from sentprobe.common.errors import UsageError, suggest
from sentprobe.generator.events import event as ev
from sentprobe.lexicon import Flag, Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import MODIFIED, NAMED, NOT, PERSON, takes_an

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
    if event.adjunct is not None:
        lexicon.get(event.adjunct, Kind.ADJUNCT)
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
        "object before its verb": event.fronting is ev.Fronting.OBJECT and not language.has_fronting,
        "reflexive": event.reflexive is not None and not language.reflexives,
        "adjunct": bool(event.adjunct or event.fronting is ev.Fronting.ADJUNCT) and not language.adjuncts,
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
        # A verb of several frames contradicts only if it accepts the nouns in none.
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
        # A reflexive names the agent once more, so the agent must be fit for both of its roles.
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
    check_name(person, lexicon)
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


def check_name(person: ev.Participant, lexicon: Lexicon) -> None:
    """Raise UsageError if a name has a wrong determiner, number or modifier, or a noun the determiner of a name."""
    noun = None if person.noun is None else lexicon.get(person.noun, Kind.NOUN)
    determiner = None if person.determiner is None else lexicon.get(person.determiner, Kind.DETERMINER)
    phrases = {word.phrase if word.phrase in NAMED else "" for word in (noun, determiner) if word is not None}
    if len(phrases) > 1:
        raise UsageError(f"the determiner {person.determiner!r} does not go with the noun {person.noun!r}")
    if phrases & NAMED:
        name = person.noun or person.determiner
        if person.number is ev.Number.PLURAL:
            raise UsageError(f"the name {name!r} has no plural")
        if person.adjectives or isinstance(person.clause, ev.RelativeClause):
            raise UsageError(f"the name {name!r} has no adjective and no relative clause")


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


GENDERS = {ev.Reflexive.HIMSELF: "masc", ev.Reflexive.HERSELF: "fem", ev.Reflexive.THEMSELVES: ""}
"""The gender of the nouns to which each reflexive can refer; "" stands for any gender."""


def check_licenses(event: ev.Event, lexicon: Lexicon) -> None:
    """Raise Contradiction if a reflexive, polarity item or sentence adverb of a complete event is not licensed.

    A reflexive must agree with the agent of its clause, and a noun cannot be *himself* in its clause and *herself* in
    its relative clause. A polarity item must be in a question or in a negated clause;
    the polarity item of a negated clause must not be the determiner of the subject. A sentence adverb must be in a
    positive clause.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> parse("the man was not helped by any doctor", english())[0].agent.determiner
    'any'
    >>> parse("any man was not helped by the doctor", english())
    Traceback (most recent call last):
    ...
    sentprobe.generator.sentences.parse.ParseError: 'any' needs a question, or a negation before it
    """
    for clause, head in ev.iterate_clauses(event):
        if clause.reflexive is not None:
            _check_reflexive(clause, head if clause.agent is ev.GAP else clause.agent, lexicon)
        is_negated = clause.polarity is ev.Polarity.NEGATIVE
        for adverb in (clause.adverbs or ()) if is_negated else ():
            if Flag.SENTENCE in lexicon.get(adverb, Kind.ADVERB).flags:
                raise ev.Contradiction(f"the adverb {adverb!r} does not follow a negation")
        if clause.mood is not ev.Mood.QUESTION:
            for lemma, is_after_negation in _list_polarity_items(clause, lexicon):
                if not (is_negated and is_after_negation):
                    raise ev.Contradiction(f"{lemma!r} needs a question, or a negation before it")


def _check_reflexive(clause: ev.Event, agent: ev.Argument | None, lexicon: Lexicon) -> None:
    word = clause.reflexive and clause.argument(clause.reflexive)
    assert isinstance(word, ev.Reflexive)
    if isinstance(agent, ev.Participant):
        gender = lexicon.get(agent.noun or "", Kind.NOUN).gender
        has_gender = not GENDERS[word] or gender in ("", GENDERS[word])
        agrees = word.number is agent.agreement and has_gender
    else:  # a question word is singular, of any gender
        agrees = word.number is ev.Number.SINGULAR
    if not agrees:
        raise ev.Contradiction(f"{word.value!r} does not agree with the agent of {clause.predicate!r}")
    other = _find_reflexive_of_relative_clause(agent)
    if other and other is not word:
        raise ev.Contradiction(f"{word.value!r} and {other.value!r} refer to one noun")


def select_licensed(events: Iterable[ev.Event], lexicon: Lexicon) -> list[ev.Event]:
    """Return the readings of a sentence that :func:`check_licenses` accepts; a single reading is returned unchecked.

    In "did the man that slept ever dance", *ever* could modify *slept*, but only the reading with *dance* is licensed.
    """
    events = [*dict.fromkeys(events)]
    if len(events) == 1:
        return events
    licensed = []
    for event in events:
        with suppress(ev.Contradiction):
            check_licenses(event, lexicon)
            licensed.append(event)
    return licensed


def _find_reflexive_of_relative_clause(agent: ev.Argument | None) -> ev.Reflexive | None:
    """Return the reflexive by which a relative clause refers to the noun *agent*, as in "the man that hurt himself"."""
    if not isinstance(agent, ev.Participant) or agent.conjunct or not isinstance(agent.clause, ev.RelativeClause):
        return None
    event = agent.clause.event
    word = event.argument(event.reflexive) if event.reflexive and event.agent is ev.GAP else None
    return word if isinstance(word, ev.Reflexive) else None


def _list_polarity_items(clause: ev.Event, lexicon: Lexicon) -> Iterator[tuple[str, bool]]:
    """Yield each polarity item of a clause, and whether it stands after the place where the clause can have a "not"."""
    for adverb in clause.adverbs or ():
        if Flag.NPI in lexicon.get(adverb, Kind.ADVERB).flags:
            yield adverb, True
    for role, person in ev.iterate_participants(clause):
        for conjunct in person.conjuncts:
            determiner = conjunct.determiner or ""
            if Flag.NPI in lexicon.get(determiner, Kind.DETERMINER).flags:
                yield determiner, role is not clause.subject


Value = TypeVar("Value", ev.Event, ev.Participant, ev.RelativeClause)


def unify(left: Value, right: Value) -> Value:
    """Return the most general value that agrees with both *left* and *right*.

    Raises:
        Contradiction: *left* and *right* have different values in a field, which the message names.

    >>> from sentprobe.generator.events.event import Tense
    >>> unify(ev.Event(predicate="help"), ev.Event(tense=Tense.PAST)).tense
    <Tense.PAST: 'past'>
    """
    merged: dict[str, Any] = {f.name: _unify_field(f, left, right) for f in fields(left)}
    return type(left)(**merged)


def _is_unstated(field: "Field[Any]", value: object) -> bool:
    return value is None or value == field.default


def _unify_field(field: "Field[Any]", left: object, right: object) -> object:
    name = field.name
    left_value, right_value = getattr(left, name), getattr(right, name)
    if _is_unstated(field, left_value) or _is_unstated(field, right_value) or left_value == right_value:
        return right_value if _is_unstated(field, left_value) else left_value
    if type(left_value) is type(right_value) and isinstance(left_value, ev.Event | ev.Participant | ev.RelativeClause):
        return unify(left_value, right_value)
    if isinstance(left_value, ev.Frame) and isinstance(right_value, ev.Frame):
        # A verb with an object may turn out to be one with a recipient, too: of two such frames, the special one is
        # meant.
        for general, special in ((left_value, right_value), (right_value, left_value)):
            if general.includes(special):
                return special
    raise ev.Contradiction(f"{name} cannot be both {ev.format_value(left_value)} and {ev.format_value(right_value)}")


def subsumes(general: Value, special: Value) -> bool:
    """Say whether *special* agrees with *general* in every field that is not open in *general*.

    >>> from sentprobe.generator.events.event import Tense
    >>> subsumes(ev.Event(predicate="help"), ev.Event(predicate="help", tense=Tense.PAST))
    True
    """
    return all(_subsumes_field(f, getattr(general, f.name), getattr(special, f.name)) for f in fields(general))


def _subsumes_field(field: "Field[Any]", general: object, special: object) -> bool:
    if _is_unstated(field, general) or general == special:
        return True
    if isinstance(general, ev.Frame) and isinstance(special, ev.Frame):
        return general.includes(special)
    if type(general) is type(special) and isinstance(general, ev.Event | ev.Participant | ev.RelativeClause):
        return subsumes(general, special)  # type: ignore[type-var]
    return False


def contains(event: ev.Event, partial: ev.Event) -> bool:
    """Say whether *partial* subsumes *event* or one of its relative clauses.

    The modified noun fills the gap of a relative clause, so "the lawyer that shouts dances" contains
    ``shout(agent: lawyer)``. A gap in *partial* matches only a gap. The order of coordinated nouns does not matter.
    """
    return any(_matches_clause(partial, clause, head) for clause, head in ev.iterate_clauses(event))


def _matches_clause(partial: ev.Event, clause: ev.Event, head: ev.Participant | None) -> bool:
    """Say whether *partial* subsumes *clause*, whose gap is filled by *head*, the noun that the clause modifies."""
    features = (f for f in fields(ev.Event) if f.name not in frozenset(ev.Role))
    return all(_subsumes_field(f, getattr(partial, f.name), getattr(clause, f.name)) for f in features) and all(
        _matches_argument(partial.argument(role), clause.argument(role), head) for role in ev.ROLES
    )


def _matches_argument(partial: ev.Argument | None, filler: ev.Argument | None, head: ev.Participant | None) -> bool:
    if not isinstance(partial, ev.Participant):
        return partial in (None, filler)
    person = head if filler is ev.GAP else filler
    if not isinstance(person, ev.Participant):
        return False
    if person.conjunct is not None:
        # The pattern may describe either of the two nouns, so both orders are tried.
        mirrored = replace(person.conjunct, conjunct=replace(person, conjunct=None))
        return subsumes(partial, person) or subsumes(partial, mirrored)
    partial_clause, clause = partial.clause, person.clause
    if not isinstance(partial_clause, ev.RelativeClause) or not isinstance(clause, ev.RelativeClause):
        return subsumes(partial, person)
    return (
        subsumes(replace(partial, clause=None), person)
        and partial_clause.kind in (None, clause.kind)
        and partial_clause.relativizer in (None, clause.relativizer)
        and _matches_clause(partial_clause.event, clause.event, person)
    )


def find_open_fields(event: ev.Event, path: str = "") -> Iterator[str]:
    """Yield the path of each open field of *event*, such as ``agent.clause.tense``."""
    # A clause with a modal and an order have no tense, so nobody needs to choose one.
    untensed = event.modal is not None or event.mood is ev.Mood.ORDER
    for name in ("predicate", "frame", "voice", "tense", "aspect", "polarity", "adverbs"):
        if getattr(event, name) is None and not (name == "tense" and untensed):
            yield path + name
    if event.fronting is ev.Fronting.ADJUNCT and event.adjunct is None:
        yield path + "adjunct"
    if event.frame is ev.Frame.DITRANSITIVE and event.dative is None:
        yield path + "dative"
    if event.polarity is ev.Polarity.NEGATIVE and event.negator is None:
        yield path + "negator"
    for role in event.roles:
        filler = event.argument(role)
        if filler is None:
            yield path + role.value
        elif isinstance(filler, ev.Participant):
            yield from _find_open_participant_fields(filler, f"{path}{role.value}.")


def _find_open_participant_fields(person: ev.Participant, path: str) -> Iterator[str]:
    for name in ("noun", "number", "determiner", "clause"):
        if getattr(person, name) is None:
            yield path + name
    if person.conjunct is not None:
        yield from _find_open_participant_fields(person.conjunct, f"{path}conjunct.")
    if isinstance(person.clause, ev.RelativeClause):
        if person.clause.relativizer is None:
            yield path + "clause.relativizer"
        if person.clause.event.gap is None:
            yield path + "clause.gap"
        yield from find_open_fields(person.clause.event, path + "clause.")
