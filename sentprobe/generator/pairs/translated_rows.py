"""Translation of many triplets at once: the anchor stays English, the positive and negatives are in another language.

Each variable has an array with one value for each translated sentence.

An entry of the other lexicon names its English lemma under the key ``english``. The other language has no progressive,
so every clause becomes simple. Verbs that take a dative object in the other language have no passive there. With such a
verb, a passive English clause becomes active; in a main clause, the object then comes first. If a translation would
have two readings, its transitive clauses become passive, except those with a dative object.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from itertools import count, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs import triplet_files as files
from sentprobe.generator.pairs.drafts import ADJECTIVE, MAIN, EventDraft, RowRenderer, ValueColumn, format_clause_path
from sentprobe.generator.pairs.inference_pairs import TrainingColumns, iterate_training_columns
from sentprobe.generator.pairs.triplets import SIDES, TripletRows, TripletSet, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import json_escape
from sentprobe.generator.spaces.constraints import Words
from sentprobe.generator.spaces.drawn_event import DrawnEvent
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseForm, Layout, PhraseForm, make_layout
from sentprobe.generator.spaces.object_readings import list_undecided
from sentprobe.generator.spaces.space import EventBatch
from sentprobe.generator.spaces.templates import ClausePattern, Pattern
from sentprobe.lexicon import Flag, Kind, Lexicon, Word

UNTRANSLATED = {
    "aspect": "progressive and simple events have one translation",
    "perfect": "perfect and simple events have one translation",
    "modality": "modals are not translated",
    "mood": "questions and orders are not translated",
    "numeral": "numerals are not translated",
    "name": "names are not translated",
    "adjunct": "times and places are not translated",
    "recipient": "verbs with a recipient are not translated",
}
"""The contrasts that are not translated, with the reason."""


class Translator:
    """Translator of words from English into another language, by the lexicons of the two languages.

    >>> from sentprobe.lexicon.read import load_lexicon
    >>> Translator(load_lexicon(None), load_lexicon(None, "de")).find_word(Kind.TRANSITIVE, "help").lemma
    'helfen'
    """

    def __init__(self, source: Lexicon, target: Lexicon) -> None:
        self.source, self.target = source, target
        self._words: dict[tuple[Kind, str], Word] = {}
        for word in target.entries:
            if word.english:  # a verb with a dative object translates a transitive verb
                self._words[Kind.TRANSITIVE if word.kind is Kind.DATIVE else word.kind, word.english] = word
        article = target.get(target.language.determiner, Kind.DETERMINER)
        self._words[Kind.DETERMINER, source.language.determiner] = article

    def restrict(self, vocabulary: str) -> Lexicon:
        """Return a copy of the source lexicon in which *vocabulary* has only words with a usable translation."""
        words = self.source.vocabulary(vocabulary).words
        # Negated clauses forbid sentence adverbs.
        usable = {key for key, word in self._words.items() if Flag.SENTENCE not in word.flags}
        chosen = {kind: [lemma for lemma in words[kind] if (kind, lemma) in usable] for kind in words}
        return self.source.replace_words(vocabulary, chosen)

    def find_word(self, kind: Kind, lemma: str) -> Word:
        """Return the translation of an English word. Raises UsageError if there is none."""
        if (kind, lemma) not in self._words:
            raise UsageError(f"the {kind} {lemma!r} has no translation in {self.target.source}")
        return self._words[kind, lemma]


Mask = NDArray[np.bool_]
_PASSIVE = [*ev.Voice].index(ev.Voice.PASSIVE)


class _DraftClause(NamedTuple):
    """A clause of a draft; ``owner`` is the path of the noun that the clause modifies, or "" for the main clause."""

    path: str
    owner: str
    frame: ev.Frame
    voice: ev.Voice | None
    gap: ev.Role | None

    def get_noun_path(self, role: ev.Role) -> str:
        return self.owner if role is self.gap else f"{self.path}{role.value}."


class RowTranslator:
    """Translator of drafts. ``words`` has the translated words; verbs with the same translation share one entry."""

    def __init__(self, words: Words, translator: Translator) -> None:
        self.lexicon = translator.target
        find = translator.find_word
        pairs = [(frame, i) for frame, verbs in words.verbs_by_frame.items() for i in sorted(verbs)]
        verbs = {pair: find(Kind(pair[0].value), words.verbs[pair[1]]) for pair in pairs}
        lemmas = tuple(dict.fromkeys(word.lemma for word in verbs.values()))
        kinds: dict[ev.Frame, set[int]] = {frame: set() for frame in ev.Frame}
        self._verbs = {frame: np.zeros(len(words.verbs), np.int64) for frame in ev.Frame}
        self._has_dative = np.zeros(len(words.verbs), bool)
        for (frame, i), word in verbs.items():
            # Two English verbs may have one German verb, so numbers of German verbs are looked up, not counted.
            self._verbs[frame][i] = number = lemmas.index(word.lemma)
            kinds[ev.Frame(word.kind.value)].add(number)
            self._has_dative[i] |= word.kind is Kind.DATIVE
        self.words = Words(
            nouns=tuple(find(Kind.NOUN, lemma).lemma for lemma in words.nouns),
            verbs=lemmas,
            verbs_by_frame={frame: frozenset(numbers) for frame, numbers in kinds.items()},
            adverbs=tuple(find(Kind.ADVERB, lemma).lemma for lemma in words.adverbs),
            adjectives=tuple(find(Kind.ADJECTIVE, lemma).lemma for lemma in words.adjectives),
            determiners=tuple((number, find(Kind.DETERMINER, lemma).lemma) for number, lemma in words.determiners),
            relativizers=(self.lexicon.language.relativizer,) * len(words.relativizers),
            language=self.lexicon.language,
        )
        self._is_plural = np.array([number == ev.Number.PLURAL for number, _ in self.words.determiners])
        self._is_undecided = np.zeros((len(self.words.determiners), len(self.words.nouns)), bool)
        for box in list_undecided(self.words, self.lexicon, ""):
            self._is_undecided[np.ix_([*box["det"]], [*box["noun"]])] = True
        self._layouts: dict[Hashable, Layout] = {}
        self._is_ambiguous = np.array([self._has_two_readings(lemma) for lemma in lemmas], bool)

    def _has_two_readings(self, lemma: str) -> bool:
        """Say whether any finite form of a verb has several readings in the lexicon. Past participles do not count."""
        words = [self.lexicon.get(lemma, kind) for kind in self.lexicon.kinds_of(lemma)]
        texts = {text for word in words for form, text in word.forms.items() if str(form).startswith("VVFIN")}
        readings = ([form for _, form in self.lexicon.find(text) if form != "VVPP"] for text in texts)
        return any(len(forms) > 1 for forms in readings)

    def translate(self, draft: EventDraft) -> Iterator[EventBatch]:
        """Yield the translated events of a draft, in batches with one layout each."""
        clauses = [_DraftClause(MAIN, "", draft.frame, None, None)]
        for role, pattern in draft.clauses.items():
            path = format_clause_path(role)
            clauses.append(_DraftClause(path, f"{role.value}.", pattern.frame, pattern.voice, pattern.gap))
        values = self._translate_values(draft, clauses)
        rows = np.zeros(len(draft.salts), np.int64)
        has_dative = {
            c.path: self._has_dative[draft.values[f"{c.path}verb"]] & (c.frame is ev.Frame.TRANSITIVE) for c in clauses
        }
        is_passive = draft.values.get("voice", rows) == _PASSIVE
        # A key has a bit for each clause, which says that its verb takes the dative. The last bit says that such a main
        # clause is passive in English, so that the object of the translation comes first.
        keys = rows
        for mask in (*has_dative.values(), has_dative[MAIN] & is_passive):
            keys = 2 * keys + mask
        for key in np.unique(keys):
            places = np.flatnonzero(keys == key)
            translated = [
                clause._replace(frame=ev.Frame.DATIVE, voice=ev.Voice.ACTIVE) if mask[places[0]] else clause
                for clause, mask in zip(clauses, has_dative.values(), strict=True)
            ]
            make_layout = partial(self._find_layout, draft, ev.Fronting.OBJECT if key % 2 else None)
            selected = {name: column[places] for name, column in values.items()}
            if translated[0].frame is ev.Frame.DATIVE:
                selected.pop("voice", None)
            for batch in self._make_batches(translated, make_layout, selected):
                yield EventBatch(batch.layout, places[batch.positions], batch.values)

    def _translate_values(self, draft: EventDraft, clauses: list[_DraftClause]) -> dict[str, ValueColumn]:
        values = dict(draft.values)
        for clause in clauses:
            path = clause.path
            values[f"{path}verb"] = self._verbs[clause.frame][values[f"{path}verb"]]
            values[f"{path}aspect"] = np.zeros_like(values[f"{path}aspect"])  # simple
            negation = NEGATIONS.index(ev.Negator.NOT.value)
            values[f"{path}negation"] = np.where(values[f"{path}negation"] > 0, negation, 0)
        return values

    def _make_batches(
        self,
        clauses: list[_DraftClause],
        make_layout: Callable[[list[_DraftClause]], Layout],
        values: dict[str, ValueColumn],
    ) -> Iterator[EventBatch]:
        """Yield up to two batches: the unambiguous events, and the ambiguous ones, made unambiguous by the passive."""
        layout, count = make_layout(clauses), len(values["verb"])
        is_ambiguous = self._find_ambiguous(layout, clauses, values, count)
        passive = [c._replace(voice=ev.Voice.PASSIVE) if c.frame is ev.Frame.TRANSITIVE else c for c in clauses]
        voice = {"voice": np.full(count, _PASSIVE)} if clauses[0].frame is ev.Frame.TRANSITIVE else {}
        if not is_ambiguous.all():
            yield _select_rows(layout, values, np.flatnonzero(~is_ambiguous))
        if is_ambiguous.any():
            yield _select_rows(make_layout(passive), values | voice, np.flatnonzero(is_ambiguous))

    def _find_layout(self, draft: EventDraft, fronting: ev.Fronting | None, clauses: list[_DraftClause]) -> Layout:
        adjectives = tuple(name for name in sorted(draft.values) if name.endswith(ADJECTIVE))
        key = fronting, tuple(clauses), tuple(draft.adverbs.items()), adjectives
        if key not in self._layouts:
            self._layouts[key] = self._make_layout(draft, fronting, clauses)
        return self._layouts[key]

    def _make_layout(self, draft: EventDraft, fronting: ev.Fronting | None, clauses: list[_DraftClause]) -> Layout:
        main, *inner = clauses
        patterns: dict[ev.Role, ClausePattern] = {}
        for clause in inner:
            if clause.gap and clause.voice:
                is_subject = (clause.gap is ev.Role.AGENT) is (clause.voice is ev.Voice.ACTIVE)
                kind = ev.ClauseKind.SUBJECT if is_subject else ev.ClauseKind.OBJECT
                role = ev.Role(clause.owner.removesuffix("."))
                patterns[role] = ClausePattern(clause.frame, kind, clause.gap, clause.voice)
        where = tuple((role, patterns[role]) for role in ev.ROLES if role in patterns)
        paths = [MAIN, *(format_clause_path(role) for role, _ in where)]
        forms = (ClauseForm(fronting=fronting), *[ClauseForm()] * len(inner))
        adjectives = [name.removesuffix(ADJECTIVE) for name in sorted(draft.values) if name.endswith(ADJECTIVE)]
        phrases = tuple(PhraseForm(path, 1) for path in adjectives)
        pattern = Pattern("", main.frame, where)
        counts = tuple(draft.adverbs[path] for path in paths)
        return make_layout(pattern, counts, self.words, (ev.Negator.NOT,), forms, phrases=phrases)

    def _find_ambiguous(
        self, layout: Layout, clauses: list[_DraftClause], values: Mapping[str, ValueColumn], count: int
    ) -> Mask:
        """Return, for each translated event, whether it is ambiguous and has an active transitive clause."""
        is_ambiguous, is_active, is_special = (np.zeros(count, bool) for _ in range(3))
        for clause in clauses:
            is_special |= self._is_ambiguous[values[f"{clause.path}verb"]]
            if clause.frame is not ev.Frame.TRANSITIVE:
                continue
            voice = values.get(f"{clause.path}voice")
            active = np.full(count, clause.voice is not ev.Voice.PASSIVE) if voice is None else voice != _PASSIVE
            agent, patient = (clause.get_noun_path(role) for role in (ev.Role.AGENT, ev.Role.PATIENT))
            dets = [values[f"{path}det"] for path in (agent, patient)]
            nouns = [values[f"{path}noun"] for path in (agent, patient)]
            undecided = [self._is_undecided[det, noun] for det, noun in zip(dets, nouns, strict=True)]
            same_number = self._is_plural[dets[0]] == self._is_plural[dets[1]]
            is_ambiguous |= active & undecided[0] & undecided[1] & same_number
            is_active |= active
        # A form that two verbs share is ambiguous in some sentences only. The parser decides, last, because it is slow.
        for row in np.flatnonzero(is_special & is_active & ~is_ambiguous):
            event = DrawnEvent(layout, [int(values[variable.name][row]) for variable in layout.variables]).event
            is_ambiguous[row] = len(parse(realize(event, self.lexicon).text, self.lexicon)) > 1
        return is_ambiguous


def _select_rows(layout: Layout, values: Mapping[str, ValueColumn], rows: NDArray[np.int64]) -> EventBatch:
    return EventBatch(layout, rows, {name: column[rows] for name, column in values.items()})


class TranslatedRows(TripletRows):
    """The translated sentences of triplets: all ``POSITIVE``, then ``NEGATIVE``, then ``HARD``; no anchors."""

    def __init__(self, triplets: TripletSet, translator: RowTranslator) -> None:
        super().__init__(triplets, triplets.list_makers(SIDES[1:]))
        self.lexicon, self.words = translator.lexicon, translator.words
        self._translator = translator

    def make_batches(self, draft: EventDraft, rows: NDArray[np.int64]) -> Iterator[EventBatch]:
        """Yield the translated events of *draft*. *rows* has each event's index in the list of requested sentences."""
        for batch in self._translator.translate(draft):
            yield EventBatch(batch.layout, rows[batch.positions], batch.values)


def format_translated_rows(triplets: TripletSet, translator: Translator) -> Iterator[str]:
    """Yield a line of JSON for each triplet, with all sentences but the anchor translated.

    Triplets whose two negatives have the same translation are left out. Ids are, for example, "role-1", "role-2".
    """
    space = triplets.space
    rows = RowTranslator(space.words, translator)
    anchors = RowRenderer(space.lexicon, space.words, files.format_record, json_escape)
    translations = RowRenderer(rows.lexicon, rows.words, files.format_record, json_escape)
    numbers = count(1)
    for first, portion in triplets.iterate_portions(files.LINES_SIZE):
        columns = anchors.render_columns(TripletRows(portion, portion.list_makers(SIDES[:1])), 1)
        columns += translations.render_columns(TranslatedRows(portion, rows), len(SIDES) - 1)
        pairs = files.pair_records(portion, columns, first=first, total=len(triplets), needs_two_negatives=True)
        for fact, sentences in pairs:
            del fact["voices"]  # those of the translation differ
            yield files.format_full_line({**fact, "id": f"{space.contrast.name}-{next(numbers)}"}, sentences)


_DRAWS = 4
"""Number of triplets to sample for each line, because in many of them both negatives have the same translation."""


def format_translated_lines(space: TripletSpace, n: int, seed: int, translator: Translator) -> Iterator[str]:
    """Yield *n* translated triplets as lines of JSON (see :func:`format_translated_rows`). Raises UsageError."""
    space.check_count(n)
    triplets = space.sample_unchecked(min(_DRAWS * n, space.count()), seed=seed)
    number = 0
    for line in islice(format_translated_rows(triplets, translator), n):
        number += 1
        yield line
    if number < n:
        raise UsageError(
            f"only {number} of the {n} triplets have two different negatives in {translator.target.language.name}"
        )


def iterate_translated_columns(triplets: TripletSet, translator: Translator) -> Iterator[TrainingColumns]:
    """Yield columns as ``iterate_training_columns`` does, with positives and negatives translated."""
    rows = RowTranslator(triplets.space.words, translator)

    def render(portion: TripletSet) -> list[list[str]]:
        anchors = TripletRows(portion, portion.list_makers(SIDES[:1])).render_texts()
        return anchors + TranslatedRows(portion, rows).render_texts()

    return iterate_training_columns(triplets, render)
