"""What tense and agreement change in a clause: the forms of its verb and its finite word."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TypeAlias

import numpy as np

from sentprobe.generator.event import Number, Tense
from sentprobe.generator.plan import Plan
from sentprobe.generator.tables import VERB_FORMS, Numbers, Pool
from sentprobe.grammars.derivation import Leaf
from sentprobe.grammars.shapes import ClauseShape, Shape, english_shapes
from sentprobe.lexicon import Form

VARIANTS = list(product(Tense, Number))
"""The pairs of tense and number, in the order of a clause's variants."""

Origin: TypeAlias = tuple[Shape, int]
"""Where a token comes from: a shape, and which of its items."""


@dataclass(frozen=True, slots=True)
class Finite:
    """What tense and number change in a clause, for each of :data:`VARIANTS`.

    ``verb`` has places in :data:`VERB_FORMS`, the others numbers of words.
    """

    verb: Numbers
    auxiliary: Numbers
    tag: Numbers
    feats: Numbers


@cache
def variants(shape: Shape, at: int) -> tuple[Leaf, ...]:
    """Return the leaf at an item under each tense and number of its clause's subject."""
    found = []
    for tense, number in VARIANTS:
        other = shape
        if isinstance(shape, ClauseShape):
            other = replace(shape, tense=tense.value, number=number.value)
        leaf = english_shapes().items(other)[at].content
        assert isinstance(leaf, Leaf)
        found.append(leaf)
    return tuple(found)


@cache
def is_finite(shape: Shape, at: int) -> bool:
    """Say whether tense or number changes the word at an item."""
    return len(set(variants(shape, at))) > 1


class FiniteTable:
    """What is finite in the clauses of plans, each kept; words are numbers in a pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._kept: dict[tuple[Origin, Origin], Finite] = {}

    def look_up(self, plan: Plan, path: str) -> Finite:
        """Return what is finite in the clause at *path*."""
        tokens = [t for t in plan.tokens if t.path == path and isinstance(t.origin[0], ClauseShape)]
        (verb,) = (t.origin for t in tokens if t.slot.endswith("verb"))
        (finite,) = (t.origin for t in tokens if is_finite(*t.origin))
        if (verb, finite) not in self._kept:
            self._kept[verb, finite] = self._make(verb, finite)
        return self._kept[verb, finite]

    def _make(self, verb: Origin, finite: Origin) -> Finite:
        leaves = variants(*finite)
        return Finite(
            verb=np.array([VERB_FORMS.index(Form(leaf.form)) for leaf in variants(*verb)]),
            auxiliary=self._pool.numbers("" if finite == verb else leaf.form for leaf in leaves),
            tag=self._pool.numbers(leaf.tag for leaf in leaves),
            feats=self._pool.numbers(leaf.feats for leaf in leaves),
        )
