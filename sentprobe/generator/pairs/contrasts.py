"""Contrasts: the properties in which a negative can differ from its anchor.

The table of contrasts says which clauses or nouns a contrast can change, which anchors it needs, and which edit makes
the negative. :func:`sentprobe.generator.events.meaning.find_differences` compares events without this table.

The form in which a positive differs from its anchor is the voice, a recipient's form, or the word order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from sentprobe.common.errors import UsageError, suggest
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import unify
from sentprobe.generator.pairs import drafts
from sentprobe.generator.pairs.drafts import MAIN, Edit, format_clause_path, parse_owner_role, swap_role
from sentprobe.generator.spaces.layout import list_participant_paths
from sentprobe.generator.spaces.templates import ClausePattern, Pattern
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language


def find_clause_paths(pattern: Pattern) -> tuple[str, ...]:
    """Return the path of each clause of a pattern, such as ``agent.clause.``, main clause (``""``) first."""
    return (MAIN, *(format_clause_path(role) for role, _ in pattern.clauses))


def find_transitive_paths(pattern: Pattern, frame: ev.Frame = ev.Frame.TRANSITIVE) -> tuple[str, ...]:
    """Return the paths of a pattern's clauses with the frame *frame*, by default transitive."""
    return tuple(path for path in find_clause_paths(pattern) if (_find_clause(pattern, path) or pattern).frame is frame)


def _find_clause(pattern: Pattern, path: str) -> ClausePattern | None:
    """Return the relative clause at *path* in a pattern, or None for the main clause."""
    return None if path == MAIN else dict(pattern.clauses)[parse_owner_role(path)]


def find_voice_paths(pattern: Pattern) -> tuple[str, ...]:
    """Return the paths of clauses that can be passive: transitive, or ditransitive if the agent is not the gap."""
    paths = []
    for path in find_clause_paths(pattern):
        clause = _find_clause(pattern, path)
        frame = pattern.frame if clause is None else clause.frame
        is_agent_gap = clause is not None and clause.gap is ev.Role.AGENT
        if frame is ev.Frame.TRANSITIVE or (frame is ev.Frame.DITRANSITIVE and not is_agent_gap):
            paths.append(path)
    return tuple(paths)


def find_dative_paths(pattern: Pattern) -> Iterator[str]:
    """Yield the ``dative`` variable of each clause that allows "gave the man the pen" and "gave the pen to the man"."""
    for path in find_transitive_paths(pattern, ev.Frame.DITRANSITIVE):
        clause = _find_clause(pattern, path)
        if clause is None or (clause.voice is ev.Voice.ACTIVE and clause.gap is not ev.Role.RECIPIENT):
            yield f"{path}{drafts.DATIVE}"


def build_structure_event(pattern: Pattern) -> ev.Event:
    """Return the partial event that matches exactly the events with the structure *pattern*."""
    event = ev.Event(frame=pattern.frame)
    for role, clause in pattern.clauses:
        inner = ev.Event(frame=clause.frame, voice=clause.voice).with_argument(clause.gap, ev.GAP)
        event = event.with_argument(role, ev.Participant(clause=ev.RelativeClause(event=inner)))
    return event


def _constrain_clause(pattern: Pattern, path: str, clause_event: ev.Event) -> ev.Event:
    """Return a partial event: its structure is *pattern*, and its clause at *path* matches *clause_event*."""
    structure = build_structure_event(pattern)
    if path == MAIN:
        return unify(structure, clause_event)
    owner = ev.Participant(clause=ev.RelativeClause(event=clause_event))
    return unify(structure, ev.Event().with_argument(parse_owner_role(path), owner))


def _build_structure_condition(pattern: Pattern, path: str) -> Iterator[ev.Event]:  # noqa: ARG001 - the table calls it
    yield build_structure_event(pattern)


def _build_equal_number_conditions(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield two partial events: agent and patient of the clause at *path* are both singular, or both plural."""
    for number in ev.Number:
        person = ev.Participant(number=number)
        if path == MAIN:
            yield _constrain_clause(pattern, path, ev.Event(agent=person, patient=person))
            continue
        gap = dict(pattern.clauses)[parse_owner_role(path)].gap
        inner = ev.Event().with_argument(swap_role(gap), person)
        outer = ev.Event().with_argument(parse_owner_role(path), person)
        yield unify(_constrain_clause(pattern, path, inner), outer)


def _find_recipient_places(pattern: Pattern) -> Iterator[str]:
    """Yield the paths of a pattern's agents and patients that can be exchanged with the recipient of their clause."""
    for path in find_transitive_paths(pattern, ev.Frame.DITRANSITIVE):
        clause = _find_clause(pattern, path)
        gap = clause and clause.gap
        if gap is not ev.Role.RECIPIENT:
            yield from (f"{path}{role.value}." for role in (ev.Role.AGENT, ev.Role.PATIENT) if role is not gap)


def _build_equal_recipient_conditions(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield one partial event per ``Number``. The noun at *path* and its clause's recipient both have this number."""
    clause_path = drafts.find_noun_clause(path)
    for number in ev.Number:
        person = ev.Participant(number=number)
        clause_event = ev.Event(recipient=person).with_argument(drafts.parse_noun_role(path), person)
        yield _constrain_clause(pattern, clause_path, clause_event)


def _build_opposite_polarity_conditions(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield two partial events in the progressive: only the main clause, or only the clause at *path*, is negated."""
    for main, inner in (ev.Polarity, [*ev.Polarity][::-1]):
        outer = ev.Event(polarity=main, aspect=ev.Aspect.PROGRESSIVE)
        inner_event = ev.Event(polarity=inner, aspect=ev.Aspect.PROGRESSIVE)
        yield unify(_constrain_clause(pattern, path, inner_event), outer)


def _build_progressive_condition(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield one partial event: its clause at *path* is progressive. This excludes verbs that have no progressive."""
    yield _constrain_clause(pattern, path, ev.Event(aspect=ev.Aspect.PROGRESSIVE))


def _build_perfect_conditions(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield two partial events: the clause at *path* is in the present, simple or perfect.

    In the past, one would follow from the other: who had helped also helped.
    """
    for aspect in (ev.Aspect.SIMPLE, ev.Aspect.PERFECT):
        yield _constrain_clause(pattern, path, ev.Event(tense=ev.Tense.PRESENT, aspect=aspect))


def _build_positive_condition(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield one partial event: the clause at *path*, or of the noun there, is positive.

    The voice would decide the scope of a "not" and a numeral.
    """
    yield _constrain_clause(pattern, drafts.find_noun_clause(path), ev.Event(polarity=ev.Polarity.POSITIVE))


def _build_modal_condition(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield one partial event: its clause at *path* has simple aspect and no "not". Modals alter the scope of "not"."""
    clause_event = ev.Event(polarity=ev.Polarity.POSITIVE, aspect=ev.Aspect.SIMPLE)
    yield _constrain_clause(pattern, path, clause_event)


def _build_auxiliary_condition(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Yield one partial event: progressive if an adverb could modify two verbs, because its place then tells which."""
    has_two_verbs = path == MAIN and pattern.clauses
    conditions = _build_progressive_condition if has_two_verbs else _build_structure_condition
    yield from conditions(pattern, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A property in which a negative differs from its anchor.

    ``find_places`` returns the paths of the clauses or nouns of a pattern that the contrast can change. The anchor must
    match one of the partial events that ``build_conditions`` yields for such a path. ``edit`` makes the negative.
    """

    name: str
    summary: str
    requirement: str = "a clause"
    """The clause or word that a sentence must have, as messages name it."""
    find_places: Callable[[Pattern], Iterable[str]] = find_clause_paths
    edit: Edit
    build_conditions: Callable[[Pattern, str], Iterator[ev.Event]] = _build_structure_condition
    same_words: bool = False
    """Whether a negative has the same words as a positive with the same voice and word order."""
    replaced_slot: str = ""
    """The variable, such as ``noun``, whose word the edit replaces by another word; "" if no word is replaced."""
    moves_nouns: bool = False
    """Whether the edit exchanges nouns or adjectives, so that all nouns must have the same sort (such as person)."""
    only_events: bool = False
    """Whether verbs without a progressive are left out: who has known something, as a rule, knows it."""
    exchanges_roles: bool = False
    """Whether agent and patient are exchanged, so that verbs that mean the same both ways are left out."""
    needed_kind: Kind | None = None
    """The kind of words that anchors need in the changed clause; if it is adjectives, each noun needs one."""
    list_determiners: Callable[[Language], tuple[str, ...]] | None = None
    """Function that returns the determiners (such as numerals) of the changed noun; no other noun has one of them."""
    moods: tuple[ev.Mood, ...] = (ev.Mood.STATEMENT,)
    """The moods that anchors can have."""
    in_orders: bool = False
    """Whether orders (imperatives), which have no agent, tense or aspect, can have the contrast in the main clause."""
    common_moods: tuple[ev.Mood, ...] = (*ev.Mood,)
    """The moods that can be required of all sentences of a triplet."""
    templates: tuple[str, ...] = ("all",)
    """The templates to which the template name ``all`` expands."""


_ROWS = (
    Contrast(
        name="role",
        summary="agent and patient of one clause are exchanged",
        requirement="a transitive clause",
        find_places=find_transitive_paths,
        edit=drafts.exchange_roles,
        build_conditions=_build_equal_number_conditions,
        same_words=True,
        moves_nouns=True,
        exchanges_roles=True,
    ),
    Contrast(
        name="recipient",
        summary="the recipient is exchanged with the agent or the patient",
        requirement="a ditransitive clause with an agent or patient that can be its recipient",
        find_places=_find_recipient_places,
        edit=drafts.exchange_recipient,
        build_conditions=_build_equal_recipient_conditions,
        same_words=True,
        needed_kind=Kind.DITRANSITIVE,
        templates=("ditransitive", "ditransitive-rc", "transitive-rc-ditransitive", "intransitive-rc-ditransitive"),
    ),
    Contrast(
        name="modifier",
        summary="the relative clauses belong to the other noun",
        requirement="a relative clause on the agent or the patient of a transitive main clause",
        find_places=lambda pattern: [MAIN] if pattern.frame is ev.Frame.TRANSITIVE and pattern.clauses else [],
        edit=drafts.exchange_modifiers,
        build_conditions=_build_equal_number_conditions,
        same_words=True,
        moves_nouns=True,
    ),
    Contrast(
        name="binding",
        summary="the adjectives of the agent and the patient of one clause are exchanged",
        requirement="a transitive clause",
        find_places=find_transitive_paths,
        edit=drafts.exchange_adjectives,
        same_words=True,
        moves_nouns=True,
        needed_kind=Kind.ADJECTIVE,
    ),
    Contrast(
        name="negation",
        summary="the negation moves to the other of two verbs",
        requirement="a relative clause",
        find_places=lambda pattern: find_clause_paths(pattern)[1:],
        edit=drafts.exchange_negations,
        build_conditions=_build_opposite_polarity_conditions,
        same_words=True,
    ),
    Contrast(
        name="polarity",
        summary="one clause is negated, or loses its negation",
        edit=drafts.toggle_negation,
        in_orders=True,
    ),
    Contrast(
        name="tense", summary="one clause is in the other tense", edit=partial(drafts.toggle_feature, name="tense")
    ),
    Contrast(
        name="aspect",
        summary="one clause is in the other aspect",
        edit=partial(drafts.toggle_feature, name="aspect"),
        build_conditions=_build_progressive_condition,
    ),
    Contrast(
        name="perfect",
        summary="one present clause becomes perfect, or a present perfect becomes simple",
        edit=drafts.toggle_perfect,
        build_conditions=_build_perfect_conditions,
        only_events=True,
    ),
    Contrast(
        name="modality",
        summary="one clause has another modal",
        edit=partial(drafts.replace_word, slot="modal"),
        build_conditions=_build_modal_condition,
        replaced_slot="modal",
        needed_kind=Kind.MODAL,
    ),
    Contrast(
        name="mood",
        summary="a statement becomes a yes/no question, or a question a statement",
        find_places=lambda _: (MAIN,),
        edit=drafts.toggle_mood,
        moods=(ev.Mood.STATEMENT, ev.Mood.QUESTION),
        common_moods=(),
    ),
    Contrast(
        name="number",
        summary="one noun is in the other number",
        requirement="a noun",
        find_places=list_participant_paths,
        edit=drafts.toggle_number,
    ),
    Contrast(
        name="numeral",
        summary="one numeral is replaced by another",
        requirement="a noun",
        find_places=list_participant_paths,
        edit=partial(drafts.replace_word, slot="det"),
        build_conditions=_build_positive_condition,
        list_determiners=Language.list_numerals,
    ),
    Contrast(
        name="name",
        summary="one name is replaced by another",
        requirement="a noun without a relative clause",
        find_places=list_participant_paths,
        edit=partial(drafts.replace_word, slot="noun"),
        replaced_slot="noun",
        list_determiners=Language.list_name_determiners,
    ),
    Contrast(
        name="adjunct",
        summary="the time or place of the main clause is replaced by another",
        find_places=lambda _: (MAIN,),
        edit=partial(drafts.replace_word, slot=drafts.ADJUNCT),
        build_conditions=_build_positive_condition,
        needed_kind=Kind.ADJUNCT,
        common_moods=(ev.Mood.STATEMENT,),
    ),
    Contrast(
        name="noun",
        summary="one noun is replaced by another",
        requirement="a noun",
        find_places=list_participant_paths,
        edit=partial(drafts.replace_word, slot="noun"),
        replaced_slot="noun",
    ),
    Contrast(
        name="verb",
        summary="one verb is replaced by another",
        requirement="a verb",
        edit=partial(drafts.replace_word, slot="verb"),
        in_orders=True,
        replaced_slot="verb",
    ),
    Contrast(
        name="adverb",
        summary="one adverb is replaced by another",
        requirement="an adverb",
        edit=partial(drafts.replace_word, slot="adverb0"),
        build_conditions=_build_auxiliary_condition,
        replaced_slot="adverb0",
        needed_kind=Kind.ADVERB,
    ),
)

CONTRASTS: Mapping[str, Contrast] = {row.name: row for row in _ROWS}


def find_contrast(name: str) -> Contrast:
    """Return the contrast with this name. Raises UsageError if it is unknown, with the nearest name."""
    if name not in CONTRASTS:
        raise UsageError(f"there is no contrast {name!r}{suggest(name, CONTRASTS)}; known: {', '.join(CONTRASTS)}")
    return CONTRASTS[name]


def is_decided_by_article(noun: Word) -> bool:
    """Say whether a noun is masculine with one singular form, so that only its article shows the case: *der Arzt*.

    >>> from sentprobe.lexicon import Kind, german
    >>> [is_decided_by_article(german().get(noun, Kind.NOUN)) for noun in ("Arzt", "Student", "Frau")]
    [True, False, False]
    """
    return noun.gender == "masc" and len({noun.forms[f"NN.sg.{case}"] for case in ("nom", "acc", "dat")}) == 1


_PLURAL = ev.Participant(number=ev.Number.PLURAL)
PLURALS = ev.Event(agent=_PLURAL), ev.Event(patient=_PLURAL)
"""Partial events with a plural noun, whose article is the same in the nominative and the accusative."""


def has_contrast(language: Language, contrast: Contrast) -> bool:
    """Say whether a language has the words, numerals or names, moods and forms of a contrast."""
    has_words = contrast.needed_kind in (None, *language.forms, *([Kind.ADJUNCT] if language.adjuncts else []))
    has_words = has_words and (contrast.list_determiners is None or bool(contrast.list_determiners(language)))
    return has_words and {*contrast.moods} <= {*language.moods} and contrast.name not in language.excluded_contrasts


def restrict_to_decided_nouns(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return a lexicon whose *vocabulary* has only the nouns that :func:`is_decided_by_article` accepts."""
    nouns = lexicon.vocabulary(vocabulary).words[Kind.NOUN]
    decided = [noun for noun in nouns if is_decided_by_article(lexicon.get(noun, Kind.NOUN))]
    return lexicon.replace_words(vocabulary, {Kind.NOUN: decided})


def adapt_aspects(event: ev.Event, language: Language) -> ev.Event:
    """Return *event* with the perfect in place of the progressive if the language has no progressive."""
    if ev.Aspect.PROGRESSIVE in language.aspects:
        return event
    if event.aspect is ev.Aspect.PROGRESSIVE:
        event = replace(event, aspect=ev.Aspect.PERFECT)
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            inner = adapt_aspects(person.clause.event, language)
            event = event.with_argument(role, replace(person, clause=replace(person.clause, event=inner)))
    return event


def find_form_changes(
    pattern: Pattern, language: Language, contrast: Contrast
) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield (paths, voice). If an anchor has this voice (None: any), changed forms at the paths give a positive."""
    if not language.has_fronting:
        moved = (drafts.ADJUNCT,) if contrast.needed_kind is Kind.ADJUNCT else ()
        yield from (((*paths, *moved), voice) for paths, voice in _find_voice_changes(pattern))
    elif pattern.frame is not ev.Frame.INTRANSITIVE:
        yield (drafts.FRONTING,), ev.Voice.ACTIVE


def _find_voice_changes(pattern: Pattern) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield (paths, voice): the paths that change, and the voice that the anchor's main clause must have (None: any).

    At first, *paths* are clauses that change voice. The number of passive clauses always changes. If it did not, the
    positive might share all words with the anchor. But the hard negative must share more words with the anchor than
    the positive does. At last, *paths* is a single variable ``dative``, which changes the form of one recipient.
    """
    paths = find_voice_paths(pattern)
    for size in range(1, len(paths) + 1):
        for voices in combinations(paths, size):
            inner = {dict(pattern.clauses)[drafts.parse_owner_role(p)].voice for p in voices if p}
            if size % 2:
                yield voices, None
            # An even number of changes keeps the number of passive clauses only if as many become active as passive;
            # the main clause and the inner ones must therefore start in one voice.
            elif len(inner) == 1:
                yield voices, inner.pop() if drafts.MAIN in voices else None
    yield from (((path,), None) for path in find_dative_paths(pattern))
