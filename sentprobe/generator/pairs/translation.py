"""Translation of triplets: the anchor stays English, and the positive and the negatives are in another language.

The key ``english`` in the other lexicon translates each lemma. The progressive, which the other language lacks, becomes
simple. A verb that takes a dative object there has no passive: in the main clause, the object stands first instead; a
relative clause is active. If a translation has two readings, its transitive clauses become passive.
"""

from dataclasses import replace
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.lexicon import Flag, Kind, Lexicon, Word

UNTRANSLATED = {
    "aspect": "progressive and simple events have one translation",
    "modality": "modals are not translated",
    "mood": "questions and orders are not translated",
    "recipient": "verbs with a recipient are not translated",
}
"""The contrasts that a translation does not preserve, with the reason."""


class Translator:
    """Translator of events from English into another language, by the lexicons of the two languages.

    >>> from sentprobe.lexicon.read import load_lexicon
    >>> english, german = load_lexicon(None), load_lexicon(None, "de")
    >>> (event,) = parse("the student that was helped by the lawyer is not sleeping", english)
    >>> Translator(english, german).translate_sentence(event).text
    'der Student , dem der Anwalt half , schläft nicht'
    """

    def __init__(self, source: Lexicon, target: Lexicon) -> None:
        self.source, self.target = source, target
        self._words = {(_find_source_kind(word), word.english): word for word in target.entries if word.english}
        article = target.get(target.language.determiner, Kind.DETERMINER)
        self._words[Kind.DETERMINER, source.language.determiner] = article

    def restrict(self, vocabulary: str) -> Lexicon:
        """Return the source lexicon with only those words in *vocabulary* that have a translation."""
        words = self.source.vocabulary(vocabulary).words
        usable = {kind: [lemma for lemma in words[kind] if self._is_usable(kind, lemma)] for kind in words}
        return self.source.replace_words(vocabulary, usable)

    def _is_usable(self, kind: Kind, lemma: str) -> bool:
        """Say whether a word has a translation, and can stand in a negated clause."""
        word = self._words.get((kind, lemma))
        return word is not None and Flag.SENTENCE not in word.flags

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

    def find_word(self, kind: Kind, lemma: str) -> Word:
        """Return the translation of a word of the source lexicon. Raises UsageError."""
        if (kind, lemma) not in self._words:
            raise UsageError(f"the {kind} {lemma!r} has no translation in {self.target.source}")
        return self._words[kind, lemma]


def _find_source_kind(word: Word) -> Kind:
    return Kind.TRANSITIVE if word.kind is Kind.DATIVE else word.kind


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
