"""The published compeval data: each sentence is ours, the example configurations are obeyed."""

import lzma

import pytest
from helpers.shared import SHARED, needs_shared

from sentprobe.commands.gen_space import make_space
from sentprobe.commands.shared.gen_options import ContentOptions
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import Event, iterate_clauses
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.published_config import read_config
from sentprobe.lexicon import Kind, english

PUBLISHED = SHARED / "compeval" / "published"
LEXICON = english()


def published_sentences() -> list[str]:
    """Return the distinct sentences of the published datasets, sorted."""
    texts = {
        line.split("\t")[2]
        for path in PUBLISHED.glob("*/*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    with lzma.open(PUBLISHED / "sr-embs.txt.xz", "rt", encoding="utf-8") as lines:
        texts |= {line.split("\t")[1] for line in lines}
    return sorted(texts)


@needs_shared
def test_every_published_sentence_has_one_event_and_is_its_realization() -> None:
    sentences = published_sentences()
    assert len(sentences) > 3_000
    nouns = set(LEXICON.vocabulary("compeval").words[Kind.NOUN])
    for sentence in sentences:
        (event,) = parse(sentence, LEXICON)
        assert realize(event, LEXICON).text == sentence
        for token in realize(event, LEXICON).tokens:
            assert token.upos != "NOUN" or token.lemma in nouns


@needs_shared
def test_the_published_probe_words_are_in_their_sentences() -> None:
    for task in ("sr", "order"):
        for line in (PUBLISHED / task / "test.txt").read_text(encoding="utf-8").splitlines():
            label, _, text, noun, verb = line.split("\t")
            (event,) = parse(text, LEXICON)
            sentence = realize(event, LEXICON)
            lemmas = [token.lemma for token in sentence.tokens]
            if task == "order":
                is_true = lemmas.index(noun) < lemmas.index(verb)
            else:
                (role,) = [p for p in sentence.predicates if lemmas[p.verb - 1] == verb]
                is_true = role.agent is not None and lemmas[role.agent - 1] == noun
            assert str(is_true).upper() == label


@needs_shared
@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_example_configurations_are_obeyed(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = SHARED / "compeval" / f"config{number}.example.json"
    constraints = read_config(path, LEXICON).constraints
    space = make_space(LEXICON, vocabulary="published", content=ContentOptions(config=path))
    assert capsys.readouterr().err.count("warning") == (2 if number == 2 else 0)
    for event in space.events(space.sample(500, seed=0)):
        assert all(contains(event, partial) for partial in constraints.required)
        assert not any(contains(event, partial) for partial in constraints.forbidden)
        lemmas = {token.lemma for token in realize(event, LEXICON).tokens}
        assert lemmas.issuperset(constraints.required_words)
        assert lemmas.isdisjoint(constraints.forbidden_words)
        assert number_of_clauses(event) <= 2


def number_of_clauses(event: Event) -> int:
    return len(list(iterate_clauses(event)))
