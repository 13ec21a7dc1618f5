"""Compositional splits: held-out combinations are absent from training, as read from the files alone."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import Event, Participant, RelativeClause
from sentprobe.generator.pairs import compositional_splits as cs
from sentprobe.generator.pairs.logical_forms import read_logical_form, read_variable_free, to_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english, german, read_lexicon_text

WrittenSplit: TypeAlias = tuple[cs.CompositionalSplit, Path]
"""A split, and the folder of its files."""


@pytest.fixture(scope="module", params=[*cs.CompositionalSplit])
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[cs.CompositionalSplit, Path]:
    folder = tmp_path_factory.mktemp("splits") / "split"
    cs.write_split(request.param, english(), "structure", folder, n=400, seed=1)
    return request.param, folder


def read_lines(folder: Path, name: str) -> list[tuple[str, str, str]]:
    rows = [line.split("\t") for line in (folder / f"{name}.tsv").read_text("utf-8").splitlines()]
    return [(sentence, form, kind) for sentence, form, kind in rows]


def measure_depth(event: Event) -> int:
    """How deep relative clauses are nested, by another way than the generator's."""
    people = [filler for role in event.roles if isinstance(filler := event.argument(role), Participant)]
    return max((1 + measure_depth(p.clause.event) for p in people if isinstance(p.clause, RelativeClause)), default=0)


def test_files_have_the_layout_of_cogs(written: WrittenSplit) -> None:
    split, folder = written
    sizes = {name: len(read_lines(folder, name)) for name in cs.FILES}
    kinds = {kind for _, _, kind in read_lines(folder, "gen")}
    assert sizes == {"train": 400, "dev": 40, "test": 40, "gen": 40 * len(kinds)}
    assert {kind for name in cs.FILES[:3] for _, _, kind in read_lines(folder, name)} == {"in_distribution"}
    assert len(kinds) == {"lexical": 3, "structural": 2, "recursive": 3}[split]
    sentences = [sentence for name in cs.FILES for sentence, _, _ in read_lines(folder, name)]
    assert len({*sentences}) == len(sentences)


def test_each_sentence_parses_to_its_form(written: WrittenSplit) -> None:
    from sentprobe.generator.events.checks import subsumes

    for name in cs.FILES:
        for sentence, form, _ in read_lines(written[1], name)[::9]:
            (event,) = parse(sentence[0].lower() + sentence[1:].removesuffix(" ."), english())
            assert subsumes(to_event(read_logical_form(form)), event)


def iterate_facts(split: str, sentence: str, form: str) -> Iterator[tuple[str, str]]:
    """The combinations of a line, from its words and terms instead of its event."""
    words = sentence.lower().split()
    terms = read_logical_form(form)
    nouns = {term.arguments[0]: term.name[0] for term in (*terms.definites, *terms.terms) if len(term.name) == 1}
    if split == "recursive":
        yield from (("depth", str(depth + 1)) for depth in range(measure_depth(to_event(terms))))
    roles = defaultdict(set)
    for term in terms.terms:
        if term.name[-1] in ("agent", "theme", "recipient"):
            verb, noun = (int(argument) for argument in term.arguments)
            roles[noun].add((verb, term.name[-1]))
            if split == "lexical":
                yield nouns[noun], {"theme": "patient"}.get(term.name[-1], term.name[-1])
                yield term.name[0], "passive" if words[verb - 1] == "was" else "active"
    for term in terms.terms:
        if split == "structural" and term.name[-1] == "nmod":
            noun, inner = (int(argument) for argument in term.arguments)
            ((verb, role),) = {pair for pair in roles[noun] if pair[0] != inner}
            is_passive = words[verb - 1] == "was"
            if noun < verb and words[noun - 2] != "that":
                yield "relative clause", "subject"
            elif role == "recipient":
                yield "relative clause", "recipient"
            else:
                yield "relative clause", "by-phrase" if is_passive and role == "agent" else "object"


def test_held_out_combinations_are_absent_from_training(written: WrittenSplit) -> None:
    split, folder = written
    record = json.loads((folder / "split.json").read_text("utf-8"))
    facts = {
        name: [{*iterate_facts(split, sentence, form)} for sentence, form, _ in read_lines(folder, name)]
        for name in cs.FILES
    }
    by_kind = defaultdict(set)
    for row in record["held_out"]:
        pair = row["word"], row["in"]
        by_kind[row["kind"]].add(pair)
        assert row["train"] == 0
        assert not any(pair in found for name in cs.FILES[:3] for found in facts[name]), row
        assert row["gen"] == sum(pair in found for found in facts["gen"])
    for found, (_, _, kind) in zip(facts["gen"], read_lines(folder, "gen"), strict=True):
        assert found & by_kind[kind]
        if split != "recursive":
            assert not any(found & pairs for other, pairs in by_kind.items() if other != kind)
    if split == "lexical":  # the words themselves are known, each in the other use
        trained = set().union(*facts["train"])
        other = {"patient": "agent", "agent": "patient", "passive": "active"}
        assert all((word, other[use]) in trained for pairs in by_kind.values() for word, use in pairs)


def test_training_has_every_word(written: WrittenSplit) -> None:
    words = {name: {w.lower() for s, _, _ in read_lines(written[1], name) for w in s.split()} for name in cs.FILES}
    assert words["gen"] <= words["train"]


def test_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        cs.write_split(cs.CompositionalSplit.STRUCTURAL, english(), "everyday", tmp_path / folder, n=30, seed=seed)
    a, b, c = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "abc")
    assert a == b != c


def test_notation_without_variables(tmp_path: Path) -> None:
    for notation in cs.LogicalNotation:
        cs.write_split(
            cs.CompositionalSplit.RECURSIVE,
            english(),
            "structure",
            tmp_path / notation,
            n=30,
            seed=0,
            notation=notation,
        )
    pairs = zip(*(read_lines(tmp_path / notation, "gen") for notation in cs.LogicalNotation), strict=True)
    for (sentence, form, _), (other_sentence, other, _) in pairs:
        assert sentence == other_sentence
        assert to_event(read_logical_form(form)) == read_variable_free(other)


def test_too_small_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--n 10: no training sentence has '\w+' as \w+; more sentences are needed"):
        cs.write_split(cs.CompositionalSplit.LEXICAL, english(), "everyday", tmp_path / "a", n=10)
    with pytest.raises(UsageError, match="logical forms are for English sentences, not German"):
        cs.write_split(cs.CompositionalSplit.LEXICAL, german(), "everyday", tmp_path / "b", n=10)
    text = "[noun]\nman = {}\nboy = {}\n[transitive]\nhelp = {}\nsee = {}\n[intransitive]\nsleep = {}\n"
    few = read_lexicon_text(text, "few")
    with pytest.raises(UsageError, match="the vocabulary 'all' has too few words for clauses nested so deep"):
        cs.write_split(cs.CompositionalSplit.RECURSIVE, few, "all", tmp_path / "c", n=10)
    assert not [*tmp_path.iterdir()]
