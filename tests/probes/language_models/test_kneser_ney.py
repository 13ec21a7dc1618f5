"""N-gram models by Kneser-Ney smoothing: probabilities that sum to one, and equal to a definition over dictionaries."""

from collections import Counter
from math import isclose, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.probes.language_models.arpa import NGram, compute_log_probability, parse_arpa
from sentprobe.probes.language_models.kneser_ney import FALLBACK_DISCOUNTS, train_ngrams

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=12)
NAMES = ("<s>", "</s>", "<unk>", "a", "b", "c", "d", "e")


class SlowModel:
    """Chen and Goodman 1999, equations 16, 17 and 34, over dictionaries of n-grams."""

    def __init__(self, texts: list[str], order: int) -> None:
        sentences = [("<s>", *text.split(), "</s>") for text in texts]
        self.words = {word for words in sentences for word in words[1:]} | {"<unk>"}
        self.counts: dict[int, Counter[NGram]] = {}
        for length in range(1, order + 1):
            raw = Counter(s[i : i + length] for s in sentences for i in range(len(s) - length + 1))
            longer = {s[i : i + length + 1] for s in sentences for i in range(len(s) - length)}
            before = Counter(ngram[1:] for ngram in longer)
            is_raw = {ngram: length == order or ngram[0] == "<s>" for ngram in raw}
            self.counts[length] = Counter({ngram: raw[ngram] if is_raw[ngram] else before[ngram] for ngram in raw})
        del self.counts[1][("<s>",)]

    def discount(self, length: int, count: int) -> float:
        n = Counter(self.counts[length].values())
        if all(n[k] for k in range(1, 5)):
            y = n[1] / (n[1] + 2 * n[2])
            values = [0.0, *(k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3))]
            if min(values[1:]) > 0:
                return values[min(count, 3)]
        return FALLBACK_DISCOUNTS[min(count, 3)]

    def probability(self, ngram: NGram) -> float:
        if not ngram:
            return 1 / len(self.words)
        following = {n: c for n, c in self.counts[len(ngram)].items() if n[:-1] == ngram[:-1]}
        total = sum(following.values())
        if not total:
            return self.probability(ngram[1:])
        count, weight = following.get(ngram, 0), sum(self.discount(len(ngram), c) for c in following.values())
        share = (count - self.discount(len(ngram), count)) / total if count else 0.0
        return share + weight / total * self.probability(ngram[1:])


@settings(max_examples=30)
@given(TEXTS, st.integers(1, 8), st.lists(st.sampled_from("abcd"), max_size=3))
def test_probabilities_follow_definition_and_sum(texts: list[str], order: int, words: list[str]) -> None:
    entries, read_order = parse_arpa(train_ngrams(texts, order=order, words=10), NAMES)
    order = min(order, max(len(text.split()) + 2 for text in texts))
    assert read_order == order  # at most that of the longest sentence
    model = SlowModel(texts, order)
    context = tuple(word if word in model.words else "<unk>" for word in words)[len(words) + 1 - order :][: order - 1]
    for before in (context, ("<s>", *context)[: max(0, order - 1)]):
        shares = {w: compute_log_probability((*before, w), entries) for w in model.words}
        for word, share in shares.items():
            assert isclose(share, log(model.probability((*before, word))), abs_tol=1e-5)
        assert isclose(sum(2.718281828459045**share for share in shares.values()), 1, abs_tol=1e-5)


def test_rare_and_reserved_words_are_unknown() -> None:
    entries, order = parse_arpa(train_ngrams(["a a <unk> b", "a <s> a"], order=2, words=1), NAMES)
    single = [ngram for ngram in entries if len(ngram) == 1]
    assert (order, single) == (2, [("<s>",), ("</s>",), ("<unk>",), ("a",)])
    pairs = "<s> a, <unk> </s>, <unk> <unk>, <unk> a, a </s>, a <unk>, a a"
    assert {" ".join(ngram) for ngram in entries} - {"".join(ngram) for ngram in single} == {*pairs.split(", ")}


def test_no_probability_is_zero() -> None:
    entries, _ = parse_arpa(train_ngrams(["a b"], order=3, words=9), NAMES)
    assert all(value > -99 for ngram, (value, _) in entries.items() if ngram != ("<s>",))
    assert entries["<unk>",][0] == pytest.approx(-1.0, abs=1)
