"""Model folders of strangers: no code in them is run, and the user is asked nothing."""

import ast
import builtins
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sentprobe
from sentprobe.errors import SentprobeError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models.model_loading import check_configurations
from sentprobe.probes.gate.cross_encoders import load_cross_encoder
from sentprobe.probes.language_models.scorers import load_language_model
from sentprobe.specs import parse_spec

LOADERS: dict[str, Callable[[Path], object]] = {
    "hf": lambda folder: make_encoder(f"hf:{folder}"),
    "st": lambda folder: make_encoder(f"st:{folder}"),
    "ce": lambda folder: load_cross_encoder(parse_spec(f"ce:{folder}")),
    "lm": lambda folder: load_language_model(parse_spec(f"hf:{folder}"), device="cpu"),
}
BERT: dict[str, Any] = {
    **{"model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 5},
    **{"intermediate_size": 4, "architectures": ["BertForSequenceClassification", "BertForMaskedLM"]},
}
EVIL_AUTO_MAP = {"auto_map": {name: "evil_code.Evil" for name in ("AutoConfig", "AutoModel", "AutoModelForMaskedLM")}}
RUN_PROGRAM = "torch.utils.collect_env.main"
HOSTILE: dict[str, dict[str, Any]] = {
    "own configuration": {"config.json": BERT | {"model_type": "evil"} | EVIL_AUTO_MAP},
    "own tokenizer": {
        "config.json": BERT,
        "tokenizer_config.json": {"auto_map": {"AutoTokenizer": ["evil_code.Evil", "evil_code.Evil"]}},
    },
    "own processor": {
        "config.json": BERT,
        "processor_config.json": {"auto_map": {"AutoProcessor": "evil_code.Evil"}, "processor_class": "Evil"},
    },
    "activation": {"config.json": BERT | {"sentence_transformers": {"activation_fn": RUN_PROGRAM}}},
    "old activation": {"config.json": BERT | {"sbert_ce_default_activation_function": "evil_code.Evil"}},
    "module": {"config.json": BERT, "modules.json": [{"idx": 0, "name": "0", "path": "", "type": "evil_code.Evil"}]},
    "function of the library": {
        "config.json": BERT,
        "modules.json": [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.util.http_get"}],
    },
    "activation of a layer": {
        "config.json": BERT,
        "modules.json": [{"idx": 0, "name": "0", "path": "d", "type": "sentence_transformers.models.Dense"}],
        "d/config.json": {"in_features": 4, "out_features": 4, "bias": True, "activation_function": RUN_PROGRAM},
    },
    "router": {
        "config.json": BERT,
        "router_config.json": {"types": {"a": "evil_code.Evil"}, "structure": {"q": ["a"]}},
    },
    "kernel of the hub": {"config.json": BERT | {"attn_implementation": "evil/kernel"}},
    "nested kernel": {"config.json": BERT | {"text_config": {"_attn_implementation": "evil/kernel:attention"}}},
    "adapter": {"config.json": BERT, "adapter_config.json": {"auto_mapping": {"parent_library": "evil_code"}}},
    "architectures": {"config.json": BERT | {"architectures": 5}},
}
LEFT_TO_LIBRARIES = {"own configuration", "own tokenizer", "own processor", "adapter", "architectures"}
"""Folders that the libraries themselves refuse, or whose names of code they do not read."""
WEIGHTS = b"cos\nsystem\n(S'touch evil_ran'\ntR."


def write_model(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    for name in ("evil_code.py", "custom_generate/generate.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("open('evil_ran', 'w').close()")
    (folder / "pytorch_model.bin").write_bytes(WEIGHTS)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("case", HOSTILE)
def test_no_code_of_a_model_runs(case: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "model"), *sys.path])
    ran: list[str] = []

    def ask(*_: object) -> str:
        ran.append("asked")
        return "y"

    monkeypatch.setattr(builtins, "input", ask)
    monkeypatch.setattr("torch.utils.collect_env.main", lambda: ran.append("called"))
    write_model(tmp_path / "model", HOSTILE[case])
    with pytest.raises(SentprobeError) as caught:
        LOADERS[kind](tmp_path / "model")
    assert "\n" not in str(caught.value)
    assert ran == []
    assert not (tmp_path / "evil_ran").exists()


@pytest.mark.parametrize("case", sorted({*HOSTILE} - LEFT_TO_LIBRARIES))
def test_a_name_of_code_is_refused_before_anything_is_loaded(case: str, tmp_path: Path) -> None:
    write_model(tmp_path, HOSTILE[case])
    with pytest.raises(ValueError, match=r"config.json|modules.json") as caught:
        check_configurations(tmp_path)
    assert str(caught.value).endswith("which is not run")


ORDINARY = {
    "config.json": BERT
    | {
        **{"hidden_act": "gelu", "torch_dtype": "torch.float16", "position_embedding_type": "absolute"},
        **{"_name_or_path": "organisation/model", "attn_implementation": "sdpa", "transformers_version": "5.0.0"},
        "sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid", "version": "5.1.0"},
    },
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_P", "type": "sentence_transformers.base.modules.dense.Dense"},
    ],
    "1_P/config.json": {"activation_function": "torch.nn.modules.linear.Identity"},
}


def test_ordinary_names_are_accepted(tmp_path: Path) -> None:
    write_model(tmp_path, ORDINARY)
    check_configurations(tmp_path)


LOADING_NAMES = {"from_pretrained", "SentenceTransformer", "CrossEncoder", "from_config", "AutoConfig"}


def test_one_function_loads_models() -> None:
    places = set()
    for path in Path(sentprobe.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if getattr(node, "attr", getattr(node, "id", "")) in LOADING_NAMES:
                        places.add((path.name, function.name))
    assert places == {("model_loading.py", "load_from_folder")}
