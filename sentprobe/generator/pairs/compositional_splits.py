"""Compositional splits of sentences with logical forms, after COGS (Kim and Linzen 2020) and SLOG (Li et al. 2023).

A split holds combinations out of training: a word in a role, a relative clause at a place, or a depth of nesting. The
words and structures themselves occur in training. Each sentence of the file ``gen`` has a held-out combination.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.common.files import atomic_new_folder
from sentprobe.common.values import format_json
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event import Dative, Event, Frame, Participant, RelativeClause, Role, Voice
from sentprobe.generator.pairs.logical_forms import DEFINITE, INDEFINITE, build_logical_form, write_variable_free
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.languages.english import ENGLISH

Combination: TypeAlias = tuple[str, str]
"""A word or structure, and the role, place or depth in which it stands, such as ("lawyer", "patient")."""


class CompositionalSplit(StrEnum):
    """What a split holds out of training."""

    LEXICAL = "lexical"
    """Nouns as agents or as patients, and verbs in the passive."""
    STRUCTURAL = "structural"
    """Relative clauses on subjects and on recipients; in training, they modify other nouns."""
    RECURSIVE = "recursive"
    """Relative clauses nested more than two deep."""


class LogicalNotation(StrEnum):
    """The notation of logical forms."""

    COGS = "cogs"
    VARIABLE_FREE = "variable-free"


HELD_OUT_WORDS = 3
"""Least number of words that the lexical split holds out in each way; one in ten words if these are more."""
MAX_TRAINED_DEPTH, MAX_DEPTH = 2, 5
MAX_CLAUSES = 50_000
"""Number of sampled clauses after which a sentence counts as impossible; English vocabularies need 250."""
MODIFIED = "relative clause"
DEPTH = "depth"


def find_combinations(event: Event) -> frozenset[Combination]:
    """Return the combinations in a sentence: nouns and roles, verbs and voices, places of relative clauses, and depths.

    A place is the grammatical function of the modified noun in its clause: subject, object, recipient or by-phrase.
    """
    return frozenset(_iterate_combinations(event, None, 0))


def _iterate_combinations(event: Event, head: Participant | None, depth: int) -> Iterator[Combination]:
    yield event.predicate or "", str(event.voice)
    if depth:
        yield DEPTH, str(depth)
    for role in event.roles:
        filler = event.argument(role)
        # The modified noun has a role in its relative clause, too: "the cat that slept" has the cat as an agent.
        person = head if filler is ev.GAP else filler
        if isinstance(person, Participant):
            yield person.noun or "", role.value
        if isinstance(filler, Participant) and isinstance(filler.clause, RelativeClause):
            yield MODIFIED, find_function(event, role)
            yield from _iterate_combinations(filler.clause.event, filler, depth + 1)


def find_function(event: Event, role: Role) -> str:
    """Return the grammatical function of a participant: subject, by-phrase, recipient or object."""
    if role is event.subject:
        return "subject"
    return {Role.AGENT: "by-phrase", Role.RECIPIENT: "recipient"}.get(role, "object")


@dataclass(frozen=True, slots=True)
class HeldOutCombinations:
    """The combinations that training lacks, by the name of their kind, and those that training must have instead."""

    kinds: Mapping[str, frozenset[Combination]]
    exposed: frozenset[Combination] = frozenset()

    @property
    def all(self) -> frozenset[Combination]:
        """The held-out combinations of all kinds."""
        return frozenset().union(*self.kinds.values())


@dataclass(frozen=True, slots=True)
class _Words:
    """The words from which events are sampled."""

    verbs: Mapping[Frame, Sequence[str]]
    nouns: Mapping[tuple[Frame, str, Role], Sequence[str]]
    """The nouns that a verb accepts in a role."""


def _collect_words(lexicon: Lexicon, vocabulary: str) -> _Words:
    selected = lexicon.vocabulary(vocabulary).words
    nouns = [lexicon.get(lemma, Kind.NOUN) for lemma in selected[Kind.NOUN]]
    verbs: dict[Frame, list[str]] = {}
    accepted: dict[tuple[Frame, str, Role], list[str]] = {}
    for frame in (Frame.INTRANSITIVE, Frame.TRANSITIVE, Frame.DITRANSITIVE):
        for lemma in selected.get(Kind(frame.value), ()):
            verb = lexicon.get(lemma, Kind(frame.value))
            fillers = {
                role: [noun.lemma for noun in nouns if verb.accepts(noun.sorts, role.value)]
                for role in ev.FRAME_ROLES[frame]
            }
            # Without a noun for each role, the verb can be in no sentence.
            if all(fillers.values()):
                verbs.setdefault(frame, []).append(lemma)
                accepted |= {(frame, lemma, role): lemmas for role, lemmas in fillers.items()}
    if not {Frame.INTRANSITIVE, Frame.TRANSITIVE} <= verbs.keys():
        raise UsageError(f"the vocabulary {vocabulary!r} lacks intransitive or transitive verbs with nouns for them")
    return _Words(verbs, accepted)


def choose_held_out(
    split: CompositionalSplit, lexicon: Lexicon, vocabulary: str, *, seed: int = 0
) -> HeldOutCombinations:
    """Choose the combinations that training lacks. Raises UsageError if a vocabulary is too small."""
    if split is CompositionalSplit.STRUCTURAL:
        places = (
            ("subject", "recipient") if lexicon.vocabulary(vocabulary).words.get(Kind.DITRANSITIVE) else ("subject",)
        )
        return HeldOutCombinations({f"modified_{place}": frozenset({(MODIFIED, place)}) for place in places})
    if split is CompositionalSplit.RECURSIVE:
        depths = range(MAX_TRAINED_DEPTH + 1, MAX_DEPTH + 1)
        return HeldOutCombinations({f"depth_{depth}": frozenset({(DEPTH, str(depth))}) for depth in depths})
    words = _collect_words(lexicon, vocabulary)
    transitive = words.verbs[Frame.TRANSITIVE]
    counts = Counter(
        (noun, role)
        for verb in transitive
        for role in (Role.AGENT, Role.PATIENT)
        for noun in words.nouns[Frame.TRANSITIVE, verb, role]
    )
    # Few verbs accept, say, a bracelet as agent, so that training might lack it.
    least = -(-len(transitive) // 4)
    agents, patients = (
        {n for (n, r), count in counts.items() if r is role and count >= least} for role in list(Role)[:2]
    )
    nouns, verbs = sorted(agents & patients), sorted(transitive)
    sizes = [max(HELD_OUT_WORDS if len(nouns) >= 15 else 1, len(w) // 10) for w in (nouns, verbs)]
    if len(nouns) < 4 * sizes[0] or len(verbs) < 3 * sizes[1]:
        raise UsageError(f"the vocabulary {vocabulary!r} has too few nouns or transitive verbs to hold some out")
    generator = random.Random(f"{seed} held out")
    generator.shuffle(nouns)
    generator.shuffle(verbs)
    only_agents, only_patients = nouns[: sizes[0]], nouns[sizes[0] : 2 * sizes[0]]
    only_active = verbs[: sizes[1]]
    return HeldOutCombinations(
        {
            "agent_to_patient": frozenset((noun, "patient") for noun in only_agents),
            "patient_to_agent": frozenset((noun, "agent") for noun in only_patients),
            "active_to_passive": frozenset((verb, "passive") for verb in only_active),
        },
        frozenset(
            pair
            for words, value in ((only_agents, "agent"), (only_patients, "patient"), (only_active, "active"))
            for pair in ((word, value) for word in words)
        ),
    )


class EventSampler:
    """A sampler of events in the fragment of COGS, whose relative clauses may be nested. No word occurs twice."""

    def __init__(self, lexicon: Lexicon, vocabulary: str, *, seed: int) -> None:
        self._words = _collect_words(lexicon, vocabulary)
        self._vocabulary = vocabulary
        self._random = random.Random(seed)
        self._clauses = 0

    def sample(self, depth: int) -> Event:
        """Return an event whose relative clauses are nested *depth* deep; 0: it has none.

        Raises UsageError if the words seem too few.
        """
        self._clauses = 0
        while True:
            event = self._sample_clause(depth, None, set())
            if event is not None:
                return event

    def _sample_clause(self, depth: int, head: str | None, used: set[str]) -> Event | None:
        """Return a clause, with a gap for the noun *head* in a relative clause; None if the words do not fit."""
        self._clauses += 1
        if self._clauses > MAX_CLAUSES:
            raise UsageError(f"the vocabulary {self._vocabulary!r} has too few words for clauses nested so deep")
        choose = self._random.choice
        frame = self._random.choices(
            [*self._words.verbs], [2 if f is Frame.TRANSITIVE else 1 for f in self._words.verbs]
        )[0]
        if depth and head is not None and frame is Frame.INTRANSITIVE:
            return None  # its only participant is the modified noun
        verb = choose(self._words.verbs[frame])
        voice = Voice.ACTIVE if frame is Frame.INTRANSITIVE else choose((Voice.ACTIVE, Voice.PASSIVE))
        dative = choose(tuple(Dative)) if frame is Frame.DITRANSITIVE else None
        event = Event(
            predicate=verb,
            frame=frame,
            voice=voice,
            dative=dative,
            tense=ev.Tense.PAST,
            aspect=ev.Aspect.SIMPLE,
            polarity=ev.Polarity.POSITIVE,
            adverbs=(),
        )
        gap = None
        if head is not None:
            gaps = [r for r in event.roles if event.can_extract(r) and head in self._words.nouns[frame, verb, r]]
            if not gaps:
                return None
            gap = choose(gaps)
        if verb in used:
            return None
        used.add(verb)
        roles = [role for role in event.roles if role is not gap]
        modified = choose(roles) if depth else None
        for role in roles:
            noun = choose(self._words.nouns[frame, verb, role])
            if noun in used:
                return None
            used.add(noun)
            clause: RelativeClause | ev.Bare | None = ev.BARE
            if role is modified:
                inner = self._retry_clause(depth - 1, noun, used)
                if inner is None:
                    return None
                clause = RelativeClause(event=inner, relativizer="that")
            person = Participant(
                noun=noun, number=ev.Number.SINGULAR, determiner=choose((DEFINITE, INDEFINITE)), clause=clause
            )
            event = event.with_argument(role, person)
        return event if gap is None else event.with_argument(gap, ev.GAP)

    def _retry_clause(self, depth: int, head: str, used: set[str]) -> Event | None:
        for _ in range(20):
            tried = {*used}
            if (clause := self._sample_clause(depth, head, tried)) is not None:
                used |= tried
                return clause
        return None


@dataclass(frozen=True, slots=True)
class SplitSentence:
    """A sentence of a split, with its event and the kind of its held-out combination, or ``in_distribution``."""

    text: str
    event: Event
    kind: str


IN_DISTRIBUTION = "in_distribution"
FILES = ("train", "dev", "test", "gen")
MAX_TRIES = 2000
"""Number of sampled events, for each wanted sentence, after which a split counts as impossible."""


def sample_split(
    split: CompositionalSplit, lexicon: Lexicon, vocabulary: str, *, n: int, seed: int = 0
) -> tuple[HeldOutCombinations, dict[str, list[SplitSentence]]]:
    """Return the held-out combinations, and the sentences of each file: *n* of training, a tenth of it in others.

    The file ``gen`` has a tenth for each kind of held-out combination. No sentence occurs twice, and no sentence of the
    other files has a held-out combination. Raises UsageError if there are too few sentences, or *n* is too small for
    the words.
    """
    held_out = choose_held_out(split, lexicon, vocabulary, seed=seed)
    sampler = EventSampler(lexicon, vocabulary, seed=seed)
    depths = random.Random(f"{seed} depths")
    seen: set[str] = set()

    def draw(size: int, kind: str) -> list[SplitSentence]:
        sentences: list[SplitSentence] = []
        own = held_out.kinds.get(kind, frozenset())
        others = held_out.all - own
        for _ in range(MAX_TRIES * size):
            if len(sentences) == size:
                break
            event = sampler.sample(_choose_depth(split, kind, depths))
            combinations = find_combinations(event)
            # A sentence nested four deep is nested three deep, too.
            excluded = others if split is not CompositionalSplit.RECURSIVE or not own else frozenset()
            if (own and not own & combinations) or excluded & combinations:
                continue
            text = realize(event, lexicon, checked=True).text
            if text not in seen and _has_one_reading(event, text, lexicon):
                seen.add(text)
                sentences.append(SplitSentence(text, event, kind))
        if len(sentences) < size:
            raise UsageError(f"the vocabulary {vocabulary!r} has fewer than {size} sentences ({kind}); lower --n")
        return sentences

    tenth = max(1, n // 10)
    files = {name: draw(n if name == "train" else tenth, IN_DISTRIBUTION) for name in FILES[:3]}
    files["gen"] = [sentence for kind in held_out.kinds for sentence in draw(tenth, kind)]
    trained = count_combinations(files["train"])
    if missing := sorted(held_out.exposed - trained.keys()):
        word, role = missing[0]
        raise UsageError(f"--n {n}: no training sentence has {word!r} as {role}; more sentences are needed")
    return held_out, files


def _has_one_reading(event: Event, text: str, lexicon: Lexicon) -> bool:
    """Say whether a sentence has one reading: after two verbs with recipients, "to the man" may belong to either."""
    frames = [clause.frame for clause, _ in ev.iterate_clauses(event)]
    return frames.count(Frame.DITRANSITIVE) < 2 or len(parse(text, lexicon)) == 1


def _choose_depth(split: CompositionalSplit, kind: str, generator: random.Random) -> int:
    if kind.startswith(f"{DEPTH}_"):
        return int(kind.rpartition("_")[2])
    if kind.startswith("modified_"):
        return 1
    return generator.randrange(MAX_TRAINED_DEPTH + 1 if split is CompositionalSplit.RECURSIVE else 2)


def count_combinations(sentences: Sequence[SplitSentence]) -> Counter[Combination]:
    """Return in how many sentences each combination occurs."""
    return Counter(pair for sentence in sentences for pair in find_combinations(sentence.event))


def write_split(
    split: CompositionalSplit,
    lexicon: Lexicon,
    vocabulary: str,
    folder: Path,
    *,
    n: int,
    seed: int = 0,
    notation: LogicalNotation = LogicalNotation.COGS,
) -> None:
    """Write ``train.tsv``, ``dev.tsv``, ``test.tsv`` and ``gen.tsv`` in COGS' layout, and ``split.json``.

    A line has a sentence, its logical form, and its kind. ``split.json`` has each held-out combination with the number
    of sentences of training and of ``gen`` that have it.
    """
    if lexicon.language is not ENGLISH:
        raise UsageError(f"logical forms are for English sentences, not {lexicon.language.name}")
    held_out, files = sample_split(split, lexicon, vocabulary, n=n, seed=seed)
    write = write_variable_free if notation is LogicalNotation.VARIABLE_FREE else partial(_write_cogs, lexicon)
    names = [f"{name}.tsv" for name in FILES]
    with atomic_new_folder(folder, (*names, "split.json")) as temporary:
        for name in FILES:
            lines = (f"{_capitalize(s.text)} .\t{write(s.event)}\t{s.kind}\n" for s in files[name])
            (temporary / f"{name}.tsv").write_bytes("".join(lines).encode())
        counts = {name: count_combinations(files[name]) for name in ("train", "gen")}
        rows = [
            {"kind": kind, "word": pair[0], "in": pair[1], **{name: counts[name][pair] for name in counts}}
            for kind, pairs in held_out.kinds.items()
            for pair in sorted(pairs)
        ]
        record = {"split": split.value, "seed": seed, "vocabulary": vocabulary, "held_out": rows}
        (temporary / "split.json").write_bytes(f"{format_json(record)}\n".encode())


def _write_cogs(lexicon: Lexicon, event: Event) -> str:
    return str(build_logical_form(event, lexicon.language))


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
