"""Realization of an event as an annotated sentence; the inverse of :mod:`.parse`.

Ambiguous attachment of adverbs: in "the man that slept quietly danced", both verbs can take *quietly*.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import (
    check_language,
    check_licenses,
    check_name,
    check_sorts,
    find_open_fields,
    infer_frames,
    subsumes,
)
from sentprobe.generator.sentences.sentence import Negation, Predicate, Sentence, Token
from sentprobe.generator.sentences.sentence_plan import (
    PlanToken,
    SentencePlan,
    choose_form,
    find_slots,
    plan_sentence,
    split_form,
)
from sentprobe.grammars.derivation import PARENT, Leaf
from sentprobe.lexicon import Form, Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language

SLOT_KINDS = {
    "noun": Kind.NOUN,
    "det": Kind.DETERMINER,
    "rel": Kind.RELATIVIZER,
    "adjective": Kind.ADJECTIVE,
    "adverb": Kind.ADVERB,
    "modal": Kind.MODAL,
    "adjunct": Kind.ADJUNCT,
}


def check_event(event: ev.Event, lexicon: Lexicon) -> None:
    """Raise UsageError unless *event* is fully specified and the words of *lexicon* can realize it."""
    missing = list(find_open_fields(event))
    if missing:
        raise UsageError(f"the event is only partly specified: {', '.join(missing)} left open")
    for clause, modified in ev.iterate_clauses(event):
        if (modified is None) != (clause.gap is None):
            raise UsageError(f"{clause.predicate}: a relative clause has one gap, and a main clause has none")
        # A question word is moved from its place like a gap, so the same roles cannot be asked for.
        role = clause.gap or clause.asked
        if role is not None and not clause.can_extract(role):
            form = "a passive" if clause.voice is ev.Voice.PASSIVE else "an active double-object"
            raise UsageError(f"{clause.predicate}: the {role} of {form} clause with a recipient cannot be left out")
        check_language(clause, lexicon.language)
        lexicon.get(clause.predicate or "", Kind(str(clause.frame)))
        for adverb in clause.adverbs or ():
            lexicon.get(adverb, Kind.ADVERB)
        if clause.modal is not None:
            modal = lexicon.get(clause.modal, Kind.MODAL)
            if clause.negator is ev.Negator.CONTRACTED and Form.MD_NEG not in modal.forms:
                raise UsageError(f"the modal {modal.lemma!r} has no form before n't; use not")
        if clause.adjunct is not None:
            lexicon.get(clause.adjunct, Kind.ADJUNCT)
            if clause.fronting is None and ends_in_clause(clause):
                raise UsageError(f"{clause.adjunct!r} cannot follow a relative clause, which could have it, too")
        for _, person in ev.iterate_participants(clause):
            for conjunct in person.conjuncts:
                _check_participant(conjunct, lexicon)
    check_licenses(event, lexicon)
    check_sorts(event, lexicon)


def _check_participant(person: ev.Participant, lexicon: Lexicon) -> None:
    check_name(person, lexicon)
    noun = lexicon.get(person.noun or "", Kind.NOUN)
    determiner = lexicon.get(person.determiner or "", Kind.DETERMINER)
    words = [*(lexicon.get(lemma, Kind.ADJECTIVE) for lemma in person.adjectives), noun]
    language = lexicon.language
    word_class = language.find_class(words[0 if language.class_of_next_word else -1])
    if not language.has_determiner(determiner, str(person.number), word_class):
        number = "singular" if person.number == "sg" else "plural"
        raise UsageError(f"the determiner {determiner.lemma!r} does not go with a {number} noun")
    if isinstance(person.clause, ev.RelativeClause):
        lexicon.get(person.clause.relativizer or "", Kind.RELATIVIZER)


def find_words(event: ev.Event, lexicon: Lexicon) -> dict[str, Word]:
    """Return the words of *event* by slot, such as ``agent.noun`` (see :mod:`.sentence_plan`)."""
    frames = {path: str(clause.frame) for path, clause in _iterate_clause_paths(event)}
    words = {}
    for slot, lemma in find_slots(event).items():
        path, _, name = slot.rpartition(".")
        kind = Kind(frames[path]) if name == "verb" else SLOT_KINDS[name.rstrip("0123456789")]
        words[slot] = lexicon.get(lemma, kind)
    return words


def _iterate_clause_paths(event: ev.Event, path: str = "") -> Iterator[tuple[str, ev.Event]]:
    yield path, event
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            inner = f"{path}.{role.value}.clause".removeprefix(".")
            yield from _iterate_clause_paths(person.clause.event, inner)


def realize(event: ev.Event, lexicon: Lexicon, *, id: str = "", checked: bool = False) -> Sentence:
    """Return the sentence of a fully specified *event*, with its annotation.

    An open frame is filled in if the verb has only one frame in the lexicon. ``checked=True`` says that the event needs
    no check, because it comes from the parser.

    Raises:
        UsageError: the event is only partly specified, or the lexicon cannot realize it.
    """
    if not checked:
        event = infer_frames(event, lexicon)
        check_event(event, lexicon)
    plan = plan_sentence(event, lexicon.language)
    words = find_words(event, lexicon)
    tokens = tuple(_fill_token(token, words, lexicon.language) for token in plan.tokens)
    return Sentence(
        id=id,
        tokens=tokens,
        tree=render_tree([(t.before, t.after) for t in plan.tokens], tokens),
        event=event,
        predicates=list_predicates(plan),
        negations=list_negations(plan),
    )


def _fill_token(token: PlanToken, words: dict[str, Word], language: Language) -> Token:
    leaf, head = token.leaf, token.head + 1
    # Shapes contain "hat" for every verb: only now it is known whether the verb takes "ist".
    if leaf.form in language.usual_auxiliary_forms:
        leaf = choose_auxiliary(leaf, words[f"{token.path}verb"], language)
    deprel = "root" if token.head == PARENT else token.rel
    if not token.slot:
        return Token(
            form=leaf.form, lemma=leaf.lemma, upos=leaf.pos, xpos=leaf.tag, feats=leaf.feats, head=head, deprel=deprel
        )
    word, form, word_class = words[token.slot], *choose_form(token.slot, leaf.form, words, language)
    return Token(
        form=word.forms[form],
        lemma=word.forms[form] if word.phrase else word.lemma,  # "two" of "at least two"
        upos=leaf.pos,
        xpos=leaf.tag if word.phrase else form.partition(".")[0],
        feats=leaf.feats or language.find_features(leaf.pos, word.lemma, *split_form(leaf.form), word_class),
        head=head,
        deprel=deprel,
    )


def choose_auxiliary(leaf: Leaf, verb: Word, language: Language) -> Leaf:
    """Return *leaf* with the usual perfect auxiliary ("hat") replaced by the auxiliary that *verb* takes ("ist")."""
    auxiliary = language.find_auxiliary(verb)
    return replace(leaf, form=language.replace_auxiliary(leaf.form, auxiliary), lemma=auxiliary)


def list_predicates(plan: SentencePlan) -> tuple[Predicate, ...]:
    """Return the predicates of a sentence, main clause first."""
    predicates = []
    for clause in plan.clauses:
        nouns = {role: position + 1 for role, position in clause.positions.items()}
        agent, patient, recipient = map(nouns.get, ev.ROLES)
        predicates.append(Predicate(verb=clause.verb + 1, agent=agent, patient=patient, recipient=recipient))
    return tuple(predicates)


def list_negations(plan: SentencePlan) -> tuple[Negation, ...]:
    """Return the negations of a sentence, main clause first."""
    return tuple(
        Negation(cue=clause.cue + 1, verb=clause.verb + 1) for clause in plan.clauses if clause.cue is not None
    )


def render_tree(brackets: list[tuple[str, str]], tokens: tuple[Token, ...]) -> str:
    """Return *tokens* as a tree in Penn Treebank notation; *brackets* are the texts before and after each token."""
    return " ".join(
        f"{before}({token.xpos} {token.form}){after}" for (before, after), token in zip(brackets, tokens, strict=True)
    )


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


def ends_in_clause(event: ev.Event) -> bool:
    """Say whether the arguments of a main clause end in a relative clause."""
    last = find_last_role(event)
    person = None if last is event.subject else event.argument(last)
    return isinstance(person, ev.Participant) and isinstance(person.clause, ev.RelativeClause)


def find_last_role(event: ev.Event) -> ev.Role:
    """Return the role of the noun that ends a clause. If no noun does, return the role of its gap or question word."""
    if event.voice is ev.Voice.PASSIVE or event.frame is ev.Frame.INTRANSITIVE:
        return ev.Role.AGENT
    is_patient_absent = isinstance(event.patient, ev.Gap | ev.Asked)
    is_recipient_last = event.dative is ev.Dative.TO or (event.dative and is_patient_absent)
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
            # The brackets that close the verb's phrase, and all phrases around it, now close behind the last adverb.
            inner = _compute_depth(brackets, first - 1) - _compute_depth(brackets, verb)
            closing = brackets[first - 1][1]
            brackets[first - 1][1] = closing[:inner]
            brackets[last][1] += closing[inner:]
    tree = render_tree([(before, after) for before, after in brackets], tuple(tokens))
    return replace(sentence, tokens=tuple(tokens), tree=tree, event=_move_adverbs(sentence.event, attachment))


def _compute_depth(brackets: list[list[str]], place: int) -> int:
    """Return the number of phrases that contain the token at *place*."""
    text = "".join(before + after for before, after in brackets[:place]) + brackets[place][0]
    return text.count("(") - text.count(")")
