"""A job of a run: an encoder on a task under one condition, for the seeds that are missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.probes.dataset import Indices
from sentprobe.probes.encoders.erasure import ErasedEncoder
from sentprobe.probes.encoders.kinds import SpecArgument, find_kind
from sentprobe.probes.encoders.protocol import Baseline, Encoder, seed_of
from sentprobe.probes.encoders.storage import StoredEncoder
from sentprobe.probes.runs.controls import conditions_of
from sentprobe.probes.runs.keeping import add, keep
from sentprobe.probes.runs.results import Condition, Made, Result, SeedScore, pack
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.store import find_result, results_by_recipe, sound_results
from sentprobe.probes.runs.task import Task
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.specs import Spec
from sentprobe.versions import versions

if TYPE_CHECKING:
    from sentprobe.probes.trainer.fit import Fit

PACKAGES = ("sentprobe", "torch", "numpy", "scikit-learn")
"""The packages whose versions a result states."""

ENCODER_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "sentence_transformer": ("sentence-transformers", "transformers"),
    "hf": ("transformers",),
}
"""Those that it states besides, by the module that the encoder's class is from."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """An encoder on a task under one condition: a probe for each missing seed, side by side."""

    encoder: Encoder | Baseline
    task: Task
    condition: Condition
    seeds: tuple[int, ...]


def known_result(task: Task, encoder: Encoder | Baseline, *, run: Run) -> Result:
    """Return what an earlier run found out, or a result without scores; so also with *force*.

    What a file of an older version lacks, and follows from dataset and encoder, is written into it.
    """
    found, filled = _look_up(task, encoder, run=run)
    if run.out is not None and found is not None and filled != found:
        keep(filled, run.out)
    return filled


def read_result(task: Task, encoder: Encoder | Baseline, *, run: Run) -> Result:
    """Return the same, and write nothing."""
    return _look_up(task, encoder, run=run)[1]


def _look_up(task: Task, encoder: Encoder | Baseline, *, run: Run) -> tuple[Result | None, Result]:
    """Return what is in the file, if there is one, and what is to be in it."""
    blank = _blank(task, encoder, run=run)
    found = None if run.out is None or run.force else find_result(blank, run.out)
    return found, blank if found is None else _filled(found, blank)


def _filled(found: Result, blank: Result) -> Result:
    data = found.data or blank.data
    if data is not None and blank.data is not None:
        origin = blank.data.origin or data.origin
        data = replace(data, origin=origin, held_out=blank.data.held_out)
    return replace(
        found,
        data=data,
        encoder_seed=blank.encoder_seed,
        labels=blank.labels,
        lengths=blank.lengths,
        balanced_probes=blank.balanced_probes,
        probe_vectors=blank.probe_vectors,
        input_words=blank.input_words,
    )


def missing_seeds(
    known: Result, conditions: Iterable[Condition], *, run: Run
) -> dict[Condition, tuple[int, ...]]:
    """Return, for each condition under which *known* lacks seeds of the run, those seeds."""
    missing = {}
    for condition in conditions:
        there = known.scores[condition].seeds if condition in known.scores else ()
        if seeds := tuple(sorted(set(run.seeds) - {each.seed for each in there})):
            missing[condition] = seeds
    return missing


def missing_jobs(task: Task, encoder: Encoder | Baseline, known: Result, *, run: Run) -> list[Job]:
    """Return a job for each condition under which *known* lacks seeds of the run."""
    missing = missing_seeds(known, asked_of(task, encoder, run=run), run=run)
    return [
        Job(encoder=encoder, task=task, condition=condition, seeds=seeds)
        for condition, seeds in missing.items()
    ]


def asked_of(task: Task, encoder: Encoder | Baseline, *, run: Run) -> tuple[Condition, ...]:
    """Return the conditions that are asked for; a baseline has no sanity runs, and no methods."""
    controls = run.controls and isinstance(encoder, Encoder)
    return with_methods(encoder, conditions_of(task.data, controls=controls), run=run)


def with_methods(
    encoder: Encoder | Baseline | Spec, usual: Sequence[Condition], *, run: Run
) -> tuple[Condition, ...]:
    """Return the conditions for an encoder: the usual ones, and those of methods.

    Beside whole vectors, those that are cut, rounded or erased have the probe and the bag of words
    alone. A baseline has no methods.
    """
    if isinstance(encoder, StoredEncoder | ErasedEncoder) and encoder.beside:
        return tuple(each for each in usual if each in (Condition.PROBE, Condition.BAG_OF_WORDS))
    if isinstance(encoder, Spec):
        has_vectors = find_kind(encoder).argument is not SpecArgument.NONE
    else:
        has_vectors = isinstance(encoder, Encoder)
    return (*usual, *(run.methods if has_vectors else ()))


SHARED = (Condition.RANDOM_SENTENCES, Condition.BAG_OF_WORDS, Condition.NO_SENTENCE)
"""The conditions under which an encoder counts by its width alone, or not even by that."""

SharedKey = tuple[Condition, int, str, str, Preset]
"""A condition, width, the fingerprints of dataset and probe words' vectors, and the classifier."""

SharedScores = Mapping[SharedKey, Mapping[int, SeedScore]]
"""The scores under conditions of SHARED, which are the same for one key, by seed."""


def shared_key(condition: Condition, known: Result, *, dim: int) -> SharedKey:
    """Return the key of what *known* has in common with other encoders of the width *dim*."""
    width = 0 if condition is Condition.NO_SENTENCE else dim
    return condition, width, known.dataset_fingerprint, known.probe_fingerprint, known.preset


def kept_scores(run: Run) -> SharedScores:
    """Return what an earlier run found out that holds for every encoder of a width."""
    found: dict[SharedKey, dict[int, SeedScore]] = {}
    if run.out is None or run.force:
        return found
    for result in sound_results(run.out):
        for condition in SHARED:
            if result.seed == run.seed and condition in result.scores:
                scores = found.setdefault(shared_key(condition, result, dim=result.dim), {})
                seeds = result.scores[condition].seeds
                scores.update((s.seed, replace(s, made=s.made or result.made)) for s in seeds)
    return found


def by_recipe(run: Run) -> dict[str, Result]:
    """Return what earlier runs found out, by what it was made from."""
    return {} if run.out is None or run.force else results_by_recipe(run.out)


def take_kept(known: Result, job: Job, kept: SharedScores, *, dim: int) -> tuple[Result, list[Job]]:
    """Return the result with what encoders of this width share of the job, and what is left."""
    there = kept.get(shared_key(job.condition, known, dim=dim), {})
    found = [there[seed] for seed in job.seeds if seed in there]
    left = tuple(seed for seed in job.seeds if seed not in there)
    known = add(known, {job.condition: found})
    return known, [replace(job, seeds=left)] if left else []


def made_by(encoder: Encoder | Baseline, *, run: Run) -> Made:
    """Return how this run makes the probes of an encoder."""
    module = type(_whole(encoder)).__module__.rpartition(".")[2]
    packages = versions(*PACKAGES, *ENCODER_PACKAGES.get(module, ()))
    return Made(run.command, packages, run.device)


def _whole(encoder: Encoder | Baseline) -> Encoder | Baseline:
    """Return the encoder that makes the vectors."""
    return encoder.whole if isinstance(encoder, StoredEncoder | ErasedEncoder) else encoder


def _blank(task: Task, encoder: Encoder | Baseline, *, run: Run) -> Result:
    words, words_fingerprint = "", ""
    if isinstance(encoder, Encoder) and task.data.slots:
        words, words_fingerprint = task.words.name, task.words.fingerprint(encoder)
    made = made_by(encoder, run=run)
    return Result(
        task=task.data.name,
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        encoder_seed=seed_of(encoder),
        dim=0,
        dataset_fingerprint=task.fingerprint,
        data=task.facts,
        majority=task.majority,
        labels=len(task.data.labels),
        mirrored=task.mirrored,
        units=task.units,
        lengths=task.lengths,
        balanced_probes=task.balanced_probes,
        probe_vectors=words,
        probe_fingerprint=words_fingerprint,
        input_words=bool(words) and isinstance(encoder, Encoder) and task.words.are_input(encoder),
        scores={},
        seed=run.seed,
        preset=task.preset,
        command=made.command,
        versions=made.versions,
        device=made.device,
        layer=getattr(encoder, "layer", None),
        family=getattr(encoder, "family", ""),
        step=getattr(encoder, "step", None),
        epoch=getattr(encoder, "epoch", None),
    )


def add_seconds(known: Result, seconds: Mapping[str, float]) -> Result:
    """Return the result with the time that steps took, added to that of earlier runs."""
    total = {key: known.seconds.get(key, 0.0) + value for key, value in seconds.items()}
    return replace(known, seconds={**known.seconds, **total})


def trained_scores(job: Job, fits: "Iterable[Fit]", *, made: Made) -> list[SeedScore]:
    """Return what a result keeps of the probes of a job."""
    return [
        SeedScore(
            seed=seed,
            accuracy=fit.correct / fit.total,
            correct=fit.correct,
            total=fit.total,
            right=pack(fit.right),
            instead=given_instead(job, fit.predictions),
            epochs=fit.epochs,
            loss=fit.loss,
            converged=fit.converged,
            chosen=dict(fit.chosen),
            validation=fit.validation,
            precision=fit.precision,
            made=made,
            readings=fit.readings,
            information=fit.information,
        )
        for seed, fit in zip(job.seeds, fits, strict=True)
    ]


def given_instead(job: Job, given: Indices) -> tuple[int, ...]:
    """Return the labels that were given to items in place of their own, if a result keeps them."""
    if job.condition is not Condition.PROBE or len(job.task.data.labels) == 2:
        return ()
    return tuple(given[given != job.task.material.test.targets].tolist())


def answered_scores(job: Job, encoder: Baseline, *, made: Made) -> list[SeedScore]:
    """Let a baseline answer the test items, once for each seed."""
    targets = job.task.material.test.targets
    scores = []
    for seed in job.seeds:
        given = np.asarray(encoder.predict(job.task.data, seed=seed))
        right = given == targets
        correct = int(right.sum())
        scores.append(
            SeedScore(
                seed=seed,
                accuracy=correct / len(targets),
                correct=correct,
                total=len(targets),
                right=pack(right),
                instead=given_instead(job, given),
                epochs=0,
                loss=0.0,
                converged=True,
                precision="",
                made=made,
            )
        )
    return scores
