"""Skip-Thought: its vectors by NumPy, and files that are not as they were published."""

import pickle
import shutil
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pm.write_skipthought(tmp_path_factory.mktemp("skip") / "skip-thoughts")


def encoder(folder: Path, options: str = "") -> Encoder:
    return make_encoder(f"skipthought:{folder}?device=cpu{options}")


def compute_vectors(words: Sequence[str], *, normalized: bool = True) -> tuple[pm.Array, pm.Array]:
    """The vectors of the two models."""
    tables = [pm.word_rows(pm.SKIP_WORDS, seed) for seed in (0, 1)]
    uni, bi = (np.stack([rows.get(word, rows["UNK"]) for word in words]) for rows in tables)
    single = pm.gru_arrays(["encoder"], units=4)
    double = pm.gru_arrays(["encoder", "encoder_r"], units=2)
    both = (pm.gru_state(double, "encoder", bi), pm.gru_state(double, "encoder_r", bi[::-1]))
    first, second = pm.gru_state(single, "encoder", uni), np.concatenate(both)
    if normalized:
        return first / np.linalg.norm(first), second / np.linalg.norm(second)
    return first, second


texts = st.lists(st.sampled_from((*pm.WORDS, "grue")), min_size=1, max_size=6)


@examples(20)
@given(st.lists(texts, min_size=1, max_size=6), st.integers(1, 3))
def test_vectors_are_those_by_hand_whatever_the_batch(folder: Path, batch: list[list[str]], size: int) -> None:
    vectors = encoder(folder, f"&words=spaces&batch={size}").encode([" ".join(w) for w in batch])
    assert vectors.dtype == np.float32
    expected = [np.concatenate(compute_vectors(words)) for words in batch]
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize("mode", ["uni", "bi"])
def test_each_model_alone(folder: Path, mode: str) -> None:
    expected = compute_vectors(["dogs", "ran"])[mode == "bi"]
    vectors = encoder(folder, f"&mode={mode}").encode(["dogs ran"])
    np.testing.assert_allclose(vectors[0], expected, atol=1e-5)


def test_the_end_may_be_marked_and_lengths_kept(folder: Path) -> None:
    marked = encoder(folder, "&eos=yes").encode(["dogs ran"])[0]
    np.testing.assert_allclose(marked, np.concatenate(compute_vectors(["dogs", "ran", "<eos>"])), atol=1e-5)
    stored = encoder(folder, "&normalize=no").encode(["dogs ran"])[0]
    expected = np.concatenate(compute_vectors(["dogs", "ran"], normalized=False))
    np.testing.assert_allclose(stored, expected, atol=1e-5)


def test_word_vectors_are_those_of_both_models(folder: Path) -> None:
    tables = [pm.word_rows(pm.SKIP_WORDS, seed) for seed in (0, 1)]
    known_vector = np.concatenate([rows["dogs"] for rows in tables])
    look_up = get_capabilities(encoder(folder)).word_vectors
    assert look_up is not None
    vectors = look_up(["dogs", "grue"])
    np.testing.assert_allclose(vectors, [known_vector, np.zeros(10)], atol=1e-6)


def test_words_are_divided_as_the_treebank_does(folder: Path) -> None:
    vectors = encoder(folder).encode(["the man didn't sleep."])[0]
    words = ["the", "man", "did", "n't", "sleep", "."]
    np.testing.assert_allclose(vectors, np.concatenate(compute_vectors(words)), atol=1e-5)


def test_unknown_words_are_told(folder: Path) -> None:
    test_encoder = encoder(folder)
    test_encoder.encode(["the man"])
    assert get_capabilities(test_encoder).notes == ()
    test_encoder.encode(["the grue"])
    (note,) = get_capabilities(test_encoder).notes
    assert "1 of 3 different words are not in" in note
    assert note.endswith("dictionary.txt and have the vector of unknown words: grue")


def test_a_sentence_without_words(folder: Path) -> None:
    with pytest.raises(SentprobeError, match="the sentence ' ' has no words"):
        encoder(folder).encode([" "])
    assert encoder(folder, "&eos=yes").encode([" "]).shape == (1, 8)


def test_the_fingerprint_is_of_the_files_that_are_used(folder: Path, tmp_path: Path) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "other")
    np.save(copied_folder / "btable.npy", np.load(copied_folder / "btable.npy") + 1)
    assert encoder(copied_folder).fingerprint != encoder(folder).fingerprint
    uni = [encoder(used_folder, "&mode=uni").fingerprint for used_folder in (copied_folder, folder)]
    assert uni[0] == uni[1] != encoder(folder).fingerprint


def test_arrays_that_python_2_wrote(folder: Path, tmp_path: Path) -> None:
    """Their shapes have an L behind numbers, of which NumPy warns."""
    copied_folder = pm.copy_folder(folder, tmp_path / "other")
    table = np.load(copied_folder / "utable.npy")
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(table)}L, 5L), }}"
    head = header.ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    (copied_folder / "utable.npy").write_bytes(content + table.tobytes())
    assert (encoder(copied_folder).encode(["dogs ran"]) == encoder(folder).encode(["dogs ran"])).all()


def objects(folder: Path, name: str) -> None:
    """The table as it was published: an array of arrays, pickled."""
    rows = np.load(folder / name)
    array = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        array[place] = row
    np.save(folder / name, array, allow_pickle=True)


def test_a_table_of_objects_is_refused_and_the_sentence_says_what_converts_it(folder: Path, tmp_path: Path) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "other")
    objects(copied_folder, "utable.npy")
    objects(copied_folder, "btable.npy")
    with pytest.raises(SentprobeError, match=r"utable.npy: a pickle, which may") as caught:
        encoder(copied_folder)
    code = str(caught.value).partition('python -c "')[2].removesuffix('"')
    subprocess.run([sys.executable, "-c", code], cwd=copied_folder, check=True)
    assert (encoder(copied_folder).encode(["dogs ran"]) == encoder(folder).encode(["dogs ran"])).all()


WORDS, BI, TABLE = "dictionary.txt", "bi_skip.npz", "btable.npy"


def _npz(**changed: object) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with np.load(folder / BI) as actual:
            pm.save_arrays(folder / BI, {**actual, **changed})

    return damage


def _npy(array: object) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / TABLE, array)  # type: ignore[arg-type]


def _hostile(folder: Path) -> None:
    (folder / BI).write_bytes(pickle.dumps(pm.Hostile(folder / "ran")))


BAD: list[tuple[str, Callable[[Path], object], str]] = [
    ("no folder", lambda f: f.rename(f / "../x"), "there is no folder"),
    ("no words", lambda f: (f / WORDS).unlink(), "dictionary.txt: cannot read the words"),
    ("no weights", lambda f: (f / BI).unlink(), "bi_skip.npz: cannot read the weights"),
    ("no table", lambda f: (f / TABLE).unlink(), "btable.npy: cannot read the weights: No such"),
    ("not UTF-8", lambda f: (f / WORDS).write_bytes(b"a\n\xff\n"), "dictionary.txt, line 2"),
    ("no UNK", lambda f: (f / WORDS).write_text("a\n"), "there is no UNK among the words"),
    ("few words", lambda f: (f / WORDS).write_text("UNK\na\n"), r"\(2, 5\) is expected for dictionary"),
    ("a pickle", _hostile, "bi_skip.npz: not an npz file of arrays, or damaged"),
    ("a flipped bit", lambda f: pm.flip_bit_of_weights(f / BI), "damaged: .* in it differs from its checksum"),
    ("cut off", lambda f: pm.truncate_file(f / BI), "bi_skip.npz: not an npz file of arrays"),
    ("cut table", lambda f: pm.truncate_file(f / TABLE), "btable.npy: not an npy file with one array"),
    ("text", lambda f: (f / TABLE).write_text("the 1 2"), "btable.npy: not an npy file with one"),
    ("one array", lambda f: shutil.copy(f / TABLE, f / BI), "bi_skip.npz: not an npz file of arrays"),
    ("missing", _npz(encoder_r_U=None), "bi_skip.npz: this file lacks encoder_r_U"),
    ("shape", _npz(encoder_b=np.ones(3)), r"encoder_b has the shape \(3,\); the other arrays require \(4,\)"),
    ("flat", _npz(encoder_Wx=np.ones(3)), r"encoder_Wx has the shape \(3,\); a matrix is expected"),
    ("whole numbers", _npz(encoder_b=np.ones(4, int)), "encoder_b is not an array of floating"),
    ("texts", _npz(encoder_b=np.array(["a"])), "encoder_b is not an array of floating-point numbers"),
    ("nothing", _npz(encoder_b=np.ones(0)), "encoder_b is not an array of floating-point numbers"),
    ("infinite", _npz(encoder_b=np.full(4, np.nan)), "encoder_b has numbers that are not finite"),
    ("flat table", _npy(np.ones(3)), r"btable.npy: float64 of shape \(3,\); floats"),
    ("numbers", _npy(np.ones((12, 5), int)), r"btable.npy: int64 of shape \(12, 5\); floats"),
    ("narrow", _npy(np.ones((12, 4))), r"of shape \(12, 4\); \(12, 5\) is expected for dictionary"),
]


@pytest.mark.parametrize(("damage", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_files_end_in_a_sentence(
    folder: Path, damage: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "skip")
    damage(copied_folder)
    with pytest.raises(SentprobeError, match=message) as caught:
        encoder(copied_folder)
    assert "\n" not in str(caught.value)


def test_nothing_is_unpickled(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    hostile = np.array([pm.Hostile(mark)], dtype=object)
    for name, damage, message in (
        ("a", _npz(encoder_W=hostile), r"bi_skip.npz: a pickle, .*encoder_W"),
        ("b", lambda f: np.save(f / TABLE, hostile), r"btable.npy: a pickle, which may"),
    ):
        copied_folder = pm.copy_folder(folder, tmp_path / name)
        damage(copied_folder)
        with pytest.raises(SentprobeError, match=message):
            encoder(copied_folder)
    copied_folder = pm.copy_folder(folder, tmp_path / "c")
    _npz(history_errs=hostile)(copied_folder)
    encoder(copied_folder)  # what is not asked for is not looked at
    assert not mark.exists()


def test_an_end_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "skip")
    words = (copied_folder / "dictionary.txt").read_text("utf-8")
    (copied_folder / "dictionary.txt").write_text(words.replace("<eos>", "eos"), "utf-8")
    with pytest.raises(SentprobeError, match="there is no <eos> among the words"):
        encoder(copied_folder, "&eos=yes")
    encoder(copied_folder)


def test_an_unknown_mode(folder: Path) -> None:
    with pytest.raises(SentprobeError, match="option mode=both: one of combine, uni, bi is expected"):
        encoder(folder, "&mode=both")
