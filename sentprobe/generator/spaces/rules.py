"""The rules of a space, from its settings and the grammar. A rule excludes the events inside or outside some boxes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product

from sentprobe.generator.events.event import GAP, Aspect, Dative, Event, Frame, Mood, Negator, Polarity, Role, Voice
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.sentences.attachments import WITHOUT_AUXILIARY, find_last_role
from sentprobe.generator.spaces.constraints import Allowed, Choices, Constraints, Words
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseSite, Layout, Restriction, Variable
from sentprobe.generator.spaces.license_boxes import find_polarity_boxes, find_reflexive_boxes, has_polarity_items
from sentprobe.generator.spaces.object_order import iterate_order_rules
from sentprobe.generator.spaces.object_readings import find_object_boxes, has_object_readings
from sentprobe.generator.spaces.restrictions import Rule, list_restrictions
from sentprobe.generator.spaces.sort_bans import find_asked_boxes, find_conjunct_boxes, find_sort_bans, find_sort_boxes
from sentprobe.lexicon import Flag, Form, Kind, Lexicon
from sentprobe.lexicon.words import NO_PROGRESSIVE

POLARITY = "negations and questions around ever and any"
"""The text of the rule that the polarity items *ever* and *any* need a negation or a question."""


def iterate_rules(
    words: Words, lexicon: Lexicon, choices: Choices, constraints: Constraints, *, is_detailed: bool = False
) -> Iterator[Rule]:
    """Yield the rules of a space. If *is_detailed*, each verb flag in NO_PROGRESSIVE has its own rule."""
    # In another order, the rules would leave other boxes, and a seed would draw other sentences.
    if choices.main != Event():
        text = f"the main clause {write_event(choices.main)}"
        yield Rule(text, lambda layout: _restrict_clauses(choices.main, layout, layout.clauses[:1]))
    if choices.clause != Event():
        text = f"the relative clause {write_event(choices.clause)}"
        yield Rule(text, partial(_restrict_relatives, choices.clause))
    for event in constraints.required:
        yield Rule(f"the required event {write_event(event)}", _make_event_boxes(event))
    if constraints.required_any:
        names = " or ".join(map(write_event, constraints.required_any))
        yield Rule(f"the required event {names}", _make_event_boxes(*constraints.required_any))
    for event in constraints.forbidden:
        yield Rule(f"the forbidden event {write_event(event)}", _make_event_boxes(event), is_ban=True)
    for lemma in constraints.required_words:
        yield Rule(f"the required word {lemma!r}", partial(_find_word_boxes, lemma))
    for lemma in constraints.forbidden_words:
        yield Rule(f"the forbidden word {lemma!r}", partial(_find_word_boxes, lemma), is_ban=True)
    yield from _iterate_language_rules(words, lexicon, choices, is_detailed=is_detailed)
    if lexicon.language.closes_clauses:
        yield from iterate_order_rules(words, lexicon, choices)
    elif not choices.ambiguous:
        yield from _iterate_reading_rules(words, lexicon, choices)


def _iterate_reading_rules(words: Words, lexicon: Lexicon, choices: Choices) -> Iterator[Rule]:
    """Yield the rules that exclude sentences in which an adverb, conjunct or object can belong to two clauses."""
    if {*choices.adverbs} != {0}:
        yield Rule("leaving out adverbs that two verbs can take", _find_ambiguous_boxes, is_ban=True)
    if {*choices.coordinations} != {0}:
        yield Rule("leaving out coordinated nouns that end a relative clause", _find_pair_boxes, is_ban=True)
    if has_object_readings(words, lexicon):
        text = "leaving out objects that two verbs can take"
        yield Rule(text, partial(find_object_boxes, words, lexicon), is_ban=True)


def _iterate_language_rules(words: Words, lexicon: Lexicon, choices: Choices, *, is_detailed: bool) -> Iterator[Rule]:
    """Yield the grammar's rules: on progressives, modals with n't, questions, reflexives, polarity items and sorts."""
    flags = NO_PROGRESSIVE - choices.allow if Aspect.PROGRESSIVE in lexicon.language.aspects else frozenset[Flag]()
    for flag_set in [frozenset([flag]) for flag in sorted(flags)] if is_detailed else [flags]:
        if verbs := find_verbs_without_progressive(words, lexicon, flag_set):
            text = f"leaving out {' and '.join(sorted(flag_set))} verbs in the progressive (see --allow)"
            yield Rule(text, partial(_find_progressive_boxes, verbs), is_ban=True)
    lacking = frozenset(
        i for i, lemma in enumerate(words.modals) if Form.MD_NEG not in lexicon.get(lemma, Kind.MODAL).forms
    )
    if lacking and Negator.CONTRACTED in choices.negators:
        names = " or ".join(words.modals[i] for i in sorted(lacking))
        text = f"{names} has no form with n't"
        yield Rule(text, partial(_find_contraction_boxes, lacking), is_ban=True)
    if {*choices.asked} != {None}:
        yield Rule("who for persons, what for things", partial(find_asked_boxes, words, lexicon), is_ban=True)
        yield Rule("the participants that a question can ask for", _find_question_boxes, is_ban=True)
    if {*choices.reflexives} != {None}:
        yield Rule("agreement of reflexives", partial(find_reflexive_boxes, words, lexicon), is_ban=True)
    if has_polarity_items(words, lexicon):
        yield Rule(POLARITY, partial(find_polarity_boxes, words, lexicon), is_ban=True)
    yield from _iterate_vocabulary_rules(words, lexicon, choices)
    if bans := find_sort_bans(words, lexicon):
        text = "the sorts of nouns that verbs and relativizers take"
        unusable = (ban.words for ban in bans if ban.kind is Kind.RELATIVIZER and len(ban.nouns) == len(words.nouns))
        if lemmas := [words.relativizers[i] for i in sorted(frozenset().union(*unusable))]:
            text += f" ({' and '.join(lemmas)}: no noun of the vocabulary)"
        yield Rule(text, partial(find_sort_boxes, bans), is_ban=True)


def _iterate_vocabulary_rules(words: Words, lexicon: Lexicon, choices: Choices) -> Iterator[Rule]:
    if words.event_adverbs and words.states:
        yield Rule("leaving out sudden and repeated states", partial(_find_state_boxes, words), is_ban=True)
    if words.uniform_conjuncts and {*choices.coordinations} != {0}:
        yield Rule("coordinated nouns of one sort", partial(find_conjunct_boxes, words, lexicon), is_ban=True)
    if words.separate_agents and words.verbs_by_frame[Frame.DITRANSITIVE]:
        yield Rule("leaving out two agents in a row: by ... by ...", _find_agent_boxes, is_ban=True)


def _find_state_boxes(words: Words, layout: Layout) -> list[Restriction]:
    """Return boxes of clauses with an adverb that does not modify states, and a stative verb: "suddenly owns"."""
    return [
        {f"{site.path}verb": states, f"{site.path}adverb{i}": words.event_adverbs}
        for site in layout.clauses
        if (states := words.states & words.verbs_by_frame[site.frame])
        for i in range(site.adverbs)
    ]


def _find_question_boxes(layout: Layout) -> list[Restriction]:
    """Return boxes of impossible ditransitive questions. Each box has one value of ``voice`` and one of ``dative``."""
    main = layout.clauses[0]
    if main.form.asked is None or not main.varies_dative:
        return []
    role, _ = main.form.asked
    pairs = product(enumerate(Voice), enumerate(Dative))
    return [
        {"voice": frozenset([i]), "dative": frozenset([j])}
        for (i, voice), (j, dative) in pairs
        if not Event(frame=main.frame, voice=voice, dative=dative).can_extract(role)
    ]


def _find_ambiguous_boxes(layout: Layout) -> list[Restriction]:
    """Return the boxes of main clauses in which an adverb follows a relative clause on the subject."""
    main, *relatives = layout.clauses
    patterns = _AMBIGUOUS_QUESTIONS if main.form.mood is Mood.QUESTION else (WITHOUT_AUXILIARY,)
    # The modal of a statement separates adverb and relative clause: "the man that slept will often dance".
    if not main.adverbs or (main.form.is_modal and main.form.mood is Mood.STATEMENT):
        return []
    if main.varies_dative:
        pairs = product(patterns, Dative)
        patterns = tuple(replace(event, frame=main.frame, dative=dative) for event, dative in pairs)
    owners = {site.owner for site in relatives}
    patterns = tuple(event for event in patterns if f"{event.subject.value}." in owners)
    return [box for event in patterns for box in _restrict_clauses(event, layout, [main])]


def _find_pair_boxes(layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of events with coordinated nouns at the end of a relative clause: "that sees the man and the boy"."""
    for site in layout.clauses[1:] if layout.coordinations else ():
        for i, dative in enumerate(Dative) if site.varies_dative else ((0, site.dative),):
            assert site.gap is not None
            clause = Event(frame=site.frame, voice=site.voice, dative=dative).with_argument(site.gap, GAP)
            if f"{site.path}{find_last_role(clause).value}." in layout.coordinations:
                yield {f"{site.path}dative": frozenset([i])} if site.varies_dative else {}


def _find_agent_boxes(layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of passives in which a passive relative clause ends before *by*: "that were called by the man by"."""
    for outer, inner in product(layout.clauses, layout.clauses[1:]):
        passives = [_find_passive(site) for site in (outer, inner)]
        if outer.frame is not Frame.DITRANSITIVE or None in passives:
            continue
        for i, dative in enumerate(Dative) if outer.varies_dative else ((0, outer.dative),):
            last = Role.RECIPIENT if dative is Dative.TO else Role.PATIENT
            if inner.owner == f"{outer.path}{last.value}.":
                varied = {f"{outer.path}dative": frozenset([i])} if outer.varies_dative else {}
                yield {**varied, **{name: values for box in passives for name, values in (box or {}).items()}}


def _find_passive(site: ClauseSite) -> Restriction | None:
    """Return the restriction to passives of a clause; None if the clause is always active."""
    if site.voice is None:
        return {f"{site.path}voice": frozenset([list(Voice).index(Voice.PASSIVE)])}
    return {} if site.voice is Voice.PASSIVE else None


_AMBIGUOUS_QUESTIONS = tuple(
    Event(voice=voice, polarity=polarity, negator=negator)
    for voice in Voice
    for polarity, negator in ((Polarity.POSITIVE, None), (Polarity.NEGATIVE, Negator.CONTRACTED))
)
"""Partial events that match the questions in which adverbs directly follow the subject."""


def _restrict_clauses(event: Event, layout: Layout, sites: Iterable[ClauseSite]) -> list[Restriction]:
    """Return a restriction for each way in which the clause at one of *sites* can match the partial *event*."""
    return [restriction for site in sites for restriction in list_restrictions(event, site, layout)]


def _make_event_boxes(*events: Event) -> Callable[[Layout], Iterable[Restriction]]:
    return lambda layout: [box for event in events for box in _restrict_clauses(event, layout, layout.clauses)]


def _restrict_relatives(event: Event, layout: Layout) -> list[Restriction]:
    """Return restrictions. Under any one restriction, every relative clause of *layout* matches the partial *event*."""
    merged: list[dict[str, Allowed]] = [{}]
    for site in layout.clauses[1:]:
        pairs = product(merged, list_restrictions(event, site, layout))
        merged = [old | {name: old.get(name, new[name]) & new[name] for name in new} for old, new in pairs]
    return [restriction for restriction in merged if all(restriction.values())]


@lru_cache(maxsize=4096)  # a task repeats the same words in the same layouts
def _find_word_boxes(lemma: str, layout: Layout) -> tuple[Restriction, ...]:
    return tuple(
        {variable.name: allowed}
        for variable in layout.variables
        if (allowed := _find_word_positions(lemma, variable) & variable.domain)
    )


def _find_word_positions(lemma: str, variable: Variable) -> Allowed:
    """Return the positions of *lemma* among the values of a variable; none if the values are not words."""
    if variable.name.endswith("det"):  # a pair of number and lemma
        return frozenset(i for i, pair in enumerate(variable.values) if pair[1] == lemma)
    if variable.group is None and not variable.name.endswith(("rel", "modal")):
        return frozenset()
    return frozenset(i for i, value in enumerate(variable.values) if value == lemma)


@lru_cache(maxsize=64)  # a task makes thousands of spaces from the same words
def find_verbs_without_progressive(
    words: Words, lexicon: Lexicon, flags: frozenset[Flag] = NO_PROGRESSIVE
) -> dict[Kind, Allowed]:
    """Return, by kind of verb, the positions in ``words.verbs`` of the verbs with any of *flags*, such as stative."""
    flagged_by_kind: dict[Kind, Allowed] = {}
    for frame, verbs in words.verbs_by_frame.items():
        kind = Kind(frame.value)
        words_by_number = {i: lexicon.get(words.verbs[i], kind) for i in verbs}
        flagged_by_kind[kind] = frozenset(i for i, word in words_by_number.items() if flags & word.flags)
    return {kind: flagged for kind, flagged in flagged_by_kind.items() if flagged}


def _find_progressive_boxes(verbs: dict[Kind, Allowed], layout: Layout) -> list[Restriction]:
    aspects = list(Aspect)
    progressive = frozenset([aspects.index(Aspect.PROGRESSIVE)])
    return [
        {f"{site.path}verb": verbs[kind], f"{site.path}aspect": progressive}
        for site in layout.clauses
        if (kind := Kind(site.frame.value)) in verbs
    ]


def _find_contraction_boxes(modals: Allowed, layout: Layout) -> list[Restriction]:
    contracted = frozenset([NEGATIONS.index(Negator.CONTRACTED.value)])
    return [
        {f"{site.path}modal": modals, f"{site.path}negation": contracted}
        for site in layout.clauses
        if site.form.is_modal
    ]
