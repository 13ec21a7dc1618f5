"""Configurations that ask for more than their model's files hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.model_files import packaged_model, tiny_model
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models import model_folders, model_loading

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return tiny_model(tmp_path_factory.mktemp("models") / "bert", kind="Bert")


def change_config(model: Path, **values: object) -> dict[str, Any]:
    """Write changed values of a configuration; return the former one."""
    path = model / "config.json"
    content: dict[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps(content | values))
    return content


@pytest.mark.parametrize("kind", ["hf", "st"])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_hidden_layers": 10**6, "vocab_size": 10**9}, "num_hidden_layers=1,000,000, and at most 10,000"),
        ({"num_labels": 10**9}, "num_labels=1,000,000,000, and at most 10,000"),
        ({"vocab_size": 10**9}, "16,0[0-9,]+ parameters or more, which its files cannot hold"),
        ({"hidden_size": 10**9}, "parameters or more, which its files cannot hold"),
        ({"intermediate_size": 10**9}, "parameters or more, which its files cannot hold"),
        ({"max_position_embeddings": 10**9}, "parameters or more, which its files cannot hold"),
    ],
)
def test_too_large_a_model(bert: Path, kind: str, values: dict[str, int], message: str) -> None:
    former_config = change_config(bert, **values)
    try:
        with pytest.raises(EncoderError, match=rf"cannot load the model \S+: config.json asks for .*{message}"):
            make_encoder(f"{kind}:{bert}")
    finally:
        (bert / "config.json").write_text(json.dumps(former_config))


@pytest.mark.parametrize("key", ["num_hidden_layers", "num_layers", "n_layer", "decoder_layers"])
def test_each_layer_needs_a_weight(bert: Path, key: str) -> None:
    former_config = change_config(bert, **{key: 9000})
    try:
        with pytest.raises(
            EncoderError, match=rf"config.json asks for {key}=9,000, and its files have only 40 weights"
        ):
            make_encoder(f"hf:{bert}")
    finally:
        (bert / "config.json").write_text(json.dumps(former_config))


FUNNEL = {
    "model_type": "funnel",
    "architectures": ["FunnelModel"],
    "vocab_size": 9,
    "d_model": 4,
    "n_head": 1,
    "d_head": 4,
    "d_inner": 4,
}
ALBERT = {"model_type": "albert", "vocab_size": 9, "embedding_size": 4, "hidden_size": 4, "num_attention_heads": 1,
          "intermediate_size": 4, "num_hidden_layers": 2}  # fmt: skip


@pytest.mark.parametrize(
    "config",
    [
        FUNNEL | {"block_sizes": [3000] * 3},
        FUNNEL | {"block_sizes": [1, 1, 1], "d_inner": 10**8},
        ALBERT | {"num_hidden_groups": 100, "inner_group_num": 100},
    ],
)
def test_sizes_under_other_keys(bert: Path, config: dict[str, Any]) -> None:
    former_config = (bert / "config.json").read_text()
    (bert / "config.json").write_text(json.dumps(config))
    try:
        with pytest.raises(ValueError, match="its configuration asks for many more weights than its files have"):
            model_loading.load_from_folder("AutoModel", bert)
    finally:
        (bert / "config.json").write_text(former_config)


def test_weights_of_damaged_and_other_files_are_counted(tmp_path: Path) -> None:
    import torch

    torch.save({"a": torch.ones(2), "b": torch.ones(3)}, tmp_path / "pytorch_model.bin")
    assert 2 <= model_folders.count_weights(tmp_path) <= 10
    (tmp_path / "pytorch_model.bin").write_bytes(b"x" * 640)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 640)
    assert model_folders.count_weights(tmp_path) == 20


SIZES = st.integers(1, 10**12)


@given(st.dictionaries(st.sampled_from(["hidden_size", "vocab_size", "intermediate_size"]), SIZES, min_size=3))
def test_bound_of_a_model_of_one_layer(config: dict[str, int]) -> None:
    width = config["hidden_size"]
    bound = model_folders._count_parameters(config | {"num_hidden_layers": 1})
    assert bound == width * (config["vocab_size"] + config["intermediate_size"] + 1)


@pytest.mark.parametrize("kind", ["Bert", "GPT2", "T5"])
def test_bound_is_below_the_number_of_parameters(tmp_path: Path, kind: str) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(tiny_model(tmp_path, kind=kind))
    config = json.loads((tmp_path / "config.json").read_text())
    assert 0 < model_folders._count_parameters(config) <= model.num_parameters()


def test_a_model_of_several_parts_and_computed_positions() -> None:
    parts = {"text_config": {"hidden_size": 8, "vocab_size": 10**9}, "vision_config": {"hidden_size": 8}}
    counts = [model_folders._count_parameters(part) for part in model_folders._find_objects(parts)]
    assert counts == [0, 8 * 10**9, 0]
    rotary = {"hidden_size": 8, "vocab_size": 10, "max_position_embeddings": 10**9, "rope_theta": 1e6}
    assert model_folders._count_parameters(rotary) == 80
    shared = {"hidden_size": 8, "num_hidden_layers": 9, "num_hidden_groups": 1, "embedding_size": 2, "vocab_size": 10}
    assert model_folders._count_parameters(shared) == 20


def test_published_models_are_not_refused() -> None:
    model_folders.check_configurations(packaged_model())
