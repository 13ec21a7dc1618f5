"""What ``datasets.load_dataset`` needs of a folder: a file for each split, and a README.

The files are Parquet with the columns ``task``, ``sentence``, ``label`` and ``probes``, the same
for every dataset, so that those of several can be loaded as one. The README is a dataset card of
the Hugging Face hub: a head in YAML, which names the files, and a text for people.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError, visible
from sentprobe.files import atomic_folder, atomic_path, local_path
from sentprobe.probes.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.formats.entries import entries_of, write_lines
from sentprobe.table_writers import in_markdown

README = "README.md"
"""The card for people and for ``load_dataset``."""

PARQUET = "parquet"
"""The folder of the files of the splits."""

OUR_HEAD = "# Written by sentprobe, which replaces this file."
"""The first line of the head of each README of ours."""

SplitFiles = Mapping[Split, str]
"""The file of each split, relative to the README."""


@dataclass(frozen=True, slots=True)
class HubFacts:
    """What a README says of a dataset."""

    name: str
    sizes: Mapping[Split, int]
    """How many items each split has."""
    labels: tuple[str, ...]
    slots: int
    card: Card


def hub_facts(data: ProbeDataset) -> HubFacts:
    """Return what a README says of a dataset that is at hand."""
    sizes = {split: len(items) for split, items in data.splits.items()}
    return HubFacts(data.name, sizes, data.labels, data.slots, data.card)


def write_split_files(data: ProbeDataset, folder: Path) -> None:
    """Write a Parquet file for each split into *folder*; equal datasets give equal bytes.

    What an earlier dataset had there is replaced as a whole.

    Raises:
        UsageError: there is another file in it.
        DatasetError: a text is no valid Unicode.
        SentprobeError: it cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    with atomic_folder(folder, check=partial(_check_split_files, folder)) as fresh:
        for split in data.splits:
            try:
                table = pa.table(_columns(data, split))
            except UnicodeEncodeError as error:
                raise DatasetError(f"{folder}: no valid Unicode: {error.object!r:.60}") from None
            path = local_path(fresh / f"{split.value}.parquet")
            pq.write_table(table, path, compression="zstd")


def _check_split_files(folder: Path) -> None:
    """Refuse to replace a folder that has another file in it."""
    known = {f"{split.value}.parquet" for split in Split}
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.name not in known:
            raise UsageError(
                f"{file}: no file of the dataset there, and would be lost; not overwritten: move "
                "it, or write to another folder"
            )


def _columns(data: ProbeDataset, split: Split) -> dict[str, Any]:
    import pyarrow as pa  # noqa: PLC0415

    entries = [entry for entry in entries_of(data) if entry.split is split]
    return {
        "task": pa.array([data.name] * len(entries), pa.string()),
        "sentence": pa.array([entry.sentence for entry in entries], pa.string()),
        "label": pa.array([entry.label for entry in entries], pa.string()),
        "probes": pa.array([entry.probes for entry in entries], pa.list_(pa.string())),
    }


def write_readme(data: ProbeDataset, directory: Path, *, files: str) -> None:
    """Write the README of a dataset; *files* is the path of a split's file, with ``{}``.

    Raises:
        SentprobeError: it cannot be written.
    """
    found = {split: files.format(split.value) for split in data.splits}
    write_lines([*_head({"default": found}), *_text(data)], directory / README)


def _head(configs: Mapping[str, SplitFiles], together: str = "") -> Iterator[str]:
    """Yield the head: which files each configuration has, and all *together* under that name."""
    yield from ("---", OUR_HEAD, "language:", "- en", "tags:", "- probing", "configs:")
    if together:
        yield from (f"- config_name: {together}", "  default: true", "  data_files:")
        for split in Split:
            paths = [files[split] for files in configs.values() if split in files]
            if paths:
                yield from (f"  - split: {split.value}", f"    path: {json.dumps(paths)}")
    for name, files in configs.items():
        yield from (f"- config_name: {json.dumps(name)}", "  data_files:")
        for split, path in files.items():
            yield from (f"  - split: {split.value}", f"    path: {json.dumps(path)}")
    yield from ("---", "")


def _text(data: ProbeDataset) -> Iterator[str]:
    """Yield the text for people: what is asked, how many items, and how it was made."""
    yield from (f"# {shown(data.name)}", "")
    yield "A probing task: a small classifier is to tell the label from the sentence's vector."
    yield "Written by sentprobe, which reads this folder: `probe run`, `probe audit`."
    yield from facts_text(hub_facts(data))
    yield from ("", "In Python, with Hugging Face `datasets`:", "")
    yield from ("    from datasets import load_dataset", "")
    yield '    load_dataset("PATH OF THIS FOLDER")["train"][0]'


def facts_text(facts: HubFacts) -> Iterator[str]:
    """Yield a table of the items, and a list of what else is known of a dataset."""
    card, labels = facts.card, facts.labels
    yield from ("", "| split | items |", "| --- | --- |")
    yield from (f"| {split.value} | {size} |" for split, size in facts.sizes.items())
    listed = ", ".join(map(shown, labels[:30]))
    yield from ("", f"- {len(labels)} labels: {listed}{', ...' if len(labels) > 30 else ''}")
    yield f"- Probe words of each item, which the classifier is given besides: {facts.slots}"
    made = {"Made by": card.command, "Vocabulary": card.vocabulary, "Source": card.source}
    yield from (f"- {what}: `{_plain(text)}`" for what, text in made.items() if text)
    yield from (f"- Note: {shown(note)}" for note in card.notes)


def _plain(text: str) -> str:
    """Return a text for a line of code in Markdown."""
    return visible(" ".join(text.split()).replace("`", "'"))


def shown(text: str) -> str:
    """Return a text of anybody's for a line of Markdown, which shows it as it is."""
    return in_markdown(" ".join(text.split()))


def is_our_readme(path: Path) -> bool:
    """Say whether a README is one that we wrote."""
    try:
        return path.read_bytes().startswith(f"---\n{OUR_HEAD}\n".encode())
    except OSError:
        return False


TOGETHER = "all"
"""The configuration of a folder of datasets that has the items of all."""


def write_folder_readme(out: Path) -> bool:
    """Write the README of a folder of datasets; false: there is another's, which is left.

    Raises:
        SentprobeError: it cannot be written.
    """
    place = out / README
    if place.exists() and not is_our_readme(place):
        return False
    configs = {name: files for name, files in _found(out) if Split.TRAIN in files}
    one_kind = all(
        path.endswith(".parquet") for files in configs.values() for path in files.values()
    )
    together = TOGETHER if one_kind and TOGETHER not in configs else ""
    with atomic_path(place) as temporary:
        lines = (*_head(configs, together), *_folder_text(sorted(configs), together))
        write_lines(lines, temporary)
    return True


def _found(out: Path) -> Iterator[tuple[str, dict[Split, str]]]:
    """Yield the name and the files of each dataset in a folder, or beside one in a single file."""
    for folder in sorted(each for each in out.iterdir() if each.is_dir()):
        if folder.name != PARQUET:
            yield folder.name, _files(out, f"{folder.name}/{PARQUET}/{{}}.parquet")
    for folder in sorted((out / PARQUET).glob("*/")):
        yield folder.name, _files(out, f"{PARQUET}/{folder.name}/{{}}.parquet")


def _files(out: Path, pattern: str) -> dict[Split, str]:
    paths = {split: pattern.format(split.value) for split in Split}
    return {split: path for split, path in paths.items() if (out / path).is_file()}


def _folder_text(names: Sequence[str], together: str) -> Iterator[str]:
    yield from ("# Probing tasks", "")
    yield "Written by sentprobe, which reads this folder: `probe run`, `probe audit`."
    yield from ("", *(f"- {shown(name)}" for name in names), "")
    yield from ("In Python, with Hugging Face `datasets`:", "")
    yield from ("    from datasets import load_dataset", "")
    if names:
        yield f'    load_dataset("PATH OF THIS FOLDER", {json.dumps(names[0])})    # one task'
    if together:
        yield '    load_dataset("PATH OF THIS FOLDER")    # the items of all, with a column `task`'
