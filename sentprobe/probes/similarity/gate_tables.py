"""The output of ``probe gate``: a sentence, a table with notes, records, and JUnit XML."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import mean
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

from sentprobe.common.errors import SentprobeError, UsageError, escape_control_characters, format_count, suggest
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.common.values import group_by
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.similarity.distance_draws import TripletEstimate, estimate_over_draws
from sentprobe.probes.similarity.distance_tables import NEGATIVE_FORMS, NO_VALUE, format_share
from sentprobe.probes.similarity.gate_rates import MEASURE_NAMES, GateDraw, GateRates
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.statistics import Interval

HEADER = ("contrast and example", "negative in the", "false hits", "misses", "AUC", "EER")


class FalseHitsError(SentprobeError):
    """More pairs with different meanings pass the threshold than the user accepts."""


@dataclass(frozen=True, slots=True)
class GateResults:
    """The rates of a scorer or cascade in each draw. ``str(results)`` describes the contrast with most false hits."""

    draws: tuple[GateDraw, ...]
    left_out: tuple[str, ...] = ()
    """A sentence for each contrast that the templates do not allow."""
    pair_notes: tuple[str, ...] = ()
    """Notes on doubtful labels of the user's pairs."""

    def __str__(self) -> str:
        worst = max(self.list_cells(), key=lambda draws: _average(draws, "false_hits"))
        contrast = CONTRASTS.get(worst[0].contrast)
        negatives = f"pairs in which {contrast.summary}" if contrast else "pairs with different meanings"
        if worst[0].kind:
            negatives = f"pairs of the kind {worst[0].kind}"
        stages = [*zip(*(draw.stages for draw in self.draws), strict=True)] or [self.draws]
        limits = ", then ".join(
            f"a {MEASURE_NAMES.get(draws[0].measure, draws[0].measure)} of "
            f"{mean(stage.threshold for stage in draws):.4f}"
            for draws in stages
        )
        return (
            f"At {limits}, where "
            f"{100 * mean(draw.kept for draw in self.draws):.1f}% of paraphrases pass, "
            f"{100 * _average(worst, 'false_hits'):.1f}% of {negatives} pass, too."
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary of scalar values for each combination of draw, contrast and form of negatives."""
        records = []
        for draw in self.draws:
            facts = {name: getattr(draw, name) for name in ("scorer", "measure", "seed", "threshold", "keep", "kept")}
            for number, stage in enumerate(draw.stages, 1):
                facts |= {f"stage{number}_{name}": value for name, value in asdict(stage).items()}
            for rates in (*draw.rates, *draw.generated):
                values = {name: value for name, value in asdict(rates).items() if name not in ("curve", "worst")}
                values["first"], values["second"] = values.pop("example")
                for name in ("false_hits", "misses"):
                    interval = values.pop(f"{name}_interval")
                    values |= {f"{name}_low": interval["low"], f"{name}_high": interval["high"]}
                records.append(facts | values)
        return records

    def list_cells(self) -> list[tuple[GateRates, ...]]:
        """Return, for each contrast and form of the negatives, a tuple with one GateRates for each draw."""
        return [*zip(*(draw.rates for draw in self.draws), strict=True)]

    def list_generated_cells(self) -> list[tuple[GateRates, ...]]:
        """Return the rates of generated pairs, grouped as in list_cells. Leave out a group that a draw lacks."""
        cells = group_by((rates for draw in self.draws for rates in draw.generated), lambda rates: rates.name)
        return [tuple(rates) for rates in cells.values() if len(rates) == len(self.draws)]


def _average(draws: Sequence[GateRates], field: str) -> float:
    return float(mean(getattr(rates, field) for rates in draws))


def build_gate_grid(results: GateResults, *, intervals: bool) -> Grid:
    """Build the table of rates. It has a row for each contrast and each form (voice, word order) of its negatives."""
    rows = []
    for draws in (*results.list_cells(), *results.list_generated_cells()):
        rates = draws[0]
        shares = [_format_rate(draws, field, intervals=intervals) for field in ("false_hits", "misses")]
        areas = [_format_rate(draws, field, intervals=False) for field in ("auc", "eer")]
        form = NEGATIVE_FORMS[NegativeKind(rates.form)] if rates.form else NO_VALUE
        cells = tuple(map(GridCell, [form, *shares, *areas]))
        rows.append(GridRow(f"{rates.subject}: {' / '.join(rates.example)}", rates.contrast, cells))
    return Grid(HEADER, tuple(rows))


def _format_rate(draws: Sequence[GateRates], field: str, *, intervals: bool) -> str:
    values = [getattr(rates, field) for rates in draws]
    if len(values) > 1:
        return format_share(estimate_over_draws(values), intervals=intervals)
    interval = getattr(draws[0], f"{field}_interval", None) or Interval(0.0, 1.0)
    return format_share(TripletEstimate(values[0], None, interval), intervals=intervals)


def format_gate_notes(results: GateResults) -> str:
    """Return the notes below the table, one per line."""
    draw, notes = results.draws[0], []
    if draw.keep is not None:
        threshold = "The second threshold" if draw.stages else "The threshold"
        paraphrases = "the paraphrases that pass the first" if draw.stages else "paraphrases"
        notes += [
            f"{threshold} was chosen to keep {100 * draw.keep:g}% of {paraphrases}, in one half of the units; the "
            "figures are measured on the other half."
        ]
    for stage in draw.stages:
        notes += [f"{stage.scorer} scored {stage.pairs:,} pairs, {stage.pairs_per_second:,.0f} per second."]
    if not draw.rates[0].contrast:
        notes += [*_describe_own_pairs(draw), *results.pair_notes, *_describe_generated(draw)]
    if len(results.draws) > 1:
        notes += [f"Mean ± standard deviation of {len(results.draws)} draws."]
    for draws in results.list_cells():
        if ties := sum(rates.ties for rates in draws):
            notes += [f"{draws[0].name}: {format_count(ties, 'negative')} have exactly the positive's score."]
        if at_threshold := sum(rates.at_threshold for rates in draws):
            pairs = format_count(at_threshold, "pair")
            notes += [f"{draws[0].name}: {pairs} exactly at the threshold, counted as passing."]
    left_out = [*results.left_out, *(f"the kind {kind} has no pair in the measured half" for kind in draw.left_out)]
    return "".join(f"{note}\n" for note in (*notes, *(f"Left out: {reason}." for reason in left_out)))


def _describe_own_pairs(draw: GateDraw) -> list[str]:
    """Return a note on the number of a user's pairs, and another if they are too few to choose the threshold."""
    rates = draw.rates[0]
    false_hits, misses = (
        f"{100 * interval.low:.1f}% to {100 * interval.high:.1f}%"
        for interval in (rates.false_hits_interval, rates.misses_interval)
    )
    notes = [
        f"Own pairs: {rates.same_pairs:,} paraphrases and {rates.pairs:,} other pairs are measured; 95% intervals: "
        f"false hits {false_hits}, misses {misses}."
    ]
    # With fewer, not one may miss: the threshold is the lowest score, whatever share is to be kept (1e-9: rounding).
    if draw.keep is not None and rates.same_pairs * (1 - draw.keep) < 1 - 1e-9 and draw.keep < 1:
        fewest = ceil(1 / (1 - draw.keep) - 1e-9)
        notes += [f"Too few own pairs: a threshold that keeps {100 * draw.keep:g}% needs {2 * fewest} paraphrases."]
    return notes


def _describe_generated(draw: GateDraw) -> list[str]:
    """Return notes that compare the rates of a user's pairs and of generated pairs."""
    own_rates = draw.rates[0]
    if not draw.generated:
        return ["No generated sentence has the length of a text in column a."]
    notes = ["The contrasts are generated pairs whose first texts have as many tokens as those in column a."]
    for field, title in (("false_hits", "False hits"), ("misses", "Misses")):
        interval = getattr(own_rates, f"{field}_interval")
        compared = [rates for rates in draw.generated if field == "false_hits" or rates.form == NegativeKind.ANCHOR]
        shares = [
            f"{rates.name if field == 'false_hits' else rates.contrast} {100 * getattr(rates, field):.1f}%"
            for rates in compared
            if getattr(rates, f"{field}_interval").low > interval.high
            or getattr(rates, f"{field}_interval").high < interval.low
        ]
        if shares:
            notes += [
                f"{title} of generated pairs disagree with the {100 * getattr(own_rates, field):.1f}% of own pairs "
                f"(95% intervals do not overlap): {', '.join(shares)}."
            ]
    return notes


HitLimits: TypeAlias = Mapping[str, float]
"""The greatest accepted rate of false hits (0 to 1) by contrast or kind; the name "" stands for all others."""


def check_limits(results: GateResults, limits: HitLimits) -> None:
    """Raise UsageError for the limit of a contrast or kind that was not measured."""
    measured = dict.fromkeys(draws[0].kind or draws[0].contrast for draws in results.list_cells())
    for name in limits:
        if name in results.draws[0].left_out:
            raise UsageError(f"--max-false-hits {name}: this kind has no pair in the measured half; give --threshold")
        if name and name not in measured:
            known = f"{suggest(name, measured)}; known: {', '.join(filter(None, measured)) or 'none'}"
            raise UsageError(f"--max-false-hits {name}: no such contrast or kind{known}")


def find_exceeding(results: GateResults, limits: HitLimits) -> dict[str, str]:
    """Return, by the name of a kind of negatives, why its rate of false hits may be too high.

    The upper end of the 95% interval is compared with the limit, so that few pairs cannot pass by chance.
    """
    exceeding = {}
    for draws in results.list_cells():
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


def check_false_hits(results: GateResults, limits: HitLimits) -> None:
    """Raise FalseHitsError, which names the contrasts and kinds, if any rate of false hits may be above its limit."""
    if exceeding := find_exceeding(results, limits):
        listed = "; ".join(f"{name} {figures}" for name, figures in exceeding.items())
        raise FalseHitsError(f"more false hits than accepted (the upper end of the 95% interval counts): {listed}")


def format_junit(results: GateResults, limits: HitLimits) -> str:
    """Return JUnit XML. A test case is one kind of negatives. It fails if the rate of false hits may be too high."""
    exceeding = find_exceeding(results, limits)
    cells = results.list_cells()
    counts = {"tests": str(len(cells)), "failures": str(len(exceeding)), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": f"probe gate {results.draws[0].scorer}", **counts})
    for draws in cells:
        name = draws[0].name
        case = ET.SubElement(suite, "testcase", classname="sentprobe.gate", name=name, time="0")
        false_hits, misses = (100 * _average(draws, field) for field in ("false_hits", "misses"))
        figures = f"false hits {false_hits:.1f}%, misses {misses:.1f}%"
        if name in exceeding:
            message = f"{figures}; false hits {exceeding[name]} (the upper end of the 95% interval counts)"
            example = " / ".join(draws[0].example)
            ET.SubElement(case, "failure", message=message, type=FalseHitsError.__name__).text = example
        ET.SubElement(case, "system-out").text = figures
    for element in suites.iter():  # XML has no way to write most control characters
        element.text = element.text and escape_control_characters(element.text)
        element.attrib = {name: escape_control_characters(value) for name, value in element.attrib.items()}
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
