"""A dataset as the Hugging Face hub has it: a README, a Parquet file for each split, a card.json.

The files have the columns ``sentence``, ``label`` and, as far as there are any, ``probe1`` and
``probe2``, all texts. The head of the README names the labels in order, so that ``load_dataset``
gives labels as the numbers of a ``ClassLabel``. A folder of such datasets has a README that makes
each a configuration.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError, suggest
from sentprobe.files import atomic_path, local_path
from sentprobe.probes.dataset import MAX_PROBES, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats import directory, hub
from sentprobe.probes.formats.entries import Entry, assemble, entries_of, write_lines

HUB = "hub"
"""The name of the format."""

FORMAT = "sentprobe-hub 1"
"""The format in the card.json."""

UNKNOWN = "unknown"
"""The hub's word for a licence that nobody has named."""

_SIZES = {
    10**3: "n<1K",
    10**4: "1K<n<10K",
    10**5: "10K<n<100K",
    10**6: "100K<n<1M",
    10**7: "1M<n<10M",
}
"""The hub's words for fewer items than that."""

_TAGS = ("probing", "sentence-embeddings", "sentprobe")


def write_hub(data: ProbeDataset, path: Path) -> None:
    """Write the dataset; sentences and probe words that no item has are left out.

    Raises:
        UsageError: something else is at *path*.
        DatasetError: a text is no valid Unicode.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow import

    with directory.new_directory(path) as folder:
        for split in data.splits:
            table = _table_of(data, split, path)
            pq.write_table(table, local_path(folder / _file(split)), compression="zstd")
        directory.write_card_file(data, folder / directory.CARD, fmt=FORMAT)
        facts = hub.hub_facts(data)
        write_lines([*_head({"": facts}), *_alone(facts)], folder / hub.README)


def _file(split: Split) -> str:
    return f"{split.value}.parquet"


def _table_of(data: ProbeDataset, split: Split, path: Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow import

    entries = [entry for entry in entries_of(data) if entry.split is split]
    columns = {
        "sentence": [entry.sentence for entry in entries],
        "label": [entry.label for entry in entries],
    }
    for slot, name in enumerate(_probe_columns(data.slots)):
        columns[name] = [entry.probes[slot] for entry in entries]
    try:
        return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
    except UnicodeEncodeError as error:
        raise DatasetError(f"{path}: no valid Unicode: {error.object!r:.60}") from None


def _probe_columns(slots: int) -> list[str]:
    return [f"probe{slot + 1}" for slot in range(slots)]


def read_hub(path: Path) -> ProbeDataset:
    """Read a dataset; the inverse of :func:`write_hub`.

    Raises:
        DatasetError: a file is missing or damaged, or a dataset that cannot be used.
    """
    kept = directory.read_card_file(path, fmt=FORMAT)
    files = {split: path / _file(split) for split in Split}
    return assemble(
        chain.from_iterable(_entries(f, split) for split, f in files.items() if f.exists()),
        name=kept["name"],
        source=str(path),
        card=kept["card"],
        labels=kept["labels"],
    )


def _entries(file: Path, split: Split) -> Iterator[Entry]:
    table = directory.read_columns(file, _COLUMNS)
    probes = _probes_in(table)
    directory.check_types(table, dict.fromkeys(probes, "string"), file)
    columns = [table[name].to_pylist() for name in ("sentence", "label", *probes)]
    for number, (sentence, label, *words) in enumerate(zip(*columns, strict=True), 1):
        where = f"{file}: item {number}"
        yield Entry(split=split, label=label, sentence=sentence, probes=tuple(words), where=where)


_COLUMNS = {"sentence": "string", "label": "string"}


def _probes_in(table: Any) -> list[str]:
    return [name for name in _probe_columns(MAX_PROBES) if name in table.column_names]


def is_hub(path: Path) -> bool:
    """Say whether a directory is a dataset in this format."""
    return directory.format_in(path) == FORMAT


def check_licence(text: str) -> str:
    """Return the name of a licence.

    >>> check_licence("cc-by-sa-4.0")
    'cc-by-sa-4.0'

    Raises:
        UsageError: it is no name that the hub knows; names the nearest.
    """
    known = files("sentprobe.probes.formats").joinpath("licences.txt").read_text("utf-8").split()
    if text not in known:
        raise UsageError(
            f"--license {text!r}: the hub has no licence of that name"
            f"{suggest(text.lower(), known)}; it has apache-2.0, cc-by-4.0, cc0-1.0, other, ..."
        )
    return text


def write_hub_readme(
    out: Path, *, licence: str = UNKNOWN, asks: Callable[[str], str] = lambda _: ""
) -> bool:
    """Write the README of a folder of datasets; false: there is another's, which is left.

    - asks: what the task of a name asks; empty where that is not known

    Raises:
        DatasetError: a dataset in it is damaged.
        SentprobeError: it cannot be written.
    """
    place = out / hub.README
    if place.exists() and not hub.is_our_readme(place):
        return False
    found = {each.name: _read_facts(each) for each in sorted(out.iterdir()) if is_hub(each)}
    with atomic_path(place) as temporary:
        lines = (*_head(found, licence), *_together(found, licence, asks))
        write_lines(lines, temporary)
    return True


def _read_facts(path: Path) -> hub.HubFacts:
    """Return what a README says of a dataset in a folder; its items are only counted."""
    kept = directory.read_card_file(path, fmt=FORMAT)
    files = {split: path / _file(split) for split in Split}
    files = {split: file for split, file in files.items() if file.exists()}
    tables = {split: directory.read_columns(file, _COLUMNS) for split, file in files.items()}
    if Split.TRAIN not in tables:
        raise DatasetError(f"{path}: there is no {_file(Split.TRAIN)}")
    return hub.HubFacts(
        name=kept["name"],
        sizes={split: len(table) for split, table in tables.items()},
        labels=tuple(kept["labels"]),
        slots=len(_probes_in(tables[Split.TRAIN])),
        card=kept["card"],
    )


Configs = Mapping[str, hub.HubFacts]
"""What is in each folder, which is a configuration."""


def _head(configs: Configs, licence: str = "") -> Iterator[str]:
    """Yield the head; the folder of the README itself is named ""."""
    total = sum(sum(facts.sizes.values()) for facts in configs.values())
    yield from ("---", hub.OUR_HEAD, "language:", "- en")
    if licence:
        yield f"license: {licence}"
    yield from ("annotations_creators:", "- machine-generated", "multilinguality:", "- monolingual")
    yield from ("size_categories:", f"- {_size(total)}")
    yield from ("task_categories:", "- text-classification")
    yield from ("tags:", *(f"- {tag}" for tag in _TAGS))
    yield "dataset_info:"
    for folder, facts in configs.items():
        yield from _features(folder, facts)
    yield "configs:"
    for folder, facts in configs.items():
        yield from (f"- config_name: {_quoted(folder or 'default')}", "  data_files:")
        for split in facts.sizes:
            place = f"{folder}/{_file(split)}" if folder else _file(split)
            yield from (f"  - split: {split.value}", f"    path: {_quoted(place)}")
    yield from ("---", "")


def _features(folder: str, facts: hub.HubFacts) -> Iterator[str]:
    yield from (f"- config_name: {_quoted(folder or 'default')}", "  features:")
    yield from ("  - name: sentence", "    dtype: string", "  - name: label", "    dtype:")
    yield from ("      class_label:", "        names:")
    yield from (
        f"          '{place}': {_quoted(label)}" for place, label in enumerate(facts.labels)
    )
    for name in _probe_columns(facts.slots):
        yield from (f"  - name: {name}", "    dtype: string")


def _size(items: int) -> str:
    """Return the hub's word for a number of items.

    >>> _size(999), _size(1000), _size(2_000_000)
    ('n<1K', '1K<n<10K', '1M<n<10M')
    """
    return next((word for below, word in _SIZES.items() if items < below), "10M<n<100M")


def _quoted(text: str) -> str:
    """Return a text for YAML, whatever is in it."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else rf"\U{ord(each):08x}" for each in written)


def _alone(facts: hub.HubFacts) -> Iterator[str]:
    yield from (f"# {hub.shown(facts.name)}", "", *_INTRODUCTION, *hub.facts_text(facts))
    yield from _loading('load_dataset("PATH OF THIS FOLDER")["train"][0]')


def _together(found: Configs, licence: str, asks: Callable[[str], str]) -> Iterator[str]:
    yield from ("# Probing tasks", "", *_INTRODUCTION)
    yield from ("", f"Licence: {licence}.{_NO_LICENCE if licence == UNKNOWN else ''}")
    for facts in found.values():
        question = asks(facts.card.task) or asks(facts.name)
        yield from ("", f"## {hub.shown(facts.name)}")
        yield from ("", f"What it asks: {hub.shown(question)} {_LETTERS}") if question else ()
        yield from hub.facts_text(facts)
    name = json.dumps(next(iter(found), "TASK"))
    yield from _loading(f'load_dataset("PATH OF THIS FOLDER", {name})["train"][0]')


_INTRODUCTION = (
    "Probing: a small classifier is to tell the label from the vector of the sentence alone, and",
    "from the words in `probe1` and `probe2` where there are any. If it can, the vector says so.",
    "Written by sentprobe, which reads this folder: `probe run`, `probe audit`.",
)

_LETTERS = "(s is the sentence, n a noun, v a verb, w a word.)"

_NO_LICENCE = (
    " Before you publish sentences that are from texts of others, say theirs: `--license`."
)


def _loading(line: str) -> Iterator[str]:
    yield from ("", "In Python, with Hugging Face `datasets`:", "")
    yield from ("    from datasets import load_dataset", "", f"    {line}")
