"""Which words a space chooses from: a named vocabulary, less what its choices leave out."""

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import Event, Frame, Number, clauses, participants
from sentprobe.generator.layout import Words
from sentprobe.generator.realize import determiner_form
from sentprobe.grammars.shapes import MAX_ADVERBS
from sentprobe.lexicon import Flag, Kind, Lexicon


def choose_words(
    lexicon: Lexicon, vocabulary: str, choices: Choices, constraints: Constraints
) -> Words:
    """Return the words to choose from.

    Raises:
        UsageError: an unknown vocabulary, determiner or relativizer; a word that is required or
            forbidden and not in the lexicon, or required and not in the vocabulary; too many
            adverbs.
    """
    named = lexicon.vocabulary(vocabulary)
    for count in (*choices.adverbs, *choices.adverbs_in_clauses):
        if not 0 <= count <= MAX_ADVERBS:
            raise UsageError(f"a verb takes from 0 to {MAX_ADVERBS} adverbs, not {count}")
    by_frame = {
        frame: tuple(
            lemma
            for lemma in named.words[Kind(frame.value)]
            if Flag.SYNCRETIC not in lexicon.get(lemma, Kind(frame.value)).flags
            or Flag.SYNCRETIC in choices.allow
        )
        for frame in Frame
    }
    verbs = tuple(dict.fromkeys(lemma for lemmas in by_frame.values() for lemma in lemmas))
    words = Words(
        nouns=named.words[Kind.NOUN],
        verbs=verbs,
        verbs_by_frame={
            frame: frozenset(verbs.index(lemma) for lemma in lemmas)
            for frame, lemmas in by_frame.items()
        },
        adverbs=named.words[Kind.ADVERB],
        determiners=_determiners(lexicon, choices),
        relativizers=tuple(
            lexicon.get(lemma, Kind.RELATIVIZER).lemma for lemma in choices.relativizers
        ),
    )
    _check_words(words, lexicon, vocabulary, constraints)
    return words


def _determiners(lexicon: Lexicon, choices: Choices) -> tuple[tuple[str, str], ...]:
    return tuple(
        (number.value, lemma)
        for number in Number
        if number in choices.numbers
        for lemma in choices.determiners
        if determiner_form(number.value, vowel=False) in lexicon.get(lemma, Kind.DETERMINER).forms
    )


def _check_words(words: Words, lexicon: Lexicon, vocabulary: str, constraints: Constraints) -> None:
    """Check the lemmas of the constraints against the lexicon and the vocabulary."""
    determiners = tuple(lemma for _, lemma in words.determiners)
    chosen = {*words.nouns, *words.verbs, *words.adverbs, *words.relativizers, *determiners}
    known = {word.lemma for kind in Kind for word in lexicon.words(kind)}
    required = {lemma for event in constraints.required for lemma in lemmas_of(event)}
    required |= set(constraints.required_words)
    forbidden = {lemma for event in constraints.forbidden for lemma in lemmas_of(event)}
    for lemma in sorted(required | forbidden | set(constraints.forbidden_words)):
        if lemma not in known:
            raise UsageError(f"the lexicon has no word {lemma!r}{suggest(lemma, known)}")
        if lemma in required and lemma not in chosen:
            raise UsageError(f"{lemma!r} is required but {_why_not(lemma, lexicon, vocabulary)}")


def _why_not(lemma: str, lexicon: Lexicon, vocabulary: str) -> str:
    """Say why a word of the lexicon cannot be used."""
    if {Kind.DETERMINER, Kind.RELATIVIZER} & set(lexicon.kinds_of(lemma)):
        return "is not among the determiners and relativizers that were chosen"
    if any(lemma in lemmas for lemmas in lexicon.vocabulary(vocabulary).words.values()):
        return f"is left out of vocabulary {vocabulary!r} (see --allow)"
    return f"is not in vocabulary {vocabulary!r}"


def lemmas_of(event: Event) -> set[str]:
    """Return the lemmas that a partial event names."""
    found: set[str | None] = set()
    for clause, _ in clauses(event):
        found |= {clause.predicate, *(clause.adverbs or ())}
        for _, person in participants(clause):
            found |= {person.noun, person.determiner}
            found.add(getattr(person.clause, "relativizer", None))
    return {lemma for lemma in found if lemma is not None}
