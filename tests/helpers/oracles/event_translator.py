"""Translation of triplets one by one, by events: an oracle for the translation of rows."""

from dataclasses import replace
from typing import Any

from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs.translated_rows import Translator
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.lexicon import Kind


class EventTranslator(Translator):
    """Translates events of an English lexicon into events of the lexicon of another language."""

    def translate_sentence(self, event: ev.Event, id: str = "") -> Sentence:
        """Return an unambiguous sentence that translates an event. Raises UsageError if a word has no translation."""
        sentence = realize(self.translate(event), self.target, id=id)
        if _has_active_object(sentence.event) and len(parse(sentence.text, self.target)) > 1:
            return realize(_make_passive(sentence.event), self.target, id=id)
        return sentence

    def translate(self, event: ev.Event) -> ev.Event:
        """Return the translated event. Raises UsageError if a word or a form has no translation."""
        verb = self.find_word(Kind(str(event.frame)), event.predicate or "")
        has_dative = verb.kind is Kind.DATIVE
        is_fronted = has_dative and event.voice is ev.Voice.PASSIVE and event.gap is None
        arguments = {role.value: self._translate_argument(event.argument(role)) for role in event.roles}
        return replace(
            event,
            predicate=verb.lemma,
            frame=ev.Frame(verb.kind.value),
            voice=ev.Voice.ACTIVE if has_dative else event.voice,
            fronting=ev.Fronting.OBJECT if is_fronted else None,
            aspect=ev.Aspect.SIMPLE,
            negator=event.negator and ev.Negator.NOT,
            adverbs=tuple(self.find_word(Kind.ADVERB, adverb).lemma for adverb in event.adverbs or ()),
            **arguments,  # type: ignore[arg-type]
        )

    def _translate_argument(self, filler: ev.Argument | None) -> ev.Argument | None:
        if not isinstance(filler, ev.Participant):
            return filler
        clause = filler.clause
        if isinstance(clause, ev.RelativeClause):
            inner = self.translate(clause.event)
            clause = ev.RelativeClause(event=inner, relativizer=self.target.language.relativizer)
        return replace(
            filler,
            noun=self.find_word(Kind.NOUN, filler.noun or "").lemma,
            determiner=self.find_word(Kind.DETERMINER, filler.determiner or "").lemma,
            adjectives=tuple(self.find_word(Kind.ADJECTIVE, lemma).lemma for lemma in filler.adjectives),
            clause=clause,
        )


def _has_active_object(event: ev.Event) -> bool:
    """Say whether a clause has an accusative object, which may look like a nominative."""
    clauses = (clause for clause, _ in ev.iterate_clauses(event))
    return any(c.frame is ev.Frame.TRANSITIVE and c.voice is ev.Voice.ACTIVE for c in clauses)


def _make_passive(event: ev.Event) -> ev.Event:
    """Return the event with all transitive clauses passive."""
    arguments: dict[str, Any] = {}
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            clause = replace(person.clause, event=_make_passive(person.clause.event), kind=None)
            arguments[role.value] = replace(person, clause=clause)
    if event.frame is ev.Frame.TRANSITIVE:
        arguments |= {"voice": ev.Voice.PASSIVE, "fronting": None}
    return replace(event, **arguments)
