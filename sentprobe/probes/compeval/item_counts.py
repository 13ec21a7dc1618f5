"""Item counts in the card of a compeval dataset: by label, structure, and clause of the probe words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sentprobe.errors import format_count
from sentprobe.generator.events.event import Voice
from sentprobe.generator.spaces.drawn_event import find_layout_parts
from sentprobe.generator.spaces.profile import UNMARKED, count_features, read_published
from sentprobe.probes.compeval.items import Probe, UnitItem
from sentprobe.probes.dataset import Card, Split

ItemsBySplit = Mapping[Split, Sequence[tuple[Probe, UnitItem]]]


def count_items(items: ItemsBySplit, *, labels: Sequence[str]) -> dict[str, int]:
    """Return the number of items by split and feature, such as ``{"test: TRUE": 28, "test: 2 nouns": 19}``."""
    counts: Counter[str] = Counter()
    for split, questions in items.items():
        counts.update(f"{split.value}: {item.part}" for _, item in questions if item.part)
        counts.update(f"{split.value}: {labels[item.label]}" for _, item in questions)
        structures = Counter(_describe_structure(probe, item) for probe, item in questions)
        for structure, count in structures.items():
            for feature in _name_features(*structure):
                counts[f"{split.value}: {feature}"] += count
    return dict(sorted(counts.items()))


def count_templates(card: Card, split: Split) -> dict[str, int]:
    """Return the number of items of a split by sub-template, added up from the counts in a card.

    >>> card = Card("Order", counts={"test: transitive, active": 3, "test: transitive, passive": 1})
    >>> count_templates(card, Split.TEST)
    {'transitive': 4}
    """
    counts: Counter[str] = Counter()
    for key, count in card.counts.items():
        name, _, voice = key.removeprefix(f"{split.value}: ").partition(", ")
        if key.startswith(f"{split.value}: ") and voice in [*Voice]:
            counts[name] += count
    return dict(counts)


_Clauses = tuple[tuple[str, str], ...]
"""The voice and aspect of each clause, the main clause first."""


def _describe_structure(probe: Probe, item: UnitItem) -> tuple[str, _Clauses, int, str]:
    """Return the arguments of :func:`_name_features` for an item; items with equal arguments are counted together."""
    event, parts = item.event, find_layout_parts(item.event.layout)
    nouns = [(event.get_value(noun), event.layout.variables[noun].name) for noun in parts.nouns]
    verbs = [(event.get_value(clause.verb), clause.site.path) for clause in parts.clauses]
    adjectives = [(event.get_value(at), event.layout.variables[at].name) for at in parts.adjectives]
    second = ("adjective", adjectives) if adjectives else ("verb", verbs)
    probe_kinds = (("noun", nouns), second)[2 - len(probe) :]
    places = zip(probe_kinds, probe, strict=True)
    return (
        item.template,
        tuple((clause.find_voice(event), str(event.get_value(clause.aspect))) for clause in parts.clauses),
        len(nouns),
        ", ".join(f"{kind} {_name_place(values, word)}" for (kind, values), word in places),
    )


def _name_features(template: str, clauses: _Clauses, nouns: int, places: str) -> Iterator[str]:
    (voice, aspect), *inner = clauses
    yield f"{template}, {voice}"
    yield f"main clause {aspect}"
    yield format_count(nouns, "noun")
    for _, aspect in inner:
        yield f"relative clause {aspect}"
    if places:
        yield f"probe: {places}"


def _name_place(words_with_paths: Sequence[tuple[object, str]], word: str) -> str:
    path = next((path for value, path in words_with_paths if value == word), None)
    return "absent" if path is None else "in relative clause" if "clause" in path else "in main clause"


def compute_composition(items: ItemsBySplit) -> dict[str, dict[str, float]]:
    """Return the shares (0 to 1) of feature values in the sentences and in the published datasets.

    An example is ``{"structure transitive": {"share": 0.0694, "published": 0.07}}``.
    """
    events = {item.text: item.event for questions in items.values() for _, item in questions}
    counts = count_features(events.values())
    published = read_published()[1]
    return {
        f"{feature} {value}": {
            "share": round(counts[feature][value] / counts[feature].total(), 4),
            "published": published[feature].get(value, 0) / 100,
        }
        for feature in published
        if feature in counts
        for value in sorted({*published[feature], *counts[feature]} - UNMARKED)
    }


def compute_largest_shares(items: ItemsBySplit) -> dict[str, float]:
    """Return the share (0 to 1) of the most frequent sub-template among the items of each split."""
    return {
        split.value: max(Counter(item.template for _, item in questions).values()) / len(questions)
        for split, questions in sorted(items.items(), key=lambda entry: list(Split).index(entry[0]))
    }
