"""The constraint files of the published generator: read unchanged, written, read again."""

import json
from typing import Any

import pytest
from helpers.shared import SHARED, needs_shared
from helpers.written_config import write_config
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Event, Participant
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.spaces.constraints import Constraints
from sentprobe.generator.spaces.published_config import PublishedConfig, read_config, read_config_text
from sentprobe.generator.spaces.templates import find_patterns
from sentprobe.lexicon import english, read_lexicon_text

PUBLISHED = SHARED / "compeval"
STRUCTURES = (
    "intransitive",
    "intransitive-rc.agent.transitive",
    "intransitive-rc.agent.intransitive",
    "transitive",
    "transitive-rc.patient.transitive",
    "transitive-rc.patient.intransitive",
    "transitive-rc.agent.transitive",
    "transitive-rc.agent.intransitive",
)
NEEDED = {
    1: Constraints(),
    2: Constraints(
        required=(read_event("recommend[transitive](agent: lawyer)"),),
        forbidden=(read_event("shout[intransitive](agent: lawyer)"),),
        required_words=("child",),
        forbidden_words=("doctor",),
    ),
    3: Constraints(required=(read_event("*[past, pos](patient: * rc sleep[intransitive, prog])"),)),
}


@needs_shared
@pytest.mark.parametrize("number", NEEDED)
def test_the_published_examples(number: int) -> None:
    path = PUBLISHED / f"config{number}.example.json"
    config = read_config(path, english())
    assert config.constraints == NEEDED[number]
    assert config.templates == STRUCTURES
    warned = [
        f"{path}: $.constraints.{key}.intransitve: 'intransitve' is taken for 'intransitive'"
        for key in ("needList", "avoidList")
    ]
    assert list(config.warnings) == (warned if number == 2 else [])
    assert read_config_text(write_config(config, english()), english()) == config


def read_form(form: object) -> PublishedConfig:
    return read_config_text(json.dumps(form), english(), source="c.json")


def test_templates_are_those_there_are() -> None:
    both = {"agent": "transitive", "patient": "intransitive"}
    config = read_form({"role_rc_structures": {"transitive": [both], "intransitve": []}})
    assert config.templates == ("transitive-rc-both.agent.transitive.patient.intransitive",)
    assert len(config.warnings) == 1
    for name in (*STRUCTURES, *config.templates):
        assert find_patterns([name])


def test_a_whole_event() -> None:
    rc = {"rtype": "orc", "event": {"name": "meet", "participants": {"agent": {"num": "pl"}}}}
    agent = {"name": "man", "num": "sg", "attributes": {"rc": rc}}
    event = {"name": "help", "tense": "pres", "aspect": "neut", "voice": "passive", "pol": "neg"}
    config = read_form({"constraints": {"needEv": event | {"participants": {"agent": agent}}}})
    assert config.constraints.required == (
        read_event("help[passive, pres, simple, neg](agent: man[sg] rc[orc] meet[transitive](agent: *[pl]))"),
    )


def events() -> st.SearchStrategy[dict[str, Any]]:
    """Event objects of the published format."""
    features = {
        "tense": st.sampled_from(["past", "pres"]),
        "aspect": st.sampled_from(["neut", "prog"]),
        "pol": st.sampled_from(["pos", "neg"]),
        "name": st.sampled_from(["help", "meet", "sleep", "dance"]),
    }
    person = {"name": st.sampled_from(["man", "child"]), "num": st.sampled_from(["sg", "pl"])}
    plain = st.fixed_dictionaries({}, optional=features)
    clause = st.fixed_dictionaries({}, optional={"rtype": st.just("src"), "event": plain})
    attributes = st.fixed_dictionaries({}, optional={"rc": clause})
    people = st.fixed_dictionaries({}, optional=person | {"attributes": attributes})
    agents = st.fixed_dictionaries({}, optional={"agent": people})
    return st.fixed_dictionaries({}, optional=features | {"participants": agents})


WORD_LISTS = st.fixed_dictionaries(
    {},
    optional={
        "noun": st.lists(st.sampled_from(["man", "child", "doctor"]), max_size=3),
        "transitive": st.lists(st.sampled_from(["help", "meet"]), max_size=2),
        "intransitive": st.lists(st.sampled_from(["sleep", "dance"]), max_size=2),
    },
)


@given(events(), events(), WORD_LISTS, WORD_LISTS, st.lists(st.sampled_from(STRUCTURES)))
def test_what_is_read_is_written_and_read_again(
    need: dict[str, Any],
    avoid: dict[str, Any],
    words: dict[str, list[str]],
    others: dict[str, list[str]],
    templates: list[str],
) -> None:
    lists = {"needList": words, "avoidList": others}
    read_once = read_form({"constraints": {"needEv": need, "avoidEv": avoid, **lists}})
    ordered = tuple(sorted(templates, key=lambda name: name.startswith("transitive")))
    config = PublishedConfig(constraints=read_once.constraints, templates=ordered)
    assert read_config_text(write_config(config, english()), english()) == config


def test_a_verb_of_both_frames_comes_back() -> None:
    lexicon = read_lexicon_text(
        "[noun]\nman = {}\n[transitive]\nrun = {}\n[intransitive]\nrun = {}\nsleep = {}\n", "both.toml"
    )
    event = Event(predicate="run", agent=Participant(noun="man"))
    constraints = Constraints(required=(event,), required_words=("run", "sleep"))
    config = PublishedConfig(constraints=constraints)
    assert read_config_text(write_config(config, lexicon), lexicon) == config
    assert event.frame is None
