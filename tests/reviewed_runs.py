"""A run without a fault, for the checks of ``probe check``, and the ways to change it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from probe_strategies import sample_result, seed_score

from sentprobe.probes.review.checks import review
from sentprobe.probes.review.claim_finding import ClaimFinding
from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.runs.results import (
    USUAL,
    Condition,
    Norm,
    Result,
    Results,
    SeedScore,
    make_score,
)

FACTS = DataFacts(train=4000, test=1000, word_types=54, sampling="mirror", origin="its words")

Counts = Mapping[Condition, int]
CONTROLS: Counts = {condition: 500 for condition in USUAL}
"""At chance, of 1,000 test items."""


def a_draw(
    encoder: str, right: int, *, seed: int = 0, task: str = "Order", others: Counts = CONTROLS
) -> Result:
    """An encoder on mirror pairs in one draw, with two probes and every control."""
    made = sample_result(encoder, task, right, mirrored=True)
    counts = {**CONTROLS, **others, Condition.PROBE: right}
    scores = {
        condition: make_score(
            (
                seed_score([item < count for item in range(1000)], seed=seed + place)
                for place in (0, 1)
            ),
            made.units,
        )
        for condition, count in counts.items()
    }
    return replace(
        made,
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


def in_draws(encoder: str, *right: int, task: str = "Order", others: Counts = CONTROLS) -> Results:
    """An encoder in three draws."""
    pairs = zip(SEEDS, right, strict=True)
    return Results(
        tuple(a_draw(encoder, count, seed=seed, task=task, others=others) for seed, count in pairs)
    )


GOOD = in_draws("good", 950, 956, 948)
SOUND = Results((*GOOD.records, *in_draws("poor", 700, 704, 694).records))
"""Two encoders in three draws of two probes, told apart from each other and from chance."""


def changed(change: Callable[[Result], Result], *, of: str, results: Results = SOUND) -> Results:
    """A run with every result of one encoder changed."""
    return Results(tuple(change(each) if each.encoder == of else each for each in results.records))


def with_seeds(
    result: Result, change: Callable[[SeedScore], SeedScore], condition: Condition
) -> Result:
    """A result with the scores of each probe changed under one condition."""
    score = result.scores[condition]
    made = make_score(map(change, score.seeds), result.units)
    return replace(result, scores={**result.scores, condition: made})


def found_by(name: str, results: Results) -> list[ClaimFinding]:
    """The findings of one check."""
    return [each for each in review(results).findings if each.check == name]


def rounded_probes(result: Result) -> Result:
    """A result whose probes were trained in bfloat16."""
    return with_seeds(result, lambda each: replace(each, precision="bfloat16"), Condition.PROBE)
