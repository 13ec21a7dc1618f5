"""Specs and names of encoders, the table of kinds, and the forms in which Python gives datasets and encoders."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.encoders.model_files import packaged_model, tiny_model
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.strategies.encoder_strategies import words
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import ArgumentTypeError, SentprobeError, UsageError, format_install
from sentprobe.common.specs import Spec, check_names, parse_spec
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders import kinds
from sentprobe.probes.encoders.encoder import Encoder, EncoderError, get_capabilities
from sentprobe.probes.encoders.kinds import (
    ENCODERS,
    MODULES,
    EncoderKind,
    SpecArgument,
    find_kind,
    is_encoder,
    make_encoder,
    make_encoders,
    parse_encoders,
    resolve_encoders,
)
from sentprobe.probes.results.store import format_result, read_results
from sentprobe.probes.runs.run import run

FAST = replace(find_preset("ettinger"), max_epochs=2)
DATA = make_learnable_dataset(name="one", size=40)

option_values = st.text(st.characters(exclude_characters="\0"), min_size=1)


@given(words, words | st.just(""), st.dictionaries(words, option_values | words, max_size=3))
def test_spec_round_trips(kind: str, argument: str, options: dict[str, str]) -> None:
    spec = Spec(kind, argument, tuple(options.items()))
    assert parse_spec(str(spec)) == spec
    assert "\n" not in str(spec)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("st:m?prompt=query: ", "query: "),
        ("st:m?prompt=a%26b", "a&b"),
        ("st:m?prompt=100%25", "100%"),
        ("st:m?prompt=100%", "100%"),
        ("st:m?prompt=a=b?c+d", "a=b?c+d"),
    ],
)
def test_option_value_is_unescaped(text: str, value: str) -> None:
    assert parse_spec(text).options == (("prompt", value),)


def test_argument_may_hold_colon() -> None:
    assert parse_spec("python:module:encode") == Spec("python", "module:encode")


KNOWN_KINDS = ", ".join(kind.name for kind in ENCODERS)

BAD_SPECS: list[tuple[str, str]] = [
    ("bwo", f"unknown encoder 'bwo' (did you mean 'bow'?); known: {KNOWN_KINDS}"),
    ("bilstm-mxa", "did you mean 'bilstm-max'?"),
    ("bow?dmi=3", "bow has no option 'dmi' (did you mean 'dim'?); its options: dim, seed, pool"),
    ("bow?layers=2", "bow has no option 'layers'"),
    ("bow?dim=0", "option dim=0: a whole number from 1 is expected"),
    ("bow?dim=x", "option dim=x: a whole number from 1 is expected"),
    ("bow?dim=٣", "option dim=٣: a whole number from 1 is expected"),
    ("bow?seed=-1", "option seed=-1: a whole number from 0 to 4611686018427387904 is expected"),
    ("bow?dim", "option 'dim' is not of the form key=value"),
    ("file", "encoder 'file' wants an argument, as in file:"),
    ("python", "encoder 'python' wants an argument, as in python:"),
    ("bow\0", r"encoder spec 'bow\x00' has a control character"),
    ("bow:a\0b", "has a control character"),
    ("st:\x1b[31m", "has a control character"),
    ("bow:a\nb?dim=3", "has a control character"),
    ("infersent:a?vectors=a%00b", "has a control character"),
    ("bow?name=", "bow: option name=: a value is expected"),
    ("bow?nmae=x", "bow has no option 'nmae' (did you mean 'name'?); its options: dim, seed, pool, name"),
    ("majority?name=", "majority: option name=: a value is expected"),
    ("majority?seed=1", "majority has no option 'seed'; its options: name"),
    ("tfidf?ngrams=3", "tfidf: option ngrams=3: 1 or 2 is expected"),
    ("tfidf?ngram=2", "tfidf has no option 'ngram' (did you mean 'ngrams'?)"),
    ("length:file", "encoder 'length' takes no argument, but has 'file'"),
    ("lenght", "unknown encoder 'lenght' (did you mean 'length'?)"),
    (":x", "names no kind"),
    ("", "names no kind"),
]


@pytest.mark.parametrize(("spec", "message"), BAD_SPECS)
def test_bad_spec_is_refused(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_encoders(spec, seed=0)
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ENCODERS, ids=lambda kind: str(kind.name))
def test_example_is_of_its_kind(kind: EncoderKind) -> None:
    assert find_kind(kind.example) is kind
    assert MODULES.get(kind.extra, kind.extra).isidentifier() == bool(kind.extra)


def test_kind_names_are_distinct() -> None:
    assert len({kind.name for kind in ENCODERS}) == len(ENCODERS)


TWO = EncoderKind("two", "", lambda _, seed: make_encoders("bow", seed=seed) * 2, SpecArgument.NONE)


class Guess:
    """A baseline."""

    name = "guess"
    fingerprint = "0"

    def predict(self, data: Any, *, seed: int) -> Any:
        raise NotImplementedError


GUESS = EncoderKind("guess", "", lambda _, __: [Guess()], SpecArgument.NONE)
AWAY = EncoderKind("away", "", lambda _, __: [], SpecArgument.NONE, extra="much")


@pytest.fixture
def more_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "ENCODERS", (*ENCODERS, TWO, GUESS, AWAY))


@pytest.mark.usefixtures("more_kinds")
def test_spec_may_make_several_encoders() -> None:
    assert len(make_encoders("two", seed=0)) == 2
    assert make_encoders("guess", seed=0)[0].name == "guess"
    for spec, message in {
        "two": "'two' asks for 2 encoders; one is expected here",
        "guess": "'guess' is a baseline, which has no vectors",
        "two:x": "encoder 'two' takes no argument, but has 'x'",
    }.items():
        with pytest.raises(UsageError, match=message):
            make_encoder(spec, seed=0)


@pytest.mark.usefixtures("more_kinds")
def test_missing_extra_is_refused() -> None:
    with pytest.raises(EncoderError) as caught:
        make_encoders("away", seed=0)
    assert str(caught.value) == f"an encoder away needs the extra: {format_install('much')}"


def test_missing_sentence_transformers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EncoderError, match=r"pip install .*\[sentence-transformers\]"):
        make_encoder("st:some/model", seed=0)


NAMED_SPECS = [
    "bow?dim=4",
    "bilstm-last?dim=4&hidden=3",
    "bilstm-max?dim=4&hidden=3",
    "gated-conv?dim=4&hidden=3",
    "file:vectors.tsv",
    "python:string:capwords?style=function",
    "openai:m?base_url=http://localhost:1/v1",
    "majority",
    "length",
    "tfidf?ngrams=2",
]


@given(st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_name_may_be_any_text(name: str) -> None:
    encoded = name.replace("%", "%25").replace("&", "%26")
    spec = parse_spec(f"bow?dim=4&name={encoded}")
    assert spec.name == spec.label == name
    assert parse_spec(str(spec)) == spec
    (encoder,) = make_encoders(str(spec))
    assert encoder.name == name


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vectors.tsv").write_text("1\tthe man slept\t1 2\n")
    return tmp_path


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize("spec", NAMED_SPECS)
def test_name_changes_no_fingerprint(spec: str) -> None:
    (plain,) = make_encoders(spec)
    (named,) = make_encoders(f"{spec}{'&' if '?' in spec else '?'}name=mine")
    assert (plain.name, named.name) == (spec, "mine")
    assert named.fingerprint == plain.fingerprint


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_layers_have_own_names(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    model = tiny_model(tmp_path / "model", kind="Bert")
    layers = make_encoders(f"hf:{model}?layer=all&name=tiny")
    assert [layer.name for layer in layers] == [f"tiny, layer {n}" for n in range(3)]
    assert {get_capabilities(layer).family for layer in layers} == {"tiny"}
    plain = make_encoders(f"hf:{model}?layer=all")
    assert [layer.fingerprint for layer in layers] == [layer.fingerprint for layer in plain]
    (one,) = make_encoders(f"hf:{model}?layer=1&name=tiny")
    assert one.name == "tiny"


def test_repeated_name_is_refused() -> None:
    specs = ("bow?name=mine", "tfidf?name=mine")
    message = r"^two encoders have the name 'mine': bow\?name=mine and tfidf\?name=mine; give one of them"
    with pytest.raises(UsageError, match=message):
        check_names([parse_spec(spec) for spec in specs])
    with pytest.raises(UsageError, match="two encoders have the name 'mine'"):
        parse_encoders(specs)
    with pytest.raises(UsageError, match="two encoders have the name 'mine'"):
        run([DATA], specs, preset=find_preset("ettinger"))
    with pytest.raises(UsageError, match="encoder 'bow' is given twice"):
        check_names([parse_spec("bow"), parse_spec("bow")])


def test_run_shows_name(working_folder: Path, command: Command) -> None:
    write_dataset(DATA, working_folder / "one.jsonl")
    code, stdout, _ = command(
        "run", "one.jsonl", "-e", "bow?dim=4&name=random words", "--out", "out",
        "--set", "max_epochs=1", "--jobs", "1", "--no-cache", "--no-controls",
    )  # fmt: skip
    assert code == 0
    assert "random words" in stdout
    assert "dim=4" not in stdout
    assert read_results(working_folder / "out").encoders == ("random words",)


def encode(sentences: list[str]) -> list[list[float]]:
    return [[float(len(sentence)), float(sentence.index(" "))] for sentence in sentences]


class Model:
    """An object with ``encode``."""

    def encode(self, sentences: list[str]) -> np.ndarray[Any, Any]:
        return np.array(encode(sentences))


def run_probes(datasets: Any, encoders: Any = encode, **options: Any) -> sentprobe.Results:
    return sentprobe.run(datasets, encoders, controls=False, preset=FAST, **options)


@pytest.mark.parametrize("given", ["path", "text", "list", "tuple", "data", "iterator"])
def test_datasets_in_all_forms(given: str, tmp_path: Path) -> None:
    path = tmp_path / "one"
    sentprobe.write_dataset(DATA, path)
    forms: dict[str, Any] = {"path": path, "text": str(path), "list": [DATA], "tuple": (path,), "data": DATA}
    forms["iterator"] = iter([DATA])
    results = run_probes(forms[given])
    assert (results.tasks, results.encoders) == (("one",), ("encode",))
    assert results.records[0].dataset_fingerprint == DATA.fingerprint()


def test_mixed_datasets_keep_order(tmp_path: Path) -> None:
    second = replace(DATA, name="two")
    sentprobe.write_dataset(second, tmp_path / "two")
    argument = [DATA, "compeval", tmp_path / "two"]
    results = run_probes(argument, tasks=["one", "two", "Order"], train=56, test=28)
    assert results.tasks == ("one", "Order", "two")


def test_compeval_is_built_as_by_command() -> None:
    results = run_probes("compeval", "majority", tasks="Order", train=56, test=28, seed=3)
    built = sentprobe.build_task("Order", train=56, test=28, seed=3)
    assert results.records[0].dataset_fingerprint == built.fingerprint()


def test_table_tasks_are_built_or_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = write_table(sample_rows(300), tmp_path / "table").path
    results = run_probes(table, "majority", tasks=["SentLen", "WC"], train=60, test=12, validation=12)
    left_out = [record.getMessage() for record in caplog.records]
    assert set(results.tasks) | {record.split(": ")[1] for record in left_out} == {"SentLen", "WC"}
    assert all(record.startswith("left out: ") for record in left_out)


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


def test_default_encoders_are_probed() -> None:
    assert sentprobe.run([DATA], preset=FAST, controls=False).encoders == ("bow", "bilstm-max?hidden=256")


def test_sentence_transformer_is_known_by_weights(tmp_path: Path) -> None:
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


def test_unknown_phrases_have_own_fingerprints() -> None:
    (first,), (second,) = resolve_encoders(Model()), resolve_encoders(Model())
    assert first.fingerprint != second.fingerprint  # type: ignore[union-attr]
    assert isinstance(first, Encoder)
    assert not get_capabilities(first).cacheable


def test_closures_have_own_fingerprints() -> None:
    def holding(width: int) -> Any:
        return lambda sentences: [[1.0] * width for _ in sentences]

    (first,), (second,) = resolve_encoders(holding(2)), resolve_encoders(holding(3))
    assert first.fingerprint != second.fingerprint  # type: ignore[union-attr]
    (plain,), (same,) = resolve_encoders(encode), resolve_encoders(encode)
    assert plain.fingerprint == same.fingerprint  # type: ignore[union-attr]


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
def test_wrong_type_is_refused(datasets: Any, encoders: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        run_probes(datasets, encoders)
    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, SentprobeError)


@pytest.mark.parametrize("name", ["train", "test", "validation", "seed", "seeds", "draws"])
@pytest.mark.parametrize("value", ["many", 2.5, True])
def test_option_must_be_whole_number(name: str, value: Any) -> None:
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
def test_bad_run_is_refused(datasets: Any, encoders: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        sentprobe.run(datasets, encoders, **{"preset": FAST, "controls": False, **options})
    assert message in str(caught.value)


def test_progress_is_shown_on_request(capfd: pytest.CaptureFixture[str]) -> None:
    run_probes(DATA, "bow?dim=8")
    assert capfd.readouterr() == ("", "")
    run_probes(DATA, "bow?dim=8", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "train probes on bow?dim=8" in err
