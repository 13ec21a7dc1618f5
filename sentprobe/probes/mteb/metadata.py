"""What MTEB is told of a task: where its data is, what it asks, who published it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sentprobe.generator.contrasts import find_contrast
from sentprobe.probes.compeval.tasks import TASKS as BUILT
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.geometry.material import TripletMaterial
from sentprobe.probes.known_task import KnownTask
from sentprobe.probes.mteb.names import geometry_name, task_name
from sentprobe.probes.mteb.scores import MAIN_SCORE
from sentprobe.probes.suites import known_task

GENERATED = {"domains": ["Constructed", "Written"], "sample_creation": "created"}
FOUND = {"domains": ["Written"], "sample_creation": "found"}


@dataclass(frozen=True, slots=True)
class MtebPaper:
    """A paper, as MTEB names it."""

    reference: str
    bibtex: str


@cache
def papers() -> Mapping[str, MtebPaper]:
    """Return the papers that tasks are from, by the name of their classifier."""
    text = files(__package__).joinpath("papers.toml").read_text("utf-8")
    return {
        name: MtebPaper(each["reference"], each["bibtex"].strip())
        for name, each in tomllib.loads(text).items()
    }


def probing_metadata(data: ProbeDataset, path: Path) -> Any:
    """Return what MTEB is told of a dataset that was read from *path*; its ``TaskMetadata``."""
    task = known_task(data.card.task, data.name)
    paper = None if task is None else papers().get(task.preset)
    return _metadata(
        name=task_name(data.name),
        description=_asked(data, task),
        path=path,
        revision=data.fingerprint(),
        type="Classification",
        category="t2c",
        reference=paper and paper.reference,
        bibtex_citation=paper.bibtex if paper else "",
        **(GENERATED if task is not None and task.name in BUILT else FOUND),
    )


def _asked(data: ProbeDataset, task: KnownTask | None) -> str:
    words = ("", " and a word", " and two words")[data.slots]
    what = f"A probe learns to tell the label from the vector of the sentence{words}"
    if task is None:
        return f"{what}: {data.name}, with {len(data.labels)} labels."
    letters = "s is the sentence, n a noun, v a verb, w a word"
    return f"{what}: {task.asks} ({letters}; labels: {task.classes})"


def geometry_metadata(material: TripletMaterial, path: Path) -> Any:
    """Return what MTEB is told of triplets that were read from *path*; its ``TaskMetadata``."""
    paper = papers()["ettinger"]  # whose events they are made of
    summary = find_contrast(material.contrast).summary
    return _metadata(
        name=geometry_name(material.contrast),
        description="Is a sentence nearer, by cosine, to another that means the same in another "
        f"form than to one in that form that differs in one property: {summary}?",
        path=path,
        revision=material.fingerprint,
        type="STS",
        category="t2t",
        reference=paper.reference,
        bibtex_citation=paper.bibtex,
        **GENERATED,
    )


def _metadata(*, path: Path, revision: str, **facts: Any) -> Any:
    """Return the metadata, with what holds for all tasks.

    The date is that of the file, and nobody has named a licence of what is in it.
    """
    from mteb.abstasks.task_metadata import TaskMetadata  # noqa: PLC0415 - optional, and slow

    made = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC).date().isoformat()
    return TaskMetadata(
        dataset={"path": str(path), "revision": revision},
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score=MAIN_SCORE,
        date=(made, made),
        task_subtypes=[],
        license="not specified",
        annotations_creators="derived",
        dialect=[],
        **facts,
    )
