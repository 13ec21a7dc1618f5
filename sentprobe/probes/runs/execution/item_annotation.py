"""Item tables of datasets: test items, annotated with their events."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.lengths import count_tokens
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import english
from sentprobe.probes.compeval.annotation import EVENT_COLUMNS, ProbedEvent, build_event_columns
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.results.item_table import LABEL, LENGTH, ItemTable, find_item_table, write_item_table


def make_item_table(data: ProbeDataset, *, fingerprint: str = "", lexicon: Lexicon | None = None) -> ItemTable:
    """Return the test items of a dataset, annotated if the grammar with this (or the built-in) lexicon parses them."""
    items = data.splits[Split.TEST]
    sentences = tuple(data.sentences[row] for row in items.rows)
    probes = tuple(tuple(data.probe_words[word] for word in words) for words in items.probes)
    events = _parse_events(sentences, probes, lexicon)
    labels = tuple(data.labels[target] for target in items.targets)
    columns = {LABEL: labels, LENGTH: tuple(map(str, count_tokens(sentences)))}
    return ItemTable(
        task=data.name,
        fingerprint=fingerprint or data.fingerprint(),
        labels=data.labels,
        targets=items.targets,
        sentences=sentences,
        probes=probes,
        marks=tuple(map(_find_marks, sentences, probes, events)),
        events=tuple("" if event is None else event.notation for event in events),
        columns={**columns, **_make_event_columns(events), **items.columns},
    )


def _parse_events(
    sentences: Sequence[str], probes: Sequence[Sequence[str]], lexicon: Lexicon | None
) -> list[ProbedEvent | None]:
    """Return the event of each sentence with its probe words, or None; after some failures, the others are skipped."""
    used_lexicon = lexicon or english()
    pairs = zip(sentences, probes, strict=True)
    first_events = [_parse_event(*pair, used_lexicon) for pair in islice(pairs, _TRIAL_SENTENCES)]
    if not any(first_events):
        return [None] * len(sentences)
    return [*first_events, *(_parse_event(*pair, used_lexicon) for pair in pairs)]


_TRIAL_SENTENCES = 8


def _parse_event(sentence: str, probes: Sequence[str], lexicon: Lexicon) -> ProbedEvent | None:
    try:
        (event,) = parse(sentence, lexicon)
    except (ParseError, ValueError):  # also if ambiguous
        return None
    return ProbedEvent(event, probes)


def _make_event_columns(events: Sequence[ProbedEvent | None]) -> dict[str, tuple[str, ...]]:
    if not any(events):
        return {}
    columns_by_item = [dict[str, str]() if event is None else build_event_columns(event) for event in events]
    return {name: tuple(item_columns.get(name, "") for item_columns in columns_by_item) for name in EVENT_COLUMNS}


def _find_marks(sentence: str, probes: Sequence[str], event: ProbedEvent | None) -> tuple[int, ...]:
    """Return the positions of the probe words: by lemma in an event, else by their form."""
    if event is not None:
        return event.probe_positions
    folded_probes = {probe.casefold() for probe in probes}
    tokens = enumerate(sentence.split()) if folded_probes else ()
    return tuple(at for at, token in tokens if token.casefold() in folded_probes)


def ensure_item_table(
    data: ProbeDataset, directory: Path, *, fingerprint: str, lexicon: Lexicon | None, anew: bool
) -> None:
    """Write the item table of a dataset if it is missing, *anew*, or has columns, which no fingerprint covers."""
    path = find_item_table(directory, task=data.name, fingerprint=fingerprint)
    if anew or data.columns or not path.exists():
        write_item_table(make_item_table(data, fingerprint=fingerprint, lexicon=lexicon), directory)
