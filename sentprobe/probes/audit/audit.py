"""The audit of a dataset: each surface cue tried by classifiers, the exact bounds, and a verdict.

Items that a cue cannot tell apart get the same answer from every function of that cue. So of each
group of such items at most as many are right as have the group's commonest label, and the sum of
these over all groups is reached by one function, which knows the labels.

An accuracy says what a probe found only when nothing simpler finds as much. The audit says how much
that is: of the probe words alone, of the bag of words, of where the probe words stand.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name

import numpy as np

from sentprobe import engines
from sentprobe.errors import GivenError
from sentprobe.extras import need
from sentprobe.lexicon import Lexicon, english
from sentprobe.probes.audit.classify import ModelScore, Trial, TrialItems, score, try_classifiers
from sentprobe.probes.audit.features import CUES, Features, Structures, cues_of, seen
from sentprobe.probes.dataset import Indices, Items, ProbeDataset, Split
from sentprobe.probes.formats import read_dataset
from sentprobe.probes.known_task import AGREEING, TIED, Cue
from sentprobe.probes.statistics import balanced
from sentprobe.probes.suites import expected, turned
from sentprobe.processes import check_jobs, cores
from sentprobe.progress import Reporter, Silent, bars
from sentprobe.specs import choose


@dataclass(frozen=True, slots=True)
class Bound:
    """At most *best* of *total* items can be right; they are in so many *groups*."""

    best: int
    total: int
    groups: int

    @property
    def share(self) -> float:
        """The highest accuracy that there is."""
        return self.best / self.total

    @property
    def binds(self) -> bool:
        """Whether it excludes anything; where each item is a group of its own, nothing."""
        return self.best < self.total


BoundKey = Callable[[tuple[str, ...], tuple[int, ...]], Hashable]
"""From tokens and probe words to what is known of them."""


def bound(data: ProbeDataset, split: Split, key: BoundKey) -> Bound:
    """Return the bound over the items of a split for functions of *key*."""
    counts: dict[Hashable, Counter[int]] = {}
    items = data.splits[split]
    for known, target in zip(_keys(data, items, key), items.targets.tolist(), strict=True):
        counts.setdefault(known, Counter())[target] += 1
    best = sum(max(count.values()) for count in counts.values())
    return Bound(best, len(items), len(counts))


def _keys(data: ProbeDataset, items: Items, key: BoundKey) -> list[Hashable]:
    tokens = [tuple(sentence.split()) for sentence in data.sentences]
    rows, probes = items.rows.tolist(), items.probes.tolist()
    return [key(tokens[row], tuple(words)) for row, words in zip(rows, probes, strict=True)]


KEYS: Mapping[Cue, BoundKey] = {
    Cue.PROBE: lambda _, probes: probes,
    Cue.LENGTH: lambda tokens, probes: (len(tokens), probes),
    Cue.BAG: lambda tokens, probes: (tuple(sorted(tokens)), probes),
}
"""The cues that have a bound, and what a function of each knows."""


FORMAT = "sentprobe-audit 1"
"""The first value of an audit in JSON."""

REPORT = "sentprobe.probes.audit.render:render"
"""What writes an audit for people. It is above this module, so it is found by name."""

BY_USER = "you expect it"
"""Why a cue may answer that the user says is expected."""

CONFIDENCE = 0.99
"""A dataset without any leak should be found to have one in fewer than one audit of a hundred."""

_WORTH_A_PROCESS = 60_000
"""Items times cues for which one more process is worth its start, which takes seconds."""


class Verdict(StrEnum):
    """What a cue's accuracy means."""

    CHANCE = "chance"
    """Not above chance, as far as so many test items can tell."""
    LEAK = "leak"
    """Above chance, though the task is not about this cue."""
    EXPECTED = "expected"
    """Above chance, and the task is about it."""
    BELOW = "below chance"
    """What the cue says in training is turned round in test (said of balanced labels only)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one cue achieves."""

    cue: Cue
    trial: Trial
    verdict: Verdict
    reason: str = ""
    """Why the cue may answer, where it may; of one below chance, why it may be."""

    @property
    def score(self) -> ModelScore:
        """The score of the classifier that was chosen without the test items."""
        return self.trial.score


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All that was found about one dataset; equal data and seed give an equal audit."""

    task: str
    fingerprint: str
    """The dataset's, so that an audit of other data can be told."""
    seed: int
    chance: float
    """The share of the commonest label among the test items."""
    majority: ModelScore
    """Always answering the commonest label of training."""
    items: Mapping[Split, int] = field(hash=False)
    probed: bool = True
    """Whether items have probe words."""
    units: int
    """How many units the test items are in; items of a unit are not independent."""
    findings: tuple[Finding, ...]
    bounds: Mapping[Cue, Mapping[Split, Bound]] = field(hash=False)
    structures: Mapping[str, int] = field(hash=False)
    """How many sentences the grammar parsed, and for how many a skeleton stands in; empty when the
    template was not tried."""
    expect: tuple[Cue, ...] = ()
    """The cues of which the user said that they would be above chance."""
    agreeing: float | None = None
    """The share of test items whose answer most words of the sentence of that kind say, as counted
    when they were built, ties half (Conneau et al. 2018, section 4); None where nobody counted."""

    def __str__(self) -> str:
        show: Callable[[Sequence[Audit]], str] = resolve_name(REPORT)
        return show([self]).rstrip("\n")

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The cues that are above chance and should not be."""
        return tuple(f for f in self.findings if f.verdict is Verdict.LEAK)

    @property
    def not_found(self) -> tuple[Cue, ...]:
        """The cues that should be above chance, as the user said, and are not."""
        found = {f.cue for f in self.findings if f.verdict is Verdict.EXPECTED}
        return tuple(cue for cue in self.expect if cue not in found)

    def find(self, cue: Cue) -> Finding | None:
        """Return what was found of a cue, if the dataset has it."""
        return next((finding for finding in self.findings if finding.cue is cue), None)


def audit(
    data: ProbeDataset | Path | str,
    *,
    cues: Collection[Cue] = tuple(Cue),
    expect: Collection[Cue] = (),
    seed: int = 0,
    lexicon: Lexicon | None = None,
    jobs: int = 1,
    progress: bool = False,
) -> Audit:
    """Try the surface cues on a dataset, or on the one at a path; an audit prints as its report.

    - expect: cues that may answer this task, besides those of which a known task says so
    - lexicon: knows the forms of the probe words; by default the built-in one
    - jobs: the cues are tried in so many processes
    - progress: whether what is done is shown on stderr

    Raises:
        GivenError: *data* is neither a dataset nor a path.
        UsageError: there is no such file; the number of jobs is not positive.
        DatasetError: what is at the path is no dataset.
    """
    if not isinstance(data, ProbeDataset | str | PathLike):
        raise GivenError(f"a {type(data).__name__} is neither a ProbeDataset nor a path of one")
    tried = data if isinstance(data, ProbeDataset) else read_dataset(data)
    with bars(show=progress) as reporter:
        (found,) = audit_all(
            [tried],
            cues=cues,
            expect=expect,
            seed=seed,
            lexicon=lexicon,
            jobs=jobs,
            reporter=reporter,
        )
    return found


def processes_for(datasets: Sequence[ProbeDataset]) -> int:
    """Return in how many processes an audit of these ends first: at most one for each core."""
    work = sum(len(cues_of(data)) * sum(map(len, data.splits.values())) for data in datasets)
    return min(cores(), 1 + work // _WORTH_A_PROCESS)


def audit_all(
    datasets: Sequence[ProbeDataset],
    *,
    cues: Collection[Cue] = tuple(Cue),
    expect: Collection[Cue] = (),
    seed: int = 0,
    lexicon: Lexicon | None = None,
    jobs: int = 1,
    reporter: Reporter | None = None,
) -> list[Audit]:
    """Audit several datasets, the cues of all of them spread over *jobs* processes.

    Of *cues* those are tried that a dataset has: without probe words, not all mean something. Of
    those to *expect* a verdict says whether they were found.

    Raises:
        UsageError: the number of jobs is not positive; there is no cue of a name.
    """
    check_jobs(jobs)
    wanted = {choose(Cue, each, what="cue") for each in expect}
    need("sklearn", "lightgbm")
    reporter = reporter or Silent()
    lexicon = lexicon or english()
    chosen = [tuple(cue for cue in cues_of(data) if cue in cues) for data in datasets]
    work = {
        (data.fingerprint(), cue): partial(
            _try, data, cue, units=units, seed=seed, lexicon=lexicon, strict=_strict(tried_cues)
        )
        for data, tried_cues in zip(datasets, chosen, strict=True)
        for units in [{split: data.units(split) for split in data.splits}]
        for cue in tried_cues
    }
    reporter.begin("audit", len(work))
    tried: dict[_Work, _Tried] = {}
    with engines.make_engine(engines.Machines(jobs=jobs)) as engine:
        for (key, _), found in engines.run(_do, iter(work.items()), engine, kept=_KEPT):
            tried[key] = found
            reporter.advance()
    return [
        _audit(
            data,
            {cue: tried[data.fingerprint(), cue] for cue in tried_cues},
            seed=seed,
            expect=tuple(cue for cue in Cue if cue in wanted),
        )
        for data, tried_cues in zip(datasets, chosen, strict=True)
    ]


_Work = tuple[str, Cue]
"""A dataset's fingerprint, and a cue to try on it."""

_KEPT = "nothing was audited"
"""What an error says of what was done."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """A cue that was tried, and how the structures of sentences were found for it."""

    trial: Trial
    structures: Mapping[str, int]


def _do(item: "tuple[_Work, Callable[[], _Tried]]") -> _Tried:
    _, piece = item
    return piece()


def _try(
    data: ProbeDataset,
    cue: Cue,
    *,
    units: Mapping[Split, Indices],
    seed: int,
    lexicon: Lexicon,
    strict: float,
) -> _Tried:
    structures = Structures(lexicon)
    make = CUES[cue].make(structures)
    parts = {
        split: _part(data, split, units[split], [make(item) for item in seen(data, items, lexicon)])
        for split, items in data.splits.items()
    }
    trial = try_classifiers(
        parts[Split.TRAIN],
        parts[Split.TEST],
        validation=parts.get(Split.VALIDATION),
        seed=seed,
        strict=strict,
    )
    return _Tried(trial, {"parsed": structures.parsed, "skeleton": structures.skeletons})


def _part(
    data: ProbeDataset, split: Split, units: Indices, features: Sequence[Features] = ()
) -> TrialItems:
    return TrialItems(features, data.splits[split].targets, units, mirrored=data.mirrored)


def _strict(cues: Collection[Cue]) -> float:
    """Return the confidence for one cue that is CONFIDENCE for all of them (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(1, len(cues))


def _audit(
    data: ProbeDataset, tried: Mapping[Cue, _Tried], *, seed: int, expect: tuple[Cue, ...]
) -> Audit:
    reasons = dict.fromkeys(expect, BY_USER)
    test = data.splits[Split.TEST]
    chance = _commonest(test) / len(test)
    return Audit(
        task=data.name,
        fingerprint=data.fingerprint(),
        seed=seed,
        chance=chance,
        majority=_majority(data, strict=_strict(tried)),
        items={split: len(items) for split, items in data.splits.items()},
        probed=bool(data.slots),
        units=len(np.unique(data.units(Split.TEST))),
        findings=tuple(
            _finding(data, cue, tried[cue].trial, chance, reason=reasons.get(cue, ""))
            for cue in tried
        ),
        bounds={
            cue: {split: bound(data, split, KEYS[cue]) for split in data.splits}
            for cue in KEYS
            if cue in tried
        },
        structures=tried[Cue.TEMPLATE].structures if Cue.TEMPLATE in tried else {},
        expect=expect,
        agreeing=_agreeing(data),
    )


def _agreeing(data: ProbeDataset) -> float | None:
    agreeing, tied = (data.card.counts.get(name) for name in (AGREEING, TIED))
    if agreeing is None or tied is None:
        return None
    return (agreeing + tied / 2) / len(data.splits[Split.TEST])


def _finding(data: ProbeDataset, cue: Cue, trial: Trial, chance: float, *, reason: str) -> Finding:
    """Return the verdict on a cue; *reason*: why the user expects it above chance, if so."""
    reason = expected(data.name, cue) or reason
    if trial.score.strict.low > chance:
        return Finding(cue, trial, Verdict.EXPECTED if reason else Verdict.LEAK, reason)
    below = trial.score.strict.high < chance and balanced(chance, len(data.labels))
    if below:
        return Finding(cue, trial, Verdict.BELOW, turned(data.name, cue))
    return Finding(cue, trial, Verdict.CHANCE, reason)


def _commonest(items: Items) -> int:
    return max(Counter(items.targets.tolist()).values())


def _majority(data: ProbeDataset, *, strict: float) -> ModelScore:
    """Return the score of the commonest training label; of equally common ones, of the first."""
    label = np.bincount(data.splits[Split.TRAIN].targets).argmax()
    answers = np.full(len(data.splits[Split.TEST]), label)
    return score(answers, _part(data, Split.TEST, data.units(Split.TEST)), strict=strict)
