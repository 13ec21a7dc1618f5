"""SDAE: its vectors by NumPy, and files that are not as its code writes them."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.encoders import published_models as pm
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.encoders.encoder import Encoder, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder

Files = tuple[Path, Path]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return pm.write_sdae(tmp_path_factory.mktemp("sdae"))


def encoder(files: Files, options: str = "") -> Encoder:
    return make_encoder(f"sdae:{files[0]}?dictionary={files[1]}&device=cpu{options}")


def compute_vector(words: Sequence[str]) -> pm.Array:
    table = np.stack(list(pm.word_rows(pm.SDAE_WORDS).values()))
    numbers = [pm.WORDS.index(word) + 2 if word in pm.WORDS else 1 for word in words]
    return pm.gru_state(pm.gru_arrays(["encoder"], units=4), "encoder", table[[*numbers, 0]])


texts = st.lists(st.sampled_from((*pm.WORDS, "grue")), max_size=6)


@examples(20)
@given(st.lists(texts, min_size=1, max_size=6), st.integers(1, 3))
def test_vectors_are_those_by_hand_whatever_the_batch(files: Files, batch: list[list[str]], size: int) -> None:
    vectors = encoder(files, f"&words=spaces&batch={size}").encode([" ".join(w) for w in batch])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [compute_vector(words) for words in batch], atol=1e-5)


def test_words_are_divided_as_their_code_does(files: Files) -> None:
    test_encoder = encoder(files)
    expected = compute_vector(["the", "man", "didn", "'", "t", "sleep", "."])
    np.testing.assert_allclose(test_encoder.encode(["the man didn't sleep."])[0], expected, atol=1e-5)
    assert "2 of 7 different words are not in" in get_capabilities(test_encoder).notes[0]


def test_word_vectors_are_of_its_own_table(files: Files) -> None:
    look_up = get_capabilities(encoder(files)).word_vectors
    assert look_up is not None
    vectors = look_up(["dogs", "grue"])
    np.testing.assert_allclose(vectors, [pm.word_rows(pm.SDAE_WORDS)["dogs"], np.zeros(5)], atol=1e-6)


def test_word_vectors_beside_the_model(files: Files, tmp_path: Path) -> None:
    """Of a model that learned over fixed ones, whose own table says nothing."""
    with np.load(files[0]) as arrays:
        np.save(tmp_path / "vectors.npy", arrays["Wemb"])
        pm.save_arrays(tmp_path / "model.npz", {**arrays, "Wemb": np.ones((2, 2))})
    beside = encoder((tmp_path / "model.npz", files[1]), f"&vectors={tmp_path}/vectors.npy")
    assert (beside.encode(["dogs ran"]) == encoder(files).encode(["dogs ran"])).all()
    assert beside.fingerprint != encoder(files).fingerprint


def test_what_their_code_pickles_is_refused_and_the_sentence_says_what_converts_it(
    files: Files, tmp_path: Path
) -> None:
    numbers = {word: number for number, word in enumerate(pm.WORDS, 2)}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):  # Python 2 wrote 0, unless it was asked to
        pickled = tmp_path / "books.dict.pkl"
        pickled.write_bytes(pickle.dumps(numbers, protocol=protocol))
        with pytest.raises(SentprobeError, match=r"dict.pkl: a pickle, which may") as caught:
            encoder((files[0], pickled))
    code = str(caught.value).partition('python -c "')[2].rpartition('"')[0]
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "words.tsv").write_bytes(done.stdout)
    test_encoder = encoder((files[0], tmp_path / "words.tsv"))
    assert (test_encoder.encode(["dogs ran"]) == encoder(files).encode(["dogs ran"])).all()


def test_a_pickled_model_is_refused(files: Files, tmp_path: Path) -> None:
    model, mark = tmp_path / "model.pkl", tmp_path / "ran"
    model.write_bytes(pickle.dumps(pm.Hostile(mark)))
    with pytest.raises(SentprobeError, match=r"model.pkl: a pickle, .*numpy.savez"):
        encoder((model, files[1]))
    assert not mark.exists()


def test_the_fingerprint_is_of_model_and_words(files: Files, tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text(files[1].read_text("utf-8").replace("dogs", "cats"), "utf-8")
    assert encoder((files[0], words)).fingerprint != encoder(files).fingerprint


def _words(text: str) -> Callable[[Path, Path], object]:
    return lambda _, words: words.write_text(text, "utf-8")


def _arrays(**changed: object) -> Callable[[Path, Path], None]:
    def damage(model: Path, _: Path) -> None:
        with np.load(model) as arrays:
            pm.save_arrays(model, {**arrays, **changed})

    return damage


BAD: list[tuple[str, Callable[[Path, Path], object], str]] = [
    ("no model", lambda model, _: model.unlink(), "model.npz: cannot read the weights: No such"),
    ("no words", lambda _, words: words.unlink(), "words.tsv: cannot read the weights: No such"),
    ("cut off", lambda model, _: pm.truncate_file(model), "model.npz: not an npz file of arrays, or"),
    ("no tab", _words("the\t2\nman 3\n"), "words.tsv, line 2: a word, a tab and its number are"),
    ("no number", _words("the\tx\n"), "words.tsv, line 1: a word, a tab and its number are expected"),
    ("vast", _words("the\t1" + "0" * 5000), "words.tsv, line 1: a word, a tab and its number"),
    ("none", _words(""), "words.tsv: no word has a number below 12"),
    ("beyond", _words("the\t12\n"), "words.tsv: no word has a number below 12"),
    ("table", _arrays(Wemb=np.ones((9, 4))), r"word vectors of shape \(9, 4\); .* of width 5"),
    ("few", _arrays(Wemb=np.ones((1, 5))), r"of shape \(1, 5\); at least two of"),
    ("flat", _arrays(Wemb=np.ones(5)), r"word vectors of shape \(5,\); at least two of width 5"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_files_end_in_a_sentence(damage: Callable[[Path, Path], object], message: str, tmp_path: Path) -> None:
    model, words = pm.write_sdae(tmp_path)
    damage(model, words)
    with pytest.raises(SentprobeError, match=message) as caught:
        encoder((model, words))
    assert "\n" not in str(caught.value)


def test_a_dictionary_is_wanted(files: Files) -> None:
    with pytest.raises(SentprobeError, match="sdae: dictionary=FILE is expected: lines of a word, a tab"):
        make_encoder(f"sdae:{files[0]}")
