"""Measurements of speed: time the training of probes on random vectors, and the encoding of a few sentences."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, islice

import numpy as np

from sentprobe.probes.dataset import Items
from sentprobe.probes.encoders.protocol import Encoder
from sentprobe.probes.runs.forecast.planned_work import PlannedFit
from sentprobe.probes.runs.request.settings import CPU, Run
from sentprobe.probes.trainer.classifier import Optimizer, Scaling
from sentprobe.probes.trainer.presets import BankShape
from sentprobe.processes import limit_threads
from sentprobe.values import group_by

MAX_BATCHES = 3
LBFGS_ITEMS = 500
TIMED_PASSES = 3
SENTENCE_COUNTS = (32, 256)
ENCODING_SECONDS = 0.04
"""Minimum seconds of a timing; an encoder that needs less is timed again on more sentences."""
MIN_COMPUTING_SHARE = 0.05
"""Minimum ratio of CPU time to wall time in a call; below it, the encoder is assumed to wait for a server."""


def measure_training(fits: Sequence[PlannedFit], run: Run) -> float:
    """Return the estimated seconds of all fits, scaled from one timed fit for each classifier and vector width."""
    groups = group_by(fits, lambda fit: (fit.preset, fit.shape.dim, fit.shape.is_linear(fit.preset)))
    return sum(_measure_group(group, run) for group in groups.values())


def _measure_group(fits: Sequence[PlannedFit], run: Run) -> float:
    largest = max(fits, key=lambda fit: fit.operations / fit.probes)
    scaling, seconds_per_pass = _time_short_fit(largest, run)
    operations = largest.operations / largest.probes
    return sum(
        fit.passes * fit.operations / operations * seconds_per_pass + scaling * fit.items / largest.items
        for fit in fits
    )


def _time_short_fit(fit: PlannedFit, run: Run) -> tuple[float, float]:
    """Estimate the seconds that *fit* needs to scale its vectors, and to train one probe for a pass over all items."""
    import torch

    from sentprobe.probes.trainer.fit import prepare_problem

    is_lbfgs = fit.preset.optimizer is Optimizer.LBFGS
    count = min(fit.items, LBFGS_ITEMS if is_lbfgs else MAX_BATCHES * fit.preset.batch)
    generator = np.random.default_rng(0)
    held_out = max(1, round(fit.validation * count / fit.items))
    vectors = generator.standard_normal((count + held_out, fit.shape.dim), dtype=np.float32)
    train = _sample_items(range(count), fit.shape, generator)
    validation = _sample_items(range(count, count + held_out), fit.shape, generator)
    word_vectors = generator.standard_normal((fit.shape.words, fit.shape.word_dim), dtype=np.float32)
    clock = time.thread_time if run.device == CPU and run.threads == 1 else time.perf_counter
    with limit_threads(run.threads), torch.inference_mode():
        times = []
        for passes in (1, 1, 1 + TIMED_PASSES):  # the first fit also loads libraries
            preset = replace(fit.preset, max_epochs=passes, check_every=1, patience=passes, tolerance=0.0, enough=0.0)
            start = clock()
            problem = prepare_problem(
                vectors,
                train=train,
                validation=validation,
                test=validation,
                words=fit.shape.words,
                labels=fit.shape.labels,
                preset=preset,
                device=run.device,
                word_vectors=word_vectors if fit.shape.word_dim else None,
            )
            scaled = clock()
            problem.train_probes((0,), {})
            times.append((scaled - start, clock() - scaled))
    # The difference of a short and a longer fit excludes the work that does not grow with the passes.
    _, (_, first), (scaling, second) = times
    # Finding the axes of whitening is the same work for any number of items.
    constant = fit.shape.dim if fit.preset.scaling in (Scaling.WHITEN, Scaling.CHOSEN) else 0
    scaling *= (fit.items + constant) / (count + constant)
    return scaling, max(second - first, 0.0) / TIMED_PASSES * fit.items / count


def _sample_items(numbers: Iterable[int], shape: BankShape, generator: np.random.Generator) -> Items:
    rows = np.array(numbers, dtype=np.int64)
    probes = generator.integers(max(shape.words, 1), size=(len(rows), shape.slots))
    return Items(rows, probes, rows % shape.labels)


def measure_encoding(encoder: Encoder, sentences: Sequence[str], *, threads: int | None) -> tuple[int, float]:
    """Return the width of the encoder's vectors, and its seconds per sentence."""
    with limit_threads(threads):
        dim = int(np.shape(encoder.encode(sentences[:1]))[1])  # also loads what is loaded on first use
        for count in SENTENCE_COUNTS:
            timed = list(islice(cycle(sentences), count))
            seconds = time_call(partial(encoder.encode, timed))
            if seconds > ENCODING_SECONDS:
                break
    return dim, seconds / count


def time_call(function: Callable[[], object]) -> float:
    """Return the seconds of a call: wall or CPU time, whichever is lower; wall time if the call waits for a server."""
    wall_start, start = time.perf_counter(), time.process_time()
    function()
    seconds, computing = time.perf_counter() - wall_start, time.process_time() - start
    return min(seconds, computing) if computing > seconds * MIN_COMPUTING_SHARE else seconds


def measure_product_rate(threads: int | None) -> float:
    """Return the number of multiplications per second in the quickest of four matrix products."""
    import torch

    rows, width = 256, 1024
    matrix = torch.ones(width, width)
    with limit_threads(threads), torch.inference_mode():
        seconds = min(time_call(partial(torch.mm, matrix[:rows], matrix)) for _ in range(4))
    return rows * width * width / seconds
