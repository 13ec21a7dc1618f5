"""From an event to its sentence, by the kept shapes and look-up of words.

The inverse is :func:`sentprobe.generator.parse.parse`.
"""

from collections.abc import Iterator

from sentprobe.errors import UsageError
from sentprobe.generator.event import (
    Event,
    Participant,
    RelativeClause,
    clauses,
    open_fields,
    participants,
)
from sentprobe.generator.lemmas import infer_frames
from sentprobe.generator.plan import PlanToken, SentencePlan, plan_sentence, slots_of
from sentprobe.generator.sentence import Negation, Predicate, Sentence, Token
from sentprobe.grammars.derivation import PARENT, Leaf
from sentprobe.grammars.features import word_features
from sentprobe.lexicon import Form, Kind, Lexicon, Word

SLOT_KINDS = {"noun": Kind.NOUN, "det": Kind.DETERMINER, "rel": Kind.RELATIVIZER}


def check(event: Event, lexicon: Lexicon) -> None:
    """Check that *event* can be realized with the words of *lexicon*.

    Raises:
        UsageError: a field is open, a gap stands outside a relative clause, a word is unknown, or a
            determiner does not go with its noun's number.
    """
    missing = list(open_fields(event))
    if missing:
        raise UsageError(f"the event is only partly specified: {', '.join(missing)} left open")
    for clause, modified in clauses(event):
        if (modified is None) != (clause.gap is None):
            raise UsageError(
                f"{clause.predicate}: a gap stands in a relative clause and only there"
            )
        kind = Kind(str(clause.frame))
        lexicon.get(clause.predicate or "", kind)
        for adverb in clause.adverbs or ():
            lexicon.get(adverb, Kind.ADVERB)
        for _, person in participants(clause):
            _check_participant(person, lexicon)


def _check_participant(person: Participant, lexicon: Lexicon) -> None:
    noun = lexicon.get(person.noun or "", Kind.NOUN)
    determiner = lexicon.get(person.determiner or "", Kind.DETERMINER)
    if determiner_form(str(person.number), vowel=noun.vowel) not in determiner.forms:
        number = "singular" if person.number == "sg" else "plural"
        raise UsageError(f"the determiner {determiner.lemma!r} does not go with a {number} noun")
    if isinstance(person.clause, RelativeClause):
        lexicon.get(person.clause.relativizer or "", Kind.RELATIVIZER)


def determiner_form(number: str, *, vowel: bool) -> Form:
    """Return the form of a determiner before a noun of *number*, with a vowel sound or not."""
    return Form(f"DT.{number}{'.vowel' if vowel else ''}")


def words_of(event: Event, lexicon: Lexicon) -> dict[str, Word]:
    """Return the words of *event* by slot (see :mod:`sentprobe.generator.plan`)."""
    frames = {path: str(clause.frame) for path, clause in _paths(event)}
    words = {}
    for slot, lemma in slots_of(event).items():
        path, _, name = slot.rpartition(".")
        kind = Kind(frames[path]) if name == "verb" else SLOT_KINDS.get(name, Kind.ADVERB)
        words[slot] = lexicon.get(lemma, kind)
    return words


def _paths(event: Event, path: str = "") -> Iterator[tuple[str, Event]]:
    yield path, event
    for role, person in participants(event):
        if isinstance(person.clause, RelativeClause):
            inner = f"{path}.{role.value}.clause".removeprefix(".")
            yield from _paths(person.clause.event, inner)


def realize(event: Event, lexicon: Lexicon, *, id: str = "") -> Sentence:
    """Return the one sentence of a fully specified *event*, with its annotation.

    A frame that is left open is that of the verb, where the lexicon has it in only one.

    Raises:
        UsageError: see :func:`check`.
    """
    event = infer_frames(event, lexicon)
    check(event, lexicon)
    plan = plan_sentence(event)
    words = words_of(event, lexicon)
    tokens = tuple(_fill(token, words) for token in plan.tokens)
    return Sentence(
        id=id,
        tokens=tokens,
        tree=bracket([(t.before, t.after) for t in plan.tokens], tokens),
        event=event,
        predicates=predicates_of(plan),
        negations=negations_of(plan),
    )


def _fill(token: PlanToken, words: dict[str, Word]) -> Token:
    leaf, head = token.leaf, token.head + 1
    deprel = "root" if token.head == PARENT else token.rel
    if not token.slot:
        return Token(
            form=leaf.form,
            lemma=leaf.lemma,
            upos=leaf.pos,
            xpos=leaf.tag,
            feats=leaf.feats,
            head=head,
            deprel=deprel,
        )
    word = words[token.slot]
    form = slot_form(token, words)
    return Token(
        form=word.forms[form],
        lemma=word.lemma,
        upos=leaf.pos,
        xpos=form.value.partition(".")[0],
        feats=slot_feats(leaf, word),
        head=head,
        deprel=deprel,
    )


def slot_form(token: PlanToken, words: dict[str, Word]) -> Form:
    """Return which form of its word a slot takes."""
    name = token.slot.rpartition(".")[2]
    if name == "det":
        noun = words[token.slot.removesuffix("det") + "noun"]
        return determiner_form(token.leaf.form.removeprefix("DT."), vowel=noun.vowel)
    if name == "rel":
        return next(iter(words[token.slot].forms))
    return Form(token.leaf.form)


def slot_feats(leaf: Leaf, word: Word) -> str:
    """Return the features of a filled slot: the grammar's, else the word's own."""
    return leaf.feats or word_features(leaf.pos, word.lemma, leaf.form.removeprefix("DT."))


def predicates_of(plan: SentencePlan) -> tuple[Predicate, ...]:
    """Return the predicates of a plan, the main one first."""
    return tuple(
        Predicate(
            verb=clause.verb + 1,
            agent=places["agent"] + 1,
            patient=places["patient"] + 1 if "patient" in places else None,
        )
        for clause in plan.clauses
        for places in [{role.value: at for role, at in clause.places.items()}]
    )


def negations_of(plan: SentencePlan) -> tuple[Negation, ...]:
    """Return the negations of a plan, clause by clause."""
    return tuple(
        Negation(cue=clause.cue + 1, verb=clause.verb + 1)
        for clause in plan.clauses
        if clause.cue is not None
    )


def bracket(brackets: list[tuple[str, str]], tokens: tuple[Token, ...]) -> str:
    """Return the tree in Penn brackets, from the brackets around each token."""
    return " ".join(
        f"{before}({token.xpos} {token.form}){after}"
        for (before, after), token in zip(brackets, tokens, strict=True)
    )
