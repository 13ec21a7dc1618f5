"""The sentences that ``probe geometry`` compares: the triplets of a contrast, and distractors.

Read the triplet files that ``gen pairs`` writes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, path_error
from sentprobe.common.inputs import to_input_path
from sentprobe.common.reading import open_lines, report_parquet_errors
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.generator.events.event import Event, Mood, Role
from sentprobe.generator.pairs import triplets as tr
from sentprobe.generator.pairs.contrasts import CONTRASTS, find_contrast
from sentprobe.generator.pairs.drafts import DATIVE, FRONTING, MAIN, find_noun_clause
from sentprobe.generator.pairs.retrieval_files import render_distractors
from sentprobe.generator.pairs.triplet_files import format_place
from sentprobe.generator.pairs.triplets import SIDES, TripletSide
from sentprobe.generator.sentences.sentence_plan import plan_sentence
from sentprobe.generator.spaces.constraints import Choices, Constraints, choose_words
from sentprobe.generator.spaces.drawn_event import STRUCTURAL
from sentprobe.generator.spaces.layout import Layout, build_layout_event
from sentprobe.generator.spaces.templates import SplitSide, parse_side
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.language import Language
from sentprobe.probes.encoders.encoder import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletSampling:
    """The settings with which triplets are sampled."""

    vocabulary: str = "compeval"
    templates: tuple[str, ...] = ("all",)
    """Names of templates; for triplets from a dataset, the name of the dataset's suite."""
    n: int = 400
    distractors: int = 5
    seed: int = 0
    words: str = ""
    """A hash of the words in the vocabulary; empty if unknown."""
    held_out: tuple[str, ...] = ()
    """Words (as a share) and structures that training data lack, such as ``("0.3", "transitive")``: triplets have
    only these. Empty: triplets have all words and structures."""
    language: str = "en"

    @property
    def side(self) -> SplitSide | None:
        """The setting ``held_out``, parsed; None if it is empty."""
        return parse_side(self.held_out, held_out=True)


GroupNames: TypeAlias = dict[str, list[str]]
"""For each property by which triplets are grouped, such as ``"voice"``: the name of each triplet's group."""


@dataclass(eq=False, repr=False)
class TripletSentences:
    """The sentences of n triplets, with the unit and the groups of each triplet.

    - columns: lists of n sentences: anchors, positives, negatives, hard negatives, then a list for each distractor
    - units: the number of each triplet's unit, (n,)
    - dataset: the fingerprint of the dataset from which the anchors come
    - items: 2n indices of test items: those of the anchors, then those of the hard negatives; () without a dataset
    """

    contrast: str
    drawing: TripletSampling
    _: KW_ONLY
    columns: Sequence[Sequence[str]]
    units: NDArray[np.int64]
    groups: GroupNames
    dataset: str = ""
    items: Sequence[int] = ()

    @cached_property
    def sentences(self) -> list[str]:
        """The distinct sentences of all triplets."""
        return list(dict.fromkeys(text for column in self.columns for text in column))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """For each text in ``columns``, its index in ``sentences``, (columns, n) int64."""
        numbers = {text: number for number, text in enumerate(self.sentences)}
        return np.array([[numbers[text] for text in column] for column in self.columns])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of contrast, sentences and their order, and of the dataset if there is one."""
        dataset_part = [self.dataset] if self.dataset else []
        return digest(self.contrast, *self.sentences, self.rows.tolist(), *dataset_part)


def number_units(word_lists: Iterable[Iterable[str]]) -> NDArray[np.int64]:
    """Return the number of each triplet's unit, (n,). Triplets with the same words, in any order, share a unit."""
    numbers: dict[tuple[str, ...], int] = {}
    keys = (tuple(sorted(words)) for words in word_lists)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


class SampledTriplets(TripletSentences):
    """Triplets that are sampled from the space of a contrast, with distractors."""

    def __init__(self, space: tr.TripletSpace, drawing: TripletSampling) -> None:
        triplets = space.sample(drawing.n, seed=drawing.seed)
        strata = triplets.list_strata()
        distances = np.empty(len(triplets), dtype=np.int64)
        for part in triplets.parts:
            distances[part.positions] = _compute_distances(part)
        super().__init__(
            space.contrast.name,
            drawing,
            columns=[*map(triplets.render_texts, tr.SIDES), *render_distractors(triplets, drawing.distractors)],
            units=np.unique(triplets.hash_units(), return_inverse=True)[1],
            groups={
                "structure": [stratum.pattern.name for stratum in strata],
                "place": [format_place(stratum.place) for stratum in strata],
                "distance": [name_distance_bin(distance) for distance in distances.tolist()],
                "voice": [name_voice_group(s.place, s.voices, len(s.pattern.clauses)) for s in strata],
            },
        )


def build_triplet_spaces(
    lexicon: Lexicon, names: Sequence[str], drawing: TripletSampling, mood: Mood | None = None
) -> tuple[list[tr.TripletSpace], list[tr.ImpossibleContrastError]]:
    """Return a triplet space for each contrast in *names* or, if *names* is empty, for each possible contrast.

    The second list has an error for each contrast that was left out; it is empty unless *names* is empty. Raises
    ImpossibleContrastError if a contrast in *names*, or every contrast, is impossible.
    """
    spaces, errors = [], []
    for name in dict.fromkeys(names or CONTRASTS):
        try:
            space = tr.TripletSpace(
                lexicon, name, vocabulary=drawing.vocabulary, templates=drawing.templates, side=drawing.side, mood=mood
            )
        except tr.ImpossibleContrastError as error:
            if names:
                raise
            errors.append(error)
        else:
            spaces.append(space)
    if not spaces:
        raise errors[0]
    for space in spaces:
        space.check_count(drawing.n)
    return spaces, errors


def digest_words(lexicon: Lexicon, vocabulary: str, side: SplitSide | None) -> str:
    """Return a hash of the words in a vocabulary, or on one *side* of its split, and of their properties."""
    if side is not None:
        lexicon = side.restrict_lexicon(lexicon, vocabulary)
    words = choose_words(lexicon, vocabulary, Choices(), Constraints())
    lemmas = {*words.nouns, *words.verbs, *words.adverbs}
    return digest(*(word.list_properties() for word in lexicon.entries if word.lemma in lemmas))


BACKGROUND_SIZE = 2000
"""Maximum number of sentences from which whitening is estimated."""


def sample_background(lexicon: Lexicon, drawing: TripletSampling) -> list[str]:
    """Return sentences from which whitening is estimated, sampled from all structures that *drawing* allows."""
    space = tr.TripletSpace(
        lexicon, "tense", vocabulary=drawing.vocabulary, templates=drawing.templates, side=drawing.side
    )
    triplets = space.sample(min(BACKGROUND_SIZE // 2, space.count()), seed=drawing.seed)
    sides = (tr.TripletSide.ANCHOR, tr.TripletSide.POSITIVE)
    return list(dict.fromkeys(text for side in sides for text in triplets.render_texts(side)))


def name_voice_group(place: str, voices: Collection[str], clause_count: int) -> str:
    """Return the name of a triplet's group. It depends on what the negative changes, and on what the positive changes.

    - place: the path of the clause or noun that the negative changes, such as ``"agent.clause."``; "": the main clause
    - voices: an entry for each change of the positive. A clause's path: the clause changes its voice. A path that ends
      in ``dative``: a recipient changes its form ("him", "to him"). ``fronting``: the main clause changes word order
    - clause_count: the number of relative clauses in the anchor

    >>> name_voice_group("", ("", "agent.clause."), 1), name_voice_group("", ("",), 0)
    ('main changed, voice of both', 'no relative clause')
    >>> name_voice_group("agent.clause.", ("fronting",), 1)
    'relative changed, word order of main'
    """
    is_recipient = any(path.endswith(DATIVE) for path in voices)
    if not clause_count:
        return f"no relative clause{', form of recipient' * is_recipient}"
    form = "word order" if FRONTING in voices else "recipient" if is_recipient else "voice"
    main = {MAIN, DATIVE, FRONTING} & {*voices}
    turned = "both" if main and len(voices) > 1 else "main" if main else "relative"
    return f"{'relative' if 'clause.' in place else 'main'} changed, {form} of {turned}"


def _compute_distances(part: tr.TripletPart) -> NDArray[np.int64]:
    """Return the distance, in tokens, from verb to farthest participant in each anchor's changed clause, (n,) int64."""
    # A distance depends only on whether structural variables have their first value, so few distinct rows are planned.
    structural = {
        name: np.minimum(column, int(name.rpartition(".")[2] in STRUCTURAL))
        for name, column in part.anchors.values.items()
    }
    rows = np.stack([*structural.values()], axis=1)
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    layout, names = part.anchors.build_layout(), [*structural]
    columns = [structural[name][first].tolist() for name in names]
    distances = np.array(
        [
            _compute_layout_distance(layout, tuple(zip(names, row, strict=True)), part.stratum.place)
            for row in zip(*columns, strict=True)
        ]
    )
    return distances[inverse.reshape(-1)]


@lru_cache(maxsize=8192)  # contrasts share structures
def _compute_layout_distance(layout: Layout, values: tuple[tuple[str, int], ...], place: str) -> int:
    numbers = dict(values)
    event = build_layout_event({v.name: v.values[numbers[v.name]] for v in layout.variables}, layout)
    return compute_distance(event, place, layout.language)


def compute_distance(event: Event, place: str, language: Language) -> int:
    """Return the number of tokens from the verb of the clause at path *place* to its farthest participant."""
    tokens = plan_sentence(event, language).tokens
    positions = {token.slot: position for position, token in enumerate(tokens) if token.slot}
    clause = place if f"{place}verb" in positions else find_noun_clause(place)
    nouns = [f"{clause}{role.value}.noun" for role in Role]
    if clause != MAIN:
        nouns.append(f"{clause.removesuffix('clause.')}noun")
    return max(abs(positions[noun] - positions[f"{clause}verb"]) for noun in nouns if noun in positions)


def name_distance_bin(distance: int) -> str:
    """Return the range in which a distance falls, such as "1 to 3 tokens"."""
    if distance <= 3:
        return "1 to 3 tokens"
    return "4 to 6 tokens" if distance <= 6 else "7 tokens or more"


CONTENT_TAGS = ("NOUN", "VERB")
"""Parts of speech of the words that define a unit: triplets with the same nouns and verbs form a unit."""
_FIELDS = ("contrast", *(side.value for side in SIDES), "annotation")
_PAIR_FIELDS = frozenset({"anchor", "premise", "sentence_good"})
"""Fields by which output of ``gen pairs`` is recognized: one each for triplets, ``--nli`` and minimal pairs."""


def is_triplet_file(path: Path) -> bool:
    """Return whether a file has the fields of triplets, as columns (Parquet) or in the first line (JSONL)."""
    try:
        return set(_FIELDS) <= _read_fields(path)
    except SentprobeError:
        return False


def is_pairs_file(path: Path) -> bool:
    """Return whether a file looks like output of ``gen pairs``: it has one of _PAIR_FIELDS, or is Parquet."""
    try:
        is_known = path.suffix == ".parquet" or not _PAIR_FIELDS.isdisjoint(_read_fields(path))
    except SentprobeError:
        return False
    return is_known and path.is_file()


def check_annotation(path: Path) -> None:
    """Raise FormatError if a file is damaged or lacks a field that ``probe geometry`` needs."""
    if missing := [name for name in _FIELDS if name not in _read_fields(path)]:
        raise FormatError(
            f"{path}: not triplets that can be measured: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
            "missing; gen pairs writes them with their annotation, as JSONL or Parquet, without --for training"
        )


def _read_fields(path: Path) -> set[str]:
    """Return the names of a Parquet file's columns, or of the fields in the first line of a JSONL file."""
    if path.suffix == ".parquet":
        with _open_parquet(path) as file:
            return set(file.schema_arrow.names)
    first = next(_read_values(path), None) if path.suffix == ".jsonl" else None
    return set(first) if isinstance(first, Mapping) else set()


def read_triplets(path: Path, *, seed: int = 0) -> TripletSentences:
    """Read a JSONL or Parquet file with triplets of one contrast. Raises FormatError if it is malformed."""
    triplets = list(_read_rows(path))
    contrasts = sorted({contrast for contrast, _, _ in triplets})
    if len(contrasts) != 1:
        problem = f"these are of {' and '.join(contrasts)}" if contrasts else "it has none"
        raise FormatError(f"{path}: a file must have triplets of one contrast; {problem}")
    return TripletSentences(
        find_contrast(contrasts[0]).name,
        TripletSampling(vocabulary="", templates=(), n=len(triplets), distractors=0, seed=seed),
        columns=list(zip(*(sides for _, sides, _ in triplets), strict=True)),
        units=number_units(lemmas for _, _, lemmas in triplets),
        groups={},
    )


def read_triplet_files(paths: Iterable[Path], *, seed: int) -> list[TripletSentences]:
    """Read the triplets of each file; raise UsageError if two files have the same contrast."""
    materials: dict[str, tuple[Path, TripletSentences]] = {}
    for path in paths:
        check_annotation(path)
        material = read_triplets(path, seed=seed)
        if material.contrast in materials:
            raise UsageError(
                f"{materials[material.contrast][0]} and {path} are both of the contrast {material.contrast}: "
                "use two commands"
            )
        materials[material.contrast] = path, material
    return [material for _, material in materials.values()]


def _read_rows(path: Path) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield the contrast of each triplet, its sentences by side, and the lemmas of its anchor's nouns and verbs."""
    is_parquet = path.suffix == ".parquet"
    row_kind = "triplet" if is_parquet else "line"
    rows: Iterable[Any] = _read_parquet_rows(path) if is_parquet else _read_values(path)
    for number, row in enumerate(rows, 1):
        try:
            texts = (row["contrast"], *(row[side.value] for side in SIDES))
            anchor = row["annotation"][TripletSide.ANCHOR.value]
            tokens = anchor.get("tokens", anchor)  # JSONL has the columns of tokens one level deeper than Parquet
            pairs = zip(tokens["lemma"], tokens["upos"], strict=True)
            lemmas = tuple(lemma for lemma, upos in pairs if upos in CONTENT_TAGS)
            if not all(isinstance(text, str) and text for text in (*texts, *lemmas)):
                raise TypeError("a text is missing")
        except (KeyError, TypeError, AttributeError, ValueError):
            raise FormatError(
                f"{path}: {row_kind} {number}: not a triplet as gen pairs writes it, with the texts contrast, "
                f"{', '.join(SIDES)} and the annotation"
            ) from None
        yield texts[0], texts[1:], lemmas


def _read_values(path: Path) -> Iterator[Any]:
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield parse_json(line)
                except BadSyntaxError as error:
                    raise FormatError(f"line {number}: {error}") from None
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error


@contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with report_parquet_errors(path), pq.ParquetFile(to_input_path(path)) as file:
        yield file


def _read_parquet_rows(path: Path) -> list[Any]:
    anchor = f"annotation.{TripletSide.ANCHOR.value}"
    with _open_parquet(path) as file:
        rows: list[Any] = file.read(columns=["contrast", *SIDES, f"{anchor}.lemma", f"{anchor}.upos"]).to_pylist()
    return rows
