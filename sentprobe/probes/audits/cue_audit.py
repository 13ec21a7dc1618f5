"""The audit of a dataset: classifiers that see only a surface cue, exact bounds, and a verdict on each cue."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name

import numpy as np

from sentprobe.common import engines
from sentprobe.common.errors import ArgumentTypeError, require_libraries
from sentprobe.common.processes import check_count, count_cores
from sentprobe.common.screen import Reporter, SilentReporter, show_bars
from sentprobe.common.specs import choose_member
from sentprobe.common.tables import ShownTable, TableFormat, format_tables
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import find_built_in
from sentprobe.probes.audits.cue_classifiers import ModelScore, Trial, TrialItems, score_answers, try_classifiers
from sentprobe.probes.audits.cue_features import CUES, Features, Structures, build_cue_items, list_cues
from sentprobe.probes.datasets.dataset import Indices, ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.datasets.known_task import AGREEING, TIED, Cue
from sentprobe.probes.encoders.baselines import Places, find_words, list_place_sets
from sentprobe.probes.results.data_facts import SplitOverlap, find_overlap
from sentprobe.probes.runs.suites import explain_expected_cue, explain_inverted_cue
from sentprobe.probes.statistics import has_balanced_labels


@dataclass(frozen=True, slots=True)
class Bound:
    """The highest accuracy that a classifier can reach on a split if it sees only the value of a cue."""

    best: int
    """The number of items that the best function answers correctly."""
    total: int
    groups: int
    """The number of distinct values of the cue. Items with the same value necessarily get the same answer."""

    @property
    def share(self) -> float:
        """The highest possible accuracy."""
        return self.best / self.total

    @property
    def binds(self) -> bool:
        """Whether the bound is below 100%."""
        return self.best < self.total


BoundKey = Callable[[tuple[str, ...], tuple[int, ...]], Hashable]
"""A function that takes the tokens and probe words of an item and returns the value of a cue."""


def compute_bound(data: ProbeDataset, split: Split, key: BoundKey) -> Bound:
    """Return the highest accuracy that a function can reach on *split* if its only input is the value of *key*."""
    counts = defaultdict[Hashable, Counter[int]](Counter)
    items = data.splits[split]
    tokens = [tuple(sentence.split()) for sentence in data.sentences]
    for row, words, target in zip(items.rows.tolist(), items.probes.tolist(), items.targets.tolist(), strict=True):
        counts[key(tokens[row], tuple(words))][target] += 1
    return Bound(sum(max(count.values()) for count in counts.values()), len(items), len(counts))


KEYS: Mapping[Cue, BoundKey] = {
    Cue.PROBE: lambda _, probes: probes,
    Cue.LENGTH: lambda tokens, probes: (len(tokens), probes),
    Cue.BAG: lambda tokens, probes: (tuple(sorted(tokens)), probes),
    Cue.SENTENCE: lambda tokens, _: tokens,
}


def list_keys(data: ProbeDataset) -> Mapping[Cue, BoundKey]:
    """Return the keys of a dataset's bounds. On mirror pairs, fixed positions are bounded even with all words known."""
    if not data.mirrored:
        return KEYS
    places = list_audited_places(data)
    return {**KEYS, Cue.PLACES: lambda tokens, probes: (tuple(sorted(tokens)), find_words(tokens, places), probes)}


def list_audited_places(data: ProbeDataset) -> Places:
    """Return all places of the control with fixed positions, which the audit's classifiers see at once."""
    return tuple(dict.fromkeys(chain.from_iterable(list_place_sets(data))))


FORMAT = "sentprobe-audit 1"

CONFIDENCE = 0.99
"""The confidence of the verdict: fewer than 1% of audits of clean datasets find a leak."""
_WORK_PER_PROCESS = 60_000
"""The number of items times cues that is worth another process, which takes seconds to start."""


class Verdict(StrEnum):
    """The interpretation of a cue's accuracy."""

    CHANCE = "chance"
    LEAK = "leak"
    """Above chance, although the task is not about this cue."""
    EXPECTED = "expected"
    """Above chance, and the task is about this cue, or natural text correlates cue and label."""
    BELOW = "below chance"
    """Below chance: the relation between cue and label is reversed in the test items (balanced labels only)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an audit for one cue."""

    cue: Cue
    trial: Trial
    verdict: Verdict
    reason: str = ""
    """The reason why the cue is expected to be above or below chance; empty if it is not expected."""

    @property
    def score(self) -> ModelScore:
        """The score of the classifier that was chosen without the test items."""
        return self.trial.score


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The audit of one dataset. The same data and seed give the same audit."""

    task: str
    fingerprint: str
    seed: int
    chance: float
    """The share of the most common label among the test items."""
    overlap: SplitOverlap
    majority: ModelScore
    """The score of always answering the most common training label."""
    items: Mapping[Split, int] = field(hash=False)
    probed: bool = True
    units: int
    """The number of units that the test items form. Items of one unit are not independent."""
    findings: tuple[Finding, ...]
    bounds: Mapping[Cue, Mapping[Split, Bound]] = field(hash=False)
    structures: Mapping[str, int] = field(hash=False)
    """The number of sentences that the grammar parsed (``parsed``), and of those reduced to function words
    (``skeleton``); empty if the template cue was not tried."""
    expect: tuple[Cue, ...] = ()
    agreeing: float | None = None
    """The share of test items in which most other words of the same kind agree with the answer, counted when the
    dataset was built; ties count half (Conneau et al. 2018, section 4). None if not counted."""

    def __str__(self) -> str:
        # Found by name, since its module imports this one.
        build: Callable[[Sequence[Audit]], Iterator[ShownTable]]
        build = resolve_name("sentprobe.probes.audits.audit_report:build_audit_tables")
        return format_tables([*build([self])], TableFormat.TEXT).rstrip("\n")

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings on cues that are above chance, but should be at chance."""
        return tuple(finding for finding in self.findings if finding.verdict is Verdict.LEAK)

    @property
    def is_leaky(self) -> bool:
        """Whether a cue leaks the answer, or the sentences of more than 1% of the test items occur in training."""
        return bool(self.leaks) or self.overlap.is_leaky

    @property
    def not_found(self) -> tuple[Cue, ...]:
        """The cues that the user expected to be above chance, but that are not."""
        expected_found = {finding.cue for finding in self.findings if finding.verdict is Verdict.EXPECTED}
        return tuple(cue for cue in self.expect if cue not in expected_found)

    def find(self, cue: Cue) -> Finding | None:
        """Return the finding on a cue; None if the cue was not tried."""
        return next((finding for finding in self.findings if finding.cue is cue), None)


def audit(
    data: ProbeDataset | Path | str,
    *,
    cues: Collection[Cue] = tuple(Cue),
    expect: Collection[Cue] = (),
    seed: int = 0,
    lexicon: Lexicon | None = None,
    jobs: int = 1,
    progress: bool | None = None,
) -> Audit:
    """Audit the surface cues of a dataset, or of the dataset at a path. ``print(audit(data))`` shows the report.

    - cues: the cues to try, by default all
    - expect: cues that may reveal the answer, besides those that sentprobe expects in this task
    - lexicon: the lexicon with the forms of the probe words, by default English
    - jobs: the number of processes
    - progress: whether to show progress on stderr; by default, in a terminal or notebook

    Raises:
        ArgumentTypeError: *data* is neither a dataset nor a path.
        UsageError: there is no such file, or the number of jobs is not positive.
        DatasetError: the file is not a dataset.
    """
    if not isinstance(data, ProbeDataset | str | PathLike):
        raise ArgumentTypeError(f"a {type(data).__name__} is neither a ProbeDataset nor a path")
    dataset = data if isinstance(data, ProbeDataset) else read_dataset(data)
    with show_bars(show=progress) as reporter:
        (result,) = audit_all(
            [dataset], cues=cues, expect=expect, seed=seed, lexicon=lexicon, jobs=jobs, reporter=reporter
        )
    return result


def count_processes(datasets: Sequence[ProbeDataset]) -> int:
    """Return the number of processes with which an audit of the datasets is fastest, at most the number of cores."""
    work = sum(len(list_cues(data)) * sum(map(len, data.splits.values())) for data in datasets)
    return min(count_cores(), 1 + work // _WORK_PER_PROCESS)


def audit_all(
    datasets: Sequence[ProbeDataset],
    *,
    cues: Collection[Cue] = tuple(Cue),
    expect: Collection[Cue] = (),
    seed: int = 0,
    lexicon: Lexicon | None = None,
    jobs: int,
    reporter: Reporter | None = None,
) -> list[Audit]:
    """Audit several datasets in *jobs* processes. Cues about probe words need a dataset with probe words."""
    check_count("jobs", jobs)
    expected_cues = {choose_member(Cue, name, what="cue") for name in expect}
    require_libraries("sklearn", "lightgbm")
    reporter = reporter or SilentReporter()
    lexicons = {data.card.language: lexicon or find_built_in(data.card.language) for data in datasets}
    cues_by_dataset = [tuple(cue for cue in list_cues(data) if cue in cues) for data in datasets]
    work = {
        (data.fingerprint(), cue): partial(
            _try_cue,
            data,
            cue,
            units=units,
            seed=seed,
            lexicon=lexicons[data.card.language],
            strict=_correct_confidence(tried_cues),
        )
        for data, tried_cues in zip(datasets, cues_by_dataset, strict=True)
        for units in [{split: data.units(split) for split in data.splits}]  # once for all cues of the dataset
        for cue in tried_cues
    }
    reporter.begin("try cues", len(work))
    trials: dict[_WorkKey, _CueTrial] = {}
    with engines.make_engine(engines.EngineChoice(jobs=jobs)) as engine:
        for (key, _), cue_trial in engines.run_tasks_on_engine(
            engines.call_work, iter(work.items()), engine, kept_message="nothing was audited"
        ):
            trials[key] = cue_trial
            reporter.advance()
    return [
        _build_audit(
            data,
            {cue: trials[data.fingerprint(), cue] for cue in tried_cues},
            overlap=find_overlap(data, lexicons[data.card.language]),
            seed=seed,
            expect=tuple(cue for cue in Cue if cue in expected_cues),
        )
        for data, tried_cues in zip(datasets, cues_by_dataset, strict=True)
    ]


_WorkKey = tuple[str, Cue]
_CueTrial = tuple[Trial, Mapping[str, int]]
"""The trial of a cue, and the numbers of structures (``Audit.structures``) that its features come from."""


def _try_cue(
    data: ProbeDataset, cue: Cue, *, units: Mapping[Split, Indices], seed: int, lexicon: Lexicon, strict: float
) -> _CueTrial:
    structures = Structures(lexicon)
    make_features = CUES[cue].make_extractor(structures)
    places = list_audited_places(data) if cue is Cue.PLACES else ()
    items_by_split = {
        split: _select_items(
            data, split, units[split], [make_features(item) for item in build_cue_items(data, items, lexicon, places)]
        )
        for split, items in data.splits.items()
    }
    trial = try_classifiers(
        items_by_split[Split.TRAIN],
        items_by_split[Split.TEST],
        validation=items_by_split.get(Split.VALIDATION),
        seed=seed,
        strict=strict,
    )
    return trial, {"parsed": structures.parsed, "skeleton": structures.skeletons}


def _select_items(data: ProbeDataset, split: Split, units: Indices, features: Sequence[Features] = ()) -> TrialItems:
    return TrialItems(features, data.splits[split].targets, units, mirrored=data.mirrored)


def _correct_confidence(cues: Collection[Cue]) -> float:
    # Bonferroni's correction: that of Holm needs p-values, and the verdict rests on intervals.
    return 1 - (1 - CONFIDENCE) / max(1, len(cues))


def _build_audit(
    data: ProbeDataset, trials: Mapping[Cue, _CueTrial], *, overlap: SplitOverlap, seed: int, expect: tuple[Cue, ...]
) -> Audit:
    reasons = dict.fromkeys(expect, "you expect it")
    test, units = data.splits[Split.TEST], data.units(Split.TEST)
    chance = max(Counter(test.targets.tolist()).values()) / len(test)
    counts = data.card.counts
    agreeing = (counts[AGREEING] + counts[TIED] / 2) / len(test) if {AGREEING, TIED} <= {*counts} else None
    return Audit(
        task=data.name,
        fingerprint=data.fingerprint(),
        seed=seed,
        chance=chance,
        overlap=overlap,
        majority=score_answers(
            np.full(len(test), np.bincount(data.splits[Split.TRAIN].targets).argmax()),  # the first of equally common
            _select_items(data, Split.TEST, units),
            strict=_correct_confidence(trials),
        ),
        items={split: len(items) for split, items in data.splits.items()},
        probed=bool(data.slots),
        units=len(np.unique(units)),
        findings=tuple(
            _judge_cue(data, cue, trial, chance, reason=reasons.get(cue, "")) for cue, (trial, _) in trials.items()
        ),
        bounds={
            cue: {split: compute_bound(data, split, key) for split in data.splits}
            for cue, key in list_keys(data).items()
            if cue in trials
        },
        structures=trials[Cue.TEMPLATE][1] if Cue.TEMPLATE in trials else {},
        expect=expect,
        agreeing=agreeing,
    )


def _judge_cue(data: ProbeDataset, cue: Cue, trial: Trial, chance: float, *, reason: str) -> Finding:
    """Return the verdict on a cue. *reason* is the user's explanation of accuracy above chance; "" if there is none."""
    reason = explain_expected_cue(data.name, cue) or reason
    if trial.score.strict.low > chance:
        return Finding(cue, trial, Verdict.EXPECTED if reason else Verdict.LEAK, reason)
    if trial.score.strict.high < chance and has_balanced_labels(chance, len(data.labels)):
        return Finding(cue, trial, Verdict.BELOW, explain_inverted_cue(data.name, cue))
    return Finding(cue, trial, Verdict.CHANCE, reason)
