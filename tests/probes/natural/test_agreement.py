"""Two tables of the same sentences: counts, kappa, tasks' answers, against other routes."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from agreement_strategies import Analyses, analyses
from corpus_strategies import make_table
from hypothesis import given
from natural_checks import items
from natural_tables import made_up, write_table
from row_agreement import Label, agreement
from sklearn.metrics import cohen_kappa_score
from thoroughness import examples

from sentprobe.errors import SentprobeError
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.natural.agreement import Compared, TableAgreement, Tally, measures, open_pairs
from sentprobe.probes.natural.catalogue import TASKS
from sentprobe.probes.natural.datasets import NaturalRecipe, build_one
from sentprobe.probes.natural.select import Band, NaturalSettings
from sentprobe.probes.natural.task import TaskGroup

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
    "depth": Tally(same=1, different=2, chance=1 / 3),
    "top constituents": Tally(same=2, different=1, chance=2 / 3),
    "verb": Tally(same=3),
    "tense": Tally(same=2, different=1, chance=2 / 3),
    "subject": Tally(same=3),
    "subject number": Tally(same=3, chance=5 / 9),
    "object": Tally(same=1, only_a=1, neither=1),
    "object number": Tally(same=1, only_a=1, neither=1, chance=1),
    "coordinated clauses": Tally(only_a=1, neither=2),
    "TreeDepth": Tally(same=1, different=2, chance=1 / 3),
    "TopConst": Tally(same=2, different=1, chance=2 / 3),
    "Tense": Tally(same=2, different=1, chance=2 / 3),
    "SubjNum": Tally(same=2, neither=1, chance=1 / 2),
    "ObjNum": Tally(same=1, only_a=1, neither=1, chance=1),
    "CoordInv": Tally(only_a=1, neither=2),
}


def compared(first: Table, second: Table) -> TableAgreement:
    with open_pairs(first, second) as pairs:
        return pairs.agreement()


def tallies(found: TableAgreement) -> Mapping[str, Tally]:
    return {measure.name: tally for measure, tally in found.tallies.items()}


def swapped(tally: Tally) -> Tally:
    return replace(tally, only_a=tally.only_b, only_b=tally.only_a)


@pytest.fixture
def trees(tmp_path: Path) -> Callable[[str, str], Table]:
    def make(name: str, text: str) -> Table:
        (tmp_path / f"{name}.mrg").write_text(text)
        return make_table([tmp_path / f"{name}.mrg"], tmp_path / name)

    return make


def test_counted_by_hand(trees: Callable[[str, str], Table]) -> None:
    found = compared(trees("gold", GOLD), trees("parsed", PARSED_TREES))
    assert (found.both, found.only_a, found.only_b) == (3, 1, 2)
    assert tallies(found) == BY_HAND
    assert found.tags == Tally(same=16, different=1)
    kappas = {name: tally.kappa for name, tally in tallies(found).items()}
    assert kappas["top constituents"] == pytest.approx(0)
    assert kappas["subject number"] == kappas["SubjNum"] == 1
    assert kappas["object number"] is kappas["verb"] is kappas["coordinated clauses"] is None


def test_disagreements_by_hand(trees: Callable[[str, str], Table]) -> None:
    with open_pairs(trees("gold", GOLD), trees("parsed", PARSED_TREES)) as pairs:
        found = list(pairs.disagreements())
    text = "They ran and we slept ."
    (clauses,) = (each for each in found if each["name"] == "coordinated clauses")
    spans = {"first_start": 0, "first_end": 2, "second_start": 3, "second_end": 5}
    assert clauses["a"] == {"conjunction": 2, **spans}
    assert (clauses["a_words"], clauses["b"]) == (["They ran", "we slept"], None)
    assert (clauses["text"], clauses["place"], clauses["b_words"]) == (text, 2, None)
    (verbs,) = (each for each in found if each["name"] == "object")
    assert (verbs["a"], verbs["a_words"], verbs["b"]) == (4, "dog", None)
    depths = [(each["a"], each["b"]) for each in found if each["name"] == "depth"]
    assert depths == [(5, 6), (5, 6)]
    assert json.loads(json.dumps(found)) == found


@examples(5)
@given(analyses())
def test_counts_add_up_and_are_those_of_pairs_of_rows(made: Analyses) -> None:
    with TemporaryDirectory() as folder:
        first, second = made.tables(Path(folder))
        with open_pairs(first, second) as pairs:
            found = pairs.agreement()
            listed = list(pairs.disagreements())
        turned = compared(second, first)
        itself = compared(first, first)
    assert found.both == len(made.pairs)
    assert (found.both + found.only_a, found.both + found.only_b) == (
        *(len(made.first), len(made.second)),
    )
    expected = agreement(made.pairs)
    for measure, tally in found.tallies.items():
        assert tally.total == found.both
        assert turned.tallies[measure] == swapped(tally)
        assert tally.of_a + tally.of_b == tally.both * 2 + tally.only_a + tally.only_b
        differ = [each for each in listed if each["name"] == measure.name]
        assert len(differ) == tally.total - tally.agreed
        assert all(each["a"] != each["b"] for each in differ)
        if measure.kind is Compared.LABEL:
            assert tally == expected[Label(measure.name)].tally
    for tally in itself.tallies.values():
        assert tally.agreed == tally.total == len(made.first)
        assert tally.kappa in {None, 1}
    assert itself.tags.rate == 1
    assert turned.tags == found.tags


@examples(20)
@given(analyses())
def test_kappa_is_that_of_scikit_learn(made: Analyses) -> None:
    found = agreement(made.pairs)[Label.DEPTH].tally
    first, second = zip(*((one.depth, other.depth) for one, other in made.pairs), strict=True)
    if len({*first, *second}) == 1:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(first, second))


# What the label of an item is when its sentence has this answer; None: it need only have one.
LABELS: Mapping[str, Callable[[Any], str] | None] = {
    "TreeDepth": str,
    "TopConst": lambda top: top.replace(" ", "_"),
    "Tense": str,
    "SubjNum": str,
    "ObjNum": str,
    "CoordInv": None,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    yield write_table(made_up(), tmp_path_factory.mktemp("made") / "table")


@pytest.mark.parametrize("name", LABELS)
def test_a_tasks_answer_is_the_label_of_its_items(name: str, corpus: Table) -> None:
    (measure,) = (each for each in measures() if each.name == name)
    with corpus.connect() as connection:
        rows = connection.sql(f"SELECT text, {measure.sql} FROM sentences").fetchall()
    answers = {text: answer for text, answer in rows if answer is not None}
    wide = NaturalSettings(band=Band(1, 10_000), sequences=4)
    data = build_one(TASKS[name], corpus, recipe=NaturalRecipe(settings=wide, audit=False))
    write = LABELS[name]
    asked = [item for item in items(data) if name != "CoordInv" or item.label == "O"]
    assert len(asked) > 20
    for item in asked:
        assert item.text in answers
        assert write is None or item.label in {write(answers[item.text]), "OTHER"}


def test_all_of_the_ten_tasks_are_spoken_of() -> None:
    measured = {measure.task for measure in measures()}
    asked = {task.name for task in TASKS.values() if task.answer is not None}
    assert measured == asked == set(LABELS)
    named = [measure.name for measure in measures() if measure.kind is Compared.LABEL]
    assert sorted(named) == sorted(label.value for label in Label)
    ten = {task.name for task in TASKS.values() if task.suite is TaskGroup.CONNEAU}
    assert ten - measured == {"SentLen", "WC", "BShift", "SOMO"}


def test_nothing_in_common(trees: Callable[[str, str], Table]) -> None:
    first, second = trees("a", "(S (NP (NN x)) (VP (VBD y)))"), trees("b", "(S (NP (NN xy)))")
    message = f"{first.path} and {second.path} have no sentence in common; sentences are matched"
    with pytest.raises(SentprobeError) as caught, open_pairs(first, second):
        pass
    assert str(caught.value).startswith(message)


def test_without_constituents(trees: Callable[[str, str], Table], tmp_path: Path) -> None:
    gold = trees("gold", GOLD)
    (tmp_path / "a.tok").write_text("The men saw dogs .\n")
    tokens = make_table([tmp_path / "a.tok"], tmp_path / "b", recipe=Recipe(parser="none"))
    found = tallies(compared(gold, tokens))
    assert set(found) == {
        *("verb", "tense", "subject", "subject number", "object", "object number"),
        *("Tense", "SubjNum", "ObjNum"),
    }
    assert found["tense"] == Tally(only_a=1, chance=1)
    assert compared(gold, tokens).tags == Tally()
