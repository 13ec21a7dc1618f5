"""The folder of a sentence model: config.json, words.txt and model.safetensors.

No file is a pickle. What config.json says decides how large the others may be, so that a damaged
folder is refused before memory is asked for.
"""

from collections.abc import Mapping
from pathlib import Path

import safetensors
import torch
from safetensors import torch as tensor_files

from sentprobe import files
from sentprobe.errors import FormatError, UsageError, first_line, part_error
from sentprobe.probes.encoders import model_config as configs
from sentprobe.probes.encoders import sentence_model as models
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.values import parse_json

WORDS, WEIGHTS = "words.txt", "model.safetensors"

STEP = "step"
"""Of the training, in config.json's record and in the head of the weights.

A training replaces file by file, and may be killed in between.
"""

MOST_HEADER = 2**20
"""Bytes that model.safetensors may have besides its numbers."""


def save_sentence_model(
    model: models.SentenceModel, folder: Path, record: Mapping[str, object]
) -> None:
    """Write the folder of a model whole or not at all; one that is there is replaced.

    - record: JSON; of the keys ``family``, ``step`` and ``epoch`` an encoder is made that stands in
      a curve

    Raises:
        UsageError: the folder holds something else, or cannot be written.
        SentprobeError: a file cannot be written (a full disk).
    """
    with files.atomic_folder(folder, check=lambda: _check_ours(folder)) as fresh:
        write_sentence_model(model, fresh, record)


def _check_ours(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; a folder is wanted")
    others = {path.name for path in folder.glob("*")} - {configs.CONFIG, WORDS, WEIGHTS}
    if others:
        raise UsageError(f"{folder}: holds something else ({min(others)}); choose another folder")


def write_sentence_model(
    model: models.SentenceModel, folder: Path, record: Mapping[str, object]
) -> None:
    """Write the three files into a folder, which is there.

    Raises:
        OSError: one cannot be written.
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
    weights = {name: each.float().cpu() for name, each in model.state_dict().items()}
    head = {name: str(record[name]) for name in [STEP] if name in record}
    (folder / WEIGHTS).write_bytes(tensor_files.save(weights, metadata=head or None))


def load_sentence_model(folder: Path) -> models.SentenceModel:
    """Return the model of a folder, on the processor.

    Raises:
        UsageError: there is no such folder, or it may not be read.
        EncoderError: a file is missing or damaged, or they do not fit together.
    """
    config = configs.read_config(folder)
    models.check_size(config.architecture, words=config.words)
    _check_bytes(folder / WEIGHTS, config)
    vocabulary = configs.read_part(folder / WORDS, lambda text: _vocabulary(text, config))
    with torch.device("meta"):
        model = models.SentenceModel(vocabulary, config.architecture, frozen=config.frozen)
    weights = configs.read_part(folder / WEIGHTS, lambda content: _weights(content, model, config))
    model.load_state_dict(weights, assign=True)
    model.words.weight.requires_grad_(not config.frozen)
    return model.eval()


def _vocabulary(content: bytes, config: configs.ModelConfig) -> models.KnownWords:
    lines = tuple(files.decode_lines(content.split(b"\n")))
    if len(lines) - 1 != config.words or lines[-1]:
        raise FormatError(f"{len(lines) - 1} lines; {configs.CONFIG} says {config.words} words")
    return models.KnownWords(lines[:-1], lower=config.lower, reverse=config.reverse)


def _check_bytes(path: Path, config: configs.ModelConfig) -> None:
    """Refuse weights that are more or fewer than the configuration says, by their file's size."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise part_error(path, "cannot read it", error, damaged=EncoderError) from None
    wanted = 4 * models.count_weights(config.architecture, words=config.words)
    if not wanted < size <= wanted + MOST_HEADER:
        raise EncoderError(
            f"{path}: {size:,} bytes; what {configs.CONFIG} says takes {wanted:,} and a head"
        )


def _weights(
    content: bytes, model: models.SentenceModel, config: configs.ModelConfig
) -> dict[str, torch.Tensor]:
    try:
        found = tensor_files.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise FormatError(first_line(error)) from None
    for name, empty in model.state_dict().items():
        each = found.get(name)
        if each is None or each.shape != empty.shape or each.dtype != empty.dtype:
            what = "missing" if each is None else f"{each.dtype} of shape {tuple(each.shape)}"
            wanted = f"{empty.dtype} of shape {tuple(empty.shape)}"
            raise FormatError(f"the weights {name!r} are {what}; wanted: {wanted}")
    if more := found.keys() - model.state_dict().keys():
        raise FormatError(f"weights {min(more)!r}, which {configs.CONFIG} does not know")
    _check_step(content, config)
    return found


def _check_step(content: bytes, config: configs.ModelConfig) -> None:
    """Refuse weights of another moment than config.json tells of; not all say of which they are."""
    end = 8 + int.from_bytes(content[:8], "little")  # as safetensors found it
    step = parse_json(content[8:end]).get("__metadata__", {}).get(STEP)
    told = config.record.get(STEP)
    if step is not None and told is not None and step != str(told):
        raise FormatError(
            f"the weights are of step {step}, {configs.CONFIG} is of step {told}: the training was "
            "stopped between the two; the same command goes on with it"
        )
