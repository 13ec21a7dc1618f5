"""The option ``name`` of every encoder: what tables call it, and no more."""

from pathlib import Path

import pytest
from helpers.encoders.model_files import tiny_model
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import check_names, parse_spec
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.encoder import get_capabilities
from sentprobe.probes.encoders.kinds import make_encoders, parse_encoders
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs.run import run

SPECS = [
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
def test_any_text_is_a_name(name: str) -> None:
    encoded = name.replace("%", "%25").replace("&", "%26")
    spec = parse_spec(f"bow?dim=4&name={encoded}")
    assert spec.name == spec.label == name
    assert parse_spec(str(spec)) == spec
    (encoder,) = make_encoders(str(spec))
    assert encoder.name == name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vectors.tsv").write_text("1\tthe man slept\t1 2\n")
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("spec", SPECS)
def test_a_name_changes_nothing_else(spec: str) -> None:
    (plain,) = make_encoders(spec)
    (named,) = make_encoders(f"{spec}{'&' if '?' in spec else '?'}name=mine")
    assert (plain.name, named.name) == (spec, "mine")
    assert named.fingerprint == plain.fingerprint


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_layers_have_names_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    model = tiny_model(tmp_path / "model", kind="Bert")
    layers = make_encoders(f"hf:{model}?layer=all&name=tiny")
    assert [layer.name for layer in layers] == [f"tiny, layer {n}" for n in range(3)]
    assert {get_capabilities(layer).family for layer in layers} == {"tiny"}
    plain = make_encoders(f"hf:{model}?layer=all")
    assert [layer.fingerprint for layer in layers] == [layer.fingerprint for layer in plain]
    (one,) = make_encoders(f"hf:{model}?layer=1&name=tiny")
    assert one.name == "tiny"


TWICE = "two encoders have the name 'mine': bow?name=mine and tfidf?name=mine; give one of them"


def test_two_of_one_name_are_refused() -> None:
    specs = ("bow?name=mine", "tfidf?name=mine")
    with pytest.raises(UsageError) as caught:
        check_names([parse_spec(spec) for spec in specs])
    assert str(caught.value).startswith(TWICE)
    with pytest.raises(UsageError, match="two encoders have the name 'mine'"):
        parse_encoders(specs)
    with pytest.raises(UsageError, match="two encoders have the name 'mine'"):
        run([make_learnable_dataset(name="one", size=40)], specs, preset=find_preset("ettinger"))
    with pytest.raises(UsageError, match="encoder 'bow' is given twice"):
        check_names([parse_spec("bow"), parse_spec("bow")])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bow?name=", "bow: option name=: a value is expected"),
        ("bow?nmae=x", r"bow has no option 'nmae' \(did you mean 'name'\?\); .*: dim, seed, name"),
        ("majority?name=", "majority: option name=: a value is expected"),
    ],
)
def test_refused_name(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_encoders(spec)


def test_the_table_has_the_name(here: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), here / "one.jsonl")
    code, stdout, _ = command(
        "run", "one.jsonl", "-e", "bow?dim=4&name=random words", "--out", "out",
        "--set", "max_epochs=1", "--jobs", "1", "--no-cache", "--no-controls",
    )  # fmt: skip
    assert code == 0
    assert "random words" in stdout
    assert "dim=4" not in stdout
    assert read_results(here / "out").encoders == ("random words",)
