"""The audit of natural text: expected cues, and leaks of cues that the task balances."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset, to_items

from sentprobe.common.tables import TableFormat
from sentprobe.probes.audits.audit_report import audit_from_json, format_verdict_lines, render, to_json
from sentprobe.probes.audits.cue_audit import Audit, Verdict, audit
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset, write_dataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.natural.datasets import TASKS
from sentprobe.probes.natural.natural_task import TaskGroup
from sentprobe.probes.runs.suites import explain_expected_cue, explain_inverted_cue, find_preset_name

PLAIN_CUES = (Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
"""The cues of a dataset without probe words."""

BALANCED_CUES = {
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


@pytest.mark.parametrize("name", BALANCED_CUES)
def test_only_what_the_definition_rules_out_is_a_leak(name: str) -> None:
    assert tuple(cue for cue in PLAIN_CUES if not explain_expected_cue(name, cue)) == BALANCED_CUES[name]


def test_every_natural_task_is_known_and_by_the_name_of_sentevals_file_too() -> None:
    assert all(task.may_answer for task in TASKS.values())
    for task, file in zip(BALANCED_CUES, FILES, strict=True):
        for name in (file, file.replace("_", ""), file.upper()):
            assert all(explain_expected_cue(name, cue) == explain_expected_cue(task, cue) for cue in Cue)
            assert all(explain_inverted_cue(name, cue) == explain_inverted_cue(task, cue) for cue in Cue)
        assert find_preset_name(file) == find_preset_name(task) == "conneau"


def test_the_usual_order_of_two_words_tells_only_where_there_is_one() -> None:
    assert explain_expected_cue("AdiOrder", Cue.PROBE)
    assert not explain_expected_cue("AdiOrder-permuted", Cue.PROBE)
    assert not explain_expected_cue("AdiOrder-random", Cue.BAG)
    assert not explain_expected_cue("AdiOrder", Cue.SENTENCE)
    other_names = (task.name for task in TASKS.values() if task.suite is not TaskGroup.CONNEAU)
    assert not any(explain_expected_cue(name, Cue.PROBE) for name in other_names if not name.startswith("AdiOrder"))


def make_dataset(name: str, *, predictive: bool, reversed_in_test: bool = False) -> ProbeDataset:
    """Sentences without probe words; a word tells the label, or in test the other one."""
    rng = Random(0)
    texts: list[str] = []
    splits = {}
    for split, size in ((Split.TRAIN, 300), (Split.TEST, 200)):
        rows: list[tuple[int, list[int], int]] = []
        for place in range(size):
            label = place % 2
            sign = label ^ (reversed_in_test and split is Split.TEST) if predictive else rng.randrange(2)
            words = [f"w{rng.randrange(40)}" for _ in range(6)]
            texts.append(" ".join([*words, f"x{len(texts)}", ("red", "blue")[sign]]))
            rows.append((len(texts) - 1, [], label))
        splits[split] = to_items(rows)
    card = Card(name)
    return ProbeDataset(name=name, sentences=tuple(texts), labels=("O", "C"), probe_words=(), splits=splits, card=card)


def get_verdict(result: Audit, cue: Cue) -> Verdict:
    finding = result.find(cue)
    assert finding is not None
    return finding.verdict


@pytest.mark.parametrize(
    ("name", "expected_verdict"),
    [("SOMO", Verdict.EXPECTED), ("odd_man_out", Verdict.EXPECTED), ("BShift", Verdict.LEAK), ("mine", Verdict.LEAK)],
)
def test_a_word_that_tells_is_judged_by_the_task(name: str, expected_verdict: Verdict) -> None:
    result = audit(make_dataset(name, predictive=True), cues=[Cue.BAG])
    assert get_verdict(result, Cue.BAG) is expected_verdict
    assert bool(result.leaks) == (expected_verdict is Verdict.LEAK)


def test_what_is_turned_round_is_said_with_its_reason() -> None:
    for name, reason in (("SOMO", "no replacement of training"), ("BShift", "training and test dis")):
        result = audit(make_dataset(name, predictive=True, reversed_in_test=True), cues=[Cue.BAG])
        assert get_verdict(result, Cue.BAG) is Verdict.BELOW
        assert reason in explain_inverted_cue(name, Cue.BAG)
        assert any(f"below chance: bag of words gives 0.0% ({reason}" in x for x in format_verdict_lines(result))


def test_without_probe_words_the_report_speaks_of_none() -> None:
    result = audit(make_dataset("SOMO", predictive=True), cues=PLAIN_CUES)
    for style in (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.JSON):
        text = render([result], style=style)
        assert "probe word" not in text
        assert "and probe" not in text
    text = render([result], style=TableFormat.MARKDOWN)
    assert "- length: a classifier sees the number of tokens.\n" in text
    assert "| bag of words | 100.0 |" in text
    assert "SOMO: no leak found" in text


def test_a_report_about_both_kinds_explains_both() -> None:
    both = [
        audit(data, cues=[Cue.BAG]) for data in (make_dataset("mine", predictive=True), make_learnable_dataset(size=60))
    ]
    text = render(both, style=TableFormat.MARKDOWN)
    assert "- bag of words: a classifier sees how often each word occurs.\n" in text
    assert "- bag of words and probe: a classifier sees how often each word occurs, whether" in text


def test_whether_there_are_probe_words_goes_through_json() -> None:
    result = audit(make_dataset("mine", predictive=False), cues=[Cue.LENGTH])
    value = to_json(result)
    assert value["probe_words"] is False
    assert audit_from_json(value) == result


def test_writing_the_audit_keeps_the_baselines_of_the_paper(tmp_path: Path, command: Command) -> None:
    data = make_dataset("SOMO", predictive=True)
    baselines = {"baselines": {"majority": 0.5}}
    write_dataset(replace(data, card=replace(data.card, audit=baselines)), tmp_path / "SOMO")
    code, out, err = command(*("audit", tmp_path / "SOMO", "--write", "--strict", "--jobs", 1))
    assert code == 0, err
    assert "expected: bag of words gives 100.0% (the new word fits" in out
    stored = read_dataset(tmp_path / "SOMO").card.audit
    assert stored["baselines"] == baselines["baselines"]
    assert audit_from_json(stored).task == "SOMO"
