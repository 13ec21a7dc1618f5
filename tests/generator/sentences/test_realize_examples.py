"""Sentences written by hand, and every verb in every finite form."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from helpers.oracles.slow_path import derive

from sentprobe.generator.events.event import Polarity, iterate_participants
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import Form, Kind, english

LEXICON = english()


@dataclass(frozen=True)
class Example:
    """A sentence and its annotation: heads and relations of the tokens in order."""

    event: str
    text: str
    tree: str
    heads: tuple[int, ...]
    relations: str

    def __str__(self) -> str:
        return self.text


EXAMPLES = [
    Example(
        "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])",
        "the man slept",
        "(S (NP (DT the) (NN man)) (VP (VBD slept)))",
        (2, 3, 0),
        "det nsubj root",
    ),
    Example(
        "help[active, pres, simple, pos, adv()](agent: the man[sg, bare], patient: a actor[sg, bare])",
        "the man helps an actor",
        "(S (NP (DT the) (NN man)) (VP (VBZ helps) (NP (DT an) (NN actor))))",
        (2, 3, 0, 5, 3),
        "det nsubj root det obj",
    ),
    Example(
        "meet[passive, past, simple, pos, adv()](agent: that student[pl, bare], patient: this lawyer[sg, bare])",
        "this lawyer was met by those students",
        "(S (NP (DT this) (NN lawyer)) (VP (VBD was) (VP (VBN met) (PP (IN by) (NP (DT those) (NNS students))))))",
        (2, 4, 4, 0, 7, 7, 4),
        "det nsubj:pass aux:pass root case det obl:agent",
    ),
    Example(
        "follow[active, pres, prog, pos, adv()](agent: some woman[pl, bare], patient: no doctor[pl, bare])",
        "some women are following no doctors",
        "(S (NP (DT some) (NNS women)) (VP (VBP are) (VP (VBG following) (NP (DT no) (NNS doctors)))))",
        (2, 4, 4, 0, 6, 4),
        "det nsubj aux root det obj",
    ),
    Example(
        "call[passive, past, prog, pos, adv(often)](agent: the scientist[sg, bare], patient: the professor[pl, bare])",
        "the professors were often being called by the scientist",
        "(S (NP (DT the) (NNS professors)) (VP (VBD were) (ADVP (RB often)) "
        "(VP (VBG being) (VP (VBN called) (PP (IN by) (NP (DT the) (NN scientist)))))))",
        (2, 6, 6, 6, 6, 0, 9, 9, 6),
        "det nsubj:pass aux advmod aux:pass root case det obl:agent",
    ),
    Example(
        "sleep[intransitive, prog, n't, modal(can), adv(really)](agent: the doctor[pl, bare])",
        "the doctors ca n't really be sleeping",
        "(S (NP (DT the) (NNS doctors)) (VP (MD ca) (RB n't) (ADVP (RB really)) (VP (VB be) (VP (VBG sleeping)))))",
        (2, 7, 7, 7, 7, 7, 0),
        "det nsubj aux advmod advmod aux root",
    ),
    Example(
        "help[passive, prog, not, modal(must), adv()](agent: the man[sg] that sleep[intransitive, simple, pos, "
        "modal(may), adv()](agent: _), patient: the doctor[sg, bare])",
        "the doctor must not be being helped by the man that may sleep",
        "(S (NP (DT the) (NN doctor)) (VP (MD must) (RB not) (VP (VB be) (VP (VBG being) (VP (VBN helped) (PP (IN by) "
        "(NP (NP (DT the) (NN man)) (SBAR (WHNP (WDT that)) (S (VP (MD may) (VP (VB sleep))))))))))))",
        (2, 7, 7, 7, 7, 7, 0, 10, 10, 7, 13, 13, 10),
        "det nsubj:pass aux advmod aux aux:pass root case det obl:agent nsubj aux acl:relcl",
    ),
    Example(
        "help[active, past, simple, n't, question, adv(really)](agent: the lawyer[sg, bare], patient: a man[sg, bare])",
        "did n't the lawyer really help a man",
        "(SQ (VBD did) (RB n't) (NP (DT the) (NN lawyer)) (ADVP (RB really)) (VP (VB help) (NP (DT a) (NN man))))",
        (6, 6, 4, 6, 6, 0, 8, 6),
        "aux advmod det nsubj advmod root det obj",
    ),
    Example(
        "help[passive, pres, prog, not, question, adv()](agent: the woman[sg, bare], patient: the man[sg, bare])",
        "is the man not being helped by the woman",
        "(SQ (VBZ is) (NP (DT the) (NN man)) (RB not) (VP (VBG being) (VP (VBN helped) (PP (IN by) (NP (DT the) "
        "(NN woman))))))",
        (6, 3, 6, 6, 6, 0, 9, 9, 6),
        "aux det nsubj:pass advmod aux:pass root case det obl:agent",
    ),
    Example(
        "sleep[intransitive, simple, n't, question, modal(can), adv()](agent: the doctor[sg, bare])",
        "ca n't the doctor sleep",
        "(SQ (MD ca) (RB n't) (NP (DT the) (NN doctor)) (VP (VB sleep)))",
        (5, 5, 4, 5, 0),
        "aux advmod det nsubj root",
    ),
    Example(
        "help[active, past, simple, pos, adv()](agent: who?, patient: the doctor[sg, bare])",
        "who helped the doctor",
        "(SBARQ (WHNP (WP who)) (SQ (VP (VBD helped) (NP (DT the) (NN doctor)))))",
        (2, 0, 4, 2),
        "nsubj root det obj",
    ),
    Example(
        "help[active, past, simple, pos, adv()](agent: the lawyer[sg, bare], patient: who?)",
        "who did the lawyer help",
        "(SBARQ (WHNP (WP who)) (SQ (VBD did) (NP (DT the) (NN lawyer)) (VP (VB help))))",
        (5, 5, 4, 5, 0),
        "obj aux det nsubj root",
    ),
    Example(
        "help[passive, past, simple, pos, adv()](agent: who?, patient: the lawyer[sg, bare])",
        "who was the lawyer helped by",
        "(SBARQ (WHNP (WP who)) (SQ (VBD was) (NP (DT the) (NN lawyer)) (VP (VBN helped) (PP (IN by)))))",
        (5, 5, 4, 5, 0, 1),
        "obl:agent aux:pass det nsubj:pass root case",
    ),
    Example(
        "help[not, order, adv(really)](patient: the doctor[sg, bare])",
        "do not really help the doctor",
        "(S (VP (VB do) (RB not) (ADVP (RB really)) (VP (VB help) (NP (DT the) (NN doctor)))))",
        (4, 4, 4, 0, 6, 4),
        "aux advmod advmod root det obj",
    ),
    Example("sleep[intransitive, pos, order, adv()]", "sleep", "(S (VP (VB sleep)))", (0,), "root"),
    Example(
        "sleep[intransitive, pres, simple, not, adv(really)](agent: the lawyer[sg, bare])",
        "the lawyer does not really sleep",
        "(S (NP (DT the) (NN lawyer)) (VP (VBZ does) (RB not) (ADVP (RB really)) (VP (VB sleep))))",
        (2, 6, 6, 6, 6, 0),
        "det nsubj aux advmod advmod root",
    ),
    Example(
        "recommend[active, past, simple, n't, adv()](agent: the doctor[pl, bare], patient: the man[pl, bare])",
        "the doctors did n't recommend the men",
        "(S (NP (DT the) (NNS doctors)) (VP (VBD did) (RB n't) (VP (VB recommend) (NP (DT the) (NNS men)))))",
        (2, 5, 5, 5, 0, 7, 5),
        "det nsubj aux advmod root det obj",
    ),
    Example(
        "dance[intransitive, pres, simple, pos, adv(always, often)](agent: the actor[pl, bare])",
        "the actors always , often dance",
        "(S (NP (DT the) (NNS actors)) (ADVP (RB always) (, ,) (RB often)) (VP (VBP dance)))",
        (2, 6, 6, 6, 6, 0),
        "det nsubj advmod punct advmod root",
    ),
    Example(
        "follow[active, pres, prog, not, adv(actually, fully)]"
        "(agent: the professor[sg, bare], patient: a student[sg, bare])",
        "the professor is not actually , fully following a student",
        "(S (NP (DT the) (NN professor)) "
        "(VP (VBZ is) (RB not) (ADVP (RB actually) (, ,) (RB fully)) "
        "(VP (VBG following) (NP (DT a) (NN student)))))",
        (2, 8, 8, 8, 8, 8, 8, 0, 10, 8),
        "det nsubj aux advmod advmod punct advmod root det obj",
    ),
    Example(
        "sleep[intransitive, past, simple, pos, adv()](agent: the professor[pl] that "
        "meet[active, pres, simple, pos, adv()](agent: _, patient: the man[sg, bare]))",
        "the professors that meet the man slept",
        "(S (NP (NP (DT the) (NNS professors)) (SBAR (WHNP (WDT that)) "
        "(S (VP (VBP meet) (NP (DT the) (NN man)))))) (VP (VBD slept)))",
        (2, 7, 4, 2, 6, 4, 0),
        "det nsubj nsubj acl:relcl det obj root",
    ),
    Example(
        "dance[intransitive, pres, simple, pos, adv()](agent: the woman[pl] who "
        "help[active, past, simple, n't, adv()](agent: that actor[sg, bare], patient: _))",
        "the women who that actor did n't help dance",
        "(S (NP (NP (DT the) (NNS women)) (SBAR (WHNP (WP who)) "
        "(S (NP (DT that) (NN actor)) (VP (VBD did) (RB n't) (VP (VB help)))))) (VP (VBP dance)))",
        (2, 9, 8, 5, 8, 8, 8, 2, 0),
        "det nsubj obj det nsubj aux advmod acl:relcl root",
    ),
    Example(
        "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg] who "
        "help[passive, pres, prog, pos, adv()](agent: the woman[pl, bare], patient: _))",
        "the man who is being helped by the women slept",
        "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ is) (VP (VBG being) "
        "(VP (VBN helped) (PP (IN by) (NP (DT the) (NNS women))))))))) (VP (VBD slept)))",
        (2, 10, 6, 6, 6, 2, 9, 9, 6, 0),
        "det nsubj nsubj:pass aux aux:pass acl:relcl case det obl:agent root",
    ),
    Example(
        "dance[intransitive, past, simple, pos, adv(always)](agent: no man[pl] that "
        "call[passive, past, simple, not, adv()](agent: _, patient: the doctor[pl, bare]))",
        "no men that the doctors were not called by always danced",
        "(S (NP (NP (DT no) (NNS men)) (SBAR (WHNP (WDT that)) (S (NP (DT the) (NNS doctors)) "
        "(VP (VBD were) (RB not) (VP (VBN called) (PP (IN by))))))) "
        "(ADVP (RB always)) (VP (VBD danced)))",
        (2, 11, 8, 5, 8, 8, 8, 2, 3, 11, 0),
        "det nsubj obl:agent det nsubj:pass aux:pass advmod acl:relcl case advmod root",
    ),
    Example(
        "help[active, past, prog, pos, adv()](agent: this student[sg, bare], patient: "
        "some professor[pl] who dance[intransitive, past, simple, n't, adv()](agent: _))",
        "this student was helping some professors who did n't dance",
        "(S (NP (DT this) (NN student)) (VP (VBD was) (VP (VBG helping) "
        "(NP (NP (DT some) (NNS professors)) (SBAR (WHNP (WP who)) "
        "(S (VP (VBD did) (RB n't) (VP (VB dance)))))))))",
        (2, 4, 4, 0, 6, 4, 10, 10, 10, 6),
        "det nsubj aux root det obj nsubj aux advmod acl:relcl",
    ),
    Example(
        "recommend[passive, past, prog, not, adv()](agent: the scientist[sg] that "
        "meet[active, past, simple, pos, adv(clearly)](agent: _, patient: the doctor[pl, bare]), "
        "patient: the actor[pl, bare])",
        "the actors were not being recommended by the scientist that clearly met the doctors",
        "(S (NP (DT the) (NNS actors)) (VP (VBD were) (RB not) (VP (VBG being) "
        "(VP (VBN recommended) (PP (IN by) (NP (NP (DT the) (NN scientist)) "
        "(SBAR (WHNP (WDT that)) (S (ADVP (RB clearly)) "
        "(VP (VBD met) (NP (DT the) (NNS doctors)))))))))))",
        (2, 6, 6, 6, 6, 0, 9, 9, 6, 12, 12, 9, 14, 12),
        "det nsubj:pass aux advmod aux:pass root case det obl:agent nsubj advmod acl:relcl det obj",
    ),
    Example(
        "meet[active, pres, simple, not, adv()](agent: a heir[sg] that "
        "sleep[intransitive, pres, prog, pos, adv()](agent: _), patient: the artist[pl] that "
        "follow[active, pres, simple, pos, adv()](agent: a student[sg, bare], patient: _))",
        "an heir that is sleeping does not meet the artists that a student follows",
        "(S (NP (NP (DT an) (NN heir)) (SBAR (WHNP (WDT that)) (S (VP (VBZ is) "
        "(VP (VBG sleeping)))))) (VP (VBZ does) (RB not) (VP (VB meet) "
        "(NP (NP (DT the) (NNS artists)) (SBAR (WHNP (WDT that)) "
        "(S (NP (DT a) (NN student)) (VP (VBZ follows))))))))",
        (2, 8, 5, 5, 2, 8, 8, 0, 10, 8, 14, 13, 14, 10),
        "det nsubj nsubj aux acl:relcl aux advmod root det obj obj det nsubj acl:relcl",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples(example: Example) -> None:
    event = read_event(example.event)
    sentence = realize(event, LEXICON)
    assert sentence.text == example.text
    assert sentence.tree == example.tree
    assert tuple(token.head for token in sentence.tokens) == example.heads
    assert " ".join(token.deprel for token in sentence.tokens) == example.relations
    assert derive(event, LEXICON) == sentence
    assert parse(example.text, LEXICON)[0] == event


def test_features_and_lemmas_of_an_example() -> None:
    event = read_event(
        "meet[active, past, prog, n't, adv(always)](agent: this man[pl] who "
        "help[passive, pres, simple, pos, adv()](agent: a actor[sg, bare], patient: _), "
        "patient: no woman[sg, bare])"
    )
    expected = """
        these   this    DET   DT   Number=Plur|PronType=Dem
        men     man     NOUN  NNS  Number=Plur
        who     who     PRON  WP   PronType=Rel
        are     be      AUX   VBP  Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin
        helped  help    VERB  VBN  Tense=Past|VerbForm=Part|Voice=Pass
        by      by      ADP   IN   -
        an      a       DET   DT   Definite=Ind|PronType=Art
        actor   actor   NOUN  NN   Number=Sing
        were    be      AUX   VBD  Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin
        n't     not     PART  RB   Polarity=Neg
        always  always  ADV   RB   PronType=Tot
        meeting meet    VERB  VBG  Tense=Pres|VerbForm=Part
        no      no      DET   DT   PronType=Neg
        woman   woman   NOUN  NN   Number=Sing
    """
    rows = [[t.form, t.lemma, t.upos, t.xpos, t.feats or "-"] for t in realize(event, LEXICON).tokens]
    assert rows == [line.split() for line in expected.split("\n") if line.strip()]


def test_the_id_is_kept() -> None:
    event = read_event(EXAMPLES[0].event)
    assert realize(event, LEXICON, id="x7").id == "x7"


def finite_forms() -> Iterator[tuple[str, str, Form]]:
    for kind in (Kind.TRANSITIVE, Kind.INTRANSITIVE):
        for word in LEXICON.words(kind):
            for form in (Form.VBZ, Form.VBP, Form.VBD):
                yield word.lemma, word.forms[form], form


def test_every_verb_of_the_lexicon_in_every_finite_form() -> None:
    for lemma, form, tag in finite_forms():
        noun = "men" if tag is Form.VBP else "man"
        object_text = " the women" if LEXICON.kinds_of(lemma)[0] is Kind.TRANSITIVE else ""
        events = parse(f"the {noun} {form}{object_text}", LEXICON)
        assert {event.predicate for event in events} == {lemma}
        assert next(iterate_participants(events[0]))[1].noun == "man"
        assert events[0].polarity is Polarity.POSITIVE
