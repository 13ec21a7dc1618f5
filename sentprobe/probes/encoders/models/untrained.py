"""Untrained encoders, such as ``bilstm-max``: networks with random weights (Conneau et al. 2018, section 3)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sentprobe.common.specs import Natural, Spec, read_options
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.probes.encoders import network as networks
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.encoder import Capabilities, Vectors, digest
from sentprobe.probes.encoders.sentence_trees import SentenceTrees, load_trees
from sentprobe.probes.encoders.word_vectors import WordVectors, read_or_sample_word_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedOptions:
    """The options of untrained encoders. Default sizes are from Conneau et al. 2018, section 3."""

    dim: int = 300
    """Width of random word vectors; ignored if the word vectors are from a file."""
    hidden: int = 512
    """Number of hidden units of a recurrent layer (per direction) or of a convolution."""
    layers: int = 0
    """Number of stacked layers; 0: the default of the network, 8 for ``gated-conv`` and 1 for others."""
    batch: int = 256
    seed: Natural
    """Seed of the weights and of random word vectors; by default, the seed of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions(UntrainedOptions):
    """The options of the untrained encoder ``tree-lstm``."""

    trees: str = ""
    """Path of a CoNLL-U file with a tree of each sentence; empty: the exact trees of generated sentences."""
    lexicon: str = ""
    """The lexicon file of generated sentences; empty: the built-in lexicon."""
    language: str = ENGLISH.code
    """The language of generated sentences."""


class UntrainedEncoder:
    """A network with random weights that reads word vectors. A batch has sentences of equal length.

    - trees: the trees of sentences, for a network that reads them
    """

    def __init__(
        self, name: str, words: WordVectors, options: UntrainedOptions, *, kind: str, trees: SentenceTrees | None = None
    ) -> None:
        architecture = Architecture(kind=kind, hidden=options.hidden, layers=options.layers, inputs=words.dim)
        networks.check_weights(architecture, subject=f"encoder {name}")
        self.name = name
        common = (kind, words.fingerprint, architecture.hidden)
        if kind == "gated-conv":
            self.fingerprint = digest(*common, architecture.layers, networks.KERNEL_WIDTH, options.seed)
        else:
            # The number of layers is left out for one layer, so that earlier fingerprints stay valid.
            stacked = [] if architecture.layers == 1 else [f"{architecture.layers} layers"]
            self.fingerprint = digest(*common, options.seed, *stacked, *([trees.fingerprint] if trees else []))
        self._words, self._trees, self._batch, self._seed = words, trees, options.batch, options.seed
        generator = torch.Generator().manual_seed(options.seed)
        self.network = networks.make_network(architecture, generator=generator).eval()
        if isinstance(self.network, networks.GatedConvolutions):
            self.network.positions = RandomPositions(words, options.seed)
        self.dim = self.network.dim

    @property
    def capabilities(self) -> Capabilities:
        """The seed, the word vectors, notes on words and trees, and the halves of the vector."""
        return Capabilities(
            seed=self._seed,
            notes=(*self._words.notes, *(self._trees.notes if self._trees else ())),
            word_vectors=self._words.average_words,
            halves=self.network.halves,
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32. Raises EncoderError for a sentence without a word or tree."""
        heads = self._trees.find_heads(sentences) if self._trees else None
        vectors = [*self._words.look_up(sentences, leaves_out=heads is None)]
        return encode_by_length(vectors, self.network, batch=self._batch, dim=self.dim, heads=heads)


def encode_by_length(
    inputs: Sequence[Any],
    network: torch.nn.Module,
    *,
    batch: int,
    dim: int,
    device: str = "cpu",
    heads: Sequence[Sequence[int]] | None = None,
) -> Vectors:
    """Run a network on sentences; return vectors, (n, dim) float32.

    - inputs: word vectors or ids of each sentence
    - heads: the head of each word, for a network that reads trees
    """
    vectors = np.empty((len(inputs), dim), dtype=np.float32)
    for rows in group_by_length([*map(len, inputs)], size=batch):
        stacked = torch.from_numpy(np.stack([inputs[row] for row in rows])).to(device)
        lengths = torch.full((len(rows),), stacked.shape[1])
        trees = [] if heads is None else [torch.tensor([heads[row] for row in rows], device=device)]
        with torch.inference_mode():
            vectors[rows] = network(stacked, lengths, *trees).cpu().numpy()
    return vectors


def group_by_length(lengths: Sequence[int], *, size: int) -> Iterator[list[int]]:
    """Yield the indices of sentences of equal length, in batches of at most *size*."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    for indices in by_length.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


class RandomPositions(torch.nn.Module):
    """Gaussian position vectors on the scale of the word vectors. Seed and position determine each vector."""

    def __init__(self, words: WordVectors, seed: int) -> None:
        super().__init__()
        self._words, self._seed = words, seed

    def forward(self, time: int) -> torch.Tensor:
        """Return the vectors of the positions from 0 to *time* - 1, (time, dim)."""
        keys = (int(digest("position", self._seed, position), 16) for position in range(time))
        generators = (np.random.default_rng(key) for key in keys)
        rows = [g.standard_normal(self._words.dim, dtype=np.float32) for g in generators]
        return torch.from_numpy(np.stack(rows) * np.float32(self._words.scale))


def build_untrained(spec: Spec, *, seed: int) -> UntrainedEncoder:
    """Build the encoder of a spec such as ``bilstm-max``; *seed* is the default of its option ``seed``."""
    trees = None
    options = UntrainedOptions(seed=Natural(seed))
    if networks.NETWORKS[spec.kind].reads_trees:
        options = read_options(spec, TreeOptions(seed=Natural(seed)))
        trees = load_trees(trees=options.trees, lexicon=options.lexicon, language=options.language)
    else:
        options = read_options(spec, options)
    words = read_or_sample_word_vectors(spec.argument, seed=options.seed, dim=options.dim)
    return UntrainedEncoder(spec.name, words, options, kind=spec.kind, trees=trees)
