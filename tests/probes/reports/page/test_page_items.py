"""Test items on the page: wrong answers by structure, with an example of each."""

import re
from dataclasses import replace

import numpy as np
from helpers.strategies.probe_strategies import make_sample_result, results
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.reports.pages.html import (
    ITEMS_WITHOUT_STRUCTURES,
    MAX_ENCODERS,
    PageMistakes,
    build_page_mistakes,
    build_report_page,
)
from sentprobe.probes.reports.tables.part_tables import index_by_fingerprint
from sentprobe.probes.results.item_table import ItemTable
from sentprobe.probes.results.result import Condition, Result, Results

HOSTILE = "<script>alert(1)</script>"


def make_table(result: Result, **columns: tuple[str, ...]) -> ItemTable:
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


def list_mistakes(*records: Result, **columns: tuple[str, ...]) -> list[PageMistakes]:
    items = index_by_fingerprint([make_table(record, **columns) for record in records])
    return [*build_page_mistakes(Results(records), items)]


@examples(40)
@given(results(), st.data())
def test_each_wrong_item_is_counted_in_one_structure(result: Result, data: st.DataObject) -> None:
    result = replace(result, layer=None)
    total = result.scores[Condition.PROBE].total
    names = data.draw(st.tuples(*[st.sampled_from(["transitive", "transitive-rc"])] * total))
    (page_part,) = list_mistakes(result, template=names)
    rights = np.array([probe.items() for probe in result.scores[Condition.PROBE].seeds])
    assert sum(part.wrong for part in page_part.parts) == (~rights).any(axis=0).sum()
    assert sum(part.items for part in page_part.parts) == total
    assert all(len(part.shown) == min(1, part.wrong) for part in page_part.parts)


def test_without_structures_there_are_a_few_examples() -> None:
    (page_part,) = list_mistakes(make_sample_result("bow", "Order", 600))
    assert [len(part.shown) for part in page_part.parts] == [ITEMS_WITHOUT_STRUCTURES]
    assert page_part.title == "bow on Order: 400 of 1000 test items"


def test_of_draws_the_first_of_layers_none_and_not_of_all_encoders() -> None:
    records = [make_sample_result(f"bow?dim={n}", "Order", 600) for n in range(MAX_ENCODERS + 2)]
    again = replace(records[0], seed=10)
    layer = replace(make_sample_result("hf:m?layer=1", "Order", 600), layer=1)
    page_parts = list_mistakes(layer, *records, again)
    assert [page_part.of for page_part in page_parts] == records[:MAX_ENCODERS]


def test_on_the_page_sentences_are_text_and_probe_words_marked() -> None:
    record = make_sample_result("bow", "Order", 600)
    page = build_report_page(Results((record,)), items=[make_table(record)])
    assert "<h2>Incorrect answers</h2>" in page
    assert HOSTILE not in page
    marked = re.findall(r"<td>the <mark>(.*?)</mark> slept<br>", page)
    assert marked == ["&lt;script&gt;alert(1)&lt;/script&gt;"] * ITEMS_WITHOUT_STRUCTURES
    assert "Incorrect answers" not in build_report_page(Results((record,)))
