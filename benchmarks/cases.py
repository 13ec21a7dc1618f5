"""The cases of ``generation.py``: each prepares what it needs and returns the work to measure."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
from measure import measure, print_measurement
from nltk import CFG
from nltk.parse import generate as nltk_generator
from plain_grammar import plain_grammar

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from slow_path import derive

from sentprobe.generator.bulk import Decoder, Records
from sentprobe.generator.columns import Tables
from sentprobe.generator.constraints import Choices
from sentprobe.generator.event import Negator
from sentprobe.generator.parquet import TableMaker
from sentprobe.generator.portions import PORTION
from sentprobe.generator.records import RECORD_FORMATS, to_json
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.sentence_files import write_file
from sentprobe.generator.space import Space
from sentprobe.lexicon import Kind, english

PART = 4_096


@dataclass(frozen=True, slots=True)
class Setting:
    """What to make sentences of, how many, and a folder to write to."""

    n: int
    template: str
    vocabulary: str
    rich: bool
    folder: Path

    def space(self) -> Space:
        """Return the space."""
        return Space(
            english(),
            templates=[self.template],
            vocabulary=self.vocabulary,
            choices=rich_choices() if self.rich else None,
        )


Work = Callable[[], int]
"""Does it, and returns how many sentences it made."""


def rich_choices() -> Choices:
    """Return choices with nearly everything left to vary."""
    lexicon = english()
    return Choices(
        adverbs=(0, 1, 2),
        determiners=tuple(word.lemma for word in lexicon.words(Kind.DETERMINER)),
        relativizers=tuple(word.lemma for word in lexicon.words(Kind.RELATIVIZER)),
        negators=tuple(Negator),
    )


def write_format(fmt: str) -> Callable[[Setting], Work]:
    """Make sentences and write them in a format: the space, the sample and the file."""

    def prepare(setting: Setting) -> Work:
        def work() -> int:
            space = setting.space()
            indices = space.sample(setting.n, seed=1)
            write_file(space, indices, setting.folder / "sentences", fmt)
            return setting.n

        return work

    return prepare


def sample(setting: Setting) -> Work:
    """Draw the indices only."""
    return lambda: len(setting.space().sample(setting.n, seed=1))


def count(setting: Setting) -> Work:
    """Count the space."""
    return lambda: setting.space().count()


def decode(fmt: str, *, with_pieces: bool = False) -> Callable[[Setting], Work]:
    """Find the shapes and words of the sentences, and the pieces of their records."""

    def prepare(setting: Setting) -> Work:
        def work() -> int:
            space = setting.space()
            tables = Tables(space)
            records = Records(tables.pool, RECORD_FORMATS[fmt].write)
            decoder = Decoder(space, tables, [records])
            for chunk in decoder.chunks(space.sample(setting.n, seed=1)):
                if with_pieces:
                    records.pieces(chunk)
            return setting.n

        return work

    return prepare


def arrow_tables(setting: Setting) -> Work:
    """Make Arrow tables and drop them."""

    def work() -> int:
        space = setting.space()
        maker, indices = TableMaker(space), space.sample(setting.n, seed=1)
        starts = range(0, setting.n, PORTION)
        return sum(len(maker.group(indices[first : first + PORTION], first)) for first in starts)

    return work


def some_sentences(setting: Setting) -> list[Sentence]:
    """Return some thousands of sentences, to have something ready."""
    space = setting.space()
    path = setting.folder / "some"
    write_file(space, space.sample(PART, seed=2), path, "jsonl")
    with path.open(encoding="utf-8") as lines:
        return list(RECORD_FORMATS["jsonl"].read(lines, english()))


def write_parts(setting: Setting, part: Callable[[], Iterable[str]]) -> Work:
    """Write *part* to a file until it is long enough."""

    def work() -> int:
        with (setting.folder / "out").open("w", encoding="utf-8") as out:
            for _ in range(-(-setting.n // PART)):
                out.write("".join(part()))
        return -(-setting.n // PART) * PART

    return work


def write_ready(fmt: str) -> Callable[[Setting], Work]:
    """Write records that are there already: the ceiling."""

    def prepare(setting: Setting) -> Work:
        records = [RECORD_FORMATS[fmt].write(sentence) for sentence in some_sentences(setting)]
        return write_parts(setting, lambda: records)

    return prepare


def fill_text(setting: Setting) -> Work:
    """Fill words that are there already into the slots of format strings."""
    rows = [
        (" ".join(["{}"] * len(sentence.tokens)) + "\n", [t.form for t in sentence.tokens])
        for sentence in some_sentences(setting)
    ]
    return write_parts(setting, lambda: [slots.format(*words) for slots, words in rows])


def dump(dumps: Callable[[object], str]) -> Callable[[Setting], Work]:
    """Serialize dictionaries that are there already."""

    def prepare(setting: Setting) -> Work:
        ready = [to_json(sentence) for sentence in some_sentences(setting)]
        return write_parts(setting, lambda: map(dumps, ready))

    return prepare


def _json(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _orjson(record: object) -> str:
    import orjson  # noqa: PLC0415 - not a dependency

    text: bytes = orjson.dumps(record)
    return text.decode() + "\n"


def nltk_generate(setting: Setting) -> Work:
    """Enumerate the first sentences of the equivalent plain grammar with NLTK."""
    grammar = CFG.fromstring(plain_grammar(setting.space()))
    nltk_generator.MAX_GENERATE_OPERATIONS = 10**9  # it stops after a million steps otherwise

    def work() -> int:
        made = 0
        sentences = iter(nltk_generator.generate(grammar, n=setting.n))
        with (setting.folder / "out").open("w", encoding="utf-8") as out:
            while lines := [" ".join(words) + "\n" for words in islice(sentences, PART)]:
                out.write("".join(lines))
                made += len(lines)
        return made

    return work


def nltk_unify(setting: Setting) -> Work:
    """Derive sentences by unification with the feature grammar, and write them as JSON."""
    space = setting.space()
    events = list(space.events(space.sample(setting.n, seed=1)))
    derive(events[0], space.lexicon)

    def work() -> int:
        with (setting.folder / "out").open("w", encoding="utf-8") as out:
            write = RECORD_FORMATS["jsonl"].write
            out.writelines(write(derive(event, space.lexicon)) for event in events)
        return len(events)

    return work


CASES: dict[str, Callable[[Setting], Work]] = {
    **{fmt: write_format(fmt) for fmt in ("text", "jsonl", "conllu", "trees", "parquet")},
    "sample": sample,
    "count": count,
    "decode-text": decode("text"),
    "decode-jsonl": decode("jsonl"),
    "pieces-jsonl": decode("jsonl", with_pieces=True),
    "tables-parquet": arrow_tables,
    "write-text": write_ready("text"),
    "write-jsonl": write_ready("jsonl"),
    "fill-text": fill_text,
    "json": dump(_json),
    "orjson": dump(_orjson),
    "nltk-generate": nltk_generate,
    "nltk-unify": nltk_unify,
}


def main() -> None:
    """Measure one case and print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--template", default="transitive-rc")
    parser.add_argument("--vocabulary", default="english")
    parser.add_argument("--rich", action="store_true")
    asked = parser.parse_args()
    pa.set_cpu_count(1)
    english()  # reading it is start-up
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(
            asked.n, asked.template, asked.vocabulary, rich=asked.rich, folder=Path(folder)
        )
        print_measurement(measure(CASES[asked.case](setting)))


if __name__ == "__main__":
    main()
