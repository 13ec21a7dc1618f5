"""The tables of edits: rules, the conditions that rules share, and word lists, read from TOML files."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from sentprobe.common.errors import FormatError, UsageError, suggest
from sentprobe.generator.edits.edit_patterns import TokenPattern, parse_pattern
from sentprobe.generator.edits.own_phrases import PhraseSample

LANGUAGES: Mapping[str, str] = {"en": "english.toml", "de": "german.toml"}
"""The file of each language's table."""


@dataclass(frozen=True, slots=True)
class EditKind:
    """A kind of edit: whether *b* means the same as *a*, whether the kind is on by default, and how it was judged."""

    name: str
    summary: str
    same: bool
    is_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRule:
    """A rule: what it looks for, the conditions under which it refuses, and the change.

    A rule has one of *match* (a regular expression on the text; it needs no parse), *find* (a pattern of a token) and
    *clause* (tests of the main clause).
    """

    name: str
    kind: EditKind
    change: str
    match: re.Pattern[str] | None = None
    find: TokenPattern | None = None
    clause: Mapping[str, Any] | None = None
    where: Sequence[TokenPattern] = ()
    unless: Sequence[tuple[TokenPattern, str]] = ()
    unless_text: Sequence[tuple[re.Pattern[str], str]] = ()
    """Regular expressions on the text, with the reasons of refusal."""
    words: Mapping[str, str] = field(default_factory=dict)
    example: tuple[str, str]
    refused: tuple[str, str]
    """A text that the rule must refuse, and the reason."""
    other: str = ""
    """A second text of the example, for a change that takes words from the user's other texts."""

    @property
    def needs_parse(self) -> bool:
        """Whether the rule looks at a parse."""
        return self.match is None


@dataclass(frozen=True, slots=True)
class EditTable:
    """The kinds and rules of a language, and the reasons for which a whole text is refused."""

    language: str
    kinds: Mapping[str, EditKind]
    rules: Sequence[EditRule]
    text_problems: Sequence[tuple[re.Pattern[str], str]]
    sentence_problems: Sequence[tuple[re.Pattern[str], str]]
    """The reasons for which a text gets no edit that needs a parse."""
    lists: Mapping[str, Any]
    left_out: Mapping[str, str]
    """The kinds that the language lacks, with the reason."""
    own_phrases: PhraseSample | None = None
    """Objects of verbs and names in the user's texts, for changes that take them."""

    def choose_rules(self, kinds: Sequence[str] = ()) -> list[EditRule]:
        """Return the rules of the named kinds, or of the default kinds. Raises UsageError."""
        for name in kinds:
            if name in self.left_out:
                raise UsageError(f"kind {name!r}: {self.left_out[name]}")
            if name not in self.kinds:
                raise UsageError(
                    f"there is no kind {name!r}{suggest(name, self.kinds)}; known: {', '.join(self.kinds)}"
                )
        return [rule for rule in self.rules if rule.kind.name in kinds or (not kinds and rule.kind.is_default)]


@cache
def load_table(language: str = "en") -> EditTable:
    """Return the table of a language. Raises UsageError for a language without one."""
    if language not in LANGUAGES:
        raise UsageError(f"there are no edits for the language {language!r}; known: {', '.join(LANGUAGES)}")
    data = tomllib.loads(files(__package__).joinpath(LANGUAGES[language]).read_text("utf-8"))
    lists = data.get("lists", {})
    kinds = {
        name: EditKind(name, row["summary"], row.get("same", False), row["default"])
        for name, row in data["kinds"].items()
    }
    rules = [_build_rule(row, kinds, lists, data.get("guards", {})) for row in data["rule"]]
    problems, sentence_problems = (
        [(re.compile(pattern), reason) for pattern, reason in data[name].items()]
        for name in ("text_problems", "sentence_problems")
    )
    return EditTable(language, kinds, rules, problems, sentence_problems, lists, data.get("left_out", {}))


def _build_rule(
    row: dict[str, Any], kinds: Mapping[str, EditKind], lists: Mapping[str, Any], guards: Mapping[str, Any]
) -> EditRule:
    name = row["name"]
    conditions: dict[str, str] = {}
    for guard in row.get("guards", ()):
        if guard not in guards:
            raise FormatError(f"rule {name}: there is no guard {guard!r}{suggest(guard, guards)}")
        conditions |= guards[guard]
    # After the guards, so that the reason of the rule itself is the one reported for a condition that both have.
    conditions |= row.get("unless", {})
    # A condition between slashes is a regular expression for the whole text; another is a pattern for the token found.
    token_conditions = {key: reason for key, reason in conditions.items() if not key.startswith("/")}
    text_conditions = {key: reason for key, reason in conditions.items() if key.startswith("/")}
    kind = kinds[name.partition(".")[0]]
    words = row.get("words", {})
    return EditRule(
        name=name,
        kind=kind,
        change=row["change"],
        match=re.compile(_expand(row["match"], lists)) if "match" in row else None,
        find=parse_pattern(row["find"], lists) if "find" in row else None,
        clause=row.get("clause"),
        where=[parse_pattern(source, lists) for source in row.get("where", ())],
        unless=[(parse_pattern(source, lists), reason) for source, reason in token_conditions.items()],
        unless_text=[(re.compile(_expand(key.strip("/"), lists)), reason) for key, reason in text_conditions.items()],
        words=lists[words] if isinstance(words, str) else words,
        example=(row["example"][0], row["example"][1]),
        refused=(row["refused"][0], row["refused"][1]),
        other=row.get("other", ""),
    )


def _expand(pattern: str, lists: Mapping[str, Any]) -> str:
    """Return a regular expression in which ``<name>`` stands for the alternatives of a word list, the longest first."""

    def join(match: re.Match[str]) -> str:
        return "|".join(sorted(map(re.escape, lists[match[1]]), key=len, reverse=True))

    return re.sub(r"<([a-z_]+)>(?!\\)(?![^()]*#)", lambda m: join(m) if m[1] in lists else m[0], pattern)
