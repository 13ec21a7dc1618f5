"""The lines under a table that say what its datasets were made of."""

import re
from collections.abc import Iterator

from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.runs.results import Results

DIGITS = 12
"""So much of a digest is shown: two datasets share it by accident once in 10^14 pairs."""


def data_lines(results: Results) -> Iterator[str]:
    """Say what the datasets were made of, in a line for all that were made alike.

    Word types and digest are each dataset's own. Of what a file from before it was kept does not
    say, the line says that it was not recorded.
    """
    groups: dict[str, list[str]] = {}
    for record in results.records:
        digest = record.dataset_fingerprint[:DIGITS]
        own = digest if record.data is None else f"{record.data.word_types}, {digest}"
        each = groups.setdefault(_alike(record.data), [])
        if (text := f"{record.task} {own}") not in each:
            each.append(text)
    yield from (f"{alike}: {'; '.join(own)}." for alike, own in groups.items())


def _alike(facts: DataFacts | None) -> str:
    """Say what datasets that were made alike have in common, and what is said of each of them."""
    if facts is None:
        return "Data: items, words, sampling and seed not recorded. Digest"
    counts = {"training": facts.train, "validation": facts.validation, "test": facts.test}
    sizes = [f"{count} {what}" for what, count in counts.items() if count]
    made = (
        f"vocabulary {_stated(facts.vocabulary)}, sampling {_stated(facts.sampling)}, "
        f"seed {'not stated' if facts.seed is None else facts.seed}"
    )
    if made.count("not stated") == 3:
        made = "vocabulary, sampling and seed not stated"
    if facts.held_out:
        made += f", {_stated(facts.held_out)} held out of training"
    return f"Data: {', '.join(sizes)} items; {made}. Word types and digest"


def _stated(name: str) -> str:
    """Return a name, in quotation marks where it could be taken for something else."""
    if not name:
        return "not stated"
    return name if re.fullmatch(r"[\w.+-]+", name) else repr(name)
