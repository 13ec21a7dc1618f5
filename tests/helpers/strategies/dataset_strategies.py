"""Strategies for whole datasets and cards, with any text that they may hold."""

from dataclasses import replace

from helpers.strategies.probe_strategies import to_items
from hypothesis import strategies as st

from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split

tokens = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5)
"""Words of visible characters, of any script."""

names = st.text(min_size=1, max_size=6)
"""Any text that files can hold."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | names,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)

cards = st.builds(
    Card,
    task=names,
    seed=st.integers(0, 2**60),
    vocabulary=names,
    command=names,
    sampling=names,
    source=names,
    versions=st.dictionaries(names, names, max_size=2),
    counts=st.dictionaries(names, st.integers(0, 9), max_size=2),
    largest_share=st.dictionaries(names, st.floats(0, 1), max_size=2),
    notes=st.lists(names, max_size=2).map(tuple),
    audit=st.dictionaries(names, json_values, max_size=2),
)


def distinct(texts: st.SearchStrategy[str], *, least: int, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(texts, min_size=least, max_size=most, unique_by=str.casefold)


@st.composite
def any_datasets(draw: st.DrawFn, *, slots: int | None = None, texts: st.SearchStrategy[str] = tokens) -> ProbeDataset:
    """A dataset with two or three splits and two or three labels; labels and words are *texts*."""
    sentences = draw(st.lists(st.lists(tokens, min_size=1, max_size=4).map(" ".join), min_size=1, unique=True))
    slots = draw(st.integers(0, 2)) if slots is None else slots
    labels = draw(distinct(texts, least=2, most=3))
    words = draw(distinct(texts, least=1, most=4)) if slots else []
    row = st.integers(0, len(sentences) - 1)
    probe = st.lists(st.integers(0, max(0, len(words) - 1)), min_size=slots, max_size=slots)
    target = st.integers(0, len(labels) - 1)
    train = [(*draw(st.tuples(row, probe)), 0), (*draw(st.tuples(row, probe)), 1)]
    train += draw(st.lists(st.tuples(row, probe, target), max_size=5))
    trained_words = [st.sampled_from([item[1][slot] for item in train]) for slot in range(slots)]
    trained_labels = st.sampled_from([item[2] for item in train])
    held_out_items = st.lists(
        st.tuples(row, st.tuples(*trained_words).map(list), trained_labels), min_size=1, max_size=4
    )
    splits = {Split.TRAIN: to_items(train), Split.TEST: to_items(draw(held_out_items))}
    if draw(st.booleans()):
        splits[Split.VALIDATION] = to_items(draw(held_out_items))
    return ProbeDataset(
        name=draw(tokens),
        sentences=tuple(sentences),
        labels=tuple(labels),
        probe_words=tuple(words),
        splits=splits,
        card=draw(cards),
    )


@st.composite
def datasets_with_columns(draw: st.DrawFn) -> ProbeDataset:
    """A dataset whose items have up to two columns; an empty text where nothing is known."""
    data = draw(any_datasets())
    names = draw(st.lists(st.from_regex(r"c[a-z ]{0,3}[0-9]", fullmatch=True), unique=True, max_size=2))

    def column(size: int) -> tuple[str, ...]:
        return tuple(draw(st.lists(st.just("") | tokens, min_size=size, max_size=size)))

    splits = {
        split: replace(items, columns={name: column(len(items)) for name in names})
        for split, items in data.splits.items()
    }
    return replace(data, splits=splits)
