"""The HTML page of ``probe gate``: a table, curves of false hits against misses, and the worst false hits."""

from heapq import nlargest

from sentprobe.display.table_writers import Grid, GridCell, GridRow
from sentprobe.errors import split_lines
from sentprobe.probes.gate.gate_rates import find_sign
from sentprobe.probes.gate.gate_tables import GateResults, build_gate_grid, format_gate_notes
from sentprobe.probes.gate.pair_scores import NEAREST, OWN_PAIRS, ScoredPair
from sentprobe.probes.geometry.distance_tables import KIND_TITLES
from sentprobe.probes.geometry.measures import NegativeKind
from sentprobe.probes.report.plots import panels as pn
from sentprobe.probes.report.tables.view import load_template
from sentprobe.values import group_by


def build_gate_page(results: GateResults, *, command: str, intervals: bool) -> str:
    """Return the page as HTML that loads no other files. All inserted texts are escaped."""
    return load_template("gate.html.j2").render(
        sentence=str(results),
        rates=build_gate_grid(results, intervals=intervals),
        notes=split_lines(format_gate_notes(results)),
        curves=_draw_curves(results),
        worst=_build_worst_grid(results),
        command=command,
    )


def _draw_curves(results: GateResults) -> pn.ResultPicture:
    """Return the plot of the first draw, with a panel for each form of negative and a line for each contrast."""
    rates = (*results.draws[0].rates, *results.draws[0].generated)
    marks = pn.number_marks(case.subject for case in rates)
    panels = []
    for form, cases in group_by(rates, lambda case: case.form).items():
        lines = []
        for case in cases:
            points = tuple(pn.LinePoint(100 * misses, *[100 * hits] * 3) for misses, hits in case.curve)
            lines.append(pn.Line(name=case.subject, mark=marks[case.subject], points=points))
        panels.append(
            pn.LinePanel(
                title=KIND_TITLES[NegativeKind(form)] if form else OWN_PAIRS,
                x_label="misses (%)",
                y_label="false hits (%)",
                lines=tuple(lines),
                low=0,
                named=len(marks) <= pn.MAX_NAMED_LINES,
            )
        )
    return pn.ResultPicture(
        title="False hits against misses",
        caption="Each point is a threshold. Curves near the lower left corner have few misses and few false hits.",
        panels=tuple(panels),
        legend=pn.build_legend(marks),
        of_encoders=False,
    )


def _build_worst_grid(results: GateResults) -> Grid:
    """Return a table of the false hits, in the first draw, whose sentences were scored as most similar."""
    draw = results.draws[0]
    names: dict[ScoredPair, str] = {}
    for rates in draw.rates:
        for pair in rates.worst:
            names.setdefault(pair, rates.name)
    rows = []
    for pair in nlargest(NEAREST, names, key=lambda pair: pair.score):
        cell = GridCell(f"{find_sign(draw.measure) * pair.score:.4f}")
        rows.append(GridRow(f"{names[pair]}: {pair.first} / {pair.second}", "", (cell,)))
    return Grid(("contrast and sentences", draw.measure), tuple(rows))
