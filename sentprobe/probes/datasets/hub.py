"""Files that ``datasets.load_dataset`` reads: a Parquet file for each split, and a README that is a dataset card."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sentprobe.common.errors import UsageError, escape_control_characters
from sentprobe.common.files import atomic_folder, atomic_path, to_local_path
from sentprobe.common.inputs import README_HEAD
from sentprobe.common.specs import NATURAL
from sentprobe.common.tables import escape_markdown
from sentprobe.common.values import format_json
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.probes.datasets.dataset import Card, DatasetError, ProbeDataset, Split
from sentprobe.probes.datasets.records import PROBES, iterate_entries, write_lines

README = "README.md"
PARQUET = "parquet"
SplitFiles = Mapping[Split, str]


@dataclass(frozen=True, slots=True)
class HubFacts:
    """The facts that a README states about a dataset."""

    name: str
    sizes: Mapping[Split, int]
    labels: tuple[str, ...]
    slots: int
    card: Card


def get_hub_facts(data: ProbeDataset) -> HubFacts:
    sizes = {split: len(items) for split, items in data.splits.items()}
    return HubFacts(data.name, sizes, data.labels, data.slots, data.card)


def write_split_files(data: ProbeDataset, folder: Path) -> None:
    """Write one Parquet file for each split, as the new content of *folder*. Raises UsageError or DatasetError."""
    with atomic_folder(folder, check=partial(_check_split_files, folder)) as fresh:
        for split in data.splits:
            write_split_file(data, split, fresh, with_task=True)


def name_split_file(split: Split) -> str:
    return f"{split.value}.parquet"


def write_split_file(data: ProbeDataset, split: Split, folder: Path, *, with_task: bool = False) -> None:
    """Write a split's Parquet file. *with_task* adds the column ``task`` and puts the probe words in a list."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    entries = list(iterate_entries(data, [split]))
    columns: dict[str, list[Any]] = {"task": [data.name] * len(entries)} if with_task else {}
    columns |= {"sentence": [entry.sentence for entry in entries], "label": [entry.label for entry in entries]}
    if with_task:
        # A list, so that the files of tasks with one, two or no probe words have equal columns and load as one dataset.
        columns["probes"] = [entry.probes for entry in entries]
    else:
        for slot, name in enumerate(PROBES[: data.slots]):
            columns[name] = [entry.probes[slot] for entry in entries]
    types = {"probes": pa.list_(pa.string())}
    try:
        table = pa.table({name: pa.array(texts, types.get(name, pa.string())) for name, texts in columns.items()})
    except UnicodeEncodeError as error:
        raise DatasetError(f"{folder}: not valid Unicode: {error.object!r:.60}") from None
    pq.write_table(table, to_local_path(folder / name_split_file(split)), compression="zstd")


def _check_split_files(folder: Path) -> None:
    expected = set(map(name_split_file, Split))
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.name not in expected:
            raise UsageError(
                f"{file}: not a file of the dataset, so not overwritten: move it, or write to another folder"
            )


def write_readme(data: ProbeDataset, directory: Path) -> None:
    """Write the README of a dataset whose split files are in the folder ``parquet``."""
    facts, files = get_hub_facts(data), {split: f"{PARQUET}/{name_split_file(split)}" for split in data.splits}
    head = ("---", README_HEAD, *format_language([facts]), "tags:", "- probing", *format_configs({"default": files}))
    write_lines([*head, *format_dataset_text(facts)], directory / README)


def format_language(facts: Iterable[HubFacts]) -> Iterator[str]:
    """Yield YAML lines that list the datasets' languages; no lines if any dataset is from a corpus."""
    cards = [dataset_facts.card for dataset_facts in facts]
    if not any(card.sampling.startswith(NATURAL) for card in cards):
        yield from ("language:", *sorted({f"- {card.language or ENGLISH.code}" for card in cards}))


def format_configs(configs: Mapping[str, SplitFiles], all_name: str = "") -> Iterator[str]:
    """Yield YAML lines that list the files of each dataset; *all_name*, if given, adds an entry with all files."""
    yield "configs:"
    if all_name:
        yield from (f"- config_name: {all_name}", "  default: true", "  data_files:")
        for split in Split:
            paths = [files[split] for files in configs.values() if split in files]
            if paths:
                yield from (f"  - split: {split.value}", f"    path: {json.dumps(paths)}")
    for name, files in configs.items():
        yield from (f"- config_name: {quote_yaml(name)}", "  data_files:")
        for split, path in files.items():
            yield from (f"  - split: {split.value}", f"    path: {quote_yaml(path)}")
    yield from ("---", "")


def quote_yaml(text: str) -> str:
    quoted = format_json(text)  # YAML reads it, but forbids some characters that JSON allows
    return "".join(char if char.isprintable() else rf"\U{ord(char):08x}" for char in quoted)


INTRODUCTION = (
    "Probing: a small classifier predicts the label from the sentence vector and the item's probe words, if any.",
    "If it succeeds, the vector encodes the label.",
    "Written by sentprobe, which reads this folder: `probe run`, `probe audit`.",
)


def format_dataset_text(facts: HubFacts) -> Iterator[str]:
    """Yield the text of the README of one dataset."""
    yield from (f"# {escape_card_text(facts.name)}", "", *INTRODUCTION, *format_facts(facts))
    yield from format_loading('load_dataset("PATH OF THIS FOLDER")["train"][0]')


def format_loading(*calls: str) -> Iterator[str]:
    """Yield the part of a README that shows how to load the files; *calls* are lines of Python."""
    yield from ("", "In Python, with Hugging Face `datasets`:", "")
    yield from ("    from datasets import load_dataset", "", *(f"    {call}" for call in calls))


def format_facts(facts: HubFacts) -> Iterator[str]:
    """Yield lines of Markdown: a table of split sizes, and a list of labels, probe words, origin and notes."""
    card, labels = facts.card, facts.labels
    yield from ("", "| split | items |", "| --- | --- |")
    yield from (f"| {split.value} | {size} |" for split, size in facts.sizes.items())
    label_list = ", ".join(map(escape_card_text, labels[:30]))
    yield from ("", f"- {len(labels)} labels: {label_list}{', ...' if len(labels) > 30 else ''}")
    yield f"- Probe words of each item, which the classifier gets as well: {facts.slots}"
    origins = {"Made by": card.command, "Vocabulary": card.vocabulary, "Source": card.source}
    code = {h: escape_control_characters(" ".join(text.split()).replace("`", "'")) for h, text in origins.items()}
    yield from (f"- {heading}: `{text}`" for heading, text in code.items() if text)
    yield from (f"- Note: {escape_card_text(note)}" for note in card.notes)


def escape_card_text(text: str) -> str:
    """Return one line of Markdown that is displayed as *text*."""
    return escape_markdown(" ".join(text.split()))


def is_sentprobe_readme(path: Path) -> bool:
    try:
        return path.read_bytes().startswith(f"---\n{README_HEAD}\n".encode())
    except OSError:
        return False


def remove_folder_readme(out: Path) -> None:
    """Delete the README of the folder *out* if sentprobe wrote it. Call this before a dataset in *out* changes."""
    if is_sentprobe_readme(out / README):
        (out / README).unlink()


ALL_TASKS = "all"


def write_folder_readme(out: Path) -> bool:
    """Write the README of the datasets in *out*. If sentprobe did not write the old one, keep it and return False."""
    configs = {name: files for name, files in _find_datasets(out) if Split.TRAIN in files}
    names = sorted(configs)
    # A task may be named "all" itself; its files then have the name.
    all_name = "" if ALL_TASKS in configs else ALL_TASKS
    calls = [f'load_dataset("PATH OF THIS FOLDER", {json.dumps(name)})    # one task' for name in names[:1]]
    if all_name:
        calls.append('load_dataset("PATH OF THIS FOLDER")    # the items of all, with a column `task`')
    lines = ["---", README_HEAD, "tags:", "- probing", *format_configs(configs, all_name), "# Probing tasks", ""]
    lines += ["Written by sentprobe, which reads this folder: `probe run`, `probe audit`.", ""]
    lines += [f"- {escape_card_text(name)}" for name in names]
    return replace_folder_readme(out, [*lines, *format_loading(*calls)])


def replace_folder_readme(out: Path, lines: Iterable[str]) -> bool:
    """Write *lines* to the README in *out*. If sentprobe did not write the present README, keep it and return False."""
    readme = out / README
    if readme.exists() and not is_sentprobe_readme(readme):
        return False
    with atomic_path(readme) as temporary:
        write_lines(lines, temporary)
    return True


def _find_datasets(out: Path) -> Iterator[tuple[str, dict[Split, str]]]:
    for folder in sorted(child for child in out.iterdir() if child.is_dir()):
        if folder.name != PARQUET:
            yield folder.name, _find_split_files(out, f"{folder.name}/{PARQUET}/{{}}.parquet")
    for folder in sorted((out / PARQUET).glob("*/")):
        yield folder.name, _find_split_files(out, f"{PARQUET}/{folder.name}/{{}}.parquet")


def _find_split_files(out: Path, pattern: str) -> dict[Split, str]:
    paths = {split: pattern.format(split.value) for split in Split}
    return {split: path for split, path in paths.items() if (out / path).is_file()}
