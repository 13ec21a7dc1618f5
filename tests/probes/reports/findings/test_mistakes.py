"""Wrongly answered items: their selection and their details."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score, results
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.reports import item_parts
from sentprobe.probes.results.item_table import ItemTable
from sentprobe.probes.results.result import Condition, Result, Results, make_score


def make_table(result: Result, labels: tuple[str, ...] = ("no", "yes")) -> ItemTable:
    total = result.scores[Condition.PROBE].total
    return ItemTable(
        task=result.task,
        fingerprint=result.dataset_fingerprint,
        labels=labels,
        targets=np.arange(total) % len(labels),
        sentences=tuple(f"the man {n} slept" for n in range(total)),
        probes=(("man", "sleep"),) * total,
        marks=((1, 3),) * total,
        events=("sleep(agent: man)",) * total,
        columns={"voice": tuple("active" if n % 3 else "passive" for n in range(total))},
    )


@examples(60)
@given(results(), st.integers(1, 9), st.sampled_from([None, "voice"]))
def test_what_is_shown_is_wrong_and_most_wrong_first(result: Result, count: int, column: str | None) -> None:
    table = make_table(result)
    parts = item_parts.find_mistakes(result, table, count, column=column)
    rights = np.array([probe.items() for probe in result.scores[Condition.PROBE].seeds])
    missed = (~rights).sum(axis=0)
    assert sum(part.items for part in parts) == len(table)
    assert sum(part.wrong for part in parts) == (missed > 0).sum()
    for part in parts:
        assert len(part.shown) == min(count, part.wrong)
        keys = [(-item.wrong, item.place) for item in part.shown]
        assert keys == sorted(keys)
        for item in part.shown:
            assert item.wrong == missed[item.place] > 0
            assert item.sentence == f"the man {item.place} slept"
            assert {item.answer, item.prediction} == {"no", "yes"}
    assert parts == item_parts.find_mistakes(result, table, count, column=column)


def make_three_label_result() -> tuple[Result, ItemTable]:
    """Make six items and three probes: the last item is wrong in all, the first in one."""
    predictions = [(1, 1, 2, 0, 1, 0), (0, 1, 2, 0, 1, 1), (0, 1, 2, 0, 1, 1)]
    targets = np.arange(6) % 3
    seeds = []
    for number, answers in enumerate(predictions):
        sample = make_seed_score((np.array(answers) == targets).tolist(), seed=number)
        wrong = tuple(a for a, t in zip(answers, targets, strict=True) if a != t)
        seeds.append(replace(sample, wrong_answers=wrong))
    score = make_score(seeds, ())
    result = replace(make_sample_result("bow", "Tense", 5), scores={Condition.PROBE: score})
    return result, make_table(result, ("past", "present", "none"))


def test_predictions_of_several_labels() -> None:
    result, table = make_three_label_result()
    (mistakes_found,) = item_parts.find_mistakes(result, table, 5)
    assert [(one.place, one.wrong, one.prediction) for one in mistakes_found.shown] == [
        (5, 3, "present"), (0, 1, "present"),
    ]  # fmt: skip
    assert mistakes_found.title == "bow on Tense: 2 of 6 test items are answered wrong; all of them"
    assert [*item_parts.render_mistakes(mistakes_found)][:5] == [
        mistakes_found.title,
        "1. the [man] 5 [slept]",
        "   probe words: man, sleep",
        "   answer: none, predicted present (3 of 3 probes wrong)",
        "   event: sleep(agent: man)",
    ]
    assert "1. the **man** 5 **slept**\n   - probe words: man, sleep\n" in (
        item_parts.render_mistakes_markdown(mistakes_found)
    )
    grid = item_parts.build_mistake_grid(mistakes_found)
    assert grid.header == ("sentence", "probe words", "answer")
    assert grid.rows[0].label == "the [man] 5 [slept]"


def test_answers_that_were_not_kept() -> None:
    result, table = make_three_label_result()
    seeds = (replace(e, wrong_answers=()) for e in result.scores[Condition.PROBE].seeds)
    older = replace(result, scores={Condition.PROBE: make_score(seeds, ())})
    (mistakes_found,) = item_parts.find_mistakes(older, table, 1)
    assert mistakes_found.shown[0].prediction is None
    assert "predicted not stored" in "\n".join(item_parts.render_mistakes(mistakes_found))
    (record,) = item_parts.to_mistake_records([mistakes_found])
    assert (record["item"], record["prediction"], record["column_voice"]) == (5, None, "active")


def test_whose_mistakes() -> None:
    every = Results((make_sample_result("bow", "SemRole", 5), make_sample_result("tfidf", "Order", 5)))
    assert item_parts.select_results(every, encoder="bow", task="sr").tasks == ("SemRole",)
    assert item_parts.select_results(every, encoder=None, task=None) == every
    for encoder, task, message in (
        ("bwo", "SemRole", "no encoder 'bwo' in these results (did you mean 'bow'?)"),
        ("bow", "SemRol", "no task 'SemRol' in these results (did you mean 'SemRole'?)"),
        ("bow", "Order", "there is no result of bow on Order"),
    ):
        with pytest.raises(UsageError) as caught:
            item_parts.select_results(every, encoder=encoder, task=task)
        assert message in str(caught.value)


def test_plain_text_has_no_control_characters() -> None:
    result, table = make_three_label_result()
    hostile = "\x1b[31m\u202e\u200f"
    table = replace(table, sentences=tuple(f"the {hostile} {n} slept" for n in range(6)), events=(hostile,) * 6)
    (found,) = item_parts.find_mistakes(replace(result, encoder=f"bow{hostile}"), table, 5)
    text = "".join(item_parts.render_mistakes(found))
    assert not set(hostile[:1] + hostile[-2:]) & set(text)
    assert text.count(r"\x1b[31m\u202e\u200f") == 5
