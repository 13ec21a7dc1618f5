"""The test items of a dataset with what is known of each: a table that results are kept beside."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from sentprobe.generator.parse import ParseError, parse
from sentprobe.lengths import count_tokens
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import english
from sentprobe.probes.compeval.annotation import EVENT_COLUMNS, AskedEvent, event_columns
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.runs.item_table import LABEL, LENGTH, ItemTable, table_path, write_item_table


def make_item_table(
    data: ProbeDataset, *, fingerprint: str = "", lexicon: Lexicon | None = None
) -> ItemTable:
    """Return the test items of a dataset, annotated where the grammar has their sentences.

    - lexicon: that of the sentences; by default the built-in one
    """
    items = data.splits[Split.TEST]
    sentences = tuple(data.sentences[row] for row in items.rows)
    probes = tuple(tuple(data.probe_words[word] for word in words) for words in items.probes)
    asked = _asked(sentences, probes, lexicon)
    labels = tuple(data.labels[target] for target in items.targets)
    columns = {LABEL: labels, LENGTH: tuple(map(str, count_tokens(sentences)))}
    return ItemTable(
        task=data.name,
        fingerprint=fingerprint or data.fingerprint(),
        labels=data.labels,
        targets=items.targets,
        sentences=sentences,
        probes=probes,
        marks=tuple(map(_marks, sentences, probes, asked)),
        events=tuple("" if each is None else each.notation for each in asked),
        columns={**columns, **_of_events(asked), **items.columns},
    )


def _asked(
    sentences: Sequence[str], probes: Sequence[Sequence[str]], lexicon: Lexicon | None
) -> list[AskedEvent | None]:
    """Return the event of each sentence and what is asked about it; None: it is none of ours.

    If the first few are none of ours, the others are not tried.
    """
    words = lexicon or english()
    pairs = zip(sentences, probes, strict=True)
    first = [_event(*each, words) for each in islice(pairs, _TRIED)]
    if not any(first):
        return [None] * len(sentences)
    return [*first, *(_event(*each, words) for each in pairs)]


_TRIED = 8


def _event(sentence: str, probes: Sequence[str], lexicon: Lexicon) -> AskedEvent | None:
    try:
        return AskedEvent(parse(sentence, lexicon)[0], probes)
    except ParseError:
        return None


def _of_events(asked: Sequence[AskedEvent | None]) -> dict[str, tuple[str, ...]]:
    if not any(asked):
        return {}
    found = [dict[str, str]() if each is None else event_columns(each) for each in asked]
    return {name: tuple(each.get(name, "") for each in found) for name in EVENT_COLUMNS}


def _marks(sentence: str, probes: Sequence[str], asked: AskedEvent | None) -> tuple[int, ...]:
    """Return where the probe words stand: as lemmas of an event, else as they are written."""
    if asked is not None:
        return asked.marks
    wanted = {probe.casefold() for probe in probes}
    tokens = enumerate(sentence.split()) if wanted else ()
    return tuple(at for at, token in tokens if token.casefold() in wanted)


def keep_item_table(
    data: ProbeDataset, directory: Path, *, fingerprint: str, lexicon: Lexicon | None, anew: bool
) -> None:
    """Write the test items of a dataset, unless they are there; *anew*: in any case.

    Columns are no part of the fingerprint, so that those of a dataset that has some may be others.

    Raises:
        UsageError: the folder cannot be written to.
    """
    path = table_path(directory, task=data.name, fingerprint=fingerprint)
    if anew or data.columns or not path.exists():
        write_item_table(make_item_table(data, fingerprint=fingerprint, lexicon=lexicon), directory)
