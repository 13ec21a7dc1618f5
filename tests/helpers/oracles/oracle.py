"""An acceptor for the generated fragment of English that is independent of the grammar.

The rules are in ``oracle.lark``, written by hand from the description of the fragment. The words are given as sets of
forms by class. A form may be in several classes (``helped`` is a past tense and a participle). Each combination of
classes becomes one terminal, and each class is a rule that lists its terminals. A sentence is thus one sequence of
terminals, and Earley's algorithm tries all readings at once.

    >>> oracle = Oracle(Words(nn={"man"}, nns={"men"}, det_sg={"the", "a"}, i_vbz={"sleeps"}))
    >>> oracle.accepts("a man sleeps".split()), oracle.accepts("a men sleeps".split())
    (True, False)
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.lexer import Lexer

from sentprobe.lexicon import Form, Kind, Lexicon

FUNCTION_WORDS: Final = {
    "art_c": {"a"},
    "art_v": {"an"},
    "be_sg": {"is", "was"},
    "be_pl": {"are", "were"},
    "have_sg": {"has", "had"},
    "have_pl": {"have", "had"},
    "have": {"have"},
    "been": {"been"},
    "do_sg": {"does", "did"},
    "do_pl": {"do", "did"},
    "do_imp": {"do"},
    "ask": {"who", "what"},
    "be": {"be"},
    "being": {"being"},
    "not": {"not"},
    "nt": {"n't"},
    "by": {"by"},
    "to": {"to"},
    "and": {"and"},
    "rel": {"that", "who", "which"},
    "comma": {","},
    "at": {"at"},
    "in": {"in"},
    "on": {"on"},
    "the": {"the"},
    "day": {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
    "hour": {"dawn", "noon", "dusk", "midnight"},
    "city": {"Paris", "London", "Berlin", "Rome", "Madrid"},
    "indoors": {*("morning", "afternoon", "evening"), *("garden", "park", "kitchen", "street", "forest", "hall")},
    "outdoors": {"airport", "harbor", "market"},
    "least": {"least"},
    "none": {"no"},
    "more": {"more"},
    "than": {"than"},
    "one": {"one"},
    "number": {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"},
    "nnp_m": {"David", "Daniel", "Thomas", "Michael", "James", "Robert", "Henry", "Simon", "Paul", "Adam"},
    "nnp_f": {"Mary", "Anna", "Emma", "Sarah", "Julia", "Laura", "Helen", "Susan", "Alice", "Emily"},
    "title": {"Doctor", "Professor", "Judge", "Captain", "Senator"},
    "surname": {
        *("Smith", "Jones", "Johnson", "Williams", "Davis"),
        *("Wilson", "Anderson", "Thompson", "Robinson", "Clark"),
    },
    "ever": {"ever"},
    "any": {"any"},
    "himself": {"himself"},
    "herself": {"herself"},
    "themselves": {"themselves"},
}
MEN = {"man", "boy", "gentleman", "king", "prince", "policeman", "postman", "fisherman", "salesman"}
WOMEN = {"woman", "girl", "queen", "princess", "waitress"}

VOWEL_SOUND: Final = re.compile(
    r"(?:hour|heir|honest|honou?r)"  # a silent h
    r"|(?!eu|ewe|uni(?!n|m)|u[st][aeiou]|ubi|uk|ur[aeiou]|once|one(?!i|r))[aeiou]"  # not "y", "w"
)


@dataclass(frozen=True, kw_only=True)
class Words:
    """The word forms of a lexicon by class; ``t_`` is transitive, ``i_`` intransitive, ``d_`` ditransitive."""

    nn: Set[str] = frozenset()
    nns: Set[str] = frozenset()
    det_sg: Set[str] = frozenset()
    det_pl: Set[str] = frozenset()
    t_vb: Set[str] = frozenset()
    t_vbz: Set[str] = frozenset()
    t_vbd: Set[str] = frozenset()
    t_vbg: Set[str] = frozenset()
    t_vbn: Set[str] = frozenset()
    i_vb: Set[str] = frozenset()
    i_vbz: Set[str] = frozenset()
    i_vbd: Set[str] = frozenset()
    i_vbg: Set[str] = frozenset()
    i_vbn: Set[str] = frozenset()
    d_vb: Set[str] = frozenset()
    d_vbz: Set[str] = frozenset()
    d_vbd: Set[str] = frozenset()
    d_vbg: Set[str] = frozenset()
    d_vbn: Set[str] = frozenset()
    rb: Set[str] = frozenset()
    jj: Set[str] = frozenset()
    md: Set[str] = frozenset()
    md_neg: Set[str] = frozenset()

    def group_by_class(self) -> dict[str, Set[str]]:
        """Return every class that ``oracle.lark`` uses, function words included."""
        articles = FUNCTION_WORDS["art_c"] | FUNCTION_WORDS["art_v"]
        forms_by_class: dict[str, Set[str]] = {f.name: getattr(self, f.name) for f in fields(self)}
        names = FUNCTION_WORDS["nnp_m"] | FUNCTION_WORDS["nnp_f"] | FUNCTION_WORDS["surname"]
        nouns = forms_by_class.pop("nn") - names
        initial = {"nn": nouns - MEN - WOMEN, "nnm": nouns & MEN, "nnf": nouns & WOMEN, "jj": forms_by_class.pop("jj")}
        onsets = {
            f"{name}_{onset}": {form for form in forms if bool(VOWEL_SOUND.match(form)) is (onset == "v")}
            for name, forms in initial.items()
            for onset in ("c", "v")
        }
        others = FUNCTION_WORDS["one"] | FUNCTION_WORDS["number"] | FUNCTION_WORDS["title"] | {"any", ""}
        plain = {"det_sg": self.det_sg - articles - others, "det_pl": self.det_pl - others, "rb": self.rb - {"ever"}}
        return {**forms_by_class, **FUNCTION_WORDS, **onsets, **plain}


def collect_words(lexicon: Lexicon) -> Words:
    """Return the forms of all words of *lexicon*."""

    def collect_forms(kind: Kind, *tags: Form) -> frozenset[str]:
        words = lexicon.words(kind)
        return frozenset(word.forms[tag] for word in words for tag in tags if tag in word.forms)

    return Words(
        nn=collect_forms(Kind.NOUN, Form.NN),
        nns=collect_forms(Kind.NOUN, Form.NNS),
        det_sg=collect_forms(Kind.DETERMINER, Form.DT_SG, Form.DT_SG_VOWEL),
        det_pl=collect_forms(Kind.DETERMINER, Form.DT_PL, Form.DT_PL_VOWEL),
        t_vb=collect_forms(Kind.TRANSITIVE, Form.VB),
        t_vbz=collect_forms(Kind.TRANSITIVE, Form.VBZ),
        t_vbd=collect_forms(Kind.TRANSITIVE, Form.VBD),
        t_vbg=collect_forms(Kind.TRANSITIVE, Form.VBG),
        t_vbn=collect_forms(Kind.TRANSITIVE, Form.VBN),
        i_vb=collect_forms(Kind.INTRANSITIVE, Form.VB),
        i_vbz=collect_forms(Kind.INTRANSITIVE, Form.VBZ),
        i_vbd=collect_forms(Kind.INTRANSITIVE, Form.VBD),
        i_vbg=collect_forms(Kind.INTRANSITIVE, Form.VBG),
        i_vbn=collect_forms(Kind.INTRANSITIVE, Form.VBN),
        d_vb=collect_forms(Kind.DITRANSITIVE, Form.VB),
        d_vbz=collect_forms(Kind.DITRANSITIVE, Form.VBZ),
        d_vbd=collect_forms(Kind.DITRANSITIVE, Form.VBD),
        d_vbg=collect_forms(Kind.DITRANSITIVE, Form.VBG),
        d_vbn=collect_forms(Kind.DITRANSITIVE, Form.VBN),
        rb=collect_forms(Kind.ADVERB, Form.RB),
        jj=collect_forms(Kind.ADJECTIVE, Form.JJ),
        md=collect_forms(Kind.MODAL, Form.MD),
        md_neg=collect_forms(Kind.MODAL, Form.MD_NEG),
    )


class _Terminals(Lexer):
    """A lexer for input that is already a sequence of terminals."""

    def __init__(self, _config: Any) -> None:
        pass

    def lex(self, data: Any) -> Iterator[Token]:  # type: ignore[override]
        return (Token(terminal, terminal) for terminal in data)


class Oracle:
    """Says whether a sentence is in the fragment, given the words."""

    def __init__(self, words: Words) -> None:
        classes: dict[str, list[str]] = {}  # form -> the classes it is in
        for name, forms in sorted(words.group_by_class().items()):
            for form in forms:
                classes.setdefault(form, []).append(name)
        self._terminals = {form: "__".join(names).upper() for form, names in classes.items()}
        self._parser = Lark(
            _build_grammar(words.group_by_class(), {tuple(names) for names in classes.values()}),
            parser="earley",
            lexer=_Terminals,
            ambiguity="forest",  # no tree is wanted
        )
        self._judge = lru_cache(maxsize=None)(self._is_parsed)

    def accepts(self, tokens: Iterable[str]) -> bool:
        """Say whether *tokens* are a sentence; unknown words are rejected."""
        terminals = tuple(self._terminals.get(token, "") for token in tokens)
        return all(terminals) and self._judge(terminals)

    def _is_parsed(self, terminals: tuple[str, ...]) -> bool:
        try:
            self._parser.parse(terminals)
        except UnexpectedInput:
            return False
        return True


def _build_grammar(names: Iterable[str], terminals: Iterable[tuple[str, ...]]) -> str:
    """Return ``oracle.lark`` with a rule for each word class that lists its terminals."""
    rules = {name: [f"{name.upper()}"] for name in names}
    for classes in sorted(terminals):
        for name in classes if len(classes) > 1 else ():
            rules[name].append("__".join(classes).upper())
    declared = {terminal for alternatives in rules.values() for terminal in alternatives}
    return "\n".join(
        [
            Path(__file__).with_suffix(".lark").read_text(encoding="utf-8"),
            *(f"{name}: {' | '.join(alternatives)}" for name, alternatives in rules.items()),
            f"%declare {' '.join(sorted(declared))}",
        ]
    )
