"""Measures of plain language: names, docstrings, documentation."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

VAGUE_NAMES = frozenset(
    (
        *("each", "found", "made", "given", "told", "kept", "asked", "there", "said", "taken"),
        *("rest", "whole", "wanted", "other", "others", "these", "own", "known"),
    )
)
PREPOSITIONS = frozenset(
    ("of", "on", "by", "in", "with", "one", "at", "for", "over", "beside", "around", "without", "under")
)
CLUMSY_TURNS = re.compile(
    r"\b(?:what (?:is|was|are|were)|that there (?:is|are)|so many|so often"
    r"|of (?:it|them|theirs|ours))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlainLanguage:
    """Shares of names and docstrings that a newcomer cannot read."""

    vague_names: float
    """Bound names that say nothing, per 100."""
    bare_functions: float
    """Functions that begin with a preposition or are a bare participle, per 1,000."""
    clumsy_turns: float
    """Clumsy turns of phrase, per 1,000 words of docstrings."""


def measure_language(paths: Iterable[Path]) -> PlainLanguage:
    """Return the measures of Python files."""
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    names = [name for tree in trees for name in bound_names(tree)]
    functions = [name for tree in trees for name in function_names(tree)]
    docstrings = [text for tree in trees for text in all_docstrings(tree)]
    words = sum(len(text.split()) for text in docstrings)
    turns = sum(len(CLUMSY_TURNS.findall(text)) for text in docstrings)
    return PlainLanguage(
        vague_names=100 * sum(name in VAGUE_NAMES for name in names) / len(names),
        bare_functions=1000 * sum(map(is_bare, functions)) / len(functions),
        clumsy_turns=1000 * turns / words,
    )


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Yield each parameter and each variable, as often as it is bound."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                if name not in {"self", "cls", "_"}:
                    yield name


def function_names(tree: ast.AST) -> Iterator[str]:
    """Yield the name of each function that is not special to Python."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("__"):
                    yield name


def is_bare(name: str) -> bool:
    """Return whether a function's name begins with a preposition or is a bare participle."""
    stem = name.strip("_")
    return stem.split("_")[0] in PREPOSITIONS or stem in VAGUE_NAMES


def all_docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstring of each module, class and function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            yield ast.get_docstring(node) or ""
