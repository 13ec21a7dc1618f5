"""Tests of encoders from Python functions and objects."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.encoders.encoder_modules import SENTEVAL, SOURCE

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.encoders.embedding import CHUNK, embed
from sentprobe.probes.encoders.encoder import Encoder, EncoderError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models.python import CallStyle, PythonEncoder, find_style, wrap_encoder

TEXTS = ("the man slept", "the woman danced", "a doctor met the man")
EXPECTED = [[13, 2], [16, 2], [20, 4]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with modules of a user's; they are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "pair.py").write_text(SENTEVAL, encoding="utf-8")
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(tmp_path)):
            del sys.modules[name]


def make(spec: str, *, seed: int = 0) -> PythonEncoder:
    encoder = make_encoder(f"python:{spec}", seed=seed)
    assert isinstance(encoder, PythonEncoder)
    assert isinstance(encoder, Encoder)
    return encoder


CALLABLE = [
    "mine:lengths",
    "mine:tensor",
    "mine:half",
    "mine:nested",
    "mine:tensors",
    "mine:lazy",
    "mine:model",
    "mine:Model",
    "mine:Outer.inner",
    "mine:model.encode",
    "mine:OldMteb",
    "mine:Mteb?batch=2",
    "mine:Own",
    "mine:Kwargs",
    "mine:Model?style=encode",
    "mine:lengths?style=function",
]


@pytest.mark.parametrize("spec", CALLABLE)
@pytest.mark.usefixtures("here")
def test_callables_of_all_styles_encode(spec: str) -> None:
    encoder = make(spec)
    actual = encoder.encode(TEXTS)
    np.testing.assert_array_equal(actual, np.array(EXPECTED, np.float32), strict=True)
    assert encoder.name == f"python:{spec}"


@pytest.mark.usefixtures("here")
def test_senteval_pair_encodes() -> None:
    actual = make("pair?batch=2", seed=7).encode(TEXTS)
    words = sorted({word for text in TEXTS for word in text.split()})
    assert actual.tolist() == [[float(t.split().count(w)) for w in words] for t in TEXTS]
    assert sys.modules["pair"].calls == ["prepare", 2, 1]


@pytest.mark.usefixtures("here")
def test_prepare_sees_all_sentences() -> None:
    """The pair's vectors are as wide as the vocabulary that prepare saw."""
    texts = [f"w{place} v" for place in range(CHUNK + 1)]
    assert embed(make("pair"), texts).shape == (len(texts), len(texts) + 1)


PARAMETERS = """
params_senteval = {'batch_size': 1, 'model': 5.0}
def batcher(params, batch):
    assert len(batch) == 1 and params.classifier == {'nhid': 0}
    return [[params['model']]]
"""
NO_PREPARE = "def batcher(params, batch):\n    return [[float(len(b))] for b in batch]\n"
ENCODE = "def encode(sentences):\n    return [[float(len(s))] for s in sentences]\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [(PARAMETERS, [[5.0]] * 3), (NO_PREPARE, [[3.0], [3.0], [5.0]]), (ENCODE, [[13.0], [16.0], [20.0]])],
    ids=["parameters", "no prepare", "encode"],
)
def test_module_without_attribute_encodes(source: str, expected: list[list[float]], here: Path) -> None:
    (here / "single.py").write_text(source, encoding="utf-8")
    assert make("single").encode(TEXTS).tolist() == expected


def test_module_in_package_is_found(here: Path) -> None:
    (here / "pack").mkdir()
    (here / "pack" / "__init__.py").touch()
    (here / "pack" / "inner.py").write_text(SOURCE, encoding="utf-8")
    assert make("pack.inner:lengths").encode(TEXTS).tolist() == EXPECTED


class Both:
    """An object that can be called in several ways."""

    def __call__(self, sentences: Sequence[str]) -> None: ...

    def encode(self, sentences: Sequence[str], task_name: str) -> None: ...


@pytest.mark.parametrize(
    ("found", "style"),
    [(Both(), CallStyle.MTEB1), (len, CallStyle.FUNCTION), ([].append, CallStyle.FUNCTION), (3, None)],
)
def test_style_is_found(found: object, style: CallStyle | None) -> None:
    assert find_style(found) is style


def test_fingerprint_is_of_source_and_version(here: Path) -> None:
    first = make("mine:lengths").fingerprint
    assert make("mine:lengths", seed=1).fingerprint == first
    assert make("mine:nested").fingerprint != first
    assert make("mine:lengths?version=2").fingerprint != first
    (here / "mine.py").write_text(SOURCE + "\n# changed\n", encoding="utf-8")
    del sys.modules["mine"]
    assert make("mine:lengths").fingerprint != first


@pytest.mark.usefixtures("here")
def test_seed_counts_for_senteval_pair() -> None:
    assert make("pair", seed=1).fingerprint != make("pair").fingerprint
    assert make("pair?seed=1").encode(TEXTS).shape == (3, 8)


def test_own_fingerprint_is_taken(here: Path) -> None:
    first = make("mine:Own").fingerprint
    (here / "mine.py").write_text(SOURCE + "\n# changed\n", encoding="utf-8")
    del sys.modules["mine"]
    assert make("mine:Own").fingerprint == first


@pytest.mark.parametrize(
    ("spec", "cacheable"),
    [("mine:lengths", False), ("mine:lengths?version=1", True), ("mine:Own", True), ("mine:NotCached", False)],
)
@pytest.mark.usefixtures("here")
def test_only_versioned_encoder_is_cacheable(spec: str, cacheable: bool) -> None:
    assert make(spec).capabilities.cacheable is cacheable


BAD_RESULTS: list[tuple[str, str]] = [
    ("wrong_count", "returned 2 rows for 3 sentences"),
    ("not_finite", "returned a vector that is not finite for the sentence 'the man slept'"),
    ("whole", "returned int64; floating point is expected"),
    ("ragged", "raised ValueError: setting an array element with a sequence"),
    ("nothing", "returned an array of shape ()"),
    ("raises", "raised RuntimeError: out of memory"),
    ("leaves", "raised SystemExit: 3"),
    ("lengths?style=encode", "raised AttributeError: 'function' object has no attribute 'encode'"),
    ("lengths?style=senteval", "raised AttributeError: 'function' object has no attribute 'batch"),
    ("model?style=function", "raised TypeError: 'Model' object is not callable"),
]


@pytest.mark.parametrize(("attribute", "message"), BAD_RESULTS)
@pytest.mark.usefixtures("here")
def test_bad_result_is_refused(attribute: str, message: str) -> None:
    encoder = make(f"mine:{attribute}")
    with pytest.raises(EncoderError) as caught:
        encoder.encode(TEXTS)
    assert str(caught.value).startswith(f"encoder python:mine:{attribute} {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("here")
def test_ctrl_c_is_no_encoder_error() -> None:
    with pytest.raises(KeyboardInterrupt):
        make("mine:interrupted").encode(TEXTS)


BAD_SPECS: list[tuple[str, type[SentprobeError], str]] = [
    ("python:miné", UsageError, "there is no module 'miné' in the working directory"),
    ("python:mine.py:lengths", UsageError, "no module 'mine.py' in"),
    ("python:mine.py", UsageError, "a module is named without .py"),
    ("python:mine:lenghts", UsageError, "mine has no attribute 'lenghts' (did you mean 'lengths'?"),
    ("python:mine:model.encod", UsageError, "Model has no attribute 'encod' (did you mean 'encode'"),
    ("python:mine:number", EncoderError, "number is neither a function nor an object with encode"),
    ("python:mine", EncoderError, "has no function encode or batcher; name one, as in python:mine:"),
    ("python:mine:Needs", EncoderError, "calling Needs() without arguments raised TypeError: "),
    ("python:broken", EncoderError, "importing broken raised SyntaxError: "),
    ("python:needing", EncoderError, "importing needing raised ModuleNotFoundError: No module nam"),
    ("python:leaving", EncoderError, "importing leaving raised SystemExit: 2"),
    ("python::f", SentprobeError, "python::f"),
    ("python:mine:lengths?style=functoin", UsageError, "(did you mean 'function'?)"),
    ("python:mine:lengths?bach=3", UsageError, "python has no option 'bach' (did you mean 'batch'"),
]


@pytest.mark.parametrize(("spec", "kind", "message"), BAD_SPECS)
def test_bad_spec_is_refused(here: Path, spec: str, kind: type[SentprobeError], message: str) -> None:
    (here / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (here / "needing.py").write_text("import not_there_at_all\n", encoding="utf-8")
    (here / "leaving.py").write_text("raise SystemExit(2)\n", encoding="utf-8")
    with pytest.raises(kind) as caught:
        make_encoder(spec, seed=0)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_working_directory_precedes_installed_modules(here: Path) -> None:
    (here / "wheel.py").write_text(SOURCE, encoding="utf-8")
    assert make("wheel:lengths").encode(TEXTS).tolist() == EXPECTED


def test_class_is_instantiated_once(here: Path) -> None:
    """An object is made once, and called for each batch."""
    source = (
        "class Count:\n    made = 0\n    def __init__(self):\n        Count.made += 1\n"
        "    def __call__(self, sentences):\n"
        "        return [[float(Count.made)] for _ in sentences]\n"
    )
    (here / "state.py").write_text(source, encoding="utf-8")
    encoder = make("state:Count")
    encode: Callable[[Sequence[str]], Any] = encoder.encode
    assert encode(["a"]).tolist() == encode(["b"]).tolist() == [[1.0]]


def count_spaces(sentences: Sequence[str]) -> list[list[float]]:
    return [[float(text.count(" "))] for text in sentences]


def test_function_is_wrapped() -> None:
    encoder = wrap_encoder(count_spaces, name="spaces")
    assert encoder.encode(["a b c"]).tolist() == [[2.0]]
    assert not encoder.capabilities.cacheable
    assert encoder.fingerprint == wrap_encoder(count_spaces, name="spaces").fingerprint
    named = wrap_encoder(count_spaces, name="spaces", fingerprint="1")
    assert named.capabilities.cacheable
    assert named.fingerprint == wrap_encoder(count_spaces, name="spaces", fingerprint="1").fingerprint
    assert named.fingerprint != wrap_encoder(count_spaces, name="spaces", fingerprint="2").fingerprint
    with pytest.raises(EncoderError, match="odd: a int is neither a function nor an object with"):
        wrap_encoder(3, name="odd")


def test_function_without_file_has_own_fingerprint() -> None:
    """As in a notebook, where its text may have changed under the same name."""
    scope: dict[str, Any] = {"__name__": "no.file"}
    exec("def encode(sentences):\n    return [[1.0] for _ in sentences]", scope)
    first, second = (wrap_encoder(scope["encode"], name="mine") for _ in range(2))
    assert first.fingerprint != second.fingerprint
