"""The format ``hub``, for the Hugging Face hub: a README with the labels, a Parquet file per split, and card.json."""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.inputs import README_HEAD
from sentprobe.probes.datasets import directory, hub
from sentprobe.probes.datasets.dataset import DatasetError, ProbeDataset, Split
from sentprobe.probes.datasets.records import PROBES, Entry, write_lines

HUB = "hub"
FORMAT = "sentprobe-hub 1"
UNKNOWN = "unknown"
"""The hub's word for an unspecified licence."""
_SIZE_CATEGORIES = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M", 10**7: "1M<n<10M"}
"""The hub's name for datasets with fewer items than the key."""


def write_hub(data: ProbeDataset, path: Path) -> None:
    """Write the dataset to a directory. Sentences without items are left out. Raises UsageError or DatasetError."""
    with directory.open_new_directory(path) as folder:
        for split in data.splits:
            hub.write_split_file(data, split, folder)
        directory.write_card_file(data, folder / directory.CARD, fmt=FORMAT)
        facts = hub.get_hub_facts(data)
        write_lines([*_format_head({"": facts}), *hub.format_dataset_text(facts)], folder / hub.README)


def read_hub(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_hub`. Raises DatasetError."""
    card_file = directory.read_card_file(path, fmt=FORMAT)
    items = chain.from_iterable(_read_entries(file, split) for split, file in _find_files(path).items())
    return directory.build_from_card(card_file, items, path)


def _find_files(path: Path) -> dict[Split, Path]:
    files = {split: path / hub.name_split_file(split) for split in Split}
    return {split: file for split, file in files.items() if file.exists()}


def _read_entries(file: Path, split: Split) -> Iterator[Entry]:
    table = directory.read_columns(file, _COLUMNS)
    probes = _find_probe_columns(table)
    directory.check_types(table, dict.fromkeys(probes, "string"), file)
    columns = [table[name].to_pylist() for name in ("sentence", "label", *probes)]
    for number, (sentence, label, *words) in enumerate(zip(*columns, strict=True), 1):
        where = f"{file}: item {number}"
        yield Entry(split=split, label=label, sentence=sentence, probes=tuple(words), where=where)


_COLUMNS = {"sentence": "string", "label": "string"}


def _find_probe_columns(table: Any) -> list[str]:
    return [name for name in PROBES if name in table.column_names]


def is_hub(path: Path) -> bool:
    return directory.read_format_name(path) == FORMAT


def check_licence(name: str | None, fmt: str) -> str:
    """Return *name*, or ``unknown`` for None. Raises UsageError if the hub or *fmt* does not support *name*."""
    if name is not None and fmt != HUB:
        raise UsageError(f"--license is for --format hub, not for {fmt}")
    text = UNKNOWN if name is None else name
    licences = files("sentprobe.probes.datasets").joinpath("licences.txt").read_text("utf-8").split()
    if text not in licences:
        raise UsageError(
            f"--license {text!r}: the hub has no licence of that name"
            f"{suggest(text.lower(), licences)}; it has apache-2.0, cc-by-4.0, cc0-1.0, other, ..."
        )
    return text


def write_hub_readme(out: Path, *, licence: str = UNKNOWN, get_question: Callable[[str], str] = lambda _: "") -> bool:
    """Write the README of a folder of datasets; return False if it has another author's README. Raises DatasetError."""
    facts_by_name = {child.name: _read_facts(child) for child in sorted(out.iterdir()) if is_hub(child)}
    text = _format_folder_text(facts_by_name, licence, get_question)
    return hub.replace_folder_readme(out, (*_format_head(facts_by_name, licence), *text))


def _read_facts(path: Path) -> hub.HubFacts:
    card = directory.read_card_file(path, fmt=FORMAT)
    tables = {split: directory.read_columns(file, _COLUMNS) for split, file in _find_files(path).items()}
    if Split.TRAIN not in tables:
        raise DatasetError(f"{path}: there is no {hub.name_split_file(Split.TRAIN)}")
    return hub.HubFacts(
        name=card["name"],
        sizes={split: len(table) for split, table in tables.items()},
        labels=tuple(card["labels"]),
        slots=len(_find_probe_columns(tables[Split.TRAIN])),
        card=card["card"],
    )


Configs = Mapping[str, hub.HubFacts]
"""The datasets that a README describes, by folder; "" is the folder of the README itself."""


def _format_head(configs: Configs, licence: str = "") -> Iterator[str]:
    total = sum(sum(facts.sizes.values()) for facts in configs.values())
    yield from ("---", README_HEAD, *hub.format_language(configs.values()))
    if licence:
        yield f"license: {licence}"
    yield from ("annotations_creators:", "- machine-generated", "multilinguality:", "- monolingual")
    category = next((name for limit, name in _SIZE_CATEGORIES.items() if total < limit), "10M<n<100M")
    yield from ("size_categories:", f"- {category}")
    yield from ("task_categories:", "- text-classification")
    yield from ("tags:", "- probing", "- sentence-embeddings", "- sentprobe")
    yield "dataset_info:"
    for folder, facts in configs.items():
        yield from (f"- config_name: {hub.quote_yaml(folder or 'default')}", "  features:")
        yield from ("  - name: sentence", "    dtype: string", "  - name: label", "    dtype:")
        yield from ("      class_label:", "        names:")
        yield from (f"          '{number}': {hub.quote_yaml(label)}" for number, label in enumerate(facts.labels))
        for name in PROBES[: facts.slots]:
            yield from (f"  - name: {name}", "    dtype: string")
    yield from hub.format_configs(
        {
            folder or "default": {s: (Path(folder) / hub.name_split_file(s)).as_posix() for s in facts.sizes}
            for folder, facts in configs.items()
        }
    )


def _format_folder_text(configs: Configs, licence: str, get_question: Callable[[str], str]) -> Iterator[str]:
    yield from ("# Probing tasks", "", *hub.INTRODUCTION)
    advice = " Before you publish sentences from texts of other authors, name their licence: `--license`."
    yield from ("", f"Licence: {licence}.{advice if licence == UNKNOWN else ''}")
    for facts in configs.values():
        question = get_question(facts.card.task) or get_question(facts.name)
        yield from ("", f"## {hub.escape_card_text(facts.name)}")
        if question:
            letters = "(s is the sentence, n a noun, v a verb, w a word.)"
            yield from ("", f"Question: {hub.escape_card_text(question)} {letters}")
        yield from hub.format_facts(facts)
    name = json.dumps(next(iter(configs), "TASK"))
    yield from hub.format_loading(f'load_dataset("PATH OF THIS FOLDER", {name})["train"][0]')
