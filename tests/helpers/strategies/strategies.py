"""Hypothesis strategies, named by what they make."""

from collections.abc import Iterable
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from sentprobe.generator.events.event import (
    BARE,
    FRAME_ROLES,
    GAP,
    ROLES,
    Argument,
    Asked,
    Aspect,
    Bare,
    ClauseKind,
    Contradiction,
    Dative,
    Event,
    Frame,
    Fronting,
    Mood,
    Negator,
    Number,
    Participant,
    Polarity,
    Reflexive,
    RelativeClause,
    Role,
    Tense,
    Voice,
)
from sentprobe.generator.sentences.realize import ends_in_clause
from sentprobe.lexicon import Flag, Form, Kind, Lexicon
from sentprobe.lexicon.words import NAMED, PERSON

Value = TypeVar("Value")

PLAIN_WORDS = ("help", "meet", "sleep", "professor", "man", "really")
ODD_WORDS = ("that", "who", "rc", "and", "what", "o'clock", "co-author", "naïve", "adv", "not", "two words", "")
PUNCTUATION = ("*", "_", '"', "\\", "a\nb", "-x", "x'", "(", "[]", "past,", "\u2028", "\x00")


@cache
def sample_from(*values: Value) -> st.SearchStrategy[Value]:
    """Return a cached strategy for one of the values: making it takes longer than drawing."""
    return st.sampled_from(values)


@cache
def sample_or_none(*values: Value) -> st.SearchStrategy[Value | None]:
    """Return a cached strategy for one of the values or None."""
    return maybe(sample_from(*values))


def plain_words() -> st.SearchStrategy[str]:
    """Lemmas from a small set, so that two are often equal."""
    return sample_from(*PLAIN_WORDS)


def words() -> st.SearchStrategy[str]:
    """Lemmas of every kind: plain ones, reserved words of the notation, any text."""
    return st.one_of(plain_words(), st.sampled_from(ODD_WORDS + PUNCTUATION), st.text(max_size=6))


def maybe(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Value | None]:
    """A value, or None."""
    return st.one_of(st.none(), values)


@st.composite
def partial_events(
    draw: st.DrawFn, lemmas: st.SearchStrategy[str] | None = None, *, depth: int = 2, gap: bool = False
) -> Event:
    """Events with any of their fields open, with relative clauses up to *depth*.

    With *gap*, one of the arguments may be the gap.
    """
    lemmas = plain_words() if lemmas is None else lemmas
    frame = draw(sample_or_none(*Frame))
    voices = (Voice.ACTIVE,) if frame in (Frame.INTRANSITIVE, Frame.DATIVE) else tuple(Voice)
    negator = draw(sample_or_none(*Negator))
    polarities = (Polarity.NEGATIVE,) if negator else tuple(Polarity)
    roles = list(FRAME_ROLES[frame] if frame else ROLES[:2])
    mood = Mood.STATEMENT if gap else draw(sample_from(*Mood))
    if mood is Mood.ORDER:
        roles, voices = roles[1:], (Voice.ACTIVE,)
    modal = draw(maybe(lemmas)) if mood is not Mood.ORDER else None
    is_tensed = modal is None and mood is not Mood.ORDER
    persons = maybe(participants(lemmas, depth=depth))
    arguments: dict[str, Any] = {role.value: draw(persons) for role in roles}
    if gap and draw(st.booleans()):
        arguments[draw(st.sampled_from(roles)).value] = GAP
    if mood is Mood.QUESTION and draw(st.booleans()):
        arguments[draw(st.sampled_from(roles)).value] = draw(sample_from(*Asked))
    bound = Role.RECIPIENT if frame is Frame.DITRANSITIVE else Role.PATIENT
    if isinstance(arguments.get(bound.value), Participant) and mood is not Mood.ORDER and draw(st.booleans()):
        arguments[bound.value], voices = draw(sample_from(*Reflexive)), (Voice.ACTIVE,)
    voice = draw(sample_or_none(*voices))
    return Event(
        predicate=draw(maybe(lemmas)),
        frame=frame,
        voice=voice,
        tense=draw(sample_or_none(*Tense)) if is_tensed else None,
        aspect=draw(sample_or_none(*list_aspects(Aspect, voice))) if mood is not Mood.ORDER else Aspect.SIMPLE,
        polarity=draw(sample_or_none(*polarities)),
        negator=negator,
        adverbs=draw(maybe(st.lists(lemmas, max_size=2).map(tuple))),
        dative=draw(sample_or_none(*Dative)) if frame is Frame.DITRANSITIVE else None,
        modal=modal,
        mood=mood,
        adjunct=None if gap else draw(maybe(lemmas)),
        **arguments,
    )


@st.composite
def participants(draw: st.DrawFn, lemmas: st.SearchStrategy[str] | None = None, *, depth: int = 2) -> Participant:
    """Participants with any of their fields open, with relative clauses up to *depth*."""
    lemmas = plain_words() if lemmas is None else lemmas
    clause: Bare | RelativeClause | None = draw(sample_from(None, BARE))
    if depth and draw(st.booleans()):
        clause = draw(relative_clauses(lemmas, depth=depth - 1))
    conjunct = draw(maybe(participants(lemmas, depth=0))) if draw(sample_from(*range(4))) == 0 else None
    if conjunct is not None:
        clause, conjunct = BARE, replace(conjunct, conjunct=None)
    return Participant(
        noun=draw(maybe(lemmas)),
        number=draw(sample_or_none(*Number)),
        determiner=draw(maybe(lemmas)),
        clause=clause,
        adjectives=tuple(draw(st.lists(lemmas, max_size=2))),
        conjunct=conjunct,
    )


@st.composite
def relative_clauses(
    draw: st.DrawFn, lemmas: st.SearchStrategy[str] | None = None, *, depth: int = 1
) -> RelativeClause:
    """Relative clauses with any of their fields open, with further ones up to *depth*."""
    event = draw(partial_events(lemmas, depth=depth, gap=True))
    relativizer = draw(maybe(plain_words() if lemmas is None else lemmas))
    kind = draw(sample_or_none(*ClauseKind))
    try:
        return RelativeClause(event=event, relativizer=relativizer, kind=kind)
    except Contradiction:  # the event has its own idea of kind and gap
        open_event = replace(event, agent=None, patient=None, recipient=None)
        return RelativeClause(event=open_event, relativizer=relativizer)


@st.composite
def generalizations(draw: st.DrawFn, value: Any) -> Any:
    """Values that subsume *value*: any of its fields, at any depth, opened.

    Ditransitive events keep what tells them from transitive ones, which other fields imply.
    """
    changes = {}
    is_gift = getattr(value, "frame", None) is Frame.DITRANSITIVE
    for field in fields(value):
        old = getattr(value, field.name)
        unstated = None if field.default is MISSING else field.default
        if isinstance(old, Event | Participant | RelativeClause):
            new = draw(generalizations(old))
            changes[field.name] = new if field.name == "event" or draw(st.booleans()) else unstated
        elif is_gift and (field.name in ("frame", "dative") or old is GAP):
            changes[field.name] = old
        else:
            changes[field.name] = old if draw(st.booleans()) else unstated
    return type(value)(**changes)


@st.composite
def full_events(
    draw: st.DrawFn,
    lexicon: Lexicon,
    *,
    vocabulary: str = "compeval",
    clauses: bool = True,
    gap: Role | None = None,
    frame: Frame | None = None,
    moods: tuple[Mood, ...] = (Mood.STATEMENT, Mood.STATEMENT, *Mood),
) -> Event:
    """Fully specified events, in the words of a vocabulary, that *lexicon* can realize.

    With *clauses*, each participant may have a relative clause without further ones.
    """
    words = lexicon.vocabulary(vocabulary).words
    frame = draw(verb_frames(lexicon, vocabulary)) if frame is None else frame
    voice, dative = draw(sample_from(*list_forms(frame, gap)))
    persons = full_participants(lexicon, vocabulary=vocabulary, clauses=clauses)
    arguments: dict[str, Any] = {role.value: GAP if role is gap else draw(persons) for role in FRAME_ROLES[frame]}
    polarity = draw(sample_from(*Polarity))
    negators = sample_from(*Negator) if polarity is Polarity.NEGATIVE else st.none()
    adverbs = st.lists(sample_from(*words[Kind.ADVERB]), max_size=2, unique=True)
    negator = draw(negators)
    form = Form.MD_NEG if negator is Negator.CONTRACTED else Form.MD
    mood = Mood.STATEMENT if gap is not None else draw(sample_from(*moods))
    if mood is Mood.ORDER:
        voice = Voice.ACTIVE
        del arguments[Role.AGENT.value]
    if mood is Mood.QUESTION and draw(st.booleans()):
        possible = [role for role in FRAME_ROLES[frame] if (voice, dative) in list_forms(frame, role)]
        if possible:
            arguments[draw(sample_from(*possible)).value] = Asked.WHO
    modal = draw(sample_or_none(*(word.lemma for word in lexicon.words(Kind.MODAL) if form in word.forms)))
    aspects = map(Aspect, lexicon.language.aspects)
    event = Event(
        predicate=draw(sample_from(*words[Kind(frame.value)])),
        frame=frame,
        voice=voice,
        dative=dative,
        tense=draw(sample_from(*Tense)) if modal is None and mood is not Mood.ORDER else None,
        modal=None if mood is Mood.ORDER else modal,
        aspect=Aspect.SIMPLE if mood is Mood.ORDER else draw(sample_from(*list_aspects(aspects, voice))),
        mood=mood,
        polarity=polarity,
        negator=negator,
        adverbs=tuple(draw(adverbs)),
        **arguments,
    )
    if gap is None and (adjuncts := [word.lemma for word in lexicon.words(Kind.ADJUNCT)]):
        fronting = draw(sample_or_none(Fronting.ADJUNCT)) if mood is Mood.STATEMENT else None
        if fronting is not None or not ends_in_clause(event):
            adjunct = draw((sample_from if fronting else sample_or_none)(*adjuncts))
            event = replace(event, adjunct=adjunct, fronting=fronting)
    return draw(polar_events(draw(reflexive_events(event, event.agent, lexicon)), lexicon))


def list_aspects(aspects: Iterable[Aspect], voice: Voice | None) -> list[Aspect]:
    """The aspects of *aspects* that a clause in this voice can have: a perfect progressive has no passive."""
    return [a for a in aspects if a is not Aspect.PERFECT_PROGRESSIVE or voice is not Voice.PASSIVE]


@st.composite
def reflexive_events(draw: st.DrawFn, event: Event, agent: Argument | None, lexicon: Lexicon) -> Event:
    """The event, or the event with a reflexive that agrees with *agent*, if it can have one."""
    role = Role.RECIPIENT if event.frame is Frame.DITRANSITIVE else Role.PATIENT
    can_bind = event.voice is Voice.ACTIVE and event.mood is not Mood.ORDER and isinstance(agent, Participant | Asked)
    if not (can_bind and isinstance(event.argument(role), Participant) and draw(sample_from(*range(3))) == 0):
        return event
    words = [Reflexive.HIMSELF, Reflexive.HERSELF]
    if isinstance(agent, Participant):
        gender = lexicon.get(agent.noun or "", Kind.NOUN).gender
        words = {"masc": words[:1], "fem": words[1:], "": words}[gender]
        words = [Reflexive.THEMSELVES] if agent.agreement is Number.PLURAL else words
        clause = agent.clause
        if isinstance(clause, RelativeClause) and clause.event.agent is GAP and agent.agreement is Number.SINGULAR:
            bound = [clause.event.argument(role) for role in ROLES]
            words = [word for word in words if word in bound] or words
    return event.with_argument(role, draw(sample_from(*words)))


@st.composite
def polar_events(draw: st.DrawFn, event: Event, lexicon: Lexicon) -> Event:
    """The event, or the event with polarity items where a negation or a question licenses them."""
    is_question = event.mood is Mood.QUESTION
    if not lexicon.kinds_of("ever") or not (is_question or event.polarity is Polarity.NEGATIVE):
        return event
    if draw(st.booleans()):
        event = replace(event, adverbs=(*(event.adverbs or ()), "ever"))
    for role in ROLES:
        person = event.argument(role)
        if not isinstance(person, Participant) or lexicon.get(person.determiner or "", Kind.DETERMINER).phrase in NAMED:
            continue
        if (is_question or role is not event.subject) and draw(st.booleans()):
            event = event.with_argument(role, replace(person, determiner="any"))
    return event


def verb_frames(lexicon: Lexicon, vocabulary: str) -> st.SearchStrategy[Frame]:
    """Frames of which a vocabulary has verbs."""
    words = lexicon.vocabulary(vocabulary).words
    return sample_from(*(frame for frame in Frame if words.get(Kind(frame.value))))


def list_forms(frame: Frame, gap: Role | None) -> list[tuple[Voice, Dative | None]]:
    """Return the voices of a clause and the forms of its recipient that the grammar has."""
    if frame is not Frame.DITRANSITIVE:
        return [(voice, None) for voice in (Voice if frame is Frame.TRANSITIVE else (Voice.ACTIVE,))]
    forms: list[tuple[Voice, Dative | None]] = [(voice, dative) for voice in Voice for dative in Dative]
    subjects = {form: Event(frame=frame, voice=form[0], dative=form[1]).subject for form in forms}
    if gap is None:
        return forms
    objects = {Role.AGENT: (), Role.PATIENT: tuple(Dative), Role.RECIPIENT: (Dative.TO,)}[gap]
    return [f for f in forms if subjects[f] is gap or (f[0] is Voice.ACTIVE and f[1] in objects)]


@st.composite
def full_participants(
    draw: st.DrawFn, lexicon: Lexicon, *, vocabulary: str = "compeval", clauses: bool = True, coordinated: bool = True
) -> Participant:
    """Fully specified participants, also names, with adjectives if the vocabulary has some; the determiner fits."""
    number = draw(sample_from(*Number))
    form = Form(f"DT.{number.value}")
    determiners = [w for w in lexicon.words(Kind.DETERMINER) if form in w.forms and Flag.NPI not in w.flags]
    determiner = draw(st.sampled_from(determiners))
    is_name = determiner.phrase in NAMED
    clause: Bare | RelativeClause = BARE
    conjunct = None
    if clauses and not is_name and draw(st.booleans()):
        clause = draw(full_clauses(lexicon, vocabulary=vocabulary))
    elif coordinated and draw(sample_from(*range(4))) == 0:
        conjunct = draw(full_participants(lexicon, vocabulary=vocabulary, clauses=False, coordinated=False))
    adjectives = () if is_name else lexicon.vocabulary(vocabulary).words[Kind.ADJECTIVE]
    names = tuple(noun.lemma for noun in lexicon.words(Kind.NOUN) if is_name and noun.phrase == determiner.phrase)
    person = Participant(
        noun=draw(st.sampled_from(names or lexicon.vocabulary(vocabulary).words[Kind.NOUN])),
        adjectives=tuple(draw(st.lists(sample_from(*adjectives), max_size=2))) if adjectives else (),
        conjunct=conjunct,
        number=number,
        determiner=determiner.lemma,
        clause=clause,
    )
    if isinstance(clause, RelativeClause) and clause.event.agent is GAP:
        inner = draw(reflexive_events(clause.event, person, lexicon))
        return replace(person, clause=replace(clause, event=inner))
    return person


@st.composite
def full_clauses(draw: st.DrawFn, lexicon: Lexicon, *, vocabulary: str = "compeval") -> RelativeClause:
    """Fully specified relative clauses without further ones."""
    frame = draw(verb_frames(lexicon, vocabulary))
    gap = draw(sample_from(*FRAME_ROLES[frame]))
    event = full_events(lexicon, vocabulary=vocabulary, clauses=False, gap=gap, frame=frame)
    relativizers = [word.lemma for word in lexicon.words(Kind.RELATIVIZER) if word.accepts([PERSON])]
    return RelativeClause(event=draw(event), relativizer=draw(st.sampled_from(relativizers)))
