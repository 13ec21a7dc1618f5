"""A generated sentence with its gold annotation."""

from dataclasses import dataclass

from sentprobe.generator.events.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word of a sentence, annotated as in CoNLL-U.

    ``head`` is the number, from 1, of the token that this token depends on, or 0 for the root. ``feats`` is "" if the
    token has no features.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """A verb and the nouns of its participants, as token numbers from 1.

    In a relative clause, the participant in the gap's role is the noun that the clause modifies. An intransitive verb
    has no patient, and an imperative has no agent.
    """

    verb: int
    agent: int | None
    patient: int | None
    recipient: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation:
    """A negation: its cue and the verb that it negates, as token numbers from 1."""

    cue: int
    verb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with its event and gold annotation.

    ``tree`` is the constituency tree in Penn brackets. ``predicates`` has the main verb first, and then the verbs of
    relative clauses in the order of the clauses. For a sentence from a space, ``index`` is the position in the space,
    and ``template`` the name of the sub-template; for a parsed sentence, ``index`` is None and ``template`` "".
    """

    id: str
    tokens: tuple[Token, ...]
    tree: str
    event: Event
    predicates: tuple[Predicate, ...]
    negations: tuple[Negation, ...]
    template: str = ""
    index: int | None = None

    @property
    def text(self) -> str:
        """The tokens, separated by single spaces."""
        return " ".join(token.form for token in self.tokens)
