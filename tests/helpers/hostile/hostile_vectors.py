"""Intact sentence vectors, word vectors, model folders and server answers, which tests damage."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from helpers.encoders.model_files import tiny_model
from helpers.hostile import mutations as mu
from helpers.hostile.hostile_files import HostileReader, text_file
from helpers.strategies.encoder_strategies import write_with_ids

from sentprobe.common.http_requests import extract_server_message
from sentprobe.probes.encoders import cache as cache_upkeep
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models import endpoints, trained
from sentprobe.probes.encoders.vector_formats import read_vectors
from sentprobe.probes.encoders.word_vectors import read_word_vectors

TEXTS = ["the man slept", "dogs ran"]


def _prepare_vectors(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"vectors{suffix}"
        write_with_ids(path, TEXTS, np.eye(2, 3, dtype=np.float32), ["a", "b"])
        return path

    return make


def _make_word2vec(folder: Path) -> Path:
    path = folder / "words.bin"
    rows = np.array([[1, 2, 0.5], [3, 4, 1e-3]], dtype="<f4")
    words = (b"the", b"man")
    body = b"".join(w + b" " + row.tobytes() + b"\n" for w, row in zip(words, rows, strict=True))
    path.write_bytes(b"2 3\n" + body)
    return path


@cache
def _make_fasttext_bytes() -> bytes:
    from tempfile import TemporaryDirectory

    from gensim.models import fasttext

    sentences = [["the", "man", "slept"], ["a", "man", "danced"]]
    model = fasttext.FastText(sentences, vector_size=2, min_count=1, bucket=5, epochs=1, workers=1, seed=1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.bin"
        fasttext.save_facebook_model(model, str(path))
        return path.read_bytes()


def _make_fasttext(folder: Path) -> Path:
    path = folder / "fasttext.bin"
    path.write_bytes(_make_fasttext_bytes())
    return path


class _TinyEncoder:
    name, fingerprint = "tiny", "f" * 64

    def encode(self, sentences: Sequence[str]) -> Any:
        return np.ones((len(sentences), 2), dtype=np.float32)


def _make_cache(folder: Path) -> Path:
    embed(_TinyEncoder(), TEXTS, cache=Cache(folder))
    (path,) = folder.rglob("*.vectors")
    return path


def _read_cached(path: Path) -> object:
    folder = path.parent.parent
    vectors = embed(_TinyEncoder(), TEXTS, cache=Cache(folder))
    return (vectors, cache_upkeep.list_cached_encoders(folder), cache_upkeep.check_cache_files(folder))


def _read_answer(path: Path) -> object:
    """Read a server's answer as the encoder does: a ValueError becomes a message."""
    try:
        rows = endpoints._parse_rows(path.read_bytes(), count=2, has_key=False)
        return np.array(rows)
    except ValueError as error:
        assert len(str(error)) < 400
        return extract_server_message(path.read_bytes(), has_key=False)


ANSWER = json.dumps({"data": [{"index": 0, "embedding": [0.1, 2.0]}, {"index": 1, "embedding": [1, 2]}]})


def _prepare_model(file: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        tiny_model(folder, kind="Bert")
        if file == "pytorch_model.bin":
            import torch
            from safetensors.torch import load_file

            torch.save(load_file(folder / "model.safetensors"), folder / file)
            (folder / "model.safetensors").unlink()
        if file == "modules.json":
            kind = "sentence_transformers.models.Transformer"
            modules = [
                {"idx": 0, "name": "0", "path": "", "type": kind},
                {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            ]
            (folder / file).write_text(json.dumps(modules), encoding="utf-8")
            (folder / "1_Pooling").mkdir(exist_ok=True)
            pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
            (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        return folder / file

    return make


def _prepare_trained(file: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        from helpers.encoders.sentence_models import tiny_sentence_model

        trained.write_sentence_model(tiny_sentence_model("gru-bi"), folder, {"step": 1})
        return folder / file

    return make


def _read_trained(path: Path) -> object:
    return make_encoder(f"trained:{path.parent}").encode(["the man", "duck"])


def _read_hf(path: Path) -> object:
    return make_encoder(f"hf:{path.parent}", seed=0).encode(["a man"])


def _read_st(path: Path) -> object:
    return make_encoder(f"st:{path.parent}", seed=0).encode(["a man"])


VECTOR_READERS: dict[str, HostileReader] = {
    "npz": HostileReader(make=_prepare_vectors(".npz"), read=read_vectors, ways=mu.NPZ),
    "npy": HostileReader(make=_prepare_vectors(".npy"), read=read_vectors, ways=mu.NPY),
    "safetensors": HostileReader(make=_prepare_vectors(".safetensors"), read=read_vectors, ways=mu.TENSORS),
    "vectors of parquet": HostileReader(make=_prepare_vectors(".parquet"), read=read_vectors, ways=mu.PARQUET),
    "lookup": HostileReader(make=_prepare_vectors(".txt"), read=read_vectors, ways=mu.TEXT),
    "lookup, packed": HostileReader(make=_prepare_vectors(".txt.gz"), read=read_vectors),
    "word vectors": HostileReader(
        make=text_file("w.txt", "3 2\nthe 1 2\nman 3 4e-1\na b 5 6\n"), read=read_word_vectors, ways=mu.TEXT
    ),
    "word2vec": HostileReader(make=_make_word2vec, read=read_word_vectors, ways=mu.TEXT, most=1000),
    "fasttext": HostileReader(make=_make_fasttext, read=read_word_vectors, most=500),
    "cache": HostileReader(make=_make_cache, read=_read_cached, ways=mu.TEXT),
    "answer of a server": HostileReader(make=text_file("answer", ANSWER), read=_read_answer, ways=mu.JSON),
    "config.json": HostileReader(make=_prepare_model("config.json"), read=_read_hf, ways=mu.JSON, most=200),
    "tokenizer.json": HostileReader(make=_prepare_model("tokenizer.json"), read=_read_hf, ways=mu.JSON, most=200),
    "model.safetensors": HostileReader(
        make=_prepare_model("model.safetensors"), read=_read_hf, ways=mu.TENSORS, most=200
    ),
    "pytorch_model.bin": HostileReader(make=_prepare_model("pytorch_model.bin"), read=_read_hf, most=200),
    "config.json, trained": HostileReader(make=_prepare_trained("config.json"), read=_read_trained, ways=mu.JSON),
    "words.txt, trained": HostileReader(make=_prepare_trained("words.txt"), read=_read_trained, ways=mu.TEXT),
    "model.safetensors, trained": HostileReader(
        make=_prepare_trained("model.safetensors"), read=_read_trained, ways=mu.TENSORS
    ),
    "modules.json": HostileReader(make=_prepare_model("modules.json"), read=_read_st, ways=mu.JSON, most=200),
}
