"""The vectors on which jobs train probes: sentence vectors, probe word vectors, and bag-of-words vectors."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import SentprobeError
from sentprobe.common.scratch import make_scratch_folder
from sentprobe.common.specs import count_tokens
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.encoders.baselines import encode_places, encode_words_and_positions
from sentprobe.probes.encoders.encoder import Encoder, Vectors, select_rows
from sentprobe.probes.encoders.variants import ReducedEncoder, round_vectors
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.results.control import SHARED_CONTROLS
from sentprobe.probes.results.data_facts import find_training_words
from sentprobe.probes.results.result import Condition, Norm, Result, summarize_norms
from sentprobe.probes.runs.controls import encode_bag_of_words, train_under_condition
from sentprobe.probes.runs.missing_jobs import TRANSFERABLE, Job, make_shared_key
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.task import Task

if TYPE_CHECKING:
    from sentprobe.probes.classifier.fit import Fit

Fits: TypeAlias = "tuple[Fit, ...]"
TrainingWork = dict[Hashable, Callable[..., Fits]]
"""By training key, a function of *pass_limits* that trains probes and returns the fits of the key's jobs, in order."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """An encoder's vectors of distinct sentences or words, (texts, dim) float32, and the row number of each text."""

    rows: Mapping[str, int]
    vectors: Vectors

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return int(self.vectors.shape[1])

    def select(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of *texts*, (texts, dim) float32."""
        return select_rows(self.vectors, [self.rows[text] for text in texts])

    def compute_norms(self) -> NDArray[np.float64]:
        """Return the Euclidean norm of each vector, (texts,) float64, without copying all vectors to float64."""
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64)
        return np.asarray(np.sqrt(squares), np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedTexts:
    """All vectors on which the jobs of one encoder train and test probes."""

    encoder: Encoder
    sentences: Embedding
    norms: NDArray[np.float64]
    words: Embedding | None
    bow: Bow
    """The encoder of the bag-of-words control, whose vectors have the width of *sentences*."""
    seed: int
    """The seed of the run, for the random vectors of the controls with positions."""

    def make_key(self, job: Job, result: Result) -> Hashable:
        """Return the key of a job. Jobs with equal keys produce equal fits, even if their encoders differ."""
        condition = job.condition
        encoder_name = "" if condition in SHARED_CONTROLS else self.encoder.name
        # Across languages, the control skips words that training lacks, and the encoder does not.
        is_bow = self.encoder.fingerprint == self.bow.fingerprint and not job.task.data.card.test_language
        if condition is Condition.PROBE and is_bow:
            condition, encoder_name = Condition.BAG_OF_WORDS, ""  # equal to the control's encoder
        return (encoder_name, *make_shared_key(condition, result, dim=self.sentences.dim), job.seeds)

    def make_training_key(self, job: Job, result: Result) -> Hashable:
        """Return a job's training key. Jobs with equal keys share probes, even if their test languages differ."""
        if job.condition in TRANSFERABLE and job.task.training:
            result = replace(result, dataset_fingerprint=job.task.training)
        return self.make_key(job, result)

    def get_sentence_vectors(self, job: Job) -> Vectors:
        """Return the sentence vectors of a job's dataset under its condition, (sentences, dim) float32."""
        if job.condition in OWN_VECTORS:
            return OWN_VECTORS[job.condition](job.task, self.bow, self.seed)
        vectors = self.sentences.select(job.task.data.sentences)
        if not isinstance(self.encoder, ReducedEncoder):
            return vectors
        # The range of INT8 must not depend on test sentences.
        training_vectors = vectors[np.unique(job.task.items.train.rows)]
        return round_vectors(vectors, self.encoder.storage.rounding, scale=training_vectors)

    def get_word_vectors(self, job: Job) -> Vectors | None:
        """Return the probe word vectors of a job, (words, word_dim) float32; None if probe words are one-hot."""
        if self.words is None or not has_word_vectors(job.task, self.encoder):
            return None
        return self.words.select(job.task.data.probe_words)

    def compute_norms(self, data: ProbeDataset) -> tuple[Norm, ...]:
        """Return the mean norm of the sentence vectors of a dataset, by sentence length."""
        rows = [self.sentences.rows[sentence] for sentence in data.sentences]
        return summarize_norms(count_tokens(data.sentences), self.norms[rows])


def has_word_vectors(task: Task, encoder: Encoder) -> bool:
    """Check whether the task has probe words whose vectors come from an encoder instead of being one-hot."""
    return bool(task.data.slots) and task.words.find_encoder(encoder) is not None


def _encode_words_and_positions(task: Task, bow: Bow, seed: int) -> Vectors:
    known_words = find_training_words(task.data) if task.data.card.test_language else None
    return encode_words_and_positions(task.data.sentences, seed=seed, dim=bow.words.dim, known_words=known_words)


OWN_VECTORS: Mapping[Condition, Callable[[Task, Bow, int], Vectors]] = {
    Condition.BAG_OF_WORDS: lambda task, bow, _: encode_bag_of_words(bow, task.data),
    Condition.FIXED_POSITIONS: lambda task, _, seed: encode_places(task.data.sentences, task.places, seed=seed),
    Condition.WORDS_AND_POSITIONS: _encode_words_and_positions,
}
"""For each condition that has sentence vectors of its own, a function that makes them from the task, the encoder of the
bag-of-words control and the run's seed; all other conditions use the vectors of the encoder, or their width."""


@contextmanager
def arrange_vectors(
    jobs: Mapping[Hashable, Sequence[Job]], vectors: EncodedTexts, *, run: Run, other_processes: bool
) -> Iterator[TrainingWork]:
    """Yield one dictionary. It maps each training key to the function that trains the jobs of that key.

    If *other_processes* is True, the functions read the vectors from temporary files.
    """
    if not other_processes:
        yield {key: partial(_train_jobs, key_jobs, vectors, run) for key, key_jobs in jobs.items()}
        return
    with make_scratch_folder() as folder:
        files = _VectorFiles(folder)
        trainers: TrainingWork = {}
        for key, key_jobs in jobs.items():
            sentences = [
                files.write(
                    # All other conditions of a dataset share one file: they change items, or use the vectors' shape.
                    (job.task.fingerprint, job.condition if job.condition in OWN_VECTORS else None),
                    partial(vectors.get_sentence_vectors, job),
                )
                for job in key_jobs
            ]
            job = key_jobs[0]
            words = files.write((job.task.fingerprint, "words"), partial(vectors.get_word_vectors, job))
            trainers[key] = partial(make_trainer(key_jobs, run), sentences, word_vectors=words)
        yield trainers


def _train_jobs(jobs: Sequence[Job], vectors: EncodedTexts, run: Run, *, pass_limits: Mapping[int, int]) -> Fits:
    words = vectors.get_word_vectors(jobs[0])
    sentences = map(vectors.get_sentence_vectors, jobs)
    return make_trainer(jobs, run)(sentences, word_vectors=words, pass_limits=pass_limits)


def make_trainer(jobs: Sequence[Job], run: Run) -> Callable[..., Fits]:
    """Return a function that trains probes on the jobs' sentence vectors, and tests the probes on the jobs' items."""
    job = jobs[0]
    return partial(
        train_under_condition,
        job.condition,
        [tested_job.task.get_items(job.condition) for tested_job in jobs],
        preset=job.task.preset,
        seed=run.seed,
        seeds=job.seeds,
        device=run.device,
        threads=run.threads,
    )


class _VectorFiles:
    """Files of vectors in a folder, each of which is written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[Hashable, Path] = {}

    def write(self, key: Hashable, make_vectors: Callable[[], Vectors | None]) -> Path | None:
        """Return the file of *key*'s vectors, and write it if the key is new; None if *make_vectors* returns None."""
        if key not in self._paths and (vectors := make_vectors()) is not None:
            path = self._folder / f"{len(self._paths)}.npy"
            try:
                np.save(path, vectors, allow_pickle=False)
            except OSError as error:
                raise SentprobeError(
                    f"{self._folder}: no room for the vectors that the processes share "
                    f"({error.strerror}); set TMPDIR to another folder, or use --jobs 1, which needs no room"
                ) from error
            self._paths[key] = path
        return self._paths.get(key)
