"""What the sentences must and must not contain."""

from dataclasses import dataclass, field

from sentprobe.generator.event import Event, Negator, Number
from sentprobe.lexicon import Flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Partial events and words (lemmas) that every sentence must, or must not, contain.

    An event may be contained in the main clause or in a relative clause, by sense (see
    :func:`sentprobe.generator.event.contains`). All of the required ones are required.
    """

    required: tuple[Event, ...] = ()
    forbidden: tuple[Event, ...] = ()
    required_words: tuple[str, ...] = ()
    forbidden_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What may vary in a sentence, and what is fixed.

    ``main`` and ``clause`` are partial events that fix features of the main clause and of every
    relative clause. The other fields list the values to choose from, in every clause: the numbers
    of nouns, determiners and relativizers by lemma, the cues of negation, and how many adverbs may
    stand before a verb (in relative clauses ``clause_adverbs``, where that is given). A value that
    is listed twice counts once. Verbs with a flag in ``allow`` are used where they are left out
    otherwise: stative ones in the progressive, syncretic ones ("the men hit") at all.
    """

    main: Event = field(default_factory=Event)
    clause: Event = field(default_factory=Event)
    numbers: tuple[Number, ...] = tuple(Number)
    determiners: tuple[str, ...] = ("the",)
    relativizers: tuple[str, ...] = ("that",)
    negators: tuple[Negator, ...] = (Negator.NOT,)
    adverbs: tuple[int, ...] = (0,)
    clause_adverbs: tuple[int, ...] | None = None
    allow: frozenset[Flag] = frozenset()

    def __post_init__(self) -> None:
        lists = ("numbers", "determiners", "relativizers", "negators", "adverbs", "clause_adverbs")
        for name in lists:
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, tuple(dict.fromkeys(values)))

    @property
    def adverbs_in_clauses(self) -> tuple[int, ...]:
        """How many adverbs may stand before the verb of a relative clause."""
        return self.adverbs if self.clause_adverbs is None else self.clause_adverbs
