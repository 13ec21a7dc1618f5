"""Triplets as an MTEB task: the geometry of a model's sentence vectors, without training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sentprobe.generator.pairs.triplets import SIDES
from sentprobe.probes.encoders.cache.embedding import embed
from sentprobe.probes.geometry.distance_run import measure_encoder
from sentprobe.probes.geometry.triplet_sentences import TripletSentences
from sentprobe.probes.mteb.metadata import make_geometry_metadata
from sentprobe.probes.mteb.model import MtebModel
from sentprobe.probes.mteb.scores import MtebScores, make_geometry_scores


class GeometryTask:
    """The MTEB task of one contrast."""

    metadata: Any
    material: TripletSentences
    dataset: Any
    data_loaded: bool
    abstask_prompt = "Retrieve semantically similar text."

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Give the triplets to MTEB; nothing is downloaded."""
        from datasets import Dataset, DatasetDict

        del num_proc, options
        columns = {side.value: list(self.material.columns[n]) for n, side in enumerate(SIDES)}
        self.dataset = DatasetDict({"test": Dataset.from_dict(columns)})
        self.data_loaded = True

    def _evaluate_subset(
        self, model: Any, data_split: Any, *, encode_kwargs: Mapping[str, Any], hf_subset: str, **options: Any
    ) -> MtebScores:
        del data_split, options
        encoder = MtebModel(model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs)
        vectors = embed(encoder, self.material.sentences)
        return make_geometry_scores(measure_encoder(encoder, self.material, vectors, None))

    def _calculate_descriptive_statistics_from_split(self, split: str, **options: Any) -> dict[str, int]:
        del split, options
        return {"num_samples": len(self.material.units)}


def make_geometry_task(material: TripletSentences, path: Path) -> Any:
    """Return the MTEB task of the triplets in *path*; each task gets a new class, as in MTEB."""
    from mteb.abstasks.abstask import AbsTask

    metadata = make_geometry_metadata(material, path)
    attributes = {"metadata": metadata, "material": material, "__doc__": metadata.description}
    return type(metadata.name, (GeometryTask, AbsTask), attributes)()
