"""Retrieval sets as files in the layout of BEIR: queries, documents and relevance judgements.

A query is the anchor of a triplet, and the positive is its relevant document. The negatives, and the documents of other
queries, are not relevant; nor are distractors, which differ from the anchor in exactly one property.

The document of an exclusion query ("who helped the doctor but did not help the lawyer") is two statements. The relevant
one is "the man helped the doctor. the man did not help the lawyer." An irrelevant one has the same words: "the man did
not help the doctor. the man helped the lawyer."
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import ClassVar, TypeAlias

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.files import atomic_new_folder
from sentprobe.common.values import format_json
from sentprobe.generator.bulk.columns import MARK_END, MARK_START
from sentprobe.generator.bulk.generation import PART_SIZE, Decoder, RecordStore
from sentprobe.generator.bulk.word_tables import WordTables
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.notation import write_event, write_lemma
from sentprobe.generator.pairs import drafts
from sentprobe.generator.pairs.contrasts import CONTRASTS, Contrast
from sentprobe.generator.pairs.drafts import EventDraft, find_irreplaceable_words, find_symmetric_verbs
from sentprobe.generator.pairs.meaning_keys import MeaningKeys
from sentprobe.generator.pairs.triplets import (
    SIDES,
    SentenceMaker,
    TripletPart,
    TripletRows,
    TripletSet,
    TripletSide,
    TripletSpace,
)
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.rules import find_verbs_without_progressive
from sentprobe.generator.spaces.templates import SplitSide
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.lexicon import restrict_to_one_sort
from sentprobe.lexicon.words import PERSON

MAX_DISTRACTORS = 8
"""Maximum number of distractors of a triplet."""

_USUAL_CONTRASTS = ("role", "modifier", "polarity", "tense", "aspect", "number", "noun", "verb")
"""Names of contrasts that are possible for most events."""


def render_distractors(triplets: TripletSet, count: int) -> list[list[str]]:
    """Return *count* lists, each with one distractor for every triplet, in the voice and word order of the positive.

    The first list holds the negatives. The other lists hold sentences with a different change, chosen at random.

    Raises:
        UsageError: a triplet has fewer than *count* distractors.
    """
    check_distractors(count)
    if not count:
        return []
    possible_edits: dict[tuple[str, str, str], bool] = {}
    edits = {id(part): _choose_edits(triplets, part, count, possible_edits) for part in triplets.parts}
    columns = [partial(_draft_distractor, triplets, edits, number) for number in range(count)]
    return TripletRows(triplets, columns).render_texts()


def check_distractors(count: int) -> None:
    """Raise UsageError if *count* is negative or above MAX_DISTRACTORS."""
    if not 0 <= count <= MAX_DISTRACTORS:
        raise UsageError(f"a triplet has from 0 to {MAX_DISTRACTORS} distractors, not {count}")


_Edit: TypeAlias = tuple[Contrast, str]
"""A contrast, and the path of the clause or noun that is changed."""


def _draft_distractor(
    triplets: TripletSet, edits: dict[int, list[_Edit]], number: int, part: TripletPart
) -> EventDraft:
    contrast, place = edits[id(part)][number]
    return contrast.edit(triplets.build_draft(part, side=TripletSide.POSITIVE), place)


def _choose_edits(
    triplets: TripletSet, part: TripletPart, count: int, possible_edits: dict[tuple[str, str, str], bool]
) -> list[_Edit]:
    """Return *count* edits that turn a positive into distractors. The first makes the negative; the others are random.

    The choice depends on the seed of *triplets*. *possible_edits* is a cache of which edits are possible.
    """
    stratum, own_contrast = part.stratum, triplets.space.contrast
    other_edits = [
        (contrast, place)
        for contrast in _find_applicable_contrasts(triplets)
        for place in contrast.find_places(stratum.pattern)
        if (contrast, place) != (own_contrast, stratum.place) and _is_possible(contrast, place, part, possible_edits)
    ]
    if len(other_edits) < count - 1:
        raise UsageError(f"{stratum.pattern.name}: a triplet has only {len(other_edits) + 1} distractors")
    key = (triplets.seed, stratum.pattern.name, stratum.place, stratum.voices)
    return [(own_contrast, stratum.place), *Random(repr(key)).sample(other_edits, count - 1)]


def _is_possible(
    contrast: Contrast, place: str, part: TripletPart, possible_edits: dict[tuple[str, str, str], bool]
) -> bool:
    if contrast.name == "tense" and f"{place}tense" not in part.anchors.values:
        return False  # a modal has no tense
    slot, key = contrast.replaced_slot, (contrast.name, place, part.stratum.pattern.name)
    if key not in possible_edits:
        draft = part.anchors
        possible_edits[key] = not slot or not find_irreplaceable_words(
            draft.replacements, draft.build_layout(), f"{place}{slot}"
        )
    return possible_edits[key]


def _find_applicable_contrasts(triplets: TripletSet) -> Iterator[Contrast]:
    """Yield the contrasts from which distractors of the triplets can be made.

    Number and modifier are excluded beside numerals and names, tense beside times and places. Aspect is excluded if the
    language or a verb has no progressive, or beside the perfect. It is also excluded if the negatives differ in an
    adverb, because some anchors need the progressive to show which verb the adverb modifies.
    Role and modifier are excluded unless all nouns have one sort (such as person), and all verbs and adjectives accept
    it. Role is also excluded beside verbs that mean the same both ways.
    """
    space = triplets.space
    needs_aspect = space.contrast.needed_kind is Kind.ADVERB
    needs_aspect = needs_aspect or ev.Aspect.PROGRESSIVE not in space.lexicon.language.aspects
    needs_aspect = needs_aspect or space.contrast.name == "perfect"  # in whose pairs verbs may be passive
    needs_aspect = needs_aspect or bool(find_verbs_without_progressive(space.words, space.lexicon))
    has_sorts = restrict_to_one_sort(space.lexicon, space.vocabulary) is not space.lexicon
    is_symmetric = bool(find_symmetric_verbs(space.words, space.lexicon))
    for name in _USUAL_CONTRASTS:
        if name in ("number", "modifier") and space.contrast.list_determiners is not None:
            continue  # a numeral has one number, and a name no relative clause
        if CONTRASTS[name].exchanges_roles and not space.contrast.exchanges_roles and is_symmetric:
            continue
        if name == "tense" and space.contrast.needed_kind is Kind.ADJUNCT:
            continue  # no time in the present
        if not ((name == "aspect" and needs_aspect) or (CONTRASTS[name].moves_nouns and has_sorts)):
            yield CONTRASTS[name]


DOCUMENTS = {"positive": (False, True), "both": (False, False), "exchanged": (True, False)}
"""For each document of a query: whether the first statement is negated, and whether the second statement is."""


class ExclusionSpace(TripletSpace):
    """All exclusion queries of a vocabulary, such as "who helped the doctor but did not help the lawyer"."""

    ITEM_NAME: ClassVar[str] = "queries"
    SENTENCES_PER_ITEM: ClassVar[int] = 2 + 2 * len(DOCUMENTS)

    def __init__(self, lexicon: Lexicon, *, vocabulary: str, side: SplitSide | None = None) -> None:
        one_sort = restrict_to_one_sort(lexicon, vocabulary)
        super().__init__(one_sort, "noun", vocabulary=vocabulary, templates=["transitive"], side=side)
        self.contrast = replace(self.contrast, name="exclusion")
        self.strata = tuple(stratum for stratum in self.strata if stratum.place == _PATIENT)

    def list_makers(self) -> Mapping[str, tuple[SentenceMaker, ...]]:
        """Map "query" to two makers of questions, and each name in DOCUMENTS to two makers of statements."""
        makers: dict[str, tuple[SentenceMaker, ...]] = {
            "query": (self.make_question(0), self.make_question(1, negated=True))
        }
        for name, negations in DOCUMENTS.items():
            makers[name] = tuple(partial(_draft_statement, number, n) for number, n in enumerate(negations))
        return makers

    def make_question(self, number: int, *, negated: bool = False) -> SentenceMaker:
        """Return a maker of a query's first question (*number* 0) or its second (1), such as "who helped the man"."""
        sort = self.lexicon.get(self.words.nouns[0], Kind.NOUN).sort
        return partial(_draft_question, ev.Asked.WHO if sort == PERSON else ev.Asked.WHAT, number, negated)


def join_questions(texts: Sequence[str]) -> str:
    """Join two questions with "but", without the second question word; return a single text unchanged.

    >>> join_questions(["who helped the man", "who did not help the lawyer"])
    'who helped the man but did not help the lawyer'
    """
    first, *others = texts
    return " but ".join([first, *(text.partition(" ")[2] for text in others)])


def join_statements(texts: Sequence[str]) -> str:
    """Add a full stop to each of two statements, and join them with a space. Return a single text unchanged."""
    return texts[0] if len(texts) == 1 else " ".join(f"{text}." for text in texts)


_PATIENT = "patient."


def _draft_statement(number: int, negated: bool, part: TripletPart) -> drafts.EventDraft:  # noqa: FBT001 - bound above
    draft = drafts.replace_word(part.anchors, _PATIENT, slot="noun") if number else part.anchors
    return replace(draft, values={**draft.values, "negation": np.full_like(draft.values["negation"], negated)})


def _draft_question(asked: ev.Asked, number: int, negated: bool, part: TripletPart) -> drafts.EventDraft:  # noqa: FBT001
    statement = _draft_statement(number, negated, part)
    values = {**statement.values, "voice": np.zeros_like(statement.values["voice"])}
    return replace(statement, values=values, mood=ev.Mood.QUESTION, asked=(ev.Role.AGENT, asked))


def sample_distinct_meanings(spaces: Sequence[TripletSpace], count: int, *, seed: int) -> list[TripletSet]:
    """Return *count* triplets of each space. The anchors and negatives of different triplets have different meanings.

    In exclusion queries, questions are compared instead. The query "who helped X but did not help Y" has the questions
    "who helped X" and "who helped Y". No question of one query means the same as a question of another query.

    Raises:
        UsageError: a space has too few triplets with different meanings, or the contrast ``numeral``.
    """
    if any(space.contrast.name == "numeral" for space in spaces):
        raise UsageError(
            "the contrast 'numeral' is impossible in retrieval: five doctors are also three doctors, so a document "
            "with another numeral may be relevant"
        )
    meanings: set[bytes] = set()
    keys = MeaningKeys()
    return [_select_distinct(space, count, seed, keys, meanings) for space in spaces]


def _select_distinct(space: TripletSpace, count: int, seed: int, keys: MeaningKeys, meanings: set[bytes]) -> TripletSet:
    """Return *count* triplets with meanings that are not in *meanings*; add their meanings to *meanings*."""
    space.check_count(count)
    # Twice as many as needed, because some have the meaning of another.
    triplets = space.sample_unchecked(min(2 * count, space.count()), seed=seed)
    positions: list[int] = []
    for start, portion in triplets.iterate_portions(min(count, PART_SIZE) or 1):
        for position, pair in enumerate(_list_meanings(portion, keys), start):
            if len(positions) < count and meanings.isdisjoint(pair):
                meanings.update(pair)
                positions.append(position)
        if len(positions) == count:
            break
    if len(positions) < count:
        raise UsageError(
            f"{count} queries of the contrast {space.contrast.name} were asked for, but only {len(positions)} with "
            "different meanings were found; take fewer, or a larger vocabulary"
        )
    return triplets.select(np.array(positions))


def _list_meanings(triplets: TripletSet, keys: MeaningKeys) -> Iterator[tuple[bytes, ...]]:
    """Return, for each triplet, the keys of the meanings of its anchor and of its negative.

    For an exclusion query such as "who helped X but did not help Y", return the meanings of "who helped X" and of
    "who helped Y" instead.
    """
    space = triplets.space
    makers = (
        [space.make_question(number) for number in range(2)]
        if isinstance(space, ExclusionSpace)
        else triplets.list_makers((TripletSide.ANCHOR, TripletSide.NEGATIVE))
    )
    pairs: dict[int, tuple[bytes, ...]] = {}
    for part in triplets.parts:
        columns = (keys.compute_keys(maker(part)) for maker in makers)
        pairs |= zip(part.positions.tolist(), zip(*columns, strict=True), strict=True)
    return (pairs[position] for position in range(len(triplets)))


CARD = """---
configs:
- {config_name: corpus, data_files: corpus.jsonl}
- {config_name: queries, data_files: queries.jsonl}
- {config_name: default, data_files: [{split: test, path: qrels/test.jsonl}]}
---

A retrieval set of sentprobe, in the layout of BEIR. The configurations above are for MTEB.
"""


FILES = ("README.md", "corpus.jsonl", "queries.jsonl", "qrels/test.jsonl", "qrels/test.tsv")


def write_retrieval(triplet_sets: Sequence[TripletSet], folder: Path) -> None:
    """Write ``corpus.jsonl``, ``queries.jsonl``, ``qrels/`` and a card. Raises UsageError if *folder* has files."""
    with atomic_new_folder(folder, FILES) as temporary:
        queries = [*chain.from_iterable(map(_iterate_queries, triplet_sets))]
        _write_lines(temporary / "queries.jsonl", (record for record, _ in queries))
        _write_lines(temporary / "corpus.jsonl", (record for _, documents in queries for record in documents))
        names = [query["_id"] for query, _ in queries]
        rows = [dict(zip(QRELS, (name, f"{name}-{TripletSide.POSITIVE}", 1), strict=True)) for name in names]
        (temporary / "qrels").mkdir()
        _write_lines(temporary / "qrels" / "test.jsonl", rows)
        lines = ("\t".join(map(str, row)) for row in (QRELS, *(row.values() for row in rows)))
        (temporary / "qrels" / "test.tsv").write_bytes("".join(f"{line}\n" for line in lines).encode())
        (temporary / "README.md").write_bytes(CARD.encode())


QRELS = ("query-id", "corpus-id", "score")
"""The columns of a file of relevance judgements."""

Record: TypeAlias = dict[str, object]


def _iterate_queries(triplets: TripletSet) -> Iterator[tuple[Record, list[Record]]]:
    """Yield the record of each query with the records of its documents. A document's sentences are in random order."""
    space = triplets.space
    makers: Mapping[str, tuple[SentenceMaker, ...]] = (
        space.list_makers()
        if isinstance(space, ExclusionSpace)
        else {side: (partial(triplets.build_draft, side=side),) for side in SIDES}
    )
    _, *labels = makers
    sentences = iter(_describe_sentences(triplets, [*chain.from_iterable(makers.values())]))
    columns = [zip(*islice(sentences, len(group)), strict=True) for group in makers.values()]
    orders = np.random.default_rng((triplets.seed, 3)).choice((1, -1), len(triplets)).tolist()
    for number, (order, query, *documents) in enumerate(zip(orders, *columns, strict=True), 1):
        name = f"{space.contrast.name}-{number}"
        rows = zip(labels, documents, strict=True)
        yield (
            _build_record(name, query, join_questions),
            [_build_record(f"{name}-{label}", row[::order], join_statements, title="") for label, row in rows],
        )


_DescribedSentence: TypeAlias = tuple[str, str]
"""A sentence, and its event in text notation."""


def _describe_sentences(triplets: TripletSet, makers: Sequence[SentenceMaker]) -> list[list[_DescribedSentence]]:
    """Return, for each of *makers*, the sentences that it makes of the triplets, each with its event."""
    rows = TripletRows(triplets, makers)
    tables = WordTables(rows)
    texts = RecordStore(tables.pool, lambda sentence: f"{sentence.text}\n")
    events = RecordStore(tables.pool, _write_marked_event, write_lemma)
    sentences: list[_DescribedSentence] = []
    for chunk in Decoder(rows, tables, [texts, events]).decode_chunks(np.arange(rows.count())):
        columns = (store.join_records(chunk).split("\n")[:-1] for store in (texts, events))
        sentences += zip(*columns, strict=True)
    return [sentences[start : start + len(triplets)] for start in range(0, len(sentences), len(triplets))]


_QUOTED_MARK = re.compile(f'"({MARK_START}\\d+{MARK_END})"')


def _write_marked_event(sentence: Sentence) -> str:
    # A mark is no word, so it is quoted. The words of the lexicon, which replace the marks, are quoted where necessary.
    return _QUOTED_MARK.sub(r"\1", write_event(sentence.event)) + "\n"


def _build_record(
    name: str, sentences: Sequence[_DescribedSentence], join: Callable[[Sequence[str]], str], **fields: str
) -> Record:
    texts, events = zip(*sentences, strict=True)
    return {"_id": name, **fields, "text": join(texts), "metadata": {"events": events}}


def _write_lines(path: Path, records: Iterable[Record]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(format_json(record) + "\n" for record in records)
