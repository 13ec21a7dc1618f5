"""Ambiguous attachment of adverbs: in "the man that slept quietly danced", both verbs can take *quietly*."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.matching import subsumes
from sentprobe.generator.sentences.realize import realize, render_tree
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_plan import plan_sentence
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.language import Language

MAX_READINGS = 64
"""Maximum number of readings (interpretations) of a parse; the number doubles with each ambiguous adverb."""
WITHOUT_AUXILIARY = ev.Event(aspect=ev.Aspect.SIMPLE, voice=ev.Voice.ACTIVE, polarity=ev.Polarity.POSITIVE)
"""Partial event that matches clauses without an auxiliary; in them, adverbs directly follow the subject."""


class AdverbSite(NamedTuple):
    """Adverbs of the clause at ``path``. They could also modify the verb of a relative clause that ends before them."""

    path: str
    adverbs: tuple[str, ...]
    closed_clause_paths: tuple[str, ...]


Attachment: TypeAlias = tuple[tuple[AdverbSite, str], ...]
"""One reading: pairs of ambiguous adverbs and the path of the clause whose verb these adverbs modify."""


def find_adverb_sites(event: ev.Event, path: str = "") -> Iterator[AdverbSite]:
    """Yield an AdverbSite for each clause of *event* that has ambiguous adverbs: "the man who sleeps often helps"."""
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            inner_path = f"{path}{role.value}.clause."
            if role is event.subject and event.adverbs and has_adverb_place_after_subject(event):
                yield AdverbSite(path, event.adverbs, (*_find_final_clauses(person.clause.event, inner_path),))
            yield from find_adverb_sites(person.clause.event, inner_path)


def has_adverb_place_after_subject(event: ev.Event) -> bool:
    """Say, from the features of a clause, whether its adverbs directly follow its subject."""
    if event.mood is ev.Mood.QUESTION:
        return event.negator is not ev.Negator.NOT
    return event.tense is not None and subsumes(WITHOUT_AUXILIARY, event)  # a modal has no tense


def _find_final_clauses(event: ev.Event, path: str) -> Iterator[str]:
    """Yield the path of a relative clause (*path*), then the path of each inner clause that ends at the same token."""
    yield path
    last = find_last_role(event)
    person = None if last is event.subject else event.argument(last)
    if isinstance(person, ev.Participant) and isinstance(person.clause, ev.RelativeClause):
        yield from _find_final_clauses(person.clause.event, f"{path}{last.value}.clause.")


def find_last_role(event: ev.Event) -> ev.Role:
    """Return the role of the noun that ends a relative clause. If no noun ends it, return the role of its gap."""
    if event.voice is ev.Voice.PASSIVE or event.frame is ev.Frame.INTRANSITIVE:
        return ev.Role.AGENT
    is_recipient_last = event.dative is ev.Dative.TO or (event.dative and event.patient is ev.GAP)
    return ev.Role.RECIPIENT if is_recipient_last else ev.Role.PATIENT


def count_readings(event: ev.Event) -> int:
    """Return the number of ways in which adverbs can attach in the sentence of *event*."""
    return prod(1 + len(site.closed_clause_paths) for site in find_adverb_sites(event))


def list_attachments(event: ev.Event) -> list[Attachment]:
    """Return the ways in which adverbs can attach in the sentence of *event*; the first way is the one in *event*."""
    sites = find_adverb_sites(event)
    return [*product(*([(site, path) for path in (site.path, *site.closed_clause_paths)] for site in sites))]


def list_readings(event: ev.Event) -> list[ev.Event]:
    """Return an event for each way in which adverbs can attach in the sentence of *event*; the first is *event*."""
    return [_move_adverbs(event, attachment) for attachment in list_attachments(event)]


def _move_adverbs(event: ev.Event, attachment: Attachment, path: str = "") -> ev.Event:
    is_moved = any(site.path == path != target for site, target in attachment)
    incoming_adverbs = [site.adverbs for site, target in attachment if target == path != site.path]
    event = replace(event, adverbs=sum(incoming_adverbs, () if is_moved else event.adverbs or ()))
    for role, person in ev.iterate_participants(event):
        clause = person.clause
        if isinstance(clause, ev.RelativeClause):
            inner = _move_adverbs(clause.event, attachment, f"{path}{role.value}.clause.")
            event = event.with_argument(role, replace(person, clause=replace(clause, event=inner)))
    return event


def realize_readings(event: ev.Event, lexicon: Lexicon, *, id: str = "") -> list[Sentence]:
    """Return a sentence for each way to attach an event's adverbs. Texts are equal; heads, tree and event differ."""
    sentence = realize(event, lexicon, id=id, checked=True)
    language = lexicon.language
    _, *alternatives = [()] if language.closes_clauses else list_attachments(event)
    return [sentence, *(_attach(sentence, attachment, language) for attachment in alternatives)]


def _attach(sentence: Sentence, attachment: Attachment, language: Language) -> Sentence:
    """Return a copy of *sentence* with adverbs attached to other verbs: with new heads, tree and event."""
    plan = plan_sentence(sentence.event, language).tokens
    place_by_slot = {token.slot: place for place, token in enumerate(plan)}
    tokens = [*sentence.tokens]
    brackets = [[token.before, token.after] for token in plan]
    for (path, _, _), target in attachment:
        if target != path:
            verb = place_by_slot[f"{target}verb"]
            places = [place for slot, place in place_by_slot.items() if slot.startswith(f"{path}adverb")]
            first, last = min(places), max(places)
            for place in range(first, last + 1):
                tokens[place] = replace(tokens[place], head=verb + 1)
            _move_brackets(brackets, verb, first - 1, last)
    tree = render_tree([(before, after) for before, after in brackets], tuple(tokens))
    return replace(sentence, tokens=tuple(tokens), tree=tree, event=_move_adverbs(sentence.event, attachment))


def _move_brackets(brackets: list[list[str]], verb: int, end: int, last: int) -> None:
    """Move the closing brackets of the verb's phrase and of all phrases around it from token *end* to token *last*."""
    inner = _compute_depth(brackets, end) - _compute_depth(brackets, verb)
    closing = brackets[end][1]
    brackets[end][1] = closing[:inner]
    brackets[last][1] += closing[inner:]


def _compute_depth(brackets: list[list[str]], place: int) -> int:
    """Return the number of phrases that contain the token at *place*."""
    text = "".join(before + after for before, after in brackets[:place]) + brackets[place][0]
    return text.count("(") - text.count(")")
