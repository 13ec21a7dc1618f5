"""Differences in meaning, by hand."""

from itertools import permutations

import pytest

from sentprobe.generator.events.meaning import Property, find_differences, has_same_meaning
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english

LEXICON = english()

SAME = [
    ("the man must help the doctor", "the doctor must be helped by the man"),
    ("the man ca n't sleep", "the man can not sleep"),
    ("did n't the man sleep", "did the man not sleep"),
    ("who did the man help", "who was helped by the man"),
    ("the man who did n't sleep danced", "the man that did not sleep danced"),
    ("the man that may sleep danced", "the man who may sleep danced"),
    ("every man helped the doctor", "the doctor was helped by every man"),
    ("some man helped this doctor", "this doctor was helped by some man"),
    ("the man that no doctor helped slept", "the man that was helped by no doctor slept"),
    ("every man that the doctor helped slept", "every man that was helped by the doctor slept"),
    ("some man did not help every doctor", "some man did n't help every doctor"),
]

FORMS = [
    "the man that slept gave the doctor the pen",
    "the man that slept gave the pen to the doctor",
    "the doctor was given the pen by the man that slept",
    "the pen was given to the doctor by the man who slept",
]
SAME += [*permutations(FORMS, 2)]
SAME += [
    (
        "the man helps the doctor that the queen lent the pen to",
        "the man helps the doctor that was lent the pen by the queen",
    )
]

DIFFERENT = [
    ("the man gave the pen to the doctor", "the doctor gave the man the pen", [Property.RECIPIENT]),
    ("the man gave the king to the doctor", "the king was given the doctor by the man", [Property.RECIPIENT]),
    ("the man gave the king to the doctor", "the king gave the doctor the man", [Property.ROLE]),
    ("the man gave the king to the doctor", "the king gave the man the doctor", [Property.STRUCTURE]),
    ("the man gave the pen to the doctor", "the man gave the cup to the doctor", [Property.NOUN]),
    ("the man did not give the pen to the doctor", "the man gave the doctor the pen", [Property.POLARITY]),
    ("the man that slept helped the lawyer", "the man that helped the lawyer slept", [Property.STRUCTURE]),
    ("the man helped the lawyer", "the men did not help the lawyer", [Property.NUMBER, Property.POLARITY]),
    ("the man helped the lawyer", "the lawyer is helped by the man", [Property.TENSE]),
    ("the man helped the lawyer", "the man slept", [Property.STRUCTURE]),
    ("the man helped the lawyer", "the doctor helped the student", [Property.STRUCTURE]),
    ("the man must sleep", "the man can sleep", [Property.MODALITY]),
    ("the man must sleep", "the man sleeps", [Property.MODALITY]),
    ("the man must sleep", "the man must not sleep", [Property.POLARITY]),
    ("the man must sleep", "the man might be sleeping", [Property.MODALITY, Property.ASPECT]),
    ("the man that may sleep dances", "the man that sleeps may dance", [Property.MODALITY]),
    ("did the man sleep", "the man slept", [Property.MOOD]),
    ("did the man sleep", "could the man sleep", [Property.MODALITY]),
    ("who helped the man", "who did the man help", [Property.ROLE]),
    ("who helped the man", "the doctor helped the man", [Property.STRUCTURE]),
    ("help the man", "do n't help the man", [Property.POLARITY]),
    ("help the man", "the doctor helps the man", [Property.STRUCTURE]),
    ("the man could help the doctor", "the man could be helped by the doctor", [Property.ROLE]),
    ("no man was helped by some doctor", "some doctor helped no man", [Property.SCOPE]),
    ("every man helped a doctor", "a doctor was helped by every man", [Property.SCOPE]),
    ("some man did not help the doctor", "the doctor was not helped by some man", [Property.SCOPE]),
    ("every man must help the doctor", "the doctor must be helped by every man", [Property.SCOPE]),
    ("a man often helped the doctor", "the doctor was often helped by a man", [Property.SCOPE]),
    ("who did every man help", "who was helped by every man", [Property.SCOPE]),
    ("the man gave every doctor a pen", "the man gave a pen to every doctor", [Property.SCOPE]),
    (
        "the man that every king sent a pen to slept",
        "the man that was sent a pen by every king slept",
        [Property.SCOPE],
    ),
    ("every man helped a doctor", "every man did not help a doctor", [Property.POLARITY]),
    ("every man helped the doctor", "some man helped the doctor", [Property.NUMBER]),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_forms_of_one_meaning(first: str, second: str) -> None:
    assert has_same_meaning(*(parse(text, LEXICON)[0] for text in (first, second)))


@pytest.mark.parametrize(("first", "second", "properties"), DIFFERENT)
def test_each_difference_is_found(first: str, second: str, properties: list[Property]) -> None:
    events = [parse(text, LEXICON)[0] for text in (first, second)]
    assert list(find_differences(*events)) == properties
    assert not has_same_meaning(*events)
    assert list(find_differences(*events[::-1])) == properties
