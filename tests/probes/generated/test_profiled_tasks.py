"""The compeval tasks from sentences that are sampled by profile."""

import math
from collections import Counter
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.oracles.compeval_checks import SIZE, TASKS, annotated, check, dataset, lexicon_of
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Sampling, Size
from sentprobe.generator.events.event import iterate_clauses
from sentprobe.generator.spaces.profile import RELATIVE, STRUCTURE, Profile, load_profile
from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated.assemble import build, build_task
from sentprobe.probes.generated.held_out_pairs import find_structure
from sentprobe.probes.generated.sampling import NoStructureError

PUBLISHED = load_profile("published")
SMALL = Size(train=112, test=56)
TINY = ("--train", "112", "--test", "56")

two_weights = st.tuples(st.sampled_from([1, 3, 10]), st.sampled_from([1, 3, 10]))


def build_published(name: str, **options: object) -> ProbeDataset:
    return build(TASKS[name], lexicon_of("compeval"), size=SIZE, seed=1, profile=PUBLISHED, **options)  # type: ignore[arg-type]


def get_share(data: ProbeDataset, value: str) -> float:
    return data.card.composition[value]["share"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "Modality" else name for name in TASKS]
)
def test_items_follow_published_profile(name: str) -> None:
    if name == "Recipient":
        with pytest.raises(NoStructureError, match=r"^Recipient: every sentence of its questions has weight 0 in the"):
            build_published(name)
        return
    data = build_published(name)
    check(data, SIZE)
    assert name != "SemRole" or data.sentences == build_published(name).sentences
    # Published: 2%; without a profile: over 15%. The small test split is rounded to whole units of each structure.
    assert get_share(data, "relative object-stranded") < 0.08
    if name in ("NumberOf", "Modality"):  # structures differ in how many sentences have a mirror
        return
    assert get_share(dataset(name, "compeval"), "relative object-stranded") > 0.15
    # Mirrors of TenseOf need an auxiliary, which 57% of active clauses and no passive ones lack: 0.51 becomes 0.37.
    assert abs(get_share(data, "relative subject-active") - (0.37 if name == "TenseOf" else 0.51)) < 0.12
    if name not in ("Negation", "TenseOf", "Modality"):  # a mirror needs forms of be, or none
        assert abs(get_share(data, "rc-polarity neg") - 0.19) < 0.1
        assert abs(get_share(data, "rc-aspect prog") - 0.3) < 0.1


@given(st.sampled_from([*TASKS]), two_weights, two_weights, st.integers(0, 9))
@examples(12)
def test_controls_are_exact_under_any_weights(
    name: str, aspects: tuple[int, int], numbers: tuple[int, int], seed: int
) -> None:
    weights = {"rc-aspect": dict(zip(("simple", "prog"), aspects, strict=True))}
    weights["number"] = dict(zip(("sg", "pl"), numbers, strict=True))
    data = build(TASKS[name], lexicon_of("compeval"), size=SMALL, seed=seed, profile=Profile("drawn", weights))
    check(data, SMALL)


def test_noun_numbers_follow_weights() -> None:
    """Mirrors of SemRole exchange nouns of one number, so only tasks without mirrors follow exactly."""
    profile = Profile("plural", {"number": {"sg": 1, "pl": 4}})
    data = build(TASKS["Content1Probe"], lexicon_of("compeval"), size=SIZE, profile=profile)
    nouns = 2 * len(data.sentences)  # at least
    assert abs(get_share(data, "number pl") - 0.8) < 5 * math.sqrt(0.16 / nouns)


def test_card_composition_is_that_of_sentences() -> None:
    """The shares are counted again from the parsed sentences."""
    data = dataset("SemRole", "compeval")
    counts: Counter[str] = Counter()
    for sentence in annotated("SemRole", "compeval").values():
        for clause, head in iterate_clauses(sentence.event):
            place = "rc-" if head is not None else ""
            counts[f"{place}clauses"] += 1
            counts[f"{place}aspect {clause.aspect}"] += 1
            if head is not None and clause.frame == "transitive":
                counts["relative"] += 1
                counts["object-stranded"] += (clause.gap, clause.voice) == ("agent", "passive")
    assert get_share(data, "rc-aspect prog") == round(counts["rc-aspect prog"] / counts["rc-clauses"], 4)
    assert get_share(data, "aspect prog") == round(counts["aspect prog"] / counts["clauses"], 4)
    assert get_share(data, "relative object-stranded") == round(counts["object-stranded"] / counts["relative"], 4)
    assert data.card.composition["relative object-stranded"]["published"] == 0.021


def test_uniform_is_the_default() -> None:
    assert build_task("Order", train=112, test=56, profile="uniform") == build_task("Order", train=112, test=56)


def test_paper_sampling_follows_profile() -> None:
    data = build_published("SemRole", sampling=Sampling.PAPER)
    assert get_share(data, "relative object-stranded") < 0.06
    assert abs(get_share(data, "structure transitive-rc.agent.transitive") - 0.284) < 0.1


def test_profile_allows_held_out_structure() -> None:
    data = build_published("SemRole", structure=find_structure("passive"))
    check(data, SIZE)
    assert data.held_out == "passive"


def test_structure_without_weight_is_not_used() -> None:
    """Intransitive verbs occur in none of the sentences, so all items ask about others."""
    profile = Profile("one", {STRUCTURE: {"transitive-rc.agent.transitive": 1}, RELATIVE: {"subject-active": 1}})
    data = build(TASKS["Order"], lexicon_of("compeval"), size=SMALL, profile=profile)
    check(data, SMALL)
    assert get_share(data, "structure transitive-rc.agent.transitive") == 1
    assert get_share(data, "relative subject-active") == 1
    assert not {"sleep", "dance"} & {*data.probe_words}


def test_too_few_sentences_of_a_structure() -> None:
    profile = Profile("simple", {STRUCTURE: {"transitive": 9, "transitive-rc": 1}})
    with pytest.raises(
        TooFewError, match=r"^SemRole: the profile asks for more sentences of transitive with \w+ and \w+ "
    ):
        build(TASKS["SemRole"], lexicon_of("compeval"), size=Size(28_000, 56), profile=profile)
    with pytest.raises(UsageError, match="every sentence of its questions has weight 0 in the profile"):
        profile = Profile("none", {STRUCTURE: {"intransitive": 1}})
        build(TASKS["Order"], lexicon_of("compeval"), size=SMALL, profile=profile)


def test_commands_take_profile(command: Command, tmp_path: Path) -> None:
    code, shown, _ = command(
        "build", "compeval", "--task", "Order", *TINY, "--profile", "published", "-o", str(tmp_path)
    )
    assert code == 0
    assert "relative object-stranded" in shown
    assert "published" in shown
    data = read_dataset(tmp_path / "Order")
    expected = build_task("Order", train=112, test=56, profile="published")
    assert data.fingerprint() == expected.fingerprint()
    assert data.card.composition == expected.card.composition
    listed = command("sentences", "compeval", "--task", "Order", *TINY, "--profile", "published")
    assert listed[1].splitlines() == [*data.sentences]
    code, _, error = command("build", "natural", str(tmp_path), "--profile", "published", "-o", str(tmp_path / "x"))
    assert (code, "--profile is for the suite compeval or structure, not for natural" in error) == (2, True)
    code, _, error = command("run", "compeval", "--profile", "publishd")
    assert (code, "there is no profile 'publishd'" in error) == (2, True)
