"""Agreement of two tables: counts, kappa and tasks' answers against other implementations."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from helpers.oracles.natural_checks import iterate_items
from helpers.oracles.row_agreement import Label, compare_rows
from helpers.runs.natural_tables import build_one
from helpers.strategies.agreement_strategies import Analyses, analyses
from helpers.strategies.corpus_strategies import make_table
from helpers.thoroughness import examples
from hypothesis import given
from sklearn.metrics import cohen_kappa_score

from sentprobe.common.errors import SentprobeError
from sentprobe.common.specs import TaskGroup
from sentprobe.probes.corpus.table import AnalysisRecipe, Table
from sentprobe.probes.natural.datasets import TASKS, NaturalRecipe
from sentprobe.probes.natural.selection import FrequencyBand, NaturalSettings
from sentprobe.probes.natural.table_agreement import (
    AgreementCounts,
    MeasureKind,
    TableAgreement,
    list_measures,
    open_pairs,
)

GOLD = """\
(S (NP (DT The) (NNS men)) (VP (VBD saw) (NP (NNS dogs))) (. .))
(S (NP (DT A) (NN man)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .))
(S (S (NP (PRP They)) (VP (VBD ran))) (CC and) (S (NP (PRP we)) (VP (VBD slept))) (. .))
(S (NP (NNS men)) (VP (VBP eat) (NP (NN fish))) (. .))
"""
PARSED_TREES = """\
(S (NP (DT The) (NNS men)) (VP (VBD saw) (NP (NNS dogs))) (. .))
(S (NP (DT A) (NN man)) (VP (VBD sees) (S (NP (DT the) (NN dog)))) (. .))
(S (NP (PRP They)) (VP (VP (VBD ran)) (CC and) (VP (NP (PRP we)) (VBD slept))) (. .))
(S (NP (NNS men)) (VP (VBP eat) (NP (NN fish.))))
(S (NP (NNS dogs)) (VP (VBP eat)))
"""
BY_HAND = {
    "depth": AgreementCounts(same=1, different=2, chance=1 / 3),
    "top constituents": AgreementCounts(same=2, different=1, chance=2 / 3),
    "verb": AgreementCounts(same=3),
    "tense": AgreementCounts(same=2, different=1, chance=2 / 3),
    "subject": AgreementCounts(same=3),
    "subject number": AgreementCounts(same=3, chance=5 / 9),
    "object": AgreementCounts(same=1, only_a=1, neither=1),
    "object number": AgreementCounts(same=1, only_a=1, neither=1, chance=1),
    "coordinated clauses": AgreementCounts(only_a=1, neither=2),
    "TreeDepth": AgreementCounts(same=1, different=2, chance=1 / 3),
    "TopConst": AgreementCounts(same=2, different=1, chance=2 / 3),
    "Tense": AgreementCounts(same=2, different=1, chance=2 / 3),
    "SubjNum": AgreementCounts(same=2, neither=1, chance=1 / 2),
    "ObjNum": AgreementCounts(same=1, only_a=1, neither=1, chance=1),
    "CoordInv": AgreementCounts(only_a=1, neither=2),
}


def compare_tables(first: Table, second: Table) -> TableAgreement:
    with open_pairs(first, second) as pairs:
        return pairs.compute_agreement()


def list_tallies(agreement: TableAgreement) -> Mapping[str, AgreementCounts]:
    return {measure.name: tally for measure, tally in agreement.tallies.items()}


def swap_sides(tally: AgreementCounts) -> AgreementCounts:
    return replace(tally, only_a=tally.only_b, only_b=tally.only_a)


@pytest.fixture
def trees(tmp_path: Path) -> Callable[[str, str], Table]:
    def make(name: str, text: str) -> Table:
        (tmp_path / f"{name}.mrg").write_text(text)
        return make_table([tmp_path / f"{name}.mrg"], tmp_path / name)

    return make


def test_agreement_counts_by_hand(trees: Callable[[str, str], Table]) -> None:
    agreement = compare_tables(trees("gold", GOLD), trees("parsed", PARSED_TREES))
    assert (agreement.both, agreement.only_a, agreement.only_b) == (3, 1, 2)
    assert list_tallies(agreement) == BY_HAND
    assert agreement.tags == AgreementCounts(same=16, different=1)
    kappas = {name: tally.kappa for name, tally in list_tallies(agreement).items()}
    assert kappas["top constituents"] == pytest.approx(0)
    assert kappas["subject number"] == kappas["SubjNum"] == 1
    assert kappas["object number"] is kappas["verb"] is kappas["coordinated clauses"] is None


def test_disagreements_by_hand(trees: Callable[[str, str], Table]) -> None:
    with open_pairs(trees("gold", GOLD), trees("parsed", PARSED_TREES)) as pairs:
        disagreements = list(pairs.list_disagreements())
    text = "They ran and we slept ."
    (clauses,) = (disagreement for disagreement in disagreements if disagreement["name"] == "coordinated clauses")
    spans = {"first_start": 0, "first_end": 2, "second_start": 3, "second_end": 5}
    assert clauses["a"] == {"conjunction": 2, **spans}
    assert (clauses["a_words"], clauses["b"]) == (["They ran", "we slept"], None)
    assert (clauses["text"], clauses["place"], clauses["b_words"]) == (text, 2, None)
    (verbs,) = (disagreement for disagreement in disagreements if disagreement["name"] == "object")
    assert (verbs["a"], verbs["a_words"], verbs["b"]) == (4, "dog", None)
    depths = [
        (disagreement["a"], disagreement["b"]) for disagreement in disagreements if disagreement["name"] == "depth"
    ]
    assert depths == [(5, 6), (5, 6)]
    assert json.loads(json.dumps(disagreements)) == disagreements


@examples(5)
@given(analyses())
def test_counts_are_those_of_row_pairs(sides: Analyses) -> None:
    with TemporaryDirectory() as folder:
        first, second = sides.tables(Path(folder))
        with open_pairs(first, second) as pairs:
            counts = pairs.compute_agreement()
            listed = list(pairs.list_disagreements())
        turned = compare_tables(second, first)
        itself = compare_tables(first, first)
    assert counts.both == len(sides.pairs)
    assert (counts.both + counts.only_a, counts.both + counts.only_b) == (len(sides.first), len(sides.second))
    expected = compare_rows(sides.pairs)
    for measure, tally in counts.tallies.items():
        assert tally.total == counts.both
        assert turned.tallies[measure] == swap_sides(tally)
        assert tally.labelled_by_a + tally.labelled_by_b == tally.both * 2 + tally.only_a + tally.only_b
        differ = [disagreement for disagreement in listed if disagreement["name"] == measure.name]
        assert len(differ) == tally.total - tally.agreed
        assert all(disagreement["a"] != disagreement["b"] for disagreement in differ)
        if measure.kind is MeasureKind.LABEL:
            assert tally == expected[Label(measure.name)].tally
    for tally in itself.tallies.values():
        assert tally.agreed == tally.total == len(sides.first)
        assert tally.kappa in {None, 1}
    assert itself.tags.rate == 1
    assert turned.tags == counts.tags


@examples(20)
@given(analyses())
def test_kappa_is_that_of_scikit_learn(sides: Analyses) -> None:
    counts = compare_rows(sides.pairs)[Label.DEPTH].tally
    first, second = zip(*((row.depth, other_row.depth) for row, other_row in sides.pairs), strict=True)
    if len({*first, *second}) == 1:
        assert counts.kappa is None
    else:
        assert counts.kappa == pytest.approx(cohen_kappa_score(first, second))


# What the label of an item is when its sentence has this answer; None: it need only have one.
LABELS: Mapping[str, Callable[[Any], str] | None] = {
    "TreeDepth": str,
    "TopConst": lambda top: top.replace(" ", "_"),
    "Tense": str,
    "SubjNum": str,
    "ObjNum": str,
    "CoordInv": None,
}


@pytest.mark.parametrize("name", LABELS)
def test_task_answer_is_label_of_items(name: str, table: Table) -> None:
    (measure,) = (candidate for candidate in list_measures() if candidate.name == name)
    with table.connect() as connection:
        rows = connection.sql(f"SELECT text, {measure.label.sql} FROM sentences").fetchall()
    answers = {text: answer for text, answer in rows if answer is not None}
    wide = NaturalSettings(band=FrequencyBand(1, 10_000), sequences=4)
    data = build_one(TASKS[name], table, recipe=NaturalRecipe(settings=wide, audit=False))
    write = LABELS[name]
    original_items = [item for item in iterate_items(data) if name != "CoordInv" or item.label == "O"]
    assert len(original_items) > 20
    for item in original_items:
        assert item.text in answers
        assert write is None or item.label in {write(answers[item.text]), "OTHER"}


def test_measures_cover_all_parsed_tasks() -> None:
    measured = {measure.task for measure in list_measures()}
    tasks_with_answer = {task.name for task in TASKS.values() if task.answer is not None}
    assert measured == tasks_with_answer == set(LABELS)
    labels = [measure.name for measure in list_measures() if measure.kind is MeasureKind.LABEL]
    assert sorted(labels) == sorted(label.value for label in Label)
    ten = {task.name for task in TASKS.values() if task.suite is TaskGroup.CONNEAU}
    assert ten - measured == {"SentLen", "WC", "BShift", "SOMO"}


def test_tables_without_common_sentences_are_refused(trees: Callable[[str, str], Table]) -> None:
    first, second = trees("a", "(S (NP (NN x)) (VP (VBD y)))"), trees("b", "(S (NP (NN xy)))")
    message = f"{first.path} and {second.path} have no sentence in common; sentences are matched"
    with pytest.raises(SentprobeError) as caught, open_pairs(first, second):
        pass
    assert str(caught.value).startswith(message)


def test_table_without_constituents_has_fewer_measures(trees: Callable[[str, str], Table], tmp_path: Path) -> None:
    gold = trees("gold", GOLD)
    (tmp_path / "a.tok").write_text("The men saw dogs .\n")
    tokens = make_table([tmp_path / "a.tok"], tmp_path / "b", recipe=AnalysisRecipe(parser="none"))
    counts = list_tallies(compare_tables(gold, tokens))
    assert set(counts) == {
        *("verb", "tense", "subject", "subject number", "object", "object number"),
        *("Tense", "SubjNum", "ObjNum"),
    }
    assert counts["tense"] == AgreementCounts(only_a=1, chance=1)
    assert compare_tables(gold, tokens).tags == AgreementCounts()
