"""Reader of constraint files (JSON) for the published compeval generator; ``docs/events.md`` describes them.

The misspelling ``intransitve`` in the published examples gives a warning; any other unknown key is an error.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.common.reading import read_text
from sentprobe.common.values import BadSyntaxError, TooDeepError, parse_json
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import check_clause, check_predicate, infer_frames
from sentprobe.generator.events.event_json import JsonNode
from sentprobe.generator.spaces.constraints import Constraints
from sentprobe.lexicon import Kind, Lexicon

FRAMES = (ev.Frame.INTRANSITIVE, ev.Frame.TRANSITIVE)
ROLES = (ev.Role.AGENT, ev.Role.PATIENT)
FEATURES: Mapping[str, tuple[str, Mapping[str, StrEnum]]] = {
    "tense": ("tense", {value.value: value for value in ev.Tense}),
    "aspect": ("aspect", {"neut": ev.Aspect.SIMPLE, "prog": ev.Aspect.PROGRESSIVE}),
    "voice": ("voice", {value.value: value for value in ev.Voice}),
    "pol": ("polarity", {value.value: value for value in ev.Polarity}),
    "frame": ("frame", {value.value: value for value in FRAMES}),
}
"""For each key of the published files: the field of :class:`Event`, and its values by their published names."""


def read_published_event(node: JsonNode, lexicon: Lexicon, depth: int = 0) -> ev.Event:
    """Return the partial event that a JSON value states. Raises UsageError, which names the path in the JSON text."""
    if depth > ev.MAX_DEPTH:
        node.fail(f"relative clauses nest deeper than {ev.MAX_DEPTH}")
    parts = node.read_object(("name", *FEATURES, "participants"))
    fields: dict[str, Any] = {
        ours: parts[key].read_choice(values) for key, (ours, values) in FEATURES.items() if key in parts
    }
    if "participants" in parts:
        for role, person in parts["participants"].read_object(ROLES).items():
            fields[role] = _read_participant(person, lexicon, depth)
    if "name" in parts:
        fields["predicate"] = parts["name"].read_text()
    with node.locate_errors():
        event = ev.Event(**fields)
    with parts.get("name", node).locate_errors():
        check_predicate(event, lexicon)
    return infer_frames(event, lexicon)


def _read_participant(node: JsonNode, lexicon: Lexicon, depth: int) -> ev.Participant:
    parts = node.read_object(("name", "num", "attributes"))
    fields: dict[str, Any] = {}
    if "name" in parts:
        with parts["name"].locate_errors():
            fields["noun"] = lexicon.get(parts["name"].read_text(), Kind.NOUN).lemma
    if "num" in parts:
        fields["number"] = parts["num"].read_member(ev.Number)
    if "attributes" in parts:
        for clause in parts["attributes"].read_object(("rc",)).values():
            fields["clause"] = _read_clause(clause, lexicon, depth + 1)
    return ev.Participant(**fields)


def _read_clause(node: JsonNode, lexicon: Lexicon, depth: int) -> ev.RelativeClause:
    parts = node.read_object(("rtype", "event"))
    kind = parts["rtype"].read_member(ev.ClauseKind) if "rtype" in parts else None
    event = ev.Event()
    if "event" in parts:
        event = read_published_event(parts["event"], lexicon, depth)
    with node.locate_errors():
        clause = ev.RelativeClause(event=event, kind=kind)
        check_clause(clause, lexicon)
    return clause


LIST_KINDS = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE)
MISSPELLINGS = {"intransitve": "intransitive"}
NO_CLAUSE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedConfig:
    """The content of a constraint file, and warnings about misspelled keys."""

    constraints: Constraints
    templates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)


def read_config(path: Path, lexicon: Lexicon) -> PublishedConfig:
    """Return the content of a constraint file. Raises UsageError for an unreadable file, or an unknown name."""
    try:
        text = read_text(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot read the configuration: {error.strerror}") from None
    except FormatError as error:
        raise UsageError(f"{path}: {error}") from None
    return read_config_text(text, lexicon, source=str(path))


def read_config_text(text: str, lexicon: Lexicon, *, source: str = "") -> PublishedConfig:
    """Return the content of a constraint file from its text; messages name *source*. Raises UsageError.

    >>> from sentprobe.lexicon import english
    >>> text = '{"constraints": {"needList": {"noun": ["mna"]}}}'
    >>> read_config_text(text, english(), source="c.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sentprobe...JsonError: c.json: $.constraints.needList.noun[0]: unknown noun 'mna' (did ...?)
    """
    root = JsonNode(_parse_json_text(text, source), where=source)
    parts = root.read_object(("constraints", "role_rc_structures"))
    warnings: list[str] = []
    constraints = Constraints()
    templates: tuple[str, ...] = ()
    if "constraints" in parts:
        lists = parts["constraints"].read_object(("needEv", "avoidEv", "needList", "avoidList"))
        constraints = Constraints(
            required=_read_events(lists.get("needEv"), lexicon),
            forbidden=_read_events(lists.get("avoidEv"), lexicon),
            required_words=_read_lemmas(lists.get("needList"), lexicon, warnings),
            forbidden_words=_read_lemmas(lists.get("avoidList"), lexicon, warnings),
        )
    if "role_rc_structures" in parts:
        structures = _read_members(parts["role_rc_structures"], FRAMES, warnings)
        templates = tuple(_read_templates(structures))
    return PublishedConfig(constraints=constraints, templates=templates, warnings=tuple(warnings))


def _parse_json_text(text: str, source: str) -> object:
    try:
        return parse_json(text)
    except TooDeepError:
        raise UsageError(f"{source}: the configuration nests too deeply") from None
    except BadSyntaxError as error:
        place = f"{source}:{error.line}:{error.column}" if error.line else source
        raise UsageError(f"{place}: not JSON: {error.reason}") from None


def _read_members(node: JsonNode, known_names: Iterable[str], warnings: list[str]) -> dict[str, JsonNode]:
    members = node.read_object(known_names, aliases=MISSPELLINGS)
    for name, member in members.items():
        written = member.path.rpartition(".")[2]
        if written != name:
            warnings.append(f"{member.where}: {member.path}: {written!r} is taken for {name!r}")
    return members


def _read_events(node: JsonNode | None, lexicon: Lexicon) -> tuple[ev.Event, ...]:
    """Return the event that a JSON value states, as a tuple that is empty for null or an empty event."""
    if node is None or node.value is None:
        return ()
    event = read_published_event(node, lexicon)
    return () if event == ev.Event() else (event,)


def _read_lemmas(node: JsonNode | None, lexicon: Lexicon, warnings: list[str]) -> tuple[str, ...]:
    if node is None:
        return ()
    lemmas = set()
    for name, member in _read_members(node, LIST_KINDS, warnings).items():
        for item in member.read_list():
            with item.locate_errors():
                lemmas.add(lexicon.get(item.read_text(), Kind(name)).lemma)
    return tuple(sorted(lemmas))


def _read_templates(structures: Mapping[str, JsonNode]) -> Iterator[str]:
    for name, node in structures.items():
        frame = ev.Frame(name)
        for item in node.read_list():
            parts = item.read_object(ROLES)
            if set(parts) != set(ev.FRAME_ROLES[frame]):
                item.fail(f"expected the keys {' and '.join(ev.FRAME_ROLES[frame])} of {frame} structures")
            choices = {NO_CLAUSE: None} | {clause.value: clause for clause in FRAMES}
            clauses = {key: part.read_choice(choices) for key, part in parts.items()}
            chosen = [(role.value, clause.value) for role in ROLES if (clause := clauses.get(role.value))]
            suffix = ("", "-rc", "-rc-both")[len(chosen)]
            yield ".".join([name + suffix, *chain.from_iterable(chosen)])
