"""Constraints as sets of boxes: each rule asks for, or bans, the union of its boxes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import Aspect, Event
from sentprobe.generator.layout import Allowed, Layout, Restriction, Variable, Words, restrict
from sentprobe.generator.notation import write_event
from sentprobe.lexicon import Flag, Kind, Lexicon


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint: what it says, and the boxes of a layout that it asks for or bans."""

    text: str
    boxes: Callable[[Layout], Sequence[Restriction]]
    is_ban: bool = False


def make_rules(
    words: Words, lexicon: Lexicon, choices: Choices, constraints: Constraints
) -> list[Rule]:
    """Return the rules that choices and constraints come to."""
    return list(_rules(words, lexicon, choices, constraints))


def _rules(
    words: Words, lexicon: Lexicon, choices: Choices, constraints: Constraints
) -> Iterator[Rule]:
    if choices.main != Event():
        text = f"the main clause {write_event(choices.main)}"
        yield Rule(text, lambda layout: _in_main(choices.main, layout))
    if choices.clause != Event():
        text = f"the relative clause {write_event(choices.clause)}"
        yield Rule(text, lambda layout: _in_all_relatives(choices.clause, layout))
    for event in constraints.required:
        yield Rule(f"the required event {write_event(event)}", _anywhere(event))
    for event in constraints.forbidden:
        yield Rule(f"the forbidden event {write_event(event)}", _anywhere(event), is_ban=True)
    for lemma in constraints.required_words:
        yield Rule(f"the required word {lemma!r}", _with_word(lemma))
    for lemma in constraints.forbidden_words:
        yield Rule(f"the forbidden word {lemma!r}", _with_word(lemma), is_ban=True)
    states = _states(words, lexicon)
    if states and Flag.STATIVE not in choices.allow:
        text = "leaving out states in the progressive"
        yield Rule(text, lambda layout: _progressive(states, layout), is_ban=True)


def _in_main(event: Event, layout: Layout) -> list[Restriction]:
    """Return one restriction that asks the main clause to be *event*."""
    restriction = restrict(event, layout.clauses[0], layout)
    return [] if restriction is None else [restriction]


def _in_clauses(event: Event, layout: Layout) -> list[Restriction]:
    """Return where *event* may be contained, and what each of those clauses asks."""
    found = (restrict(event, site, layout) for site in layout.clauses)
    return [restriction for restriction in found if restriction is not None]


def _anywhere(event: Event) -> Callable[[Layout], Sequence[Restriction]]:
    return lambda layout: _in_clauses(event, layout)


def _in_all_relatives(event: Event, layout: Layout) -> list[Restriction]:
    """Return one restriction that asks every relative clause to be *event*."""
    merged: dict[str, Allowed] = {}
    for site in layout.clauses[1:]:
        restriction = restrict(event, site, layout)
        if restriction is None:
            return []
        for name, allowed in restriction.items():
            merged[name] = merged.get(name, allowed) & allowed
    return [merged] if all(merged.values()) else []


def _with_word(lemma: str) -> Callable[[Layout], Sequence[Restriction]]:
    """Return the boxes in which some word of the sentence is *lemma*."""

    def boxes(layout: Layout) -> list[Restriction]:
        return [
            {variable.name: allowed}
            for variable in layout.variables
            if (allowed := _positions(lemma, variable) & variable.domain)
        ]

    return boxes


def _positions(lemma: str, variable: Variable) -> Allowed:
    """Return which values of a variable are the word *lemma*; none if it is no choice of words."""
    if variable.name.endswith("det"):  # a pair of number and lemma
        return frozenset(i for i, pair in enumerate(variable.values) if pair[1] == lemma)
    if variable.group is None and not variable.name.endswith("rel"):
        return frozenset()
    return frozenset(i for i, value in enumerate(variable.values) if value == lemma)


def _states(words: Words, lexicon: Lexicon) -> dict[Kind, Allowed]:
    """Return the stative verbs of each frame."""
    found = {}
    for frame, verbs in words.verbs_by_frame.items():
        kind = Kind(frame.value)
        stative = frozenset(
            i for i in verbs if Flag.STATIVE in lexicon.get(words.verbs[i], kind).flags
        )
        if stative:
            found[kind] = stative
    return found


def _progressive(states: dict[Kind, Allowed], layout: Layout) -> list[Restriction]:
    aspects = list(Aspect)
    progressive = frozenset([aspects.index(Aspect.PROGRESSIVE)])
    return [
        {f"{site.path}verb": states[kind], f"{site.path}aspect": progressive}
        for site in layout.clauses
        if (kind := Kind(site.frame.value)) in states
    ]
