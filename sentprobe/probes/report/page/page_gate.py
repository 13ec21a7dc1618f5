"""The page of a gate: its table, false hits against misses as curves, and the worst false hits."""

from sentprobe.display.table_writers import Grid, GridCell, GridRow
from sentprobe.errors import escape_control_characters
from sentprobe.probes.gate.gate_rates import find_sign
from sentprobe.probes.gate.gate_tables import Gate, build_gate_grid, format_gate_notes, name_case
from sentprobe.probes.gate.pair_scores import NEAREST
from sentprobe.probes.report.plots import panels as pn
from sentprobe.probes.report.tables.view import load_template


def build_gate_page(gate: Gate, *, command: str, intervals: bool) -> str:
    """Return the page; all texts are escaped, and it loads nothing from elsewhere."""
    return load_template("gate.html.j2").render(
        sentence=str(gate),
        rates=build_gate_grid(gate, intervals=intervals),
        notes=format_gate_notes(gate).splitlines(),
        curves=_draw_curves(gate),
        worst=_build_worst_grid(gate),
        command=command,
    )


def _draw_curves(gate: Gate) -> pn.ResultPicture:
    """Return false hits against misses in the first draw: a panel for each form of negatives, a line by contrast."""
    rates = (*gate.draws[0].rates, *gate.draws[0].generated)
    marks = pn.number_marks(case.contrast or name_case(case) for case in rates)
    panels = []
    for form in dict.fromkeys(case.form for case in rates):
        lines = tuple(
            pn.Line(name=name, mark=marks[name], points=tuple(_build_point(*point) for point in case.curve))
            for case in rates
            for name in (case.contrast or name_case(case),)
            if case.form == form
        )
        title = (
            f"negatives in the form of the {'anchor' if form == 'anchor' else 'paraphrase'}" if form else "own pairs"
        )
        panels.append(
            pn.LinePanel(
                title=title,
                x_label="misses (%)",
                y_label="false hits (%)",
                lines=lines,
                low=0,
                named=len(marks) <= pn.MAX_NAMED_LINES,
            )
        )
    return pn.ResultPicture(
        title="False hits against misses",
        caption="Each point is a threshold. In the lower left corner there are few misses and few false hits.",
        panels=tuple(panels),
        legend=pn.build_legend(marks),
        of_encoders=False,
    )


def _build_point(misses: float, false_hits: float) -> pn.LinePoint:
    return pn.LinePoint(100 * misses, *[100 * false_hits] * 3)


def _build_worst_grid(gate: Gate) -> Grid:
    """Return the false hits with the highest scores in the first draw."""
    result = gate.draws[0]
    hits = {pair: name_case(rates) for rates in reversed(result.rates) for pair in reversed(rates.worst)}
    nearest = sorted(reversed(hits), key=lambda pair: -pair.score)[:NEAREST]
    rows = (
        GridRow(
            escape_control_characters(f"{hits[pair]}: {pair.first} / {pair.second}"),
            "",
            (GridCell(f"{find_sign(result.measure) * pair.score:.4f}"),),
        )
        for pair in nearest
    )
    return Grid(("contrast and sentences", result.measure), tuple(rows))
