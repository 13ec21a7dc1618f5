"""The two sides of a repair's texts and pairs."""

import pytest

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.corpus.text_edits import choose_edit_rules
from sentprobe.probes.corpus.user_texts import UserText
from sentprobe.probes.repair.repair_data import RepairData, RepairSide, prepare_data
from sentprobe.probes.repair.text_groups import normalize
from sentprobe.probes.similarity.pair_scores import TextPair

NOUNS = [f"{first}{second}" for first in ("ban", "cor", "dul", "fes", "gim", "hop", "jat", "kel", "lom", "nup")
         for second in ("a", "e", "i", "o", "u", "ar", "er", "ir", "or", "ur")]  # fmt: skip
TEXTS = [f"{noun.capitalize()} {noun}li within 14 days?" for noun in NOUNS]
PAIRS = [TextPair(f"Is {noun} {noun}ta?", f"May {noun}ro {noun}?", same=True) for noun in NOUNS]


def prepare(texts: list[str], pairs: list[TextPair], *, keep: list[str] | None = None, seed: int = 0) -> RepairData:
    rules = [rule for rule in choose_edit_rules((), has_parse=False) if not rule.needs_parse]
    return prepare_data(map(UserText, texts), rules, pairs=pairs, keep_texts=keep or [], seed=seed)


def list_texts(side: RepairSide) -> set[str]:
    pairs = (*side.opposites, *side.variants, *side.paraphrases)
    return {normalize(text) for text in (*side.neutral, *(text for pair in pairs for text in pair[:2]))}


@pytest.mark.parametrize("seed", range(3))
def test_no_text_is_on_both_sides(seed: int) -> None:
    copies = [text.replace("14", "21").upper() for text in TEXTS[:40]]
    data = prepare([*TEXTS, *copies], PAIRS, keep=["The cat sat.", TEXTS[0]], seed=seed)
    assert not list_texts(data.training) & list_texts(data.held_out)
    for text, copy in zip(TEXTS, copies, strict=False):
        assert (text in data.training.texts) == (copy in data.training.texts)
    assert {*data.training.texts, *data.held_out.texts} == {*TEXTS, *copies, *(pair.first for pair in PAIRS)}
    share = len(data.held_out.texts) / (len(data.held_out.texts) + len(data.training.texts))
    assert 0.2 < share <= 0.3


def test_edit_near_another_text_is_on_its_side() -> None:
    texts = [f"Opens the {noun}ta {noun}ro {noun}li Sunday night?" for noun in NOUNS]
    near = [f"Opens the {noun}ta {noun}ro {noun}li Saturday night today?" for noun in NOUNS]
    data = prepare([*texts, *near], PAIRS)
    for text, copy in zip(texts, near, strict=True):
        assert (text in data.training.texts) == (copy in data.training.texts)


def test_paraphrases_of_the_user_come_before_variants() -> None:
    held_out = prepare(TEXTS, PAIRS).held_out
    assert held_out.has_paraphrases
    assert {pair.kind for pair in held_out.opposites} == {"number", "unit"}
    assert held_out.same == held_out.paraphrases


def test_digest_is_of_the_training_side() -> None:
    assert prepare(TEXTS, PAIRS).digest() == prepare(TEXTS, PAIRS).digest() != prepare(TEXTS, PAIRS, seed=1).digest()


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(SentprobeError, match=r"^too few texts: 5 different texts give"):
        prepare(TEXTS[:5], [])


def test_one_text_repeated_is_refused() -> None:
    with pytest.raises(SentprobeError, match=r"^too few texts: 1 different text gives"):
        prepare(TEXTS[:1] * 500, [])


def test_near_copies_alone_are_refused() -> None:
    texts = [f"Can I really cancel the order within {days} days?" for days in range(10, 200)]
    with pytest.raises(SentprobeError, match="near-copies, which stay together"):
        prepare(texts, [])


def test_too_few_paraphrases_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^too few paraphrases: the held-out texts have 0 variants"):
        prepare(TEXTS, [])
