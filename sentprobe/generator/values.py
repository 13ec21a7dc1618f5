"""From an event back to the values of a layout's variables."""

from sentprobe.generator.event import Event, Participant, Polarity, RelativeClause
from sentprobe.generator.layout import ClauseSite, Layout, Value, roles_of


def read_values(event: Event, layout: Layout) -> dict[str, int] | None:
    """Return the index of each variable's value in *event*, or None if it is not of the layout.

    Undoes :func:`sentprobe.generator.layout.event_of`.
    """
    found: dict[str, Value] = {}
    if not _read_clause(event, layout.clauses[0], layout, found):
        return None
    indices = {}
    for variable in layout.variables:
        value = found[variable.name]
        if value not in variable.values:
            return None
        indices[variable.name] = variable.values.index(value)
    return indices


def _read_clause(event: Event, site: ClauseSite, layout: Layout, found: dict[str, Value]) -> bool:
    path, adverbs = site.path, event.adverbs or ()
    same_structure = (
        event.frame is site.frame
        and event.gap is site.gap
        and site.voice in (None, event.voice)
        and len(adverbs) == site.adverbs
    )
    if not same_structure:
        return False
    negated = event.polarity is Polarity.NEGATIVE
    found |= {
        f"{path}voice": str(event.voice),
        f"{path}tense": str(event.tense),
        f"{path}aspect": str(event.aspect),
        f"{path}negation": str(event.negator if negated else event.polarity),
        f"{path}verb": str(event.predicate),
        **{f"{path}adverb{i}": lemma for i, lemma in enumerate(adverbs)},
    }
    return all(
        _read_participant(event.argument(role), f"{path}{role.value}.", layout, found)
        for role in roles_of(site.frame)
        if role is not site.gap
    )


def _read_participant(person: object, path: str, layout: Layout, found: dict[str, Value]) -> bool:
    if not isinstance(person, Participant):
        return False
    found[f"{path}det"] = (str(person.number), str(person.determiner))
    found[f"{path}noun"] = str(person.noun)
    site = next((clause for clause in layout.clauses if clause.owner == path), None)
    clause = person.clause
    if not isinstance(clause, RelativeClause):
        return site is None
    found[f"{path}rel"] = str(clause.relativizer)
    return site is not None and _read_clause(clause.event, site, layout, found)
