"""Tests of transformers encoders."""

import json
import random
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from helpers.encoders import published_models
from helpers.encoders.model_files import TEXTS, hub_cache, packaged_model, tiny_model
from helpers.strategies.probe_strategies import sentences
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError, format_install
from sentprobe.common.specs import parse_spec
from sentprobe.lexicon import english
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import (
    Encoder,
    EncoderError,
    Vectors,
    collect_notes,
    count_truncated_sentences,
    get_capabilities,
)
from sentprobe.probes.encoders.kinds import make_encoders
from sentprobe.probes.encoders.models import hf, model_loading
from sentprobe.probes.encoders.models.hf import HfEncoder, HfModel, LayerStore, StatePlace, TextFrame, load_hf
from sentprobe.probes.encoders.models.model_parts import GrammarWords, Pooling, pool_states

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def load(spec: str) -> HfEncoder:
    (encoder,) = load_hf(parse_spec(spec))
    return encoder


@pytest.fixture(autouse=True, scope="module")
def _library() -> None:
    """Not above: it takes seconds, in each process that only looks which tests there are."""
    pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "gpt2", kind="GPT2")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "bert", kind="Bert")


# Pooling

NAIVE: dict[Pooling, Callable[[Vectors], Any]] = {
    Pooling.CLS: lambda rows: rows[0],
    Pooling.LAST: lambda rows: rows[-1],
    Pooling.MEAN: lambda rows: np.mean(rows, axis=0),
    Pooling.MAX: lambda rows: np.max(rows, axis=0),
}


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from(Pooling), st.booleans(), st.integers(0, 2**32)
)
def test_pooling_reads_tokens_alone(lengths: list[int], pooling: Pooling, left: bool, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(len(lengths), max(lengths), 3, generator=generator)
    mask = torch.zeros(len(lengths), max(lengths), dtype=torch.int64)
    for row, length in enumerate(lengths):
        place = slice(-length, None) if left else slice(length)
        mask[row, place] = 1
        states[row, mask[row] == 0] = torch.inf if seed % 2 else 1e6  # what padding has is nothing
    actual = pool_states(states, mask, pooling=pooling).numpy()
    expected = [NAIVE[pooling](states[r][mask[r] == 1].numpy()) for r in range(len(lengths))]
    np.testing.assert_allclose(actual, np.stack(expected), rtol=1e-5, atol=1e-6)


# Against independent computations


def test_mean_is_that_of_sentence_transformers() -> None:
    module = pytest.importorskip("sentence_transformers")
    path = packaged_model()
    reference = module.SentenceTransformer(str(path), device="cpu")
    tokens = reference.encode(TEXTS, output_value="token_embeddings")
    expected = np.stack([row.mean(dim=0).numpy() for row in tokens])
    np.testing.assert_allclose(load(f"hf:{path}").encode(TEXTS), expected, atol=1e-6)


@cache
def plain_model(path: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()


@pytest.mark.parametrize("model", ["gpt2", "bert"])
@pytest.mark.parametrize("layer", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("pooling", list(Pooling))
def test_states_equal_plain_pytorch(model: str, layer: int, pooling: Pooling, request: pytest.FixtureRequest) -> None:
    """The reference has no batch, no padding and no mask."""
    path = request.getfixturevalue(model)
    tokenizer, plain = plain_model(path)
    expected = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        with torch.inference_mode():
            states = plain(ids, output_hidden_states=True).hidden_states[layer][0]
        expected.append(NAIVE[pooling](states.numpy()))
    actual = load(f"hf:{path}?layer={layer}&pool={pooling}&batch=2").encode(TEXTS)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, np.stack(expected), atol=1e-5)


@examples(20)
@given(st.lists(sentences, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_batch_and_order_do_not_count(gpt2: Path, texts: list[str], shuffler: random.Random) -> None:
    order = list(range(len(texts)))
    shuffler.shuffle(order)
    one, many = SHARED.setdefault(gpt2, (load(f"hf:{gpt2}?batch=1"), load(f"hf:{gpt2}?batch=4")))
    shuffled = many.encode([texts[place] for place in order])
    np.testing.assert_allclose(shuffled, one.encode(texts)[order], atol=1e-5)


SHARED: dict[Path, tuple[HfEncoder, HfEncoder]] = {}


@pytest.mark.parametrize("model", ["gpt2", "bert"])
def test_batches_of_tokens_have_the_same_vectors(
    model: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU has batches of equal numbers of tokens; here, the CPU has."""
    encoder = load(f"hf:{request.getfixturevalue(model)}?batch=1")
    texts = [*TEXTS, " ".join(TEXTS), "the lawyer slept"]
    expected = encoder.encode(texts)
    sizes: list[int] = []
    compute_states = HfModel._compute_states

    def record_size(self: HfModel, framed: Sequence[Any]) -> Any:
        sizes.append(len(framed))
        return compute_states(self, framed)

    monkeypatch.setattr(HfModel, "_compute_states", record_size)
    monkeypatch.setattr(HfModel, "fills_batches", True)
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-5)
    assert sum(sizes) == len(texts)
    assert max(sizes) > 1


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 60))
def test_batches_of_tokens_are_full(lengths: list[int], limit: int) -> None:
    batches = hf.divide_by_tokens(lengths, limit=limit)
    rows = [row for batch in batches for row in batch]
    assert sorted(rows) == [*range(len(lengths))]
    assert [lengths[row] for row in rows] == sorted(lengths)
    for batch in batches:
        longest = lengths[batch[-1]]
        assert len(batch) * longest <= max(limit, longest)
    for batch, following in pairwise(batches):
        assert (len(batch) + 1) * lengths[following[0]] > limit


def test_encoder_half_of_t5_is_read(tmp_path: Path) -> None:
    encoders = load_hf(parse_spec(f"hf:{tiny_model(tmp_path / 't5', kind='T5')}?layer=all"))
    assert [encoder.encode(["a b"]).shape for encoder in encoders] == [(1, 16)] * 3


@pytest.mark.parametrize(("kind", "pool"), [("GPT2", "last"), ("Llama", "last"), ("Bert", "mean"), ("T5", "mean")])
def test_causal_models_pool_last_token(kind: str, pool: str, tmp_path: Path) -> None:
    path = tiny_model(tmp_path, kind=kind)
    default, explicit = load(f"hf:{path}"), load(f"hf:{path}?pool={pool}")
    assert default.capabilities.notes == ()
    by_layer = {place: make_encoders(f"hf:{path}?layer=all{place}") for place in ("", "&pool=mean", "&pool=last")}
    notes = {place: {*collect_notes(layers)} for place, layers in by_layer.items()}
    note = (
        f"{path} is a causal model, and its vectors are states of the last token: figures at low layers tell the last "
        "word, and at layer 0 only this and its place; pool=mean averages over all tokens"
    )
    expected = {note} if kind in ("GPT2", "Llama") else set()
    assert notes == {"": expected, "&pool=mean": set(), "&pool=last": expected}
    assert (default.place.pool, default.fingerprint) == (pool, explicit.fingerprint)
    np.testing.assert_array_equal(default.encode(TEXTS), explicit.encode(TEXTS))


def test_device_map_changes_no_vector(bert: Path) -> None:
    pytest.importorskip("accelerate")
    np.testing.assert_allclose(load(f"hf:{bert}?device_map=cpu").encode(TEXTS), load(f"hf:{bert}").encode(TEXTS))


# Layers


def test_all_layers_are_encoders(bert: Path) -> None:
    spec = f"hf:{bert}?layer=all&pool=max"
    encoders = make_encoders(spec, seed=0)
    assert [encoder.name for encoder in encoders] == [f"hf:{bert}?layer={layer}&pool=max" for layer in range(3)]
    for layer, encoder in enumerate(encoders):
        assert isinstance(encoder, Encoder)
        assert isinstance(encoder, HfEncoder)
        alone = load(encoder.name)
        assert (encoder.place, encoder.family) == ((layer, "max"), f"hf:{bert}?pool=max")
        assert (alone.place, alone.family) == (encoder.place, encoder.family)
        assert alone.fingerprint == encoder.fingerprint
        np.testing.assert_array_equal(encoder.encode(TEXTS), alone.encode(TEXTS))


class CountingModel(HfModel):
    """A model that counts its calls; a vector has the layer and the length of the sentence."""

    def encode(self, sentences: Sequence[str], *, places: Sequence[StatePlace]) -> Vectors:
        self.truncated_candidates.update(sentences)
        self.tokenizer.extend(sentences)
        return np.array([[[layer, len(s)] for layer, _ in places] for s in sentences], np.float32)


def counting_store(room: int, layers: Sequence[int] = (0, 1, 2)) -> tuple[LayerStore, list[str]]:
    seen: list[str] = []
    model = CountingModel("m", None, seen, None, 1, TextFrame(None), GrammarWords(english()))
    return LayerStore(model, [StatePlace(layer, "mean") for layer in layers], max_bytes=room), seen


@given(st.lists(sentences, min_size=1), st.integers(0, 200), st.lists(st.sampled_from([0, 1, 2])))
def test_shared_layers_are_right(texts: list[str], room: int, layers: list[int]) -> None:
    store, _ = counting_store(room)
    for layer in [0, 1, 2, *layers]:
        actual = store.encode(texts, place=StatePlace(layer, "mean"))
        np.testing.assert_array_equal(actual, [[layer, len(text)] for text in texts])


def test_layers_share_one_pass() -> None:
    store, seen = counting_store(10**6)
    for layer in range(3):
        store.encode(["a", "b", "a"], place=StatePlace(layer, "mean"))
        store.encode(["c"], place=StatePlace(layer, "mean"))
    assert seen == ["a", "b", "c"]
    store.encode(["a"], place=StatePlace(0, "mean"))  # dropped after the last layer
    assert seen == ["a", "b", "c", "a"]


def test_cached_layers_need_no_pass(bert: Path, tmp_path: Path) -> None:
    """One forward pass computes all layers; cached layers need none."""
    for passes in (2, 0):
        encoders = load_hf(parse_spec(f"hf:{bert}?layer=all&batch=2"))
        ran: list[int] = []
        encoders[0].store.model.model.register_forward_hook(lambda *_, ran=ran: ran.append(1))
        actual = [embed(one, TEXTS, cache=Cache(tmp_path / "cache")) for one in encoders]
        assert len(ran) == passes
    expected = [load(encoder.name).encode(TEXTS) for encoder in encoders]
    np.testing.assert_allclose(np.stack(actual), np.stack(expected), atol=1e-6)


def test_layers_without_room_are_recomputed() -> None:
    store, seen = counting_store(24)  # one sentence: 3 layers of 2 numbers
    for layer in range(3):
        store.encode(["a", "b"], place=StatePlace(layer, "mean"))
    assert seen == ["a", "b", "b", "b"]


# Fingerprints

CHANGES = ["layer=1", "pool=cls", "pool=max", "pool=last", "precision=bfloat16",
           "precision=float16", "max_length=5"]  # fmt: skip


def test_fingerprint_has_options_that_matter(bert: Path, gpt2: Path) -> None:
    specs = [f"hf:{bert}", f"hf:{gpt2}", *(f"hf:{bert}?{change}" for change in CHANGES)]
    encoders = [load(spec) for spec in specs]
    assert len({encoder.fingerprint for encoder in encoders}) == len(specs)
    vectors = [encoder.encode(TEXTS) for encoder in encoders]
    assert all((vectors[0] != second).any() for second in vectors[1:])


def test_fingerprint_lacks_other_options(bert: Path) -> None:
    expected = load(f"hf:{bert}").fingerprint
    for option in ("layer=2", "layer=-1", "pool=mean", "precision=float32", "batch=7",
                   "device=cpu", "max_length=64"):  # fmt: skip
        assert load(f"hf:{bert}?{option}").fingerprint == expected


def test_fingerprint_has_end_token_unless_causal(tmp_path: Path) -> None:
    for kind, changes in {"T5": True, "GPT2": False}.items():
        path = tiny_model(tmp_path / kind, kind=kind)
        config = path / "tokenizer_config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | {"eos_token": "]", "pad_token": "?"}))
        alone, mean = load(f"hf:{path}?pool=mean"), load_hf(parse_spec(f"hf:{path}?pool=mean,eos"))[0]
        assert (alone.fingerprint != mean.fingerprint) is changes
        assert np.allclose(alone.encode(TEXTS), mean.encode(TEXTS), atol=1e-5) is not changes


def test_fingerprint_is_of_all_files(tmp_path: Path) -> None:
    path = tiny_model(tmp_path / "model", kind="Bert")
    before = load(f"hf:{path}").fingerprint
    (path / ".cache").mkdir()
    (path / ".cache" / "x").write_text("no part of the model")
    assert load(f"hf:{path}").fingerprint == before
    (path / "special_tokens_map.json").write_text("{}")
    assert load(f"hf:{path}").fingerprint != before


# From the cache of the hub


def test_cached_model_needs_no_network(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (
        hub_cache(bert, tmp_path / "hub", name="some/model", commit=commit * 40, branch=branch)
        for commit, branch in (("a", "main"), ("b", "next"))
    )
    assert first != second
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "hub"))
    main, branch = load("hf:some/model"), load("hf:some/model?revision=next")
    pinned = load(f"hf:some/model?revision={'b' * 40}")
    assert main.fingerprint != branch.fingerprint == pinned.fingerprint
    np.testing.assert_array_equal(main.encode(TEXTS), load(f"hf:{bert}").encode(TEXTS))


def test_partly_cached_model_is_refused(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    actual = hub_cache(bert, tmp_path, name="some/model", commit="a" * 40, branch="main")
    (actual / "model.safetensors").unlink()
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EncoderError, match="cannot load the model some/model: it is neither a directory"):
        load("hf:some/model")


# Refused

REFUSED: list[tuple[str, str]] = [
    ("layer=3", "option layer=3: the model has the layers 0 (embeddings) to 2, or counted from the "
     "end -1 to -3"),
    ("layer=-4", "option layer=-4"),
    ("layer=top", "option layer=top: a whole number or all is expected"),
    ("layer=1_0", "option layer=1_0: a whole number or all is expected"),
    ("pool=maen", "last, eos, verb, subject, agent, patient, recipient is expected (did you mean 'mean'?)"),
    ("precision=int8", "one of float32, float16, bfloat16 is expected"),
    ("max_length=2", "option max_length=2: at least 3 is expected, for 2 special tokens and one other"),
    ("max_length=-5", "option max_length=-5: "),
    ("max_length=65", "option max_length=65: the model has 64 positions"),
    ("device=gpu", "unknown device 'gpu'; expected one such as cpu, cuda, cuda:1"),
    ("revision=main", "is a directory; revision= is for models of the hub"),
    ("pool=agent,agent", "pooling 'agent' is given twice"),
    ("pool=object", "option pool=object: one of cls, mean"),
    ("pool=patient&absent=agent", "option absent=agent: one of cls, mean, max, last is expected"),
    ("pool=verb&table=no-such", "option table=no-such: not an analysed table, as probe analyze writes it"),
    ("table=a&lexicon=b", "option lexicon= is for the grammar; leave it out with table="),
    ("lexicon=no-such.toml", "no-such.toml: cannot read the lexicon"),
    ("prompt=x", "option prompt=x: it must contain {sentence} once"),
    ("chat=yes", "has no chat template"),
    ("pool=eos&name=x", "option pool=eos: the tokenizer of"),
    ("part=attention&layer=0", "option layer=0: the model has the layers 1 to 2, or counted from the end -1 to -2"),
    ("bits=3", "option bits=3: 4 or 8 is expected"),
    ("device=cpu&device_map=auto", "options device=cpu and device_map=auto: choose one"),
    ("pooling=mean", "hf has no option 'pooling' (did you mean 'pool'?)"),
]  # fmt: skip


@pytest.mark.parametrize(("option", "message"), REFUSED)
def test_bad_option_is_refused(bert: Path, option: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_hf(parse_spec(f"hf:{bert}?{option}"))
    assert message in str(caught.value)


def broken(change: Callable[[Path], Any], tmp_path: Path) -> str:
    path = tiny_model(tmp_path / "model", kind="Bert")
    change(path)
    with pytest.raises((EncoderError, UsageError)) as caught:
        load(f"hf:{path}")
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(path), "PATH")


def cut_weights(path: Path) -> None:
    weights = path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def flip_bit(path: Path) -> None:
    from safetensors.torch import load_file

    torch.save(load_file(path / "model.safetensors"), path / "pytorch_model.bin")
    (path / "model.safetensors").unlink()
    published_models.flip_bit_of_weights(path / "pytorch_model.bin")


def drop_a_weight(path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = path / "model.safetensors"
    table = load_file(weights)
    save_file({k: v for k, v in table.items() if "layer.1.output" not in k}, weights, {"format": "pt"})


def want_code(path: Path) -> None:
    config = path / "config.json"
    content = json.loads(config.read_text()) | {
        "model_type": "mine", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}
    }  # fmt: skip
    config.write_text(json.dumps(content))
    (path / "code.py").write_text("raise SystemExit('this was run')")


def edit_json(name: str, **values: object) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        content = json.loads((path / name).read_text()) if (path / name).is_file() else {}
        (path / name).write_text(json.dumps(content | values))

    return edit


BROKEN: list[tuple[Callable[[Path], Any], str]] = [
    (lambda path: (path / "config.json").unlink(), "no model at PATH: there is no config.json"),
    (lambda path: (path / "config.json").write_text("{"), "cannot load the model PATH: "),
    (lambda path: (path / "config.json").write_text("[]"), "cannot load the model PATH: "),
    (lambda path: (path / "model.safetensors").unlink(), "cannot load the model PATH: "),
    (lambda path: (path / "tokenizer.json").unlink(), "cannot load the model PATH: "),
    (flip_bit, "pytorch_model.bin: damaged: 'pytorch_model/data/0' in it differs from its checksum"),
    (cut_weights, "cannot load the model PATH: "),
    (drop_a_weight, "its files lack 4 of its weights, such as encoder.layer.1.output"),
    (want_code, "cannot load the model PATH: "),
    (edit_json("config.json", hidden_act="no-such"), "KeyError: "),
    (edit_json("config.json", model_type=["bert"]), "TypeError: "),
    *(
        (
            edit_json("tokenizer_config.json", model_max_length=limit),
            f"model_max_length of tokenizer_config.json is {limit!r};",
        )
        for limit in (True, "9", 2.5)
    ),
    *(
        (
            edit_json("tokenizer_config.json", model_max_length=limit),
            f"the token limit of its configuration is {limit}; at least 3",
        )
        for limit in (0, 1, 2, -1)
    ),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_broken_model_is_refused(change: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    assert message in broken(change, tmp_path)


@given(st.text("0123456789", min_size=1, max_size=4), st.integers(0, 5000))
def test_layer_of_many_digits_is_undeclared(digits: str, zeros: int) -> None:
    model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(1, 1)))
    named = SimpleNamespace(base_model=model, base_model_prefix="bert")
    is_undeclared = model_loading._is_in_undeclared_layer(f"bert.0.1{digits}{'0' * zeros}.weight", named)
    assert is_undeclared
    assert not model_loading._is_in_undeclared_layer("bert.0.0.weight", named)


def test_libraries_do_not_warn_of_what_is_refused() -> None:
    with pytest.raises(EncoderError, match="cannot load the model m: IndexError: x"):  # noqa: SIM117
        with model_loading.report_loading_errors("m"):
            warnings.warn("pickled", FutureWarning, stacklevel=1)
            raise IndexError("x\ny")


def test_file_for_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="it is a file, and a directory is expected"):
        load(f"hf:{tmp_path}/file")


@pytest.mark.parametrize("kind", ["hf", "st"])
def test_silent_hub_is_reported(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(model_loading, "HUB_TIMEOUT", 0.1)
    monkeypatch.setattr(model_loading, "_find_on_hub", lambda *_, **__: ended.wait())
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"cannot load .*no-such: .* be downloaded: no answer within 0\.1 seconds"):
        make_encoders(f"{kind}:no-such")
    ended.set()


def test_sentence_without_tokens_is_refused(gpt2: Path) -> None:
    with pytest.raises(EncoderError, match="finds no token in the sentence ''"):
        load(f"hf:{gpt2}").encode(["a", ""])


def test_long_sentences_are_noted(bert: Path) -> None:
    assert get_capabilities(load(f"hf:{bert}?max_length=3")).notes == ()  # of no sentence of the user
    encoder = load(f"hf:{bert}?max_length=4")
    encoder.encode(["a b"])
    assert get_capabilities(encoder).notes == (
        "1 sentences have 4 tokens or more; later tokens were not read, as in 'a b'",
    )
    assert get_capabilities(load(f"hf:{bert}")).notes == ()
    texts = ["a b", "abc", "abcd"]  # of 4, 5 and 6 tokens: one is before, and one after
    assert count_truncated_sentences(encoder, texts) == 2
    assert count_truncated_sentences(load(f"hf:{bert}"), ["a" * 62, "a" * 63]) == 1


@pytest.mark.parametrize(("option", "libraries"), [
    ("bits=8", "bitsandbytes accelerate"), ("bits=4", "bitsandbytes accelerate"), ("device_map=auto", "accelerate")
])  # fmt: skip
def test_missing_quantization_libraries_are_named(
    option: str, libraries: str, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf, "find_spec", lambda name: name == "transformers" or None)
    with pytest.raises(EncoderError) as caught:
        load(f"hf:{bert}?{option}")
    assert str(caught.value) == f"hf: option {option} needs: pip install {libraries}"


@pytest.mark.parametrize("bits", [8, 4])
def test_quantized_models_are_near(bits: int) -> None:
    for library in ("bitsandbytes", "accelerate"):
        pytest.importorskip(library)
    whole, quantized = (load(f"hf:{packaged_model()}?{option}").encode(TEXTS) for option in ("", f"bits={bits}"))
    cosines = (whole * quantized).sum(axis=1) / np.linalg.norm(whole, axis=1) / np.linalg.norm(quantized, axis=1)
    assert (cosines < 0.99999).all()
    assert (cosines > {8: 0.99, 4: 0.9}[bits]).all()


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    for call in (lambda: load("hf:some/model"), lambda: make_encoders("hf:some/model", seed=0)):
        with pytest.raises(SentprobeError) as caught:
            call()
        assert str(caught.value).endswith(f"hf:... needs the extra: {format_install('transformers')}")
