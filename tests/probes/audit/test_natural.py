"""The audit of natural text: what a task's definition implies is no leak, what it evens out is."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from in_process import Command
from probe_strategies import learnable, to_items

from sentprobe.probes.audit import (
    Audit,
    AuditFormat,
    Cue,
    Verdict,
    audit,
    render,
    to_json,
    verdict_lines,
)
from sentprobe.probes.audit.read import from_json
from sentprobe.probes.dataset import Card, ProbeDataset, Split
from sentprobe.probes.formats import read_dataset, write_dataset
from sentprobe.probes.natural.catalogue import TASKS
from sentprobe.probes.natural.task import TaskGroup
from sentprobe.probes.suites import expected, preset_of, turned

PLAIN = (Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
"""The cues of a dataset without probe words."""

EVENED_OUT = {
    "SentLen": (),
    "WC": (),
    "TreeDepth": (Cue.LENGTH,),
    "TopConst": (),
    "BShift": (Cue.LENGTH, Cue.BAG),
    "Tense": (),
    "SubjNum": (),
    "ObjNum": (),
    "SOMO": (Cue.LENGTH, Cue.TEMPLATE),
    "CoordInv": (Cue.LENGTH,),
}
"""The cues that the definition of a task rules out."""

FILES = (
    "sentence_length",
    "word_content",
    "tree_depth",
    "top_constituents",
    "bigram_shift",
    "past_present",
    "subj_number",
    "obj_number",
    "odd_man_out",
    "coordination_inversion",
)


@pytest.mark.parametrize("name", EVENED_OUT)
def test_only_what_the_definition_rules_out_is_a_leak(name: str) -> None:
    assert tuple(cue for cue in PLAIN if not expected(name, cue)) == EVENED_OUT[name]


def test_every_natural_task_is_known_and_by_the_name_of_sentevals_file_too() -> None:
    assert all(task.may_answer for task in TASKS.values())
    for task, file in zip(EVENED_OUT, FILES, strict=True):
        for name in (file, file.replace("_", ""), file.upper()):
            assert all(expected(name, cue) == expected(task, cue) for cue in Cue)
            assert all(turned(name, cue) == turned(task, cue) for cue in Cue)
        assert preset_of(file) == preset_of(task) == "conneau"


def test_the_usual_order_of_two_words_tells_only_where_there_is_one() -> None:
    assert expected("AdiOrder", Cue.PROBE)
    assert not expected("AdiOrder-permuted", Cue.PROBE)
    assert not expected("AdiOrder-random", Cue.BAG)
    assert not expected("AdiOrder", Cue.SENTENCE)
    others = (task.name for task in TASKS.values() if task.suite is not TaskGroup.CONNEAU)
    assert not any(expected(name, Cue.PROBE) for name in others if not name.startswith("AdiOrder"))


def dataset(name: str, *, told: bool, turned: bool = False) -> ProbeDataset:
    """Sentences without probe words; a word tells the label, or in test the other one."""
    rng = Random(0)
    texts: list[str] = []
    splits = {}
    for split, size in ((Split.TRAIN, 300), (Split.TEST, 200)):
        rows: list[tuple[int, list[int], int]] = []
        for place in range(size):
            label = place % 2
            sign = label ^ (turned and split is Split.TEST) if told else rng.randrange(2)
            words = [f"w{rng.randrange(40)}" for _ in range(6)]
            texts.append(" ".join([*words, f"x{len(texts)}", ("red", "blue")[sign]]))
            rows.append((len(texts) - 1, [], label))
        splits[split] = to_items(rows)
    card = Card(name)
    return ProbeDataset(
        name=name,
        sentences=tuple(texts),
        labels=("O", "C"),
        probe_words=(),
        splits=splits,
        card=card,
    )


def verdict(found: Audit, cue: Cue) -> Verdict:
    finding = found.find(cue)
    assert finding is not None
    return finding.verdict


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SOMO", Verdict.EXPECTED),
        ("odd_man_out", Verdict.EXPECTED),
        ("BShift", Verdict.LEAK),
        ("mine", Verdict.LEAK),
    ],
)
def test_a_word_that_tells_is_judged_by_the_task(name: str, said: Verdict) -> None:
    found = audit(dataset(name, told=True), cues=[Cue.BAG])
    assert verdict(found, Cue.BAG) is said
    assert bool(found.leaks) == (said is Verdict.LEAK)


def test_what_is_turned_round_is_said_with_its_reason() -> None:
    for name, why in (("SOMO", "no replacement of training"), ("BShift", "training and test dis")):
        found = audit(dataset(name, told=True, turned=True), cues=[Cue.BAG])
        assert verdict(found, Cue.BAG) is Verdict.BELOW
        assert why in turned(name, Cue.BAG)
        assert any(
            f"below chance: bag of words gives 0.0% ({why}" in x for x in verdict_lines(found)
        )


def test_without_probe_words_the_report_speaks_of_none() -> None:
    found = audit(dataset("SOMO", told=True), cues=PLAIN)
    for style in AuditFormat:
        text = render([found], style=style)
        assert "probe word" not in text
        assert "and probe" not in text
    text = render([found], style=AuditFormat.MARKDOWN)
    assert "- length: a classifier sees the number of tokens.\n" in text
    assert "| bag of words | 100.0 |" in text
    assert "SOMO: no leak found" in text


def test_a_report_about_both_kinds_explains_both() -> None:
    both = [
        audit(each, cues=[Cue.BAG]) for each in (dataset("mine", told=True), learnable(size=60))
    ]
    text = render(both, style=AuditFormat.MARKDOWN)
    assert "- bag of words: a classifier sees how often each word occurs.\n" in text
    assert "- bag of words and probe: a classifier sees how often each word occurs, whether" in text


def test_whether_there_are_probe_words_goes_through_json() -> None:
    found = audit(dataset("mine", told=False), cues=[Cue.LENGTH])
    value = to_json(found)
    assert value["probe_words"] is False
    assert from_json(value) == found


def test_writing_the_audit_keeps_the_baselines_of_the_paper(
    tmp_path: Path, command: Command
) -> None:
    data = dataset("SOMO", told=True)
    baselines = {"baselines": {"majority": 0.5}}
    write_dataset(replace(data, card=replace(data.card, audit=baselines)), tmp_path / "SOMO")
    code, out, err = command(*("audit", tmp_path / "SOMO", "--write", "--strict", "--jobs", 1))
    assert code == 0, err
    assert "expected: bag of words gives 100.0% (the new word fits" in out
    found = read_dataset(tmp_path / "SOMO").card.audit
    assert found["baselines"] == baselines["baselines"]
    assert from_json(found).task == "SOMO"
