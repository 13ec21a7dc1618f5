"""Items that probes answer wrong: which are shown, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import results, sample_result, seed_score
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.probes.report import mistakes
from sentprobe.probes.runs.item_table import ItemTable
from sentprobe.probes.runs.results import Condition, Result, Results, make_score


def table_of(result: Result, labels: tuple[str, ...] = ("no", "yes")) -> ItemTable:
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
def test_what_is_shown_is_wrong_and_most_wrong_first(
    result: Result, count: int, column: str | None
) -> None:
    table = table_of(result)
    found = mistakes.mistakes_of(result, table, count, column=column)
    rights = np.array([each.items() for each in result.scores[Condition.PROBE].seeds])
    missed = (~rights).sum(axis=0)
    assert sum(each.items for each in found) == len(table)
    assert sum(each.wrong for each in found) == (missed > 0).sum()
    for each in found:
        assert len(each.shown) == min(count, each.wrong)
        keys = [(-one.wrong, one.place) for one in each.shown]
        assert keys == sorted(keys)
        for one in each.shown:
            assert one.wrong == missed[one.place] > 0
            assert one.sentence == f"the man {one.place} slept"
            assert {one.answer, one.prediction} == {"no", "yes"}
    assert found == mistakes.mistakes_of(result, table, count, column=column)


def of_three_labels() -> tuple[Result, ItemTable]:
    """Six items, three probes: the last item is wrong in all, the first in one."""
    given = [(1, 1, 2, 0, 1, 0), (0, 1, 2, 0, 1, 1), (0, 1, 2, 0, 1, 1)]
    targets = np.arange(6) % 3
    seeds = []
    for number, answers in enumerate(given):
        made = seed_score((np.array(answers) == targets).tolist(), seed=number)
        wrong = tuple(a for a, t in zip(answers, targets, strict=True) if a != t)
        seeds.append(replace(made, instead=wrong))
    score = make_score(seeds, ())
    result = replace(sample_result("bow", "Tense", 5), scores={Condition.PROBE: score})
    return result, table_of(result, ("past", "present", "none"))


def test_predictions_of_several_labels() -> None:
    result, table = of_three_labels()
    (found,) = mistakes.mistakes_of(result, table, 5)
    assert [(one.place, one.wrong, one.prediction) for one in found.shown] == [
        (5, 3, "present"), (0, 1, "present"),
    ]  # fmt: skip
    assert found.title == "bow on Tense: 2 of 6 test items are answered wrong; all of them"
    assert [*mistakes.mistake_lines(found)][:5] == [
        found.title,
        "1. the [man] 5 [slept]",
        "   probe words: man, sleep",
        "   answer: none, predicted present (3 of 3 probes wrong)",
        "   event: sleep(agent: man)",
    ]
    assert "1. the **man** 5 **slept**\n   - probe words: man, sleep\n" in (
        mistakes.mistakes_in_markdown(found)
    )
    grid = mistakes.mistake_grid(found)
    assert grid.header == ("sentence", "probe words", "answer")
    assert grid.rows[0].label == "the [man] 5 [slept]"


def test_answers_that_were_not_kept() -> None:
    result, table = of_three_labels()
    seeds = (replace(e, instead=()) for e in result.scores[Condition.PROBE].seeds)
    older = replace(result, scores={Condition.PROBE: make_score(seeds, ())})
    (found,) = mistakes.mistakes_of(older, table, 1)
    assert found.shown[0].prediction is None
    assert "predicted not kept" in "\n".join(mistakes.mistake_lines(found))
    (record,) = mistakes.mistake_records([found])
    assert (record["item"], record["prediction"], record["column_voice"]) == (5, None, "active")


def test_whose_mistakes() -> None:
    every = Results((sample_result("bow", "SemRole", 5), sample_result("tfidf", "Order", 5)))
    assert mistakes.results_on(every, encoder="bow", task="sr").tasks == ("SemRole",)
    assert mistakes.results_on(every, encoder=None, task=None) == every
    for encoder, task, message in (
        ("bwo", "SemRole", "no encoder 'bwo' in these results (did you mean 'bow'?)"),
        ("bow", "SemRol", "no task 'SemRol' in these results (did you mean 'SemRole'?)"),
        ("bow", "Order", "there is no result of bow on Order"),
    ):
        with pytest.raises(UsageError) as caught:
            mistakes.results_on(every, encoder=encoder, task=task)
        assert message in str(caught.value)
