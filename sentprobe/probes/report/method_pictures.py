"""The pictures of methods: accuracy by size of the probe, by training items, by width of vectors.

All three are over numbers that grow by factors, so their axes are logarithmic.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log2
from statistics import fmean, stdev
from typing import TypeAlias

from sentprobe.errors import UsageError, visible
from sentprobe.probes.report import panels as pn
from sentprobe.probes.report import pictures
from sentprobe.probes.report.draws import draws_of
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.specs import parse_spec

_MEAN = (
    "the mean over seeds and draws, in percent, and one standard deviation to either side. Dotted: "
    "chance. Of more than "
    f"{pictures.MOST} encoders, those are drawn that are best on average."
)

SIZES = pn.PagePicture(
    title="Accuracy by size of the probe",
    caption="Accuracy of a linear probe, and of probes with a hidden layer of each width: "
    f"{_MEAN} A line that rises says that a property is there, but not linearly; but where "
    "probe words are balanced, no linear probe can know the answer.",
)
ITEMS = pn.PagePicture(
    title="Accuracy by training items",
    caption=f"Accuracy of probes that were trained on so many items: {_MEAN} The further to the "
    "left a line rises, the easier a property is read.",
)
DIMS = pn.PagePicture(
    title="Accuracy by width of the vector",
    caption="Accuracy of the probe, in percent, with its 95% interval, on vectors that were cut "
    "after so many numbers; the last point of a line is of the whole vectors where these were "
    "probed, too. Dotted: chance.",
)


Points: TypeAlias = dict[int, tuple[float, float, float]]
"""By what it is drawn over, an accuracy and the ends of its interval, in percent."""


def by_method(results: Results) -> Iterator[pn.PagePicture]:
    """Yield the pictures of the methods of which there are results."""
    yield from _of_readings(results, Condition.WIDTHS, SIZES, "width of the hidden layer")
    yield from _of_readings(results, Condition.PORTIONS, ITEMS, "training items")
    yield from _of_widths(results)


def _of_readings(
    results: Results, condition: Condition, picture: pn.PagePicture, across: str
) -> Iterator[pn.PagePicture]:
    there = [each for each in results.records if condition in each.scores]
    marks = pn.marks_of(pictures.best((each.encoder, each.accuracy) for each in there))
    by_line: dict[tuple[str, str], list[Result]] = {}
    for each in there:
        if each.encoder in marks:
            by_line.setdefault((each.task, each.encoder), []).append(each)
    points = {of: _readings(own, condition) for of, own in by_line.items()}
    yield from _drawn(picture, points, marks, across=across, records=there)


def _readings(records: Sequence[Result], condition: Condition) -> Points:
    """Return the accuracies of the probes that have as many readings as the first one."""
    seeds = [seed for each in records for seed in each.scores[condition].seeds]
    alike = [each for each in seeds if len(each.readings) == len(seeds[0].readings)]
    found = {}
    for place, first in enumerate(alike[0].readings):
        shares = [100 * each.readings[place].correct / each.total for each in alike]
        spread = stdev(shares) if len(shares) > 1 else 0.0
        found[first.at] = (fmean(shares), fmean(shares) - spread, fmean(shares) + spread)
    return found


def _of_widths(results: Results) -> Iterator[pn.PagePicture]:
    families: dict[str, list[Result]] = {}
    for each in results.records:
        if each.dim > 0:  # a baseline has no vectors
            families.setdefault(without_width(each), []).append(each)
    cut = [each for name, own in families.items() if _is_cut(name, own) for each in own]
    marks = pn.marks_of(pictures.best((without_width(each), each.accuracy) for each in cut))
    points: dict[tuple[str, str], Points] = {}
    for each in cut:
        if (name := without_width(each)) in marks:
            points.setdefault((each.task, name), {})[each.dim] = _figure(results, each)
    yield from _drawn(DIMS, points, marks, across="numbers in a vector", records=cut)


def _is_cut(name: str, records: Sequence[Result]) -> bool:
    """Say whether vectors of several widths are of one encoder."""
    cut = any(each.encoder != name for each in records)
    return cut and len({each.dim for each in records}) > 1


def without_width(record: Result) -> str:
    """Return the name of the encoder that a result's vectors are of, if they were not cut."""
    width = str(record.dim)
    if (found := _LABELLED.fullmatch(record.encoder)) and found["width"] == width:
        return found["name"] + found["rest"]
    try:
        spec = parse_spec(record.encoder)
    except UsageError:
        return record.encoder
    options = tuple(pair for pair in spec.options if pair != ("dims", width))
    return str(replace(spec, options=options)) if options != spec.options else record.encoder


_LABELLED = re.compile(r"(?P<name>.+), (?P<width>[0-9]+) dims(?P<rest>(, \w+)?)", re.DOTALL)
"""The name of cut vectors of an encoder whose name is no spec."""


def _figure(results: Results, record: Result) -> tuple[float, float, float]:
    figure = figure_of(draws_of(results, record), Condition.PROBE)
    assert figure is not None  # a record has the score of its probe
    return 100 * figure.accuracy, 100 * figure.interval.low, 100 * figure.interval.high


def _drawn(
    picture: pn.PagePicture,
    points: Mapping[tuple[str, str], Points],
    marks: dict[str, int],
    *,
    across: str,
    records: Sequence[Result],
) -> Iterator[pn.PagePicture]:
    """Yield the picture of lines by task and name, unless there are none."""
    if not points:
        return
    place = _places({at for own in points.values() for at in own})
    chances = {task: pictures.chances(r for r in records if r.task == task) for task, _ in points}
    values = [share for own in points.values() for share, _, _ in own.values()]
    low = pn.floor_of((*values, *(share for shares in chances.values() for share in shares)))
    panels = []
    for task, shares in chances.items():
        own = {name: of for (other, name), of in points.items() if other == task}
        ats = sorted({at for of in own.values() for at in of})
        panels.append(
            pn.LinePanel(
                title=visible(task),
                across=across,
                up="accuracy (%)",
                lines=tuple(_line(name, of, marks[name], place) for name, of in own.items()),
                low=low,
                high=100,
                named=len(marks) <= pn.NAMED,
                references=shares,
                places=tuple((place(at), str(at) if at else "linear") for at in ats),
            )
        )
    yield replace(picture, panels=tuple(panels), legend=pn.legend_of(marks))


def _places(ats: Iterable[int]) -> Callable[[int], float]:
    """Return where numbers stand: by their logarithms, and 0 two doublings before the others."""
    least = min((at for at in ats if at), default=1)
    return lambda at: log2(at) if at else log2(least) - 2


def _line(name: str, points: Points, mark: int, place: Callable[[int], float]) -> pn.Line:
    drawn = (
        pn.LinePoint(x=place(at), y=share, low=low, high=high)
        for at, (share, low, high) in sorted(points.items())
    )
    return pn.Line(name=visible(name), mark=mark, points=tuple(drawn))
