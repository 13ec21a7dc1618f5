"""Outputs of attention and MLP modules, and directions that are planted into one place of a model."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders.model_files import TEXTS, tiny_model
from helpers.strategies.probe_strategies import to_items

from sentprobe.common.specs import parse_spec
from sentprobe.lexicon import english
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import EncoderError, Vectors
from sentprobe.probes.encoders.models.hf import HfEncoder, load_hf
from sentprobe.probes.encoders.models.model_parts import GrammarWords, record_outputs
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.reports.pages.page_pictures import draw_position_picture
from sentprobe.probes.reports.pages.panels import HeatPanel
from sentprobe.probes.runs.run import run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True, scope="module")
def _library() -> None:
    pytest.importorskip("transformers")


def encode(path: Path, options: str) -> Vectors:
    (encoder,) = load_hf(parse_spec(f"hf:{path}?pool=mean&{options}"))
    return encoder.encode(TEXTS)


@pytest.mark.parametrize("kind", ["GPT2", "Llama", "OPT", "Bloom", "GPTNeoX", "Falcon", "T5"])
def test_parts_add_up_to_residual_stream(kind: str, tmp_path: Path) -> None:
    """In models that normalize before each module, a block adds the outputs of attention and MLP."""
    path = tiny_model(tmp_path, kind=kind)
    before, after = encode(path, "layer=0"), encode(path, "layer=1")
    attention, mlp = encode(path, "layer=1&part=attention"), encode(path, "layer=1&part=mlp")
    np.testing.assert_allclose(before + attention + mlp, after, atol=1e-5)
    assert np.abs(attention).max() > 1e-6 < np.abs(mlp).max()


def test_parts_of_post_norm_model_add_up(tmp_path: Path) -> None:
    path = tiny_model(tmp_path, kind="Bert")
    text = TEXTS[:1]
    (first,) = load_hf(parse_spec(f"hf:{path}?layer=1&pool=last"))
    block: Any = first.store.model.model.encoder.layer[0]
    states = {
        (layer, part): torch.tensor(encoder.encode(text))
        for layer, part in [(0, "residual"), (1, "attention"), (1, "mlp")]
        for encoder in load_hf(parse_spec(f"hf:{path}?layer={layer}&pool=last&part={part}"))
    }
    with torch.inference_mode():
        attended = block.attention.output.LayerNorm(states[0, "residual"] + states[1, "attention"])
        expected = block.output.LayerNorm(attended + states[1, "mlp"])
    np.testing.assert_allclose(first.encode(text), expected, atol=1e-5)
    everywhere = load_hf(parse_spec(f"hf:{path}?layer=all&part=mlp"))
    assert [encoder.place.layer for encoder in everywhere] == [1, 2]


def test_unknown_attention_modules_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="the attention modules of a AlbertModel are not known; part=residual reads"):
        encode(tiny_model(tmp_path, kind="Albert"), "part=attention")


def test_hooks_are_removed() -> None:
    module = torch.nn.Linear(1, 1)
    with pytest.raises(ValueError, match="x"), record_outputs([module]):
        raise ValueError("x")
    assert not module._forward_hooks


# Planted directions

SIZE, PLANTED_LAYER, STRENGTH = 180, 1, 3.0
POOLS = ("agent", "verb", "last")
WORDS = GrammarWords(english())


@cache
def make_planted_dataset() -> ProbeDataset:
    """Sentences whose named words differ and that the tiny model can read whole, with random labels."""
    texts = [text for text in build_task("SemRole", train=4000, test=40).sentences if len(text) < 60]
    sentences = [text for text, words in zip(texts, WORDS.find_words(texts), strict=True)
                 if len(text.split()) - 1 not in {words["agent"], words["verb"]}][:SIZE]  # fmt: skip
    targets = np.random.default_rng(0).permutation(np.arange(SIZE) % 2).tolist()
    items: list[tuple[int, list[int], int]] = [(row, [], target) for row, target in enumerate(targets)]
    return ProbeDataset(
        name="planted", sentences=tuple(sentences), labels=("a", "b"), probe_words=(), card=Card("planted"),
        splits={Split.TRAIN: to_items(items[:120]), Split.TEST: to_items(items[120:])},
    )  # fmt: skip


def plant(encoder: HfEncoder, data: ProbeDataset, pool: str) -> None:
    """Add a direction to the state of one token after a block, for sentences of label 1; the next block removes it."""
    model = encoder.store.model
    labels = dict.fromkeys(data.sentences, 0)
    for items in data.splits.values():
        labels |= {data.sentences[row]: target for row, target in zip(items.rows, items.targets, strict=True)}
    indices = {}
    for sentence, words in zip(data.sentences, WORDS.find_words(data.sentences), strict=True):
        tokens = sentence.split()
        end = len("".join(tokens if pool == "last" else tokens[: words[pool] + 1]))
        indices["".join(tokens)] = (end - 1, labels[sentence])
    deltas: list[torch.Tensor] = []
    embedding, blocks = model.model.wte, model.model.h

    def note_batch(_: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        ids, deltas[:] = inputs[0], [torch.zeros(*inputs[0].shape, 16)]
        for row, letters in enumerate(model.tokenizer.batch_decode(ids)):
            index, label = indices.get(letters.replace(" ", "").rstrip("?["), (0, 0))
            deltas[0][row, index, 3] = STRENGTH * label

    def change(forward: Callable[..., Any], *, sign: int) -> Callable[..., Any]:
        return lambda hidden, *more, **named: (
            forward(hidden + min(sign, 0) * deltas[0], *more, **named) + max(sign, 0) * deltas[0]
        )

    embedding.register_forward_pre_hook(note_batch)
    blocks[PLANTED_LAYER - 1].forward = change(blocks[PLANTED_LAYER - 1].forward, sign=1)
    blocks[PLANTED_LAYER].forward = change(blocks[PLANTED_LAYER].forward, sign=-1)


@pytest.mark.parametrize("pool", POOLS)
def test_planted_direction_is_in_one_place(pool: str, tmp_path: Path) -> None:
    data = make_planted_dataset()
    spec = parse_spec(f"hf:{tiny_model(tmp_path, kind='GPT2')}?layer=all&pool={','.join(POOLS)}&name=M")
    plain, planted = load_hf(spec), load_hf(spec)
    plant(planted[0], data, pool)
    for before, after in zip(plain, planted, strict=True):
        difference = np.abs(after.encode(data.sentences) - before.encode(data.sentences)).max(axis=0)
        expected = STRENGTH if after.place == (PLANTED_LAYER, pool) else 0.0
        np.testing.assert_allclose(difference, [expected if i == 3 else 0.0 for i in range(16)], atol=1e-5)


def test_probes_find_a_planted_direction(tmp_path: Path) -> None:
    data = make_planted_dataset()
    encoders = load_hf(parse_spec(f"hf:{tiny_model(tmp_path, kind='GPT2')}?layer=all&pool={','.join(POOLS)}&name=M"))
    plant(encoders[0], data, "verb")
    results = run(data, encoders, preset=override(find_preset("logreg"), []), controls=False)
    accuracies = {(record.layer, record.position): record.accuracy for record in results.records}
    assert accuracies.pop((PLANTED_LAYER, "verb")) > 0.95
    assert max(accuracies.values()) < 0.75
    (picture,) = draw_position_picture(results)
    (panel,) = picture.panels
    assert isinstance(panel, HeatPanel)
    assert (panel.title, panel.columns, panel.rows) == ("planted, M", POOLS, ("layer 2", "layer 1", "layer 0"))
    texts = {(row, column): float(cell.text) for row, cells in zip(panel.rows, panel.cells, strict=True)
             for column, cell in zip(panel.columns, cells, strict=True)}  # fmt: skip
    assert max(texts, key=texts.__getitem__) == ("layer 1", "verb")
