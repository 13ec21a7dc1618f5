"""Building compeval tasks: seeds, cards, fingerprints and refused sizes."""

import os
import subprocess
import sys
from contextlib import suppress
from random import Random

import pytest
from helpers.shared import DATA
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.lexicon import Kind, english, read_lexicon
from sentprobe.probes.datasets.dataset import Sampling, Size, Split, TooFewError
from sentprobe.probes.generated import sampling as sampling_module
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.held_out_pairs import ProbesBySplit, build_pairs, select_usable_words
from sentprobe.probes.generated.sampling import TooManyItemsError
from sentprobe.probes.generated.tasks import TASKS, find_task

OWN_LEXICON = DATA / "compeval" / "own.toml"

SCRIPT = """
from sentprobe.lexicon import english
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS
from sentprobe.probes.datasets.dataset import Size
for task in TASKS.values():
    print(build(task, english(), size=Size(56, 28), seed=7).fingerprint())
"""


def test_seed_decides_all() -> None:
    def fingerprints(seed: int) -> list[str]:
        size = Size(56, 28)
        datasets = (build(task, english(), size=size, seed=seed) for task in TASKS.values())
        return [data.fingerprint() for data in datasets]

    first = fingerprints(7)
    assert first == fingerprints(7)
    assert len({*first, *fingerprints(8)}) == 2 * len(TASKS)
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    completed = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment
    )
    assert completed.stdout.split() == first


def test_card() -> None:
    size = Size(56, 28)
    dataset = build(TASKS["Order"], english(), size=size, seed=7, command="probe run compeval")
    card = dataset.card
    assert (card.task, card.seed, card.vocabulary) == ("Order", 7, "compeval")
    assert (card.command, card.sampling) == ("probe run compeval", "mirror")
    assert {"python", "sentprobe", "numpy"} == set(card.versions)
    assert (card.source, card.notes, card.audit) == ("sentprobe, after Ettinger et al. 2018", (), {})
    assert list(card.largest_share) == ["train", "test"]


# Those of datasets of 112 and 56 items. They change only with the design of the data.
SMALL_FINGERPRINTS = {
    "Content1Probe": "5410084f68ffc72c6be334a867d60ab98d53a226e215dacb689c308877e0a27b",
    "Content2Probe": "e39badd5ca97602dc1eab2944d1418beb2f836502b6b5c2fa3879ddc21c249fd",
    "Order": "968944960f2b410c83a364e90064ee68ec4db58187ae90efad65804cf5226337",
    "SemRole": "d71d9a42f3655d26aa7f0b1b90fe8f31b24d758b99a404d065936a4e3b398ecc",
    "Negation": "5f1729e61291b4e746a0fcd4506ab78008c0daba3203d85434dd9d1588de4866",
}


@pytest.mark.parametrize("name", TASKS)
def test_small_datasets_are_as_they_were(name: str) -> None:
    dataset = build(TASKS[name], english(), size=Size(112, 56))
    assert dataset.fingerprint() == SMALL_FINGERPRINTS[name]


def test_validation_that_cannot_be_held_out_is_said() -> None:
    dataset = build(TASKS["Negation"], english(), size=Size(56, 28, 28))
    assert dataset.card.notes == (
        "validation has the adverbs of training: the vocabulary is too small to hold out others for it",
    )


def build_pairs_of(nouns: int, verbs: int, *, share: int | None = None, genders: str = "m") -> ProbesBySplit:
    words = {
        Kind.NOUN: [f"n{i}" for i in range(nouns)],
        Kind.TRANSITIVE: [f"v{i}" for i in range(verbs)],
        Kind.INTRANSITIVE: [],
    }
    return build_pairs(
        words,
        rng=Random(0),
        task="Order",
        validation=True,
        share=share,
        find_class=lambda noun: genders[int(noun[1:]) % len(genders)],
    )


@pytest.mark.parametrize("share", [None, 1])
@pytest.mark.parametrize("genders", ["m", "mf"])
@pytest.mark.parametrize("nouns", range(3, 13))
@pytest.mark.parametrize("verbs", range(2, 9))
def test_held_out_pairs_fit_every_vocabulary(nouns: int, verbs: int, genders: str, share: int | None) -> None:
    try:
        pairs_by_split = build_pairs_of(nouns, verbs, share=share, genders=genders)
    except TooFewError:
        assert (nouns + 1) // len(genders) < 3 - (share == 1)
        return
    train, validation, test = (set(pairs_by_split[split]) for split in Split)
    assert not test & (train | validation)
    assert not train & validation or train == validation
    assert len(train | validation | test) == nouns * verbs
    for verb in (f"v{i}" for i in range(verbs)):
        held_out = [noun for noun, other in test if other == verb]
        assert len(held_out) == (share or (1 if nouns == 3 else len(held_out)))
        assert len({int(noun[1:]) % len(genders) for noun in held_out}) == 1  # they can change places
        assert any(other == verb for _, other in train)


@pytest.mark.parametrize(("nouns", "verbs", "pairs"), [(7, 7, 14), (12, 9, 27)])
def test_each_verb_holds_out_two_nouns_or_three_of_many(nouns: int, verbs: int, pairs: int) -> None:
    pairs_by_split = build_pairs_of(nouns, verbs)
    assert len(pairs_by_split[Split.TEST]) == pairs


def test_syncretic_verbs_are_not_probed() -> None:
    words = select_usable_words(english(), "published")
    assert "hit" not in words[Kind.TRANSITIVE]
    assert "help" in words[Kind.TRANSITIVE]


BAD_SIZES = [
    ("Order", Size(3, 2), "train items must be a positive multiple of 4"),
    ("Order", Size(4, 5), "test items must be a positive multiple of 4"),
    ("Content2Probe", Size(42, 4), "train items must be a positive multiple of 4"),
    ("Negation", Size(0, 4), "must be a positive multiple of 4, so that labels balance, not 0"),
    ("Negation", Size(4, -4), "must be a positive multiple of 4, so that labels balance, not -4"),
    ("Negation", Size(4, 4, 6), "validation items must be a positive multiple of 4"),
    ("Content2Probe", Size(4, 4, 2), "validation items must be a positive multiple of 4"),
    ("Negation", Size(4, 4, -4), "validation items must be a positive multiple of 4"),
    ("SemRole", Size(4, 40), "too few training items for every probe word"),
]


@pytest.mark.parametrize(("name", "size", "message"), BAD_SIZES)
def test_refused_size(name: str, size: Size, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(TASKS[name], english(), size=size)


def test_unknown_task_and_vocabulary() -> None:
    with pytest.raises(UsageError, match=r"no compeval or structure task 'Ordre' \(did you mean 'Order'\?\)"):
        find_task("Ordre")
    with pytest.raises(UsageError, match=r"unknown vocabulary 'englsh'.*did you mean 'english'"):
        build(TASKS["Order"], english(), vocabulary="englsh")


TOO_FEW = [
    ("SemRole", "tiny", Size(8, 4), "has 1 noun and 3 verbs; holding out pairs takes at least three nouns and two"),
    ("Negation", "tiny", Size(8, 4), "has 1 adverb; holding some out takes at least 8"),
    ("Content1Probe", "small", Size(4000, 4), "without using a sentence twice; ask for fewer"),
]


@pytest.mark.parametrize(("name", "vocabulary", "size", "message"), TOO_FEW)
def test_vocabulary_too_small(name: str, vocabulary: str, size: Size, message: str) -> None:
    with pytest.raises(SentprobeError, match=message):
        build(TASKS[name], read_lexicon(OWN_LEXICON), vocabulary=vocabulary, size=size)


@given(
    nouns=st.integers(3, 4),
    verbs=st.integers(2, 3),
    task=st.sampled_from(["Content1Probe", "Content2Probe", "Order", "SemRole"]),
    train=st.integers(3, 200).map(lambda units: 4 * units),
    sampling=st.sampled_from(Sampling),
)
def test_only_sizes_that_cannot_be_built_are_refused(
    nouns: int, verbs: int, task: str, train: int, sampling: Sampling
) -> None:
    lexicon = read_lexicon(OWN_LEXICON)
    all_words = lexicon.vocabulary("own").words
    words = {Kind.NOUN: all_words[Kind.NOUN][:nouns], Kind.TRANSITIVE: all_words[Kind.TRANSITIVE][:verbs]}
    lexicon = lexicon.replace_words("own", words | {Kind.INTRANSITIVE: ()})
    with pytest.MonkeyPatch.context() as patch, suppress(TooFewError):
        patch.setattr(sampling_module, "LARGE_REQUEST", 1)
        try:
            build(TASKS[task], lexicon, vocabulary="own", size=Size(train, 12), sampling=sampling)
        except TooManyItemsError:
            patch.undo()
            with pytest.raises(TooFewError, match=r"items could be made|too few"):
                build(TASKS[task], lexicon, vocabulary="own", size=Size(train, 12), sampling=sampling)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SemRole", "100,000,000 train items are asked for, and vocabulary 'compeval' has only 35,281,792 sentences"),
        ("Content1Probe", "'compeval' has only 35,281,792 sentences with their probe words; ask for fewer items"),
        ("Negation", "100,000,000 train items are asked for, which need 80 GB of memory; this machine has 16 GB"),
    ],
)
def test_too_large_a_size_is_refused_at_once(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling_module, "find_memory_size", lambda: 16 * 10**9)
    with pytest.raises(UsageError, match=message):
        build(TASKS[name], english(), size=Size(10**8, 1000))
