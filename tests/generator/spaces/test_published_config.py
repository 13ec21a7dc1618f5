"""The constraint files of the published generator: read unchanged, written, read again; each mistake with its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.shared import SHARED, needs_shared
from helpers.written_config import write_config
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
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
def test_published_example_configs_are_read(number: int) -> None:
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


def test_config_templates_exist() -> None:
    both = {"agent": "transitive", "patient": "intransitive"}
    config = read_form({"role_rc_structures": {"transitive": [both], "intransitve": []}})
    assert config.templates == ("transitive-rc-both.agent.transitive.patient.intransitive",)
    assert len(config.warnings) == 1
    for name in (*STRUCTURES, *config.templates):
        assert find_patterns([name])


def test_config_states_whole_event() -> None:
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
def test_config_comes_back(
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


def test_verb_of_both_frames_comes_back() -> None:
    lexicon = read_lexicon_text(
        "[noun]\nman = {}\n[transitive]\nrun = {}\n[intransitive]\nrun = {}\nsleep = {}\n", "both.toml"
    )
    event = Event(predicate="run", agent=Participant(noun="man"))
    constraints = Constraints(required=(event,), required_words=("run", "sleep"))
    config = PublishedConfig(constraints=constraints)
    assert read_config_text(write_config(config, lexicon), lexicon) == config
    assert event.frame is None


def wrap_event(event: object) -> dict[str, Any]:
    return {"constraints": {"needEv": event}}


def wrap_agent(agent: object) -> dict[str, Any]:
    return wrap_event({"participants": {"agent": agent}})


def wrap_clause(clause: object) -> dict[str, Any]:
    return wrap_agent({"attributes": {"rc": clause}})


EVENT, AGENT = "$.constraints.needEv", "$.constraints.needEv.participants.agent"
CLAUSE, RC = f"{AGENT}.attributes.rc", "$.role_rc_structures"
MISTAKES: list[tuple[object, str]] = [
    ([], "$: expected an object, found a list"),
    ({"constraint": {}}, "$.constraint: unknown key 'constraint' (did you mean 'constraints'?)"),
    ({"constraints": {"needEvent": {}}}, "$.constraints.needEvent: unknown key 'needEvent' (did you mean 'needEv'?)"),
    (
        {"constraints": {"needList": {"nuon": []}}},
        "$.constraints.needList.nuon: unknown key 'nuon' (did you mean 'noun'?)",
    ),
    (
        {"constraints": {"needList": {"intransitiv": []}}},
        "$.constraints.needList.intransitiv: unknown key 'intransitiv' (did you mean 'intransitive'?)",
    ),
    (
        {"constraints": {"needList": {"intransitive": [], "intransitve": []}}},
        "$.constraints.needList.intransitve: 'intransitive' is stated twice",
    ),
    (
        {"constraints": {"avoidList": {"noun": ["man", "lwayer"]}}},
        "$.constraints.avoidList.noun[1]: unknown noun 'lwayer' (did you mean 'lawyer'?)",
    ),
    (
        {"constraints": {"avoidList": {"noun": ["help"]}}},
        "$.constraints.avoidList.noun[0]: unknown noun 'help' (the lexicon has it as transitive)",
    ),
    (
        {"constraints": {"avoidList": {"noun": "man"}}},
        "$.constraints.avoidList.noun: expected a list, found the string 'man'",
    ),
    (
        {"constraints": {"avoidList": {"noun": [1]}}},
        "$.constraints.avoidList.noun[0]: expected a string, found the number 1",
    ),
    ({"constraints": {"avoidList": None}}, "$.constraints.avoidList: expected an object, found null"),
    ({"constraints": {"needev": None}}, "$.constraints.needev: unknown key 'needev' (did you mean 'needEv'?)"),
    (
        {"constraints": {"needList": {"noun": ["mna"]}}},
        "$.constraints.needList.noun[0]: unknown noun 'mna' (did you mean 'man'?)",
    ),
    ({"constraints": []}, "$.constraints: expected an object, found a list"),
    (wrap_event([]), f"{EVENT}: expected an object, found a list"),
    (wrap_event({"tence": "past"}), f"{EVENT}.tence: unknown key 'tence' (did you mean 'tense'?)"),
    (wrap_event({"aspect": "simple"}), f"{EVENT}.aspect: unknown value 'simple', expected one of neut, prog"),
    (wrap_event({"tense": "passt"}), f"{EVENT}.tense: unknown value 'passt' (did you mean 'past'?)"),
    (wrap_event({"tense": "pats"}), f"{EVENT}.tense: unknown value 'pats' (did you mean 'past'?)"),
    (wrap_event({"tense": "future"}), f"{EVENT}.tense: unknown value 'future', expected one of past, pres"),
    (wrap_event({"name": "hlep"}), f"{EVENT}.name: unknown verb 'hlep' (did you mean 'help'?)"),
    (
        wrap_event({"name": "sleep", "participants": {"patient": {"name": "man"}}}),
        f"{EVENT}.name: 'sleep' is intransitive: it has no patient",
    ),
    (
        wrap_event({"participants": {"theme": {}}}),
        f"{EVENT}.participants.theme: unknown key 'theme', expected one of agent, patient",
    ),
    (wrap_event({"name": "halp"}), f"{EVENT}.name: unknown verb 'halp' (did you mean 'help'?)"),
    (wrap_event({"name": "sleep", "voice": "passive"}), f"{EVENT}.name: 'sleep' is intransitive: it has no passive"),
    (
        wrap_event({"name": "sleep", "frame": "transitive"}),
        f"{EVENT}.name: 'sleep' is intransitive: it is not transitive",
    ),
    (
        wrap_event({"frame": "intransitive", "voice": "passive"}),
        f"{EVENT}: an event: passive voice needs a transitive frame, but its frame is intransitive",
    ),
    (
        wrap_event({"participants": {"agnet": {}}}),
        f"{EVENT}.participants.agnet: unknown key 'agnet' (did you mean 'agent'?)",
    ),
    (wrap_agent("lawyer"), f"{AGENT}: expected an object, found the string 'lawyer'"),
    (wrap_agent({"nuon": "man"}), f"{AGENT}.nuon: unknown key 'nuon', expected one of name, num, attributes"),
    (wrap_agent({"name": "mna"}), f"{AGENT}.name: unknown noun 'mna' (did you mean 'man'?)"),
    (wrap_agent({"num": "dual"}), f"{AGENT}.num: unknown value 'dual', expected one of sg, pl"),
    (wrap_agent({"attributes": {"cr": {}}}), f"{AGENT}.attributes.cr: unknown key 'cr', expected rc"),
    (wrap_clause({"rtype": "obj"}), f"{CLAUSE}.rtype: unknown value 'obj', expected one of src, orc"),
    (wrap_clause({"event": {"name": "slep"}}), f"{CLAUSE}.event.name: unknown verb 'slep' (did you mean 'sleep'?)"),
    (
        wrap_clause({"rtype": "orc", "event": {"name": "sleep"}}),
        f"{CLAUSE}: 'sleep' is intransitive: it has no object relative",
    ),
    (
        {"role_rc_structures": {"ditransitive": []}},
        f"{RC}.ditransitive: unknown key 'ditransitive' (did you mean 'intransitive'?)",
    ),
    (
        {"role_rc_structures": {"intransitive": [{"agent": "none", "patient": "none"}]}},
        f"{RC}.intransitive[0]: expected the keys agent of intransitive structures",
    ),
    (
        {"role_rc_structures": {"transitive": [{"agent": "none"}]}},
        f"{RC}.transitive[0]: expected the keys agent and patient of transitive structures",
    ),
    (
        {"role_rc_structures": {"transitive": [{"agent": "nome", "patient": "none"}]}},
        f"{RC}.transitive[0].agent: unknown value 'nome' (did you mean 'none'?)",
    ),
    (
        {"role_rc_structures": {"intransitive": [{"agent": "non"}]}},
        f"{RC}.intransitive[0].agent: unknown value 'non' (did you mean 'none'?)",
    ),
]


@pytest.mark.parametrize(("form", "message"), MISTAKES)
def test_mistakes_have_their_paths(form: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_config_text(json.dumps(form), english(), source="c.json")
    assert str(caught.value) == f"c.json: {message}"


FILES = [
    (b'{\n "constraints": }', "{path}:2:17: not JSON: Expecting value"),
    (b"", "{path}:1:1: not JSON: Expecting value"),
    (b'{\n"a": "\xff"}', "{path}: line 2: not UTF-8"),
    (b'{"a": 1, "b": 2, "a": 3}', "{path}: not JSON: the key 'a' is stated twice in one object"),
    (b"[" * 100_000, "{path}: the configuration nests too deeply"),
]


@pytest.mark.parametrize(("data", "message"), FILES)
def test_broken_config_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_config(path, english())
    assert str(caught.value) == message.format(path=path)


def test_unreadable_config_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    with pytest.raises(UsageError) as caught:
        read_config(missing, english())
    assert str(caught.value) == f"{missing}: cannot read the configuration: No such file or directory"
    with pytest.raises(UsageError, match="Is a directory"):
        read_config(tmp_path, english())


def test_clause_depth_is_limited() -> None:
    event: dict[str, Any] = {}
    for _ in range(41):
        event = {"participants": {"agent": {"attributes": {"rc": {"event": event}}}}}
    with pytest.raises(UsageError, match="nest deeper than 40"):
        read_config_text(json.dumps(wrap_event(event)), english())
