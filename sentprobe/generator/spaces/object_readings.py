"""Rules against ambiguous objects. In "sold the doctor that sang the book", both verbs can take *the book*.

In languages such as German, the case of a noun tells the subject from the object. If no case decides ("die Frau sieht
die Katze"), a main clause has the subject first, and a relative clause is excluded.
"""

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from itertools import product
from typing import NamedTuple

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event import Frame, Negator, Role, Voice
from sentprobe.generator.spaces.constraints import Allowed, Choices, Words
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseSite, Layout, Restriction
from sentprobe.generator.spaces.restrictions import Rule
from sentprobe.lexicon import Flag, Kind, Lexicon


def iterate_order_rules(words: Words, lexicon: Lexicon, choices: Choices) -> Iterator[Rule]:
    """Yield a rule against ambiguous clauses ("die die Katze sieht") and one against sentence adverbs after "nicht"."""
    if not choices.ambiguous:
        text = "leaving out relative clauses and early objects where no case decides"
        yield Rule(text, partial(_find_undecided_boxes, words, lexicon, choices), is_ban=True)
    adverbs = (lexicon.get(adverb, Kind.ADVERB) for adverb in words.adverbs)
    flagged = frozenset(i for i, adverb in enumerate(adverbs) if Flag.SENTENCE in adverb.flags)
    if flagged and {*choices.adverbs, *choices.adverbs_in_clauses} != {0}:
        text = "leaving out adverbs that do not follow a negation"
        yield Rule(text, partial(_find_negated_boxes, flagged), is_ban=True)


def _find_undecided_boxes(words: Words, lexicon: Lexicon, choices: Choices, layout: Layout) -> Iterator[Restriction]:
    """Yield boxes of clauses to exclude: clauses in which no case form tells the subject from the object."""
    for site in layout.clauses:
        if (
            (choices.decided or site.owner or site.form.fronting)
            and site.frame is Frame.TRANSITIVE
            and site.voice in (None, Voice.ACTIVE)
        ):
            paths = (
                site.owner if site.gap is role else f"{site.path}{role.value}." for role in (Role.AGENT, Role.PATIENT)
            )
            pairs = product(*(list_undecided(words, lexicon, path) for path in paths))
            voice = {} if site.voice else {f"{site.path}voice": frozenset([0])}
            yield from ({**first, **second, **voice} for first, second in pairs)


@lru_cache(maxsize=1024)
def list_undecided(words: Words, lexicon: Lexicon, path: str) -> tuple[dict[str, Allowed], ...]:
    """Return boxes of noun phrases with equal nominative and accusative (*die Katze*). Each box has one determiner."""
    boxes = []
    for i, (number, lemma) in enumerate(words.determiners):
        phrases = [_list_phrases(lemma, number, noun, lexicon) for noun in words.nouns]
        nouns = frozenset(j for j, (nominative, accusative) in enumerate(phrases) if nominative == accusative)
        if nouns:
            boxes.append({f"{path}det": frozenset([i]), f"{path}noun": nouns})
    return tuple(boxes)


def _list_phrases(determiner: str, number: str, noun: str, lexicon: Lexicon) -> list[tuple[str, str]]:
    """Return two pairs of forms (determiner, noun): the nominative and the accusative."""
    language, word = lexicon.language, lexicon.get(noun, Kind.NOUN)
    forms = lexicon.get(determiner, Kind.DETERMINER).forms
    return [
        (
            forms[language.find_form("det", number, case, language.find_class(word))],
            word.forms[language.find_noun_form(number, case)],
        )
        for case in ("nom", "acc")
    ]


def _find_negated_boxes(adverbs: Allowed, layout: Layout) -> list[Restriction]:
    negations = frozenset([NEGATIONS.index(Negator.NOT.value)])
    return [
        {f"{site.path}negation": negations, f"{site.path}adverb{i}": adverbs}
        for site in layout.clauses
        for i in range(site.adverbs)
    ]


class ObjectFrame(NamedTuple):
    """The features of an active clause that determine its objects; ``gap`` is the role of a gap or question word."""

    frame: ev.Frame
    dative: ev.Dative | None = None
    gap: ev.Role | None = None

    def list_objects(self) -> tuple[tuple[str, ev.Role], ...]:
        """Return the objects in word order, each as its preposition ("" if none) and its role."""
        patient, recipient = ("", ev.Role.PATIENT), ("to", ev.Role.RECIPIENT)
        if self.frame is ev.Frame.DITRANSITIVE:
            return (("", recipient[1]), patient) if self.dative is ev.Dative.DOUBLE else (patient, recipient)
        return (patient,) if self.frame is ev.Frame.TRANSITIVE else ()

    def list_words(self) -> tuple[str, ...]:
        """Return what follows the verb, in order: prepositions, and "NP" for each object that is not the gap."""
        return tuple(
            word for to, role in self.list_objects() for word in (to, "NP" if role is not self.gap else "") if word
        )

    @property
    def first_object(self) -> ev.Role | None:
        """The role of the first object that is not the gap, or None."""
        return next((role for _, role in self.list_objects() if role is not self.gap), None)


_MAIN = (ObjectFrame(ev.Frame.TRANSITIVE), *(ObjectFrame(ev.Frame.DITRANSITIVE, dative) for dative in ev.Dative))


@cache
def _list_clauses() -> tuple[ObjectFrame, ...]:
    clauses = [ObjectFrame(ev.Frame.INTRANSITIVE, None, ev.Role.AGENT)]
    clauses += [main._replace(gap=role) for main in _MAIN for role in ev.FRAME_ROLES[main.frame]]
    # In "gave me it", no gap can stand for "me" (see Event.can_extract).
    clauses.remove(ObjectFrame(ev.Frame.DITRANSITIVE, ev.Dative.DOUBLE, ev.Role.RECIPIENT))
    return tuple(clauses)


@cache
def _find_readings(main: ObjectFrame, clause: ObjectFrame) -> tuple[tuple[ev.Frame, ev.Frame], ...]:
    """Return all alternative readings of a sentence with these two clauses, each as (main frame, clause frame)."""

    def list_words(main: ObjectFrame, clause: ObjectFrame) -> tuple[object, ...]:
        outer = main.list_words()
        at = outer.index("NP")
        # The truth value says how the clause starts: with its verb ("that sold") or its subject ("that the man sold").
        return (*outer[:at], clause.gap is ev.Role.AGENT, *clause.list_words(), *outer[at + 1 :])

    words = list_words(main, clause)
    mains = [c for c in _list_clauses() if c.gap is not ev.Role.AGENT and c.first_object] if main.gap else _MAIN
    others = ((m, c) for m, c in product(mains, _list_clauses()) if (m, c) != (main, clause))
    return tuple((m.frame, c.frame) for m, c in others if list_words(m, c) == words)


@lru_cache(maxsize=1024)
def _find_shared_verbs(words: Words, lexicon: Lexicon, frame: ev.Frame, other: ev.Frame) -> Allowed:
    """Return the positions in ``words.verbs`` of verbs with *frame* that also have the frame *other* in *lexicon*."""
    verbs = words.verbs_by_frame[frame]
    if frame is other:
        return verbs
    return frozenset(number for number in verbs if Kind(other.value) in lexicon.kinds_of(words.verbs[number]))


def has_object_readings(words: Words, lexicon: Lexicon) -> bool:
    """Say whether *words* has ditransitive verbs or verbs with two frames, so that an object can be ambiguous."""
    pairs = product(ev.Frame, repeat=2)
    return bool(words.verbs_by_frame[ev.Frame.DITRANSITIVE]) or any(
        frame is not other and _find_shared_verbs(words, lexicon, frame, other) for frame, other in pairs
    )


def find_object_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of ambiguous sentences: one object could belong to the main clause or to a relative clause."""
    main = layout.clauses[0]
    if main.frame is ev.Frame.INTRANSITIVE or main.voice is ev.Voice.PASSIVE:
        return
    for site, outer in product(layout.clauses[1:], _list_object_frames(main)):
        if site.voice is ev.Voice.PASSIVE or outer.first_object is None or site.owner != f"{outer.first_object}.":
            continue
        for inner in _list_object_frames(site):
            for frame, clause_frame in _find_readings(outer, inner):
                verbs = _find_shared_verbs(words, lexicon, outer.frame, frame)
                clause_verbs = _find_shared_verbs(words, lexicon, inner.frame, clause_frame)
                if verbs and clause_verbs:
                    box = {"verb": verbs, f"{site.path}verb": clause_verbs}
                    if main.voice is None:
                        box["voice"] = frozenset([0])  # active
                    yield {**box, **_restrict_dative(main, outer), **_restrict_dative(site, inner)}


def _list_object_frames(site: ClauseSite) -> Iterator[ObjectFrame]:
    asked = site.form.asked[0] if site.form.asked else None
    gap = site.gap or (asked if asked is not ev.Role.AGENT else None)
    for dative in ev.Dative if site.varies_dative else (site.dative,):
        yield ObjectFrame(site.frame, dative, gap)


def _restrict_dative(site: ClauseSite, frame: ObjectFrame) -> Restriction:
    allowed = frozenset(i for i, dative in enumerate(ev.Dative) if dative is frame.dative)
    return {f"{site.path}dative": allowed} if site.varies_dative else {}
