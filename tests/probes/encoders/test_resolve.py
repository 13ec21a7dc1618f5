"""What Python gives to a run: suites, paths, datasets and encoders as people have them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.encoders.model_files import packaged_model
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.strategies.probe_strategies import make_learnable_dataset

import sentprobe
from sentprobe.common.errors import ArgumentTypeError, SentprobeError, UsageError
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.encoders.encoder import Encoder, get_capabilities
from sentprobe.probes.encoders.kinds import is_encoder, resolve_encoders
from sentprobe.probes.results.store import format_result

FAST = replace(find_preset("ettinger"), max_epochs=2)
DATA = make_learnable_dataset(name="one", size=40)


def encode(sentences: list[str]) -> list[list[float]]:
    return [[float(len(sentence)), float(sentence.index(" "))] for sentence in sentences]


class Model:
    """An object with ``encode``."""

    def encode(self, sentences: list[str]) -> np.ndarray[Any, Any]:
        return np.array(encode(sentences))


def run_probes(datasets: Any, encoders: Any = encode, **options: Any) -> sentprobe.Results:
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
    results = run_probes(forms[given])
    assert (results.tasks, results.encoders) == (("one",), ("encode",))
    assert results.records[0].dataset_fingerprint == DATA.fingerprint()


def test_suites_paths_and_datasets_together_keep_their_order(tmp_path: Path) -> None:
    second = replace(DATA, name="two")
    sentprobe.write_dataset(second, tmp_path / "two")
    argument = [DATA, "compeval", tmp_path / "two"]
    results = run_probes(argument, tasks=["one", "two", "Order"], train=56, test=28)
    assert results.tasks == ("one", "Order", "two")


def test_compeval_is_built_as_on_the_command_line() -> None:
    results = run_probes("compeval", "majority", tasks="Order", train=56, test=28, seed=3)
    built = sentprobe.build_task("Order", train=56, test=28, seed=3)
    assert results.records[0].dataset_fingerprint == built.fingerprint()


def test_a_table_is_built_and_what_cannot_be_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = write_table(sample_rows(300), tmp_path / "table").path
    results = run_probes(table, "majority", tasks=["SentLen", "WC"], train=60, test=12, validation=12)
    left_out = [record.getMessage() for record in caplog.records]
    assert set(results.tasks) | {record.split(": ")[1] for record in left_out} == {"SentLen", "WC"}
    assert all(record.startswith("left out: ") for record in left_out)


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
    assert [resolved.name for resolved in resolve_encoders(given)] == names


def test_without_encoders_the_usual_ones_are_probed() -> None:
    assert sentprobe.run([DATA], preset=FAST, controls=False).encoders == ("bow", "bilstm-max?hidden=256")


def test_a_model_of_sentence_transformers(tmp_path: Path) -> None:
    """It can be called, and is a sequence of modules; it is known again by its weights."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(packaged_model()), device="cpu")
    assert is_encoder(model)
    (first,), (second,) = resolve_encoders(model), resolve_encoders([model])
    assert first.fingerprint == second.fingerprint  # type: ignore[union-attr]
    assert first.name == "SentenceTransformer"
    result = run_probes(DATA, model, out=tmp_path / "run")
    again = run_probes(DATA, model, out=tmp_path / "run")
    assert format_result(result.records[0]) == format_result(again.records[0])
    model.max_seq_length = 3
    assert resolve_encoders(model)[0].fingerprint != first.fingerprint  # type: ignore[union-attr]


def test_an_object_of_which_nothing_is_known_is_never_taken_for_another() -> None:
    (first,), (second,) = resolve_encoders(Model()), resolve_encoders(Model())
    assert first.fingerprint != second.fingerprint  # type: ignore[union-attr]
    assert isinstance(first, Encoder)
    assert not get_capabilities(first).cacheable


def test_a_function_that_holds_something_is_not_known_by_its_file() -> None:
    def holding(width: int) -> Any:
        return lambda sentences: [[1.0] * width for _ in sentences]

    (first,), (second,) = resolve_encoders(holding(2)), resolve_encoders(holding(3))
    assert first.fingerprint != second.fingerprint  # type: ignore[union-attr]
    (plain,), (same,) = resolve_encoders(encode), resolve_encoders(encode)
    assert plain.fingerprint == same.fingerprint  # type: ignore[union-attr]


# What is refused: each is a sentence, and an error of Python's own kinds

NO_DATASET = "no dataset; expected: 'compeval', 'structure', a path of datasets or of a table, a ProbeDataset"
NO_ENCODER = "not an encoder; expected: a spec such as 'bow', a function of a list of sentences"


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
        (DATA, Model, "the class Model, which must be instantiated first, is not an encoder"),
        (DATA, np.zeros((2, 2)), f"a ndarray is {NO_ENCODER}"),
        (DATA, DATA, f"a ProbeDataset is {NO_ENCODER}"),
        (DATA, {"a": encode}, f"a dict is {NO_ENCODER}"),
    ],
)
def test_what_is_of_a_wrong_type(datasets: Any, encoders: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        run_probes(datasets, encoders)
    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, SentprobeError)


@pytest.mark.parametrize("name", ["train", "test", "validation", "seed", "seeds", "draws"])
@pytest.mark.parametrize("value", ["many", 2.5, True])
def test_numbers_of_a_wrong_type(name: str, value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"{name} must be a whole number, not {value!r}"):
        sentprobe.run("compeval", "bow", **{name: value})


@pytest.mark.parametrize(
    ("datasets", "encoders", "options", "message"),
    [
        ([], encode, {}, "a run needs at least one dataset"),
        ([DATA, DATA], encode, {}, "dataset 'one' is given twice"),
        (DATA, [], {}, "a run needs at least one encoder"),
        (DATA, [encode, encode], {}, "encoder 'encode' is given twice"),
        ("conneau", encode, {}, "the tasks of conneau are in the suite natural"),
        ("compevl", encode, {}, "there is no suite 'compevl' (did you mean 'compeval'?)"),
        (DATA, "bwo", {}, "unknown encoder 'bwo' (did you mean 'bow'?)"),
        (DATA, encode, {"tasks": ["two"]}, "there is no task 'two'"),
        (DATA, encode, {"train": 56}, "train, test and validation are for tasks that are built"),
        (DATA, encode, {"preset": "etinger"}, "did you mean 'ettinger'?"),
    ],
)  # fmt: skip
def test_what_cannot_be(datasets: Any, encoders: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        sentprobe.run(datasets, encoders, **{"preset": FAST, "controls": False, **options})
    assert message in str(caught.value)


def test_progress_is_shown_on_stderr_when_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    run_probes(DATA, "bow?dim=8")
    assert capfd.readouterr() == ("", "")
    run_probes(DATA, "bow?dim=8", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "train probes on bow?dim=8" in err
