"""Write constraint files of the published generator."""

import json
from typing import Any

from sentprobe.generator.events.event import Event, Participant, RelativeClause, Role
from sentprobe.generator.spaces.published_config import FEATURES, LIST_KINDS, NO_CLAUSE, PublishedConfig
from sentprobe.lexicon import Lexicon


def write_config(config: PublishedConfig, lexicon: Lexicon) -> str:
    """Return the text of a constraint file with the constraints of *config*."""
    constraints = config.constraints
    form: dict[str, Any] = {
        "constraints": {
            "needEv": _get_single_event(constraints.required),
            "avoidEv": _get_single_event(constraints.forbidden),
            "needList": _lemmas(constraints.required_words, lexicon),
            "avoidList": _lemmas(constraints.forbidden_words, lexicon),
        }
    }
    if config.templates:
        form["role_rc_structures"] = _structures(config.templates)
    return json.dumps(form, indent=2, ensure_ascii=False)


def _get_single_event(events: tuple[Event, ...]) -> dict[str, Any] | None:
    return _event(*events) if events else None


def _event(event: Event) -> dict[str, Any]:
    form: dict[str, Any] = {} if event.predicate is None else {"name": event.predicate}
    for key, (ours, values) in FEATURES.items():
        if (value := getattr(event, ours)) is not None:
            form[key] = next(name for name, named in values.items() if named is value)
    people = {role.value: event.argument(role) for role in (Role.AGENT, Role.PATIENT)}
    stated = {role: _participant(who) for role, who in people.items() if who is not None}
    return form | ({"participants": stated} if stated else {})


def _participant(person: object) -> dict[str, Any]:
    assert isinstance(person, Participant)
    form: dict[str, Any] = {} if person.noun is None else {"name": person.noun}
    if person.number is not None:
        form["num"] = person.number.value
    if person.clause is not None:
        form["attributes"] = {"rc": _clause(person.clause)}
    return form


def _clause(clause: object) -> dict[str, Any]:
    """Return a relative clause; its gap follows from the rest, as the format cannot state it."""
    assert isinstance(clause, RelativeClause)
    gap = clause.event.gap
    event = clause.event if gap is None else clause.event.with_argument(gap, None)
    form: dict[str, Any] = {} if clause.kind is None else {"rtype": clause.kind.value}
    return form | {"event": _event(event)}


def _lemmas(lemmas: tuple[str, ...], lexicon: Lexicon) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for lemma in lemmas:
        kind = next(kind for kind in lexicon.kinds_of(lemma) if kind in LIST_KINDS)
        lists.setdefault(kind.value, []).append(lemma)
    return lists


def _structures(templates: tuple[str, ...]) -> dict[str, list[dict[str, str]]]:
    """Return ``transitive-rc.agent.intransitive`` and the like as the format's objects."""
    form: dict[str, list[dict[str, str]]] = {}
    for template in templates:
        name, *pairs = template.split(".")
        frame = name.partition("-")[0]
        bare = dict.fromkeys(("agent", "patient") if frame == "transitive" else ("agent",), NO_CLAUSE)
        stated = dict(zip(pairs[::2], pairs[1::2], strict=True))
        form.setdefault(frame, []).append(bare | stated)
    return form
