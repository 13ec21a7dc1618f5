"""Test items on the page: what is answered wrong, by structure, with an example of each."""

import re
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import results, sample_result
from thoroughness import examples

from sentprobe.probes.report.html import report
from sentprobe.probes.report.page_items import ENCODERS, FEW, PageMistakes, page_mistakes
from sentprobe.probes.report.part_tables import by_fingerprint
from sentprobe.probes.runs.item_table import ItemTable
from sentprobe.probes.runs.results import Condition, Result, Results

HOSTILE = "<script>alert(1)</script>"


def table_of(result: Result, **columns: tuple[str, ...]) -> ItemTable:
    total = result.scores[Condition.PROBE].total
    return ItemTable(
        task=result.task,
        fingerprint=result.dataset_fingerprint,
        labels=("FALSE", "TRUE"),
        targets=np.zeros(total, np.int64),
        sentences=(f"the {HOSTILE} slept",) * total,
        probes=((HOSTILE,),) * total,
        marks=((1,),) * total,
        events=("sleep(agent: man)",) * total,
        columns=columns,
    )


def mistakes(*records: Result, **columns: tuple[str, ...]) -> list[PageMistakes]:
    items = by_fingerprint([table_of(each, **columns) for each in records])
    return [*page_mistakes(Results(records), items)]


@examples(40)
@given(results(), st.data())
def test_each_wrong_item_is_counted_in_one_structure(result: Result, data: st.DataObject) -> None:
    result = replace(result, layer=None)
    total = result.scores[Condition.PROBE].total
    names = data.draw(st.tuples(*[st.sampled_from(["transitive", "transitive-rc"])] * total))
    (found,) = mistakes(result, template=names)
    rights = np.array([each.items() for each in result.scores[Condition.PROBE].seeds])
    assert sum(each.wrong for each in found.parts) == (~rights).any(axis=0).sum()
    assert sum(each.items for each in found.parts) == total
    assert all(len(each.shown) == min(1, each.wrong) for each in found.parts)


def test_without_structures_there_are_a_few_examples() -> None:
    (found,) = mistakes(sample_result("bow", "Order", 600))
    assert [len(each.shown) for each in found.parts] == [FEW]
    assert found.title == "bow on Order: 400 of 1000 test items"


def test_of_draws_the_first_of_layers_none_and_not_of_all_encoders() -> None:
    records = [sample_result(f"bow?dim={n}", "Order", 600) for n in range(ENCODERS + 2)]
    again = replace(records[0], seed=10)
    layer = replace(sample_result("hf:m?layer=1", "Order", 600), layer=1)
    found = mistakes(layer, *records, again)
    assert [each.of for each in found] == records[:ENCODERS]


def test_on_the_page_sentences_are_text_and_probe_words_marked() -> None:
    record = sample_result("bow", "Order", 600)
    page = report(Results((record,)), items=[table_of(record)])
    assert "<h2>Answered wrong</h2>" in page
    assert HOSTILE not in page
    marked = re.findall(r"<td>the <mark>(.*?)</mark> slept<br>", page)
    assert marked == ["&lt;script&gt;alert(1)&lt;/script&gt;"] * FEW
    assert "Answered wrong" not in report(Results((record,)))
