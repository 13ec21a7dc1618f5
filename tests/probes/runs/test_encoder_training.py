"""The settings that decide the weights of a training, as its folder stores them."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.runs import encoder_training as plans
from sentprobe.probes.runs.encoder_training import identify_training
from sentprobe.probes.training import devices_and_precision, loop
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objective_plans import ObjectivePlan
from sentprobe.probes.training.schedule import SGD
from sentprobe.probes.training.text_filters import TextOptions


def make_plan(folder: Path, *, has_options: bool) -> plans.TrainingPlan:
    for name, text in (("a.txt", "x\n"), ("b.txt", "y\n")):
        (folder / name).write_bytes(text.encode())
    (folder / "punkt").mkdir()
    (folder / "punkt" / "words").write_bytes(b"z")
    return plans.TrainingPlan(
        name="lstm nmt",
        objectives=(
            ObjectivePlan(
                objective="nmt",
                corpus=(folder / "a.txt",),
                parallel=folder / "b.txt",
                format="tsv" if has_options else None,
                columns=("a", "b") if has_options else (),
                document="d" if has_options else None,
            ),
        ),
        text_options=TextOptions(punkt=folder / "punkt" if has_options else None),
        architecture=Architecture(kind="lstm"),
        vectors=str(folder / "a.txt") if has_options else "",
        options=ObjectiveOptions(),
        settings=loop.TrainingSettings(
            seed=0, optimizer=SGD, machine=devices_and_precision.TrainingMachine(precision=Precision.FLOAT32)
        ),
        out=folder,
    )


@pytest.mark.parametrize("has_options", [False, True])
def test_identity_of_a_training(has_options: bool, tmp_path: Path, stored_text: SnapshotAssertion) -> None:
    """Defaults and digests of files are stored; a change here keeps trainings that were stopped from going on."""
    identity = identify_training(make_plan(tmp_path, has_options=has_options))
    assert json.dumps(identity, indent=1) == stored_text
