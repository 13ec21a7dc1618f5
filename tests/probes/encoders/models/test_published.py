"""InferSent, SDAE and Skip-Thought: their vectors by NumPy, and files that are not as they were published."""

import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.encoders import published_models as pm
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.encoders.encoder import Encoder, count_truncated_sentences, get_capabilities
from sentprobe.probes.encoders.kinds import make_encoder, make_encoders

MARKS = {1: ("<s>", "</s>"), 2: ("<p>", "</p>")}
Files = tuple[Path, Path]


@pytest.fixture(scope="module", params=[1, 2])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def infersent_files(version: int, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return pm.write_infersent(tmp_path_factory.mktemp("infersent"), version=version, marks=MARKS[version])


def infersent(infersent_files: Files, options: str = "") -> Encoder:
    return make_encoder(f"infersent:{infersent_files[0]}?vectors={infersent_files[1]}&device=cpu{options}")


def compute_infersent(words: Sequence[str], version: int) -> pm.Array:
    rows = pm.word_rows((*pm.WORDS, *MARKS[version]))
    begin, end = MARKS[version]
    inputs = np.stack([rows[word] for word in (begin, *words, end) if word in rows])
    weights = pm.lstm_weights()
    forward_states = pm.lstm_states(weights, "", inputs)
    back = pm.lstm_states(weights, "_reverse", inputs[::-1])
    return np.concatenate((forward_states.max(axis=0), back.max(axis=0)))


known_texts = st.lists(st.sampled_from(pm.WORDS), max_size=6)


@examples(20)
@given(st.lists(known_texts, min_size=1, max_size=6), st.integers(1, 3))
def test_infersent_equals_numpy(infersent_files: Files, version: int, batch: list[list[str]], size: int) -> None:
    vectors = infersent(infersent_files, f"&words=spaces&batch={size}").encode([" ".join(words) for words in batch])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [compute_infersent(words, version) for words in batch], atol=1e-5)


def test_infersent_has_halves(infersent_files: Files, version: int) -> None:
    expected = np.split(compute_infersent(pm.WORDS[:2], version), 2)
    actual = [infersent(infersent_files, f"&words=spaces&half={half}") for half in ("forward", "backward")]
    vectors = [encoder.encode([" ".join(pm.WORDS[:2])])[0] for encoder in actual]
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_infersent_divides_words_as_published(infersent_files: Files, version: int) -> None:
    sentence = "the man didn't sleep."
    words = ["the", "man", *(["did", "n't"], ["didn", "'t"])[version - 1], "sleep", "."]
    np.testing.assert_allclose(
        infersent(infersent_files).encode([sentence])[0], compute_infersent(words, version), atol=1e-5
    )
    spaces = infersent(infersent_files, "&words=spaces").encode([sentence])[0]
    np.testing.assert_allclose(spaces, compute_infersent(["the", "man"], version), atol=1e-5)


def test_infersent_may_pad_with_zeros(infersent_files: Files) -> None:
    """As theirs, computed the way they do it: the sentence beside a longer one, padded by zeros."""
    sentence, longer = "dogs ran", "the man did sleep . the man did sleep ."
    test_encoder = infersent(infersent_files, "&padding=zeros")
    lstm = test_encoder.lstm  # type: ignore[attr-defined]
    marked = [test_encoder.preprocessing.add_marks(item) for item in (sentence, longer)]  # type: ignore[attr-defined]
    rows = [*test_encoder.words.look_up(marked)]  # type: ignore[attr-defined]
    with torch.inference_mode():
        packed = torch.nn.utils.rnn.pack_sequence([torch.from_numpy(item) for item in rows], enforce_sorted=False)
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(lstm(packed)[0])
    np.testing.assert_allclose(test_encoder.encode([sentence])[0], padded.amax(dim=0)[0], atol=1e-6)
    assert test_encoder.encode([sentence]).min() == 0 > infersent(infersent_files).encode([sentence]).min()


def test_infersent_omits_unknown_words(infersent_files: Files, version: int) -> None:
    test_encoder = infersent(infersent_files)
    test_encoder.encode(["the man"])
    assert get_capabilities(test_encoder).notes == ()
    some = test_encoder.encode(["the grue man"])[0]
    np.testing.assert_allclose(some, compute_infersent(["the", "man"], version), atol=1e-5)
    look_up = get_capabilities(test_encoder).word_vectors
    assert look_up is not None
    known_vector, unknown = look_up(["man", "grue"])
    np.testing.assert_allclose(known_vector, pm.word_rows((*pm.WORDS, *MARKS[version]))["man"], atol=1e-6)
    assert not unknown.any()
    assert count_truncated_sentences(test_encoder, ["the grue man"]) == 0


def test_infersent_omits_mark_without_vector(tmp_path: Path) -> None:
    test_encoder = infersent(pm.write_infersent(tmp_path, marks=()))
    states = pm.lstm_states(pm.lstm_weights(), "", np.stack([pm.word_rows(pm.WORDS)["dogs"]]))
    np.testing.assert_allclose(test_encoder.encode(["dogs"])[0, : pm.UNITS], states[0], atol=1e-5)


@pytest.mark.parametrize("written", [{"prefix": "encoder."}, {"_use_new_zipfile_serialization": True}])
def test_infersent_reads_other_weight_files(
    infersent_files: Files, version: int, tmp_path: Path, written: dict[str, str]
) -> None:
    """That of the network with its classifier, as their training saves it; a newer PyTorch's."""
    second = pm.write_infersent(tmp_path, version=version, marks=MARKS[version], **written)  # type: ignore[arg-type]
    ours, theirs = infersent(infersent_files), infersent(second)
    assert (ours.encode(["dogs ran"]) == theirs.encode(["dogs ran"])).all()
    assert ours.fingerprint != theirs.fingerprint


def test_infersent_fingerprint_is_of_files_and_options(infersent_files: Files, tmp_path: Path) -> None:
    model, vectors = infersent_files
    prints = [
        infersent(infersent_files, parameter).fingerprint for parameter in ("", "&padding=zeros", "&words=spaces")
    ]
    changed = tmp_path / "words.txt"
    changed.write_text(vectors.read_text("utf-8").replace("dogs ", "cats "), "utf-8")
    prints.append(infersent((model, changed)).fingerprint)
    assert len(set(prints)) == 4
    assert infersent(infersent_files, "&batch=2").fingerprint == prints[0]


def test_infersent_version_may_be_given(infersent_files: Files, version: int, tmp_path: Path) -> None:
    model = tmp_path / "mine.pt"
    model.write_bytes(infersent_files[0].read_bytes())
    with pytest.raises(SentprobeError, match=r"version=1 or version=2 is expected; the name mine.pt"):
        infersent((model, infersent_files[1]))
    test_encoder = infersent((model, infersent_files[1]), f"&version={version}")
    assert test_encoder.fingerprint == infersent(infersent_files).fingerprint


def save_changed(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path, Path], None]:
    def damage(model: Path, _: Path) -> None:
        weights = torch.load(model, weights_only=True)
        torch.save(change(weights), model)

    return damage


def flip_bit(model: Path, vectors: Path) -> None:
    save_changed(dict)(model, vectors)
    pm.flip_bit_of_weights(model)


def set_tensor(name: str, tensor: object) -> Callable[[Path, Path], None]:
    return save_changed(lambda weights: {**weights, f"enc_lstm.{name}": tensor})


def dump_object(make: Callable[[Path], object], dump: Callable[..., None]) -> Callable[[Path, Path], None]:
    def damage(model: Path, _: Path) -> None:
        with model.open("wb") as file:
            dump(make(model.parent / "ran"), file)

    return damage


UNPICKLING = (
    r"infersent1.pkl: a pickle, which may contain code that runs when it is read; "
    r"if you trust it, convert it: beside their models.py, python -c .*weights_only=False.*state_dict"
)
NO_DICTIONARY = "not a PyTorch state dictionary, or damaged"
BAD_INFERSENT: list[tuple[str, Callable[[Path, Path], object], str]] = [
    ("code", dump_object(pm.Hostile, torch.save), UNPICKLING),
    ("code in a pickle", dump_object(pm.Hostile, pickle.dump), NO_DICTIONARY),
    ("a model", dump_object(lambda _: torch.nn.Linear(1, 1), torch.save), UNPICKLING),
    ("cut off", lambda model, _: pm.truncate_file(model), NO_DICTIONARY),
    ("empty", lambda model, _: model.write_bytes(b""), NO_DICTIONARY),
    ("text", lambda model, _: model.write_text("the 0.1 0.2\n"), NO_DICTIONARY),
    ("a flipped bit", flip_bit, "damaged: '.*/data/0' in it differs from its checksum"),
    ("a list", save_changed(lambda _: [1]), "a list; a state dictionary is expected"),
    ("none", save_changed(lambda _: {}), "this file lacks enc_lstm.weight_ih_l0, enc_lstm.weight_hh_l0,"),
    ("another", set_tensor("weight_ih_l1", torch.ones(2)), "this file has enc_lstm.weight_ih_l1"),
    ("a number", set_tensor("bias_hh_l0", 3), "enc_lstm.bias_hh_l0 is not a dense tensor"),
    ("integers", set_tensor("bias_hh_l0", torch.ones(12).int()), r"is torch.int32 of shape \(12,\)"),
    ("no numbers", set_tensor("bias_hh_l0", torch.ones(0)), r"is torch.float32 of shape \(0,\)"),
    ("short", set_tensor("bias_hh_l0", torch.ones(8)), r"has the shape \(8,\); the other arrays require \(12,\)"),
    ("flat", set_tensor("weight_hh_l0", torch.ones(36)), r"weight_hh_l0 has the shape \(36,\)"),
    ("a scalar", set_tensor("weight_hh_l0", torch.tensor(1.0)), r"weight_hh_l0 has the shape \(\)"),
    ("vast", set_tensor("bias_hh_l0", torch.ones(1).expand(10**12)), "declare more numbers than the file"),
    ("infinite", set_tensor("bias_hh_l0", torch.full((12,), torch.inf)), "has numbers that are not"),
    ("wide", set_tensor("weight_ih_l0", torch.ones(12, 7)), r"_l0_reverse has the shape \(12, 5\)"),
    ("no vectors", lambda _, vectors: vectors.unlink(), "words.txt: cannot read the word vectors"),
    ("no model", lambda model, _: model.unlink(), "infersent1.pkl: cannot read the weights"),
    (
        "narrow",
        lambda _, vectors: vectors.write_text("the 1 2\n<s> 1 2\n"),
        "words.txt: vectors of width 2; .*infersent1.pkl needs 5",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def sdae_files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return pm.write_sdae(tmp_path_factory.mktemp("sdae"))


def sdae(sdae_files: Files, options: str = "") -> Encoder:
    return make_encoder(f"sdae:{sdae_files[0]}?dictionary={sdae_files[1]}&device=cpu{options}")


def compute_sdae(words: Sequence[str]) -> pm.Array:
    table = np.stack(list(pm.word_rows(pm.SDAE_WORDS).values()))
    numbers = [pm.WORDS.index(word) + 2 if word in pm.WORDS else 1 for word in words]
    return pm.gru_state(pm.gru_arrays(["encoder"], units=4), "encoder", table[[*numbers, 0]])


texts = st.lists(st.sampled_from((*pm.WORDS, "grue")), max_size=6)


@examples(20)
@given(st.lists(texts, min_size=1, max_size=6), st.integers(1, 3))
def test_sdae_equals_numpy(sdae_files: Files, batch: list[list[str]], size: int) -> None:
    vectors = sdae(sdae_files, f"&words=spaces&batch={size}").encode([" ".join(w) for w in batch])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [compute_sdae(words) for words in batch], atol=1e-5)


def test_sdae_divides_words_as_published(sdae_files: Files) -> None:
    test_encoder = sdae(sdae_files)
    expected = compute_sdae(["the", "man", "didn", "'", "t", "sleep", "."])
    np.testing.assert_allclose(test_encoder.encode(["the man didn't sleep."])[0], expected, atol=1e-5)
    assert "2 of 7 different words are not in" in get_capabilities(test_encoder).notes[0]


def test_sdae_has_word_vectors(sdae_files: Files) -> None:
    look_up = get_capabilities(sdae(sdae_files)).word_vectors
    assert look_up is not None
    vectors = look_up(["dogs", "grue"])
    np.testing.assert_allclose(vectors, [pm.word_rows(pm.SDAE_WORDS)["dogs"], np.zeros(5)], atol=1e-6)


def test_sdae_takes_word_vectors_beside(sdae_files: Files, tmp_path: Path) -> None:
    """Of a model that learned over fixed ones, whose own table says nothing."""
    with np.load(sdae_files[0]) as arrays:
        np.save(tmp_path / "vectors.npy", arrays["Wemb"])
        pm.save_arrays(tmp_path / "model.npz", {**arrays, "Wemb": np.ones((2, 2))})
    beside = sdae((tmp_path / "model.npz", sdae_files[1]), f"&vectors={tmp_path}/vectors.npy")
    assert (beside.encode(["dogs ran"]) == sdae(sdae_files).encode(["dogs ran"])).all()
    assert beside.fingerprint != sdae(sdae_files).fingerprint


def test_sdae_pickle_is_refused_with_conversion(sdae_files: Files, tmp_path: Path) -> None:
    numbers = {word: number for number, word in enumerate(pm.WORDS, 2)}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):  # Python 2 wrote 0, unless it was asked to
        pickled = tmp_path / "books.dict.pkl"
        pickled.write_bytes(pickle.dumps(numbers, protocol=protocol))
        with pytest.raises(SentprobeError, match=r"dict.pkl: a pickle, which may") as caught:
            sdae((sdae_files[0], pickled))
    code = str(caught.value).partition('python -c "')[2].rpartition('"')[0]
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "words.tsv").write_bytes(done.stdout)
    test_encoder = sdae((sdae_files[0], tmp_path / "words.tsv"))
    assert (test_encoder.encode(["dogs ran"]) == sdae(sdae_files).encode(["dogs ran"])).all()


def test_sdae_pickled_model_is_refused(sdae_files: Files, tmp_path: Path) -> None:
    model, mark = tmp_path / "model.pkl", tmp_path / "ran"
    model.write_bytes(pickle.dumps(pm.Hostile(mark)))
    with pytest.raises(SentprobeError, match=r"model.pkl: a pickle, .*numpy.savez"):
        sdae((model, sdae_files[1]))
    assert not mark.exists()


def test_sdae_fingerprint_is_of_model_and_words(sdae_files: Files, tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text(sdae_files[1].read_text("utf-8").replace("dogs", "cats"), "utf-8")
    assert sdae((sdae_files[0], words)).fingerprint != sdae(sdae_files).fingerprint


def write_words(text: str) -> Callable[[Path, Path], object]:
    return lambda _, words: words.write_text(text, "utf-8")


def change_arrays(**changed: object) -> Callable[[Path, Path], None]:
    def damage(model: Path, _: Path) -> None:
        with np.load(model) as arrays:
            pm.save_arrays(model, {**arrays, **changed})

    return damage


BAD_SDAE: list[tuple[str, Callable[[Path, Path], object], str]] = [
    ("no model", lambda model, _: model.unlink(), "model.npz: cannot read the weights: No such"),
    ("no words", lambda _, words: words.unlink(), "words.tsv: cannot read the weights: No such"),
    ("cut off", lambda model, _: pm.truncate_file(model), "model.npz: not an npz file of arrays, or"),
    ("no tab", write_words("the\t2\nman 3\n"), "words.tsv, line 2: a word, a tab and its number are"),
    ("no number", write_words("the\tx\n"), "words.tsv, line 1: a word, a tab and its number are expected"),
    ("vast", write_words("the\t1" + "0" * 5000), "words.tsv, line 1: a word, a tab and its number"),
    ("twice", write_words("the\t2\nman\t3\nthe\t4\n"), "words.tsv, line 3: the word 'the' is listed twice"),
    ("same", write_words("the\t2\nman\t2\n"), "words.tsv, line 2: the number 2 is that of two words, 'the' and 'man'"),
    ("none", write_words(""), "words.tsv: no word has a number below 12"),
    ("beyond", write_words("the\t12\n"), "words.tsv: no word has a number below 12"),
    ("table", change_arrays(Wemb=np.ones((9, 4))), r"word vectors of shape \(9, 4\); .* of width 5"),
    ("few", change_arrays(Wemb=np.ones((1, 5))), r"of shape \(1, 5\); at least two of"),
    ("flat", change_arrays(Wemb=np.ones(5)), r"word vectors of shape \(5,\); at least two of width 5"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pm.write_skipthought(tmp_path_factory.mktemp("skip") / "skip-thoughts")


def skipthought(folder: Path, options: str = "") -> Encoder:
    return make_encoder(f"skipthought:{folder}?device=cpu{options}")


def compute_skipthought(words: Sequence[str], *, normalized: bool = True) -> tuple[pm.Array, pm.Array]:
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


nonempty_texts = st.lists(st.sampled_from((*pm.WORDS, "grue")), min_size=1, max_size=6)


@examples(20)
@given(st.lists(nonempty_texts, min_size=1, max_size=6), st.integers(1, 3))
def test_skipthought_equals_numpy(folder: Path, batch: list[list[str]], size: int) -> None:
    vectors = skipthought(folder, f"&words=spaces&batch={size}").encode([" ".join(w) for w in batch])
    assert vectors.dtype == np.float32
    expected = [np.concatenate(compute_skipthought(words)) for words in batch]
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize("mode", ["uni", "bi"])
def test_skipthought_reads_each_model_alone(folder: Path, mode: str) -> None:
    expected = compute_skipthought(["dogs", "ran"])[mode == "bi"]
    vectors = skipthought(folder, f"&mode={mode}").encode(["dogs ran"])
    np.testing.assert_allclose(vectors[0], expected, atol=1e-5)


def test_skipthought_bi_has_halves(folder: Path) -> None:
    expected = np.split(compute_skipthought(["dogs", "ran"])[1], 2)
    encoders = make_encoders(f"skipthought:{folder}?device=cpu&mode=bi&half=forward,backward")
    actual = [encoder.encode(["dogs ran"])[0] for encoder in encoders if isinstance(encoder, Encoder)]
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    with pytest.raises(UsageError, match="or skipthought with mode=bi"):
        skipthought(folder, "&half=forward")


def test_skipthought_end_and_length_are_options(folder: Path) -> None:
    marked = skipthought(folder, "&eos=yes").encode(["dogs ran"])[0]
    np.testing.assert_allclose(marked, np.concatenate(compute_skipthought(["dogs", "ran", "<eos>"])), atol=1e-5)
    stored = skipthought(folder, "&normalize=no").encode(["dogs ran"])[0]
    expected = np.concatenate(compute_skipthought(["dogs", "ran"], normalized=False))
    np.testing.assert_allclose(stored, expected, atol=1e-5)


def test_skipthought_has_word_vectors(folder: Path) -> None:
    tables = [pm.word_rows(pm.SKIP_WORDS, seed) for seed in (0, 1)]
    known_vector = np.concatenate([rows["dogs"] for rows in tables])
    look_up = get_capabilities(skipthought(folder)).word_vectors
    assert look_up is not None
    vectors = look_up(["dogs", "grue"])
    np.testing.assert_allclose(vectors, [known_vector, np.zeros(10)], atol=1e-6)


def test_skipthought_divides_words_as_treebank(folder: Path) -> None:
    vectors = skipthought(folder).encode(["the man didn't sleep."])[0]
    words = ["the", "man", "did", "n't", "sleep", "."]
    np.testing.assert_allclose(vectors, np.concatenate(compute_skipthought(words)), atol=1e-5)


def test_skipthought_reports_unknown_words(folder: Path) -> None:
    test_encoder = skipthought(folder)
    test_encoder.encode(["the man"])
    assert get_capabilities(test_encoder).notes == ()
    test_encoder.encode(["the grue"])
    (note,) = get_capabilities(test_encoder).notes
    assert "1 of 3 different words are not in" in note
    assert note.endswith("dictionary.txt and have the vector of unknown words: grue")


def test_skipthought_needs_words(folder: Path) -> None:
    with pytest.raises(SentprobeError, match="the sentence ' ' has no words"):
        skipthought(folder).encode([" "])
    assert skipthought(folder, "&eos=yes").encode([" "]).shape == (1, 8)


def test_skipthought_fingerprint_is_of_used_files(folder: Path, tmp_path: Path) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "other")
    np.save(copied_folder / "btable.npy", np.load(copied_folder / "btable.npy") + 1)
    assert skipthought(copied_folder).fingerprint != skipthought(folder).fingerprint
    uni = [skipthought(used_folder, "&mode=uni").fingerprint for used_folder in (copied_folder, folder)]
    assert uni[0] == uni[1] != skipthought(folder).fingerprint


def test_skipthought_reads_arrays_of_python_2(folder: Path, tmp_path: Path) -> None:
    """Their shapes have an L behind numbers, of which NumPy warns."""
    copied_folder = pm.copy_folder(folder, tmp_path / "other")
    table = np.load(copied_folder / "utable.npy")
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(table)}L, 5L), }}"
    head = header.ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    (copied_folder / "utable.npy").write_bytes(content + table.tobytes())
    assert (skipthought(copied_folder).encode(["dogs ran"]) == skipthought(folder).encode(["dogs ran"])).all()


def save_objects(folder: Path, name: str) -> None:
    """The table as it was published: an array of arrays, pickled."""
    rows = np.load(folder / name)
    array = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        array[place] = row
    np.save(folder / name, array, allow_pickle=True)


def test_skipthought_pickle_is_refused_with_conversion(folder: Path, tmp_path: Path) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "other")
    save_objects(copied_folder, "utable.npy")
    save_objects(copied_folder, "btable.npy")
    with pytest.raises(SentprobeError, match=r"utable.npy: a pickle, which may") as caught:
        skipthought(copied_folder)
    code = str(caught.value).partition('python -c "')[2].removesuffix('"')
    subprocess.run([sys.executable, "-c", code], cwd=copied_folder, check=True)
    assert (skipthought(copied_folder).encode(["dogs ran"]) == skipthought(folder).encode(["dogs ran"])).all()


WORDS, BI, TABLE = "dictionary.txt", "bi_skip.npz", "btable.npy"


def change_npz(**changed: object) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with np.load(folder / BI) as actual:
            pm.save_arrays(folder / BI, {**actual, **changed})

    return damage


def save_npy(array: object) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / TABLE, array)  # type: ignore[arg-type]


def save_pickle(folder: Path) -> None:
    (folder / BI).write_bytes(pickle.dumps(pm.Hostile(folder / "ran")))


BAD_SKIPTHOUGHT: list[tuple[str, Callable[[Path], object], str]] = [
    ("no folder", lambda f: f.rename(f / "../x"), "there is no folder"),
    ("no words", lambda f: (f / WORDS).unlink(), "dictionary.txt: cannot read the words"),
    ("no weights", lambda f: (f / BI).unlink(), "bi_skip.npz: cannot read the weights"),
    ("no table", lambda f: (f / TABLE).unlink(), "btable.npy: cannot read the weights: No such"),
    ("not UTF-8", lambda f: (f / WORDS).write_bytes(b"a\n\xff\n"), "dictionary.txt, line 2"),
    ("no UNK", lambda f: (f / WORDS).write_text("a\n"), "there is no UNK among the words"),
    ("few words", lambda f: (f / WORDS).write_text("UNK\na\n"), r"\(2, 5\) is expected for dictionary"),
    ("a pickle", save_pickle, "bi_skip.npz: not an npz file of arrays, or damaged"),
    ("a flipped bit", lambda f: pm.flip_bit_of_weights(f / BI), "damaged: .* in it differs from its checksum"),
    ("cut off", lambda f: pm.truncate_file(f / BI), "bi_skip.npz: not an npz file of arrays"),
    ("cut table", lambda f: pm.truncate_file(f / TABLE), "btable.npy: not an npy file with one array"),
    ("text", lambda f: (f / TABLE).write_text("the 1 2"), "btable.npy: not an npy file with one"),
    ("one array", lambda f: shutil.copy(f / TABLE, f / BI), "bi_skip.npz: not an npz file of arrays"),
    ("missing", change_npz(encoder_r_U=None), "bi_skip.npz: this file lacks encoder_r_U"),
    ("shape", change_npz(encoder_b=np.ones(3)), r"encoder_b has the shape \(3,\); the other arrays require \(4,\)"),
    ("flat", change_npz(encoder_Wx=np.ones(3)), r"encoder_Wx has the shape \(3,\); a matrix is expected"),
    ("whole numbers", change_npz(encoder_b=np.ones(4, int)), "encoder_b is not an array of floating"),
    ("texts", change_npz(encoder_b=np.array(["a"])), "encoder_b is not an array of floating-point numbers"),
    ("nothing", change_npz(encoder_b=np.ones(0)), "encoder_b is not an array of floating-point numbers"),
    ("infinite", change_npz(encoder_b=np.full(4, np.nan)), "encoder_b has numbers that are not finite"),
    ("flat table", save_npy(np.ones(3)), r"btable.npy: float64 of shape \(3,\); floats"),
    ("numbers", save_npy(np.ones((12, 5), int)), r"btable.npy: int64 of shape \(12, 5\); floats"),
    ("narrow", save_npy(np.ones((12, 4))), r"of shape \(12, 4\); \(12, 5\) is expected for dictionary"),
]


def test_skipthought_unpickles_nothing(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    hostile = np.array([pm.Hostile(mark)], dtype=object)
    for name, damage, message in (
        ("a", change_npz(encoder_W=hostile), r"bi_skip.npz: a pickle, .*encoder_W"),
        ("b", lambda f: np.save(f / TABLE, hostile), r"btable.npy: a pickle, which may"),
    ):
        copied_folder = pm.copy_folder(folder, tmp_path / name)
        damage(copied_folder)
        with pytest.raises(SentprobeError, match=message):
            skipthought(copied_folder)
    copied_folder = pm.copy_folder(folder, tmp_path / "c")
    change_npz(history_errs=hostile)(copied_folder)
    skipthought(copied_folder)  # what is not asked for is not looked at
    assert not mark.exists()


def test_skipthought_reports_repeated_words(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "skip")
    path = copied_folder / WORDS
    first, *others = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([others[0], *others]) + "\n", "utf-8")
    assert first not in others
    skipthought(copied_folder)
    assert caplog.messages == [f"{path}: 1 line with a word that a later line has; the last one is used"]


def test_skipthought_end_must_exist(folder: Path, tmp_path: Path) -> None:
    copied_folder = pm.copy_folder(folder, tmp_path / "skip")
    words = (copied_folder / "dictionary.txt").read_text("utf-8")
    (copied_folder / "dictionary.txt").write_text(words.replace("<eos>", "eos"), "utf-8")
    with pytest.raises(SentprobeError, match="there is no <eos> among the words"):
        skipthought(copied_folder, "&eos=yes")
    skipthought(copied_folder)


WRITERS: dict[str, Callable[[Path], tuple[Path, ...]]] = {
    "infersent": lambda path: pm.write_infersent(path, marks=MARKS[1]),
    "sdae": pm.write_sdae,
    "skipthought": lambda path: (pm.write_skipthought(path / "skip"),),
}
LOADERS: dict[str, Callable[..., Encoder]] = {
    "infersent": infersent,
    "sdae": sdae,
    "skipthought": lambda files: skipthought(*files),
}
BAD: Mapping[str, Sequence[tuple[str, Callable[..., object], str]]] = {
    "infersent": BAD_INFERSENT,
    "sdae": BAD_SDAE,
    "skipthought": BAD_SKIPTHOUGHT,
}
BAD_FILES = [
    pytest.param(kind, damage, message, id=f"{kind}: {name}")
    for kind, rows in BAD.items()
    for name, damage, message in rows
]


@pytest.mark.parametrize(("kind", "damage", "message"), BAD_FILES)
def test_bad_files_are_refused(kind: str, damage: Callable[..., object], message: str, tmp_path: Path) -> None:
    files = WRITERS[kind](tmp_path)
    damage(*files)
    with pytest.raises(SentprobeError, match=message) as caught:
        LOADERS[kind](files)
    assert "\n" not in str(caught.value)
    assert not [*tmp_path.rglob("ran")]


def test_bad_options_are_refused(infersent_files: Files, sdae_files: Files, folder: Path) -> None:
    model, vectors = infersent_files
    for spec, message in {
        f"infersent:{model}": "infersent: vectors=FILE is expected: version [12] learned",
        f"infersent:{model}?vectors={vectors}&device=gpu": "unknown device 'gpu'",
        f"sdae:{sdae_files[0]}": "sdae: dictionary=FILE is expected: lines of a word, a tab",
        f"skipthought:{folder}?mode=both": "option mode=both: one of combine, uni, bi is expected",
    }.items():
        with pytest.raises(SentprobeError, match=message):
            make_encoder(spec)
