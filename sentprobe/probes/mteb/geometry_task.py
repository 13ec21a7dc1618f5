"""Triplets as a task of MTEB's: what the distances of a model keep, without training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sentprobe.generator.triplets import SIDES
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.geometry.material import TripletMaterial
from sentprobe.probes.geometry.run import measure
from sentprobe.probes.mteb.metadata import geometry_metadata
from sentprobe.probes.mteb.model import MtebModel
from sentprobe.probes.mteb.scores import MtebScores, geometry_scores


class GeometryTask:
    """What a contrast does as a task of MTEB's."""

    metadata: Any
    material: TripletMaterial
    dataset: Any
    data_loaded: bool
    abstask_prompt = "Retrieve semantically similar text."

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Give MTEB the triplets; they are at hand, and nothing is fetched."""
        from datasets import Dataset, DatasetDict  # noqa: PLC0415 - optional

        del num_proc, options
        columns = {side.value: list(self.material.columns[n]) for n, side in enumerate(SIDES)}
        self.dataset = DatasetDict({"test": Dataset.from_dict(columns)})
        self.data_loaded = True

    def _evaluate_subset(
        self,
        model: Any,
        data_split: Any,
        *,
        encode_kwargs: Mapping[str, Any],
        hf_subset: str,
        **options: Any,
    ) -> MtebScores:
        """Return the scores of a model; see :func:`geometry_scores`."""
        del data_split, options
        encoder = MtebModel(
            model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs
        )
        vectors = embed(encoder, self.material.sentences)
        return geometry_scores(measure(encoder, self.material, vectors, None))

    def _calculate_descriptive_statistics_from_split(
        self, split: str, **options: Any
    ) -> dict[str, int]:
        del split, options
        return {"num_samples": len(self.material.units)}


def geometry_task(material: TripletMaterial, path: Path) -> Any:
    """Return the task of triplets that were read from *path*, of a class of its own."""
    from mteb.abstasks.abstask import AbsTask  # noqa: PLC0415 - optional, and slow

    metadata = geometry_metadata(material, path)
    facts = {"metadata": metadata, "material": material, "__doc__": metadata.description}
    return type(metadata.name, (GeometryTask, AbsTask), facts)()
