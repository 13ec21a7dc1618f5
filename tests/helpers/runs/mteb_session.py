"""An MTEB session in a process of its own without the network; it prints its results as JSON.

MTEB takes seconds to import, seeds global random numbers and warns; and the network is turned off when its libraries
are imported. Arguments: a folder with the tasks and results, and a model.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}

import mteb
import numpy as np
from mteb.abstasks import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models import SentenceTransformerEncoderWrapper
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

import sentprobe
from sentprobe.common.specs import parse_spec
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity.distance_results import ALL_TRIPLETS
from sentprobe.probes.similarity.distance_run import measure_encoders
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets, TripletSampling


class RecordingEncoder(SentenceTransformerEncoderWrapper):  # type: ignore[misc]
    """An MTEB encoder that stores the vectors of each text."""

    seen: dict[str, Any] = {}  # noqa: RUF012

    def encode(self, inputs: Any, **options: Any) -> Any:
        vectors = super().encode(inputs, **options)
        texts = [text for batch in inputs for text in batch["text"]]
        self.seen |= dict(zip(texts, np.asarray(vectors), strict=True))
        return vectors


def evaluate_tasks(tasks: list[Any], model: Path, files: Path) -> dict[str, Any]:
    """Return the MTEB scores of each task, and the accuracies of the same run."""
    recording = RecordingEncoder(SentenceTransformer(str(model), device="cpu"))
    cache = mteb.ResultCache(files / "cache")
    mteb_results = mteb.evaluate(recording, tasks, cache=cache, show_progress_bar=False)
    encoder = make_encoder(parse_spec(f"st:{model}"))
    texts = list(recording.seen)[::4]
    largest_difference = np.abs(np.array([recording.seen[t] for t in texts]) - encoder.encode(texts)).max()
    scores = {task_result.task_name: task_result.get_score() for task_result in mteb_results.task_results}
    runs = {}
    for task in tasks:
        if hasattr(task, "data"):
            results = sentprobe.run(task.data, encoder, controls=False, out=files / "run")
            runs[task.metadata.name] = results.records[0].accuracy
    return {
        "texts": len(texts),
        "apart": float(largest_difference),
        "scores": scores,
        "runs": runs,
        "geometry": compute_triplet_accuracy(encoder),
    }


def compute_triplet_accuracy(encoder: sentprobe.Encoder) -> float:
    """Return the accuracy of ``probe geometry`` on the triplets of the session."""
    space = TripletSpace(sentprobe.english(), "role", vocabulary="compeval")
    material = SampledTriplets(space, TripletSampling(n=30, distractors=0, seed=0))
    results, _ = measure_encoders([encoder], [material], background=material.sentences)
    return results[0].find_by_group(NegativeKind.FORM)[ALL_TRIPLETS].accuracy


def evaluate_retrieval(folder: Path, model: Path) -> dict[str, float]:
    """Return nDCG@10 and recall at 1 on the files of ``gen retrieval``, by MTEB and by sentence-transformers."""
    fields = {
        "name": "Exclusion",
        "description": "Who did X but not Y?",
        "type": "Retrieval",
        "eval_langs": ["eng-Latn"],
    }
    dataset = {"path": str(folder), "revision": "1"}
    metadata = TaskMetadata(**fields, main_score="ndcg_at_10", dataset=dataset)
    task = type("Exclusion", (AbsTaskRetrieval,), {"metadata": metadata})()
    encoder = SentenceTransformer(str(model), device="cpu")
    (result,) = mteb.evaluate(encoder, [task], cache=None, show_progress_bar=False).task_results
    texts = {}
    for name in ("queries", "corpus"):
        records = map(json.loads, (folder / f"{name}.jsonl").read_text("utf-8").splitlines())
        texts[name] = {record["_id"]: record["text"] for record in records}
    rows = [line.split("\t") for line in (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]]
    relevant = {query: {document} for query, document, _ in rows}
    evaluator = InformationRetrievalEvaluator(texts["queries"], texts["corpus"], relevant, ndcg_at_k=[10])
    scores = evaluator(encoder)
    (of_mteb,) = result.scores["test"]
    return {
        "queries": len(rows),
        "mteb_ndcg": of_mteb["ndcg_at_10"],
        "mteb_recall": of_mteb["recall_at_1"],
        "ndcg": scores["cosine_ndcg@10"],
        "recall": scores["cosine_recall@1"],
    }


def describe_tasks(tasks: list[Any]) -> dict[str, Any]:
    """Return the metadata of each task, before and after it was loaded."""
    descriptions = {}
    for task in tasks:
        task.load_data()
        sizes = {split: len(rows) for split, rows in task.dataset.items()}
        task.unload_data()
        descriptions[task.metadata.name] = {
            "filled": task.metadata.is_filled(),
            "type": task.metadata.type,
            "sizes": sizes,
            "description": task.metadata.description,
            "citation": task.metadata.intext_citation(),
            "samples_per_label": getattr(task, "samples_per_label", None),
            "n_experiments": getattr(task, "n_experiments", None),
        }
    return descriptions


def read_back(folder: Path) -> dict[str, Any]:
    """Return the scores that MTEB reads from files of ``probe show``."""
    results = mteb.ResultCache(folder).load_results()
    return {
        model.model_name: {task.task_name: task.get_score() for task in model.task_results}
        for model in results.model_results
    }


def collect_errors(folder: Path, model: Path) -> list[str]:
    """Return the messages of errors for impossible tasks."""
    training = sentprobe.mteb.tasks(folder)[0].filter_eval_splits(["train"])
    encoder = SentenceTransformer(str(model), device="cpu")
    messages = []
    for attempt in (
        lambda: sentprobe.mteb.tasks(folder, folder),
        lambda: mteb.evaluate(encoder, training, cache=None, show_progress_bar=False),
    ):
        try:
            attempt()
        except sentprobe.SentprobeError as error:
            messages.append(str(error))
    return messages


def main() -> None:
    """Print the results of the session."""
    place, model = map(Path, sys.argv[1:])
    (revision,) = (place / "exported" / "results" / "o__m").iterdir()
    loaded = mteb.ResultCache(place / "exported").load_task_result("Order", "o/m", revision.name)
    output = {
        "described": describe_tasks(sentprobe.mteb.tasks(place / "all")),
        **evaluate_tasks(sentprobe.mteb.tasks(place / "some"), model, place),
        "read_back": read_back(place / "exported"),
        "retrieval": evaluate_retrieval(place / "exclusion", model),
        "one": loaded and loaded.get_score(),
        "mistakes": collect_errors(place / "some", model),
    }
    print(json.dumps(output))


if __name__ == "__main__":
    main()
