"""MTEB metadata of tasks: data source, question and publication."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.probes.compeval.tasks import CompevalTask
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.geometry.triplet_sentences import TripletSentences
from sentprobe.probes.known_task import KnownTask
from sentprobe.probes.mteb.scores import MAIN_SCORE, make_geometry_name, to_file_name
from sentprobe.probes.suites import find_known_task

GENERATED = {"domains": ["Constructed", "Written"], "sample_creation": "created"}
NATURAL_TEXT = {"domains": ["Written"], "sample_creation": "found"}


@cache
def read_papers() -> Mapping[str, Mapping[str, str]]:
    """Return reference and bibtex_citation of each paper, by the name of the classifier preset of its tasks."""
    text = files(__package__).joinpath("papers.toml").read_text("utf-8")
    return {
        name: {"reference": paper["reference"], "bibtex_citation": paper["bibtex"].strip()}
        for name, paper in tomllib.loads(text).items()
    }


def make_probing_metadata(data: ProbeDataset, path: Path) -> Any:
    """Return the MTEB ``TaskMetadata`` of the dataset in *path*."""
    task = find_known_task(data.card.task, data.name)
    no_paper = {"reference": None, "bibtex_citation": ""}
    return _make_metadata(
        name=to_file_name(data.name),
        description=_describe_question(data, task),
        path=path,
        revision=data.fingerprint(),
        type="Classification",
        category="t2c",
        **(read_papers().get(task.preset, no_paper) if task else no_paper),
        **(GENERATED if isinstance(task, CompevalTask) else NATURAL_TEXT),
    )


def _describe_question(data: ProbeDataset, task: KnownTask | None) -> str:
    inputs = ("", " and a word", " and two words")[data.slots]
    question = f"A probe learns to tell the label from the vector of the sentence{inputs}"
    if task is None:
        return f"{question}: {data.name}, with {len(data.labels)} labels."
    letters = "s is the sentence, n a noun, v a verb, w a word"
    return f"{question}: {task.question_text} ({letters}; labels: {task.classes})"


def make_geometry_metadata(material: TripletSentences, path: Path) -> Any:
    """Return the MTEB ``TaskMetadata`` of the triplets in *path*."""
    summary = find_contrast(material.contrast).summary
    return _make_metadata(
        name=make_geometry_name(material.contrast),
        description="Is a sentence nearer, by cosine, to another that means the same in another "
        f"form than to one in that form that differs in one property: {summary}?",
        path=path,
        revision=material.fingerprint,
        type="STS",
        category="t2t",
        **read_papers()["ettinger"],  # contrasts are made of events of this paper
        **GENERATED,
    )


def _make_metadata(*, path: Path, revision: str, **fields: Any) -> Any:
    """Return the metadata, completed with the fields that all tasks share, and the file's modification date."""
    from mteb.abstasks.task_metadata import TaskMetadata

    date = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC).date().isoformat()
    return TaskMetadata(
        dataset={"path": str(path), "revision": revision},
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score=MAIN_SCORE,
        date=(date, date),
        task_subtypes=[],
        license="not specified",
        annotations_creators="derived",
        dialect=[],
        **fields,
    )
