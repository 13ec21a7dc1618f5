"""The checks of ``probe gate`` in continuous integration: limits of false hits, and a stored result; JUnit XML."""

from collections.abc import Iterator, Sequence
from math import isnan
from statistics import mean
from xml.etree import ElementTree as ET

from sentprobe.common.errors import SentprobeError, UsageError, escape_control_characters
from sentprobe.common.values import group_by
from sentprobe.probes.similarity.distance_draws import estimate_over_draws
from sentprobe.probes.similarity.gate_rates import MEASURED, OWN, GateDraw, GateRates, JudgedPair
from sentprobe.probes.similarity.gate_tables import GateResults, format_average, list_cells
from sentprobe.probes.similarity.gate_thresholds import HitLimits, check_names
from sentprobe.probes.similarity.pair_scores import find_sign


class FalseHitsError(SentprobeError):
    """More pairs with different meanings pass the threshold than the user accepts, or than in a stored result."""


def check_limits(results: GateResults, limits: HitLimits) -> None:
    """Raise UsageError for the limit of a contrast or kind that was not measured."""
    for name in limits:
        if name in results.draws[0].left_out:
            raise UsageError(f"--max-false-hits {name}: this kind has no pair in the measured half; give --threshold")
    check_names(limits, [draws[0].kind or draws[0].contrast for draws in list_cells(results.draws)], "--max-false-hits")


def find_exceeding(results: GateResults, limits: HitLimits) -> dict[str, str]:
    """Return, by the name of a kind of negatives, why its rate of false hits may be too high.

    The upper end of the 95% interval is compared with the limit, so that few pairs cannot pass by chance.
    """
    exceeding = {}
    for draws in list_cells(results.draws):
        limit = limits.get(draws[0].kind or draws[0].contrast, limits.get(""))
        values = [rates.false_hits for rates in draws]
        # Draws that agree do not tell how far the choice of their pairs may err.
        intervals = [rates.false_hits_interval for rates in draws]
        intervals += [estimate_over_draws(values).interval] if len(draws) > 1 else []
        high = max(interval.high for interval in intervals)
        if limit is not None and high > limit:
            low = min(interval.low for interval in intervals)
            figures = f"{100 * mean(values):.1f}% [{100 * low:.1f}, {100 * high:.1f}]"
            exceeding[draws[0].name] = f"{figures}, of at most {100 * limit:g}%"
    return exceeding


def find_worse(results: GateResults) -> dict[str, str]:
    """Return, by the name of a kind, how its rate of errors got worse than in the stored result; {} without one."""
    if results.comparison is None or results.other is not None:
        return {}
    return {
        name: ", ".join(f"{row.format_values()} ({row.format_difference()}, p {row.corrected_p:.2g})" for row in rows)
        for name, rows in group_by(results.comparison.list_significant(worse=True), lambda row: row.name).items()
    }


def check_results(results: GateResults, limits: HitLimits) -> None:
    """Raise FalseHitsError, which names contrasts and kinds with too many false hits, or worse than the stored ones."""
    titles = {
        "more false hits than accepted (the upper end of the 95% interval counts)": find_exceeding(results, limits),
        f"worse than {results.comparison.first if results.comparison else ''}": find_worse(results),
    }
    problems = [
        f"{title}: {'; '.join(f'{name} {figures}' for name, figures in failures.items())}"
        for title, failures in titles.items()
        if failures
    ]
    if problems:
        raise FalseHitsError("; ".join(problems))


BUDGET = "budget"
"""The name of the test case that fails if no threshold is within the budget."""
MAX_LISTED = 200
"""The greatest number of pairs that a test case lists; wrong ones come first."""


def format_junit(results: GateResults, limits: HitLimits) -> str:
    """Return JUnit XML. A test case is one kind of negatives, with its measured pairs, their scores and verdicts.

    It fails if the rate of false hits may be too high, or is worse than in the stored result. With a stored result,
    there is also a case for all paraphrases; without a threshold within the budget, a failed case for the budget.
    """
    exceeding, worse = find_exceeding(results, limits), find_worse(results)
    draw = results.draws[0]
    cases: dict[str, tuple[str, Sequence[GateRates]]] = {}
    for draws in list_cells(results.draws):
        figures = f"false hits {format_average(draws, 'false_hits')}"
        if draws[0].same_pairs:
            figures += f", misses {format_average(draws, 'misses')} of {results.positives}"
        cases[draws[0].name] = figures, draws
    if results.comparison is not None and not isnan(draw.kept):
        cases[results.compared_name] = f"misses {100 * (1 - draw.kept):.1f}%", ()
    if failure := next((each.failure for each in results.draws if each.failure), ""):
        cases[BUDGET] = failure, ()
    failing = {*exceeding, *worse, *({BUDGET} & {*cases})}
    counts = {"tests": str(len(cases)), "failures": str(len(failing)), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": f"probe gate {draw.scorer}", **counts})
    for name, (figures, cell) in cases.items():
        case = ET.SubElement(suite, "testcase", classname="sentprobe.gate", name=name, time="0")
        reasons = (
            [f"false hits {exceeding[name]} (the upper end of the 95% interval counts)"] if name in exceeding else []
        )
        reasons += [f"worse than the stored result: {worse[name]}"] if name in worse else []
        if name in failing:
            example = " / ".join(cell[0].example) if cell else ""
            message = "; ".join([figures, *reasons])
            ET.SubElement(case, "failure", message=message, type=FalseHitsError.__name__).text = example
        lines = [figures, *(_list_pairs(draw, cell[0]) if cell else ())]
        ET.SubElement(case, "system-out").text = "\n".join(map(escape_control_characters, lines))
    ET.SubElement(suite, "system-out").text = "\n".join(
        map(escape_control_characters, [str(results), f"Misses are of {results.positives}.", *results.pair_notes])
    )
    for element in suites.iter():  # XML has no way to write most control characters
        if element.tag != "system-out":
            element.text = element.text and escape_control_characters(element.text)
        element.attrib = {name: escape_control_characters(value) for name, value in element.attrib.items()}
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _list_pairs(draw: GateDraw, rates: GateRates) -> Iterator[str]:
    """Yield a line for each measured pair of a kind: false hits (the nearest first), misses, and then right ones."""
    pairs = [pair for pair in draw.pairs if pair.half == MEASURED and _is_of_kind(pair, rates)]
    sign = find_sign(draw.measure)

    def get_rank(pair: JudgedPair) -> tuple[bool, bool, float]:
        score = float("-inf") if pair.score is None else sign * pair.score
        return not pair.is_wrong, pair.same, score if pair.same else -score

    for pair in sorted(pairs, key=get_rank)[:MAX_LISTED]:
        score = "" if pair.score is None else f" {pair.score:.4f}"
        yield f"{pair.verdict}{score}: {pair.a} / {pair.b}"
    if len(pairs) > MAX_LISTED:
        yield f"and {len(pairs) - MAX_LISTED:,} more, which --format csv and json list"


def _is_of_kind(pair: JudgedPair, rates: GateRates) -> bool:
    if rates.contrast:
        return pair.contrast == rates.contrast and pair.form in ("", rates.form)
    return pair.source == OWN and rates.kind in ("", pair.kind)
