"""Jobs of a run: functions that find probes missing from stored results, and that compute trained probes' scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import find_versions
from sentprobe.common.specs import Spec
from sentprobe.probes.classifier.presets import BankShape, list_grid_points
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.encoder import Baseline, Encoder, get_capabilities
from sentprobe.probes.encoders.kinds import EncoderSource, SpecArgument, find_kind
from sentprobe.probes.encoders.variants import ErasedEncoder, ReducedEncoder
from sentprobe.probes.results.control import PROBE_WORD_CONTROLS, SHARED_CONTROLS, WIDTH_FREE_CONDITIONS, WORD_CONTROLS
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Provenance, Result, SeedScore, pack_bits
from sentprobe.probes.results.store import find_result, read_results_by_recipe, read_sound_results, save_result
from sentprobe.probes.runs.controls import LIMITING_CONDITIONS, find_input_word_vectors
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.task import Task

if TYPE_CHECKING:
    from sentprobe.probes.classifier.fit import Fit

PACKAGES = ("sentprobe", "torch", "numpy", "scikit-learn")

ENCODER_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "sentence_transformer": ("sentence-transformers", "transformers"),
    "hf": ("transformers",),
}
"""Packages whose versions a result records in addition to PACKAGES, by the module of the encoder's class."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """The training of an encoder's missing probes on a task under one condition, one probe for each seed."""

    encoder: Encoder | Baseline
    task: Task
    condition: Condition
    seeds: tuple[int, ...]


def load_result(task: Task, encoder: Encoder | Baseline, *, run: Run, update: bool = True) -> Result:
    """Return the stored result, or a result without scores if none is stored or the run has ``force``.

    The held-out structure of a stored result is replaced by that of *task*. The origin of its data and the fixed
    places are also replaced, if *task* has them. With *update*, a changed result is stored again.
    """
    blank_result = _make_blank_result(task, encoder, run=run)
    if run.out is None or run.force or (stored := find_result(blank_result, run.out)) is None:
        return blank_result
    data = stored.data
    if data is not None:
        data = replace(data, origin=task.facts.origin or data.origin, held_out=task.facts.held_out)
        # A run without controls chooses no places, and keeps those of the run that did.
        if task.places:
            data = replace(data, places=task.facts.places, place_bound=task.facts.place_bound)
    result = replace(stored, data=data)
    if update and result != stored:
        save_result(result, run.out, wait=run.wait, command=run.command)
    return result


def find_missing_seeds(
    result: Result, conditions: Iterable[Condition], *, run: Run
) -> dict[Condition, tuple[int, ...]]:
    """Return the seeds of the run for which *result* lacks scores, by condition."""
    missing = {}
    for condition in conditions:
        seed_scores = result.scores[condition].seeds if condition in result.scores else ()
        if seeds := tuple(sorted(set(run.probe_seeds) - {seed_score.seed for seed_score in seed_scores})):
            missing[condition] = seeds
    return missing


def find_conditions(encoder: EncoderSource, *, probe_words: bool, run: Run) -> tuple[Condition, ...]:
    """Return the conditions of an encoder in the run; *probe_words* says whether the task has probe words.

    A baseline has only the condition PROBE. A variant whose base encoder is probed in the same run has at most PROBE
    and the controls that depend on the width of vectors and take the place of chance.
    """
    if isinstance(encoder, Spec):
        is_baseline = find_kind(encoder).argument is SpecArgument.NONE
    else:
        is_baseline = not isinstance(encoder, Encoder)
    if is_baseline or not run.controls:
        usual: Sequence[Condition] = (Condition.PROBE,)
    else:
        usual = [c for c in USUAL_CONDITIONS if probe_words or c not in PROBE_WORD_CONTROLS]
    if isinstance(encoder, ReducedEncoder | ErasedEncoder) and encoder.base_is_probed:
        # The base encoder's run has the others; those that depend on the width need the variant's own.
        kept = {Condition.PROBE, *WORD_CONTROLS} - {*WIDTH_FREE_CONDITIONS}
        return tuple(condition for condition in usual if condition in kept)
    return (*usual, *(() if is_baseline else run.methods))


TRANSFERABLE = (Condition.PROBE, *WORD_CONTROLS)
"""The conditions whose training does not depend on test items, so that one probe is tested in several languages."""
SharedKey = tuple[Condition, int, str, str, Preset]
"""The key of shared scores: condition, vector width, dataset fingerprint, probe word fingerprint, and classifier."""
SharedScores = Mapping[SharedKey, Mapping[int, SeedScore]]


def make_shared_key(condition: Condition, result: Result, *, dim: int) -> SharedKey:
    """Return the key of the scores that all encoders of width *dim* share on the task of *result*."""
    # Probes that see no vector of the encoder have the same scores at every width.
    width = 0 if condition in WIDTH_FREE_CONDITIONS else dim
    return condition, width, result.dataset_fingerprint, result.probe_fingerprint, result.preset


def read_shared_scores(run: Run) -> SharedScores:
    """Return the stored scores that all encoders of the same vector width share, by SharedKey and then by seed."""
    shared_scores: dict[SharedKey, dict[int, SeedScore]] = {}
    if run.out is None or run.force:
        return shared_scores
    for result in read_sound_results(run.out):
        for condition in SHARED_CONTROLS:
            if result.seed == run.seed and condition in result.scores:
                scores = shared_scores.setdefault(make_shared_key(condition, result, dim=result.dim), {})
                for score in result.scores[condition].seeds:
                    scores[score.seed] = replace(score, provenance=score.provenance or result.provenance)
    return shared_scores


def find_results_by_recipe(run: Run) -> dict[str, Result]:
    """Return stored results by recipe (the digest of a result's inputs); {} with ``--force`` or no results folder."""
    return {} if run.out is None or run.force else read_results_by_recipe(run.out)


def count_weight_updates(job: Job, *, dim: int) -> int:
    """Return the number of first-layer weights times the number of training items, summed over a job's probes."""
    items, preset = job.task.items, job.task.preset
    shape = BankShape(dim=dim, slots=items.train.slots, words=items.words, labels=items.labels)
    units = sum(point.hidden or items.labels for point in list_grid_points(preset, shape, seed=0))
    return len(items.train) * shape.inputs * units * preset.average * len(job.seeds)


def find_pass_limits(
    job: Job, result: Result, task_jobs: "Iterable[tuple[Job, Sequence[Fit | SeedScore] | None]]"
) -> Mapping[int, int] | None:
    """Return the maximum number of training passes of each probe of a job, by seed; empty if the job has no maximum.

    For some controls, LIMITING_CONDITIONS names a limiting condition. A control's probe may train for as many passes
    as the limiting condition's probe with the same seed. Return None if *task_jobs* has an untrained limiting job.
    """
    if (limiting := LIMITING_CONDITIONS.get(job.condition)) is None:
        return {}
    passes = {score.seed: score.epochs for score in result.scores[limiting].seeds} if limiting in result.scores else {}
    for task_job, probes in task_jobs:
        if task_job.condition is limiting:
            if probes is None:
                return None
            passes |= {seed: probe.epochs for seed, probe in zip(task_job.seeds, probes, strict=True)}
    return {seed: passes[seed] for seed in job.seeds if seed in passes}


def make_provenance(encoder: Encoder | Baseline, *, run: Run) -> Provenance:
    """Return the command, package versions and device that are recorded with the probes of an encoder."""
    base = encoder.base if isinstance(encoder, ReducedEncoder | ErasedEncoder) else encoder
    module = type(base).__module__.rpartition(".")[2]
    packages = find_versions(*PACKAGES, *ENCODER_PACKAGES.get(module, ()))
    return Provenance(run.command, packages, run.device)


def _make_blank_result(task: Task, encoder: Encoder | Baseline, *, run: Run) -> Result:
    words, words_fingerprint, has_input_words = "", "", False
    if isinstance(encoder, Encoder) and task.data.slots:
        words, words_fingerprint = task.words.name, task.words.make_fingerprint(encoder)
        word_encoder = task.words.find_encoder(encoder)
        has_input_words = word_encoder is not None and find_input_word_vectors(word_encoder) is not None
    provenance = make_provenance(encoder, run=run)
    capabilities = get_capabilities(encoder)
    return Result(
        task=task.data.name,
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        encoder_seed=capabilities.seed,
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
        input_words=has_input_words,
        scores={},
        seed=run.seed,
        preset=task.preset,
        command=provenance.command,
        versions=provenance.versions,
        device=provenance.device,
        layer=capabilities.layer,
        position=capabilities.position,
        family=capabilities.family,
        step=capabilities.step,
        epoch=capabilities.epoch,
    )


def add_seconds(result: Result, seconds: Mapping[str, float]) -> Result:
    """Add the *seconds* of each stage to those in ``result.seconds``, and return the new result."""
    total = {key: result.seconds.get(key, 0.0) + value for key, value in seconds.items()}
    return replace(result, seconds={**result.seconds, **total})


def make_trained_scores(job: Job, fits: "Iterable[Fit]", *, provenance: Provenance) -> list[SeedScore]:
    """Return one score for each seed of a job; *fits* has one fit for each seed, in the order of the seeds."""
    return [
        replace(
            _score_predictions(job, seed, fit.predictions, is_correct=fit.right, provenance=provenance),
            epochs=fit.epochs,
            loss=fit.loss,
            converged=fit.converged,
            pass_limit=fit.pass_limit,
            grid_values=dict(fit.grid_values),
            validation=fit.validation,
            precision=fit.precision,
            readings=fit.readings,
            information=fit.information,
        )
        for seed, fit in zip(job.seeds, fits, strict=True)
    ]


def score_baseline(job: Job, encoder: Baseline, *, provenance: Provenance) -> list[SeedScore]:
    scores = []
    for seed in job.seeds:
        predictions = np.asarray(encoder.predict(job.task.data, seed=seed))
        is_correct = predictions == job.task.items.test.targets
        scores.append(_score_predictions(job, seed, predictions, is_correct=is_correct, provenance=provenance))
    return scores


def _score_predictions(
    job: Job, seed: int, predictions: Indices, *, is_correct: NDArray[np.bool_], provenance: Provenance
) -> SeedScore:
    # With two labels, a wrong answer is the other label, and ``right`` says all.
    has_wrong_answers = job.condition is Condition.PROBE and len(job.task.data.labels) > 2
    correct, total = int(is_correct.sum()), len(is_correct)
    return SeedScore(
        seed=seed,
        accuracy=correct / total,
        correct=correct,
        total=total,
        right=pack_bits(is_correct),
        wrong_answers=tuple(predictions[~is_correct].tolist()) if has_wrong_answers else (),
        epochs=0,
        loss=0.0,
        converged=True,
        precision="",
        provenance=provenance,
    )
