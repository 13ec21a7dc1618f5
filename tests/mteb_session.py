"""A session with MTEB, in a process of its own without the network: what it says, as JSON.

MTEB takes seconds to import, seeds global random numbers and warns; and the network is turned off
when its libraries are imported. Arguments: a folder with all that is wanted, and a model.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}

import mteb
import numpy as np
from mteb.models import SentenceTransformerEncoderWrapper
from sentence_transformers import SentenceTransformer

import sentprobe
from sentprobe.generator.triplets import TripletSpace
from sentprobe.probes.encoders import make_encoder
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial
from sentprobe.probes.geometry.measures import NegativeKind
from sentprobe.probes.geometry.results import WHOLE
from sentprobe.probes.geometry.run import GeometryRun, measure_all
from sentprobe.specs import parse_spec


class Recording(SentenceTransformerEncoderWrapper):  # type: ignore[misc]
    """Keeps the vectors of each text that it encodes."""

    seen: dict[str, Any] = {}  # noqa: RUF012

    def encode(self, inputs: Any, **options: Any) -> Any:
        found = super().encode(inputs, **options)
        texts = [text for batch in inputs for text in batch["text"]]
        self.seen |= dict(zip(texts, np.asarray(found), strict=True))
        return found


def evaluated(tasks: list[Any], model: Path, files: Path) -> dict[str, Any]:
    """What MTEB says of each task, and the run of the same."""
    recording = Recording(SentenceTransformer(str(model), device="cpu"))
    cache = mteb.ResultCache(files / "cache")
    found = mteb.evaluate(recording, tasks, cache=cache, show_progress_bar=False)
    encoder = make_encoder(parse_spec(f"st:{model}"))
    texts = list(recording.seen)[::4]
    apart = np.abs(np.array([recording.seen[t] for t in texts]) - encoder.encode(texts)).max()
    scores = {each.task_name: each.get_score() for each in found.task_results}
    runs = {}
    for task in tasks:
        if hasattr(task, "data"):
            results = sentprobe.run(task.data, encoder, controls=False, out=files / "run")
            runs[task.metadata.name] = results.records[0].accuracy
    return {
        "texts": len(texts),
        "apart": float(apart),
        "scores": scores,
        "runs": runs,
        "geometry": accuracy_of_triplets(encoder),
    }


def accuracy_of_triplets(encoder: sentprobe.Encoder) -> float:
    """What ``probe geometry`` says of the triplets of the session."""
    space = TripletSpace(sentprobe.english(), "role", vocabulary="compeval")
    material = GeometryMaterial(space, Drawing(n=30, variants=0, seed=0))
    outcome = measure_all([encoder], [material], GeometryRun(background=material.sentences))
    return outcome.results[0].find(NegativeKind.FORM)[WHOLE].accuracy


def described(tasks: list[Any]) -> dict[str, Any]:
    """What is said of each task, before and after it was loaded."""
    found = {}
    for task in tasks:
        task.load_data()
        sizes = {split: len(rows) for split, rows in task.dataset.items()}
        task.unload_data()
        found[task.metadata.name] = {
            "filled": task.metadata.is_filled(),
            "type": task.metadata.type,
            "sizes": sizes,
            "description": task.metadata.description,
            "citation": task.metadata.intext_citation(),
            "samples_per_label": getattr(task, "samples_per_label", None),
            "n_experiments": getattr(task, "n_experiments", None),
        }
    return found


def read_back(folder: Path) -> dict[str, Any]:
    """What MTEB makes of the files that ``probe show`` wrote."""
    results = mteb.ResultCache(folder).load_results()
    return {
        model.model_name: {task.task_name: task.get_score() for task in model.task_results}
        for model in results.model_results
    }


def mistakes(folder: Path, model: Path) -> list[str]:
    """What is said of tasks that cannot be."""
    training = sentprobe.mteb.tasks(folder)[0].filter_eval_splits(["train"])
    encoder = SentenceTransformer(str(model), device="cpu")
    found = []
    for attempt in (
        lambda: sentprobe.mteb.tasks(folder, folder),
        lambda: mteb.evaluate(encoder, training, cache=None, show_progress_bar=False),
    ):
        try:
            attempt()
        except sentprobe.SentprobeError as error:
            found.append(str(error))
    return found


def main() -> None:
    """Print what is found."""
    place, model = map(Path, sys.argv[1:])
    (revision,) = (place / "exported" / "results" / "o__m").iterdir()
    one = mteb.ResultCache(place / "exported").load_task_result("Order", "o/m", revision.name)
    said = {
        "described": described(sentprobe.mteb.tasks(place / "all")),
        **evaluated(sentprobe.mteb.tasks(place / "some"), model, place),
        "read_back": read_back(place / "exported"),
        "one": one and one.get_score(),
        "mistakes": mistakes(place / "some", model),
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
