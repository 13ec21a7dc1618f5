"""Distance and attractors of agreement: by hand, and equal to those of the project's other definition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.common.values import parse_json
from sentprobe.generator.pairs.minimal_pairs import build_pair_spaces, format_pair_lines, sample_pairs
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import to_json
from sentprobe.lexicon import english, german
from sentprobe.probes.generated.assemble import ProbedEvent, build_event_columns
from sentprobe.probes.language_models.sentence_pairs import SentencePair, build_pair, describe_agreement


def sample(uid: str, count: int, seed: int) -> list[SentencePair]:
    spaces = build_pair_spaces(english(), [uid], vocabulary="everyday")
    return [build_pair(parse_json(line)) for line in format_pair_lines(sample_pairs(spaces, count, seed=seed))]


@pytest.mark.parametrize(
    ("uid", "start", "expected"),
    [
        (
            "distractor_agreement_relative_clause",
            "the photographer that the landlords were not photographing is",
            ("6", "1"),
        ),
        (
            "distractor_agreement_by_phrase_exchange",
            "the soldiers that would not be watched by the waitress scream",
            ("8", "1"),
        ),
        ("subject_verb_agreement_auxiliary", "the barbers are not deceiving the inspector", ("0", "0")),
        ("transitive", "the driver was not encouraging the girl", None),
        ("double_modal", "the mayors must be sleeping", None),
    ],
)
def test_by_hand(uid: str, start: str, expected: tuple[str, str] | None) -> None:
    columns = next(pair.columns for pair in sample(uid, 1, 0) if pair.good.startswith(start))
    assert (columns.get("distance"), columns.get("attractors")) == (expected or (None, None))


@settings(max_examples=20)
@given(
    st.sampled_from(["distractor_agreement_relative_clause", "distractor_agreement_by_phrase"]), st.integers(0, 10**6)
)
def test_attractors_are_those_of_test_items(uid: str, seed: int) -> None:
    (pair,) = sample(uid, 1, seed)
    (event, *_) = parse(pair.good, english())
    noun = english().find(pair.good.split()[1])[0][0].lemma
    columns = build_event_columns(ProbedEvent(event, [noun, event.predicate or ""], language=english().language))
    verb = next(
        place for place, words in enumerate(zip(pair.good.split(), pair.bad.split(), strict=True)) if len({*words}) > 1
    )
    assert pair.columns["distance"] == str(verb - 2)  # the subject is the second word
    assert pair.columns["attractors"] == columns["attractors"]


def test_a_german_relative_pronoun_is_its_noun() -> None:
    good, bad = "die Kinder , die den Arzt sehen , schlafen", "die Kinder , die den Arzt sieht , schlafen"
    (event,) = parse(good, german())
    tokens = to_json(realize(event, german()))["tokens"]
    assert describe_agreement(good, bad, tokens) == {"distance": "4", "attractors": "1"}
