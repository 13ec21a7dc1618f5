"""The text notation of events: :func:`read_event` and its inverse :func:`write_event`.

The grammar is in ``event.lark``; ``docs/events.md`` lists the features. A lemma of letters and digits, with hyphens and
apostrophes between them, is written as it is. Other lemmas, and the lemmas ``that``, ``who``, ``rc`` and ``and``, are
written as JSON strings.
"""

import re
from enum import Enum

from sentprobe.common.values import format_json
from sentprobe.generator.events import event as ev

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
RESERVED = frozenset({"that", "who", "rc", "and"})


def read_event(text: str, *, source: str = "") -> ev.Event:
    r"""Return the event that *text* describes; error messages name *source*, such as a file.

    Raises:
        NotationError: the text does not follow the grammar, or two of its features or roles contradict each other.

    >>> event = read_event("help[past, neg](agent: the professor[pl])")
    >>> event.agent.determiner, event.agent.noun, event.agent.number.name
    ('the', 'professor', 'PLURAL')
    >>> read_event("help[passt]")
    Traceback (most recent call last):
    ...
    sentprobe.common.errors.NotationError: event:1:6: unknown feature 'passt' (did you mean 'past'?)
      help[passt]
           ^
    """
    from sentprobe.generator.events.notation_reader import NotationReader

    return NotationReader(text, source).read()


def write_event(event: ev.Event) -> str:
    """Return *event* in the notation, without features that other features or roles imply.

    >>> write_event(ev.Event(predicate="help", voice=ev.Voice.PASSIVE, agent=ev.Participant(noun="man")))
    'help[passive](agent: man)'
    """
    roles = [
        f"{role.value}: {_write_argument(filler)}" for role in ev.Role if (filler := event.argument(role)) is not None
    ]
    arguments = f"({', '.join(roles)})" if roles else ""
    return f"{write_lemma(event.predicate)}{_write_features(_list_event_features(event))}{arguments}"


def _list_event_features(event: ev.Event) -> list[str]:
    """Return the features that :func:`write_event` writes, in the order of the notation."""
    is_order = event.mood is ev.Mood.ORDER
    # These are the implications of ``Event``: only what reading would not fill in again is written.
    has_no_passive = event.frame in (ev.Frame.INTRANSITIVE, ev.Frame.DATIVE) or is_order
    is_voice_implied = has_no_passive or event.fronting is ev.Fronting.OBJECT or event.reflexive is not None
    features = _list_values(
        None if _has_implied_frame(event) else event.frame,
        None if is_voice_implied else event.voice,
        event.dative,
        event.tense,
        None if is_order else event.aspect,
        event.polarity if event.negator is None else None,
        event.negator,
        None if event.mood is ev.Mood.STATEMENT or event.asked else event.mood,
        event.fronting,
    )
    if event.modal is not None:
        features.append(_write_words("modal", (event.modal,)))
    if event.adjunct is not None:
        features.append(_write_words("adjunct", (event.adjunct,)))
    if event.adverbs is not None:
        features.append(_write_words("adv", event.adverbs))
    return features


def _has_implied_frame(event: ev.Event) -> bool:
    if event.frame is ev.Frame.DATIVE:
        return False
    if event.frame is ev.Frame.DITRANSITIVE:
        return event.recipient is not None or event.dative is not None
    return event.voice is ev.Voice.PASSIVE or event.patient is not None


def _write_words(name: str, lemmas: tuple[str, ...]) -> str:
    return f"{name}({', '.join(map(write_lemma, lemmas))})"


def _write_argument(filler: ev.Argument) -> str:
    if isinstance(filler, ev.Asked):
        return f"{filler.value}?"
    if not isinstance(filler, ev.Participant):
        return filler.value
    if filler.conjunct is None:
        return _write_phrase(filler, filler.clause)
    return f"{_write_phrase(filler, None)} and {_write_phrase(filler.conjunct, None)}"


def _write_phrase(person: ev.Participant, clause: ev.RelativeClause | ev.Bare | None) -> str:
    determiner = ""
    if person.determiner is not None:
        determiner = "that " if person.determiner == "that" else f"{write_lemma(person.determiner)} "
    features = _list_values(person.number, ev.BARE if clause is ev.BARE else None)
    if person.adjectives:
        features.append(_write_words("adj", person.adjectives))
    clause_text = f" {_write_clause(clause)}" if isinstance(clause, ev.RelativeClause) else ""
    return f"{determiner}{write_lemma(person.noun)}{_write_features(features)}{clause_text}"


def _write_clause(clause: ev.RelativeClause) -> str:
    if clause.relativizer is None:
        introduction = "rc"
    elif clause.relativizer in ("that", "who"):
        introduction = clause.relativizer
    else:
        introduction = f"rc({write_lemma(clause.relativizer)})"
    implied = clause.event.gap is not None and clause.event.has_known_subject
    features = _write_features(_list_values(None if implied else clause.kind))
    return f"{introduction}{features} {write_event(clause.event)}"


def _list_values(*values: Enum | None) -> list[str]:
    return [str(value.value) for value in values if value is not None]


def _write_features(features: list[str]) -> str:
    return f"[{', '.join(features)}]" if features else ""


def write_lemma(lemma: str | None) -> str:
    """Return a lemma as the notation has it: as a JSON string if necessary, and ``*`` for an open lemma."""
    if lemma is None:
        return "*"
    if WORD.fullmatch(lemma) and lemma not in RESERVED:
        return lemma
    return format_json(lemma)
