"""The language model ``trained:``, a recurrent network trained by ``probe train --objective next-word``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.nn import functional

from sentprobe.probes.encoders.models import model_loading as loading
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.probes.encoders.trained import model_config, model_folder
from sentprobe.probes.encoders.trained.sentence_model import UNKNOWN, SentenceModel
from sentprobe.probes.encoders.trained.untrained import group_by_length
from sentprobe.probes.language_models.arpa import list_words, split_words
from sentprobe.probes.language_models.scorers import Regions, ScoringMethod, TokenScores
from sentprobe.probes.pretraining.objectives.next_word import NEXT_WORD, compute_states
from sentprobe.progress import Reporter
from sentprobe.specs import Spec, read_options


@dataclass(frozen=True, slots=True)
class RecurrentOptions:
    """The options of the language model ``trained:``."""

    batch: int = 64
    device: str = ""


@dataclass(slots=True)
class RecurrentModel:
    """A recurrent language model; sentences of equal length form a batch."""

    name: str
    model: SentenceModel = field(repr=False)
    batch: int
    method: ScoringMethod = ScoringMethod.RECURRENT

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        vocabulary = self.model.vocabulary
        sentences = (list_words(text, split_words(text), lower=vocabulary.lower) for text in texts)
        return [[word for word in words if word not in vocabulary.rows] for words in sentences]

    def score(self, texts: Sequence[str], reporter: Reporter, _: Regions | None = None) -> list[TokenScores]:
        """Score the words of each text, and the end-of-sentence token after them."""
        spans = [split_words(text) for text in texts]
        vocabulary = self.model.vocabulary
        sentences = (list_words(*pair, lower=vocabulary.lower) for pair in zip(texts, spans, strict=True))
        ids = [[vocabulary.rows.get(word, UNKNOWN) for word in words] for words in sentences]
        values: list[list[float]] = [[] for _ in texts]
        for group in group_by_length([*map(len, ids)], size=self.batch):
            for row, part in zip(group, self._predict([ids[row] for row in group]), strict=True):
                values[row] = part
            reporter.advance(len(group))
        return [TokenScores(values[row], [*spans[row], (len(text), len(text))]) for row, text in enumerate(texts)]

    @torch.inference_mode()
    def _predict(self, ids: Sequence[Sequence[int]]) -> list[list[float]]:
        weight = self.model.words.weight
        stacked = torch.tensor(ids, dtype=torch.int64, device=weight.device)  # (b, time)
        states, rows = compute_states(self.model, stacked, torch.full((len(ids),), stacked.shape[1]))
        losses = functional.cross_entropy(functional.linear(states, weight), rows, reduction="none")
        log_probabilities: list[list[float]] = (-losses).double().reshape(len(ids), -1).tolist()
        return log_probabilities


def load_recurrent_model(spec: Spec, device: str) -> RecurrentModel:
    """Load the model of a spec ``trained:FOLDER``. Raises UsageError or EncoderError."""
    options, folder = read_options(spec, RecurrentOptions(device=device)), Path(spec.argument).expanduser()
    if (objective := model_config.read_config(folder).record.get("objective")) != NEXT_WORD:
        raise EncoderError(f"{folder}: not a language model; its objective is {objective}, not {NEXT_WORD}")
    model = model_folder.load_sentence_model(folder)
    target = options.device or loading.find_default_device()
    model = loading.move_to_device(model, device=target, precision=loading.ModelPrecision.FLOAT32)
    return RecurrentModel(spec.name, model, options.batch)
