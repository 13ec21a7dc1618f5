"""Modules with encoders of every convention, as a user writes them."""

SOURCE = """
import numpy as np
import torch


def lengths(sentences):
    assert isinstance(sentences, list)
    return np.array([[len(s), s.count(" ")] for s in sentences], dtype=np.float64)


def tensor(sentences):
    return torch.tensor(lengths(sentences), requires_grad=True).float()


def half(sentences):
    return torch.tensor(lengths(sentences)).bfloat16()


def nested(sentences):
    return lengths(sentences).tolist()


def tensors(sentences):
    return list(tensor(sentences))


def lazy(sentences):
    return (lengths([s])[0] for s in sentences)


class Model:
    def encode(self, sentences, batch_size=32, show_progress_bar=True):
        return lengths(sentences)


model = Model()


class Outer:
    inner = model


class OldMteb:
    def encode(self, sentences, *, task_name, prompt_type=None, **kwargs):
        assert task_name == "sentprobe"
        return lengths(sentences)


class Mteb:
    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
        assert (task_metadata.name, task_metadata.type) == ("sentprobe", "Classification")
        assert prompt_type is None and isinstance(hf_split, str) and isinstance(hf_subset, str)
        batches = [batch["text"] for batch in inputs]
        assert all(len(batch) <= inputs.batch_size == 2 for batch in batches)
        return torch.tensor(np.concatenate([lengths(batch) for batch in batches]))


class Kwargs:
    def encode(self, *args, **kwargs):
        return lengths(args[0])


class Own:
    name = "own"
    fingerprint = "f" * 64

    def encode(self, sentences):
        return lengths(sentences)


class NotCached(Own):
    cacheable = False


def wrong_count(sentences):
    return lengths(sentences)[:-1]


def not_finite(sentences):
    return lengths(sentences) * float("nan")


def whole(sentences):
    return lengths(sentences).astype(int)


def ragged(sentences):
    return [[1.0] * len(s) for s in sentences]


def nothing(sentences):
    return None


def raises(sentences):
    raise RuntimeError("out of\\nmemory")


def leaves(sentences):
    raise SystemExit(3)


def interrupted(sentences):
    raise KeyboardInterrupt


class Needs:
    def __init__(self, path):
        pass


number = 3
"""

SENTEVAL = """
import numpy as np

calls = []


def prepare(params, samples):
    assert samples[0] == samples[0] and isinstance(samples[0], list)
    params.vocabulary = sorted({word for sample in samples for word in sample})
    calls.append("prepare")


def batcher(params, batch):
    assert len(batch) <= params.batch_size == params["batch_size"]
    assert params.missing is None and isinstance(params.seed, int)
    calls.append(len(batch))
    return np.array([[float(s.count(w)) for w in params.vocabulary] for s in batch])
"""
