"""Rules that exclude sentences, and a function that turns partial events into restrictions on a layout's variables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations

from sentprobe.generator.events import event as ev
from sentprobe.generator.spaces.constraints import Allowed
from sentprobe.generator.spaces.layout import ClauseSite, Layout, LayoutValue, Restriction


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that excludes the sentences in some boxes (``is_ban``), or all sentences outside these boxes."""

    text: str
    find_boxes: Callable[[Layout], Iterable[Restriction]]
    is_ban: bool = False


class _ImpossibleStructure(Exception):  # noqa: N818 - not an error but the outcome of a match
    """Raised if no choice of words can make a clause match a partial event."""


@lru_cache(maxsize=16_384)  # a task makes thousands of spaces with the same partial events and layouts
def list_restrictions(partial: ev.Event, site: ClauseSite, layout: Layout) -> tuple[Restriction, ...]:
    """Return restrictions under which the clause at *site* matches *partial*: one for each order of conjuncts."""
    restrictions: list[Restriction] = []
    paths = layout.coordinations
    # "the man and the boy" also matches "the boy and the man", so each coordination is tried in both orders.
    for reversed_paths in chain.from_iterable(combinations(paths, size) for size in range(len(paths) + 1)):
        matcher = _Matcher(layout, reversed_paths)
        try:
            matcher.match_event(partial, site)
        except _ImpossibleStructure:
            continue
        restrictions.append(matcher.restriction)
    return tuple(restrictions)


class _Matcher:
    """Matches a partial event with a layout, and collects in ``restriction`` the values that each variable may have."""

    def __init__(self, layout: Layout, reversed_paths: tuple[str, ...]) -> None:
        self._layout = layout
        self._reversed = reversed_paths
        self._variables = {variable.name: variable for variable in layout.variables}
        self.restriction: dict[str, Allowed] = {}

    def match_event(self, partial: ev.Event, site: ClauseSite) -> None:
        path = site.path
        if partial.frame is not None and not partial.frame.includes(site.frame):
            raise _ImpossibleStructure
        self._require_feature(f"{path}voice", partial.voice, site.voice)
        self._require_feature(f"{path}dative", partial.dative, site.dative)
        self._require_feature(f"{path}tense", partial.tense, None)
        self._require_feature(f"{path}modal", partial.modal, None)
        self._require_feature(f"{path}adjunct", partial.adjunct, None)
        # A statement is the default of a notation, and matches any mood.
        if partial.mood is not ev.Mood.STATEMENT:
            self._require_fixed(partial.mood, site.form.mood)
        self._require_fixed(partial.fronting, site.form.fronting)
        self._require_value(f"{path}aspect", partial.aspect)
        self._require_value(f"{path}verb", partial.predicate)
        # The variable's values are "pos" and the negators, so that "neg" alone means any negator.
        if partial.polarity is ev.Polarity.NEGATIVE and partial.negator is None:
            self._allow(f"{path}negation", lambda value: value != ev.Polarity.POSITIVE.value)
        else:
            self._require_value(f"{path}negation", partial.negator or partial.polarity)
        if partial.adverbs is not None:
            self._require_fixed(len(partial.adverbs), site.adverbs)
            for i, lemma in enumerate(partial.adverbs):
                self._require_value(f"{path}adverb{i}", lemma)
        for role in ev.Role:
            self._match_argument(partial.argument(role), role, site)

    def _match_argument(self, partial: ev.Argument | None, role: ev.Role, site: ClauseSite) -> None:
        if partial is None:
            return
        if isinstance(partial, ev.Asked):
            self._require_fixed((role, partial), site.form.asked)
        elif isinstance(partial, ev.Reflexive):
            self._require_fixed(role, site.form.reflexive)
            self._require_value(f"{site.path}{role.value}.self", partial)
        # The modified noun fills the gap, so a participant may stand there, too.
        elif role not in ((site.gap,) if partial is ev.GAP else (site.gap, *site.overt_roles)):
            raise _ImpossibleStructure
        if isinstance(partial, ev.Participant):
            self._match_participant(partial, site.owner if role is site.gap else f"{site.path}{role.value}.")

    def _match_participant(self, partial: ev.Participant, path: str) -> None:
        paths = [path, f"{path}conjunct."]
        first, second = paths[::-1] if path in self._reversed else paths
        self._match_noun(partial, first)
        if partial.conjunct is not None:
            self._match_noun(partial.conjunct, second)
        site = next((c for c in self._layout.clauses if c.owner == path), None)
        if partial.clause is ev.BARE and site is not None:
            raise _ImpossibleStructure
        if isinstance(partial.clause, ev.RelativeClause):
            if site is None or site.clause_pattern is None:
                raise _ImpossibleStructure
            self._require_fixed(partial.clause.kind, site.clause_pattern.kind)
            self._require_value(f"{path}rel", partial.clause.relativizer)
            self.match_event(partial.clause.event, site)

    def _match_noun(self, partial: ev.Participant, path: str) -> None:
        if f"{path}noun" not in self._variables:
            raise _ImpossibleStructure
        self._require_value(f"{path}noun", partial.noun)
        number, determiner = partial.number, partial.determiner
        self._allow(f"{path}det", lambda value: number in (None, value[0]) and determiner in (None, value[1]))
        if partial.adjectives:
            count = sum(name.startswith(f"{path}adjective") for name in self._variables)
            self._require_fixed(len(partial.adjectives), count)
        for i, lemma in enumerate(partial.adjectives):
            self._require_value(f"{path}adjective{i}", lemma)

    def _require_feature(self, name: str, required: str | None, actual: str | None) -> None:
        """Require that a feature has the value *required* (None: any). Without a variable, its value is *actual*."""
        if name in self._variables:
            self._require_value(name, required)
        else:
            self._require_fixed(required, actual)

    def _require_fixed(self, required: object, actual: object) -> None:
        if required is not None and required != actual:
            raise _ImpossibleStructure

    def _require_value(self, name: str, required: str | None) -> None:
        if required is not None:
            self._allow(name, lambda value: value == required)

    def _allow(self, name: str, test: Callable[[LayoutValue], bool]) -> None:
        variable = self._variables[name]
        allowed = frozenset(i for i in variable.domain if test(variable.values[i]))
        allowed &= self.restriction.get(name, allowed)
        if not allowed:
            raise _ImpossibleStructure
        self.restriction[name] = allowed
