"""Licensing: a reflexive must agree with its agent; polarity items (*ever*, *any*) need a question or a negation."""

from collections.abc import Iterable, Iterator

from sentprobe.generator.events import event as ev
from sentprobe.lexicon import Flag, Kind, Lexicon

GENDERS = {ev.Reflexive.HIMSELF: "masc", ev.Reflexive.HERSELF: "fem", ev.Reflexive.THEMSELVES: ""}
"""The gender of the nouns to which each reflexive can refer; "" stands for any gender."""


def check_licenses(event: ev.Event, lexicon: Lexicon) -> None:
    """Raise Contradiction if a reflexive, polarity item or sentence adverb of a complete event is not licensed.

    A reflexive must agree with the agent of its clause, and a noun cannot be *himself* in its clause and *herself* in
    its relative clause. A polarity item must be in a question or in a negated clause;
    the polarity item of a negated clause must not be the determiner of the subject. A sentence adverb must be in a
    positive clause.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> parse("the man was not helped by any doctor", english())[0].agent.determiner
    'any'
    >>> parse("any man was not helped by the doctor", english())
    Traceback (most recent call last):
    ...
    sentprobe.generator.sentences.parse.ParseError: 'any' needs a question, or a negation before it
    """
    for clause, head in ev.iterate_clauses(event):
        if clause.reflexive is not None:
            _check_reflexive(clause, head if clause.agent is ev.GAP else clause.agent, lexicon)
        is_negated = clause.polarity is ev.Polarity.NEGATIVE
        if is_negated:
            _check_sentence_adverbs(clause, lexicon)
        if clause.mood is not ev.Mood.QUESTION:
            for lemma, is_after_negation in _list_polarity_items(clause, lexicon):
                if not (is_negated and is_after_negation):
                    raise ev.Contradiction(f"{lemma!r} needs a question, or a negation before it")


def _check_reflexive(clause: ev.Event, agent: ev.Argument | None, lexicon: Lexicon) -> None:
    word = clause.reflexive and clause.argument(clause.reflexive)
    assert isinstance(word, ev.Reflexive)
    if not agrees_with_reflexive(word, agent, lexicon):
        raise ev.Contradiction(f"{word.value!r} does not agree with the agent of {clause.predicate!r}")
    other = _find_reflexive_of_relative_clause(agent)
    if other and other is not word:
        raise ev.Contradiction(f"{word.value!r} and {other.value!r} refer to one noun")


def _check_sentence_adverbs(clause: ev.Event, lexicon: Lexicon) -> None:
    for adverb in clause.adverbs or ():
        if Flag.SENTENCE in lexicon.get(adverb, Kind.ADVERB).flags:
            raise ev.Contradiction(f"the adverb {adverb!r} does not follow a negation")


def select_licensed(events: Iterable[ev.Event], lexicon: Lexicon) -> list[ev.Event]:
    """Return the readings of a sentence that :func:`check_licenses` accepts; a single reading is returned unchecked.

    In "did the man that slept ever dance", *ever* could modify *slept*, but only the reading with *dance* is licensed.
    """
    events = [*dict.fromkeys(events)]
    return events if len(events) == 1 else [event for event in events if _is_licensed(event, lexicon)]


def _is_licensed(event: ev.Event, lexicon: Lexicon) -> bool:
    try:
        check_licenses(event, lexicon)
    except ev.Contradiction:
        return False
    return True


def agrees_with_reflexive(word: ev.Reflexive, agent: ev.Argument | None, lexicon: Lexicon) -> bool:
    """Say whether a reflexive agrees in number and gender with *agent*; a question word is singular, of any gender."""
    if not isinstance(agent, ev.Participant):
        return word.number is ev.Number.SINGULAR
    gender = lexicon.get(agent.noun or "", Kind.NOUN).gender
    has_gender = not GENDERS[word] or gender in ("", GENDERS[word])
    return word.number is agent.agreement and has_gender


def _find_reflexive_of_relative_clause(agent: ev.Argument | None) -> ev.Reflexive | None:
    """Return the reflexive by which a relative clause refers to the noun *agent*, as in "the man that hurt himself"."""
    if not isinstance(agent, ev.Participant) or agent.conjunct or not isinstance(agent.clause, ev.RelativeClause):
        return None
    event = agent.clause.event
    word = event.argument(event.reflexive) if event.reflexive and event.agent is ev.GAP else None
    return word if isinstance(word, ev.Reflexive) else None


def _list_polarity_items(clause: ev.Event, lexicon: Lexicon) -> Iterator[tuple[str, bool]]:
    """Yield each polarity item of a clause, and whether it stands after the place where the clause can have a "not"."""
    for adverb in clause.adverbs or ():
        if Flag.NPI in lexicon.get(adverb, Kind.ADVERB).flags:
            yield adverb, True
    for role, person in ev.iterate_participants(clause):
        for conjunct in person.conjuncts:
            determiner = conjunct.determiner or ""
            if Flag.NPI in lexicon.get(determiner, Kind.DETERMINER).flags:
                yield determiner, role is not clause.subject
