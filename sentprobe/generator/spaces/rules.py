"""The rules of a space, from its settings and the grammar. A rule excludes the events inside or outside some boxes.

A box has allowed values of variables. Boxes exclude, for example, a noun whose sort a word does not accept (a thing
that sleeps), and a reflexive, *ever* or *any* that is not licensed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, product

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import GENDERS, accepts_asked
from sentprobe.generator.events.event import (
    GAP,
    Asked,
    Aspect,
    Dative,
    Event,
    Frame,
    Mood,
    Negator,
    Polarity,
    Role,
    Tense,
    Voice,
)
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.sentences.realize import WITHOUT_AUXILIARY, find_last_role
from sentprobe.generator.spaces.constraints import Allowed, Choices, Constraints, Words
from sentprobe.generator.spaces.layout import (
    DRAWN_ASPECTS,
    NEGATIONS,
    ClauseSite,
    Group,
    Layout,
    RequestedAspects,
    Restriction,
    Variable,
)
from sentprobe.generator.spaces.object_readings import find_object_boxes, has_object_readings, iterate_order_rules
from sentprobe.generator.spaces.restrictions import Rule, list_restrictions
from sentprobe.grammars.shapes import find_subject_role
from sentprobe.lexicon import Flag, Form, Kind, Lexicon
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import MODIFIED, NAMED, NO_PROGRESSIVE, PLACE, ROLES, TIME


@dataclass(frozen=True, slots=True)
class SortBan:
    """Words of one kind, and the nouns that none of these words accepts. Both are indices into the tuples of ``Words``.

    ``role`` is the role in which verbs do not accept the nouns. For adjectives and relativizers, it is ``MODIFIED``.
    """

    kind: Kind
    role: str
    words: Allowed
    nouns: Allowed


@lru_cache(maxsize=64)  # a task makes thousands of spaces from the same words
def find_sort_bans(words: Words, lexicon: Lexicon) -> tuple[SortBan, ...]:
    """Return the sort bans for *words*. For example, all transitive verbs whose agent must be a person share a ban."""
    nouns_by_sorts: dict[tuple[str, ...], set[int]] = {}
    for i, noun in enumerate(words.nouns):
        nouns_by_sorts.setdefault(lexicon.get(noun, Kind.NOUN).sorts, set()).add(i)
    lemmas = {
        Kind(frame.value): {i: words.verbs[i] for i in sorted(verbs)} for frame, verbs in words.verbs_by_frame.items()
    }
    lemmas[Kind.RELATIVIZER] = dict(enumerate(words.relativizers))
    lemmas[Kind.ADJECTIVE] = dict(enumerate(words.adjectives))
    bans: dict[tuple[Kind, str, Allowed], list[int]] = {}
    for kind, lemmas_by_number in lemmas.items():
        for number, lemma in lemmas_by_number.items():
            word = lexicon.get(lemma, kind)
            for role in ROLES.get(kind, (MODIFIED,)):
                banned = (nouns for sorts, nouns in nouns_by_sorts.items() if not word.accepts(sorts, role))
                bans.setdefault((kind, role, frozenset(chain.from_iterable(banned))), []).append(number)
    return tuple(SortBan(kind, role, frozenset(same), nouns) for (kind, role, nouns), same in bans.items() if nouns)


def find_asked_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> list[Restriction]:
    """Return a list with the box of main verbs that do not accept the question word. If there are none, return []."""
    main = layout.clauses[0]
    banned = main.form.asked and _find_verbs_without_question(words, lexicon, main.frame, main.form.asked)
    return [{"verb": banned}] if banned else []


@lru_cache(maxsize=256)  # a task makes thousands of spaces from the same words
def _find_verbs_without_question(words: Words, lexicon: Lexicon, frame: Frame, form: tuple[Role, Asked]) -> Allowed:
    role, asked = form
    verbs = ((i, lexicon.get(words.verbs[i], Kind(frame.value))) for i in words.verbs_by_frame[frame])
    return frozenset(i for i, verb in verbs if not accepts_asked(asked, verb, role, lexicon))


def find_sort_boxes(bans: Iterable[SortBan], layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of a layout in which a noun has a sort that its verb, adjective or relativizer excludes."""
    names = {variable.name for variable in layout.variables}
    for (kind, role, word, noun), ban in product(_list_sort_pairs(layout), bans):
        if (ban.kind, ban.role) == (kind, role) and {word, noun} <= names:
            yield {noun: ban.nouns, word: ban.words}  # nouns first: sorts cut few boxes


def find_conjunct_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of a layout in which coordinated nouns have different sorts: "the man and the key"."""
    nouns_by_sort: dict[str, set[int]] = {}
    for i, noun in enumerate(words.nouns):
        nouns_by_sort.setdefault(lexicon.get(noun, Kind.NOUN).sort, set()).add(i)
    every = frozenset(range(len(words.nouns)))
    for path, nouns in product(layout.coordinations, nouns_by_sort.values()):
        if others := every - nouns:
            yield {f"{path}noun": frozenset(nouns), f"{path}conjunct.noun": others}


def _list_sort_pairs(layout: Layout) -> Iterator[tuple[Kind, str, str, str]]:
    """Yield (word's kind, noun's role, word's variable, noun's variable) for each word that restricts a noun's sort."""
    for site in layout.clauses:
        kind = Kind(site.frame.value)
        yield Kind.RELATIVIZER, MODIFIED, f"{site.owner}rel", f"{site.owner}noun"
        for role in ROLES[kind]:
            is_gap = site.gap is not None and site.gap.value == role
            # A reflexive has no noun: the sort that its verb asks for is that of the agent (the first role).
            is_bound = site.form.reflexive is not None and site.form.reflexive.value == role
            owner = site.owner if is_gap else f"{site.path}{ROLES[kind][0] if is_bound else role}."
            yield kind, role, f"{site.path}verb", f"{owner}noun"
            yield kind, role, f"{site.path}verb", f"{owner}conjunct.noun"
    for variable in layout.variables:
        if variable.group is Group.ADJECTIVE:
            yield Kind.ADJECTIVE, MODIFIED, variable.name, f"{variable.name.rpartition('.')[0]}.noun"


_POSITIVE = frozenset([NEGATIONS.index(ev.Polarity.POSITIVE.value)])


def find_reflexive_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of sentences whose reflexive, such as *herself*, differs from the agent in number or gender."""
    role = layout.clauses[0].form.reflexive
    if role is None:
        return
    genders = [lexicon.get(noun, Kind.NOUN).gender for noun in words.nouns]
    for i, word in enumerate(ev.Reflexive):
        reflexive = {f"{role.value}.self": frozenset([i])}
        if "agent." in layout.coordinations:
            # Two nouns are plural, so that every singular reflexive is out.
            if word.number is ev.Number.SINGULAR:
                yield reflexive
            continue
        wrong_numbers = frozenset(at for at, (number, _) in enumerate(words.determiners) if number != word.number)
        wrong_nouns = frozenset(at for at, gender in enumerate(genders) if gender not in ("", GENDERS[word]))
        if wrong_numbers:
            yield {**reflexive, "agent.det": wrong_numbers}
        # "themselves" has no gender.
        if wrong_nouns and GENDERS[word]:
            yield {**reflexive, "agent.noun": wrong_nouns}


@lru_cache(maxsize=64)  # a task makes thousands of spaces from the same words
def has_polarity_items(words: Words, lexicon: Lexicon) -> bool:
    """Say whether *words* has a polarity item (*any*, *ever*) among its determiners and adverbs."""
    determiners = (lexicon.get(lemma, Kind.DETERMINER) for _, lemma in words.determiners)
    adverbs = (lexicon.get(lemma, Kind.ADVERB) for lemma in words.adverbs)
    return any(Flag.NPI in word.flags for word in (*determiners, *adverbs))


def find_polarity_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of sentences in which a polarity item stands neither in a question nor after a negation."""
    determiners = frozenset(
        i for i, (_, d) in enumerate(words.determiners) if Flag.NPI in lexicon.get(d, Kind.DETERMINER).flags
    )
    adverbs = frozenset(i for i, a in enumerate(words.adverbs) if Flag.NPI in lexicon.get(a, Kind.ADVERB).flags)
    # An adverb follows the negation wherever it stands; a determiner does unless its noun is the subject.
    for site in (site for site in layout.clauses if site.form.mood is not ev.Mood.QUESTION):
        for i in range(site.adverbs if adverbs else 0):
            yield {f"{site.path}adverb{i}": adverbs, f"{site.path}negation": _POSITIVE}
        for phrase in site.phrases if determiners else ():
            tails = ("",) if phrase.conjunct_adjectives is None else ("", "conjunct.")
            for tail, box in product(tails, _list_unlicensed(site, phrase.path)):
                yield {f"{phrase.path}{tail}det": determiners, **box}


def _list_unlicensed(site: ClauseSite, path: str) -> Iterator[Restriction]:
    """Yield a box for each voice and dative form of a clause. In a box, no negation precedes the phrase at *path*."""
    datives = [(i, str(d)) for i, d in enumerate(ev.Dative) if site.varies_dative or d is site.dative] or [(0, "")]
    for (i, voice), (j, dative) in product(enumerate(ev.Voice), datives):
        if site.voice in (None, voice):
            is_subject = path == f"{site.path}{find_subject_role(voice, dative)}."
            box = {} if is_subject else {f"{site.path}negation": _POSITIVE}
            box |= {} if site.voice else {f"{site.path}voice": frozenset([i])}
            yield {**box, f"{site.path}dative": frozenset([j])} if site.varies_dative else box


POLARITY = "negations and questions around ever and any"
"""The text of the rule that the polarity items *ever* and *any* need a negation or a question."""


def list_requested_aspects(choices: Choices, constraints: Constraints, language: Language) -> RequestedAspects:
    """Return the requested aspects that choices or constraints name for main clauses, and those for relative clauses.

    A required event may match any clause, so an aspect that it names is possible in all clauses.
    """
    if not language.requested_aspects:
        return DRAWN_ASPECTS

    def collect(clauses: Iterable[Event]) -> frozenset[str]:
        return frozenset(str(clause.aspect) for clause in clauses) & language.requested_aspects

    required = (*constraints.required, *constraints.required_any)
    anywhere = [clause for event in required for clause, _ in ev.iterate_clauses(event)]
    inner = [clause for clause, head in ev.iterate_clauses(choices.main) if head is not None]
    return collect([choices.main, *anywhere]), collect([choices.clause, *inner, *anywhere])


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
    requested = list_requested_aspects(choices, constraints, lexicon.language)
    if any(Aspect.PERFECT_PROGRESSIVE in aspects for aspects in requested):
        find_boxes = partial(_find_perfect_progressive_boxes, lexicon.language)
        yield Rule("a perfect progressive has no passive", find_boxes, is_ban=True)
    # Commas show where a relative clause ends; only subject and object may then be unclear, if no case decides.
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
    """Yield the rules of the grammar and of the vocabulary, such as those on progressives, questions and sorts."""
    flags = NO_PROGRESSIVE - choices.allow if Aspect.PROGRESSIVE in lexicon.language.aspects else frozenset[Flag]()
    for flag_set in [frozenset([flag]) for flag in sorted(flags)] if is_detailed else [flags]:
        if verbs := find_verbs_without_progressive(words, lexicon, flag_set):
            text = f"leaving out {' and '.join(sorted(flag_set))} verbs in the progressive (see --allow)"
            yield Rule(text, partial(_find_progressive_boxes, verbs, lexicon.language), is_ban=True)
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
    yield from _iterate_phrase_rules(words, lexicon, choices)
    if words.event_adverbs and words.states:
        yield Rule("leaving out sudden and repeated states", partial(_find_state_boxes, words), is_ban=True)
    if words.uniform_conjuncts and {*choices.coordinations} != {0}:
        yield Rule("coordinated nouns of one sort", partial(find_conjunct_boxes, words, lexicon), is_ban=True)
    if words.separate_agents and words.verbs_by_frame[Frame.DITRANSITIVE]:
        yield Rule("leaving out two agents in a row: by ... by ...", _find_agent_boxes, is_ban=True)
    if bans := find_sort_bans(words, lexicon):
        text = "the sorts of nouns that verbs and relativizers take"
        # A relativizer that no noun of the vocabulary takes (who, among things) is named, since the user chose it.
        unusable = (ban.words for ban in bans if ban.kind is Kind.RELATIVIZER and len(ban.nouns) == len(words.nouns))
        if lemmas := [words.relativizers[i] for i in sorted(frozenset().union(*unusable))]:
            text += f" ({' and '.join(lemmas)}: no noun of the vocabulary)"
        yield Rule(text, partial(find_sort_boxes, bans), is_ban=True)


def _iterate_phrase_rules(words: Words, lexicon: Lexicon, choices: Choices) -> Iterator[Rule]:
    """Yield the rules of numerals, names and adjuncts."""
    if any(words.language.phrases.get(determiner) in NAMED for _, determiner in words.determiners):
        yield Rule("names without determiners and modifiers", partial(_find_name_boxes, words, lexicon), is_ban=True)
    bounded = frozenset(i for i, (_, d) in enumerate(words.determiners) if " " in d)
    if bounded:
        text = "leaving out bounds such as at least in negated clauses"
        yield Rule(text, partial(_find_bound_boxes, bounded), is_ban=True)
    if choices.counted is not None:
        yield Rule("one noun with a numeral or name", partial(_find_count_boxes, words, choices.counted), is_ban=True)
    if words.adjuncts:
        yield Rule("no time or place after a relative clause", _find_closing_boxes, is_ban=True)
        text = "no place at the end after a common noun, which could be there (see --fronting adjunct-first)"
        yield Rule(text, partial(_find_place_boxes, words, lexicon), is_ban=True)
        text = "leaving out times in the present, and states at a time or place"
        yield Rule(text, partial(_find_adjunct_boxes, words, lexicon), is_ban=True)


def _find_closing_boxes(layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of main clauses with an adjunct after a relative clause, which could have the adjunct, too."""
    owners = {site.owner for site in layout.clauses[1:]}
    yield from (box for last, box in _list_endings(layout) if last in owners)


def _find_place_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of main clauses with a place after a common noun: "saw the lawyer in Berlin"."""
    sites = enumerate(lexicon.get(adjunct, Kind.ADJUNCT).sort for adjunct in words.adjuncts)
    places = frozenset(i for i, sort in sites if sort == PLACE)
    phrases = words.language.phrases
    common = frozenset(i for i, (_, d) in enumerate(words.determiners) if phrases.get(d) not in NAMED)
    names = {variable.name for variable in layout.variables}
    for last, box in _list_endings(layout) if places and common else ():
        determiner = f"{last}conjunct.det" if last in layout.coordinations else f"{last}det"
        if determiner in names:  # else a reflexive or question word
            yield {**box, determiner: common, "adjunct": places}


def _list_endings(layout: Layout) -> Iterator[tuple[str, Restriction]]:
    """Yield (path, box): where an adjunct ends a main clause, the noun phrase before it, unless it is the subject."""
    main = layout.clauses[0]
    if not main.form.has_adjunct or main.form.fronting is not None:
        return
    voices = enumerate(Voice) if main.voice is None else [(0, main.voice)]
    for (i, voice), (j, dative) in product(voices, enumerate(Dative) if main.varies_dative else [(0, main.dative)]):
        clause = Event(frame=main.frame, voice=voice, dative=dative, mood=main.form.mood)
        if main.form.asked is not None:
            clause = clause.with_argument(*main.form.asked)
        if (last := find_last_role(clause)) is not clause.subject:
            box = {} if main.voice else {"voice": frozenset([i])}
            yield f"{last.value}.", {**box, "dative": frozenset([j])} if main.varies_dative else box


def _find_adjunct_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of events at a time in the present, of states with an adjunct, and of a noun that is in it, too."""
    main = layout.clauses[0]
    if not main.form.has_adjunct:
        return
    sites = [lexicon.get(adjunct, Kind.ADJUNCT) for adjunct in words.adjuncts]
    times = frozenset(i for i, site in enumerate(sites) if site.sort == TIME)
    names = {variable.name for variable in layout.variables}
    if times and "tense" in names:
        yield {"tense": frozenset([list(Tense).index(Tense.PRESENT)]), "adjunct": times}
    verbs = find_verbs_without_progressive(words, lexicon, frozenset([Flag.STATIVE]))
    if states := words.states & words.verbs_by_frame[main.frame] | verbs.get(Kind(main.frame.value), frozenset()):
        yield {"verb": states}
    for i, site in enumerate(sites):
        nouns = frozenset(j for j, noun in enumerate(words.nouns) if noun in site.forms.values())
        for variable in layout.variables if nouns else ():
            if variable.group is Group.NOUN:
                yield {variable.name: nouns, "adjunct": frozenset([i])}


def _find_bound_boxes(bounded: Allowed, layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of negated clauses with a bounded numeral, such as "did not help at least two doctors"."""
    # "did not help at least two" has two readings, by which of negation and numeral comes first.
    negative = frozenset(range(len(NEGATIONS))) - _POSITIVE
    for site in layout.clauses:
        for phrase in site.phrases:
            for tail in ("",) if phrase.conjunct_adjectives is None else ("", "conjunct."):
                yield {f"{phrase.path}{tail}det": bounded, f"{site.path}negation": negative}


def _find_count_boxes(words: Words, counted: tuple[str, frozenset[str]], layout: Layout) -> Iterator[Restriction]:
    """Yield boxes in which the counted noun has another determiner, or another noun has a numeral or is a name."""
    path, lemmas = counted
    for variable in (variable for variable in layout.variables if variable.name.endswith("det")):
        allowed = (
            lemmas if variable.name == f"{path}det" else {d for _, d in words.determiners} - {*words.language.phrases}
        )
        yield {variable.name: frozenset(i for i, (_, d) in enumerate(words.determiners) if d not in allowed)}


def _find_name_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield boxes in which a noun has the determiner of another kind of noun, or a name has a modifier."""
    special = words.language.phrases
    phrases = [special.get(d, "") if special.get(d) in NAMED else "" for _, d in words.determiners]
    noun_phrases = [lexicon.get(noun, Kind.NOUN).phrase for noun in words.nouns]
    modified = {site.owner for site in layout.clauses} | {
        variable.name.rpartition("adjective")[0] for variable in layout.variables if variable.group is Group.ADJECTIVE
    }
    for path in (v.name.removesuffix("noun") for v in layout.variables if v.group is Group.NOUN):
        if path in modified:
            yield {f"{path}det": frozenset(i for i, phrase in enumerate(phrases) if phrase)}
        for kind in ("", *sorted(NAMED)):
            determiners = frozenset(i for i, phrase in enumerate(phrases) if phrase == kind)
            others = frozenset(i for i, phrase in enumerate(noun_phrases) if phrase != kind)
            if determiners and others:
                yield {f"{path}det": determiners, f"{path}noun": others}


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
            # The last object before the by-phrase: "the book was sold to the man that was called by ... by ...".
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
        # Values may coincide in a variable of the modified noun: both restrictions hold there.
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
    if variable.group is None and not variable.name.endswith(("rel", "modal", "adjunct")):
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


def _find_progressive_boxes(verbs: dict[Kind, Allowed], language: Language, layout: Layout) -> list[Restriction]:
    progressive = frozenset(i for i, aspect in enumerate(language.aspects) if aspect in ev.PROGRESSIVES)
    return [
        {f"{site.path}verb": verbs[kind], f"{site.path}aspect": progressive}
        for site in layout.clauses
        if (kind := Kind(site.frame.value)) in verbs
    ]


def _find_perfect_progressive_boxes(language: Language, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of passives in the perfect progressive, such as "has been being helped"."""
    aspect = language.aspects.index(Aspect.PERFECT_PROGRESSIVE)
    for site, passive in ((site, _find_passive(site)) for site in layout.clauses):
        if passive is not None:
            yield {**passive, f"{site.path}aspect": frozenset([aspect])}


def _find_contraction_boxes(modals: Allowed, layout: Layout) -> list[Restriction]:
    contracted = frozenset([NEGATIONS.index(Negator.CONTRACTED.value)])
    return [
        {f"{site.path}modal": modals, f"{site.path}negation": contracted}
        for site in layout.clauses
        if site.form.is_modal
    ]
