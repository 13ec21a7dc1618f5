"""Logical forms of events: the notation of COGS (Kim and Linzen 2020), and one without variables (Qiu et al. 2022).

Both are read back, each by the inverse of its writer. An event keeps its meaning in a logical form, but not its
wording: voice, the order of patient and recipient, and relativizer are open in the event that is read.

A logical form of COGS, in which x _ 4 stands for the word with index 4 in the sentence::

    form     ::= (definite ";")* term ("AND" term)*
    definite ::= "*" NOUN "(" VARIABLE ")"
    term     ::= NOUN "(" VARIABLE ")" | WORD "." ROLE "(" VARIABLE "," (VARIABLE | NAME) ")"

A relative clause is a term "NOUN . nmod ( NOUN'S VARIABLE , VERB'S VARIABLE )", as in SLOG (Li et al. 2023). Without
variables, the role that the modified noun has in its relative clause is left out::

    clause ::= VERB "(" [argument ("," argument)*] ")"
    argument ::= ROLE "=" ["*"] NOUN ["(" "nmod" "=" clause ")"]
"""

import re
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.generator.events.event import (
    BARE,
    FRAME_ROLES,
    GAP,
    Aspect,
    Event,
    Frame,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.sentences.sentence_plan import plan_sentence
from sentprobe.lexicon.languages.language import Language

ROLE_NAMES: Mapping[Role, str] = {Role.AGENT: "agent", Role.PATIENT: "theme", Role.RECIPIENT: "recipient"}
"""The names of roles in logical forms."""
ROLES_BY_NAME = {name: role for role, name in ROLE_NAMES.items()}
MODIFIER = "nmod"
DEFINITE, INDEFINITE = "the", "a"


@dataclass(frozen=True, slots=True)
class LogicalTerm:
    """A term: the parts of its name, such as ("help", "agent"), and its arguments, which are word indices or names."""

    name: tuple[str, ...]
    arguments: tuple[int | str, ...]

    def __str__(self) -> str:
        arguments = " , ".join(f"x _ {a}" if isinstance(a, int) else a for a in self.arguments)
        return f"{' . '.join(self.name)} ( {arguments} )"


@dataclass(frozen=True, slots=True)
class LogicalForm:
    """A logical form of COGS; its text is the notation."""

    definites: tuple[LogicalTerm, ...]
    terms: tuple[LogicalTerm, ...]

    def __str__(self) -> str:
        return "".join(f"* {term} ; " for term in self.definites) + " AND ".join(map(str, self.terms))


def check_fragment(event: Event) -> None:
    """Raise UsageError unless an event is in the fragment of COGS: past, singular, *the* or *a*, no other feature."""
    for clause, _ in iterate_clauses(event):
        features = (clause.tense, clause.aspect, clause.polarity, clause.modal, clause.adjunct, clause.mood)
        is_plain = features == (Tense.PAST, Aspect.SIMPLE, Polarity.POSITIVE, None, None, "statement")
        is_plain = is_plain and not clause.adverbs
        people = [person for _, person in iterate_participants(clause)]
        are_plain = all(
            (p.number, p.adjectives, p.conjunct) == (Number.SINGULAR, (), None)
            and p.determiner in (DEFINITE, INDEFINITE)
            for p in people
        )
        if not is_plain or not are_plain or clause.reflexive is not None:
            raise UsageError(
                f"{clause.predicate}: a logical form is for positive statements in the simple past, of singular nouns "
                "with the or a"
            )


def build_logical_form(event: Event, language: Language) -> LogicalForm:
    """Return the logical form of an event. Raises UsageError outside the fragment.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> (event,) = parse("the man helped a doctor", english())
    >>> str(build_logical_form(event, english().language))
    '* man ( x _ 1 ) ; help . agent ( x _ 2 , x _ 1 ) AND help . theme ( x _ 2 , x _ 4 ) AND doctor ( x _ 4 )'
    """
    check_fragment(event)
    indices = {token.slot: index for index, token in enumerate(plan_sentence(event, language).tokens) if token.slot}
    # A term stands where its first variable does; those of a verb follow the order of its participants.
    all_terms = sorted(
        _iterate_terms(event, indices, ""), key=lambda pair: [at for at in pair[1].arguments if isinstance(at, int)]
    )
    definites, terms = (tuple(t for is_star, t in all_terms if is_star is side) for side in (True, False))
    return LogicalForm(definites, terms)


def _iterate_terms(
    event: Event, indices: Mapping[str, int], path: str, head: int = 0
) -> Iterator[tuple[bool, LogicalTerm]]:
    """Yield the terms of a clause, each with whether it introduces a definite noun. *head*: the modified noun."""
    verb = indices[f"{path}verb"]
    for role in event.roles:
        filler = event.argument(role)
        noun = indices[f"{path}{role.value}.noun"] if isinstance(filler, Participant) else head
        yield False, LogicalTerm((event.predicate or "", ROLE_NAMES[role]), (verb, noun))
        if isinstance(filler, Participant):
            lemma = filler.noun or ""
            yield filler.determiner == DEFINITE, LogicalTerm((lemma,), (noun,))
            if isinstance(filler.clause, RelativeClause):
                inner = f"{path}{role.value}.clause."
                yield False, LogicalTerm((lemma, MODIFIER), (noun, indices[f"{inner}verb"]))
                yield from _iterate_terms(filler.clause.event, indices, inner, noun)


_TERM = re.compile(r"(?P<name>[^\s().;,*]+(?: \. [^\s().;,*]+)*) \( (?P<arguments>[^()]+) \)")
_VARIABLE = re.compile(r"x _ ([0-9]{1,6})")


def read_logical_form(text: str) -> LogicalForm:
    """Read a logical form of COGS; the inverse of its text. Raises FormatError.

    >>> form = read_logical_form("* cake ( x _ 4 ) ; see . agent ( x _ 1 , Emma ) AND see . theme ( x _ 1 , x _ 4 )")
    >>> form.definites[0].name, form.terms[0].arguments
    (('cake',), (1, 'Emma'))
    """
    *definites, rest = text.split(" ; ")
    for definite in definites:
        if not definite.startswith("* "):
            raise FormatError(f"{definite!r}: a definite noun begins with *, as in * man ( x _ 1 )")
    return LogicalForm(
        tuple(_read_term(definite.removeprefix("* ")) for definite in definites),
        tuple(map(_read_term, rest.split(" AND "))),
    )


def _read_term(text: str) -> LogicalTerm:
    match = _TERM.fullmatch(text)
    if match is None:
        raise FormatError(f"{text!r}: a term is expected, such as help . agent ( x _ 2 , x _ 1 )")
    arguments = match["arguments"].split(" , ")
    variables = [_VARIABLE.fullmatch(argument) for argument in arguments]
    values = tuple(int(v[1]) if v else argument for v, argument in zip(variables, arguments, strict=True))
    return LogicalTerm(tuple(match["name"].split(" . ")), values)


def to_event(form: LogicalForm) -> Event:
    """Return the event of a logical form, with open wording. Raises UsageError if it is outside the fragment.

    >>> to_event(read_logical_form("man ( x _ 1 ) AND sleep . agent ( x _ 2 , x _ 1 )")).agent.noun
    'man'
    """
    # Terms come in any order, so that all are collected by their variables before a clause is built.
    nouns: dict[int, tuple[str, str]] = {}
    verbs: dict[int, tuple[str, dict[Role, int]]] = {}
    modifiers: dict[int, int] = {}
    for determiner, term in [*((DEFINITE, t) for t in form.definites), *((INDEFINITE, t) for t in form.terms)]:
        match term.name, term.arguments:
            case (noun,), (int(at),) if at not in nouns:
                nouns[at] = noun, determiner
            case (_, "nmod"), (int(noun_at), int(verb_at)) if noun_at not in modifiers:
                modifiers[noun_at] = verb_at
            case (verb, name), (int(verb_at), int(noun_at)) if name in ROLES_BY_NAME:
                known, roles = verbs.setdefault(verb_at, (verb, {}))
                if known != verb or ROLES_BY_NAME[name] in roles:
                    _reject(term)
                roles[ROLES_BY_NAME[name]] = noun_at
            case _:
                _reject(term)

    def build(verb_at: int, head: int | None, above: tuple[int, ...]) -> Event:
        # The second test is for a form that goes in circles (a clause within itself), which would recurse for ever.
        if verb_at not in verbs or verb_at in above:
            raise UsageError(f"{form}: x _ {verb_at} is no verb of a clause within the others")
        verb, roles = verbs[verb_at]
        fillers: dict[Role, Participant | None] = {}
        for role, at in roles.items():
            if at == head:
                fillers[role] = None
                continue
            if at not in nouns:
                raise UsageError(f"{form}: x _ {at} is no noun")
            inner = build(modifiers[at], at, (*above, verb_at)) if at in modifiers else None
            fillers[role] = _build_participant(*nouns[at], inner)
        return _build_clause(verb, fillers)

    try:
        return build(_find_main_verb(form, verbs, {*modifiers.values()}), None, ())
    except RecursionError:
        raise UsageError(f"{form!s:.60}...: nested too deep") from None


def _find_main_verb(form: LogicalForm, verbs: Iterable[int], modifiers: Container[int]) -> int:
    """Return the place of the only verb that modifies no noun. Raises UsageError if there are none or several."""
    mains = [at for at in verbs if at not in modifiers]
    if len(mains) != 1:
        raise UsageError(f"{form}: one main verb is expected, not {len(mains)}")
    return mains[0]


def _reject(term: LogicalTerm) -> NoReturn:
    raise UsageError(f"{term}: a noun, its relative clause (nmod), or a verb's agent, theme or recipient is expected")


def _build_participant(noun: str, determiner: str, clause: Event | None) -> Participant:
    return Participant(
        noun=noun,
        number=Number.SINGULAR,
        determiner=determiner,
        clause=BARE if clause is None else RelativeClause(event=clause),
    )


def _build_clause(verb: str, fillers: Mapping[Role, Participant | None]) -> Event:
    """Return a clause with these participants; None is the gap of a relative clause."""
    frames = (Frame.INTRANSITIVE, Frame.TRANSITIVE, Frame.DITRANSITIVE)
    frame = next((frame for frame in frames if {*FRAME_ROLES[frame]} == {*fillers}), None)
    if frame is None:
        names = " and ".join(ROLE_NAMES[role] for role in fillers)
        raise UsageError(f"{verb}: agent, agent and theme, or agent, theme and recipient are expected, not {names}")
    return Event(
        predicate=verb,
        frame=frame,
        tense=Tense.PAST,
        aspect=Aspect.SIMPLE,
        polarity=Polarity.POSITIVE,
        adverbs=(),
        **{role.value: GAP if filler is None else filler for role, filler in fillers.items()},  # type: ignore[arg-type]
    )


def write_variable_free(event: Event) -> str:
    """Return an event's logical form without variables. Raises UsageError outside the fragment.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> write_variable_free(*parse("a man that the lawyer helped slept", english()))
    'sleep ( agent = man ( nmod = help ( agent = * lawyer ) ) )'
    """
    check_fragment(event)
    return _write_clause(event)


def _write_clause(event: Event) -> str:
    arguments = []
    for role in event.roles:
        filler = event.argument(role)
        if isinstance(filler, Participant):
            star = "* " if filler.determiner == DEFINITE else ""
            clause = filler.clause
            inner = f" ( nmod = {_write_clause(clause.event)} )" if isinstance(clause, RelativeClause) else ""
            arguments.append(f"{ROLE_NAMES[role]} = {star}{filler.noun}{inner}")
    return f"{event.predicate} ( {' , '.join(arguments)} )" if arguments else f"{event.predicate} ( )"


def read_variable_free(text: str) -> Event:
    """Read a logical form without variables; the inverse of its writer, with open wording. Raises FormatError.

    >>> read_variable_free("sleep ( agent = * man )").agent.determiner
    'the'
    """
    reader = _VariableFreeReader(text)
    try:
        event = reader.read_clause(is_main=True)
    except RecursionError:
        raise FormatError(f"{text[:60]!r}...: nested too deep") from None
    if reader.tokens:
        raise FormatError(f"{text!r}: {reader.tokens[0]!r} follows the end of the logical form")
    return event


class _VariableFreeReader:
    """A reader of logical forms without variables by recursive descent; it takes tokens from the front."""

    def __init__(self, text: str) -> None:
        self.tokens = deque(text.split())
        self._text = text
        self._total = len(self.tokens)

    def _take(self, expected: str = "") -> str:
        """Take the next token, which must be *expected* or, by default, a word. Raises FormatError."""
        token = self.tokens.popleft() if self.tokens else ""
        if token != expected if expected else re.fullmatch(r"[^\s()=,*]+", token) is None:
            place = f"token {self._total - len(self.tokens)} is {token}" if token else "it ends early"
            raise FormatError(f"{self._text!r}: {place}; expected: {expected or 'a word'}")
        return token

    def _is_next(self, token: str) -> bool:
        return bool(self.tokens) and self.tokens[0] == token

    def read_clause(self, *, is_main: bool) -> Event:
        verb = self._take()
        self._take("(")
        fillers: dict[Role, Participant | None] = {}
        while not self._is_next(")"):
            if fillers:
                self._take(",")
            role = ROLES_BY_NAME.get(name := self._take())
            if role is None or role in fillers:
                raise FormatError(f"{self._text!r}: {name}: agent, theme or recipient is expected, each once")
            self._take("=")
            fillers[role] = self._read_participant()
        self._take(")")
        if not is_main:
            fillers[_find_gap(fillers)] = None
        return _build_clause(verb, fillers)

    def _read_participant(self) -> Participant:
        determiner = DEFINITE if self._is_next("*") else INDEFINITE
        if determiner == DEFINITE:
            self._take("*")
        noun, clause = self._take(), None
        if self._is_next("("):
            self._take("(")
            self._take(MODIFIER)
            self._take("=")
            clause = self.read_clause(is_main=False)
            self._take(")")
        return _build_participant(noun, determiner, clause)


def _find_gap(fillers: Mapping[Role, object]) -> Role:
    """Return the first role that a clause with one more participant lacks: the role of the modified noun."""
    return next((role for role in (Role.AGENT, Role.PATIENT, Role.RECIPIENT) if role not in fillers), Role.AGENT)
