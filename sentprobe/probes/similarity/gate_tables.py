"""The output of ``probe gate``: a sentence, a table with notes, and records of rates, differences and pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, inf, isnan
from statistics import mean
from typing import TYPE_CHECKING, Any

from sentprobe.common.errors import format_count
from sentprobe.common.tables import (
    Grid,
    GridCell,
    GridRow,
    ShownTable,
    TableFormat,
    build_frame,
    format_records,
    format_tables,
)
from sentprobe.common.values import digest_value, format_json, group_by
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.similarity.distance_draws import TripletEstimate, estimate_over_draws
from sentprobe.probes.similarity.distance_tables import NEGATIVE_FORMS, NO_VALUE, format_share
from sentprobe.probes.similarity.gate_comparison import GateComparison
from sentprobe.probes.similarity.gate_rates import MEASURED, OWN, PARAPHRASES, GateDraw, GateRates
from sentprobe.probes.similarity.gate_thresholds import MEASURE_NAMES
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.similarity.pair_scores import DECISION, GateStage, find_sign
from sentprobe.probes.similarity.text_pairs import VARIANTS
from sentprobe.probes.statistics import Interval

if TYPE_CHECKING:
    import pandas as pd

HEADER = ("contrast and example", "negative in the", "pairs", "false hits", "misses", "AUC", "EER")

VARIED = f"{VARIANTS}, which are far easier than real paraphrases"
"""A description of edits with the same meaning."""
GENERATED_LIMITS = (
    "Generated sentences tell which meanings a model confuses, not how often texts of people would be confused; "
    "--pairs measures yours."
)
"""What the figures of generated sentences do not tell."""


@dataclass(frozen=True, slots=True)
class GateResults:
    """The rates of a scorer or cascade in each draw. ``str(results)`` describes the contrast with most false hits."""

    draws: tuple[GateDraw, ...]
    left_out: tuple[str, ...] = ()
    """A sentence for each contrast that the templates do not allow."""
    pair_notes: tuple[str, ...] = ()
    """Notes on doubtful labels of the user's pairs."""
    material: str = ""
    """The measured material, as a noun phrase, such as "the pairs in mine.csv"."""
    comparison: GateComparison | None = None
    """The comparison with another model or with a stored result."""
    other: GateDraw | None = None
    """The other model's rates."""
    same_name: str = PARAPHRASES
    """What the pairs with one meaning are: paraphrases, or variants, which stand for no recall."""

    @property
    def positives(self) -> str:
        """The pairs by which misses, AUC and EER of the rows are measured, as a noun phrase."""
        if self.same_name == VARIANTS:
            return VARIED
        return "generated paraphrases" if self.draws[0].rates[0].contrast else "your paraphrases"

    @property
    def compared_name(self) -> str:
        """The name of the pairs by which the misses of a comparison are measured."""
        return PARAPHRASES if _has_paraphrase_file(self.draws[0]) else self.same_name

    def __str__(self) -> str:
        descriptions = _describe_draws(self.draws, self.same_name)
        if self.other is not None:
            descriptions = "; ".join(
                f"{draw.scorer}, {_describe_draws([draw], self.same_name)}" for draw in self._list_draws()
            )
        sentences = [] if self.comparison is None else [str(self.comparison)]
        if any(draw.failure for draw in self.draws):
            sentences += ["No threshold is within the budget; these are figures at the strictest that lets a hit pass."]
        sentences += [f"Of {self.material}: {descriptions}."]
        return " ".join([*sentences, *([GENERATED_LIMITS] if self.draws[0].rates[0].contrast else [])])

    def to_markdown(self, *, intervals: bool = False) -> str:
        """Return the sentence, the tables and the notes in Markdown, with 95% *intervals* if wanted."""
        return format_tables([*build_gate_tables(self, intervals=intervals)], TableFormat.MARKDOWN)

    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a pandas data frame. Raises UsageError if pandas is not installed."""
        return build_frame(self.to_records())

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary of scalar values for each combination of scorer, draw, contrast and form."""
        records = []
        for draw in self._list_draws():
            facts = {name: getattr(draw, name) for name in ("scorer", "measure", "seed", "threshold", "keep", "kept")}
            for number, stage in enumerate(draw.stages, 1):
                facts |= {f"stage{number}_{name}": value for name, value in asdict(stage).items()}
            for rates in (*draw.rates, *draw.generated):
                values = {name: value for name, value in asdict(rates).items() if name not in ("curve", "worst")}
                values["first"], values["second"] = values.pop("example")
                for name in ("false_hits", "misses", "auc"):
                    interval = values.pop(f"{name}_interval")
                    values |= {f"{name}_low": interval["low"], f"{name}_high": interval["high"]}
                record = facts | values
                unknown = [name for name, value in record.items() if isinstance(value, float) and isnan(value)]
                records.append({**record, **dict.fromkeys(unknown)})  # JSON lacks nan
        return records

    def list_pair_records(self) -> list[dict[str, Any]]:
        """Return one dictionary for each pair of each scorer and draw, with its score and verdict."""
        return [
            {"scorer": draw.scorer, "seed": draw.seed, "threshold": draw.threshold} | pair.to_record()
            for draw in self._list_draws()
            for pair in draw.pairs
        ]

    def format_records(self, style: TableFormat) -> str:
        """Return all rates, differences and pairs: in JSON three lists and a digest, in CSV lines with their record.

        This is the only place where all pairs are written.
        """
        lists = {
            "rates": self.to_records(),
            "differences": self.comparison.to_records() if self.comparison else [],
            "pairs": self.list_pair_records(),
        }
        if style is TableFormat.JSON:
            parts = [
                f'"{name}": [\n' + ",\n".join(map(format_json, records)) + "\n]" for name, records in lists.items()
            ]
            return "{\n" + ",\n".join([*parts, f'"digest": "{digest_value(lists)}"']) + "\n}\n"
        rows = [{"record": name.removesuffix("s")} | record for name, records in lists.items() for record in records]
        names = dict.fromkeys(name for row in rows for name in row)
        return format_records([{name: row.get(name) for name in names} for row in rows], style)

    def _list_draws(self) -> tuple[GateDraw, ...]:
        return (*self.draws, *([self.other] if self.other else []))

    def list_generated_cells(self) -> list[tuple[GateRates, ...]]:
        """Return the rates of generated pairs, with a tuple for each kind. Leave out a kind that a draw lacks."""
        cells = group_by((rates for draw in self.draws for rates in draw.generated), lambda rates: rates.name)
        return [tuple(rates) for rates in cells.values() if len(rates) == len(self.draws)]


def list_cells(draws: Sequence[GateDraw]) -> list[tuple[GateRates, ...]]:
    """Return, for each contrast and form of the negatives, a tuple with one GateRates for each draw."""
    return [*zip(*(draw.rates for draw in draws), strict=True)]


def _describe_draws(draws: Sequence[GateDraw], same_name: str) -> str:
    """Return a clause on the contrast or kind with most false hits: both forms, and areas under the ROC curve."""
    by_subject = group_by(list_cells(draws), lambda cell: cell[0].subject)
    cells = max(by_subject.values(), key=lambda cells: max(_average(cell, "false_hits") for cell in cells))
    rates = cells[0][0]
    contrast, pairs = CONTRASTS.get(rates.contrast), format_count(rates.pairs, "pair")
    negatives = f"pairs in which {contrast.summary}" if contrast else f"{pairs} with different meanings"
    negatives = f"{pairs} of the kind {rates.kind}" if rates.kind else negatives
    hits = [f"{100 * _average(cell, 'false_hits'):.1f}%" for cell in cells]
    forms = [f" in the {NEGATIVE_FORMS[NegativeKind(cell[0].form)]}" if cell[0].form else "" for cell in cells]
    passing = f"{hits[0]} of {negatives} pass{forms[0]}"
    passing += "".join(f", {share}{form}" for share, form in zip(hits[1:], forms[1:], strict=True))
    described = f"{_describe_threshold(draws, same_name)}, {passing}"
    if isnan(rates.auc):
        return described
    areas = " and ".join(f"{100 * _average(cell, 'auc'):.1f}" for cell in cells)
    title = "areas" if len(cells) > 1 else "area"
    return f"{described} ({title} under the ROC curve: {areas})"


def _describe_threshold(draws: Sequence[GateDraw], same_name: str) -> str:
    """Return the thresholds, and the share of paraphrases that pass, such as "at a cosine of 0.9157, where ..."."""
    kept = "" if isnan(draws[0].kept) else f"{100 * mean(draw.kept for draw in draws):.1f}%"
    paraphrases = "your paraphrases" if _has_paraphrase_file(draws[0]) else same_name
    if draws[0].measure == DECISION and not draws[0].stages:
        return f"where {draws[0].scorer} passes {kept} of {paraphrases}" if kept else f"with {draws[0].scorer}"
    stages: list[Sequence[GateDraw | GateStage]] = [*zip(*(draw.stages for draw in draws), strict=True)] or [draws]
    limits = []
    for stage in stages:
        scorer, measure = stage[0].scorer, MEASURE_NAMES.get(stage[0].measure, stage[0].measure)
        threshold = mean(draw.threshold for draw in stage)
        limits.append(scorer if measure == DECISION else f"a {measure} of {threshold:.4f}")
    return f"at {', then '.join(limits)}" + (f", where {kept} of {paraphrases} pass" if kept else "")


def _has_paraphrase_file(draw: GateDraw) -> bool:
    return any(pair.source == PARAPHRASES for pair in draw.pairs)


def _average(draws: Sequence[GateRates], field: str) -> float:
    return float(mean(getattr(rates, field) for rates in draws))


def format_average(draws: Sequence[GateRates], field: str) -> str:
    """Return the mean rate of draws in percent; a dash for misses without any paraphrase."""
    return NO_VALUE if isnan(_average(draws, field)) else f"{100 * _average(draws, field):.1f}%"


def build_gate_tables(results: GateResults, *, intervals: bool) -> Iterator[ShownTable]:
    """Yield the table of the comparison, if there is one, that of the rates, and that of the other model's rates."""
    title = str(results)
    if results.comparison is not None:
        sources = f"Misses and AUC are measured by {results.positives}."
        if results.compared_name != results.same_name:
            sources = f"Misses are measured by your paraphrases, AUC by {results.positives}."
        notes = _format_comparison_notes(results.comparison, sources)
        yield title, build_comparison_grid(results.comparison), notes
        title = results.draws[0].scorer
    yield title, build_gate_grid(results, intervals=intervals), format_gate_notes(results)
    if results.other is not None:
        other = replace(results, draws=(results.other,), other=None, comparison=None)
        yield results.other.scorer, build_gate_grid(other, intervals=intervals), format_gate_notes(other)


def build_comparison_grid(comparison: GateComparison) -> Grid:
    """Build the table of differences by kind."""
    rows = []
    for row in comparison.differences:
        shares = [f"{100 * share:.1f}" for share in (row.first_value, row.second_value)]
        texts = [row.figure, f"{row.pairs:,}", *shares, row.format_difference(), f"{row.corrected_p:.2g}"]
        rows.append(GridRow(row.name, "", tuple(GridCell(text, best=row.is_significant) for text in texts)))
    return Grid(("kind", "figure", "pairs", "first", "second", "difference", "p"), tuple(rows))


def _format_comparison_notes(comparison: GateComparison, sources: str) -> str:
    notes = [
        f"First: {comparison.first}. Second: {comparison.second}. In %; false hits and misses: each at its own "
        "threshold; AUC: of all pairs. Differences with 95% intervals, and p-values of paired tests (Holm). Marked: "
        f"significant at 5%. {sources}"
    ]
    if comparison.unmatched:
        notes += [f"{format_count(comparison.unmatched, 'pair')} of only one result: not compared."]
    return "".join(f"{note}\n" for note in notes)


def build_gate_grid(results: GateResults, *, intervals: bool) -> Grid:
    """Build the table of rates. It has a row for each contrast and each form (voice, word order) of its negatives."""
    rows = []
    for draws in (*list_cells(results.draws), *results.list_generated_cells()):
        rates = draws[0]
        shares = [_format_rate(draws, field, intervals=intervals) for field in ("false_hits", "misses", "auc")]
        form = NEGATIVE_FORMS[NegativeKind(rates.form)] if rates.form else NO_VALUE
        numbers = sorted({draw.pairs for draw in draws})
        pairs = "–".join(f"{number:,}" for number in dict.fromkeys([numbers[0], numbers[-1]]))
        cells = tuple(map(GridCell, [form, pairs, *shares, _format_rate(draws, "eer", intervals=False)]))
        rows.append(GridRow(f"{rates.subject}: {' / '.join(rates.example)}", rates.contrast, cells))
    return Grid(HEADER, tuple(rows))


def _format_rate(draws: Sequence[GateRates], field: str, *, intervals: bool) -> str:
    values = [getattr(rates, field) for rates in draws]
    if isnan(values[0]):
        return NO_VALUE
    if len(values) > 1:
        return format_share(estimate_over_draws(values), intervals=intervals)
    interval = getattr(draws[0], f"{field}_interval", None) or Interval(0.0, 1.0)
    return format_share(TripletEstimate(values[0], None, interval), intervals=intervals)


def format_gate_notes(results: GateResults) -> str:
    """Return the notes below the table, one per line."""
    draw, notes = results.draws[0], []
    threshold = "The second threshold" if draw.stages else "The threshold"
    if draw.keep is not None:
        paraphrases = "the paraphrases that pass the first" if draw.stages else "paraphrases"
        half, figures = "one half of the units", "the figures are measured on the other half"
        if _has_paraphrase_file(draw):
            paraphrases, half, figures = "your paraphrases", "one half of them", "all other pairs are measured"
        notes += [f"{threshold} was chosen to keep {100 * draw.keep:g}% of {paraphrases}, in {half}; {figures}."]
    all_rates = (rates for each in results.draws for rates in each.rates)
    bounds = [(rates.bound, rates.budget, rates.name) for rates in all_rates if rates.bound is not None]
    if bounds and not any(each.failure for each in results.draws):
        bound, _, name = max(bounds)
        budgets = " or ".join(f"{100 * budget:g}%" for budget in sorted({budget for _, budget, _ in bounds if budget}))
        notes += [
            f"{threshold} has the most hits of those that one half of the units allows and the other confirms. With a "
            f"confidence of 95%, at most {budgets} of the pairs of each kind with a budget pass, of all kinds at once; "
            f"the largest upper bound is {100 * bound:.2f}%, of {name}."
        ]
    for stage in draw.stages:
        notes += [f"{stage.scorer} scored {stage.pairs:,} pairs, {stage.pairs_per_second:,.0f} per second."]
    if not draw.rates[0].contrast:
        notes += _describe_own_pairs(draw, results.same_name)
        notes += [*_describe_misses(draw, results.same_name), *_describe_generated(draw), *results.pair_notes]
    if len(results.draws) > 1:
        notes += [f"Mean ± standard deviation of {len(results.draws)} draws."]
    for draws in list_cells(results.draws):
        if ties := sum(rates.ties for rates in draws):
            notes += [f"{draws[0].name}: {format_count(ties, 'negative')} have exactly the positive's score."]
        if draw.measure != DECISION and (at_threshold := sum(rates.at_threshold for rates in draws)):
            pairs = format_count(at_threshold, "pair")
            notes += [f"{draws[0].name}: {pairs} exactly at the threshold, counted as passing."]
    left_out = [*results.left_out, *(f"the kind {kind} has no pair in the measured half" for kind in draw.left_out)]
    return "".join(f"{note}\n" for note in (*notes, *(f"Left out: {reason}." for reason in left_out)))


def _describe_own_pairs(draw: GateDraw, same_name: str) -> list[str]:
    """Return a note on the number of a user's pairs, and another if they are too few to choose the threshold."""
    rates = draw.rates[0]
    false_hits, misses = (
        f"{100 * interval.low:.1f}% to {100 * interval.high:.1f}%"
        for interval in (rates.false_hits_interval, rates.misses_interval)
    )
    positives = format_count(rates.same_pairs, same_name.removesuffix("s"))
    if not rates.same_pairs:
        pairs = format_count(rates.pairs, "pair")
        return [
            f"Own pairs: {pairs} with different meanings and no {same_name} are measured, so that misses, AUC and EER "
            f"are unknown; 95% interval of false hits: {false_hits}."
        ]
    notes = [
        f"Own pairs: {positives} and {rates.pairs:,} other pairs are measured; 95% intervals: false hits {false_hits}, "
        f"misses {misses}."
    ]
    if same_name == VARIANTS:
        notes += [f"Misses, AUC and EER are against {VARIED}."]
    # With fewer, not one may miss: the threshold is the lowest score, whatever share is to be kept (1e-9: rounding).
    chooses = draw.keep is not None and not _has_paraphrase_file(draw)
    if draw.keep is not None and chooses and rates.same_pairs * (1 - draw.keep) < 1 - 1e-9 and draw.keep < 1:
        fewest = ceil(1 / (1 - draw.keep) - 1e-9)
        notes += [f"Too few own pairs: a threshold that keeps {100 * draw.keep:g}% needs {2 * fewest} paraphrases."]
    return notes


def _describe_misses(draw: GateDraw, same_name: str) -> list[str]:
    """Return a note on the user's missed paraphrases, with the worst one if scores have an order."""
    source, name = (PARAPHRASES, PARAPHRASES) if _has_paraphrase_file(draw) else (OWN, same_name)
    same = [pair for pair in draw.pairs if pair.same and pair.half == MEASURED and pair.source == source]
    missed = [pair for pair in same if pair.is_wrong]
    if not missed:
        return []
    sign = find_sign(draw.measure)
    worst = min(missed, key=lambda pair: -inf if pair.score is None else sign * pair.score)
    score = "" if worst.score is None or draw.measure == DECISION else f" ({worst.score:.3f})"
    return [
        f"Missed: {len(missed):,} of {format_count(len(same), name.removesuffix('s'))}, such as {worst.a!r} and "
        f"{worst.b!r}{score}; --out gate.csv has all pairs."
    ]


def _describe_generated(draw: GateDraw) -> list[str]:
    """Return notes that compare the rates of a user's pairs and of generated pairs."""
    own_rates = draw.rates[0]
    if not draw.generated:
        return []
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
