"""The shortest way to the suite from Python: build a task, wrap an encoder, compare results."""

from collections.abc import Callable
from typing import Any

from sentprobe.lexicon import Lexicon, english
from sentprobe.probes.choices import choose
from sentprobe.probes.comparisons import Comparison, all_pairs, compare, sides
from sentprobe.probes.compeval import Sampling, Size, build, find_task
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.encoders.python_callable import PythonEncoder, wrap
from sentprobe.probes.results import Results
from sentprobe.probes.significance import Correction


def build_task(
    task: str,
    *,
    train: int = 4000,
    test: int = 1000,
    validation: int = 0,
    vocabulary: str = "compeval",
    lexicon: Lexicon | None = None,
    sampling: str = "mirror",
    seed: int = 0,
) -> ProbeDataset:
    """Build one of the five tasks of Ettinger et al. (2018), as ``probe build compeval`` does.

    Raises:
        UsageError: an unknown task, vocabulary or sampling; a size that does not balance.
        SentprobeError: the vocabulary does not yield so many sentences.

    >>> data = build_task("Order", train=400, test=56)
    >>> len(data.sentences), data.mirrored
    (456, True)
    """
    return build(
        find_task(task),
        lexicon or english(),
        vocabulary=vocabulary,
        size=Size(train, test, validation),
        seed=seed,
        sampling=choose(Sampling, sampling, what="sampling"),
    )


def wrap_encoder(
    found: Callable[..., Any] | object, *, name: str, fingerprint: str = ""
) -> PythonEncoder:
    """Return a function of a list of sentences, or an object with ``encode``, as an encoder.

    Objects of SentEval's and MTEB's conventions are recognised too. With a *fingerprint*, which
    must change whenever the vectors do, they are kept in a cache; without one, never, and a run
    that goes on knows the encoder again by name and the file that it was written in; where there is
    no file (an interactive session), not at all. Neither knows what an object holds: give objects a
    fingerprint.

    Raises:
        EncoderError: it cannot be called in any of these ways.

    >>> wrap_encoder(lambda texts: [[float(len(t))] for t in texts], name="length").encode(["a b"])
    array([[3.]], dtype=float32)
    """
    return wrap(found, name=name, fingerprint=fingerprint)


def compare_encoders(
    results: Results, *, against: str | None = None, correction: str = "holm"
) -> tuple[Comparison, ...]:
    """Compare each two encoders of a run on each task, as ``probe compare`` does.

    With *against*, each is compared with the encoder of that name only. The p-values are corrected
    for all comparisons made (``holm``, ``bh`` or ``none``).

    Raises:
        UsageError: there are fewer than two encoders, or none of that name; an encoder has two
            results on one task.
    """
    found = sides(results, "results")
    pairs = all_pairs(found, baseline=against, source="results")
    return compare(pairs, correction=choose(Correction, correction, what="correction"))
