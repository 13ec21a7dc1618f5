"""Checks for too few seeds or draws, unconverged probes, and repeated, truncated or reduced input.

Checks of a results folder against what its runs were asked for: missing results and conditions, edited files.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from pathlib import Path

from sentprobe.common.errors import ResultsError
from sentprobe.common.values import group_by
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.reports.control_verdicts import compute_effective_items
from sentprobe.probes.reports.paired_tests import find_reductions, find_requested_spec
from sentprobe.probes.reports.tables.notes import count_probes
from sentprobe.probes.reports.tables.table_notes import find_truncated
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.draws import list_seeds
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result, Results
from sentprobe.probes.results.store import MARKER, make_file_name, read_requested_results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.settings import DRAW_SEED_STEP
from sentprobe.probes.runs.suites import explain_expected_cue
from sentprobe.probes.statistics import chance_interval

AGAIN = "Run the same command again: only the missing part is computed."


def find_incomplete(results: Results) -> Iterator[ClaimFinding]:
    """Find edited files, and conditions and results that a run was asked for and that its folder lacks."""
    edited = [record for record in results.records if record.edited]
    yield from _build_finding(
        "Files of results were edited after the run, or written by another version: their digest is wrong.",
        {f"{record.encoder} on {record.task}, seed {record.seed}": "" for record in edited},
        severity=Severity.SEVERE,
        advice="Run the same command again: edited results are computed anew.",
        cells=((record.encoder, record.task) for record in edited),
    )
    folders = dict.fromkeys(record.source for record in results.records if record.source)
    requested, damaged = {}, []
    for folder in folders:
        try:
            requested[folder] = read_requested_results(Path(folder))
        except ResultsError:
            damaged.append(folder)
    yield from _build_finding(
        "The record of what was run is damaged, so missing results cannot be found.",
        {f"{folder}/{MARKER}": "" for folder in damaged},
        severity=Severity.SEVERE,
        advice="Run the same commands again: they record it anew.",
        cells=((record.encoder, record.task) for record in results.records if record.source in damaged),
    )
    lacking = {}
    for record in results.records:
        conditions = requested.get(record.source, {}).get(make_file_name(record), {}).get("conditions", ())
        if missing := [name for name in conditions if Condition(name) not in record.scores]:
            names = ", ".join(_name_condition(Condition(name)) or name for name in missing)
            lacking[record.encoder, record.task, f"seed {record.seed}"] = names
    yield from _build_finding(
        "Controls or methods that the run was asked for are missing.",
        {f"{encoder} on {task}, {seed}": names for (encoder, task, seed), names in lacking.items()},
        severity=Severity.SEVERE,
        advice=AGAIN,
        cells=((encoder, task) for encoder, task, _ in lacking),
    )
    absent = [
        entry
        for folder, entries in requested.items()
        for name, entry in entries.items()
        if not (Path(folder) / name).exists()
    ]
    yield from _build_finding(
        "Results that the run was asked for are missing: the run is unfinished, or they were removed.",
        {f"{entry['encoder']} on {entry['task']}, seed {entry['seed']}": "" for entry in absent},
        severity=Severity.SEVERE,
        advice=f"{AGAIN} Report all that was run, not the best of it.",
        cells=((entry["encoder"], entry["task"]) for entry in absent),
    )


def _build_finding(
    problem: str, figures: dict[str, str], *, severity: Severity, advice: str, cells: Iterable[tuple[str, str]]
) -> Iterator[ClaimFinding]:
    """Yield a finding about *cells*, pairs of encoder and task, if there is any; *figures*: remarks by place."""
    if not figures:
        return
    encoders, tasks = zip(*cells, strict=True)
    yield ClaimFinding(
        severity=severity,
        problem=problem,
        figures=tuple(f"{place}: {remark}" if remark else place for place, remark in figures.items()),
        advice=advice,
        encoder=", ".join(dict.fromkeys(encoders)),
        task=", ".join(dict.fromkeys(tasks)),
    )


def find_few_repetitions(table: Results) -> Iterator[ClaimFinding]:
    """Find results with one seed or fewer than three draws, and encoders with fewer seeds than other encoders."""
    trained = Results(tuple(record for record in table.records if record.dim))
    if not trained.records:
        return
    counts = count_probes(trained)
    draws, probes = len(list_seeds(trained)), counts[0]
    if draws == 1 and probes == 1:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Each figure is one probe in one draw: the effect of another seed is not "
            "known, and the tests generalise only to other test items.",
            advice="--seeds 5 trains five probes. --draws 3 repeats all with new data, probes and "
            "weights of untrained encoders, so that the tests generalise to these, too.",
        )
    elif draws == 1 and any((r.data and r.data.origin) or r.encoder_seed is not None for r in trained.records):
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem=f"All {probes} probes of a figure share one draw of the data and of untrained "
            "weights. Figures may vary more between draws than between probes.",
            advice="--draws 3 adds draws. Existing results are reused.",
        )
    elif draws == 2:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Two draws say little about further draws: the t-test relies on the variances of other figures.",
            advice="Use at least --draws 3, or the number that the check 'noise' suggests.",
        )
    if len(counts) > 1:
        fewest = [record for record in trained.records if count_probes(Results((record,))) == counts[:1]]
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem=f"Figures are means over {' or '.join(map(str, counts))} probes. Means over fewer probes vary "
            "more.",
            advice="Run all encoders with the same --seeds; only missing probes are trained.",
            task=", ".join(dict.fromkeys(record.task for record in fewest)),
            encoder=", ".join(dict.fromkeys(record.encoder for record in fewest)),
        )


def find_chosen_seeds(table: Results) -> Iterator[ClaimFinding]:
    """Find draws and probes whose seeds are not the first of their series: the best of several may have been kept."""
    seeds = list_seeds(table)
    expected = tuple(seeds[0] + DRAW_SEED_STEP * number for number in range(len(seeds)))
    gaps = [f"draws with seeds {', '.join(map(str, seeds))}"] if tuple(seeds) != expected else []
    for record in table.records:
        probes = [score.seed for score in record.scores[Condition.PROBE].seeds]
        if record.dim and probes != [*range(record.seed, record.seed + len(probes))]:
            gaps.append(f"{record.encoder} on {record.task}, seed {record.seed}: probes {', '.join(map(str, probes))}")
    if gaps:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Seeds of the series are missing: the figures may be the best of several seeds.",
            figures=tuple(gaps),
            advice=f"Runs count seeds up by 1 for probes and by {DRAW_SEED_STEP} for draws. Report all of them.",
        )
    elif seeds[0]:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem=f"The first seed is {seeds[0]}, not 0: no file shows whether other seeds were tried before.",
            advice="Say how the seed was chosen, or repeat the run with --seed 0 and several --draws.",
        )


SEVERITY_TEXTS: Mapping[Severity, str] = {
    Severity.SEVERE: "No probe of this encoder converged within max_epochs: longer training may change the accuracies.",
    Severity.WARNING: "Some probes did not converge within max_epochs: more epochs may raise "
    "these figures, and no comparison with them is fair.",
    Severity.NOTE: "Some controls did not converge within max_epochs. "
    "That they are at chance is weaker evidence that nothing leaks.",
}


def find_unconverged(table: Results) -> Iterator[ClaimFinding]:
    """Find probes whose training reached ``max_epochs`` before it converged."""
    by_severity: dict[Severity, list[tuple[Result, str]]] = {severity: [] for severity in Severity}
    for draws in table.records_by_cell.values():
        first = draws[0]
        for condition in USUAL_CONDITIONS:
            scores = [result.scores[condition] for result in draws if condition in result.scores]
            converged = [seed.converged for score in scores for seed in score.seeds]
            if False not in converged:
                continue
            unconverged, trained = converged.count(False), len(converged)
            severity = Severity.WARNING
            if condition is not Condition.PROBE and CONTROLS[condition].must_be_at_chance(first):
                severity = Severity.NOTE
            elif condition is Condition.PROBE and unconverged == trained:
                severity = Severity.SEVERE
            name = ", ".join(filter(None, [first.encoder, _name_condition(condition)]))
            limit = f"{first.preset.max_epochs:,} epochs"
            figure = f"{name} on {first.task}: {unconverged} of {trained} probes stopped at {limit}"
            by_severity[severity].append((first, figure))
    for severity, cells in by_severity.items():
        if cells:
            longer = 2 * max(first.preset.max_epochs for first, _ in cells)
            yield ClaimFinding(
                severity=severity,
                problem=SEVERITY_TEXTS[severity],
                figures=tuple(figure for _, figure in cells),
                advice=f"Train longer, twice as long at first: --set max_epochs={longer}.",
                task=", ".join(dict.fromkeys(first.task for first, _ in cells)),
                encoder=", ".join(dict.fromkeys(first.encoder for first, _ in cells)),
            )


def find_cut_input(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders that truncated sentences, and encoders whose vectors were cut, rounded or erased."""
    for worst in find_truncated(table):
        sentences = sum(norm.sentences for norm in worst.norms)
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="The encoder read only the beginning of some sentences. It cannot know the answer to questions "
            "about the remainder.",
            figures=(f"{worst.truncated:,} of {sentences:,} different sentences",),
            advice="Raise the option max_length of the encoder as far as its model allows, or leave longer sentences "
            "out of the data for all encoders.",
            task=worst.task,
            encoder=worst.encoder,
            draw=str(worst.seed) if len(table.records_by_cell[worst.cell]) > 1 else "",
        )
    reduced = {}
    for record in table.records:
        spec = find_requested_spec(record)
        if spec is not None and (reductions := find_reductions(spec)):
            reduced[record.encoder] = ", ".join(f"{name}={value}" for name, value in reductions)
    if reduced:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="Vectors were cut, rounded or erased: the figures describe only the reduced vectors.",
            figures=tuple(f"{encoder}: {text}" for encoder, text in reduced.items()),
            advice="Mention this beside the encoder's name, and claim nothing about the unreduced vectors.",
            encoder=", ".join(reduced),
        )


def find_last_token_layers(table: Results) -> Iterator[ClaimFinding]:
    """Find models of which several layers are probed at the last token, which at low layers is little but a word."""
    pooled = [record for record in table.records if record.layer is not None and record.position == "last"]
    for family, records in group_by(pooled, lambda record: record.family).items():
        layers = sorted({record.layer for record in records if record.layer is not None})
        if len(layers) > 1:
            yield ClaimFinding(
                severity=Severity.NOTE,
                problem="The vectors are states of the last token: figures at low layers tell the last token (in "
                "causal models, the last word), and at layer 0 nothing else but its place.",
                figures=(f"layers {layers[0]} to {layers[-1]}",),
                advice="Say so, or average over all tokens with the encoder's option pool=mean; probe compare "
                "--against 'fixed positions' tests each layer against the words alone.",
                task=", ".join(dict.fromkeys(record.task for record in records)),
                encoder=family,
            )


def find_repeated_sentences(table: Results) -> Iterator[ClaimFinding]:
    """Find tasks that have equal or nearly equal sentences in training and test, in any draw."""
    for task in table.tasks:
        facts = [record.data for record in table.records if record.task == task and record.data is not None]
        overlaps = [data.overlap for data in facts if data.overlap.has_near_copies]
        if not overlaps:
            continue
        worst = max(overlaps, key=lambda overlap: (overlap.is_leaky, sum(astuple(overlap)[1:])))
        yield ClaimFinding(
            severity=Severity.SEVERE if worst.is_leaky else Severity.WARNING,
            problem="The training data contain sentences of test items: a probe may remember their answers."
            if worst.is_leaky
            else "The training data contain near copies of test sentences: a probe may remember their answers.",
            figures=(worst.format_repeated(), worst.format_inflected(), worst.format_reworded()),
            advice="Put sentences that are equal, have the same lemmas or differ in one word into the same split.",
            task=task,
        )


def find_length_leaks(table: Results) -> Iterator[ClaimFinding]:
    """Find tasks whose test items the number of tokens alone answers above chance, with the encoders no better."""
    for task in table.tasks:
        leaky = []
        for record in (record for record in table.records if record.task == task and record.data):
            items = compute_effective_items(record.scores[Condition.PROBE], record)
            if _by_length(record) > chance_interval(record.majority, items, confidence=LENGTH_CONFIDENCE).high:
                leaky.append(record)
        if not leaky:
            continue
        figures = {r.seed: f"length alone: {_by_length(r):.1%}, chance {r.majority:.1%}, seed {r.seed}" for r in leaky}
        not_better = [r.encoder for r in leaky if r.scores[Condition.PROBE].accuracy <= _by_length(r)]
        reason = explain_expected_cue(task, Cue.LENGTH)
        severity = Severity.NOTE if reason else Severity.SEVERE if not_better else Severity.WARNING
        yield ClaimFinding(
            severity=severity,
            problem="The number of tokens alone is above chance" + (f": {reason}." if reason else "."),
            figures=tuple(figures.values()),
            advice="Compare with this figure instead of chance, or balance the lengths of each label.",
            task=task,
            encoder=", ".join(dict.fromkeys(not_better)),
        )


def _by_length(record: Result) -> float:
    return record.data.by_length / record.data.test if record.data else 0.0


LENGTH_CONFIDENCE = 0.999
"""Confidence that the length is above chance, for tables with many tasks and draws."""


def _name_condition(condition: Condition) -> str:
    return CONTROLS[condition].name if condition in CONTROLS else ""
