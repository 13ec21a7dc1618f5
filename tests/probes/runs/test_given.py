"""What Python gives to a run: suites, paths, datasets and encoders as people have them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import packaged_model
from natural_tables import made_up, write_table
from probe_strategies import learnable

import sentprobe
from sentprobe.errors import GivenError, SentprobeError, UsageError
from sentprobe.probes.encoders.given import find_encoders, is_encoder
from sentprobe.probes.runs.store import format_result
from sentprobe.probes.trainer.presets import find_preset

FAST = replace(find_preset("ettinger"), max_epochs=2)
DATA = learnable(name="one", size=40)


def encode(sentences: list[str]) -> list[list[float]]:
    return [[float(len(sentence)), float(sentence.index(" "))] for sentence in sentences]


class Model:
    """An object with ``encode``."""

    def encode(self, sentences: list[str]) -> np.ndarray[Any, Any]:
        return np.array(encode(sentences))


def probed(datasets: Any, encoders: Any = encode, **options: Any) -> sentprobe.Results:
    return sentprobe.run(datasets, encoders, controls=False, preset=FAST, **options)


# Datasets


@pytest.mark.parametrize("given", ["path", "text", "list", "tuple", "data", "iterator"])
def test_datasets_in_all_forms(given: str, tmp_path: Path) -> None:
    path = tmp_path / "one"
    sentprobe.write_dataset(DATA, path)
    forms: dict[str, Any] = {
        "path": path,
        "text": str(path),
        "list": [DATA],
        "tuple": (path,),
        "data": DATA,
        "iterator": iter([DATA]),
    }
    results = probed(forms[given])
    assert (results.tasks, results.encoders) == (("one",), ("encode",))
    assert results.records[0].dataset_fingerprint == DATA.fingerprint()


def test_suites_paths_and_datasets_together_keep_their_order(tmp_path: Path) -> None:
    other = replace(DATA, name="two")
    sentprobe.write_dataset(other, tmp_path / "two")
    given = [DATA, "compeval", tmp_path / "two"]
    results = probed(given, tasks=["one", "two", "Order"], train=56, test=28)
    assert results.tasks == ("one", "Order", "two")


def test_compeval_is_built_as_on_the_command_line() -> None:
    results = probed("compeval", "majority", tasks="Order", train=56, test=28, seed=3)
    built = sentprobe.build_task("Order", train=56, test=28, seed=3)
    assert results.records[0].dataset_fingerprint == built.fingerprint()


def test_a_table_is_built_and_what_cannot_be_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = write_table(made_up(300), tmp_path / "table").path
    results = probed(table, "majority", tasks=["SentLen", "WC"], train=60, test=12, validation=12)
    left_out = [each.getMessage() for each in caplog.records]
    assert set(results.tasks) | {each.split(": ")[1] for each in left_out} == {"SentLen", "WC"}
    assert all(each.startswith("left out: ") for each in left_out)


# Encoders


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (encode, ["encode"]),
        (Model(), ["Model"]),
        ("bow?dim=8", ["bow?dim=8"]),
        ([encode, "bow?dim=8", Model()], ["encode", "bow?dim=8", "Model"]),
        ((each for each in ("majority", "length")), ["majority", "length"]),
        (sentprobe.wrap_encoder(encode, name="mine"), ["mine"]),
        (sentprobe.make_encoder("bow?dim=8"), ["bow?dim=8"]),
    ],
)  # fmt: skip
def test_encoders_in_all_forms(given: Any, names: list[str]) -> None:
    assert [each.name for each in find_encoders(given)] == names


def test_without_encoders_the_usual_ones_are_probed() -> None:
    assert sentprobe.run([DATA], preset=FAST, controls=False).encoders == ("bow", "bilstm-max")


def test_a_model_of_sentence_transformers(tmp_path: Path) -> None:
    """It can be called, and is a sequence of modules; it is known again by its weights."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(packaged_model()), device="cpu")
    assert is_encoder(model)
    (first,), (second,) = find_encoders(model), find_encoders([model])
    assert first.fingerprint == second.fingerprint  # type: ignore[union-attr]
    assert first.name == "SentenceTransformer"
    made = probed(DATA, model, out=tmp_path / "run")
    again = probed(DATA, model, out=tmp_path / "run")
    assert format_result(made.records[0]) == format_result(again.records[0])
    model.max_seq_length = 3
    assert find_encoders(model)[0].fingerprint != first.fingerprint  # type: ignore[union-attr]


def test_an_object_of_which_nothing_is_known_is_never_taken_for_another() -> None:
    (first,), (second,) = find_encoders(Model()), find_encoders(Model())
    assert first.fingerprint != second.fingerprint  # type: ignore[union-attr]
    assert not first.cacheable  # type: ignore[union-attr]


def test_a_function_that_holds_something_is_not_known_by_its_file() -> None:
    def holding(width: int) -> Any:
        return lambda sentences: [[1.0] * width for _ in sentences]

    (first,), (second,) = find_encoders(holding(2)), find_encoders(holding(3))
    assert first.fingerprint != second.fingerprint  # type: ignore[union-attr]
    (plain,), (same,) = find_encoders(encode), find_encoders(encode)
    assert plain.fingerprint == same.fingerprint  # type: ignore[union-attr]


# What is refused: each is a sentence, and an error of Python's own kinds

NO_DATASET = "no dataset; wanted: 'compeval', a path of datasets or of a table, a ProbeDataset"
NO_ENCODER = "no encoder; wanted: a spec such as 'bow', a function of a list of sentences"


@pytest.mark.parametrize(
    ("datasets", "encoders", "message"),
    [
        (3, encode, f"a int is {NO_DATASET}"),
        (None, encode, f"a NoneType is {NO_DATASET}"),
        ([DATA, 3], encode, f"a int is {NO_DATASET}"),
        ({"one": DATA}, encode, f"a dict is {NO_DATASET}"),
        (b"compeval", encode, f"a bytes is {NO_DATASET}"),
        (encode, "compeval", "encoders come after the datasets"),
        (Model(), "compeval", "encoders come after the datasets"),
        (DATA, 3, f"a int is {NO_ENCODER}"),
        (DATA, None, f"a NoneType is {NO_ENCODER}"),
        (DATA, [3], f"a int is {NO_ENCODER}"),
        (DATA, Model, "the class Model, of which no object was made yet, is no encoder"),
        (DATA, np.zeros((2, 2)), f"a ndarray is {NO_ENCODER}"),
        (DATA, DATA, f"a ProbeDataset is {NO_ENCODER}"),
        (DATA, {"a": encode}, f"a dict is {NO_ENCODER}"),
    ],
)
def test_what_is_of_a_wrong_type(datasets: Any, encoders: Any, message: str) -> None:
    with pytest.raises(GivenError) as caught:
        probed(datasets, encoders)
    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, SentprobeError)


@pytest.mark.parametrize("name", ["train", "test", "validation", "seed", "seeds", "draws"])
@pytest.mark.parametrize("value", ["many", 2.5, True])
def test_numbers_of_a_wrong_type(name: str, value: Any) -> None:
    with pytest.raises(GivenError, match=rf"{name} must be a whole number, not {value!r}"):
        sentprobe.run("compeval", "bow", **{name: value})


@pytest.mark.parametrize(
    ("datasets", "encoders", "options", "message"),
    [
        ([], encode, {}, "a run needs at least one dataset"),
        ([DATA, DATA], encode, {}, "dataset 'one' is asked for twice"),
        (DATA, [], {}, "a run needs at least one encoder"),
        (DATA, [encode, encode], {}, "encoder 'encode' is asked for twice"),
        ("compevl", encode, {}, "there is no suite 'compevl' (did you mean 'compeval'?)"),
        (DATA, "bwo", {}, "unknown encoder 'bwo' (did you mean 'bow'?)"),
        (DATA, encode, {"tasks": ["two"]}, "there is no task 'two'"),
        (DATA, encode, {"train": 56}, "train, test and validation are for tasks that are built"),
        (DATA, encode, {"preset": "etinger"}, "did you mean 'ettinger'?"),
    ],
)  # fmt: skip
def test_what_cannot_be(
    datasets: Any, encoders: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        sentprobe.run(datasets, encoders, **{"preset": FAST, "controls": False, **options})
    assert message in str(caught.value)


def test_progress_is_shown_on_stderr_when_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    probed(DATA, "bow?dim=8")
    assert capfd.readouterr() == ("", "")
    probed(DATA, "bow?dim=8", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "train on bow?dim=8" in err
