"""Model folders of strangers: no code in them is run, and the user is asked nothing."""

import ast
import builtins
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.model_files import save_cross_encoder
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import SentprobeError
from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models import model_folders
from sentprobe.probes.encoders.models.model_folders import check_configurations
from sentprobe.probes.language_models.scorers import load_language_model
from sentprobe.probes.similarity.pair_scores import load_cross_encoder

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
    "activation of a cross-encoder": {
        "config.json": BERT,
        "config_sentence_transformers.json": {"model_type": "CrossEncoder", "activation_fn": RUN_PROGRAM},
    },
    "tokenizer of a module": {"config.json": BERT, "wordembedding_config.json": {"tokenizer_class": "json.load"}},
    "method": {
        "config.json": BERT,
        "sentence_bert_config.json": {
            "modality_config": {"text": {"method": "push_to_hub", "method_output_name": "logits"}}
        },
    },
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
    with pytest.raises(ValueError, match=r"^\w*(config|modules|config_sentence_transformers)\.json ") as caught:
        check_configurations(tmp_path)
    assert str(caught.value).endswith("which is not run")


EVIL_NAMES = ["evil_code.X ", "evil_code.X\t", "evil_code.X\n", "evil_code.X\u00a0", "evil_code .X", "evil-code.X",
              "evil/kernel ", " evil/kernel", "torch.nn.ReLU\n", "evil :x"]  # fmt: skip


@pytest.mark.parametrize("key", ["activation_function", "type", "attn_implementation"])
@given(
    name=st.sampled_from(EVIL_NAMES)
    | st.builds("{}{}{}".format, st.text(max_size=4), st.sampled_from("./:"), st.text(max_size=4)),
    nest=st.sampled_from([lambda name: name, lambda name: [name], lambda name: {"part": name}]),
)
def test_no_spelling_of_a_name_of_code_is_accepted(key: str, name: str, nest: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match="names code"):
        model_folders._check_code_names({key: nest(name)}, name="config.json")


FILES_ELSEWHERE: list[tuple[object, str]] = [
    (
        {"a": "../other/model.safetensors"},
        "names the file ../other/model.safetensors, which is not in the model's folder",
    ),
    ({"a": "part/../../model.safetensors"}, "names the file part/../../model.safetensors, which is not"),
    ({"a": "/model.safetensors"}, "names the file /model.safetensors, which is not"),
    ({"a": "model.safetensors", "b": 5}, "names the file 5, which is not in the model's folder"),
    ({}, "weight_map is not an object from weights to the files that hold them"),
    (["model.safetensors"], "weight_map is not an object from weights to the files that hold them"),
]


@pytest.mark.parametrize("kind", ["hf", "st"])
@pytest.mark.parametrize(("table", "message"), FILES_ELSEWHERE)
def test_weights_outside_a_model_are_refused(kind: str, table: object, message: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    index = {"metadata": {}, "weight_map": table}
    write_model(tmp_path / "model", {"config.json": BERT, "model.safetensors.index.json": index})
    with pytest.raises(EncoderError) as caught:
        LOADERS[kind](tmp_path / "model")
    assert f"cannot load the model {tmp_path}/model: model.safetensors.index.json" in str(caught.value)
    assert message in str(caught.value)


ARGUMENTS = ["model_args", "model_kwargs", "processor_kwargs", "processor_args", "tokenizer_args", "config_kwargs",
             "config_args"]  # fmt: skip
FORBIDDEN_SETTINGS = [("weights_only", False), ("trust_remote_code", True), ("gguf_file", "x.gguf"),
                      ("state_dict", {}), ("torch_dtype", "load"), ("dtype", {"": "float16"}),
                      ("attn_implementation", "evil/kernel"), ("padding", ["a"]), ("subfolder", "..")]  # fmt: skip


@pytest.mark.parametrize("key", ARGUMENTS)
@pytest.mark.parametrize(("option", "value"), FORBIDDEN_SETTINGS)
@pytest.mark.parametrize("file", ["sentence_bert_config.json", "0_Transformer/sentence_roberta_config.json"])
def test_only_plain_settings_are_arguments(file: str, option: str, value: object, key: str, tmp_path: Path) -> None:
    write_model(tmp_path, {file: {key: {option: value}}})
    with pytest.raises(ValueError, match=rf"^{Path(file).name} (sets {option} to .* in {key}|names code)") as caught:
        check_configurations(tmp_path)
    assert "\n" not in str(caught.value)
    settings = {"dtype": "bfloat16", "torch_dtype": "torch.float16", "attn_implementation": "sdpa", "max_length": 64}
    write_model(tmp_path, {file: {key: settings}})
    check_configurations(tmp_path)
    write_model(tmp_path, {file: {key: "weights_only"}})
    with pytest.raises(ValueError, match=rf"{key} is not an object of settings"):
        check_configurations(tmp_path)


OTHER_MODELS = [
    ("sentence_bert_config.json", {"tokenizer_name_or_path": "evil/repo"}, "tokenizer_name_or_path"),
    ("config.json", BERT | {"backbone": "evil/repo", "use_pretrained_backbone": True}, "backbone"),
    ("config.json", BERT | {"vision_config": {"backbone": "evil"}}, "backbone"),
    ("adapter_config.json", {"base_model_name_or_path": "evil/repo"}, "base_model_name_or_path"),
    (
        "processor_config.json",
        {"audio_tokenizer": {"audio_tokenizer_name_or_path": "evil/repo"}},
        "audio_tokenizer_name_or_path",
    ),
]


@pytest.mark.parametrize("kind", ["hf", "st", "ce"])
@pytest.mark.parametrize(("file", "content", "key"), OTHER_MODELS)
def test_another_model_is_not_read(kind: str, file: str, content: dict[str, Any], key: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    write_model(tmp_path, {"config.json": BERT, file: content})
    with pytest.raises(EncoderError, match=rf"{file} asks for another model \({key}: evil(/repo)?\), and only files"):
        LOADERS[kind](tmp_path)


def test_files_that_a_tokenizer_or_configuration_names_are_in_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("x")
    named = [
        ("tokenizer_config.json", {"vocab_file": str(outside)}),
        ("special_tokens_map.json", {"vocab_file": str(outside)}),
        ("tokenizer_config.json", {"sp_model_kwargs": {"model_file": str(outside)}}),
        ("config.json", {"configuration_files": ["../config.4.0.0.json"]}),
        ("config.json", {"configuration_files": ["config.4.0.0.json.txt"]}),
        ("tokenizer_config.json", {"fast_tokenizer_files": ["/tokenizer.4.0.0.json"]}),
        ("config.json", {"transformers_weights": "../model.safetensors"}),
        ("router_config.json", {"types": {"../other": "sentence_transformers.models.Dense"}}),
    ]
    for place, (file, content) in enumerate(named):
        write_model(tmp_path / str(place), {file: content})
        with pytest.raises(ValueError, match=rf"^{file} names the file \S+.* which is not (in|a JSON file of) the"):
            check_configurations(tmp_path / str(place))
    ordinary = {"tokenizer_file": "/home/author/none.json", "vocab_file": None}
    write_model(tmp_path / "model", {"tokenizer_config.json": ordinary, "data.json": {}})
    (tmp_path / "model" / "data.json").write_text("{}\n{}")  # no library reads it
    check_configurations(tmp_path / "model")


def test_links_to_folders_are_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "model", {"config.json": BERT})
    write_model(tmp_path / "other", {"config.json": {"activation_function": RUN_PROGRAM}})
    (tmp_path / "model" / "1_Dense").symlink_to("../other", target_is_directory=True)
    with pytest.raises(ValueError, match=r"^1_Dense is a link to a folder, and only files of the folder are read"):
        check_configurations(tmp_path / "model")


@pytest.mark.parametrize("kind", ["hf", "st"])
def test_pickles_have_no_code_even_if_a_library_allows_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    pytest.importorskip("sentence_transformers")
    monkeypatch.chdir(tmp_path)
    folder = save_model(tmp_path / "model", kind)
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors") | {"evil": EvilObject()}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({key: config[key] for key in config if "dtype" not in key}))
    load = torch.load
    monkeypatch.setattr(torch, "load", lambda *files, **options: load(*files, **options | {"weights_only": False}))
    with pytest.raises(EncoderError, match="its weights are a pickle that is damaged or has code, which is not run"):
        LOADERS[kind](folder)
    assert not (tmp_path / "evil_ran").exists()
    torch.load(folder / "pytorch_model.bin")  # other code may read what it trusts
    assert (tmp_path / "evil_ran").exists()


class EvilObject:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch evil_ran",)


@pytest.mark.parametrize("kind", ["hf", "st", "ce"])
def test_loading_opens_no_connection(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    folder = save_model(tmp_path, kind)
    with socket.create_server(("127.0.0.1", 0)) as server:
        load = vars(transformers.AutoConfig)["from_pretrained"].__func__

        def connect_and_load(cls: Any, *arguments: Any, **options: Any) -> Any:
            socket.create_connection(server.getsockname()).close()
            return load(cls, *arguments, **options)

        monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", classmethod(connect_and_load))
        with pytest.raises(EncoderError, match="loading it opens a connection, which the folder of a model may not"):
            LOADERS[kind](folder)
        socket.create_connection(server.getsockname()).close()


@pytest.mark.parametrize("path", ["../other", "/other", "a/../../other", 5])
def test_modules_outside_a_model_are_refused(path: object, tmp_path: Path) -> None:
    module = {"idx": 0, "name": "0", "path": path, "type": "sentence_transformers.models.Dense"}
    write_model(tmp_path, {"config.json": BERT, "modules.json": [module]})
    with pytest.raises(ValueError, match=rf"modules.json names the file {path}, which is not in the model's folder"):
        check_configurations(tmp_path)


def test_weights_in_several_files_are_read(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    folder = save_model(tmp_path, "hf")
    (folder / "part").mkdir()
    (folder / "model.safetensors").rename(folder / "part" / "1.safetensors")
    table = dict.fromkeys([*load_file(folder / "part" / "1.safetensors"), "conv.kernel"], "part/1.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": table}))
    LOADERS["hf"](folder)


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


@pytest.mark.parametrize("content", [WEIGHTS, b"abc", b"PK\x03\x04abc", b""])
@pytest.mark.parametrize("kind", LOADERS)
def test_a_refused_pickle_is_not_recommended(kind: str, content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    write_model(tmp_path, {"config.json": BERT})
    (tmp_path / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(EncoderError) as caught:
        LOADERS[kind](tmp_path)
    reason = "its weights are a pickle that is damaged or has code, which is not run; use a safetensors file"
    file = "the last file read was pytorch_model.bin"
    assert str(caught.value) == f"cannot load the model {tmp_path}: {reason} ({file})"


@pytest.mark.parametrize("kind", LOADERS)
def test_a_wrong_value_of_a_configuration_is_explained(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    for key, value in (("hidden_act", ["gelu"]), ("layer_norm_eps", "nan")):
        write_model(tmp_path, {"config.json": BERT | {key: value}})
        with pytest.raises(EncoderError, match=rf"{key}.*: \S.*expected.*, got {type(value).__name__}"):
            LOADERS[kind](tmp_path)


def save_model(folder: Path, kind: str) -> Path:
    """Save a model that the loader *kind* reads, with the weights of a classifier or a language model."""
    from helpers.encoders.language_models import make_bert  # which imports torch

    return make_bert(folder) if kind == "lm" else save_cross_encoder(folder, ("score",))


def change_config(folder: Path, **values: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def change_weights(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    from safetensors.numpy import load_file, save_file

    save_file(change(load_file(folder / "model.safetensors")), folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize("kind", LOADERS)
def test_a_model_without_some_weights_is_refused(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    folder = save_model(tmp_path, kind)
    LOADERS[kind](folder)  # although hf: and st: do not use the classifier in the files
    change_config(folder, num_hidden_layers=3)
    with pytest.raises(EncoderError, match=r"its files lack (16|32) of its weights, such as .*encoder\.layer\.[12]\."):
        LOADERS[kind](folder)
    if kind != "lm":  # which finds no masked GPT-2
        change_config(folder, num_hidden_layers=1, model_type="gpt2")
        with pytest.raises(EncoderError, match=r"its files lack [0-9]+ of its weights, such as "):
            LOADERS[kind](folder)


@pytest.mark.parametrize("kind", LOADERS)
def test_layers_that_the_configuration_omits_are_refused(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    folder = save_model(tmp_path, kind)
    for count in (0, -1):
        change_config(folder, num_hidden_layers=count)
        with pytest.raises(EncoderError, match=rf"num_hidden_layers={count}, and at least 1 is expected"):
            LOADERS[kind](folder)
    change_config(folder, num_hidden_layers=2 if kind == "lm" else 1)
    change_weights(folder, lambda table: table | {key.replace("layer.0", "layer.7"): table[key] for key in table})
    with pytest.raises(
        EncoderError, match=r"its files have 16 weights of layers that .* such as \S*encoder\.layer\.7\."
    ):
        LOADERS[kind](folder)


@pytest.mark.parametrize("base_name", ["", "bert."])
def test_layers_are_found_under_both_names(base_name: str, tmp_path: Path) -> None:
    folder = save_model(tmp_path, "hf")
    for key in ("encoder.layer.1.x", "head.layer.1.x", "encoder.layer.0.x"):
        change_weights(folder, lambda table: table | {base_name + key: table["classifier.bias"]})  # noqa: B023
    with pytest.raises(EncoderError, match=rf"have 1 weights of .* such as {base_name}encoder\.layer\.1\.x"):
        LOADERS["hf"](folder)


@pytest.mark.parametrize("kind", ["hf", "st", "ce"])
def test_only_a_used_pooler_is_needed(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    folder = save_model(tmp_path, kind)
    change_weights(folder, lambda table: {key: table[key] for key in table if "pooler" not in key})
    if kind == "ce":
        with pytest.raises(EncoderError, match=r"its files lack 2 of its weights, such as bert\.pooler"):
            LOADERS[kind](folder)
    else:
        LOADERS[kind](folder)


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
