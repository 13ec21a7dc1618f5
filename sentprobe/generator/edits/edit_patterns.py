"""The pattern language of the tables of edits, over the tokens of a dependency parse.

A pattern is a path and tests, in BNF::

    pattern   ::= (path ":")? test+
    path      ::= step ("." step)*
    step      ::= "head" | "child" | "next" | "previous" | "before" | "after" | "any" | "first" | "root"
    test      ::= attribute ("=" | "!=") value ("|" value)*
    attribute ::= "form" | "lemma" | "tag" | "rel" | "list" | "with" | "follows" | "under"

A step leads from the tokens reached so far to their head, dependents, neighbours, all tokens before or after, all
tokens of the text, its first token, or its root. The pattern fits if one token at the end of the path passes all tests.
The value ``*`` of a test stands for the rest of a value (``VB*``); ``list=NAME`` asks if the form is in a word list,
``with=nsubj`` if the token has a dependent of this relation, ``follows=and`` if this form stands before it, and
``under=JJ`` if its head has this tag.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.common.errors import FormatError, suggest
from sentprobe.generator.edits.edit_text import EditableText, EditableToken, has_relation

WordLists: TypeAlias = Mapping[str, Collection[str]]


def _iterate_head(text: EditableText, token: EditableToken) -> Iterator[EditableToken]:
    if token.head >= 0:
        yield text.tokens[token.head]


def _iterate_neighbour(distance: int) -> "PathStep":
    def iterate(text: EditableText, token: EditableToken) -> Iterator[EditableToken]:
        if 0 <= token.number + distance < len(text.tokens):
            yield text.tokens[token.number + distance]

    return iterate


PathStep: TypeAlias = Callable[[EditableText, EditableToken], Iterator[EditableToken]]
STEPS: Mapping[str, PathStep] = {
    "head": _iterate_head,
    "child": lambda text, token: iter(text.list_children(token.number)),
    "next": _iterate_neighbour(1),
    "previous": _iterate_neighbour(-1),
    "before": lambda text, token: iter(text.tokens[: token.number]),
    "after": lambda text, token: iter(text.tokens[token.number + 1 :]),
    "any": lambda text, _: iter(text.tokens),
    "first": lambda text, _: iter(text.tokens[:1]),
    "root": lambda text, _: iter(text.roots),
}
ATTRIBUTES: Mapping[str, Callable[[EditableToken], str]] = {
    "form": lambda token: token.lower,
    "lemma": lambda token: token.lemma,
    "tag": lambda token: token.tag,
    "rel": lambda token: token.relation,
    "list": lambda token: token.lower,
}
TokenTest: TypeAlias = Callable[[EditableText, EditableToken], bool]
_TEST = re.compile(r"([a-z]+)(!?=)(\S+)")


@dataclass(frozen=True, slots=True)
class TokenPattern:
    """A pattern: the steps of its path, and a test of the tokens at its end."""

    source: str
    steps: tuple[PathStep, ...]
    tests: tuple[TokenTest, ...]

    def find_tokens(self, text: EditableText, token: EditableToken) -> Iterator[EditableToken]:
        """Yield the tokens that fit, for a path from *token*."""
        tokens = iter([token])
        for step in self.steps:
            # The list is complete before the next turn: a generator would look up `step` only later, when it is another
            # step.
            tokens = iter([reached for origin in tokens for reached in step(text, origin)])
        for reached in tokens:
            if all(test(text, reached) for test in self.tests):
                yield reached

    def fits(self, text: EditableText, token: EditableToken) -> bool:
        """Return whether a token fits, for a path from *token*."""
        return next(self.find_tokens(text, token), None) is not None


def parse_pattern(source: str, lists: WordLists) -> TokenPattern:
    """Return the pattern that *source* states. Raises FormatError.

    >>> parse_pattern("head.child: rel=nsubj", {}).source
    'head.child: rel=nsubj'
    """
    path, colon, tests = source.rpartition(": ")
    steps = []
    for name in path.split(".") if colon else ():
        if name not in STEPS:
            raise FormatError(f"pattern {source!r}: there is no step {name!r}{suggest(name, STEPS)}")
        steps.append(STEPS[name])
    return TokenPattern(source, tuple(steps), tuple(_parse_test(test, source, lists) for test in tests.split()))


def _parse_test(test: str, source: str, lists: WordLists) -> TokenTest:
    match = _TEST.fullmatch(test)
    if not match or match[1] not in (*ATTRIBUTES, "with", "follows", "under"):
        raise FormatError(f"pattern {source!r}: {test!r} is not a test such as form=with|without or tag!=VB*")
    name, is_positive = match[1], match[2] == "="
    values = match[3].split("|")
    # The first three tests are about other tokens than the one tested, so they have no attribute to read.
    if name == "with":
        return lambda text, token: bool(text.list_children(token.number, *values)) is is_positive
    if name == "follows":
        return lambda text, token: (token.number > 0 and text.tokens[token.number - 1].lower in values) is is_positive
    if name == "under":
        return lambda text, token: (token.head >= 0 and text.tokens[token.head].tag in values) is is_positive
    read = ATTRIBUTES[name]
    if name == "list":
        unknown = next((value for value in values if value not in lists), None)
        if unknown is not None:
            raise FormatError(f"pattern {source!r}: there is no word list {unknown!r}{suggest(unknown, lists)}")
        words = frozenset(word.casefold() for value in values for word in lists[value])
        return lambda _, token: (token.lower in words or token.lemma in words) is is_positive
    if name == "rel":
        return lambda _, token: has_relation(token.relation, values) is is_positive
    exact = frozenset(value for value in values if not value.endswith("*"))
    prefixes = tuple(value[:-1] for value in values if value.endswith("*"))
    return lambda _, token: (read(token) in exact or read(token).startswith(prefixes)) is is_positive
