"""Parser of the text notation of events (see :mod:`sentprobe.generator.events.notation`)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from sentprobe.common.errors import NotationError, suggest
from sentprobe.generator.events import event as ev

ParseNode: TypeAlias = Tree[Token]
ParsedValue = TypeVar("ParsedValue")


class SyntaxHint(NamedTuple):
    """A message for syntax errors at places where each of ``terminals`` could stand; ``examples`` have such errors."""

    message: str
    terminals: str
    examples: tuple[str, ...]


EXPECTED_TOKENS = (
    SyntaxHint("expected nothing after the event", "$END", ("x y", "x)", "x:", "x(agent: y) z", "x[past][neg]")),
    SyntaxHint("expected ':' after the role", "COLON", ("x(agent", "x(agent y)", "x(agent)")),
    SyntaxHint("expected ',' or ']'", "COMMA RSQB", ("x[past", "x[past pres]", "x[adv() y]")),
    SyntaxHint("expected ',' or ')'", "COMMA RPAR", ("x(agent: y", "x(agent: _ z)", "x[adv(y z)]", "x[adv(y")),
    SyntaxHint("expected a participant, who?, what? or _", "GAP", ("x(agent:", "x(agent: [pl])", "x(agent: who)")),
    SyntaxHint("expected a lemma or *", "STAR", ("", "[past]", "that", "x(agent: that)", "x(agent: y rc")),
    SyntaxHint("expected a word", "WORD QUOTED", ("x[adv(", "x[adv(*)]", "x[adv(y,)]", "x(agent: y rc([")),
    SyntaxHint("expected a feature", "WORD RSQB", ("x[", "x[,", "x[past,]", "x[*]", "x[that]")),
    SyntaxHint("expected agent:, patient: or recipient:", "WORD RPAR", ("x(", "x(*", "x(agent: y,)", "x(that y)")),
)
"""The messages of syntax errors: an error gets the first message whose terminals are all possible at the error."""


class NotationReader:
    """Parser of the notation of one event; error messages name line and column."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source

    def read(self) -> ev.Event:
        """Return the event that the text describes. Raises NotationError."""
        try:
            tree = build_parser().parse(self.text)
        except UnexpectedInput as error:
            self._fail(*_explain_error(error, self.text))
        (event,) = _list_subtrees(tree)
        return self._read_event(event, 0)

    def _fail(self, message: str, offset: int) -> NoReturn:
        raise NotationError(message, self.text, offset, self.source) from None

    def _read_event(self, node: ParseNode, depth: int) -> ev.Event:
        """Return the event that a parse tree describes; the event is inside *depth* nested relative clauses."""
        start = _find_first_token(node).start_pos or 0
        if depth > ev.MAX_DEPTH:
            self._fail(f"relative clauses nest deeper than {ev.MAX_DEPTH}", start)
        parts = _index_subtrees(node)
        fields = self._read_features(parts.get("features"), "a predicate")
        if "roles" in parts:
            fields |= self._read_roles(parts["roles"], depth)
        return self._build_value(ev.Event, start, predicate=self._read_lemma(parts["predicate"]), **fields)

    def _build_value(self, kind: Callable[..., ParsedValue], offset: int, /, **fields: Any) -> ParsedValue:
        """Return ``kind(**fields)``; a contradiction becomes a NotationError at *offset*."""
        try:
            return kind(**fields)
        except ev.Contradiction as error:
            self._fail(str(error), offset)

    def _read_roles(self, node: ParseNode, depth: int) -> dict[str, ev.Argument]:
        fillers: dict[str, ev.Argument] = {}
        for tree in _list_subtrees(node):
            name, filler = tree.children
            assert isinstance(name, Token)
            at = name.start_pos or 0
            if name not in ROLES:
                hint = suggest(name, ROLES) or ", expected agent, patient or recipient"
                self._fail(f"unknown role '{name}'{hint}", at)
            if name in fillers:
                self._fail(f"the {name} is stated twice", at)
            fillers[str(name)] = self._read_argument(filler, depth)
        return fillers

    def _read_argument(self, filler: ParseNode | Token, depth: int) -> ev.Argument:
        if isinstance(filler, Token):
            if filler.type == "ASKED":
                return ev.Asked(filler.removesuffix("?"))
            return ev.Reflexive(filler) if filler.type == "REFLEXIVE" else ev.GAP
        first, *others = (self._read_phrase(phrase, depth) for phrase in _list_subtrees(filler))
        if not others:
            return first
        start = _find_first_token(filler).start_pos or 0
        return self._build_value(partial(replace, first), start, conjunct=others[0])

    def _read_phrase(self, node: ParseNode, depth: int) -> ev.Participant:
        parts = _index_subtrees(node)
        fields = self._read_features(parts.get("features"), "a noun")
        if "clause" in parts:
            if "clause" in fields:
                at = _find_first_token(parts["clause"]).start_pos or 0
                self._fail("a bare noun has no relative clause", at)
            fields["clause"] = self._read_clause(parts["clause"], depth)
        if "determiner" in parts:
            fields["determiner"] = self._read_lemma(parts["determiner"])
        return ev.Participant(noun=self._read_lemma(parts["noun"]), **fields)

    def _read_clause(self, node: ParseNode, depth: int) -> ev.RelativeClause:
        introduction, event = _list_subtrees(node)
        word, parts = _find_first_token(introduction), _index_subtrees(introduction)
        fields = self._read_features(parts.get("features"), "a relative clause")
        fields["relativizer"] = None if word.type == "RC" else str(word)
        if "words" in parts:
            words = self._read_words(parts["words"])
            if len(words) != 1:
                self._fail("expected one relativizer in rc(...)", word.start_pos or 0)
            (fields["relativizer"],) = words
        fields["event"] = self._read_event(event, depth + 1)
        return self._build_value(ev.RelativeClause, word.start_pos or 0, **fields)

    def _read_features(self, node: ParseNode | None, owner: str) -> dict[str, Any]:
        """Return {field: value} as stated by the features in *node*; *owner* says what has them, such as "a noun"."""
        fields: dict[str, Any] = {}
        for feature in [] if node is None else _list_subtrees(node):
            name = _find_first_token(feature)
            field, value = self._read_feature(feature, name, owner)
            if field in fields:
                self._fail(f"'{name}' states the {field} a second time", name.start_pos or 0)
            fields[field] = value
        return fields

    def _read_feature(self, node: ParseNode, name: Token, owner: str) -> tuple[str, Any]:
        at, parts = name.start_pos or 0, _index_subtrees(node)
        if (owner, str(name)) in WORD_LISTS:
            row = WORD_LISTS[owner, str(name)]
            if "words" not in parts:
                self._fail(f"expected {row.description} in parentheses, as {row.example}", at)
            words = self._read_words(parts["words"])
            if not row.is_single:
                return row.field, words
            if len(words) != 1:
                self._fail(f"expected {row.description}, as {row.example}", at)
            return row.field, words[0]
        if "words" in parts:
            self._fail(f"the feature '{name}' takes no words in parentheses", at)
        feature_table = FEATURES[owner]
        if name not in feature_table:
            self._fail(_describe_unknown_feature(str(name), owner), at)
        return feature_table[str(name)]

    def _read_words(self, node: ParseNode) -> tuple[str, ...]:
        return tuple(lemma for tree in _list_subtrees(node) if (lemma := self._read_lemma(tree)) is not None)

    def _read_lemma(self, node: ParseNode) -> str | None:
        """Return the lemma of a parse tree, or None for ``*``."""
        token = _find_first_token(node)
        if token.type != "QUOTED":
            return None if token.type == "STAR" else str(token)
        try:
            return str(json.loads(token, strict=False))
        except json.JSONDecodeError as error:
            self._fail("bad escape in a quoted lemma", (token.start_pos or 0) + error.pos)


CLOSING_BRACKETS = {"LSQB": "RSQB", "LPAR": "RPAR"}
ROLES = tuple(role.value for role in ev.Role)


class WordList(NamedTuple):
    """A feature with words in parentheses, such as ``adv(really)``: its field, and its description in messages."""

    field: str
    description: str
    example: str
    is_single: bool = False


WORD_LISTS = {
    ("a predicate", "adv"): WordList("adverbs", "the adverbs", "adv(really)"),
    ("a predicate", "modal"): WordList("modal", "one modal", "modal(must)", is_single=True),
    ("a predicate", "adjunct"): WordList("adjunct", "one time or place", 'adjunct("on Monday")', is_single=True),
    ("a noun", "adj"): WordList("adjectives", "the adjectives", "adj(young)"),
}
"""The features with words in parentheses, by (owner, name of the feature)."""

_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "a predicate": {
        "frame": ev.Frame,
        "voice": ev.Voice,
        "tense": ev.Tense,
        "aspect": ev.Aspect,
        "polarity": ev.Polarity,
        "negator": ev.Negator,
        "dative": ev.Dative,
        "mood": (ev.Mood.QUESTION, ev.Mood.ORDER),
        "fronting": ev.Fronting,
    },
    "a noun": {"number": ev.Number, "clause": (ev.BARE,)},
    "a relative clause": {"kind": ev.ClauseKind},
}
_SHORT_NAMES = {"pres", "prog", "perf", "pos", "neg", "sg", "pl"}
"""The features that also have a long name, such as "present"."""

FEATURES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    owner: {
        name: (field, value)
        for field, values in fields.items()
        for value in values
        for name in (value.value, *([value.name.lower()] if value.value in _SHORT_NAMES else []))
    }
    for owner, fields in _FIELDS.items()
}
"""The field and value that a feature sets, by owner and feature: ``FEATURES["a noun"]["pl"]`` sets the number."""


def _describe_unknown_feature(name: str, owner: str) -> str:
    if (name, owner) == (ev.Mood.STATEMENT, "a predicate"):
        return "an event has no feature 'statement': it is a statement, or as a pattern has any mood; see gen --mood"
    owners = [candidate for candidate, feature_names in FEATURES.items() if name in feature_names]
    if owners:
        return f"'{name}' is a feature of {owners[0]}, not of {owner}"
    feature_names = (*FEATURES[owner], *(list_name for row_owner, list_name in WORD_LISTS if row_owner == owner))
    hint = suggest(name, feature_names) or f" of {owner}, expected one of {', '.join(feature_names)}"
    return f"unknown feature '{name}'{hint}"


@cache
def build_parser() -> Lark:
    text = files(__package__).joinpath("event.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", maybe_placeholders=False)


def _explain_error(error: UnexpectedInput, text: str) -> tuple[str, int]:
    """Return the message for a syntax error, and the offset of the error in characters."""
    offset = error.pos_in_stream or 0
    if isinstance(error, UnexpectedToken):
        # The parser accepts "]" after a feature but not after "[", so the innermost open bracket tells apart the places
        # where a feature, a role or a word is missing.
        open_brackets = [
            CLOSING_BRACKETS[part.type]
            for part in error.state.value_stack
            if isinstance(part, Token) and part.type in CLOSING_BRACKETS
        ]
        possible = {*error.accepts, *open_brackets[-1:]}
        message = next(row.message for row in EXPECTED_TOKENS if possible.issuperset(row.terminals.split()))
        return message, len(text.rstrip()) if error.token.type == "$END" else offset
    if text[offset] == '"':
        return "a quotation mark without its end", offset
    return f"unexpected character {text[offset]!r}", offset


def _list_subtrees(node: ParseNode) -> list[ParseNode]:
    return [child for child in node.children if isinstance(child, Tree)]


def _index_subtrees(node: ParseNode) -> dict[str, ParseNode]:
    """Return the child nodes of a parse tree by the name of their grammar rule; tokens are left out."""
    return {str(child.data): child for child in _list_subtrees(node)}


def _find_first_token(node: ParseNode) -> Token:
    return next(node.scan_values(lambda value: isinstance(value, Token)))
