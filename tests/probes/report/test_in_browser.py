"""The page in a browser: nothing is complained of or asked for, sorting and filtering work."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser import Seen, ask, needs_chromium, see
from made_audits import made_audit
from probe_strategies import sample_result
from shown_runs import LAYERS

from sentprobe.probes.report.html import report
from sentprobe.probes.runs.results import Results

pytestmark = needs_chromium

HOSTILE = (
    '</script><script>document.title = "x"</script><img src=http://x.invalid/a onerror=alert(1)>'
)

TOLD = """
const shown = () => [...document.querySelectorAll("table.data tbody tr")]
  .filter((row) => getComputedStyle(row).display !== "none")
  .map((row) => row.cells[0].innerText);
const heads = [...document.querySelectorAll("table.data thead button")];
const told = { first: shown(), requests: performance.getEntriesByType("resource").length };
heads[1].click(); told.best = shown(); told.sort = heads[1].parentElement.ariaSort;
heads[1].click(); told.worst = shown();
heads[1].click(); told.again = shown();
heads[0].click(); told.byName = shown();
heads[0].click(); heads[0].click();
const box = document.querySelector(".tools input");
const type = (text) => { box.value = text; box.dispatchEvent(new Event("input")); };
type("LAYER 2"); told.filtered = shown();
told.faded = document.querySelectorAll("svg g.hidden").length;
told.cues = [...document.querySelectorAll("figure")].at(-1).querySelectorAll(".hidden").length;
type(""); told.all = shown();
told.title = document.title;
told.images = document.images.length;
told.overflow = document.documentElement.scrollWidth - innerWidth;
told.width = innerWidth;
const wide = document.querySelector(".wide"), left = (it) => it.getBoundingClientRect().left;
wide.style.width = "200px";
told.more = wide.scrollWidth - wide.clientWidth;
told.edge = getComputedStyle(wide).backgroundAttachment;
wide.scrollLeft = told.more;
told.moved = [wide.scrollLeft, left(wide.querySelector("tbody th:not([colspan])")) - left(wide)];
return told;
"""


@cache
def page() -> str:
    """A page of three layers, a hostile name, and an encoder without a figure in one column."""
    others = [
        sample_result(HOSTILE, "Order", 700, 500, 500, 500),
        sample_result("bow", "Order", 400, 500, 500, 500),
        sample_result("only", "SemRole", 600, 500, 500, 500),
    ]
    lengths = (6,) * 500 + (10,) * 500
    results = Results(tuple(replace(each, lengths=lengths) for each in (*LAYERS, *others)))
    return report(results, audits=[made_audit(leaks=True), made_audit(HOSTILE, "1")])


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return ask(page(), tmp_path_factory.mktemp("seen"), TOLD, width=400)


@pytest.fixture
def told(seen: Seen) -> dict[str, Any]:
    assert isinstance(seen.told, dict), seen.dom[-500:]
    return seen.told


def test_nothing_is_complained_of_or_asked_for(seen: Seen, told: dict[str, Any]) -> None:
    assert seen.complaints == []
    assert told["requests"] == 0


def test_columns_are_sorted(told: dict[str, Any]) -> None:
    first = ["hf:m", "layer 10", "layer 2", "layer 0", HOSTILE, "bow", "only"]
    assert told["first"] == told["again"] == told["all"] == first
    best = [HOSTILE, "hf:m, layer 10", "hf:m, layer 2", "hf:m, layer 0", "bow", "only"]
    assert told["best"] == best
    assert told["worst"] == [*reversed(best[:-1]), "only"]
    assert told["sort"] == "descending"
    assert told["byName"] == sorted(best, key=str.lower)


def test_encoders_are_filtered(told: dict[str, Any]) -> None:
    assert told["filtered"] == ["hf:m", "layer 2"]
    assert told["faded"] > 0
    assert told["cues"] == 0


def test_hostile_names_are_text(told: dict[str, Any]) -> None:
    assert told["title"] == "sentprobe: results"
    assert told["images"] == 0
    assert HOSTILE in told["first"]


def test_a_narrow_window_shows_it(told: dict[str, Any]) -> None:
    assert told["width"] == 400
    assert told["overflow"] <= 0


def test_a_table_that_is_too_wide_says_so_at_its_edge(told: dict[str, Any]) -> None:
    assert told["more"] > 0
    assert told["edge"] == "local, scroll"  # at the end, what scrolls along covers the shadow
    assert told["moved"] == [told["more"], 0]  # names stay where they are


def test_the_script_that_the_page_allows_is_its_own(tmp_path: Path) -> None:
    as_it_is = see(page(), tmp_path)
    assert as_it_is.complaints == []
    assert as_it_is.dom.count('title="Sort by this column"') == 3
    strange = page().replace("</body>", "<script>document.title = 'x'</script></body>")
    refused = see(strange, tmp_path)
    assert "<title>sentprobe: results</title>" in refused.dom
    assert any("Content Security Policy" in line for line in refused.complaints)
