"""The slow path of realization and parsing: unification with the grammar, word by word.

:func:`derive` and :func:`chart_parse` are references for ``realize`` and ``parse``, without cached shapes. They share
only the grammar and the checks of the input. The chart parser may also use ATTACHMENT_RULES.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from nltk.featstruct import FeatStruct
from nltk.grammar import FeatStructNonterminal, FeatureGrammar, Production
from nltk.parse.featurechart import FeatureBottomUpLeftCornerChartParser

from sentprobe.generator.events.checks import infer_frames
from sentprobe.generator.events.event import (
    BARE,
    FRAME_ROLES,
    GAP,
    Argument,
    Asked,
    Aspect,
    Dative,
    Event,
    Frame,
    Fronting,
    Mood,
    Negator,
    Number,
    Participant,
    Polarity,
    Reflexive,
    RelativeClause,
    Role,
    Tense,
    Voice,
)
from sentprobe.generator.sentences.realize import check_event, find_words, render_tree
from sentprobe.generator.sentences.sentence import Negation, Predicate, Sentence, Token
from sentprobe.grammars import read_grammar_source
from sentprobe.grammars.derivation import PARENT, FlatItem, Leaf, flatten
from sentprobe.grammars.grammar import load_grammar
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language

SENTENCE = "root[]"

_LATE_ADVERBS = """
S[SEM=[BASE={event}, LATE=?d], GAP=subj, NUM=?n, AGR=?i, FREL=?r] -> \\
    fin[SEM={event}, SUBJ=gap, NUM=?n, SREL=?r, GAP=none, POL=plain, BIND=?i, TAIL=none] ADVP[SEM=?d, POL={polarity}]
S[SEM=[BASE={event}, LATE=?d], GAP=arg, FREL=?f] -> NP[SEM=?x, NUM=?n, AGR=?i, POL=plain, BIND=none, REL=?r] \\
    fin[SEM={event}, SUBJ=?x, NUM=?n, SREL=?r, GAP=arg, FREL=?f, POL=plain, BIND=?i, TAIL=none] \\
    ADVP[SEM=?d, POL={polarity}]
"""
ATTACHMENT_RULES = "".join(
    _LATE_ADVERBS.format(event=f"[TENSE=?t, ASPECT=?a, VOICE=?v, NEG={negation}, ADV=?y, CORE=?c]", polarity=polarity)
    for negation, polarity in (("pos", "plain"), ("'not'", "?q"), ('"n\'t"', "?q"))
)
"""Rules for relative clauses that end in adverbs, which the grammar itself does not have."""

CONJUNCT_RULES = "NP[SEM=?x, NUM=pl, AGR=[NUM=pl], POL=?q] -> NP[SEM=?x, BARE='-', POL=?q] conjunct[SEM=?y, POL=?q]"
"""Rule for a noun with a relative clause before a conjunct, which the grammar itself does not have."""

_GAP = "gap"
_NONE = "none"
_LISTENER = "listener"


def build_goal(event: Event, language: Language = ENGLISH) -> FeatStructNonterminal:
    """Return the category to derive for a fully specified *event*."""
    goal = FeatStructNonterminal(SENTENCE)
    goal["SEM"] = event_to_features(event)
    asked = [_get_value(filler) for filler in map(event.argument, Role) if isinstance(filler, Asked)]
    goal["MOOD"], goal["ASKED"] = _get_value(event.mood), (*asked, _NONE)[0]
    if language.has_fronting:
        goal["FRONT"] = "object" if event.fronting else "subject"
    if language.adjuncts:
        goal["FRONT"] = "adjunct" if event.fronting else "subject"
        goal["ADJUNCT"] = FeatStruct({"LEM": event.adjunct}) if event.adjunct else _NONE
    return goal


def event_to_features(event: Event) -> FeatStruct:
    """Return the meaning (SEM) of a fully specified *event*."""
    core: dict[str, Any] = {"PRED": event.predicate, "FRAME": _get_value(event.frame)}
    is_order = event.mood is Mood.ORDER
    tense = "imp" if is_order else event.tense and _get_value(event.tense)
    for role in FRAME_ROLES[event.frame or Frame.TRANSITIVE]:
        is_listener = is_order and role is Role.AGENT
        core[role.upper()] = _LISTENER if is_listener else _argument_to_features(event.argument(role))
    if event.dative is not None:
        core["DATIVE"] = _get_value(event.dative)
    negation = event.negator if event.polarity is Polarity.NEGATIVE else event.polarity
    return FeatStruct(
        {
            "TENSE": FeatStruct({"MODAL": event.modal}) if event.modal else tense,
            "ASPECT": _get_value(event.aspect),
            "VOICE": _get_value(event.voice),
            "NEG": _get_value(negation),
            "ADV": _list_to_features(event.adverbs or ()),
            "CORE": FeatStruct(core),
        }
    )


def event_from_features(meaning: FeatStruct) -> Event:
    """Return the event of a meaning (SEM); the inverse of :func:`event_to_features`."""
    if "BASE" in meaning:
        event = event_from_features(meaning["BASE"])
        return replace(event, adverbs=(*(event.adverbs or ()), *_list_from_features(meaning["LATE"])))
    core = meaning["CORE"]
    negation = meaning["NEG"]
    positive = negation == Polarity.POSITIVE.value
    finite = meaning["TENSE"]
    return Event(
        predicate=core["PRED"],
        frame=Frame(core["FRAME"]),
        voice=Voice(meaning["VOICE"]),
        tense=Tense(finite) if finite in [*Tense] else None,
        modal=None if isinstance(finite, str) else finite["MODAL"],
        aspect=Aspect(meaning["ASPECT"]),
        polarity=Polarity.POSITIVE if positive else Polarity.NEGATIVE,
        negator=None if positive else Negator(negation),
        adverbs=tuple(_list_from_features(meaning["ADV"])),
        dative=Dative(core["DATIVE"]) if "DATIVE" in core else None,
        agent=None if core["AGENT"] == _LISTENER else _argument_from_features(core["AGENT"]),
        patient=_argument_from_features(core["PATIENT"]) if "PATIENT" in core else None,
        recipient=_argument_from_features(core["RECIPIENT"]) if "RECIPIENT" in core else None,
    )


def _get_value(value: Any) -> str:
    return str(value.value)


def _argument_to_features(argument: Argument | None) -> FeatStruct | str:
    if isinstance(argument, Reflexive):
        return argument.value
    if not isinstance(argument, Participant):  # also the open participant of a question
        return _GAP
    if argument.conjunct is not None:
        first, second = map(_argument_to_features, (replace(argument, conjunct=None), argument.conjunct))
        return FeatStruct({"RC": "and", "NUM": "pl", "FIRST": first, "SECOND": second})
    features: dict[str, Any] = {
        "LEM": argument.noun,
        "NUM": _get_value(argument.number),
        "DET": argument.determiner,
        "ADJ": _list_to_features(argument.adjectives),
        "RC": BARE.value,
    }
    if isinstance(argument.clause, RelativeClause):
        clause = {"LINK": argument.clause.relativizer, "EVENT": event_to_features(argument.clause.event)}
        features["RC"] = FeatStruct(clause)
    return FeatStruct(features)


def _argument_from_features(features: FeatStruct | str) -> Argument:
    if isinstance(features, str):
        return GAP if features == _GAP else Reflexive(features)
    clause = features["RC"]
    if clause == "and":
        first, second = (_argument_from_features(features[name]) for name in ("FIRST", "SECOND"))
        assert isinstance(first, Participant)
        assert isinstance(second, Participant)
        return replace(first, conjunct=second)
    return Participant(
        noun=features["LEM"],
        number=Number(features["NUM"]),
        determiner=features["DET"],
        adjectives=tuple(_list_from_features(features["ADJ"])),
        clause=BARE
        if isinstance(clause, str)
        else RelativeClause(relativizer=clause["LINK"], event=event_from_features(clause["EVENT"])),
    )


def _list_to_features(items: tuple[str, ...]) -> FeatStruct | str:
    return FeatStruct({"FIRST": items[0], "REST": _list_to_features(items[1:])}) if items else _NONE


def _list_from_features(features: FeatStruct | str) -> list[str]:
    return [] if isinstance(features, str) else [features["FIRST"], *_list_from_features(features["REST"])]


def derive(event: Event, lexicon: Lexicon, *, id: str = "") -> Sentence:
    """Return the sentence of *event* by unification with the grammar.

    Raises:
        UsageError: see :func:`check_event`.
        ValueError: the grammar does not derive exactly one sentence.
    """
    event = infer_frames(event, lexicon)
    check_event(event, lexicon)
    words = dict.fromkeys(find_words(event, lexicon).values())
    (node,) = load_grammar(lexicon.language).derive(build_goal(event, lexicon.language), words)
    items = flatten(node)
    tokens = tuple(_build_token(item) for item in items)
    return Sentence(
        id=id,
        tokens=tokens,
        tree=render_tree([(item.before, item.after) for item in items], tokens),
        event=event,
        predicates=_read_predicates(tokens),
        negations=_read_negations(tokens),
    )


def _build_token(item: FlatItem) -> Token:
    leaf = item.content
    assert isinstance(leaf, Leaf)
    return Token(
        form=leaf.form,
        lemma=leaf.lemma,
        upos=leaf.pos,
        xpos=leaf.tag,
        feats=leaf.feats,
        head=item.head + 1,
        deprel="root" if item.head == PARENT else item.rel,
    )


_ROLE_OF_RELATION = {
    "nsubj": "agent",
    "obj": "patient",
    "obl:arg": "patient",
    "iobj": "recipient",
    "obl": "recipient",
    "obl:agent": "agent",
}


def _read_predicates(tokens: tuple[Token, ...]) -> tuple[Predicate, ...]:
    """Read the predicates from the dependencies, independently of the plan."""
    predicates = []
    for verb, token in enumerate(tokens, 1):
        if token.upos == "VERB":
            roles = {
                _ROLE_OF_RELATION[child.deprel]: token.head if child.feats.endswith("Rel") else at
                for at, child in enumerate(tokens, 1)
                if child.head == verb and child.deprel in _ROLE_OF_RELATION and not _is_adjunct(tokens, at)
            }
            for at, child in enumerate(tokens, 1):
                if (child.head, child.deprel) == (verb, "nsubj:pass"):
                    role = "recipient" if "patient" in roles else "patient"
                    roles[role] = token.head if child.feats.endswith("Rel") else at
            numbers = {role.value: roles.get(role.value) for role in Role}
            predicates.append(
                Predicate(verb=verb, agent=numbers["agent"], patient=numbers["patient"], recipient=numbers["recipient"])
            )
    return tuple(sorted(predicates, key=lambda p: tokens[p.verb - 1].deprel != "root"))


def _is_adjunct(tokens: tuple[Token, ...], noun: int) -> bool:
    return any(token.head == noun and token.lemma in ("at", "in", "on") for token in tokens)


def _read_negations(tokens: tuple[Token, ...]) -> tuple[Negation, ...]:
    cues = [Negation(cue=at, verb=token.head) for at, token in enumerate(tokens, 1) if "Polarity=Neg" in token.feats]
    return tuple(sorted(cues, key=lambda n: tokens[n.verb - 1].deprel != "root"))


@cache
def list_syntax_productions(rules: str = "", language: Language = ENGLISH) -> tuple[Production, ...]:
    """Return the productions of the grammar, and of more *rules*, without words of a lexicon."""
    productions = FeatureGrammar.fromstring(read_grammar_source(language) + rules).productions()
    form_names = {form for forms in language.forms.values() for form in forms}
    return tuple(production for production in productions if production.rhs()[0] not in form_names)


def list_function_words(language: Language = ENGLISH) -> frozenset[str]:
    """Return the function words of the grammar."""
    return frozenset(p.rhs()[0] for p in list_syntax_productions(language=language) if isinstance(p.rhs()[0], str))


def chart_parse(tokens: list[str], lexicon: Lexicon, rules: str = "") -> list[Event]:
    """Return the events of a sentence by NLTK's feature chart parser, with more *rules*.

    A token that is not in the lexicon gives no event.
    """
    words = {word for token in tokens for word, _ in lexicon.find(token)}
    known_forms = {form for word in words for form in word.forms.values()} | list_function_words(lexicon.language)
    if not known_forms.issuperset(tokens):
        return []
    ordered = sorted(words, key=lambda word: (word.kind, word.lemma))
    start = FeatStructNonterminal(SENTENCE)
    syntax = list_syntax_productions(rules, lexicon.language)
    grammar = FeatureGrammar(start, [*syntax, *load_grammar(lexicon.language).lexicalize(ordered)])
    # NLTK's limit is five seconds of the clock, which a busy machine reaches on a long sentence.
    chart = FeatureBottomUpLeftCornerChartParser(grammar, max_time=None).chart_parse(tokens)
    roots: list[FeatStruct] = []
    for tree in chart.parses(start):
        if tree.label() not in roots:
            roots.append(tree.label())
    return [_event_from_root(root) for root in roots]


def _event_from_root(root: FeatStruct) -> Event:
    event = replace(event_from_features(root["SEM"]), mood=Mood.STATEMENT)
    if event.gap is not None:
        event = event.with_argument(event.gap, Asked(root["ASKED"]))
    fronting = {"object": Fronting.OBJECT, "adjunct": Fronting.ADJUNCT}.get(root.get("FRONT"))
    adjunct = None if root.get("ADJUNCT", _NONE) == _NONE else root["ADJUNCT"]["LEM"]
    return replace(event, mood=Mood(root["MOOD"]), fronting=fronting, adjunct=adjunct)


def chart_readings(tokens: list[str], lexicon: Lexicon) -> list[Event]:
    """Return the events of a sentence of the grammar, with all attachments of its adverbs."""
    return chart_parse(tokens, lexicon, ATTACHMENT_RULES) if chart_parse(tokens, lexicon) else []
