"""Sentences of template transitive-rc as a plain context-free grammar, for other generators."""

from collections.abc import Iterator

from sentprobe.generator.events.event import Frame
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Form, Kind

BE = {("sg", "pres"): "is", ("pl", "pres"): "are", ("sg", "past"): "was", ("pl", "past"): "were"}
DO = {("sg", "pres"): "does", ("pl", "pres"): "do", ("sg", "past"): "did", ("pl", "past"): "did"}
FINITE = {("sg", "pres"): "VBZ", ("pl", "pres"): "VBP", ("sg", "past"): "VBD", ("pl", "past"): "VBD"}


def build_plain_grammar(space: Space) -> str:
    """Return the rules in NLTK's notation, over the words of *space*.

    Features become part of the category names. The grammar may repeat a word in a sentence.
    """
    return "\n".join(["%start S", *_write_sentence_rules(), *_write_verb_rules(), *_write_word_rules(space)])


def _write_sentence_rules() -> Iterator[str]:
    for n in ("sg", "pl"):
        yield f"NP_{n} -> 'the' N_{n}"
        yield f"NPR_{n} -> 'the' N_{n} RC_{n}"
        yield f"NP -> NP_{n}"
        yield f"NPR -> NPR_{n}"
        for subject, second_phrase in ((f"NPR_{n}", "NP"), (f"NP_{n}", "NPR")):
            yield (f"S -> {subject} ACT_{n} {second_phrase} | {subject} PASS_{n} 'by' {second_phrase}")
        yield f"RC_{n} -> 'that' ACT_{n} NP | 'that' PASS_{n} 'by' NP | 'that' INTR_{n}"
        for m in ("sg", "pl"):
            yield f"RC_{n} -> 'that' NP_{m} ACT_{m} | 'that' NP_{m} PASS_{m} 'by'"


def _write_verb_rules() -> Iterator[str]:
    for (n, tense), be in BE.items():
        do, finite = DO[n, tense], FINITE[n, tense]
        for name, verb in (("ACT", "T"), ("INTR", "I")):
            yield f"{name}_{n} -> {verb}_{finite} | '{do}' 'not' {verb}_VB"
            yield f"{name}_{n} -> '{be}' {verb}_VBG | '{be}' 'not' {verb}_VBG"
        yield f"PASS_{n} -> '{be}' T_VBN | '{be}' 'not' T_VBN"
        yield f"PASS_{n} -> '{be}' 'being' T_VBN | '{be}' 'not' 'being' T_VBN"


def _write_word_rules(space: Space) -> Iterator[str]:
    lexicon, words = space.lexicon, space.words
    for name, form in (("N_sg", Form.NN), ("N_pl", Form.NNS)):
        yield _format_rule(name, [lexicon.get(noun, Kind.NOUN).forms[form] for noun in words.nouns])
    for frame, name in ((Frame.TRANSITIVE, "T"), (Frame.INTRANSITIVE, "I")):
        lemmas = [words.verbs[i] for i in sorted(words.verbs_by_frame[frame])]
        verbs = [lexicon.get(lemma, Kind(frame.value)) for lemma in lemmas]
        for form in (Form.VB, Form.VBP, Form.VBZ, Form.VBD, Form.VBG, Form.VBN):
            yield _format_rule(f"{name}_{form.value}", [verb.forms[form] for verb in verbs])


def _format_rule(name: str, words: list[str]) -> str:
    return f"{name} -> " + " | ".join(f"'{word}'" for word in words)
