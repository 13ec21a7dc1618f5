"""The features of each surface cue: what a classifier is shown of an item instead of the meaning.

Where the grammar covers a sentence, its structure is what the event says besides lemmas: frames,
voices, tenses, aspects, polarities, numbers, adverbs counted, and which participant has which
relative clause. Elsewhere it is the skeleton: function words and punctuation as they stand, a mark
for each other word.

A cue turns an item into features, a map from a feature's name to its number. What a cue leaves out
is the point of it: the bag of words does not know the order, the position does not know the words.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sentprobe.extras import load
from sentprobe.generator.event import Event, Participant, RelativeClause, Role
from sentprobe.generator.parse import ParseError, parse, word_class
from sentprobe.lexicon import Lexicon
from sentprobe.probes.dataset import Items, ProbeDataset
from sentprobe.probes.known_task import Cue

BLANK = "_"
"""Stands for a content word in a skeleton."""


class Structures:
    """Structures of sentences, each found once; counts which way each was found."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._classes: dict[str, Hashable] = {}
        self._of_classes: dict[tuple[Hashable, ...], tuple[str, ...] | None] = {}
        self.parsed = 0
        self.skeletons = 0

    def features(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        """Return the features of a sentence's structure, each a name, none of them twice."""
        if tokens not in self._known:
            self._known[tokens] = self._find(tokens)
        return self._known[tokens]

    def _find(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        classes = tuple(map(self._class, tokens))
        if classes not in self._of_classes:  # a parse takes long, and structures are few
            self._of_classes[classes] = self._parse(tokens)
        found = self._of_classes[classes]
        if found is None:
            self.skeletons += 1
            return _of_skeleton(skeleton(tokens))
        self.parsed += 1
        return found

    def _class(self, token: str) -> Hashable:
        if token not in self._classes:
            self._classes[token] = word_class(token, self._lexicon)
        return self._classes[token]

    def _parse(self, tokens: tuple[str, ...]) -> tuple[str, ...] | None:
        try:
            event = parse(" ".join(tokens), self._lexicon)[0]
        except ParseError:
            return None
        parts = tuple(_of_event(event, "main"))
        return *parts, f"all: {' '.join(parts)}"


def _of_event(event: Event, path: str) -> Iterator[str]:
    for name in ("frame", "voice", "tense", "aspect", "polarity", "negator"):
        yield f"{path} {name} {getattr(event, name)}"
    yield f"{path} adverbs {len(event.adverbs or ())}"
    for role in Role:
        person = event.argument(role)
        if isinstance(person, Participant):
            yield f"{path} {role} {person.number}"
            if isinstance(person.clause, RelativeClause):
                yield f"{path} {role} clause {person.clause.kind}"
                yield from _of_event(person.clause.event, f"{path}.{role}")


def skeleton(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the tokens with :data:`BLANK` for each that is no function word or punctuation.

    Function words are scikit-learn's English stop words, whatever their case.

    >>> skeleton("The rain fell on the town .".split())
    ('the', '_', '_', 'on', 'the', '_', '.')
    """
    known = _function_words()
    lowered = [token.lower() for token in tokens]
    return tuple(
        token if token in known or not any(map(str.isalnum, token)) else BLANK for token in lowered
    )


@cache
def _function_words() -> frozenset[str]:
    words = load("sklearn.feature_extraction.text").ENGLISH_STOP_WORDS
    # Clitics, as the Penn Treebank's tokens are cut; the list has whole words only.
    return frozenset(words) | {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"}


def _of_skeleton(frame: Sequence[str]) -> tuple[str, ...]:
    padded = ["<s>", *frame, "</s>"]
    grams = (
        " ".join(padded[i : i + size])
        for size in (1, 2, 3)
        for i in range(len(padded) - size + 1)
    )  # fmt: skip
    return *dict.fromkeys(grams), f"all: {' '.join(frame)}"


Features = dict[str, float]
"""Feature to number; features that are not named are 0."""

_FAR = 8
"""Distances between two probe words from here on are one feature."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An item: the tokens of its sentence, its probe words, and the forms of each of these."""

    tokens: tuple[str, ...]
    probes: tuple[str, ...]
    forms: tuple[frozenset[str], ...]

    def places(self, slot: int) -> list[int]:
        """Return where the forms of a probe word stand, counted from 0."""
        return [i for i, token in enumerate(self.tokens) if token in self.forms[slot]]


CueMaker = Callable[[Seen], Features]


@dataclass(frozen=True, slots=True)
class CueKind:
    """A row of the table of cues."""

    title: str
    says: str
    """What the classifier sees, as the page and the legend say it."""
    make: Callable[[Structures], CueMaker]
    needs_probe: bool = False
    """Whether it means something only where items have probe words."""
    plain_title: str = ""
    """The title where items have no probe words, if it is another."""
    plain_says: str = ""

    def name(self, *, probed: bool) -> str:
        """Return the title, of items with probe words or without."""
        return self.title if probed else self.plain_title or self.title

    def sees(self, *, probed: bool) -> str:
        """Return what the classifier sees, of items with probe words or without."""
        return self.says if probed else self.plain_says or self.says


def seen(data: ProbeDataset, items: Items, lexicon: Lexicon) -> list[Seen]:
    """Return the items as the cues see them, in order.

    A probe word is found by its inflected forms where the lexicon has the lemma, else as it stands.
    """
    forms = [_forms(word, lexicon) for word in data.probe_words]
    return [
        Seen(
            tuple(data.sentences[row].split()),
            tuple(data.probe_words[probe] for probe in probes),
            tuple(forms[probe] for probe in probes),
        )
        for row, probes in zip(items.rows.tolist(), items.probes.tolist(), strict=True)
    ]


def cues_of(data: ProbeDataset) -> tuple[Cue, ...]:
    """Return the cues that a dataset has; without probe words, n-grams are the sentence alone."""
    if data.slots:
        return tuple(Cue)
    return tuple(c for c in Cue if not CUES[c].needs_probe)


def _forms(lemma: str, lexicon: Lexicon) -> frozenset[str]:
    words = [lexicon.get(lemma, kind) for kind in lexicon.kinds_of(lemma)]
    return frozenset({lemma, *(form for word in words for form in word.forms.values())})


def _probe(item: Seen) -> Features:
    """Return the probe words one-hot, each in its slot, and all together."""
    named = [f"probe {slot} is {word}" for slot, word in enumerate(item.probes)]
    together = [f"probes are {' '.join(item.probes)}"] if len(item.probes) > 1 else []
    return dict.fromkeys([*named, *together], 1.0)


def _crossed(item: Seen, features: Mapping[str, float]) -> Features:
    """Return the features, and each of them again for each probe word.

    A linear model can then weigh a word differently for each probe word ("is it in there?").
    """
    crossed = {
        f"{name} & probe {slot} is {word}": value
        for name, value in features.items()
        for slot, word in enumerate(item.probes)
    }
    return {**features, **crossed, **_probe(item)}


def _length(item: Seen) -> Features:
    size = len(item.tokens)
    return {"length": size, **_crossed(item, {f"{size} tokens": 1.0})}


def _counted(names: Sequence[str]) -> Features:
    counts: Features = {}
    for name in names:
        counts[name] = counts.get(name, 0.0) + 1
    return counts


def _present(item: Seen) -> Features:
    """Return how often each probe word occurs: a function of the bag of words and the probe."""
    places = [len(item.places(slot)) for slot in range(len(item.probes))]
    counts = {f"probe {slot} occurs": float(count) for slot, count in enumerate(places)}
    return counts | {f"probes occur {places}": 1.0}


def _bag(item: Seen) -> Features:
    return _present(item) | _crossed(item, _counted(item.tokens))


def _grams(tokens: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    padded = ["<s>", *tokens, "</s>"]
    for size in sizes:
        row = tokens if size == 1 else padded
        yield from (" ".join(row[i : i + size]) for i in range(len(row) - size + 1))


def _ngrams(item: Seen) -> Features:
    """Return n-grams of words, and the same with <0> and <1> where a probe word stands."""
    return (
        _present(item)
        | _counted(list(_grams(item.tokens, (3,))))
        | _counted([f"marked {gram}" for gram in _around(item)])
        | _crossed(item, _counted(list(_grams(item.tokens, (1, 2)))))
    )


def _around(item: Seen) -> list[str]:
    """Return the n-grams with a mark in them, where a probe word stands."""
    if not item.probes:
        return []
    marked = [
        next((f"<{slot}>" for slot, forms in enumerate(item.forms) if token in forms), token)
        for token in item.tokens
    ]
    return [gram for gram in _grams(marked, (2, 3)) if "<0>" in gram or "<1>" in gram]


def _sentence(item: Seen) -> Features:
    return _counted(list(_grams(item.tokens, (1, 2, 3))))


def _position(item: Seen) -> Features:
    """Return where the probe words stand: counted from both ends, relative, and to each other."""
    places = [item.places(slot) for slot in range(len(item.probes))]
    features: Features = {}
    for slot, at in enumerate(places):
        features |= _place(slot, at, size=len(item.tokens))
    if len(places) == 2 and all(places):
        distance = places[1][0] - places[0][0]
        features |= {
            "distance": distance,
            f"distance {max(-_FAR, min(_FAR, distance))}": 1.0,
            f"first is {int(distance < 0)}": 1.0,
            f"at {places[0][0]} and {places[1][0]}": 1.0,
        }
    return features


def _place(slot: int, at: Sequence[int], *, size: int) -> Features:
    if not at:
        return {f"{slot} absent": 1.0}
    first, last = at[0], at[-1]
    return {
        f"{slot} times": len(at),
        f"{slot} from start": first + 1,
        f"{slot} from end": size - last,
        f"{slot} relative": (first + 0.5) / size,
        f"{slot} at {first + 1}": 1.0,
        f"{slot} at -{size - last}": 1.0,
    }


def _template(structures: Structures) -> CueMaker:
    return lambda item: dict.fromkeys(structures.features(item.tokens), 1.0)


CUES: Mapping[Cue, CueKind] = {
    Cue.PROBE: CueKind("probe only", "the probe words", lambda _: _probe, needs_probe=True),
    Cue.LENGTH: CueKind(
        "length and probe",
        "the number of tokens, and the probe words",
        lambda _: _length,
        plain_title="length",
        plain_says="the number of tokens",
    ),
    Cue.BAG: CueKind(
        "bag of words and probe",
        "how often each word occurs, whether a form of each probe word does, and the probe words",
        lambda _: _bag,
        plain_title="bag of words",
        plain_says="how often each word occurs",
    ),
    Cue.NGRAMS: CueKind(
        "n-grams and probe",
        "which one to three words stand together, also around the probe words, and the probe words",
        lambda _: _ngrams,
        plain_title="n-grams",
        plain_says="which one to three words stand together",
    ),
    Cue.POSITION: CueKind(
        "position of the probe words",
        "where forms of the probe words stand and which is first, but no word",
        lambda _: _position,
        needs_probe=True,
    ),
    Cue.TEMPLATE: CueKind(
        "template",
        "the structure of the sentence, or where the grammar does not parse it its function words",
        _template,
    ),
    Cue.SENTENCE: CueKind(
        "sentence alone",
        "which one to three words stand together, without the probe words",
        lambda _: _sentence,
        needs_probe=True,
    ),
}
"""The cues, in the order of the report."""
