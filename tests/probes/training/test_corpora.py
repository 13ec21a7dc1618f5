"""Drawn meanings: sentences and events equal those of the generator."""

import pytest

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import english
from sentprobe.probes.training.corpora import sample_meanings


def test_event_is_realized_as_its_sentence() -> None:
    drawn = sample_meanings(30, seed=1)
    assert len(drawn) == len(set(drawn.events)) == 30
    assert str(drawn) == "30 sentences with their events"
    for sentence, notation in zip(drawn.sentences, drawn.events, strict=True):
        event = read_event(notation)
        assert realize(event, english()).text == sentence
        assert notation.replace(" ", "") == write_event(event).replace(" ", "")


def test_seed_decides_meanings() -> None:
    assert sample_meanings(5, seed=1) == sample_meanings(5, seed=1) != sample_meanings(5, seed=2)


def test_no_meanings_are_refused() -> None:
    with pytest.raises(UsageError, match="must be positive, not 0"):
        sample_meanings(0, seed=1)
