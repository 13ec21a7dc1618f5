"""Mirror pairs of a dataset as base and source, and the places of their words."""

from dataclasses import replace

import pytest
from helpers.encoders.word_models import make_role_data

from sentprobe.common.errors import UsageError
from sentprobe.lexicon import english
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.interventions.mirror_units import find_lemmas, find_mirror_units


def test_units_of_a_task_of_our_own() -> None:
    data = make_role_data()
    units = find_mirror_units(data, Split.TEST, english(), n=2)
    assert units.sentences[:2] == ("the man helped the woman", "the woman helped the man")
    assert units.words[:2].tolist() == [[1, 4], [4, 1]]
    assert units.labels[0].tolist() == [[1, 0], [0, 1]]
    assert (len(units), units.slots.tolist()) == (2, [0, 0])


def check_units(data: ProbeDataset, split: Split) -> int:
    """Check units against the items that they name; return how many there are."""
    units = find_mirror_units(data, split, english(), n=50)
    items = data.splits[split]
    for number in range(len(units)):
        first, second = units.sentences[2 * number : 2 * number + 2]
        assert sorted(first.split()) == sorted(second.split())
        for side, sentence in enumerate((first, second)):
            for question in (0, 1):
                item = units.items[number, side, question]
                assert data.sentences[items.rows[item]] == sentence
                assert items.targets[item] == units.labels[number, side, question]
                word = data.probe_words[items.probes[item, units.slots[number]]]
                form = sentence.split()[units.words[2 * number + side, question]]
                kinds = english().kinds_of(word)
                assert any(form in english().get(word, kind).forms.values() for kind in kinds), (form, word)
        assert (units.labels[number] + units.labels[number][::-1] == 1).all()
        assert (units.labels[number].sum(axis=1) == 1).all()
    return len(units)


@pytest.mark.parametrize("task", ["SemRole", "Order", "Negation"])
def test_units_are_mirrors_with_opposite_answers(task: str) -> None:
    data = build_task(task, train=400, test=80, seed=0)
    assert check_units(data, Split.TEST) >= 15
    assert check_units(data, Split.TRAIN) == 50


def test_task_without_mirrors_is_refused() -> None:
    data = build_task("Content1Probe", train=200, test=40, seed=0)
    with pytest.raises(UsageError, match=r"the test items have no mirror pairs .* SemRole, Order and Negation"):
        find_mirror_units(data, Split.TEST, english(), n=9)


def test_sentences_outside_the_grammar_are_left_out() -> None:
    data = make_role_data()
    changed = replace(data, sentences=tuple(text.replace("the man", "man") for text in data.sentences))
    assert len(find_mirror_units(changed, Split.TEST, english(), n=99)) == 6
    with pytest.raises(UsageError, match="no mirror pairs"):
        find_mirror_units(
            replace(data, sentences=tuple(f"xx {text}" for text in data.sentences)), Split.TEST, english(), n=9
        )


def test_lemma_of_two_words_has_no_place() -> None:
    assert find_lemmas("the man helped the men", english()) == {"help": 2}
