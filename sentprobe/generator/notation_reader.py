"""The reader of the text notation of events; :mod:`sentprobe.generator.notation` describes it."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from sentprobe.errors import NotationError, suggest
from sentprobe.generator import event as ev

ParseNode: TypeAlias = Tree[Token]


Made = TypeVar("Made")


class Expected(NamedTuple):
    """What a text should have gone on with: a message, how to know it, and texts that break off so.

    It is meant where all of ``terminals`` could have stood; the bracket that would close the
    innermost open one always counts as possible.
    """

    message: str
    terminals: frozenset[str]
    examples: tuple[str, ...]


def _expected(message: str, terminals: str, *examples: str) -> Expected:
    return Expected(message, frozenset(terminals.split()), examples)


EXPECTED = (
    _expected(
        "expected nothing after the event",
        "$END",
        "x y",
        "x)",
        "x:",
        "x(agent: y) z",
        "x[past][neg]",
    ),
    _expected("expected ':' after the role", "COLON", "x(agent", "x(agent y)", "x(agent)"),
    _expected("expected ',' or ']'", "COMMA RSQB", "x[past", "x[past pres]", "x[adv() y]"),
    _expected(
        "expected ',' or ')'", "COMMA RPAR", "x(agent: y", "x(agent: _ z)", "x[adv(y z)]", "x[adv(y"
    ),
    _expected("expected a participant or _", "GAP", "x(agent:", "x(agent: [pl])", "x(agent: who)"),
    _expected(
        "expected a lemma or *", "STAR", "", "[past]", "that", "x(agent: that)", "x(agent: y rc"
    ),
    _expected(
        "expected a word", "WORD QUOTED", "x[adv(", "x[adv(*)]", "x[adv(y,)]", "x(agent: y rc(["
    ),
    _expected("expected a feature", "WORD RSQB", "x[", "x[,", "x[past,]", "x[*]", "x[that]"),
    _expected("expected agent: or patient:", "WORD RPAR", "x(", "x(*", "x(agent: y,)", "x(that y)"),
)
"""What may be expected; the first that fits is said."""


class Reader:
    """Reads one text; a mistake is raised with its place in the text."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source

    def read(self) -> ev.Event:
        """Return the event that the text states."""
        try:
            tree = parser().parse(self.text)
        except UnexpectedInput as error:
            self.fail(*explain(error, self.text))
        (event,) = trees(tree)
        return self.event(event, 0)

    def fail(self, message: str, offset: int) -> NoReturn:
        """Raise the mistake at *offset*."""
        raise NotationError(message, self.text, offset, self.source) from None

    def event(self, node: ParseNode, depth: int) -> ev.Event:
        """Return the event of a tree, *depth* relative clauses down."""
        start = first_token(node).start_pos or 0
        if depth > ev.MAX_DEPTH:
            self.fail(f"relative clauses nest deeper than {ev.MAX_DEPTH}", start)
        parts = by_name(node)
        fields = self.features(parts.get("features"), "a predicate")
        if "roles" in parts:
            fields |= self.roles(parts["roles"], depth)
        return self.make(ev.Event, start, predicate=self.lemma(parts["predicate"]), **fields)

    def make(self, kind: Callable[..., Made], offset: int, /, **fields: Any) -> Made:
        """Return a new value; a contradiction in it is placed at *offset*."""
        try:
            return kind(**fields)
        except ev.Contradiction as error:
            self.fail(str(error), offset)

    def roles(self, node: ParseNode, depth: int) -> dict[str, ev.Argument]:
        """Return who fills each role that is stated."""
        found: dict[str, ev.Argument] = {}
        for tree in trees(node):
            name, filler = tree.children
            assert isinstance(name, Token)
            at = name.start_pos or 0
            if name not in ROLES:
                hint = suggest(name, ROLES) or ", expected agent or patient"
                self.fail(f"unknown role '{name}'{hint}", at)
            if name in found:
                self.fail(f"the {name} is stated twice", at)
            found[str(name)] = (
                ev.GAP if isinstance(filler, Token) else self.participant(filler, depth)
            )
        return found

    def participant(self, node: ParseNode, depth: int) -> ev.Participant:
        """Return the participant of a tree."""
        parts = by_name(node)
        fields = self.features(parts.get("features"), "a noun")
        if "clause" in parts:
            if "clause" in fields:
                at = first_token(parts["clause"]).start_pos or 0
                self.fail("a bare noun has no relative clause", at)
            fields["clause"] = self.clause(parts["clause"], depth)
        if "determiner" in parts:
            fields["determiner"] = self.lemma(parts["determiner"])
        return ev.Participant(noun=self.lemma(parts["noun"]), **fields)

    def clause(self, node: ParseNode, depth: int) -> ev.RelativeClause:
        """Return the relative clause of a tree."""
        introduction, event = trees(node)
        word, parts = first_token(introduction), by_name(introduction)
        fields = self.features(parts.get("features"), "a relative clause")
        fields["relativizer"] = None if word.type == "RC" else str(word)
        if "words" in parts:
            words = self.words(parts["words"])
            if len(words) != 1:
                self.fail("expected one relativizer in rc(...)", word.start_pos or 0)
            (fields["relativizer"],) = words
        fields["event"] = self.event(event, depth + 1)
        return self.make(ev.RelativeClause, word.start_pos or 0, **fields)

    def features(self, node: ParseNode | None, owner: str) -> dict[str, Any]:
        """Return the fields that the features of *owner* state."""
        fields: dict[str, Any] = {}
        for feature in [] if node is None else trees(node):
            name = first_token(feature)
            field, value = self.feature(feature, name, owner)
            if field in fields:
                self.fail(f"'{name}' states the {field} a second time", name.start_pos or 0)
            fields[field] = value
        return fields

    def feature(self, node: ParseNode, name: Token, owner: str) -> tuple[str, Any]:
        """Return the field that a feature states, with its value."""
        at, parts = name.start_pos or 0, by_name(node)
        if name == ADVERBS and owner == "a predicate":
            if "words" not in parts:
                self.fail("expected the adverbs in parentheses, as adv(really)", at)
            return "adverbs", self.words(parts["words"])
        if "words" in parts:
            self.fail(f"the feature '{name}' takes no words in parentheses", at)
        known = FEATURES[owner]
        if name not in known:
            self.fail(unknown_feature(str(name), owner), at)
        return known[str(name)]

    def words(self, node: ParseNode) -> tuple[str, ...]:
        """Return the lemmas of a list."""
        return tuple(lemma for tree in trees(node) if (lemma := self.lemma(tree)) is not None)

    def lemma(self, node: ParseNode) -> str | None:
        """Return the lemma of a tree, None for ``*``."""
        token = first_token(node)
        if token.type != "QUOTED":
            return None if token.type == "STAR" else str(token)
        try:
            return str(json.loads(token, strict=False))
        except json.JSONDecodeError as error:
            self.fail("bad escape in a quoted lemma", (token.start_pos or 0) + error.pos)


CLOSING = {"LSQB": "RSQB", "LPAR": "RPAR"}
ROLES = tuple(role.value for role in ev.Role)
ADVERBS = "adv"
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "a predicate": {
        "frame": ev.Frame,
        "voice": ev.Voice,
        "tense": ev.Tense,
        "aspect": ev.Aspect,
        "polarity": ev.Polarity,
        "negator": ev.Negator,
    },
    "a noun": {"number": ev.Number, "clause": (ev.BARE,)},
    "a relative clause": {"kind": ev.ClauseKind},
}
_LONG_NAMES = {"pres", "prog", "pos", "neg", "sg", "pl"}


def _names(value: Any) -> Iterator[str]:
    yield value.value
    if value.value in _LONG_NAMES:
        yield value.name.lower()


FEATURES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    owner: {
        name: (field, value)
        for field, values in fields.items()
        for value in values
        for name in _names(value)
    }
    for owner, fields in _FIELDS.items()
}
"""The features by what they are features of and by name: the field, its value."""


def unknown_feature(name: str, owner: str) -> str:
    """Return what is wrong with a feature that *owner* does not have."""
    others = [other for other, known in FEATURES.items() if name in known]
    if others:
        return f"'{name}' is a feature of {others[0]}, not of {owner}"
    known = (*FEATURES[owner], ADVERBS) if owner == "a predicate" else tuple(FEATURES[owner])
    hint = suggest(name, known) or f" of {owner}, expected one of {', '.join(known)}"
    return f"unknown feature '{name}'{hint}"


@cache
def parser() -> Lark:
    """Return the parser of the notation."""
    text = files(__package__).joinpath("event.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", maybe_placeholders=False)


def explain(error: UnexpectedInput, text: str) -> tuple[str, int]:
    """Return what is wrong and the offset of it."""
    offset = error.pos_in_stream or 0
    if isinstance(error, UnexpectedToken):
        at_end = error.token.type == "$END"
        return explain_token(error), len(text.rstrip()) if at_end else offset
    if text[offset] == '"':
        return "a quotation mark without its end", offset
    return f"unexpected character {text[offset]!r}", offset


def explain_token(error: UnexpectedToken) -> str:
    """Return the message of the first of :data:`EXPECTED` that fits."""
    stack = error.state.value_stack
    possible = set(error.accepts)
    brackets = [part.type for part in stack if isinstance(part, Token) and part.type in CLOSING]
    possible |= {CLOSING[name] for name in brackets[-1:]}
    return next(row.message for row in EXPECTED if row.terminals <= possible)


def trees(node: ParseNode) -> list[ParseNode]:
    """Return the children of a tree that are trees."""
    return [child for child in node.children if isinstance(child, Tree)]


def by_name(node: ParseNode) -> dict[str, ParseNode]:
    """Return the children of a tree that are trees, by name."""
    return {str(child.data): child for child in trees(node)}


def first_token(node: ParseNode) -> Token:
    """Return the first token in a tree."""
    return next(node.scan_values(lambda value: isinstance(value, Token)))
