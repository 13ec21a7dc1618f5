"""The vectors that jobs are trained on: of sentences, of probe words, and of the control."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError
from sentprobe.lengths import count_tokens
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.encoders.protocol import Encoder, Vectors
from sentprobe.probes.encoders.storage import StoredEncoder, rounded
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs.controls import fit_under
from sentprobe.probes.runs.results import Condition, Norm, Result, norms_by_length
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.task import Task
from sentprobe.probes.runs.todo import SHARED, Job, shared_key
from sentprobe.scratch import scratch_folder

if TYPE_CHECKING:
    from sentprobe.probes.trainer.fit import Fit

Fits: TypeAlias = "tuple[Fit, ...]"
Work = dict[Hashable, Callable[[], Fits]]
"""What is to be trained, by key: jobs of one key give the same fits."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of distinct sentences or words, (texts, dim) float32, by one encoder."""

    places: Mapping[str, int]
    vectors: Vectors

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return int(self.vectors.shape[1])

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some of them, in their order, (texts, dim) float32."""
        return self.vectors[[self.places[text] for text in texts]]

    def norms(self) -> NDArray[np.float64]:
        """Return the Euclidean norm of each vector, (texts,) float64, without a copy."""
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64)
        return np.asarray(np.sqrt(squares), np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """All vectors that the jobs of one encoder are trained on."""

    encoder: Encoder
    sentences: Embedding
    norms: NDArray[np.float64]
    """Of the vectors of *sentences*."""
    words: Embedding | None
    """The probe words' vectors; None: no task has any that are not one-hot."""
    bow: Bow
    """The encoder of the bag-of-words control, of the same width."""

    def key(self, job: Job, known: Result) -> Hashable:
        """Return the key of a job: those of one key give the same fits, whatever the encoder."""
        condition = job.condition
        whose = "" if condition in SHARED else self.encoder.name
        if condition is Condition.PROBE and self.encoder.fingerprint == self.bow.fingerprint:
            condition, whose = Condition.BAG_OF_WORDS, ""  # the encoder is the control's
        return (whose, *shared_key(condition, known, dim=self.sentences.dim), job.seeds)

    def of_sentences(self, job: Job) -> Vectors:
        """Return the vectors of the sentences of a job's dataset, (sentences, dim) float32."""
        texts = job.task.data.sentences
        if job.condition is Condition.BAG_OF_WORDS:
            return self.bow.encode(texts)
        vectors = self.sentences.of(texts)
        if not isinstance(self.encoder, StoredEncoder):
            return vectors
        seen = vectors[np.unique(job.task.material.train.rows)]
        return rounded(vectors, self.encoder.way.rounding, scale=seen)

    def of_words(self, job: Job) -> Vectors | None:
        """Return the vectors of its probe words, (words, word_dim) float32; None: one-hot."""
        if self.words is None or not has_word_vectors(job.task, self.encoder):
            return None
        return self.words.of(job.task.data.probe_words)

    def norms_of(self, data: ProbeDataset) -> tuple[Norm, ...]:
        """Return the mean norm of the sentences' vectors by length."""
        rows = [self.sentences.places[sentence] for sentence in data.sentences]
        return norms_by_length(count_tokens(data.sentences), self.norms[rows])


def has_word_vectors(task: Task, encoder: Encoder) -> bool:
    """Say whether the task's probe words have vectors, and are not one-hot."""
    return bool(task.data.slots) and task.words.encoder(encoder) is not None


@contextmanager
def laid_out(
    jobs: Mapping[Hashable, Job], vectors: Encoded, *, run: Run, other_processes: bool
) -> Iterator[Work]:
    """Give the work of the jobs, which stand by their keys.

    For other processes the vectors are put into files, which they map into their memory; otherwise
    they are fetched when their turn comes.
    """
    if not other_processes:
        yield {key: partial(_train_here, job, vectors, run) for key, job in jobs.items()}
        return
    with scratch_folder() as folder:
        files = _Files(vectors, folder)
        yield {
            key: partial(
                trainer_of(job, run), files.of_sentences(job), word_vectors=files.of_words(job)
            )
            for key, job in jobs.items()
        }


def _train_here(job: Job, vectors: Encoded, run: Run) -> Fits:
    return trainer_of(job, run)(vectors.of_sentences(job), word_vectors=vectors.of_words(job))


def trainer_of(job: Job, run: Run) -> Callable[..., Fits]:
    """Return what trains the probes of a job, given vectors or files of them."""
    return partial(
        fit_under,
        job.condition,
        job.task.material_for(job.condition),
        preset=job.task.preset,
        seed=run.seed,
        seeds=job.seeds,
        device=run.device,
        threads=run.threads,
    )


class _Files:
    """Files of vectors in a folder, each written once."""

    def __init__(self, vectors: Encoded, folder: Path) -> None:
        self._vectors = vectors
        self._folder = folder
        self._paths: dict[Hashable, Path] = {}

    def of_sentences(self, job: Job) -> Path:
        """Return the file of the vectors of a job's sentences."""
        key = (job.task.fingerprint, job.condition is Condition.BAG_OF_WORDS)
        if key not in self._paths:
            self._paths[key] = self._put(self._vectors.of_sentences(job))
        return self._paths[key]

    def of_words(self, job: Job) -> Path | None:
        """Return the file of the vectors of its probe words; None: they are one-hot."""
        key = (job.task.fingerprint, "words")
        if key not in self._paths:
            words = self._vectors.of_words(job)
            if words is None:
                return None
            self._paths[key] = self._put(words)
        return self._paths[key]

    def _put(self, vectors: Vectors) -> Path:
        path = self._folder / f"{len(self._paths)}.npy"
        try:
            np.save(path, vectors, allow_pickle=False)
        except OSError as error:
            raise SentprobeError(
                f"{self._folder}: no room for the vectors that the processes share "
                f"({error.strerror}); TMPDIR says where that is, and --jobs 1 needs none"
            ) from error
        return path
