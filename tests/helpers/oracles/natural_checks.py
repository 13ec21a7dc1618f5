"""Requirements of each natural-text dataset, checked against the rows of its corpus."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.datasets.dataset import ProbeDataset, Split


@dataclass(frozen=True)
class Item:
    split: Split
    label: str
    text: str
    probes: tuple[str, ...]

    @property
    def tokens(self) -> list[str]:
        return self.text.split(" ")


def iterate_items(data: ProbeDataset) -> Iterator[Item]:
    for split, split_data in data.splits.items():
        for row, probes, target in zip(split_data.rows, split_data.probes, split_data.targets, strict=True):
            words = tuple(data.probe_words[probe] for probe in probes)
            yield Item(split, data.labels[target], data.sentences[row], words)


class Source:
    """The rows of a corpus, and counts of their words."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = {row.text: row for row in rows}

    @cached_property
    def frequencies(self) -> Counter[str]:
        return Counter(token.lower() for row in self.rows.values() for token in row.tokens)

    @cached_property
    def bigrams(self) -> Counter[tuple[str, str]]:
        counts: Counter[tuple[str, str]] = Counter()
        for row in self.rows.values():
            words = [token.lower() for token in row.tokens]
            counts.update(pairwise(words))
        return counts

    @cached_property
    def tags(self) -> Mapping[str, Counter[str]]:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.rows.values():
            for token, tag in zip(row.tokens, row.tags, strict=True):
                counts[token.lower()][tag] += 1
        return counts

    @cached_property
    def masked(self) -> Mapping[tuple[int, tuple[str, ...]], list[Row]]:
        """Rows by place and by the other tokens, for each token of each row."""
        rows = defaultdict(list)
        for row in self.rows.values():
            for place in range(len(row.tokens)):
                rows[place, row.tokens[:place] + row.tokens[place + 1 :]].append(row)
        return rows


def check_all(data: ProbeDataset, *, lengths: tuple[int, int] = (5, 28)) -> None:
    """For any task: an item per sentence, no sentence in two splits, balanced classes."""
    all_items = list(iterate_items(data))
    assert len({item.text for item in all_items}) == len(all_items)
    assert all(lengths[0] <= len(item.tokens) <= lengths[1] for item in all_items)
    for split in data.splits:
        counts = Counter(item.label for item in all_items if item.split is split)
        assert set(counts) == set(data.labels) or data.name == "TreeDepth"
        if data.name != "TreeDepth":
            assert len(set(counts.values())) == 1, (data.name, counts)


def check_sentence_length(data: ProbeDataset, source: Source) -> None:
    for item in iterate_items(data):
        low, high = map(int, item.label.split("-"))
        assert low <= len(item.tokens) <= high
        assert item.text in source.rows


def check_word_content(data: ProbeDataset, source: Source) -> None:
    ranked = sorted(source.frequencies, key=lambda word: (-source.frequencies[word], word))
    places = [ranked.index(word) for word in data.labels]
    assert places == sorted(places)
    between = ranked[places[0] : places[-1] + 1]
    assert list(data.labels) == [word for word in between if len(word) >= 4 and word.isalpha()]
    targets = set(data.labels)
    for item in iterate_items(data):
        words = [token.lower() for token in item.tokens]
        assert [word for word in words if word in targets] == [item.label]
        assert item.text in source.rows


def check_tree_depth(data: ProbeDataset, source: Source) -> None:
    for split, split_data in data.splits.items():
        pairs = [
            (source.rows[item.text].depth, len(item.tokens)) for item in iterate_items(data) if item.split is split
        ]
        assert [str(depth) for depth, _ in pairs] == [data.labels[n] for n in split_data.targets]
        depths, lengths = np.array(pairs).T
        assert 6 <= lengths.min() <= lengths.max() <= 22
        if len(pairs) >= 50 and lengths.std():
            assert abs(np.corrcoef(depths, lengths)[0, 1]) < 0.15
        missing = "fewer where the corpus has too few" in data.card.notes[0]
        if not missing and len(set(Counter(depths.tolist()).values())) == 1:
            of_depth = {d: sorted(n for e, n in pairs if e == d) for d in set(depths.tolist())}
            assert len({tuple(lengths_of_depth) for lengths_of_depth in of_depth.values()}) == 1


def check_top_constituents(data: ProbeDataset, source: Source) -> None:
    counted: Counter[str] = Counter()
    for row in source.rows.values():
        parts = (row.top or "").split()
        inside = all(part.isalpha() and part.isupper() for part in parts[:-1])
        if 5 <= len(row.tokens) <= 28 and len(parts) > 1 and parts[-1] == "." and inside:
            counted["_".join(parts)] += 1
    common = sorted(counted, key=lambda top: (-counted[top], top.replace("_", " ")))
    *sequences, last = data.labels
    assert sequences == common[: len(sequences)]
    assert last == "OTHER"
    for item in iterate_items(data):
        top = "_".join((source.rows[item.text].top or "").split())
        assert top in counted
        assert item.label == (top if top in sequences else "OTHER")


def check_bigram_shift(data: ProbeDataset, source: Source) -> None:
    used = {item.text for item in iterate_items(data) if item.label == "O"}
    assert used <= set(source.rows)
    for item in iterate_items(data):
        assert not {'"', "``", "''"} & set(item.tokens)
        if item.label == "I":
            assert item.text not in source.rows
            bases = set(_list_originals(item.tokens)) & set(source.rows)
            assert bases
            assert len(bases) > 1 or not bases & used
            used |= bases if len(bases) == 1 else set()


def _list_originals(tokens: list[str]) -> Iterator[str]:
    """Yield the sentences that an allowed swap of neighbours turns into *tokens*."""
    for place in range(1, len(tokens) - 1):
        left, right = tokens[place : place + 2]
        if left != right and all(any(map(str.isalnum, word)) for word in (left, right)):
            yield " ".join([*tokens[:place], right, left, *tokens[place + 2 :]])


def check_tense(data: ProbeDataset, source: Source) -> None:
    def target(row: Row) -> tuple[str, str]:
        assert row.verb is not None
        label = {"VBP": "PRES", "VBZ": "PRES", "VBD": "PAST"}[row.tags[row.verb]]
        return label, row.tokens[row.verb].lower()

    _check_targets(data, source, target)


def check_subject_number(data: ProbeDataset, source: Source) -> None:
    _check_targets(data, source, lambda row: _describe_noun(row, row.subject))


def check_object_number(data: ProbeDataset, source: Source) -> None:
    _check_targets(data, source, lambda row: _describe_noun(row, row.object))


def _describe_noun(row: Row, noun: object) -> tuple[str, str]:
    index, number = noun.index, noun.number  # type: ignore[attr-defined]
    label = row.tags[index]
    assert number is {"NN": Number.SINGULAR, "NNS": Number.PLURAL}[label]
    return label, row.tokens[index].lower()


def read_band(data: ProbeDataset) -> tuple[int, int]:
    """Return the frequency band that the card states."""
    (note,) = [note for note in data.card.notes if note.startswith("words of corpus frequency")]
    low, _, high = note.removeprefix("words of corpus frequency ").partition(" to ")
    return int(low.replace(",", "")), int(high.replace(",", ""))


def _check_targets(data: ProbeDataset, source: Source, target: Callable[[Row], tuple[str, str]]) -> None:
    low, high = read_band(data)
    forms: dict[Split, set[str]] = defaultdict(set)
    for item in iterate_items(data):
        label, form = target(source.rows[item.text])
        assert item.label == label
        assert low <= source.frequencies[form] <= high
        forms[item.split].add(form)
    _check_disjoint(forms)
    for split, words in forms.items():
        assert data.card.counts[f"{split.value} words"] == len(words)
    test = [item for item in iterate_items(data) if item.split is Split.TEST]
    leads = [_compute_lead(item.label, source.rows[item.text].tags) for item in test]
    assert data.card.counts["test agreeing"] == sum(lead > 0 for lead in leads)
    assert data.card.counts["test tied"] == leads.count(0)


def _compute_lead(label: str, tags: Sequence[str]) -> int:
    answers = {"VBP": "PRES", "VBZ": "PRES", "VBD": "PAST", "NN": "NN", "NNS": "NNS"}
    rival = {"PRES": "PAST", "PAST": "PRES", "NN": "NNS", "NNS": "NN"}[label]
    words = [answers.get(tag) for tag in tags]
    return words.count(label) - words.count(rival)


def _check_disjoint(forms: Mapping[Split, set[str]]) -> None:
    assert sum(map(len, forms.values())) == len(set().union(*forms.values()))


def check_odd_man_out(data: ProbeDataset, source: Source) -> None:
    low, high = read_band(data)
    originals = {item.text for item in iterate_items(data) if item.label == "O"}
    assert originals <= set(source.rows)
    forms: dict[Split, set[str]] = defaultdict(set)
    for item in iterate_items(data):
        if item.label == "O":
            continue
        assert item.text not in source.rows
        candidates = [
            (row, place)
            for place in range(1, len(item.tokens) - 1)
            for row in source.masked[place, tuple(item.tokens[:place] + item.tokens[place + 1 :])]
            if _is_replacement(row, place, item.tokens[place], source, low=low, high=high)
        ]
        assert candidates
        assert any(row.text not in originals for row, _ in candidates)
        if len(candidates) == 1:
            forms[item.split].add(item.tokens[candidates[0][1]])
    _check_disjoint(forms)


def _is_replacement(row: Row, place: int, word: str, source: Source, *, low: int, high: int) -> bool:
    before, old, after = (token.lower() for token in row.tokens[place - 1 : place + 2])
    ratios = [
        source.bigrams[before, word] / source.bigrams[before, old],
        source.bigrams[word, after] / source.bigrams[old, after],
    ]
    tag = row.tags[place]
    commonest = source.tags[word]
    return (
        old != word
        and tag[:2] in ("NN", "VB")
        and commonest[tag] == max(commonest.values())
        and all(low <= source.frequencies[form] <= high for form in (old, word))
        and all(0.5 - 1e-9 <= ratio <= 2 + 1e-9 for ratio in ratios)
    )


def check_coordination(data: ProbeDataset, source: Source) -> None:
    relations: dict[tuple[Split, str], Counter[int]] = defaultdict(Counter)
    by_words: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for row in source.rows.values():
        if row.clauses is not None:
            by_words[_swap_clauses(row)].append((row.text, _compare_clause_lengths(row)))
    used = []
    for item in iterate_items(data):
        if item.label == "O":
            row = source.rows[item.text]
            assert row.clauses is not None
            relations[item.split, "O"][_compare_clause_lengths(row)] += 1
            used.append(item.text)
        else:
            assert item.text not in source.rows
            candidates = by_words[tuple(item.text.lower().split(" "))]
            assert candidates
            relations[item.split, "I"][-candidates[0][1]] += 1
            used += [text for text, _ in candidates] if len(candidates) == 1 else []
        assert item.text[0] == item.text[0].upper()
        assert item.text.endswith(" .")
        assert not set(item.text.split(" ")) & set('"“”«»')
    assert len(used) == len(set(used))
    for split in data.splits:
        assert relations[split, "O"] == relations[split, "I"]
        assert relations[split, "O"][1] == relations[split, "O"][-1]


def _compare_clause_lengths(row: Row) -> int:
    assert row.clauses is not None
    (first_start, first_end), (second_start, second_end) = row.clauses.first, row.clauses.second
    return int(np.sign((first_end - first_start) - (second_end - second_start)))


def _swap_clauses(row: Row) -> tuple[str, ...]:
    assert row.clauses is not None
    (first_start, first_end), (second_start, second_end) = row.clauses.first, row.clauses.second
    words = [token.lower() for token in row.tokens]
    parts = (
        words[:first_start],
        words[second_start:second_end],
        words[first_end:second_start],
        words[first_start:first_end],
        words[second_end:],
    )
    return tuple(word for part in parts for word in part)


CHECKS: Mapping[str, Callable[[ProbeDataset, Source], None]] = {
    "SentLen": check_sentence_length,
    "WC": check_word_content,
    "TreeDepth": check_tree_depth,
    "TopConst": check_top_constituents,
    "BShift": check_bigram_shift,
    "Tense": check_tense,
    "SubjNum": check_subject_number,
    "ObjNum": check_object_number,
    "SOMO": check_odd_man_out,
    "CoordInv": check_coordination,
}
