"""Notes below a table about its datasets."""

import re
from collections.abc import Iterator

from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Results

DIGEST_LENGTH = 12
"""Digits of a digest that are shown: equal by accident once in 10^14 pairs."""


def describe_datasets(results: Results) -> Iterator[str]:
    """Yield a line for each group of datasets that were built alike, with word types and digest of each."""
    groups: dict[str, list[str]] = {}
    for record in results.records:
        digest = record.dataset_fingerprint[:DIGEST_LENGTH]
        details = digest if record.data is None else f"{record.data.word_types}, {digest}"
        texts = groups.setdefault(_describe_shared_facts(record.data), [])
        if (text := f"{record.task} {details}") not in texts:
            texts.append(text)
    yield from (f"{shared_facts}: {'; '.join(details)}." for shared_facts, details in groups.items())


def _describe_shared_facts(facts: DataFacts | None) -> str:
    """Describe the facts that datasets share, and name the details that follow."""
    if facts is None:
        return "Data: items, words, sampling and seed not recorded. Digest"
    counts = {"training": facts.train, "validation": facts.validation, "test": facts.test}
    sizes = [f"{count} {split}" for split, count in counts.items() if count]
    origin = (
        f"vocabulary {_quote_name(facts.vocabulary)}, sampling {_quote_name(facts.sampling)}, "
        f"seed {'not stated' if facts.seed is None else facts.seed}"
    )
    if origin.count("not stated") == 3:
        origin = "vocabulary, sampling and seed not stated"
    if facts.held_out:
        origin += f", {_quote_name(facts.held_out)} held out of training"
    return f"Data: {', '.join(sizes)} items; {origin}. Word types and data digest"


def _quote_name(name: str) -> str:
    """Return a name, in quotation marks if it could be misread."""
    if not name:
        return "not stated"
    return name if re.fullmatch(r"[\w.+-]+", name) else repr(name)
