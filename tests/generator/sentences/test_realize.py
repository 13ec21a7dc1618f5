"""From events to sentences and back, by the fast path and by the slow one; their annotation."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from helpers.oracles.slow_path import chart_parse, chart_readings, derive
from helpers.strategies.strategies import full_events, maybe
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree
from syrupy.assertion import SnapshotAssertion

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.checks import select_licensed
from sentprobe.generator.events.event import (
    GAP,
    ROLES,
    Asked,
    Event,
    Mood,
    Negator,
    Number,
    Participant,
    Polarity,
    Reflexive,
    Role,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import ParseError, normalize_sentence, parse
from sentprobe.generator.sentences.realize import list_readings, realize
from sentprobe.generator.sentences.sentence import Sentence, Token
from sentprobe.generator.sentences.sentence_records import write_conllu
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import Form, Kind, english

LEXICON = english()
EVERYTHING = Choices(
    determiners=tuple(word.lemma for word in LEXICON.words(Kind.DETERMINER)),
    relativizers=tuple(word.lemma for word in LEXICON.words(Kind.RELATIVIZER)),
    negators=tuple(Negator),
    modals=(None, *(word.lemma for word in LEXICON.words(Kind.MODAL))),
    moods=tuple(Mood),
    asked=(None, *ROLES[:2]),
    adverbs=(0, 1, 2),
)

SOMETHING = replace(EVERYTHING, moods=(Mood.STATEMENT,), asked=(None,), adverbs=(0, 1))
"""Fewer choices, since the cells of a space multiply with them."""


compeval_events = full_events(LEXICON)
english_events = full_events(LEXICON, vocabulary="english")
all_events = st.one_of(compeval_events, english_events)
slowly = examples(15)
briefly = examples(60)


@given(english_events)
@briefly
def test_normalized_sentence_is_generated_one(event: Event) -> None:
    text = realize(event, LEXICON).text
    written = (text, f"{text}.", f"{text.capitalize()} . ", f"{text.upper()}.", f"{text}?", f"{text} ! ")
    assert {normalize_sentence(sentence, LEXICON) for sentence in written} == {text}


@given(all_events)
@examples(200)
def test_parsing_undoes_realizing(event: Event) -> None:
    """The event is the first reading; the others differ in the attachment of adverbs."""
    assert [*parse(realize(event, LEXICON).text, LEXICON)] == select_licensed(list_readings(event), LEXICON)
    assert list_readings(event)[0] == event


@given(all_events)
@slowly
def test_fast_path_equals_slow_path(event: Event) -> None:
    assert realize(event, LEXICON, id="s1") == derive(event, LEXICON, id="s1")


@given(all_events)
@slowly
def test_chart_parser_finds_same_event(event: Event) -> None:
    tokens = [token.form for token in realize(event, LEXICON).tokens]
    assert chart_parse(tokens, LEXICON) == [event]


@given(compeval_events, st.data())
@slowly
def test_parsers_agree_on_any_tokens(event: Event, data: st.DataObject) -> None:
    tokens = [token.form for token in realize(event, LEXICON).tokens]
    place = data.draw(st.integers(0, len(tokens) - 1), label="place")
    instead = data.draw(maybe(st.sampled_from(tokens)), label="instead")
    tokens[place : place + 1] = [] if instead is None else [instead]
    try:
        parsed = parse(" ".join(tokens), LEXICON)
    except ParseError:
        parsed = ()
    assert set(parsed) == set(chart_readings(tokens, LEXICON))


@pytest.mark.parametrize("vocabulary", ["compeval", "english"])
def test_parsing_undoes_realizing_in_all_templates(vocabulary: str) -> None:
    space = Space(LEXICON, vocabulary=vocabulary, templates=["all"], choices=EVERYTHING)
    for event in space.events(space.sample(300, seed=0)):
        assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


@pytest.mark.parametrize(
    "template",
    [pytest.param(name, marks=[pytest.mark.slow] if "." in name else []) for name in list_template_names(deep=True)],
)
def test_parsing_undoes_realizing_in_every_sub_template(template: str) -> None:
    vocabulary = "everyday" if "ditransitive" in template else "english"
    # One choice of modals a template: with two, a space takes ten times as long to build.
    choices = replace(SOMETHING, modals=(None,) if len(template) % 2 else ("must",))
    space = Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=choices)
    for event in space.events(space.sample(12, seed=1)):
        assert parse(realize(event, LEXICON).text, LEXICON) == (event,)


# ------------------------------------------------------------------ the words


@given(english_events)
@briefly
def test_an_stands_before_a_vowel_sound(event: Event) -> None:
    tokens = realize(event, LEXICON).tokens
    for article, noun in pairwise(tokens):
        if article.lemma == "a" and article.upos == "DET":
            vowel = LEXICON.get(noun.lemma, Kind.NOUN).vowel
            assert article.form == ("an" if vowel else "a")


@given(english_events)
@briefly
def test_adverbs_stand_before_their_verbs(event: Event) -> None:
    sentence = realize(event, LEXICON)
    stated = sorted((c.adverbs or (), str(c.predicate)) for c, _ in iterate_clauses(event))
    adverbs = []
    for predicate in sentence.predicates:
        clause_adverbs = [
            token.lemma
            for token in sentence.tokens[: predicate.verb]
            if token.head == predicate.verb and token.upos == "ADV"
        ]
        adverbs.append((tuple(clause_adverbs), sentence.tokens[predicate.verb - 1].lemma))
    assert sorted(adverbs) == stated


@given(english_events)
@briefly
def test_no_token_holds_space(event: Event) -> None:
    sentence = realize(event, LEXICON)
    assert sentence.text.split(" ") == [token.form for token in sentence.tokens]
    assert all(token.form for token in sentence.tokens)


@given(compeval_events)
@briefly
def test_long_adverb_sequences_are_parsed(event: Event) -> None:
    adverbs = LEXICON.vocabulary("compeval").words[Kind.ADVERB]
    event = replace(event, adverbs=adverbs)
    sentence = realize(event, LEXICON)
    assert " , ".join(adverbs) in sentence.text
    assert parse(sentence.text, LEXICON)[0] == event


NUMBERS = {"Number=Sing": Number.SINGULAR, "Number=Plur": Number.PLURAL}
SUBJECTS = ("nsubj", "nsubj:pass")


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


@given(all_events)
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


@given(all_events)
@briefly
def test_dependencies_are_tree(event: Event) -> None:
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


@given(all_events)
@briefly
def test_constituency_tree_is_over_tokens(event: Event) -> None:
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


@given(all_events)
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
        assert predicate.agent is None or sentence.tokens[predicate.agent - 1].upos in ("NOUN", "PROPN", "PRON")


@given(all_events)
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


EXAMPLES = [
    "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])",
    "help[active, pres, simple, pos, adv()](agent: the man[sg, bare], patient: a actor[sg, bare])",
    "meet[passive, past, simple, pos, adv()](agent: that student[pl, bare], patient: this lawyer[sg, bare])",
    "follow[active, pres, prog, pos, adv()](agent: some woman[pl, bare], patient: no doctor[pl, bare])",
    "call[passive, past, prog, pos, adv(often)](agent: the scientist[sg, bare], patient: the professor[pl, bare])",
    "sleep[intransitive, prog, n't, modal(can), adv(really)](agent: the doctor[pl, bare])",
    (
        "help[passive, prog, not, modal(must), adv()](agent: the man[sg] that sleep[intransitive, simple, pos, "
        "modal(may), adv()](agent: _), patient: the doctor[sg, bare])"
    ),
    "help[active, past, simple, n't, question, adv(really)](agent: the lawyer[sg, bare], patient: a man[sg, bare])",
    "help[passive, pres, prog, not, question, adv()](agent: the woman[sg, bare], patient: the man[sg, bare])",
    "sleep[intransitive, simple, n't, question, modal(can), adv()](agent: the doctor[sg, bare])",
    "help[active, past, simple, pos, adv()](agent: who?, patient: the doctor[sg, bare])",
    "help[active, past, simple, pos, adv()](agent: the lawyer[sg, bare], patient: who?)",
    "help[passive, past, simple, pos, adv()](agent: who?, patient: the lawyer[sg, bare])",
    "help[not, order, adv(really)](patient: the doctor[sg, bare])",
    "sleep[intransitive, pos, order, adv()]",
    "sleep[intransitive, pres, simple, not, adv(really)](agent: the lawyer[sg, bare])",
    "recommend[active, past, simple, n't, adv()](agent: the doctor[pl, bare], patient: the man[pl, bare])",
    "dance[intransitive, pres, simple, pos, adv(always, often)](agent: the actor[pl, bare])",
    (
        "follow[active, pres, prog, not, adv(actually, fully)](agent: the professor[sg, bare], patient: a "
        "student[sg, bare])"
    ),
    (
        "sleep[intransitive, past, simple, pos, adv()](agent: the professor[pl] that meet[active, pres, simple, "
        "pos, adv()](agent: _, patient: the man[sg, bare]))"
    ),
    (
        "dance[intransitive, pres, simple, pos, adv()](agent: the woman[pl] who help[active, past, simple, n't, "
        "adv()](agent: that actor[sg, bare], patient: _))"
    ),
    (
        "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg] who help[passive, pres, prog, pos, "
        "adv()](agent: the woman[pl, bare], patient: _))"
    ),
    (
        "dance[intransitive, past, simple, pos, adv(always)](agent: no man[pl] that call[passive, past, simple, "
        "not, adv()](agent: _, patient: the doctor[pl, bare]))"
    ),
    (
        "help[active, past, prog, pos, adv()](agent: this student[sg, bare], patient: some professor[pl] who "
        "dance[intransitive, past, simple, n't, adv()](agent: _))"
    ),
    (
        "recommend[passive, past, prog, not, adv()](agent: the scientist[sg] that meet[active, past, simple, pos, "
        "adv(clearly)](agent: _, patient: the doctor[pl, bare]), patient: the actor[pl, bare])"
    ),
    (
        "meet[active, pres, simple, not, adv()](agent: a heir[sg] that sleep[intransitive, pres, prog, pos, "
        "adv()](agent: _), patient: the artist[pl] that follow[active, pres, simple, pos, adv()](agent: a "
        "student[sg, bare], patient: _))"
    ),
    (
        "meet[active, past, prog, n't, adv(always)](agent: this man[pl] who help[passive, pres, simple, pos, "
        "adv()](agent: a actor[sg, bare], patient: _), patient: no woman[sg, bare])"
    ),
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_example_is_derived_and_parsed(text: str) -> None:
    event = read_event(text)
    sentence = realize(event, LEXICON)
    assert derive(event, LEXICON) == sentence
    assert parse(sentence.text, LEXICON)[0] == event


def test_annotation_of_examples(stored_text: SnapshotAssertion) -> None:
    """Text, tree, dependencies and features, which were written by hand."""
    records = []
    for number, text in enumerate(EXAMPLES, 1):
        sentence = realize(read_event(text), LEXICON, id=f"x{number}")
        records.append(f"{text}\n{write_conllu(sentence)}")
    assert "".join(records) == stored_text


def finite_forms() -> Iterator[tuple[str, str, Form]]:
    for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE):
        for word in LEXICON.words(kind):
            for form in (Form.VBZ, Form.VBP, Form.VBD):
                yield word.lemma, word.forms[form], form


def test_finite_forms_are_parsed() -> None:
    for lemma, form, tag in finite_forms():
        noun = "men" if tag is Form.VBP else "man"
        object_text = " the women" if LEXICON.kinds_of(lemma)[0] is Kind.TRANSITIVE else ""
        events = parse(f"the {noun} {form}{object_text}", LEXICON)
        assert {event.predicate for event in events} == {lemma}
        assert next(iterate_participants(events[0]))[1].noun == "man"
        assert events[0].polarity is Polarity.POSITIVE


# ------------------------------------------------------------------ what cannot be realized

NOT_REALIZED = {
    "sleep": "partly specified: tense, aspect, polarity, adverbs, agent left open",
    "sleep[intransitive, past, simple, neg, adv()](agent: the man[sg, bare])": "negator left open",
    "sleep[intransitive, past, simple, pos, adv()](agent: man[sg, bare])": "agent.determiner left",
    "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg] that dance)": (
        "agent.clause.tense, agent.clause.aspect"
    ),
    "sleep[intransitive, past, simple, pos, adv()](agent: _)": "a relative clause has one gap",
    "sleep[intransitive, past, simple, pos, adv()](agent: the mna[sg, bare])": "unknown noun 'mna'",
    "slepe[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])": "'slepe' (did you",
    "help[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])": (
        "unknown intransitive 'help' (the lexicon has it as transitive)"
    ),
    "sleep[intransitive, past, simple, pos, adv(man)](agent: the man[sg, bare])": ("unknown adverb 'man'"),
    "sleep[intransitive, simple, n't, modal(may), adv()](agent: the man[sg, bare])": (
        "the modal 'may' has no form before n't; use not"
    ),
    "help[active, past, simple, pos, adv()](agent: the man[sg, bare], patient: what?)": (
        "'what' cannot ask for the patient of 'help'"
    ),
    "sleep[intransitive, simple, pos, modal(shal), adv()](agent: the man[sg, bare])": "unknown modal 'shal'",
    "sleep[intransitive, past, simple, pos, adv()](agent: a man[pl, bare])": (
        "the determiner 'a' does not go with a plural noun"
    ),
}


@pytest.mark.parametrize("text", NOT_REALIZED)
def test_unrealizable_event_is_refused(text: str) -> None:
    event = read_event(text)
    for function in (realize, derive):
        with pytest.raises(UsageError) as caught:
            function(event, LEXICON)
        assert NOT_REALIZED[text] in str(caught.value)


# ------------------------------------------------------------------ what cannot be parsed

NOT_PARSED = {
    "": (1, "ends after token 0, expected a determiner"),
    "the": (2, "a noun that goes with 'the'"),
    "the man": (3, "the sentence ends after token 2"),
    "the man sleeps .": (4, "expected the end of the sentence, not '.'"),
    "the mna sleeps": (2, "not 'mna' (not in the lexicon)"),
    "the man sleep": (3, "a singular present verb"),
    "a men sleep": (2, "a noun that goes with 'a'"),
    "the man helps": (4, "ends after token 3, expected a determiner"),
    "the man was slept by the woman": (4, "expected"),
    "did not the man sleep": (2, "or a determiner, not 'not'"),
    "did the man n't sleep": (4, 'not "n\'t"'),
    "does the men sleep": (4, "a singular subject before it, not 'sleep'"),
    "did the man slept": (4, "not 'slept'"),
    "who help the man": (2, "not 'help'"),
    "who did the lawyer help the man": (6, "the end of the sentence"),
    "helps the man": (1, "the plain form of a verb"),
    "do help the man": (2, "not 'help'"),
    "be sleeping": (1, "not 'be'"),
    "the man ca sleep": (4, "not 'sleep'"),
    "the man can n't sleep": (4, 'not "n\'t"'),
    "the man wo not sleep": (4, "not 'not'"),
    "the man may n't sleep": (4, 'not "n\'t"'),
    "the man must sleeps": (4, "the plain form of a verb, not 'sleeps'"),
    "the man is not": (5, "ends after token 4, expected"),
    "the man that the women helps sleeps": (6, "not 'helps'"),
    "the man and the woman and the boy slept": (6, "not 'and'"),
}


@pytest.mark.parametrize("text", NOT_PARSED)
def test_failed_parse_says_where_it_stopped(text: str) -> None:
    position, message = NOT_PARSED[text]
    with pytest.raises(ParseError) as caught:
        parse(text, LEXICON)
    assert caught.value.position == position
    assert message in str(caught.value)
    assert chart_parse(text.split(), LEXICON) == []
