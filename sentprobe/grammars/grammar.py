"""Feature grammars, which derive trees from meanings by unification with NLTK (slow but exact)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from nltk.featstruct import TYPE, FeatStruct, Variable, unify
from nltk.grammar import FeatStructNonterminal, FeatureGrammar, Production

from sentprobe.common.values import group_by
from sentprobe.grammars import read_grammar_source
from sentprobe.grammars.derivation import Hole, Leaf, Node
from sentprobe.lexicon import Flag, Kind, Word
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import VERBS, VOWEL_KINDS


class _Rule:
    """A production of the grammar as one feature structure, which is applied by one unification."""

    __slots__ = ("order", "structure", "terminal", "width")

    def __init__(self, production: Production) -> None:
        children = production.rhs()
        self.terminal = children[0] if isinstance(children[0], str) else None
        self.width = 0 if self.terminal is not None else len(children)
        slots = {} if self.terminal is not None else dict(enumerate(children))
        self.structure = FeatStruct({"lhs": production.lhs(), **{f"rhs{i}": child for i, child in slots.items()}})
        # The head first: its meaning determines its sisters.
        self.order = sorted(range(self.width), key=lambda i: children[i].get("REL") != "head")


class Grammar:
    """A feature grammar that derives trees from meanings."""

    def __init__(self, text: str, language: Language) -> None:
        self._language = language
        form_names = {*chain.from_iterable(language.forms.values())}
        form_names |= {str(form).partition(".")[0] for form in form_names}
        productions = FeatureGrammar.fromstring(text).productions()
        schemata = [production for production in productions if production.rhs()[0] in form_names]
        self._schemata = group_by(schemata, lambda production: str(production.rhs()[0]))
        self._rules = _index_rules(production for production in productions if production.rhs()[0] not in form_names)

    def lexicalize(self, words: Iterable[Word]) -> list[Production]:
        """Return a production of the grammar for each inflected form of each word."""
        return [
            Production(category, [text])
            for word in words
            for form, text in word.forms.items()
            for schema in self._schemata.get(form) or self._schemata.get(str(form).partition(".")[0]) or ()
            if (category := _fill_category(schema.lhs(), word, str(form), self._language)) is not None
        ]

    def derive(
        self, goal: FeatStructNonterminal, words: Iterable[Word], *, holes: Iterable[str] = ()
    ) -> Iterator[Node]:
        """Yield every derivation of *goal*; constituents below it whose category is in *holes* are not expanded."""
        lexical_rules = _index_rules(self.lexicalize(words))
        search = _Search(self._rules, lexical_rules, frozenset(holes), self._language)
        for _, node in search.expand(goal, is_root=True):
            if isinstance(node, Node):
                yield node


@dataclass(frozen=True)
class _Search:
    rules: dict[str, list[_Rule]]
    word_rules: dict[str, list[_Rule]]
    holes: frozenset[str]
    language: Language

    def expand(self, goal: FeatStruct, *, is_root: bool = False) -> Iterator[tuple[FeatStruct, Node | Leaf | Hole]]:
        """Yield a pair for each derivation of *goal*: the category with its derived features, and the tree."""
        category = goal[TYPE]
        if category in self.holes and not is_root:
            yield from self._keep_hole(goal)
            return
        for rule in (*self.rules.get(category, ()), *self.word_rules.get(category, ())):
            unified = unify(rule.structure, FeatStruct({"lhs": goal}))
            if unified is None:
                continue
            if rule.terminal is not None:
                yield unified["lhs"], _build_leaf(unified["lhs"], rule.terminal, self.language)
            else:
                for structure, children in self._expand_children(unified, rule.order, {}):
                    yield structure["lhs"], _build_node(structure["lhs"], children)

    def _keep_hole(self, goal: FeatStruct) -> Iterator[tuple[FeatStruct, Hole]]:
        """Yield at most one pair: *goal* unified with the first rule that fits, and a Hole instead of a tree."""
        for rule in self.rules[goal[TYPE]]:
            unified = unify(rule.structure, FeatStruct({"lhs": goal}))
            if unified is not None:
                meaning = goal.get("SEM")
                name = str(meaning.get("LEM", "")) if isinstance(meaning, FeatStruct) else ""
                rel, case, last = (_get_text(goal, feature) for feature in ("REL", "CASE", "LAST"))
                yield unified["lhs"], Hole(category=goal[TYPE], name=name, rel=rel, case=case, last=last == "+")
                return  # other rules of the category would give the same hole, and so the same derivation again

    def _expand_children(
        self, structure: FeatStruct, order: list[int], done: dict[int, Node | Leaf | Hole]
    ) -> Iterator[tuple[FeatStruct, tuple[Node | Leaf | Hole, ...]]]:
        if not order:
            yield structure, tuple(done[i] for i in sorted(done))
            return
        slot = f"rhs{order[0]}"
        for expanded, child in self.expand(structure[slot]):
            unified = unify(structure, FeatStruct({slot: expanded}))
            if unified is not None:
                yield from self._expand_children(unified, order[1:], {**done, order[0]: child})


def _index_rules(productions: Iterable[Production]) -> dict[str, list[_Rule]]:
    return group_by(map(_Rule, productions), lambda rule: str(rule.structure["lhs"][TYPE]))


def _fill_category(
    category: FeatStructNonterminal, word: Word, form: str, language: Language
) -> FeatStructNonterminal | None:
    """Return a category with the features of a word and its form: ``ART.sg.acc.masc`` sets NUM, CASE and CLASS.

    Return None if the word contradicts the category, as a noun that is no name does.
    """
    features = {"LEM": word.lemma}
    if word.kind in VERBS:
        features["FRAME"] = word.kind.value
        if auxiliary := language.find_auxiliary(word):
            features["AUX"] = auxiliary
    elif word.kind in VOWEL_KINDS:
        features["CLASS"] = language.find_class(word)
    if word.gender and language.reflexives:
        features["GEND"] = word.gender
    if word.kind in (Kind.DETERMINER, Kind.NOUN, Kind.ADJUNCT):
        features["PHRASE"] = word.phrase or "-"
    if Flag.NPI in word.flags:
        features["POL"] = Flag.NPI.value
    if word.kind not in VERBS and language.cases != ("",):
        features |= dict(zip(("NUM", "CASE", "CLASS"), form.split(".")[1:], strict=False))
    return unify(category, FeatStructNonterminal({TYPE: category[TYPE], **features}))


def _get_text(category: FeatStruct, feature: str) -> str:
    value = category.get(feature, "")
    return "" if isinstance(value, Variable) else str(value)


def _build_leaf(category: FeatStruct, form: str, language: Language) -> Leaf:
    lemma, pos, *features = (_get_text(category, name) for name in ("LEM", "POS", "NUM", "CASE", "CLASS"))
    return Leaf(
        form=form,
        lemma=form if " " in lemma else lemma,  # "two" of the determiner "at least two", "noon" of "at noon"
        tag=_get_text(category, "TAG"),
        pos=pos,
        # The features of a placeholder depend on its word.
        feats=_get_text(category, "FEATS")
        or ("" if lemma[0] == "@" else language.find_features(pos, lemma, *features)),
        rel=_get_text(category, "REL"),
        depends_on_filler=_get_text(category, "HOST") == "filler",
    )


def _build_node(category: FeatStruct, children: tuple[Node | Leaf | Hole, ...]) -> Node:
    name = category[TYPE]
    return Node(
        label=_get_text(category, "TAG") or (None if name[0].islower() else name),
        rel=_get_text(category, "REL"),
        children=children,
        is_filler=_get_text(category, "FILLER") == "+",
    )


@cache
def load_grammar(language: Language) -> Grammar:
    """Return the grammar of a language."""
    return Grammar(read_grammar_source(language), language)
