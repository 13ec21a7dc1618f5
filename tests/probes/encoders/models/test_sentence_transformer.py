"""Tests of sentence-transformers encoders."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.encoders.model_files import TEXTS, hub_cache, packaged_model, tiny_model

from sentprobe.common.errors import SentprobeError, UsageError, format_install
from sentprobe.common.specs import Spec, parse_spec
from sentprobe.probes.encoders.encoder import EncoderError, count_truncated_sentences
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models.python import wrap_encoder
from sentprobe.probes.encoders.models.sentence_transformer import SentenceTransformerEncoder, load_sentence_transformer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

INSTRUCTION = "Instruct: which is it?\nA & B = 100% "


def load(path: Path, options: str = "", **more: str) -> SentenceTransformerEncoder:
    """An encoder of the model, with options as a spec has them, or already read."""
    spec = parse_spec(f"st:{path}?{options}")
    return load_sentence_transformer(Spec(spec.kind, spec.argument, (*spec.options, *more.items())))


@pytest.fixture(autouse=True, scope="module")
def library() -> Any:
    """Not above: it takes seconds, in each process that only looks which tests there are."""
    return pytest.importorskip("sentence_transformers")


@pytest.fixture(scope="module")
def model(library: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with prompts (one is empty) and without a default prompt."""
    path = tmp_path_factory.mktemp("models") / "model"
    inner = tiny_model(path.with_name("inner"), kind="Bert")
    sentence_model = library.SentenceTransformer(str(inner), device="cpu")
    sentence_model.prompts = {"query": "find ", "document": "", "empty": ""}
    sentence_model.save(str(path))
    return path


def save_with_prompts(model: Path, path: Path, **prompts: Any) -> Path:
    shutil.copytree(model, path)
    config = path / "config_sentence_transformers.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | prompts))
    return path


# Vectors


def test_packaged_model_encodes() -> None:
    path = packaged_model()
    encoder = make_encoder(f"st:{path}?batch=2", seed=0)
    vectors = encoder.encode(["the man slept", "the woman danced", "a man was asleep"])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]
    assert encoder.name == f"st:{path}?batch=2"
    assert len(encoder.fingerprint) == 64


OPTIONS: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({}, {}),
    ({"prompt": "say "}, {"prompt": "say "}),
    ({"prompt": INSTRUCTION}, {"prompt": INSTRUCTION}),
    ({"prompt_name": "query"}, {"prompt_name": "query"}),
    ({"prompt_name": "document"}, {"prompt_name": "document"}),
    ({"normalize": "true"}, {"normalize_embeddings": True}),
    ({"prompt_name": "query", "batch": "1"}, {"prompt": "find "}),
]


@pytest.mark.parametrize(("options", "arguments"), OPTIONS)
def test_vectors_are_those_of_the_package(
    library: Any, model: Path, options: dict[str, str], arguments: dict[str, Any]
) -> None:
    package = library.SentenceTransformer(str(model), device="cpu")
    expected = package.encode(TEXTS, **arguments)
    np.testing.assert_allclose(load(model, **options).encode(TEXTS), expected, atol=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_vectors_are_cut_before_normalizing(library: Any, model: Path, normalize: bool) -> None:
    package = library.SentenceTransformer(str(model), device="cpu", truncate_dim=5)
    expected = package.encode(TEXTS, normalize_embeddings=normalize)
    actual = load(model, f"dim=5&normalize={str(normalize).lower()}").encode(TEXTS)
    np.testing.assert_allclose(actual, expected, atol=1e-6)
    if normalize:
        np.testing.assert_allclose(np.linalg.norm(actual, axis=1), 1, atol=1e-6)


def test_truncated_sentences_are_counted(library: Any, model: Path) -> None:
    texts = ["a", "ab", "abc", "abcdef" * 40]
    limits: list[dict[str, str]] = [{"max_length": "4"}, {"max_length": "4", "prompt": "b"}, {}]
    assert [count_truncated_sentences(load(model, **limit), texts) for limit in limits] == [2, 3, 1]
    argument = wrap_encoder(library.SentenceTransformer(str(model), device="cpu"), name="given")
    assert count_truncated_sentences(argument, texts) == 1


def test_lower_precision_is_near(model: Path) -> None:
    exact = load(model).encode(TEXTS)
    for precision in ("float16", "bfloat16"):
        actual = load(model, precision=precision).encode(TEXTS)
        assert actual.dtype == np.float32
        assert 0 < np.abs(actual - exact).max() < 0.1


def test_default_prompt_is_used(model: Path, tmp_path: Path) -> None:
    path = save_with_prompts(model, tmp_path / "m", default_prompt_name="query")
    expected = load(model, prompt_name="query").encode(TEXTS)
    np.testing.assert_allclose(load(path).encode(TEXTS), expected, atol=1e-6)
    second_vectors = load(path, prompt_name="document").encode(TEXTS)
    np.testing.assert_allclose(second_vectors, load(model).encode(TEXTS), atol=1e-6)


# Fingerprints

CHANGES: list[dict[str, str]] = [
    {"prompt": "say "}, {"prompt": "tell "}, {"prompt_name": "query"}, {"normalize": "true"},
    {"dim": "5"}, {"dim": "6"}, {"precision": "float16"}, {"precision": "bfloat16"},
    {"max_length": "6"}, {"prompt": "say ", "normalize": "true"},
]  # fmt: skip


def test_fingerprint_has_options_that_matter(model: Path) -> None:
    encoders = [load(model), *(load(model, **change) for change in CHANGES)]
    assert len({encoder.fingerprint for encoder in encoders}) == len(encoders)
    vectors = [encoder.encode(TEXTS) for encoder in encoders]
    for place, one in enumerate(vectors):
        assert not any(np.array_equal(one, second) for second in vectors[:place])


def test_fingerprint_lacks_other_options(model: Path) -> None:
    same = [{"batch": "1"}, {"device": "cpu"}, {"precision": "float32"}, {"normalize": "false"},
            {"prompt_name": "document"}, {"max_length": "64"}]  # fmt: skip
    encoders = [load(model), *(load(model, **change) for change in same)]
    assert len({encoder.fingerprint for encoder in encoders}) == 1
    named = [load(model, prompt_name="query"), load(model, prompt="find ")]
    assert len({encoder.fingerprint for encoder in named}) == 1


def test_fingerprint_is_of_all_files(model: Path, tmp_path: Path) -> None:
    before = load(model).fingerprint
    changed = save_with_prompts(model, tmp_path / "m", default_prompt_name="query")
    assert load(changed).fingerprint != before
    assert load(Path(shutil.copytree(model, tmp_path / "copy"))).fingerprint == before
    pooling = next(tmp_path.glob("copy/*Pooling/config.json"))
    pooling.write_text(pooling.read_text() + " ")
    assert load(tmp_path / "copy").fingerprint != before


# Prompts in a spec


def test_escaped_prompt_is_read(model: Path) -> None:
    spec = f"st:{model}?prompt=Instruct: which is it?%0AA %26 B = 100%25 &batch=2"
    encoder = make_encoder(spec, seed=0)
    assert encoder.name == spec
    expected = load(model, prompt=INSTRUCTION).encode(TEXTS)
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-6)


REFUSED: list[tuple[str, str]] = [
    ("prompt=query", "'query' is the name of a prompt of this model: write prompt_name=query"),
    ("prompt=x&prompt_name=query", "use only one of the options prompt and prompt_name"),
    ("prompt_name=qeury", "no prompt named 'qeury' (did you mean 'query'?); its prompts: query"),
    ("dim=17", "option dim=17: the model's vectors have 16 numbers"),
    ("dim=0", "option dim=0: a whole number from 1 is expected"),
    ("precision=int8", "one of float32, float16, bfloat16 is expected"),
    ("normalize=1", "one of true, false, yes, no is expected"),
    ("normalise=true", "st has no option 'normalise' (did you mean 'normalize'?)"),
    ("device=gpu", "unknown device 'gpu'"),
    ("revision=main", "is a directory; revision= is for models of the hub"),
]


@pytest.mark.parametrize(("option", "message"), REFUSED)
def test_bad_option_is_refused(model: Path, option: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(model, option)
    assert message in str(caught.value)


def test_model_without_prompts_has_no_query() -> None:
    with pytest.raises(UsageError, match="no prompt named 'query'; its prompts: none"):
        load(packaged_model(), "prompt_name=query")


# Finding the model


def test_cached_model_needs_no_network(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = tmp_path / "hub"
    for commit, branch in (("a", "main"), ("b", "next")):
        hub_cache(model, hub, name="sentence-transformers/some", commit=commit * 40, branch=branch)
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(hub))
    short, full = load(Path("some")), load(Path("sentence-transformers/some"))
    second_encoder = load(Path("some"), "revision=next")
    assert short.fingerprint == full.fingerprint != second_encoder.fingerprint
    np.testing.assert_array_equal(short.encode(TEXTS), load(model).encode(TEXTS))


def test_partly_cached_model_is_refused(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    actual = hub_cache(model, tmp_path, name="some/model", commit="a" * 40, branch="main")
    (actual / "modules.json").unlink()
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    unreachable(monkeypatch)
    with pytest.raises(EncoderError, match="nor in the local cache"):
        load(Path("some/model"))


def test_damaged_modules_file_is_named(model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "damaged"
    shutil.copytree(model, copy)
    (copy / "modules.json").unlink()
    (copy / "modules.json").write_text("[{", "utf-8")
    with pytest.raises(EncoderError, match=r"cannot load the model .*damaged: modules\.json: "):
        load(copy)


@pytest.mark.parametrize("file", ["1_Pooling/config.json", "sentence_bert_config.json"])
def test_file_of_a_failed_loading_is_named(model: Path, tmp_path: Path, file: str) -> None:
    path = Path(shutil.copytree(model, tmp_path / "m")) / file
    changed = json.dumps({**json.loads(path.read_text("utf-8")), "surplus": 1})
    path.unlink()
    path.write_text(changed, "utf-8")
    with pytest.raises(EncoderError, match=rf"TypeError: .*'surplus' \(the last file read was {re.escape(file)}\)$"):
        load(tmp_path / "m")


def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", "http://127.0.0.1:9")


def test_unreachable_hub_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    unreachable(monkeypatch)
    with pytest.raises(EncoderError) as caught:
        load(Path("no-such/model"))
    assert str(caught.value).startswith(
        "cannot load the model no-such/model: it is neither a directory nor in the local cache of the "
        "Hugging Face hub, and cannot be downloaded: "
    )
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["./nothing/here", "/nothing/here", "a/b/c"])
def test_missing_directory_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="there is no such directory"):
        make_encoder(f"st:{name}", seed=0)


def test_other_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no modules.json in this directory"):
        load(tmp_path)


def test_code_of_model_is_not_run(model: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(model, tmp_path / "m"))
    modules = json.loads((path / "modules.json").read_text())
    modules[-1]["type"] = "mine.Module"
    (path / "modules.json").write_text(json.dumps(modules))
    (path / "mine.py").write_text("raise SystemExit('this was run')")
    with pytest.raises(EncoderError, match=r"modules.json names code \(type: mine.Module\)"):
        load(path)


def test_damaged_weights_are_refused(model: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(model, tmp_path / "m"))
    weights = path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(EncoderError, match="cannot load the model"):
        load(path)


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(SentprobeError) as caught:
        load(Path("some/model"))
    assert str(caught.value) == f"an encoder st:... needs the extra: {format_install('sentence-transformers')}"
