"""Mistakes in the constraint files of the published generator: each is an error with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from sentprobe.common.errors import UsageError
from sentprobe.generator.spaces.published_config import read_config, read_config_text
from sentprobe.lexicon import english


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
    (wrap_event([]), f"{EVENT}: expected an object, found a list"),
    (wrap_event({"tence": "past"}), f"{EVENT}.tence: unknown key 'tence' (did you mean 'tense'?)"),
    (wrap_event({"aspect": "simple"}), f"{EVENT}.aspect: unknown value 'simple', expected one of neut, prog"),
    (wrap_event({"tense": "passt"}), f"{EVENT}.tense: unknown value 'passt' (did you mean 'past'?)"),
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
        {"role_rc_structures": {"intransitive": [{"agent": "non"}]}},
        f"{RC}.intransitive[0].agent: unknown value 'non' (did you mean 'none'?)",
    ),
]


@pytest.mark.parametrize(("form", "message"), MISTAKES)
def test_mistakes(form: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_config_text(json.dumps(form), english(), source="c.json")
    assert str(caught.value) == f"c.json: {message}"


FILES = [
    (b'{\n "constraints": }', "{path}:2:17: not JSON: Expecting value"),
    (b"", "{path}:1:1: not JSON: Expecting value"),
    (b'{\n"a": "\xff"}', "{path}: line 2: not UTF-8"),
    (b'{"a": 1, "b": 2, "a": 3}', "{path}: the key 'a' is stated twice in one object"),
    (b"[" * 100_000, "{path}: the configuration nests too deeply"),
]


@pytest.mark.parametrize(("data", "message"), FILES)
def test_broken_files(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_config(path, english())
    assert str(caught.value) == message.format(path=path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    with pytest.raises(UsageError) as caught:
        read_config(missing, english())
    assert str(caught.value) == f"{missing}: cannot read the configuration: No such file or directory"
    with pytest.raises(UsageError, match="Is a directory"):
        read_config(tmp_path, english())


def test_clauses_nest_only_so_deep() -> None:
    event: dict[str, Any] = {}
    for _ in range(41):
        event = {"participants": {"agent": {"attributes": {"rc": {"event": event}}}}}
    with pytest.raises(UsageError, match="nest deeper than 40"):
        read_config_text(json.dumps(wrap_event(event)), english())
