"""Cases of ``generation.py``: each prepares its input and returns the work to measure."""

import argparse
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
from plain_grammar import build_plain_grammar

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.oracles.slow_path import derive

from sentprobe.generator.bulk.generate import write_file
from sentprobe.generator.bulk.parsed_records import ParsedText, write_parsed
from sentprobe.generator.events.event import Negator
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.sentences.parse import parse_clauses
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import RECORD_FORMATS, to_json
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, english

CHUNK_SIZE = 4_096


@dataclass(frozen=True, slots=True)
class Setting:
    """Template, vocabulary and number of the sentences, and a folder for output."""

    n: int
    template: str
    vocabulary: str
    rich: bool
    folder: Path

    def make_space(self) -> Space:
        """Build the space."""
        return Space(
            english(),
            templates=[self.template],
            vocabulary=self.vocabulary,
            choices=make_rich_choices() if self.rich else None,
        )


Work = Callable[[], int]
"""Function that does the work and returns the number of sentences."""


def make_rich_choices() -> Choices:
    """Return choices with nearly everything left to vary."""
    lexicon = english()
    return Choices(
        adverbs=(0, 1, 2),
        determiners=tuple(word.lemma for word in lexicon.words(Kind.DETERMINER)),
        relativizers=tuple(word.lemma for word in lexicon.words(Kind.RELATIVIZER)),
        negators=tuple(Negator),
    )


def prepare_format(fmt: str) -> Callable[[Setting], Work]:
    """Prepare the whole generation in a format: the space, the sample and the file."""

    def prepare(setting: Setting) -> Work:
        def work() -> int:
            space = setting.make_space()
            indices = space.sample(setting.n, seed=1)
            write_file(space, indices, setting.folder / "sentences", fmt)
            return setting.n

        return work

    return prepare


def prepare_parsing(fmt: str) -> Callable[[Setting], Work]:
    """Prepare ``gen parse`` of ready lines of text."""

    def prepare(setting: Setting) -> Work:
        source = setting.folder / "lines.txt"
        space = setting.make_space()
        write_file(space, space.sample(setting.n, seed=1), source)

        def work() -> int:
            texts = enumerate(source.read_text("utf-8").splitlines(), 1)
            readings = (ParsedText(number, text, parse_clauses(text, english())) for number, text in texts)
            write_parsed(readings, english(), setting.folder / "parsed", fmt)
            return setting.n

        return work

    return prepare


def prepare_pairs(style: str) -> Callable[[Setting], Work]:
    """Prepare ``gen pairs`` for the contrast of roles, over all templates and the vocabulary compeval."""

    def prepare(setting: Setting) -> Work:
        def work() -> int:
            triplets = TripletSpace(english(), "role").sample(setting.n, seed=1)
            write_triplets(triplets, setting.folder / "pairs", TripletFormat(style))
            return setting.n

        return work

    return prepare


def prepare_sampling(setting: Setting) -> Work:
    """Prepare the sampling of indices, without sentences."""
    return lambda: len(setting.make_space().sample(setting.n, seed=1))


def prepare_counting(setting: Setting) -> Work:
    """Prepare the counting of the space."""
    return lambda: setting.make_space().count()


def make_sentences(setting: Setting) -> list[Sentence]:
    """Return CHUNK_SIZE sentences."""
    space = setting.make_space()
    path = setting.folder / "some"
    write_file(space, space.sample(CHUNK_SIZE, seed=2), path, "jsonl")
    with path.open(encoding="utf-8") as lines:
        return list(RECORD_FORMATS["jsonl"].read(lines, english()))


def prepare_writing(setting: Setting, make_records: Callable[[], Iterable[str]]) -> Work:
    """Prepare repeated writing of the same records until the file has *n* sentences."""

    def work() -> int:
        with (setting.folder / "out").open("w", encoding="utf-8") as out:
            for _ in range(-(-setting.n // CHUNK_SIZE)):
                out.write("".join(make_records()))
        return -(-setting.n // CHUNK_SIZE) * CHUNK_SIZE

    return work


def prepare_ready_records(fmt: str) -> Callable[[Setting], Work]:
    """Prepare writing of ready records: the upper limit of the speed."""

    def prepare(setting: Setting) -> Work:
        records = [RECORD_FORMATS[fmt].write(sentence) for sentence in make_sentences(setting)]
        return prepare_writing(setting, lambda: records)

    return prepare


def prepare_serialization(setting: Setting) -> Work:
    """Prepare serialization of ready dictionaries."""
    import orjson

    ready = [to_json(sentence) for sentence in make_sentences(setting)]
    return prepare_writing(setting, lambda: (orjson.dumps(record).decode() + "\n" for record in ready))


def prepare_nltk_enumeration(setting: Setting) -> Work:
    """Prepare NLTK's enumeration of the equivalent plain grammar."""
    grammar = CFG.fromstring(build_plain_grammar(setting.make_space()))
    nltk_generator.MAX_GENERATE_OPERATIONS = 10**9  # the default limit is a million

    def work() -> int:
        written = 0
        sentences = iter(nltk_generator.generate(grammar, n=setting.n))
        with (setting.folder / "out").open("w", encoding="utf-8") as out:
            while lines := [" ".join(words) + "\n" for words in islice(sentences, CHUNK_SIZE)]:
                out.write("".join(lines))
                written += len(lines)
        return written

    return work


def prepare_nltk_unification(setting: Setting) -> Work:
    """Prepare derivation by unification with the feature grammar, and writing as JSON."""
    space = setting.make_space()
    events = list(space.events(space.sample(setting.n, seed=1)))
    derive(events[0], space.lexicon)

    def work() -> int:
        with (setting.folder / "out").open("w", encoding="utf-8") as out:
            write = RECORD_FORMATS["jsonl"].write
            out.writelines(write(derive(event, space.lexicon)) for event in events)
        return len(events)

    return work


CASES: dict[str, Callable[[Setting], Work]] = {
    **{fmt: prepare_format(fmt) for fmt in ("text", "jsonl", "conllu", "trees", "parquet")},
    **{f"parse-{fmt}": prepare_parsing(fmt) for fmt in ("text", "jsonl", "conllu", "parquet")},
    **{f"pairs-{style}": prepare_pairs(style) for style in ("jsonl", "parquet")},
    "sample": prepare_sampling,
    "count": prepare_counting,
    "write-text": prepare_ready_records("text"),
    "write-jsonl": prepare_ready_records("jsonl"),
    "orjson": prepare_serialization,
    "nltk-generate": prepare_nltk_enumeration,
    "nltk-unify": prepare_nltk_unification,
}


def main() -> None:
    """Measure one case and print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--template", default="transitive-rc")
    parser.add_argument("--vocabulary", default="english")
    parser.add_argument("--rich", action="store_true")
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    english()  # read the lexicon before timing
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(
            arguments.n, arguments.template, arguments.vocabulary, rich=arguments.rich, folder=Path(folder)
        )
        print_measurement(measure(CASES[arguments.case](setting)))


if __name__ == "__main__":
    main()
