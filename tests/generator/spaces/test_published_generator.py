"""What the published compeval generator gets wrong, seen by running it, and its published data."""

import json
import lzma
from collections import Counter
from io import StringIO

import pytest
from helpers.shared import SHARED, needs_shared
from scipy.stats import chisquare

from sentprobe.commands.shared.gen_options import ContentOptions, FeatureOptions, WordOptions
from sentprobe.commands.shared.gen_space import make_space
from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.generate import write_sentences
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import (
    Aspect,
    Contradiction,
    Number,
    Participant,
    Polarity,
    Tense,
    Voice,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.published_config import read_config, read_config_text
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, english

LEXICON = english()


def build_space(*required: str, forbid: tuple[str, ...] = (), templates: tuple[str, ...] = ()) -> Space:
    """Return the space that the command line would make."""
    content = ContentOptions(require=list(required), forbid=list(forbid))
    return make_space(LEXICON, vocabulary="compeval", templates=templates, content=content)


def sample_sentences(space: Space, count: int = 400) -> list[Sentence]:
    events = space.events(space.sample(min(count, space.count()), seed=0))
    return [realize(event, LEXICON) for event in events]


def find_agents(sentence: Sentence) -> list[str]:
    return [sentence.tokens[p.agent - 1].form for p in sentence.predicates if p.agent]


# ------------------------------------------------------------------ required events


def test_required_plural_holds_in_relative_clause() -> None:
    inner = 0
    for sentence in sample_sentences(build_space("*(agent: lawyer[pl])")):
        agent_forms = find_agents(sentence)
        assert "lawyers" in agent_forms
        inner += agent_forms[0] != "lawyers"
    assert inner > 50


def test_required_active_relative_is_active() -> None:
    for sentence in sample_sentences(build_space("*(patient: * rc[src] help[active])")):
        (clause,) = [c for c, head in iterate_clauses(sentence.event) if head is not None]
        assert clause.voice is Voice.ACTIVE
        (verb,) = [t for t in sentence.tokens if t.lemma == "help"]
        assert verb.xpos != "VBN"


def test_main_tense_leaves_clause_tense_alone() -> None:
    past = FeatureOptions(tense=Tense.PAST)
    space = make_space(LEXICON, vocabulary="compeval", templates=("transitive-rc",), features=past)
    inner: Counter[Tense | None] = Counter()
    for sentence in sample_sentences(space):
        (main, _), (clause, _) = iterate_clauses(sentence.event)
        assert main.tense is Tense.PAST
        inner[clause.tense] += 1
    assert chisquare(list(inner.values())).pvalue > 0.001


def test_required_tense_leaves_other_clause_alone() -> None:
    tenses = {
        (clause.predicate == "help", clause.tense)
        for sentence in sample_sentences(build_space("help[past]", templates=("transitive-rc",)))
        for clause, _ in iterate_clauses(sentence.event)
    }
    assert tenses == {(True, Tense.PAST), (False, Tense.PAST), (False, Tense.PRESENT)}


# ------------------------------------------------------------------ contradictions

IMPOSSIBLE = [
    ("sleep[passive]", "'sleep' is intransitive: it has no passive"),
    ("sleep(patient: man)", "'sleep' is intransitive: it has no patient"),
    ("sleep[transitive]", "'sleep' is intransitive: it is not transitive"),
    ("sleep[intransitive, passive]", "sleep: passive voice needs a transitive frame"),
    ("help[intransitive]", "'help' is transitive: it needs a patient"),
    ("*(agent: man rc[orc] sleep)", "'sleep' is intransitive: it has no object relative"),
    ("*(agent: man rc sleep[passive])", "'sleep' is intransitive: it has no passive"),
]


@pytest.mark.parametrize(("event", "message"), IMPOSSIBLE)
def test_impossible_verb_pattern_is_refused(event: str, message: str) -> None:
    for content in (ContentOptions(require=[event]), ContentOptions(forbid=[event])):
        with pytest.raises(UsageError) as caught:
            make_space(LEXICON, content=content)
        assert message in str(caught.value)


def test_required_and_forbidden_word_contradict() -> None:
    with pytest.raises(Contradiction) as caught:
        make_space(LEXICON, content=ContentOptions(require_word=["lawyer"], forbid_word=["lawyer"]))
    message = str(caught.value)
    assert "the required word 'lawyer' and the forbidden word 'lawyer' contradict" in message


@pytest.mark.parametrize("event", ["*", "*[active]", "*(agent: *)"])
def test_forbidding_everything_is_refused_at_once(event: str) -> None:
    with pytest.raises(Contradiction, match=r"no sentence in the templates? .* satisfies this: the forbidden event "):
        make_space(LEXICON, templates=("intransitive", "intransitive-rc"), content=ContentOptions(forbid=[event]))


# ------------------------------------------------------------------ forbidden events


def test_forbidding_heeds_number() -> None:
    everything = build_space()
    plural, singular = (build_space(f"*(agent: lawyer[{n}])").count() for n in ("pl", "sg"))
    other_space = build_space(forbid=("*(agent: lawyer[pl])",))
    assert other_space.count() == everything.count() - plural
    agent_forms = [form for sentence in sample_sentences(other_space, 1500) for form in find_agents(sentence)]
    assert "lawyers" not in agent_forms and "lawyer" in agent_forms
    assert singular == plural


def test_forbidden_clause_leaves_plain_sentences() -> None:
    forbidden = "*(patient: * rc sleep)"
    other_space = build_space(forbid=(forbidden,))
    assert other_space.count() == build_space().count() - build_space(forbidden).count()
    plain = build_space(forbid=(forbidden,), templates=("transitive",))
    assert plain.count() == build_space(templates=("transitive",)).count()
    partial = read_event(forbidden)
    assert not any(contains(sentence.event, partial) for sentence in sample_sentences(other_space))


def test_forbidding_works_by_sense() -> None:
    forbidden = read_event("dance(agent: lawyer)")
    space = build_space(forbid=("dance(agent: lawyer)",))
    sentences = sample_sentences(space, 1500)
    assert not any(contains(sentence.event, forbidden) for sentence in sentences)
    for sentence in sentences:
        for p in sentence.predicates:
            assert p.agent
            pair = sentence.tokens[p.verb - 1].lemma, sentence.tokens[p.agent - 1].lemma
            assert pair != ("dance", "lawyer")
    lemmas = [{t.lemma for t in sentence.tokens} for sentence in sentences]
    assert any({"dance", "lawyer"} <= sentence_lemmas for sentence_lemmas in lemmas)


# ------------------------------------------------------------------ annotation


def test_participant_has_one_number() -> None:
    for sentence in sample_sentences(build_space(templates=("transitive-rc",))):
        main, inner = sentence.predicates
        (shared,) = {main.agent, main.patient} & {inner.agent, inner.patient} - {None}
        assert shared is not None
        _, (_, head) = iterate_clauses(sentence.event)
        assert isinstance(head, Participant)
        token = sentence.tokens[shared - 1]
        assert token.lemma == head.noun
        assert ("Number=Sing" in token.feats) == (head.number is Number.SINGULAR)


def test_adverbs_stand_before_simple_verbs() -> None:
    space = make_space(
        LEXICON,
        vocabulary="compeval",
        templates=("transitive",),
        features=FeatureOptions(aspect=Aspect.SIMPLE, polarity=Polarity.POSITIVE, voice=Voice.ACTIVE),
        words=WordOptions(adverbs="2"),
    )
    for sentence in sample_sentences(space):
        verb = sentence.predicates[0].verb
        first, comma, second = sentence.tokens[verb - 4 : verb - 1]
        assert (first.lemma, second.lemma) == sentence.event.adverbs
        assert [t.upos for t in (first, comma, second)] == ["ADV", "PUNCT", "ADV"]


def test_words_are_tokens_one_by_one() -> None:
    space = make_space(LEXICON, vocabulary="compeval", words=WordOptions(adverbs="0-3", negator=["not", "n't"]))
    for sentence in sample_sentences(space):
        for token in sentence.tokens:
            assert " " not in token.form
            assert token.form == "," or "," not in token.form
            assert token.form == "n't" or "n't" not in token.form


def test_published_misspelling_is_warning() -> None:
    form = {"constraints": {"needList": {"intransitve": ["sleep"]}}}
    config = read_config_text(json.dumps(form), LEXICON, source="c.json")
    assert config.constraints.required_words == ("sleep",)
    assert len(config.warnings) == 1 and "intransitve" in config.warnings[0]


# ------------------------------------------------------------------ sampling


def test_number_is_part_of_space() -> None:
    plain = Space(LEXICON, vocabulary="compeval", templates=["intransitive"])
    nouns, numbers, verbs, tenses, aspects, polarities = 7, 2, 2, 2, 2, 2
    assert plain.count() == nouns * numbers * verbs * tenses * aspects * polarities
    both = Space(LEXICON, vocabulary="compeval", templates=["transitive"])
    assert both.count() == (7 * 6) * numbers**2 * 5 * 2 * tenses * aspects * polarities


def test_both_clauses_are_sampled_alike() -> None:
    space = Space(LEXICON, vocabulary="compeval", templates=["transitive-rc"])
    pairs = [list(iterate_clauses(event)) for event in space.events(space.sample(4000, seed=1))]
    for which in (0, 1):
        some = [pair[which][0] for pair in pairs]
        for values in (tuple(Tense), (Aspect.SIMPLE, Aspect.PROGRESSIVE), tuple(Polarity)):
            name = type(values[0]).__name__.lower()
            tally = [sum(getattr(event, name) is value for event in some) for value in values]
            assert chisquare(tally).pvalue > 0.001
    transitive = [pair[1][0] for pair in pairs if pair[1][0].patient is not None]
    verbs = Counter(event.predicate for event in transitive)
    assert len(verbs) == 5 and chisquare(list(verbs.values())).pvalue > 0.001
    people = Counter(p.number for pair in pairs for _, p in iterate_participants(pair[1][0]))
    assert chisquare([people[number] for number in Number]).pvalue > 0.001


def test_default_events_have_different_sentences() -> None:
    space = Space(LEXICON, vocabulary="published", templates=["transitive"])
    out = StringIO()
    write_sentences(space, space.sample(space.count(), seed=0), out, "text")
    assert len(set(out.getvalue().splitlines())) == space.count()


PUBLISHED = SHARED / "compeval" / "published"


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
def test_published_sentences_are_realized_exactly() -> None:
    sentences = published_sentences()
    assert len(sentences) > 3_000
    nouns = set(LEXICON.vocabulary("compeval").words[Kind.NOUN])
    for sentence in sentences:
        (event,) = parse(sentence, LEXICON)
        assert realize(event, LEXICON).text == sentence
        for token in realize(event, LEXICON).tokens:
            assert token.upos != "NOUN" or token.lemma in nouns


@needs_shared
def test_published_probe_words_have_their_roles() -> None:
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
def test_example_configs_are_obeyed(number: int, capsys: pytest.CaptureFixture[str]) -> None:
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
        assert len(list(iterate_clauses(event))) <= 2
