"""Two analyses of overlapping sentences, with rows of random labels for each side."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from helpers.runs.natural_tables import write_table
from hypothesis import strategies as st

from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.main_clauses import Noun
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.corpus.tree_files import Coordination

WORDS = ("men", "saw", "'s", "dogs", "and", "%", "run", ".")
TAGS = ("NN", "NNS", "VBD", "VBZ", "VBP", "MD")


@dataclass(frozen=True)
class Analyses:
    """The rows of both sides, each with its own sentences in its own order."""

    first: tuple[Row, ...]
    second: tuple[Row, ...]

    @property
    def pairs(self) -> list[tuple[Row, Row]]:
        second_by_text = {row.text: row for row in self.second}
        return [(row, second_by_text[row.text]) for row in self.first if row.text in second_by_text]

    def tables(self, folder: Path) -> tuple[Table, Table]:
        return (write_table(self.first, folder / "a", shards=2), write_table(self.second, folder / "b"))


@st.composite
def analyses(draw: st.DrawFn) -> Analyses:
    """Rows of both sides; at least one sentence is in both and has a label in both."""
    sentence = st.lists(st.sampled_from(WORDS), min_size=4, max_size=8).map(tuple)
    texts = draw(st.lists(sentence, min_size=1, max_size=12, unique=True))
    sides = draw(st.lists(st.sampled_from(("ab", "ab", "ab", "a", "b")), min_size=len(texts)))
    sides[0] = "ab"
    sides_of_texts = ([t for t, side in zip(texts, sides, strict=False) if x in side] for x in "ab")
    first, second = (tuple(draw(_row(tokens)) for tokens in sentences) for sentences in sides_of_texts)
    return Analyses(first, tuple(draw(st.permutations(second))))


def _row(tokens: Sequence[str]) -> st.SearchStrategy[Row]:
    places = st.integers(0, len(tokens) - 1)
    text = " ".join(tokens)
    return st.builds(
        Row,
        source=st.just("made.mrg"),
        place=st.just(0),
        text=st.just(text),
        digest=st.just(sha256(text.encode()).hexdigest()[:16]),
        tokens=st.just(tuple(tokens)),
        tags=st.tuples(*[st.sampled_from(TAGS)] * len(tokens)),
        tree=st.none(),
        depth=st.integers(3, 7),
        top=st.none() | st.sampled_from(("NP VP .", "S , NP VP .", "S CC S .")),
        verb=st.none() | places,
        subject=st.none() | _nouns(places),
        object=st.none() | _nouns(places),
        clauses=st.none() | st.builds(Coordination, places, _spans(places), _spans(places)),
    )


def _nouns(places: st.SearchStrategy[int]) -> st.SearchStrategy[Noun]:
    return st.builds(Noun, places, st.none() | st.sampled_from(Number))


def _spans(places: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(places, places)
