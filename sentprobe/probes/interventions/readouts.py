"""Behaviour of a model that an intervention may change: answers of the final probe, or odds of the next word."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from sentprobe.common.errors import UsageError
from sentprobe.common.processes import limit_threads
from sentprobe.common.screen import Reporter
from sentprobe.probes.classifier.fit import TrainedProbe, prepare_problem
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.classifier.training import compute_label_costs
from sentprobe.probes.datasets.dataset import Items, ProbeDataset
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import EncoderError, Vectors
from sentprobe.probes.encoders.models.hf import HfEncoder, HfModel
from sentprobe.probes.encoders.models.model_parts import Pooling, pool_states
from sentprobe.probes.interventions.mirror_units import MirrorUnits
from sentprobe.probes.runs.controls import ProbeItems, make_probe_items
from sentprobe.probes.statistics import Floats


class Readout(Protocol):
    """A behaviour: values that are read from the model, and the margins by which they favour the right answers."""

    @property
    def name(self) -> str:
        """The behaviour, as tables name it."""

    def read(self, output: Any, states: Tensor, tokens: Any, rows: Sequence[int]) -> Tensor:
        """Return the values of a batch; see :data:`~.exchange.BatchReader`."""

    def compute_margins(self, values: Vectors) -> Floats:
        """Return the log odds of the right against the other answer, (n, 2, k), for n pairs of sentences."""


@dataclass(frozen=True, slots=True)
class ProbeReadout:
    """The answers of a probe on the vectors of the last layer, trained as by ``probe run``."""

    units: MirrorUnits
    pooling: Pooling
    probe: TrainedProbe = field(repr=False)
    items: ProbeItems = field(repr=False)
    preset: Preset
    vectors: Vectors = field(repr=False)
    """The vectors of the dataset's sentences, (sentences, dim) float32; those of training set the scale."""
    name: str = "the final probe's answers"

    def read(self, output: Any, states: Tensor, tokens: Any, rows: Sequence[int]) -> Tensor:  # noqa: ARG002
        return pool_states(states, tokens["attention_mask"], pooling=self.pooling)

    def compute_margins(self, values: Vectors) -> Floats:
        numbers = self.units.items.ravel()
        shown = self.items.test.select(numbers)
        rows = len(self.vectors) + np.repeat(np.arange(len(values)), self.units.items.shape[2])
        table = np.concatenate([self.vectors, values])

        def compute_costs(targets: Any) -> Floats:
            tested = Items(rows, shown.probes, targets)
            problem = prepare_problem(
                table,
                train=self.items.train,
                test=tested,
                validation=self.items.validation,
                words=self.items.words,
                labels=self.items.labels,
                preset=self.preset,
            )
            return np.array(compute_label_costs(self.probe.banks, problem.test))

        with limit_threads(1), torch.inference_mode():
            bits = compute_costs(1 - shown.targets) - compute_costs(shown.targets)
        return np.asarray(bits * np.log(2), np.float64).reshape(self.units.items.shape)


def train_probe_readout(
    encoder: HfEncoder,
    data: ProbeDataset,
    units: MirrorUnits,
    *,
    preset: Preset,
    seed: int,
    cache: Cache | None,
    reporter: Reporter,
) -> ProbeReadout:
    """Train a probe on the last layer's vectors of a dataset. Raises UsageError if the vectors are not pooled."""
    if encoder.place.pool not in list(Pooling):
        raise UsageError(f"pool={encoder.place.pool}: the final probe reads pooled states: {', '.join(Pooling)}")
    vectors = embed(encoder, data.sentences, cache=cache, reporter=reporter)
    items = make_probe_items(data, preset=preset, seed=seed)
    reporter.begin("train the final probe", 0)
    with limit_threads(1), torch.inference_mode():
        problem = prepare_problem(
            vectors,
            train=items.train,
            test=items.test,
            validation=items.validation,
            words=items.words,
            labels=items.labels,
            preset=preset,
        )
        (probe,) = problem.train_probes([seed], {})
    return ProbeReadout(units, Pooling(encoder.place.pool), probe, items, preset, vectors)


@dataclass(frozen=True, slots=True)
class NextWordReadout:
    """The odds of the next word after a text: the word whose question has the answer TRUE, against the other word."""

    units: MirrorUnits
    tokens: Tensor
    """The first token of each of the two words, (2n, 2) int64."""
    name: str = "the next word"

    def read(self, output: Any, states: Tensor, tokens: Any, rows: Sequence[int]) -> Tensor:  # noqa: ARG002
        ends = tokens["attention_mask"].sum(dim=1) - 1  # padding is on the right
        batch = torch.arange(len(rows), device=ends.device)
        logits: Tensor = output.logits[batch, ends]
        return logits.gather(1, self.tokens[list(rows)].to(logits.device))

    def compute_margins(self, values: Vectors) -> Floats:
        scores = values.astype(np.float64).reshape(-1, 2, 2)
        signs = np.where(self.units.labels == 1, 1, -1)
        return np.asarray((scores * signs).sum(axis=2, keepdims=True), np.float64)


def find_next_words(model: HfModel, units: MirrorUnits) -> NextWordReadout:
    """Find the tokens of both words after the prompt. Raises EncoderError if a tokenizer joins them with the prompt."""
    rows = []
    for text, words in zip(units.sentences, units.words.tolist(), strict=True):
        prompt = model.frame.add_to(text).text
        prompt_ids = model.frame.tokenize([prompt])["input_ids"][0]
        forms = [text.split()[word] for word in words]
        ids = model.frame.tokenize([f"{prompt} {form}" for form in forms])["input_ids"]
        # A tokenizer that joins the word with the prompt's end would change the prompt's last state, from which odds
        # are read.
        if any(row[: len(prompt_ids)] != prompt_ids or len(row) == len(prompt_ids) for row in ids):
            raise EncoderError(f"the tokenizer of {model.name} does not continue the text {prompt!r} by {forms[0]!r}")
        rows.append([row[len(prompt_ids)] for row in ids])
    tokens = torch.tensor(rows)
    if (tokens[:, 0] == tokens[:, 1]).any():
        row = int((tokens[:, 0] == tokens[:, 1]).nonzero()[0])
        words = [units.sentences[row].split()[word] for word in units.words[row].tolist()]
        raise EncoderError(
            f"{model.name}: {words[0]!r} and {words[1]!r} begin with the same token, so odds are unknown"
        )
    return NextWordReadout(units, tokens)
