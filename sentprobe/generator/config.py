"""The constraint files of the published compeval generator (JSON), read.

A file says which events and words its sentences need and avoid, and which structures they have::

    {"constraints": {"needEv": EVENT, "avoidEv": EVENT, "needList": LEMMAS, "avoidList": LEMMAS},
     "role_rc_structures": {"intransitive": [{"agent": CLAUSE}],
                            "transitive": [{"agent": CLAUSE, "patient": CLAUSE}]}}

EVENT is null, or an object with any of ``name tense aspect voice pol frame participants``; LEMMAS
is an object with any of ``noun transitive intransitive``, lists of lemmas; CLAUSE is ``none`` or
the frame of a relative clause. The misspelling ``intransitve``, which the published examples have,
is read with a warning; any other unknown key, value or lemma is an error.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.generator import event as ev
from sentprobe.generator.constraints import Constraints
from sentprobe.generator.jsonform import JsonNode
from sentprobe.generator.layout import roles_of
from sentprobe.generator.lemmas import check_clause, check_predicate, infer_frames
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.values import BadSyntaxError, TooDeepError, parse_json

ASPECTS = {"neut": ev.Aspect.SIMPLE, "prog": ev.Aspect.PROGRESSIVE}

FEATURES: Mapping[str, tuple[str, Mapping[str, StrEnum]]] = {
    "tense": ("tense", {value.value: value for value in ev.Tense}),
    "aspect": ("aspect", ASPECTS),
    "voice": ("voice", {value.value: value for value in ev.Voice}),
    "pol": ("polarity", {value.value: value for value in ev.Polarity}),
    "frame": ("frame", {value.value: value for value in ev.Frame}),
}
"""The features of an event by the published name: ours, and its values by the published name."""


def read_published_event(node: JsonNode, lexicon: Lexicon, depth: int = 0) -> ev.Event:
    """Return the partial event of a node, with the frames that follow from its verbs.

    Raises:
        UsageError: with the place of what is wrong.
    """
    if depth > ev.MAX_DEPTH:
        node.fail(f"relative clauses nest deeper than {ev.MAX_DEPTH}")
    parts = node.object(("name", *FEATURES, "participants"))
    fields: dict[str, Any] = {
        ours: parts[key].choice(values) for key, (ours, values) in FEATURES.items() if key in parts
    }
    if "participants" in parts:
        for role, person in parts["participants"].object(ev.Role).items():
            fields[role] = _read_participant(person, lexicon, depth)
    if "name" in parts:
        fields["predicate"] = parts["name"].text()
    with node.errors():
        event = ev.Event(**fields)
    with parts.get("name", node).errors():
        check_predicate(event, lexicon)
    return infer_frames(event, lexicon)


def _read_participant(node: JsonNode, lexicon: Lexicon, depth: int) -> ev.Participant:
    parts = node.object(("name", "num", "attributes"))
    fields: dict[str, Any] = {}
    if "name" in parts:
        with parts["name"].errors():
            fields["noun"] = lexicon.get(parts["name"].text(), Kind.NOUN).lemma
    if "num" in parts:
        fields["number"] = parts["num"].member(ev.Number)
    if "attributes" in parts:
        for clause in parts["attributes"].object(("rc",)).values():
            fields["clause"] = _read_clause(clause, lexicon, depth + 1)
    return ev.Participant(**fields)


def _read_clause(node: JsonNode, lexicon: Lexicon, depth: int) -> ev.RelativeClause:
    parts = node.object(("rtype", "event"))
    kind = parts["rtype"].member(ev.ClauseKind) if "rtype" in parts else None
    event = ev.Event()
    if "event" in parts:
        event = read_published_event(parts["event"], lexicon, depth)
    with node.errors():
        clause = ev.RelativeClause(event=event, kind=kind)
        check_clause(clause, lexicon)
    return clause


LIST_KINDS = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE)
MISSPELT = {"intransitve": "intransitive"}
NO_CLAUSE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a constraint file asks for, and what its reader let pass with a warning.

    ``templates`` is empty where the file has no structures.
    """

    constraints: Constraints
    templates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)


def read_config(path: Path, lexicon: Lexicon) -> Config:
    """Read a constraint file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or asks for what there is not.
    """
    return read_config_text(_read_text(path), lexicon, source=str(path))


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot read the configuration: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: the configuration is not UTF-8") from None


def read_config_text(text: str, lexicon: Lexicon, *, source: str = "") -> Config:
    """Read the text of a constraint file; *source* is its name in messages.

    Raises:
        UsageError: see :func:`read_config`.

    >>> from sentprobe.lexicon import english
    >>> text = '{"constraints": {"needList": {"noun": ["mna"]}}}'
    >>> read_config_text(text, english(), source="c.json")
    Traceback (most recent call last):
    ...
    sentprobe.generator.jsonform.JsonError: c.json: $.constraints.needList.noun[0]: unknown noun \
'mna' (did you mean 'man'?)
    """
    root = JsonNode(_load(text, source), where=source)
    parts = root.object(("constraints", "role_rc_structures"))
    warnings: list[str] = []
    constraints = Constraints()
    templates: tuple[str, ...] = ()
    if "constraints" in parts:
        constraints = _read_constraints(parts["constraints"], lexicon, warnings)
    if "role_rc_structures" in parts:
        structures = _with_misspelt(parts["role_rc_structures"], tuple(ev.Frame), warnings)
        templates = tuple(_read_templates(structures))
    return Config(constraints=constraints, templates=templates, warnings=tuple(warnings))


def _load(text: str, source: str) -> object:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
            raise UsageError(f"{source}: the key {twice!r} is stated twice in one object")
        return found

    try:
        return parse_json(text, pairs=unique)
    except TooDeepError:
        raise UsageError(f"{source}: the configuration nests too deeply") from None
    except BadSyntaxError as error:
        place = f"{source}:{error.line}:{error.column}" if error.line else source
        raise UsageError(f"{place}: not JSON: {error.reason}") from None


def _with_misspelt(
    node: JsonNode, known: Iterable[str], warnings: list[str]
) -> dict[str, JsonNode]:
    """Return the members of an object, with a warning for each misspelling that is let pass."""
    found = node.object(known, also=MISSPELT)
    for name, member in found.items():
        written = member.path.rpartition(".")[2]
        if written != name:
            warnings.append(f"{member.where}: {member.path}: {written!r} is taken for {name!r}")
    return found


def _read_constraints(node: JsonNode, lexicon: Lexicon, warnings: list[str]) -> Constraints:
    parts = node.object(("needEv", "avoidEv", "needList", "avoidList"))
    events = {key: _read_events(parts.get(key), lexicon) for key in ("needEv", "avoidEv")}
    lemmas = {
        key: _read_lemmas(parts.get(key), lexicon, warnings) for key in ("needList", "avoidList")
    }
    return Constraints(
        required=events["needEv"],
        forbidden=events["avoidEv"],
        required_words=lemmas["needList"],
        forbidden_words=lemmas["avoidList"],
    )


def _read_events(node: JsonNode | None, lexicon: Lexicon) -> tuple[ev.Event, ...]:
    """Return the event of a node; null and an event that states nothing ask for nothing."""
    if node is None or node.value is None:
        return ()
    event = read_published_event(node, lexicon)
    return () if event == ev.Event() else (event,)


def _read_lemmas(node: JsonNode | None, lexicon: Lexicon, warnings: list[str]) -> tuple[str, ...]:
    """Return the lemmas of a list, each once, sorted."""
    if node is None:
        return ()
    found = set()
    for name, member in _with_misspelt(node, LIST_KINDS, warnings).items():
        for item in member.list():
            with item.errors():
                found.add(lexicon.get(item.text(), Kind(name)).lemma)
    return tuple(sorted(found))


def _read_templates(structures: Mapping[str, JsonNode]) -> Iterator[str]:
    for name, node in structures.items():
        frame = ev.Frame(name)
        for item in node.list():
            parts = item.object(ev.Role)
            if set(parts) != set(roles_of(frame)):
                item.fail(
                    f"expected the keys {' and '.join(roles_of(frame))} of {frame} structures"
                )
            choices = {NO_CLAUSE: None} | {clause.value: clause for clause in ev.Frame}
            yield _template(frame, {ev.Role(key): parts[key].choice(choices) for key in parts})


def _template(frame: ev.Frame, clauses: Mapping[ev.Role, ev.Frame | None]) -> str:
    """Return the name of the template with these relative clauses."""
    chosen = [(role.value, clause.value) for role in ev.Role if (clause := clauses.get(role))]
    suffix = ("", "-rc", "-rc-both")[len(chosen)]
    return ".".join([frame.value + suffix, *(part for pair in chosen for part in pair)])
