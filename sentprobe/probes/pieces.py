"""The pieces of work of a run: the probes of one encoder, task and condition, for all seeds."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError
from sentprobe.probes.conditions import Training, fit_under
from sentprobe.probes.encoders import Encoder, Vectors
from sentprobe.probes.encoders.wordvectors import Bow
from sentprobe.probes.lengths import count_tokens
from sentprobe.probes.results import Condition, Norm, Result
from sentprobe.probes.scratch import scratch_folder
from sentprobe.probes.series import norms_by_length
from sentprobe.probes.tasks import SHARED, Task, Todo, add, add_seconds, seed_score, shared_key
from sentprobe.probes.trainer.fit import Fit

Fits = tuple[Fit, ...]
Work = dict[Hashable, Callable[[], Fits]]
"""What is to be done, by the key of the pieces that it is done for."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of a run's distinct sentences or words, (texts, dim) float32, by one encoder."""

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
        """Return the Euclidean norm of each vector, (sentences,) float64, without a copy."""
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64)
        return np.asarray(np.sqrt(squares), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The probes of all missing seeds under one condition, trained side by side."""

    task: Task
    condition: Condition
    seeds: tuple[int, ...]
    key: Hashable
    """Pieces of one key give the same fits."""
    vectors: Callable[[], Vectors]
    words: Callable[[], Vectors] | None
    """Gives the vectors of the probe words; None: they are one-hot."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All that is to be trained for one task."""

    todo: Todo
    pieces: tuple[Piece, ...]
    norms: tuple[Norm, ...]

    def is_over(self, done: Mapping[Hashable, Fits]) -> bool:
        """Say whether all pieces are done."""
        return all(piece.key in done for piece in self.pieces)

    def result(self, done: Mapping[Hashable, Fits], *, dim: int, seconds: Mapping[str, float]) -> (
        Result
    ):  # fmt: skip
        """Return the result, when all pieces are done."""
        scores, times = {}, dict(seconds)
        for piece in self.pieces:
            fits = done[piece.key]
            times[piece.condition.value] = sum(fit.seconds for fit in fits)
            scores[piece.condition] = [
                seed_score(fit, seed=seed, task=piece.task, made=self.todo.made)
                for seed, fit in zip(piece.seeds, fits, strict=True)
            ]
        return add_seconds(add(replace(self.todo.known, dim=dim, norms=self.norms), scores), times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What vectors there are for the tasks of one encoder."""

    encoder: Encoder
    embedding: Embedding
    norms: NDArray[np.float64]
    """Of the vectors of *embedding*."""
    lexicon: Embedding | None
    """The probe words' vectors; None: they are one-hot."""
    bow: Bow
    """The encoder of the bag-of-words control."""


def make_plan(todo: Todo, source: Source) -> Plan:
    """Lay out what is missing."""
    data, encoder, bow = todo.task.data, source.encoder, source.bow
    own: Callable[[], Vectors] = partial(source.embedding.of, data.sentences)
    words = partial(bow.encode, data.sentences)
    lexicon = source.lexicon if data.slots else None
    probe_words = None if lexicon is None else partial(lexicon.of, data.probe_words)
    pieces = []
    for condition, seeds in todo.missing.items():
        what, whose = condition, "" if condition in SHARED else encoder.name
        if condition is Condition.PROBE and encoder.fingerprint == bow.fingerprint:
            what, whose = Condition.BAG_OF_WORDS, ""  # the encoder is the control's
        key = (whose, *shared_key(what, todo.known, dim=source.embedding.dim), seeds)
        vectors = words if condition is Condition.BAG_OF_WORDS else own
        pieces.append(Piece(todo.task, condition, seeds, key, vectors, probe_words))
    rows = [source.embedding.places[sentence] for sentence in data.sentences]
    norms = norms_by_length(count_tokens(data.sentences), source.norms[rows])
    return Plan(todo, tuple(pieces), norms)


@contextmanager
def laid_out(
    pieces: Sequence[Piece], *, training: Training, other_processes: bool
) -> Iterator[Work]:
    """Give the work of the pieces, each key once.

    For other processes the vectors are put into files, which they map into their memory; otherwise
    they are fetched when their turn comes.
    """
    with _scratch(wanted=other_processes) as folder:
        files: dict[Hashable, Path] = {}
        work: Work = {}
        for piece in {piece.key: piece for piece in pieces}.values():
            train = partial(
                fit_under,
                piece.condition,
                piece.task.material,
                training=training,
                seeds=piece.seeds,
            )
            if folder is None:
                work[piece.key] = partial(_fetch_and, train, piece)
                continue
            place = (piece.task.fingerprint, piece.condition is Condition.BAG_OF_WORDS)
            of_words = (piece.task.fingerprint, "words")
            for name, make in ((place, piece.vectors), (of_words, piece.words)):
                if make is not None and name not in files:
                    files[name] = _put(make(), folder / f"{len(files)}.npy")
            work[piece.key] = partial(train, files[place], word_vectors=files.get(of_words))
        yield work


def _fetch_and(train: Callable[..., Fits], piece: Piece) -> Fits:
    return train(piece.vectors(), word_vectors=piece.words and piece.words())


@contextmanager
def _scratch(*, wanted: bool) -> Iterator[Path | None]:
    if not wanted:
        yield None
        return
    with scratch_folder() as folder:
        yield folder


def _put(vectors: Vectors, path: Path) -> Path:
    try:
        np.save(path, vectors, allow_pickle=False)
    except OSError as error:
        raise SentprobeError(
            f"{path.parent}: no room for the vectors that the processes share ({error.strerror}); "
            "TMPDIR says where that is, and --jobs 1 needs none"
        ) from error
    return path
