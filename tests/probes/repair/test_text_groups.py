"""Groups of near-copies, and the split that keeps them together."""

from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.repair.text_groups import choose_held_out, group_texts, normalize

WORDS = st.sampled_from(["open", "closed", "pay", "refund", "order", "free", "today", "cancel", "3", "5"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=20)


def find_words(text: str) -> set[str]:
    return {word for word in text.split() if not word.isdigit()}


@given(TEXTS, st.data())
def test_near_copies_and_pairs_share_a_group(texts: list[str], data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(texts), st.sampled_from(texts)), max_size=3))
    groups = group_texts(texts, pairs)
    assert groups.keys() == {*texts}
    for first, second in pairs:
        assert groups[first] == groups[second]
    for first in texts:
        for second in texts:
            words, others = find_words(first), find_words(second)
            if words and len(words & others) >= 0.7 * len(words | others):
                assert groups[first] == groups[second]


@given(TEXTS, st.floats(0, 1), st.integers(0, 9))
def test_split_has_at_most_its_share(texts: list[str], share: float, seed: int) -> None:
    groups = group_texts(texts, [])
    chosen = choose_held_out(groups, texts, share=share, seed=seed)
    assert chosen == choose_held_out(groups, texts, share=share, seed=seed)
    assert sum(groups[text] in chosen for text in {*texts}) <= share * len({*texts})


def test_half_of_unlike_texts_is_held_out() -> None:
    texts = ["open", "closed", "pay", "refund"]
    assert len(choose_held_out(group_texts(texts, []), texts, share=0.5, seed=0)) == 2


def test_edits_of_short_texts_are_not_separated() -> None:
    groups = group_texts(["Is it open?", "Is it closed?"], [("Is it open?", "is it  CLOSED")])
    assert groups[normalize("Is it open?")] == groups[normalize("Is it closed?")]
