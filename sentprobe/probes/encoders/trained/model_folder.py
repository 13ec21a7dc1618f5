"""Read and write the folder of a sentence model: config.json, words.txt and model.safetensors."""

from collections.abc import Mapping
from pathlib import Path

import safetensors
import torch
from safetensors import torch as tensor_files

from sentprobe.disk import reading
from sentprobe.errors import FormatError, first_line, folder_part_error
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.probes.encoders.trained import model_config as configs
from sentprobe.probes.encoders.trained import sentence_model as models
from sentprobe.values import parse_json

WORDS, WEIGHTS = "words.txt", "model.safetensors"
STEP = "step"
"""Key of the training step, in config.json (``record``) and in the header of model.safetensors.

The two files have different steps if the training was killed after replacing only one of them.
"""
MAX_HEADER_BYTES = 2**20
"""Maximum size, in bytes, of the header of model.safetensors."""


def write_sentence_model(model: models.SentenceModel, folder: Path, record: Mapping[str, object]) -> None:
    """Write the files of a sentence model to an existing folder.

    - record: facts about the training, as JSON values, such as ``{"step": 500}``
    """
    vocabulary = model.vocabulary
    config = configs.ModelConfig(
        architecture=model.architecture,
        words=len(vocabulary.words),
        lower=vocabulary.lower,
        reverse=vocabulary.reverse,
        frozen=model.frozen,
        record=record,
    )
    configs.write_config(config, folder)
    text = "".join(f"{word}\n" for word in vocabulary.words)
    (folder / WORDS).write_text(text, "utf-8", newline="\n")
    weights = {name: tensor.float().cpu() for name, tensor in model.state_dict().items()}
    head = {name: str(record[name]) for name in [STEP] if name in record}
    (folder / WEIGHTS).write_bytes(tensor_files.save(weights, metadata=head or None))


def load_sentence_model(folder: Path) -> models.SentenceModel:
    """Load a sentence model from its folder, on the CPU and in evaluation mode. Raises UsageError or EncoderError."""
    config = configs.read_config(folder)
    models.check_size(config.architecture, words=config.words)
    _check_weights_size(folder / WEIGHTS, config)
    vocabulary = configs.read_part(folder / WORDS, lambda text: _parse_vocabulary(text, config))
    with torch.device("meta"):
        model = models.SentenceModel(vocabulary, config.architecture, frozen=config.frozen)
    weights = configs.read_part(folder / WEIGHTS, lambda content: _parse_weights(content, model, config))
    model.load_state_dict(weights, assign=True)
    model.words.weight.requires_grad_(not config.frozen)
    return model.eval()


def _parse_vocabulary(content: bytes, config: configs.ModelConfig) -> models.ModelVocabulary:
    lines = tuple(reading.decode_lines(content.split(b"\n")))
    if len(lines) - 1 != config.words or lines[-1]:
        raise FormatError(f"{len(lines) - 1} lines; {configs.CONFIG_FILE} says {config.words} words")
    return models.ModelVocabulary(lines[:-1], lower=config.lower, reverse=config.reverse)


def _check_weights_size(path: Path, config: configs.ModelConfig) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise folder_part_error(path, "cannot read it", error, damaged=EncoderError) from None
    expected_bytes = 4 * models.count_weights(config.architecture, words=config.words)
    if not expected_bytes < size <= expected_bytes + MAX_HEADER_BYTES:
        raise EncoderError(
            f"{path}: has {size:,} bytes; by {configs.CONFIG_FILE}, it must have {expected_bytes:,} and a header"
        )


def _parse_weights(content: bytes, model: models.SentenceModel, config: configs.ModelConfig) -> dict[str, torch.Tensor]:
    try:
        tensors = tensor_files.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise FormatError(first_line(error)) from None
    for name, empty in model.state_dict().items():
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != empty.shape or tensor.dtype != empty.dtype:
            problem = "missing" if tensor is None else f"{tensor.dtype} of shape {tuple(tensor.shape)}"
            expected = f"{empty.dtype} of shape {tuple(empty.shape)}"
            raise FormatError(f"the weights {name!r} are {problem}; expected: {expected}")
    if unexpected := tensors.keys() - model.state_dict().keys():
        raise FormatError(f"has weights {min(unexpected)!r}, which a model with this {configs.CONFIG_FILE} lacks")
    _check_step(content, config)
    return tensors


def _check_step(content: bytes, config: configs.ModelConfig) -> None:
    end = 8 + int.from_bytes(content[:8], "little")  # safetensors has checked the header's length
    step = parse_json(content[8:end]).get("__metadata__", {}).get(STEP)
    config_step = config.record.get(STEP)
    if step is not None and config_step is not None and step != str(config_step):
        raise FormatError(
            f"the weights are of step {step}, {configs.CONFIG_FILE} is of step {config_step}: "
            "the training was stopped between writing the two; the same command continues it"
        )
