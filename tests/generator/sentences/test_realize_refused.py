"""Events that cannot be realized, and sentences that cannot be parsed."""

import pytest
from helpers.oracles.slow_path import chart_parse, derive

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import english

LEXICON = english()

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
def test_what_cannot_be_realized(text: str) -> None:
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
}


@pytest.mark.parametrize("text", NOT_PARSED)
def test_a_failed_parse_says_where_it_stopped(text: str) -> None:
    position, message = NOT_PARSED[text]
    with pytest.raises(ParseError) as caught:
        parse(text, LEXICON)
    assert caught.value.position == position
    assert message in str(caught.value)
    assert chart_parse(text.split(), LEXICON) == []


def test_a_word_of_the_grammar_is_not_called_unknown() -> None:
    with pytest.raises(ParseError, match=r"not 'and'$"):
        parse("the man and the woman and the boy slept", LEXICON)
