"""The annotation of a sentence: trees, dependencies, predicates and negations."""

from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from sentprobe.generator.events.event import (
    GAP,
    Asked,
    Event,
    Mood,
    Number,
    Participant,
    Reflexive,
    Role,
    iterate_clauses,
)
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence, Token
from sentprobe.lexicon import english

LEXICON = english()


NUMBERS = {"Number=Sing": Number.SINGULAR, "Number=Plur": Number.PLURAL}
SUBJECTS = ("nsubj", "nsubj:pass")

compeval_events = full_events(LEXICON)
english_events = full_events(LEXICON, vocabulary="english")
slowly = examples(15)
briefly = examples(60)


# ------------------------------------------------------------------ the dependency tree


def number_of(token: Token) -> Number | None:
    """Return the grammatical number that a token's features state."""
    return next((n for text, n in NUMBERS.items() if text in token.feats.split("|")), None)


def find_finite(sentence: Sentence, verb: int) -> Token:
    """Return the finite verb or auxiliary of the clause whose verb is token *verb*."""
    group = [t for i, t in enumerate(sentence.tokens, 1) if verb in (i, t.head)]
    (finite_token,) = [t for t in group if "VerbForm=Fin" in t.feats and t.upos in ("VERB", "AUX")]
    return finite_token


def subject(sentence: Sentence, verb: int) -> Token:
    """Return the subject noun or question word of a verb; a relativizer counts as the noun before it."""
    (subject_token,) = [t for t in sentence.tokens if t.head == verb and t.deprel in SUBJECTS]
    is_relative = "PronType=Rel" in subject_token.feats
    return sentence.tokens[sentence.tokens[verb - 1].head - 1] if is_relative else subject_token


@given(st.one_of(compeval_events, english_events))
@briefly
def test_subject_and_finite_verb_agree(event: Event) -> None:
    sentence = realize(event, LEXICON)
    for predicate in sentence.predicates:
        finite = find_finite(sentence, predicate.verb)
        if predicate.agent is None:
            assert "Mood=Imp" in finite.feats
            continue
        noun = subject(sentence, predicate.verb)
        number = number_of(noun) if noun.upos == "NOUN" else Number.SINGULAR
        if any(t.deprel == "conj" and sentence.tokens[t.head - 1] is noun for t in sentence.tokens):
            number = Number.PLURAL
        agrees = number is number_of(finite) is not None
        assert agrees is (finite.xpos != "MD")


@given(st.one_of(compeval_events, english_events))
@briefly
def test_the_dependencies_are_a_tree(event: Event) -> None:
    tokens = realize(event, LEXICON).tokens
    assert [t.deprel for t in tokens if t.head == 0] == ["root"]
    assert [t.head for t in tokens if t.deprel == "root"] == [0]
    for at, token in enumerate(tokens, 1):
        assert 0 <= token.head <= len(tokens) and token.head != at
        seen = [at]
        while head := tokens[seen[-1] - 1].head:
            assert head not in seen
            seen.append(head)


# ------------------------------------------------------------------ the constituency tree


@given(st.one_of(compeval_events, english_events))
@briefly
def test_the_constituency_tree_is_over_the_tokens(event: Event) -> None:
    sentence = realize(event, LEXICON)
    tree = Tree.fromstring(sentence.tree)
    assert tree.label() == ("S" if event.mood is not Mood.QUESTION else "SQ" if event.asked is None else "SBARQ")
    assert tree.pos() == [(token.form, token.xpos) for token in sentence.tokens]
    assert " ".join(sentence.tree.split()) == " ".join(str(tree).split())


# ------------------------------------------------------------------ predicates and negations


def noun_of(clause: Event, role: Role, head: Participant | None) -> str | None:
    """Return the lemma of a role's noun or pronoun; the gap's is that of the noun that is modified."""
    filler = clause.argument(role)
    if isinstance(filler, Asked | Reflexive):
        return filler.value
    person = head if filler is GAP else filler
    return person.noun if isinstance(person, Participant) else None


@given(st.one_of(compeval_events, english_events))
@briefly
def test_predicates_point_to_their_words(event: Event) -> None:
    sentence = realize(event, LEXICON)
    lemma = {at: token.lemma for at, token in enumerate(sentence.tokens, 1)}
    predicates = [(lemma[p.verb], lemma.get(p.agent or 0), lemma.get(p.patient or 0)) for p in sentence.predicates]
    stated = [
        (clause.predicate, noun_of(clause, Role.AGENT, head), noun_of(clause, Role.PATIENT, head))
        for clause, head in iterate_clauses(event)
    ]
    assert predicates[0] == stated[0]
    assert sorted(predicates, key=str) == sorted(stated, key=str)
    inner = [p.verb for p in sentence.predicates[1:]]
    assert inner == sorted(inner)
    for predicate in sentence.predicates:
        assert sentence.tokens[predicate.verb - 1].upos == "VERB"
        assert predicate.agent is None or sentence.tokens[predicate.agent - 1].upos in ("NOUN", "PRON")


@given(st.one_of(compeval_events, english_events))
@briefly
def test_negations_point_to_cue_and_verb(event: Event) -> None:
    sentence = realize(event, LEXICON)
    negations = [(sentence.tokens[n.cue - 1].form, sentence.tokens[n.verb - 1].lemma) for n in sentence.negations]
    stated = [(str(c.negator), c.predicate) for c, _ in iterate_clauses(event) if c.negator is not None]
    assert sorted(negations) == sorted(stated)
    for negation in sentence.negations:
        assert sentence.tokens[negation.cue - 1].head == negation.verb
    cues = {at for at, token in enumerate(sentence.tokens, 1) if token.lemma == "not"}
    assert cues == {n.cue for n in sentence.negations}
