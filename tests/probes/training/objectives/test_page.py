"""The examples of docs/train-objectives.md equal the actual output."""

import numpy as np
from helpers.shared import ROOT

from sentprobe.generator.events.notation import write_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english
from sentprobe.probes.training.corpora import split_notation
from sentprobe.probes.training.learners import DropAndSwap
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES

PAGE = (ROOT / "docs" / "train-objectives.md").read_text("utf-8")
ROWS = {
    row[0].strip("` "): [cell.strip(" *`") for cell in row]
    for line in PAGE.splitlines()
    if line.startswith("| `")
    for row in [line.strip("|").split("|")]
}


def test_every_objective_has_a_row() -> None:
    assert set(ROWS) == set(OBJECTIVES)


def test_noise() -> None:
    usual = ObjectiveOptions()
    words = ROWS["denoising"][3].split()
    noise = DropAndSwap(usual.drop, usual.swap)
    left = noise(np.arange(len(words), dtype=np.int32), np.random.default_rng(3))
    assert " ".join(words[place] for place in left) == ROWS["denoising"][2]


def test_event() -> None:
    (event,) = parse(ROWS["meaning"][2], english())
    assert split_notation(write_event(event)) == ROWS["meaning"][3]
