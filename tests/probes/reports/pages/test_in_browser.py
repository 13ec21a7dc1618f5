"""The page in a browser: it loads nothing, and sorting and filtering work."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import Seen, ask, needs_chromium, see
from helpers.runs.made_audits import make_audit
from helpers.runs.shown_runs import LAYERS
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.results.result import Results

pytestmark = [needs_chromium, pytest.mark.slow]

HOSTILE = '</script><script>document.title = "x"</script><img src=http://x.invalid/a onerror=alert(1)>'

PAGE_STATE_SCRIPT = """
const shown = () => [...document.querySelectorAll("table.data tbody tr")]
  .filter((row) => getComputedStyle(row).display !== "none")
  .map((row) => row.cells[0].innerText);
const heads = [...document.querySelectorAll("table.data thead button")];
const state = { first: shown(), requests: performance.getEntriesByType("resource").length };
heads[1].click(); state.best = shown(); state.sort = heads[1].parentElement.ariaSort;
heads[1].click(); state.worst = shown();
heads[1].click(); state.again = shown();
heads[0].click(); state.byName = shown();
heads[0].click(); heads[0].click();
const box = document.querySelector(".tools input");
const type = (text) => { box.value = text; box.dispatchEvent(new Event("input")); };
type("LAYER 2"); state.filtered = shown();
state.faded = document.querySelectorAll("svg g.hidden").length;
state.cues = [...document.querySelectorAll("figure")].at(-1).querySelectorAll(".hidden").length;
type(""); state.all = shown();
state.title = document.title;
state.images = document.images.length;
state.overflow = document.documentElement.scrollWidth - innerWidth;
state.width = innerWidth;
const wide = document.querySelector(".wide"), left = (it) => it.getBoundingClientRect().left;
wide.style.width = "200px";
state.more = wide.scrollWidth - wide.clientWidth;
state.edge = getComputedStyle(wide).backgroundAttachment;
wide.scrollLeft = state.more;
state.moved = [wide.scrollLeft, left(wide.querySelector("tbody th:not([colspan])")) - left(wide)];
return state;
"""


@cache
def build_page() -> str:
    """A page of three layers, a hostile name, and an encoder without a figure in one column."""
    more_results = [
        make_sample_result(HOSTILE, "Order", 700, 500, 500, 500),
        make_sample_result("bow", "Order", 400, 500, 500, 500),
        make_sample_result("only", "SemRole", 600, 500, 500, 500),
    ]
    lengths = (6,) * 500 + (10,) * 500
    results = Results(tuple(replace(record, lengths=lengths) for record in (*LAYERS, *more_results)))
    return build_report_page(results, audits=[make_audit(leaks=True), make_audit(HOSTILE, "1")])


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return ask(build_page(), tmp_path_factory.mktemp("seen"), PAGE_STATE_SCRIPT, width=400)


@pytest.fixture
def page_state(seen: Seen) -> dict[str, Any]:
    assert isinstance(seen.message, dict), seen.dom[-500:]
    return seen.message


def test_browser_reports_no_complaints_or_requests(seen: Seen, page_state: dict[str, Any]) -> None:
    assert seen.complaints == []
    assert page_state["requests"] == 0


def test_columns_are_sorted(page_state: dict[str, Any]) -> None:
    first = ["hf:m", "layer 10", "layer 2", "layer 0", HOSTILE, "bow", "only"]
    assert page_state["first"] == page_state["again"] == page_state["all"] == first
    best = [HOSTILE, "hf:m, layer 10", "hf:m, layer 2", "hf:m, layer 0", "bow", "only"]
    assert page_state["best"] == best
    assert page_state["worst"] == [*reversed(best[:-1]), "only"]
    assert page_state["sort"] == "descending"
    assert page_state["byName"] == sorted(best, key=str.lower)


def test_encoders_are_filtered(page_state: dict[str, Any]) -> None:
    assert page_state["filtered"] == ["hf:m", "layer 2"]
    assert page_state["faded"] > 0
    assert page_state["cues"] == 0


def test_hostile_names_are_text(page_state: dict[str, Any]) -> None:
    assert page_state["title"] == "sentprobe: results"
    assert page_state["images"] == 0
    assert HOSTILE in page_state["first"]


def test_narrow_window_shows_it(page_state: dict[str, Any]) -> None:
    assert page_state["width"] == 400
    assert page_state["overflow"] <= 0


def test_wide_table_shows_its_edge(page_state: dict[str, Any]) -> None:
    assert page_state["more"] > 0
    assert page_state["edge"] == "local, scroll"  # at the end, what scrolls along covers the shadow
    assert page_state["moved"] == [page_state["more"], 0]  # names stay where they are


def test_page_allows_only_its_script(tmp_path: Path) -> None:
    as_it_is = see(build_page(), tmp_path)
    assert as_it_is.complaints == []
    assert as_it_is.dom.count('title="Sort by this column"') == 3
    strange = build_page().replace("</body>", "<script>document.title = 'x'</script></body>")
    refused = see(strange, tmp_path)
    assert "<title>sentprobe: results</title>" in refused.dom
    assert any("Content Security Policy" in line for line in refused.complaints)
