"""Vectors at named tokens: the words that the grammar and tables name, and the states that are read there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.encoders.language_models import make_gpt2
from helpers.encoders.model_files import packaged_model, tiny_model
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.specs import parse_spec
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.sentence_plan import find_slots
from sentprobe.lexicon import english
from sentprobe.probes.encoders.encoder import EncoderError, Vectors, count_truncated_sentences, get_capabilities
from sentprobe.probes.encoders.models.hf import HfEncoder, load_hf
from sentprobe.probes.encoders.models.model_parts import GrammarWords, find_event_words, open_table_words
from sentprobe.probes.generated.assemble import ProbedEvent, build_task

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
SENTENCES = build_task("Recipient", train=120, test=20).sentences
SHORT = ["the man slept", "the man helped the doctor", "the doctor was helped by the man"]


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return tiny_model(tmp_path_factory.mktemp("models") / "gpt2", kind="GPT2")


def load(spec: str) -> HfEncoder:
    (encoder,) = load_hf(parse_spec(spec))
    return encoder


def read_states(path: Path, text: str, *, layer: int = -1, special: bool = True) -> Vectors:
    """Return the states (time, dim) of a text alone."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(path)
    ids = tokenizer(text, add_special_tokens=special)["input_ids"]
    with torch.inference_mode():
        output = AutoModel.from_pretrained(path).eval()(torch.tensor([ids]), output_hidden_states=True)
    states: Vectors = output.hidden_states[layer][0].numpy()
    return states


# The words

NAMED: Sequence[tuple[str, dict[str, str | None]]] = [
    ("the man slept", {"agent": "man", "subject": "man", "verb": "slept", "patient": None, "recipient": None}),
    ("the doctor was helped by the man", {"agent": "man", "subject": "doctor", "patient": "doctor"}),
    ("the doctors that the lawyer helped slept",
     {"agent": "doctors", "patient": "doctors", "verb": "slept", "agent.clause.verb": "helped",
      "agent.clause.agent.noun": "lawyer", "agent.rel": "that", "agent.clause.patient.noun": None}),
    ("help the man", {"agent": None, "subject": None, "patient": "man", "verb": "help"}),
    ("colourless green ideas sleep", {"verb": None}),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "expected"), NAMED)
def test_words_of_sentence_are_named(sentence: str, expected: dict[str, str | None]) -> None:
    (words,) = GrammarWords(english()).find_words([sentence])
    tokens = sentence.split()
    assert {name: tokens[words[name]] if name in words else None for name in expected} == expected


@examples(60)
@given(st.sampled_from(SENTENCES))
def test_words_of_generated_sentence_are_named(sentence: str) -> None:
    """The slots are those of the annotation; the roles of the main clause are its slots."""
    for event in parse(sentence, english()):
        language = english().language
        words, slots = find_event_words(event, language), ProbedEvent(event, language=language).positions
        assert {name: index for name, index in words.items() if name in find_slots(event)}.items() <= slots.items()
        for role, person in ev.iterate_participants(event):
            assert words[role.value] == slots[f"{role.value}.noun"]
            assert any(word.lemma == person.noun for word, _ in english().find(sentence.split()[words[role.value]]))


def test_lexicon_names_words(gpt2: Path, tmp_path: Path) -> None:
    lexicon = tmp_path / "wolves.toml"
    lexicon.write_text("[noun]\nwolf = {}\n[intransitive]\nhowl = {}\n")
    with pytest.raises(EncoderError, match="'the wolves howled' has no subject in the grammar"):
        load(f"hf:{gpt2}?pool=subject").encode(["the wolves howled"])
    encoder = load(f"hf:{gpt2}?pool=subject&lexicon={lexicon}")
    np.testing.assert_allclose(encoder.encode(["the wolves howled"])[0], read_states(gpt2, "the wolves")[-1], atol=1e-5)
    assert encoder.fingerprint != load(f"hf:{gpt2}?pool=subject").fingerprint


def test_language_names_words(gpt2: Path) -> None:
    sentence = "den Anwalt sieht der Arzt"
    with pytest.raises(EncoderError, match=r"has no agent in the grammar of generated English sentences \(language=de"):
        load(f"hf:{gpt2}?pool=agent").encode([sentence])
    encoder = load(f"hf:{gpt2}?pool=agent&language=de")
    np.testing.assert_allclose(encoder.encode([sentence])[0], read_states(gpt2, sentence)[-1], atol=1e-5)
    assert encoder.fingerprint != load(f"hf:{gpt2}?pool=agent").fingerprint


def test_table_names_words(tmp_path: Path) -> None:
    rows = sample_rows(200)
    words = open_table_words(write_table(rows, tmp_path / "table", shards=3).path)
    for row, actual in zip(rows, words.find_words([row.text for row in rows]), strict=True):
        indices = {"verb": row.verb, "subject": row.subject and row.subject.index}
        indices["object"] = row.object and row.object.index
        assert actual == {name: index for name, index in indices.items() if index is not None}
    assert words.find_words(["not there", rows[0].text])[0] == {}


def test_damaged_table_is_refused(tmp_path: Path) -> None:
    words = open_table_words(write_table(sample_rows(20), tmp_path / "table").path)
    Path(words.files[0]).write_bytes(b"PAR1")
    with pytest.raises(EncoderError, match="cannot read the table"):
        words.find_words(["a"])


# The states


@pytest.mark.parametrize(("pool", "prefixes"), [
    ("verb", ["themanslept", "themanhelped", "thedoctorwashelped"]),
    ("agent", ["theman", "theman", "thedoctorwashelpedbytheman"]),
    ("verb,agent", ["themanslept", "themanhelped", "thedoctorwashelped"]),
])  # fmt: skip
def test_last_token_of_word_is_read(gpt2: Path, pool: str, prefixes: Sequence[str]) -> None:
    """Tokens are letters; a causal model has the same state at the end of each prefix."""
    encoders = load_hf(parse_spec(f"hf:{gpt2}?pool={pool}&layer=1&batch=2"))
    expected = [read_states(gpt2, prefix, layer=1)[-1] for prefix in prefixes]
    np.testing.assert_allclose(encoders[0].encode(SHORT), expected, atol=1e-5)
    assert [encoder.capabilities.position for encoder in encoders] == pool.split(",")


def test_last_piece_of_word_is_read() -> None:
    from transformers import AutoTokenizer

    path = packaged_model()
    make: Any = AutoTokenizer
    tokenizer = make.from_pretrained(path)
    encoders = load_hf(parse_spec(f"hf:{path}?pool=agent,verb,cls,eos,last&layer=2"))
    sentence = "the scientists that the psychologist followed danced"
    states = read_states(path, sentence, layer=2)
    pieces = tokenizer(sentence).word_ids()
    places = [len(pieces) - 1 - pieces[::-1].index(word) for word in (1, 6)]
    for encoder, place in zip(encoders, [*places, 0, -1, -1], strict=True):
        np.testing.assert_allclose(encoder.encode([sentence])[0], states[place], atol=1e-5)


def test_words_are_found_in_prompt_and_chat(gpt2: Path, tmp_path: Path) -> None:
    chat = tiny_model(tmp_path / "chat", kind="GPT2")
    template = (
        "{% for it in messages %}[ {{ it['content'] | trim }} ]{% endfor %}{% if add_generation_prompt %}a{% endif %}"
    )
    (chat / "chat_template.jinja").write_text(template)
    asked, texts = "prompt= in a word {sentence} is", SHORT[:1]
    np.testing.assert_allclose(
        load(f"hf:{gpt2}?pool=agent&{asked}").encode(texts)[0], read_states(gpt2, " in a word the man")[-1], atol=1e-5
    )
    np.testing.assert_allclose(
        load(f"hf:{gpt2}?{asked}").encode(texts)[0], read_states(gpt2, " in a word the man slept is")[-1], atol=1e-5
    )
    for pool, text in {"agent": "[ in a word the man", "last": "[ in a word the man slept is ] a"}.items():
        actual = load(f"hf:{chat}?pool={pool}&{asked}&chat=yes").encode(texts)[0]
        np.testing.assert_allclose(actual, read_states(chat, text)[-1], atol=1e-5)
    specs = (f"hf:{gpt2}?max_length=16", f"hf:{gpt2}?max_length=16&{asked}")
    assert [count_truncated_sentences(load(spec), texts) for spec in specs] == [0, 1]
    (chat / "chat_template.jinja").write_text("{{ messages[0]['content'] | upper }}")
    with pytest.raises(EncoderError, match=r"the chat template of .* changes the text of a message, or has it 0 times"):
        load(f"hf:{chat}?pool=agent&chat=yes")


def test_end_token_is_appended(tmp_path: Path) -> None:
    path = make_gpt2(tmp_path / "gpt2")
    end, last, mean = load_hf(parse_spec(f"hf:{path}?pool=eos,last,mean"))
    texts = ["the men", "the", "a man who"]
    for text in texts:
        states = read_states(path, f"{text}<|end|>")
        vectors = [encoder.encode(texts)[texts.index(text)] for encoder in (end, last, mean)]
        np.testing.assert_allclose(vectors, [states[-1], states[-2], states[:-1].mean(axis=0)], atol=1e-5)
    np.testing.assert_allclose(load(f"hf:{path}").encode(["the men"]), last.encode(["the men"]), atol=1e-5)


# Absent tokens

ABSENT = [
    (
        "pool=patient",
        ["the man slept"],
        "the sentence 'the man slept' has no patient; absent=last reads the last token instead",
    ),
    ("pool=verb", ["the man slept", "Who ?"], "the sentence 'Who ?' has no verb in the grammar"),
    ("pool=verb&max_length=8", ["the man slept"], "'the man slept' has no verb in the first 8 tokens; absent=last"),
]


@pytest.mark.parametrize(("options", "texts", "message"), ABSENT)
def test_absent_token_is_refused_or_pooled(gpt2: Path, options: str, texts: list[str], message: str) -> None:
    with pytest.raises(EncoderError) as caught:
        load(f"hf:{gpt2}?{options}").encode(texts)
    assert message in str(caught.value)
    encoder = load(f"hf:{gpt2}?{options}&absent=max")
    whole = load(f"hf:{gpt2}?{options.replace('verb', 'max').replace('patient', 'max')}")
    np.testing.assert_array_equal(encoder.encode(texts[-1:]), whole.encode(texts[-1:]))
    name = encoder.place.pool
    assert f"1 sentence without {name}, pooled by max instead, such as {texts[-1]!r}" in get_capabilities(encoder).notes


def test_sentence_outside_table_is_refused(gpt2: Path, tmp_path: Path) -> None:
    rows = [row for row in sample_rows(50) if row.object and len(row.text) < 60]
    table = write_table(rows, tmp_path / "table").path
    encoder = load(f"hf:{gpt2}?pool=object&table={table}")
    for row in rows:
        assert row.object is not None
        prefix = "".join(row.tokens[: row.object.index + 1])
        np.testing.assert_allclose(encoder.encode([row.text])[0], read_states(gpt2, prefix)[-1], atol=1e-5)
    with pytest.raises(EncoderError, match=r"'the man slept' has no object in .*table; absent=last"):
        encoder.encode(["the man slept"])


def test_named_tokens_are_in_names_and_fingerprints(gpt2: Path, tmp_path: Path) -> None:
    encoders = load_hf(parse_spec(f"hf:{gpt2}?pool=verb,last&layer=all"))
    assert [encoder.name for encoder in encoders[2:4]] == [
        f"hf:{gpt2}?layer=2&pool=verb", f"hf:{gpt2}?layer=0&pool=last"
    ]  # fmt: skip
    assert encoders[2].family == f"hf:{gpt2}?pool=verb"
    assert load(encoders[2].name).fingerprint == encoders[2].fingerprint
    labelled = load_hf(parse_spec(f"hf:{gpt2}?pool=verb,last&layer=all&name=M"))
    assert (labelled[2].name, labelled[2].family) == ("M at verb, layer 2", "M at verb")
    table = write_table(sample_rows(20), tmp_path / "table").path
    changes = ["", "&absent=last", f"&table={table}", "&prompt=a {sentence}", "&part=mlp", "&layer=1"]
    assert len({load(f"hf:{gpt2}?pool=verb{change}").fingerprint for change in changes}) == len(changes)


def test_tokenizer_without_places_is_refused(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.PreTrainedTokenizerFast.is_fast", False)
    with pytest.raises(EncoderError, match="does not report the place of each token"):
        load(f"hf:{gpt2}?pool=verb")
    assert load(f"hf:{gpt2}?pool=mean").encode(["a"]).shape == (1, 16)
