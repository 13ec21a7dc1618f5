"""The features of each surface cue, which a classifier sees instead of the sentence."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sentprobe.common.errors import import_module_of_extra
from sentprobe.generator.events.event import Event, Participant, RelativeClause, Role
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.lexicon import Lexicon
from sentprobe.probes.datasets.dataset import Items, ProbeDataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.encoders.baselines import Places, describe_places, find_words

BLANK = "_"


class Structures:
    """A cache of sentence structures: the event without lemmas or, if there is no unique parse, the function words."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._features: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.parsed = 0
        self.skeletons = 0

    def find_features(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        """Return the distinct features of a sentence's structure, such as ``main tense past``."""
        if tokens in self._features:
            return self._features[tokens]
        try:
            (event,) = parse(" ".join(tokens), self._lexicon)
        except (ParseError, ValueError):  # a ValueError means that the sentence is ambiguous
            self.skeletons += 1
            skeleton = build_skeleton(tokens)
            padded = ["<s>", *skeleton, "</s>"]
            ngrams = (" ".join(padded[i : i + size]) for size in (1, 2, 3) for i in range(len(padded) - size + 1))
            features = (*dict.fromkeys(ngrams), f"all: {' '.join(skeleton)}")
        else:
            self.parsed += 1
            parts = tuple(_list_event_features(event, "main"))
            features = (*parts, f"all: {' '.join(parts)}")
        self._features[tokens] = features
        return features


def _list_event_features(event: Event, path: str) -> Iterator[str]:
    for name in ("frame", "voice", "tense", "aspect", "polarity", "negator", "modal", "mood"):
        yield f"{path} {name} {getattr(event, name)}"
    yield f"{path} adverbs {len(event.adverbs or ())}"
    for role in Role:
        participant = event.argument(role)
        if isinstance(participant, Participant):
            yield f"{path} {role} {participant.number}"
            if isinstance(clause := participant.clause, RelativeClause):
                yield f"{path} {role} clause {clause.kind}"
                yield from _list_event_features(clause.event, f"{path}.{role}")


def build_skeleton(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the lower-case tokens, with :data:`BLANK` instead of content words (all but scikit-learn's stop words)."""
    function_words = _load_function_words()
    lowercase = [token.lower() for token in tokens]
    return tuple(token if token in function_words or not any(map(str.isalnum, token)) else BLANK for token in lowercase)


@cache
def _load_function_words() -> frozenset[str]:
    words = import_module_of_extra("sklearn.feature_extraction.text").ENGLISH_STOP_WORDS
    # The list lacks clitics, which are tokens in the Penn Treebank.
    return frozenset(words) | {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"}


Features = dict[str, float]
"""The value of each feature by name. Absent features are 0."""
_DISTANCE_LIMIT = 8
"""The distance between two probe words, in tokens, from which all distances share a feature."""


@dataclass(frozen=True, slots=True)
class CueItem:
    """An item from which features are extracted: its tokens, probe words, and all forms of each probe word."""

    tokens: tuple[str, ...]
    probes: tuple[str, ...]
    forms: tuple[frozenset[str], ...]
    places: Places = ()
    """The fixed places whose words the cue with fixed positions reads."""

    def find_positions(self, slot: int) -> list[int]:
        """Return the positions, from 0, of tokens that are forms of the probe word with this index."""
        return [i for i, token in enumerate(self.tokens) if token in self.forms[slot]]


FeatureExtractor = Callable[[CueItem], Features]


@dataclass(frozen=True, slots=True)
class CueKind:
    """A surface cue: its title, its description, and the function that extracts its features."""

    title: str
    description: str
    """The information that the classifier sees, in words."""
    make_extractor: Callable[[Structures], FeatureExtractor]
    needs_probe: bool = False
    plain_title: str = ""
    plain_description: str = ""

    def get_title(self, *, probed: bool) -> str:
        """Return the title of the cue; *probed* states whether the task has probe words."""
        return self.title if probed else self.plain_title or self.title

    def get_description(self, *, probed: bool) -> str:
        """Return the description of the cue; *probed* states whether the task has probe words."""
        return self.description if probed else self.plain_description or self.description


def build_cue_items(data: ProbeDataset, items: Items, lexicon: Lexicon, places: Places = ()) -> list[CueItem]:
    """Return a :class:`CueItem` for each item. A probe word outside the lexicon has one form: the word itself."""
    forms = []
    for lemma in data.probe_words:
        words = [lexicon.get(lemma, kind) for kind in lexicon.kinds_of(lemma)]
        forms.append(frozenset({lemma, *(form for word in words for form in word.forms.values())}))
    return [
        CueItem(
            tuple(data.sentences[row].split()),
            tuple(data.probe_words[probe] for probe in probes),
            tuple(forms[probe] for probe in probes),
            places,
        )
        for row, probes in zip(items.rows.tolist(), items.probes.tolist(), strict=True)
    ]


def list_cues(data: ProbeDataset) -> tuple[Cue, ...]:
    """Return the cues of a dataset. Without probe words, cues about these words are left out."""
    return tuple(cue for cue in Cue if data.slots or not CUES[cue].needs_probe)


def _extract_probe(item: CueItem) -> Features:
    """Return one-hot features of each probe word and of the combination of probe words."""
    features = [f"probe {slot} is {word}" for slot, word in enumerate(item.probes)]
    joint = [f"probes are {' '.join(item.probes)}"] if len(item.probes) > 1 else []
    return dict.fromkeys([*features, *joint], 1.0)


def _cross_with_probe(item: CueItem, features: Mapping[str, float]) -> Features:
    """Return *features*, one-hot probe words and, for linear models, products of each feature with each probe word."""
    probes = [f"probe {slot} is {word}" for slot, word in enumerate(item.probes)]
    products = {f"{name} & {probe}": value for name, value in features.items() for probe in probes}
    return {**features, **products, **_extract_probe(item)}


def _extract_length(item: CueItem) -> Features:
    size = len(item.tokens)
    return {"length": size, **_cross_with_probe(item, {f"{size} tokens": 1.0})}


def _count_names(names: Iterable[str]) -> Features:
    return {name: float(count) for name, count in Counter(names).items()}


def _extract_presence(item: CueItem) -> Features:
    """Return how often forms of each probe word occur. These features do not depend on the order of words."""
    counts_by_slot = [len(item.find_positions(slot)) for slot in range(len(item.probes))]
    counts = {f"probe {slot} occurs": float(count) for slot, count in enumerate(counts_by_slot)}
    return counts | {f"probes occur {counts_by_slot}": 1.0}


def _list_ngrams(tokens: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    padded = ["<s>", *tokens, "</s>"]
    for size in sizes:
        tokens_ = tokens if size == 1 else padded  # alone, the ends tell nothing: each sentence has them
        yield from (" ".join(tokens_[i : i + size]) for i in range(len(tokens_) - size + 1))


def _extract_ngrams(item: CueItem) -> Features:
    """Return the sentence's n-grams, its n-grams with <0> and <1> in place of probe words, and the probe words."""
    marked_ngrams: list[str] = []
    if item.probes:
        marked_tokens = [
            next((f"<{slot}>" for slot, forms in enumerate(item.forms) if token in forms), token)
            for token in item.tokens
        ]
        # Without a mark, an n-gram is among those of the sentence below.
        marked_ngrams = [ngram for ngram in _list_ngrams(marked_tokens, (2, 3)) if "<0>" in ngram or "<1>" in ngram]
    return (
        _extract_presence(item)
        | _count_names(_list_ngrams(item.tokens, (3,)))
        | _count_names(f"marked {ngram}" for ngram in marked_ngrams)
        | _cross_with_probe(item, _count_names(_list_ngrams(item.tokens, (1, 2))))
    )


def _extract_position(item: CueItem) -> Features:
    """Return the positions of the probe words: from both ends, relative to the length, and relative to each other."""
    positions = [item.find_positions(slot) for slot in range(len(item.probes))]
    features: Features = {}
    size = len(item.tokens)
    for slot, slot_positions in enumerate(positions):
        if not slot_positions:
            features[f"{slot} absent"] = 1.0
            continue
        first, last = slot_positions[0], slot_positions[-1]
        features |= {
            f"{slot} times": len(slot_positions),
            f"{slot} from start": first + 1,
            f"{slot} from end": size - last,
            f"{slot} relative": (first + 0.5) / size,
            f"{slot} at {first + 1}": 1.0,
            f"{slot} at -{size - last}": 1.0,
        }
    if len(positions) == 2 and all(positions):
        distance = positions[1][0] - positions[0][0]
        features |= {
            "distance": distance,
            f"distance {max(-_DISTANCE_LIMIT, min(_DISTANCE_LIMIT, distance))}": 1.0,
            f"first is {int(distance < 0)}": 1.0,
            f"at {positions[0][0]} and {positions[1][0]}": 1.0,
        }
    return features


def _extract_places(item: CueItem) -> Features:
    """Return the word at each fixed place, whether it is a form of a probe word, and the probe words."""
    words = find_words(item.tokens, item.places)
    names = [describe_places((place,)) for place in item.places]
    pairs = [*zip(names, words, strict=True)]
    matches = (f"{name} is {slot}" for name, word in pairs for slot, forms in enumerate(item.forms) if word in forms)
    return _cross_with_probe(item, dict.fromkeys([*(f"{name}: {word}" for name, word in pairs), *matches], 1.0))


CUES: Mapping[Cue, CueKind] = {
    Cue.PROBE: CueKind("probe only", "the probe words", lambda _: _extract_probe, needs_probe=True),
    Cue.LENGTH: CueKind(
        "length and probe",
        "the number of tokens, and the probe words",
        lambda _: _extract_length,
        plain_title="length",
        plain_description="the number of tokens",
    ),
    Cue.BAG: CueKind(
        "bag of words and probe",
        "how often each word occurs, whether a form of each probe word does, and the probe words",
        lambda _: lambda item: _extract_presence(item) | _cross_with_probe(item, _count_names(item.tokens)),
        plain_title="bag of words",
        plain_description="how often each word occurs",
    ),
    Cue.NGRAMS: CueKind(
        "n-grams and probe",
        "which one to three words are adjacent, also around the probe words, and the probe words",
        lambda _: _extract_ngrams,
        plain_title="n-grams",
        plain_description="which one to three words are adjacent",
    ),
    Cue.POSITION: CueKind(
        "position of the probe words",
        "the positions of forms of the probe words and which comes first, but no word",
        lambda _: _extract_position,
        needs_probe=True,
    ),
    Cue.PLACES: CueKind(
        "fixed positions and probe",
        "the first, second and last word, in mirror pairs also the place that tells most, and the probe words",
        lambda _: _extract_places,
        plain_title="fixed positions",
        plain_description="the first, second and last word, in mirror pairs also the place that tells most",
    ),
    Cue.TEMPLATE: CueKind(
        "template",
        "the structure of the sentence or, if the grammar cannot parse it, its function words",
        lambda structures: lambda item: dict.fromkeys(structures.find_features(item.tokens), 1.0),
    ),
    Cue.SENTENCE: CueKind(
        "sentence alone",
        "which one to three words are adjacent, without knowing the probe words",
        lambda _: lambda item: _count_names(_list_ngrams(item.tokens, (1, 2, 3))),
        needs_probe=True,
    ),
}
