"""A run without a fault, for the checks of ``probe check``, and functions that change it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from helpers.strategies.probe_strategies import make_sample_result, make_seed_score

from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Norm, Result, Results, SeedScore, make_score
from sentprobe.probes.review.checks import review_results
from sentprobe.probes.review.claim_finding import ClaimFinding

FACTS = DataFacts(train=4000, test=1000, word_types=54, sampling="mirror", origin="its words")

Counts = Mapping[Condition, int]
CONTROLS: Counts = {condition: 500 for condition in USUAL_CONDITIONS}
"""At chance, of 1,000 test items."""


def make_draw(
    encoder: str, right: int, *, seed: int = 0, task: str = "Order", control_counts: Counts = CONTROLS
) -> Result:
    """Make the result of an encoder on mirror pairs in one draw: two probes and all controls."""
    sample = make_sample_result(encoder, task, right, mirrored=True)
    counts = {**CONTROLS, **control_counts, Condition.PROBE: right}
    scores = {
        condition: make_score(
            (make_seed_score([item < count for item in range(1000)], seed=seed + place) for place in (0, 1)),
            sample.units,
        )
        for condition, count in counts.items()
    }
    return replace(
        sample,
        seed=seed,
        scores=scores,
        data=replace(FACTS, seed=seed),
        dataset_fingerprint=f"{task} {seed}",
        encoder_fingerprint=f"{encoder} {seed}",
        encoder_seed=seed,
        norms=(Norm(9, 5000, 1.0, 0.1),),
        truncated=0,
        versions={"torch": "2.13.0"},
    )


SEEDS = (0, 10, 20)


def make_draws(encoder: str, *right: int, task: str = "Order", control_counts: Counts = CONTROLS) -> Results:
    """Make the results of an encoder in three draws."""
    pairs = zip(SEEDS, right, strict=True)
    return Results(
        tuple(make_draw(encoder, count, seed=seed, task=task, control_counts=control_counts) for seed, count in pairs)
    )


GOOD = make_draws("good", 950, 956, 948)
SOUND = Results((*GOOD.records, *make_draws("poor", 700, 704, 694).records))
"""Two encoders in three draws of two probes, significantly different from each other and from chance."""


def change_encoder(change: Callable[[Result], Result], *, encoder: str, results: Results = SOUND) -> Results:
    """Return a run with every result of one encoder changed."""
    return Results(tuple(change(result) if result.encoder == encoder else result for result in results.records))


def change_probes(result: Result, change: Callable[[SeedScore], SeedScore], condition: Condition) -> Result:
    """Return a result with the scores of each probe changed under one condition."""
    score = result.scores[condition]
    changed_score = make_score(map(change, score.seeds), result.units)
    return replace(result, scores={**result.scores, condition: changed_score})


def find_by(name: str, results: Results) -> list[ClaimFinding]:
    """Return the findings of one check."""
    return [finding for finding in review_results(results).findings if finding.check == name]


def round_probes(result: Result) -> Result:
    """Return a result whose probes were trained in bfloat16."""
    return change_probes(result, lambda probe: replace(probe, precision="bfloat16"), Condition.PROBE)
