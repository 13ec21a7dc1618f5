"""The shape of each constituent, worked out once through the grammar and kept.

How a clause is built depends on its frame, voice, tense, aspect, negation and the like, and not on
its words. A shape is that much of a constituent; its *items* are what the grammar derives for
it, with names of forms in place of words and holes in place of the constituents inside. There are
a few hundred; the package carries them (``english.shapes.json``, made by
``python -m sentprobe.grammars``), so that NLTK need not be loaded to generate. What is not there,
or was made from another grammar, is derived when it is asked for.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any, TypeAlias

from sentprobe.errors import SentprobeError
from sentprobe.grammars import english_source
from sentprobe.grammars.derivation import FlatItem, Hole, Leaf, Node, flatten
from sentprobe.lexicon import Form, Kind, Word

VERB, NOUN, DETERMINER, RELATIVIZER, ADVERB = "@verb", "@noun", "@det", "@rel", "@adverb"
"""The lemmas of the items that a word of the lexicon fills."""


POSITIVE = "pos"
MAX_ADVERBS = 6
"""How long a sequence of adverbs the packaged shapes cover; longer ones are derived."""


@dataclass(frozen=True, slots=True)
class ClauseShape:
    """What determines the shape of a clause; the fields hold the grammar's own values.

    ``gap`` is the role that is relativised ("" in a main clause); ``number`` is the subject's.
    """

    frame: str
    voice: str
    tense: str
    aspect: str
    negation: str
    adverbs: bool
    gap: str
    number: str


@dataclass(frozen=True, slots=True)
class NounShape:
    """What determines the shape of a noun phrase."""

    number: str
    onset: str
    clause: bool


@dataclass(frozen=True, slots=True)
class AdverbShape:
    """What determines the shape of a sequence of adverbs: how many there are."""

    count: int


Shape: TypeAlias = ClauseShape | NounShape | AdverbShape


FlatItems: TypeAlias = tuple[FlatItem, ...]


def subject_role(voice: str) -> str:
    """Return the role that is the subject under *voice*."""
    return "patient" if voice == "passive" else "agent"


def derive_shape(shape: Shape) -> FlatItems:
    """Work out the items of *shape* through the grammar, by unification.

    Raises:
        SentprobeError: the grammar derives none, or more than one.
    """
    from sentprobe.grammars.grammar import english_grammar  # noqa: PLC0415 - NLTK is slow to load

    goal, holes = _goal(shape)
    found: list[Node] = list(english_grammar().derive(goal, _placeholders(shape), holes=holes))
    if len(found) != 1:
        raise SentprobeError(f"the grammar derives {len(found)} trees, not one, for {shape}")
    return flatten(found[0])


def _goal(shape: Shape) -> tuple[Any, frozenset[str]]:
    from nltk.grammar import FeatStructNonterminal  # noqa: PLC0415

    if isinstance(shape, AdverbShape):
        goal = FeatStructNonterminal("ADVP[]")
        goal["SEM"] = _adverbs(shape.count)
        return goal, frozenset()
    if isinstance(shape, NounShape):
        goal = FeatStructNonterminal("NP[]")
        clause = "[LINK='@rel', EVENT=[]]" if shape.clause else "bare"
        goal["SEM"] = _features(f"[LEM='{NOUN}', DET='{DETERMINER}', NUM={shape.number}]", clause)
        return goal, frozenset({"SBAR"})
    return _clause_goal(shape), frozenset({"NP", "ADVP"})


def _features(text: str, clause: str) -> Any:
    from nltk.featstruct import FeatStruct  # noqa: PLC0415

    structure = FeatStruct(text)
    structure["RC"] = FeatStruct(clause) if clause.startswith("[") else clause
    return structure


def _adverbs(count: int) -> Any:
    from nltk.featstruct import FeatStruct  # noqa: PLC0415

    rest: Any = "none"
    for _ in range(count):
        rest = FeatStruct({"FIRST": ADVERB, "REST": rest})
    return rest


def _clause_goal(shape: ClauseShape) -> Any:
    from nltk.featstruct import FeatStruct  # noqa: PLC0415
    from nltk.grammar import FeatStructNonterminal  # noqa: PLC0415

    subject = subject_role(shape.voice)
    core = {"PRED": VERB, "FRAME": shape.frame}
    roles = ("agent",) if shape.frame == "intransitive" else ("agent", "patient")
    for role in roles:
        number = f", NUM={shape.number}" if role == subject else ""
        core[role.upper()] = "gap" if role == shape.gap else FeatStruct(f"[LEM={role}{number}]")
    goal = FeatStructNonterminal("SBAR[]" if shape.gap else "S[GAP=none]")
    goal["SEM"] = FeatStruct(
        {
            "TENSE": shape.tense,
            "ASPECT": shape.aspect,
            "VOICE": shape.voice,
            "NEG": shape.negation,
            "ADV": _adverbs(int(shape.adverbs)),
            "CORE": FeatStruct(core),
        }
    )
    if shape.gap:
        goal["LINK"] = RELATIVIZER
        if shape.gap == subject:
            goal["NUM"] = shape.number
    return goal


def _placeholders(shape: Shape) -> tuple[Word, ...]:
    """Return a word of each kind whose forms are the names of the forms."""
    onset = isinstance(shape, NounShape) and shape.onset == "vowel"
    verb = Kind(shape.frame) if isinstance(shape, ClauseShape) else Kind.TRANSITIVE
    kinds = (
        (NOUN, Kind.NOUN, (Form.NN, Form.NNS)),
        (VERB, verb, (Form.VB, Form.VBP, Form.VBZ, Form.VBD, Form.VBG, Form.VBN)),
        (DETERMINER, Kind.DETERMINER, tuple(f for f in Form if f.startswith("DT"))),
        (RELATIVIZER, Kind.RELATIVIZER, (Form.WDT,)),
        (ADVERB, Kind.ADVERB, (Form.RB,)),
    )
    return tuple(
        Word(lemma, kind, {form: form.value for form in forms}, frozenset(), onset)
        for lemma, kind, forms in kinds
    )


def clause_shapes() -> Iterator[ClauseShape]:
    """Yield every shape of a clause."""
    structures = [
        ("intransitive", "active", ("", "agent")),
        ("transitive", "active", ("", "agent", "patient")),
        ("transitive", "passive", ("", "agent", "patient")),
    ]
    features = list(
        product(("past", "pres"), ("simple", "prog"), (POSITIVE, "not", "n't"), (False, True))
    )
    for frame, voice, gaps in structures:
        for gap, feature, number in product(gaps, features, ("sg", "pl")):
            yield ClauseShape(frame, voice, *feature, gap, number)


def all_shapes() -> Iterator[Shape]:
    """Yield every shape that the package carries."""
    yield from clause_shapes()
    for number, onset, clause in product(("sg", "pl"), ("consonant", "vowel"), (False, True)):
        yield NounShape(number, onset, clause)
    for count in range(1, MAX_ADVERBS + 1):
        yield AdverbShape(count)


class ShapeTable:
    """The items of each shape: those carried, and those derived since."""

    def __init__(self, known: Iterable[tuple[Shape, FlatItems]] = ()) -> None:
        self._items = dict(known)

    def items(self, shape: Shape) -> FlatItems:
        """Return the items of *shape*, deriving them if they are not known."""
        if shape not in self._items:
            self._items[shape] = derive_shape(shape)
        return self._items[shape]

    def __iter__(self) -> Iterator[tuple[Shape, FlatItems]]:
        return iter(self._items.items())


def dump(table: Iterable[tuple[Shape, FlatItems]], *, source: str) -> str:
    """Return *table* as JSON, with the digest of the grammar's *source*; inverse of :func:`load`.

    Contents, which recur, are listed once; an item is [content, head, rel, before, after].
    """
    contents: dict[tuple[str, ...], int] = {}
    shapes = []
    for shape, items in table:
        rows = []
        for item in items:
            content = item.content
            key = (type(content).__name__, *map(str, astuple(content)))
            index = contents.setdefault(key, len(contents))
            rows.append([index, item.head, item.rel, item.before, item.after])
        shapes.append([type(shape).__name__, list(astuple(shape)), rows])
    lines = ",\n".join(json.dumps(row) for row in shapes)
    head = json.dumps([list(key) for key in contents])
    return f'{{"grammar": "{_digest(source)}",\n"contents": {head},\n"shapes": [\n{lines}\n]}}\n'


def load(text: str, *, source: str) -> ShapeTable:
    """Read what :func:`dump` wrote; empty if it was made from another grammar than *source*."""
    data = json.loads(text)
    if data["grammar"] != _digest(source):
        return ShapeTable()
    contents = [_content(row) for row in data["contents"]]
    types = {cls.__name__: cls for cls in (ClauseShape, NounShape, AdverbShape)}
    return ShapeTable(
        (types[name](*values), tuple(_item(contents, row) for row in rows))
        for name, values, rows in data["shapes"]
    )


def _content(row: list[str]) -> Leaf | Hole:
    name, *values = row
    if name == "Hole":
        return Hole(category=values[0], name=values[1], rel=values[2])
    form, lemma, tag, pos, feats, rel, filler = values
    return Leaf(
        form=form,
        lemma=lemma,
        tag=tag,
        pos=pos,
        feats=feats,
        rel=rel,
        depends_on_filler=filler == "True",
    )


def _item(contents: list[Leaf | Hole], row: list[Any]) -> FlatItem:
    index, head, rel, before, after = row
    return FlatItem(content=contents[index], head=head, rel=rel, before=before, after=after)


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def packaged_file() -> Traversable:
    """Return the file of shapes that the package carries."""
    return files("sentprobe.grammars") / "english.shapes.json"


@cache
def english_shapes() -> ShapeTable:
    """Return the shapes of the package's grammar."""
    carried = packaged_file()
    if not carried.is_file():
        return ShapeTable()
    return load(carried.read_text(encoding="utf-8"), source=english_source())
