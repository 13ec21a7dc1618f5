"""Rules for languages such as German, in which the case of a noun tells the subject from the object.

If no case decides ("die Frau sieht die Katze"), a main clause has the subject first, and a relative clause is excluded.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product

from sentprobe.generator.events.event import Frame, Negator, Role, Voice
from sentprobe.generator.spaces.constraints import Allowed, Choices, Words
from sentprobe.generator.spaces.layout import NEGATIONS, Layout, Restriction
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
