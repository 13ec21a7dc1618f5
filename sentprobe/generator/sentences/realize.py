"""Realization of an event as an annotated sentence; the inverse of :mod:`.parse`."""

from collections.abc import Iterator
from dataclasses import replace

from sentprobe.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.lemmas import check_language, check_sorts, infer_frames
from sentprobe.generator.events.licenses import check_licenses
from sentprobe.generator.events.matching import find_open_fields
from sentprobe.generator.sentences.agreement import choose_form, split_form
from sentprobe.generator.sentences.sentence import Negation, Predicate, Sentence, Token
from sentprobe.generator.sentences.sentence_plan import PlanToken, SentencePlan, find_slots, plan_sentence
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
}


def check_event(event: ev.Event, lexicon: Lexicon) -> None:
    """Raise UsageError unless *event* is fully specified and the words of *lexicon* can realize it."""
    missing = list(find_open_fields(event))
    if missing:
        raise UsageError(f"the event is only partly specified: {', '.join(missing)} left open")
    for clause, modified in ev.iterate_clauses(event):
        if (modified is None) != (clause.gap is None):
            raise UsageError(f"{clause.predicate}: a relative clause has one gap, and a main clause has none")
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
        for _, person in ev.iterate_participants(clause):
            for conjunct in person.conjuncts:
                _check_participant(conjunct, lexicon)
    check_licenses(event, lexicon)
    check_sorts(event, lexicon)


def _check_participant(person: ev.Participant, lexicon: Lexicon) -> None:
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
        lemma=word.lemma,
        upos=leaf.pos,
        xpos=form.partition(".")[0],
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
