"""The settings that decide the weights of a training, as its folder stores them."""

from pathlib import Path

from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.runs import encoder_training as plans
from sentprobe.probes.runs.encoder_training import identify_training
from sentprobe.probes.training import devices_and_precision, loop
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.schedule import SGD
from sentprobe.probes.training.text_filters import TextOptions

STORED = {
    "architecture": "lstm",
    "hidden": 512,
    "layers": 1,
    "inputs": 300,
    "objective": "nmt",
    "corpus": "73cb3858a687a849 3bb2abb69ebb27fb",
    "tokenised": False,
    "lower": False,
    "longest": 50,
    "encoding": "utf-8",
    "punkt": "",
    "format": "",
    "columns": "",
    "document": "",
    "events": 100_000,
    "words": 50_000,
    "vectors": "drawn",
    "frozen": False,
    "reverse": False,
    "optimizer": "sgd",
    "rate": 0.25,
    "momentum": 0.99,
    "clip": 0.1,
    "devices": 1,
    "precision": "float32",
    "batch": 256,
    "codes": 8000,
    "decoder_hidden": 512,
    "decoder_layers": 2,
    "decoder_inputs": 300,
    "dropout": 0.0,
    "classes_hidden": 512,
    "temperature": 0.05,
    "neighbours": False,
    "drop": 0.1,
    "swap": 0.1,
    "validation": 1000,
    "seed": 0,
}
"""The identity in a folder; a change here keeps trainings that were stopped from going on."""

STORED_WITH_OPTIONS = STORED | {
    "punkt": "e4bd4545c4cb8c33",
    "format": "tsv",
    "columns": "a b",
    "document": "d",
    "vectors": "73cb3858a687a849",
}


def make_plan(folder: Path, *, has_options: bool) -> plans.TrainingPlan:
    for name, text in (("a.txt", "x\n"), ("b.txt", "y\n")):
        (folder / name).write_bytes(text.encode())
    (folder / "punkt").mkdir()
    (folder / "punkt" / "words").write_bytes(b"z")
    return plans.TrainingPlan(
        name="lstm nmt",
        objective="nmt",
        corpus=(folder / "a.txt",),
        parallel=folder / "b.txt",
        format="tsv" if has_options else None,
        columns=("a", "b") if has_options else (),
        document="d" if has_options else None,
        text_options=TextOptions(punkt=folder / "punkt" if has_options else None),
        architecture=Architecture(kind="lstm"),
        vectors=str(folder / "a.txt") if has_options else "",
        options=ObjectiveOptions(),
        settings=loop.TrainingSettings(
            seed=0, optimizer=SGD, machine=devices_and_precision.TrainingMachine(precision=Precision.FLOAT32)
        ),
        out=folder,
    )


def test_identity_stores_default_settings(tmp_path: Path) -> None:
    assert list(identify_training(make_plan(tmp_path, has_options=False)).items()) == list(STORED.items())


def test_identity_stores_digests_of_files(tmp_path: Path) -> None:
    assert identify_training(make_plan(tmp_path, has_options=True)) == STORED_WITH_OPTIONS
