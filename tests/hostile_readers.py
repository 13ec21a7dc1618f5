"""All that reads a file of anybody's: a sound file for each, how it may be damaged, how it is read.

A reader makes its sound files in a folder, of which one is damaged, and reads them as a command
does. What it may raise is a SentprobeError alone.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mutations as mu
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from corpus_strategies import make_table
from model_files import tiny_model
from natural_tables import made_up, write_head, write_table
from probe_strategies import learnable, sample_result

from sentprobe.commands.run_file import read_run_file
from sentprobe.generator.config import read_config
from sentprobe.generator.generate import generate
from sentprobe.generator.notation import read_event
from sentprobe.generator.sentence_files import read_file
from sentprobe.generator.space import Space
from sentprobe.lexicon import english
from sentprobe.lexicon.memory import read_answers, write_answers
from sentprobe.lexicon.read import read_lexicon
from sentprobe.lexicon.words import Form
from sentprobe.probes.corpus.chunks import find_head, read_rows
from sentprobe.probes.corpus.queries import open_corpus
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.sources import ChunkSize, find_sources, make_chunks
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.corpus.text_formats import RecordFields
from sentprobe.probes.corpus.work import work_on
from sentprobe.probes.dataset import Card, ProbeDataset
from sentprobe.probes.encoders import cache_upkeep, make_encoder, openai
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.vector_files import read_vectors, write_vectors
from sentprobe.probes.encoders.word_files import read_word_vectors
from sentprobe.probes.formats import read_dataset, read_datasets, write_dataset
from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.geometry.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.geometry.results import (
    GeometryResult,
    GeometryScore,
    Ranking,
    parse_geometry,
    to_records,
    write_geometry,
)
from sentprobe.probes.report.distance_comparisons import (
    compare_geometry,
    geometry_comparison_grid,
)
from sentprobe.probes.report.geometry import geometry_sections
from sentprobe.probes.report.tables import explain
from sentprobe.probes.runs.results import Results
from sentprobe.probes.runs.store import prepare_directory, read_results, write_result
from sentprobe.probes.statistics import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileReader:
    """What makes sound files in a folder, and returns the one to be damaged; and what reads it."""

    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    """It is given the damaged file."""
    ways: Sequence[mu.Mutation] = mu.ANY
    most: int = 2000
    """Of a slow reader, so many inputs are enough."""


def _text(name: str, content: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        return path

    return make


@cache
def _toy() -> ProbeDataset:
    return learnable(size=20)


def _plain() -> ProbeDataset:
    """Without probe words, which SentEval's files have none of."""
    from dataclasses import replace

    from sentprobe.probes.dataset import Items

    toy = _toy()
    splits = {
        split: Items(items.rows, np.empty((len(items), 0), np.int64), items.targets)
        for split, items in toy.splits.items()
    }
    return replace(toy, probe_words=(), splits=splits)


def _dataset(fmt: str, name: str, file: str = "", *, plain: bool = False) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write_dataset(_plain() if plain else _toy(), folder / name, format=fmt)
        return folder / name / file if file else folder / name

    return make


def _whole(path: Path) -> object:
    """Read the dataset that a file is part of, as any that look like one."""
    return read_datasets(path.parent)


def _use_dataset(path: Path) -> object:
    data = read_dataset(path)
    return data.fingerprint(), data.mirrored, data.balanced_probes


# ------------------------------------------------------------------ results


def _result_file(folder: Path) -> Path:
    prepare_directory(folder, 'targets = ["compeval"]\n')
    from dataclasses import replace

    from sentprobe.probes.runs.data_facts import facts_of
    from sentprobe.probes.runs.results import Norm

    made = sample_result("bow", "Order", 510, 500, seeds=2)
    small = replace(
        made, data=facts_of(_toy()), lengths=(4,) * 1000, norms=(Norm(4, 9, 1.5, 0.5),), layer=1,
        versions={"torch": "2"}, seconds={"probe": 1.5}, family="x", notes=("A note.",),
    )  # fmt: skip
    return write_result(small, folder)


def _read_result(path: Path) -> object:
    found = read_results(path.parent)
    shown = Results(found.records)
    return explain(shown), shown.to_records(), str(shown)


def _marker(folder: Path) -> Path:
    _result_file(folder)
    return folder / "run.json"


def _read_marker(path: Path) -> object:
    prepare_directory(path.parent)
    return read_results(path.parent)


def _geometry_file(folder: Path) -> Path:
    whole = Interval(0.25, 0.75)
    measured = TripletMeasures(
        accuracy=0.5, accuracy_interval=whole, paired=0.5, paired_interval=whole, margin=0.125,
        ties=1, triplets=2, units=2,
    )  # fmt: skip
    scores = tuple(
        GeometryScore(
            kind=kind, nearness=Nearness.COSINE, by="", group="", measured=measured, right="0221"
        )
        for kind in NegativeKind
    )
    made = GeometryResult(
        encoder="bow", encoder_fingerprint="f", dim=4, contrast="role", material="m",
        drawing=Drawing(n=2), scores=scores, units=(0, 1), encoder_seed=3, dataset="d",
        ranking=Ranking(variants=5, mean=2.5, first=0.5, first_interval=whole),
        command="probe geometry", versions={"numpy": "2"},
    )  # fmt: skip
    write_geometry(made, folder)
    return folder / "geometry" / made.name


def _read_geometry(path: Path) -> object:
    found = (parse_geometry(path.read_bytes(), source=str(path)),)
    shown = list(geometry_sections(found, Results(()), intervals=True))
    return to_records(found), shown, geometry_comparison_grid(compare_geometry([(found, found)]))


# ------------------------------------------------------------------ tables


def _table(folder: Path) -> Path:
    write_table(made_up(40), folder / "t")
    return folder / "t" / "table.json"


def _read_table(path: Path) -> object:
    table = open_table(path.parent)
    with open_corpus(table, threads=1) as corpus:
        return (
            table.constituents, list(table.versions.items()), table.counts.rows + 1,
            ", ".join(source.path for source in table.sources), corpus.tokens,
        )  # fmt: skip


def _shard(folder: Path) -> Path:
    return _table(folder).parent / "shards" / "part-00000.parquet"


def _read_shard(path: Path) -> object:
    """Read a shard whose checksum is right: whoever made it, made it so."""
    try:
        table = write_head(path.parent.parent, rows=40)
    except (pa.ArrowException, OSError, ValueError):  # the test's own reading of it
        return None
    with open_corpus(table, threads=1) as corpus:
        rows = corpus.query("SELECT tokens, tags, tree, depth, verb_tag, text FROM sentences")
        return rows, corpus.tokens, corpus.words([1, 2]), list(corpus.stream("FROM sentences"))


def _chunk(folder: Path) -> Path:
    source = folder / "a.jsonl"
    source.write_text('{"text": "the man slept"}\n', encoding="utf-8")
    (chunk,) = _chunks(source)
    path = folder / "chunk-0000000.arrow"
    path.write_bytes(work_on(chunk, Recipe(parser="none"), "key"))
    return path


def _chunks(source: Path) -> list[Any]:
    return list(
        make_chunks(
            find_sources([str(source)]),
            reading=RecordFields(),
            encoding="utf-8",
            size=ChunkSize(pieces=10, characters=10**6),
        )
    )


def _read_chunk(path: Path) -> object:
    head = find_head(path, "key")
    return head and read_rows(path).num_rows


# ------------------------------------------------------------------ corpora

CONLLU = """\
# sent_id = 1
# tree = (S (NP (NNS men)) (VP (VBD slept)) (. .))
1	men	man	NOUN	NNS	_	2	nsubj	_	_
2	slept	sleep	VERB	VBD	_	0	root	_	_
3	.	.	PUNCT	.	_	2	punct	_	_

1	dogs	dog	NOUN	NNS	_	2	nsubj	_	_
2	ran	run	VERB	VBD	_	0	root	_	_

"""
TREES = """\
(ROOT (S (NP (NNS men)) (VP (VBD slept)) (. .)))
( (S (NP-SBJ (NNS dogs)) (VP (VBD saw) (NP (PRP us)) (-NONE- *T*-1))))
"""
RECORDS = (
    '{"text": "the man slept", "n": 1}\n'
    '{"form": ["men", "slept"], "xpos": ["NNS", "VBD"], "head": [2, 0], "deprel":'
    ' ["nsubj", "root"],'
    ' "tree": "(S (NP (NNS men)) (VP (VBD slept)))"}\n'
    '{"text": ["a", "man", "slept"]}\n'
)


def _corpus_table(folder: Path) -> Path:
    rows = [json.loads(line) for line in RECORDS.splitlines()[1:2]] * 3
    path = folder / "corpus.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def _analyse(path: Path) -> object:
    """Do what ``analyze`` does with a file, in this process."""
    for chunk in _chunks(path):
        work_on(chunk, Recipe(parser="none"), "key")
    return None


def _analyse_all(path: Path) -> object:
    return make_table([path], path.parent / "out", recipe=Recipe(parser="none"))


# ------------------------------------------------------------------ sentences of gen


def _generated(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"gen.{suffix}"
        path.write_bytes(_generated_bytes(suffix))
        return path

    return make


@cache
def _generated_bytes(suffix: str) -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"gen.{suffix}"
        generate(path, n=3, seed=1, template="transitive-rc")
        return path.read_bytes()


def _read_sentences(path: Path) -> object:
    from sentprobe.generator.records import to_json

    return [json.dumps(to_json(each)) for each in read_file(path, english())]


@cache
def _space() -> Space:
    return Space(english(), vocabulary="compeval", templates=("transitive",))


def _excluded(path: Path) -> object:
    from sentprobe.commands.gen_space import excluded

    return excluded([path], _space())


# ------------------------------------------------------------------ words, constraints, options

LEXICON = """\
# A lexicon.
[noun]
wolf = { NNS = "wolves" }
dog = {}
[intransitive]
howl = {}
run = { VBD = "ran", VBN = "run" }
[transitive]
"see" = { VBD = "saw", VBN = "seen" }
[vocabulary.v]
noun = [
  "wolf", "dog",
]
intransitive = ["howl"]
transitive = ["see"]
"""
CONFIG = json.dumps(
    {
        "constraints": {
            "needEv": {
                "name": "help",
                "tense": "past",
                "participants": {"agent": {"name": "man", "num": "sg", "attributes": {"rc": {}}}},
            },
            "avoidEv": None,
            "needList": {"noun": ["man"]},
            "avoidList": {"transitive": ["observe"]},
        },
        "role_rc_structures": {"intransitive": [{"agent": "none"}]},
    }
)
RUN_FILE = """\
targets = ["compeval"]
encoder = ["bow", "majority"]
seeds = 3
train = 400
controls = false
jobs = 1
preset = "ettinger"
"""


def _read_run_file(path: Path) -> object:
    return read_run_file(_context(), path)


@cache
def _context() -> Any:
    from sentprobe.commands.run import app

    (command,) = app.registered_commands
    return SimpleNamespace(command=SimpleNamespace(callback=command.callback), default_map=None)


def _answers(folder: Path) -> Path:
    path = folder / "a.json"
    path.write_bytes(write_answers({("wolf", Form.NNS): "wolves"}).split(b"\n", 1)[1])
    return path


def _read_answers(path: Path) -> object:
    """Read answers with their digest: whoever wrote them, wrote it too."""
    from sentprobe.lexicon import memory

    body = path.read_bytes().removesuffix(b"\n")
    return read_answers(memory._head(body) + body + b"\n")


def _read_event(path: Path) -> object:
    return read_event(path.read_bytes().decode("utf-8", "replace"))


# ------------------------------------------------------------------ vectors

TEXTS = ["the man slept", "dogs ran"]


def _vectors(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"vectors{suffix}"
        write_vectors(path, TEXTS, np.eye(2, 3, dtype=np.float32), ids=["a", "b"])
        return path

    return make


def _packed_json(folder: Path) -> Path:
    path = folder / "v.safetensors"
    write_vectors(path, TEXTS, np.eye(2, 3, dtype=np.float32), ids=["a", "b"])
    return path


def _word2vec(folder: Path) -> Path:
    path = folder / "words.bin"
    rows = np.array([[1, 2, 0.5], [3, 4, 1e-3]], dtype="<f4")
    words = (b"the", b"man")
    body = b"".join(w + b" " + row.tobytes() + b"\n" for w, row in zip(words, rows, strict=True))
    path.write_bytes(b"2 3\n" + body)
    return path


@cache
def _fasttext_bytes() -> bytes:
    from tempfile import TemporaryDirectory

    from gensim.models import fasttext

    said = [["the", "man", "slept"], ["a", "man", "danced"]]
    model = fasttext.FastText(
        said, vector_size=2, min_count=1, bucket=5, epochs=1, workers=1, seed=1
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.bin"
        fasttext.save_facebook_model(model, str(path))
        return path.read_bytes()


def _fasttext(folder: Path) -> Path:
    path = folder / "fasttext.bin"
    path.write_bytes(_fasttext_bytes())
    return path


class _Tiny:
    name, fingerprint = "tiny", "f" * 64

    def encode(self, sentences: Sequence[str]) -> Any:
        return np.ones((len(sentences), 2), dtype=np.float32)


def _cached(folder: Path) -> Path:
    embed(_Tiny(), TEXTS, cache=Cache(folder))
    (path,) = folder.rglob("*.vectors")
    return path


def _read_cached(path: Path) -> object:
    folder = path.parent.parent
    found = embed(_Tiny(), TEXTS, cache=Cache(folder))
    return found, cache_upkeep.entries(folder), cache_upkeep.check(folder)


def _read_answer(path: Path) -> object:
    """Read what a server said: the encoder makes an error of a ValueError."""
    try:
        rows = openai._rows(path.read_bytes(), count=2, key="")
        return np.array(rows)
    except ValueError as error:
        assert len(str(error)) < 400
        return openai.message(path.read_bytes(), key="")


ANSWER = json.dumps(
    {"data": [{"index": 0, "embedding": [0.1, 2.0]}, {"index": 1, "embedding": [1, 2]}]}
)


# ------------------------------------------------------------------ models


def _model(file: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        tiny_model(folder, kind="Bert")
        if file == "pytorch_model.bin":
            import torch
            from safetensors.torch import load_file

            torch.save(load_file(folder / "model.safetensors"), folder / file)
            (folder / "model.safetensors").unlink()
        if file == "modules.json":
            kind = "sentence_transformers.models.Transformer"
            modules = [
                {"idx": 0, "name": "0", "path": "", "type": kind},
                {
                    "idx": 1,
                    "name": "1",
                    "path": "1_Pooling",
                    "type": "sentence_transformers.models.Pooling",
                },
            ]
            (folder / file).write_text(json.dumps(modules), encoding="utf-8")
            (folder / "1_Pooling").mkdir(exist_ok=True)
            pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
            (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        return folder / file

    return make


def _read_hf(path: Path) -> object:
    return make_encoder(f"hf:{path.parent}", seed=0).encode(["a man"])


def _read_st(path: Path) -> object:
    return make_encoder(f"st:{path.parent}", seed=0).encode(["a man"])


def _card_beside(folder: Path) -> Path:
    write_dataset(_toy(), folder / "Toy.jsonl")
    return folder / "Toy.card.json"


def _json_card(path: Path) -> object:
    write_dataset(_plain(), path.parent / "again.jsonl")
    return read_dataset(path.parent / "Toy.jsonl")


def _card_text(folder: Path) -> Path:
    card = Card("Order", seed=3, versions={"a": "1"}, counts={"x": 2}, notes=("A note.",))
    path = folder / "card.json"
    path.write_text(json.dumps(card.to_json()), encoding="utf-8")
    return path


def _read_card(path: Path) -> object:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        return None
    return Card.from_json(value).to_json()


READERS: Mapping[str, HostileReader] = {
    "result": HostileReader(make=_result_file, read=_read_result, ways=mu.JSON),
    "run.json": HostileReader(make=_marker, read=_read_marker, ways=mu.JSON),
    "geometry": HostileReader(make=_geometry_file, read=_read_geometry, ways=mu.JSON),
    "table.json": HostileReader(make=_table, read=_read_table, ways=mu.JSON),
    "shard": HostileReader(make=_shard, read=_read_shard, ways=mu.PARQUET, most=300),
    "chunk": HostileReader(make=_chunk, read=_read_chunk),
    "card": HostileReader(make=_card_text, read=_read_card, ways=mu.JSON),
    "directory: card": HostileReader(
        make=_dataset("directory", "Toy", "card.json"), read=_whole, ways=mu.JSON
    ),
    "directory: items": HostileReader(
        make=_dataset("directory", "Toy", "items.parquet"), read=_whole, ways=mu.PARQUET
    ),
    "directory: sentences": HostileReader(
        make=_dataset("directory", "Toy", "sentences.parquet"), read=_whole, ways=mu.PARQUET
    ),
    "jsonl": HostileReader(make=_dataset("jsonl", "Toy.jsonl"), read=_use_dataset, ways=mu.LINES),
    "jsonl: card": HostileReader(make=_card_beside, read=_json_card, ways=mu.JSON),
    "csv": HostileReader(make=_dataset("csv", "Toy.csv"), read=_use_dataset, ways=mu.TEXT),
    "senteval": HostileReader(
        make=_dataset("senteval", "Toy.txt", plain=True), read=_use_dataset, ways=mu.TEXT
    ),
    "published": HostileReader(
        make=_dataset("published", "Toy", "train.txt"), read=_whole, ways=mu.TEXT
    ),
    "splits": HostileReader(
        make=_dataset("splits", "Toy", "train.jsonl"), read=_whole, ways=mu.LINES
    ),
    "corpus of conllu": HostileReader(make=_text("c.conllu", CONLLU), read=_analyse, ways=mu.TEXT),
    "corpus of trees": HostileReader(make=_text("c.mrg", TREES), read=_analyse, ways=mu.TEXT),
    "corpus of jsonl": HostileReader(make=_text("c.jsonl", RECORDS), read=_analyse, ways=mu.LINES),
    "corpus of parquet": HostileReader(make=_corpus_table, read=_analyse, ways=mu.PARQUET),
    "sentences of jsonl": HostileReader(
        make=_generated("jsonl"), read=_read_sentences, ways=mu.LINES
    ),
    "sentences of conllu": HostileReader(
        make=_generated("conllu"), read=_read_sentences, ways=mu.TEXT
    ),
    "sentences of trees": HostileReader(
        make=_generated("trees"), read=_read_sentences, ways=mu.TEXT
    ),
    "sentences of parquet": HostileReader(
        make=_generated("parquet"), read=_read_sentences, ways=mu.PARQUET
    ),
    "excluded": HostileReader(make=_generated("jsonl"), read=_excluded, ways=mu.LINES),
    "lexicon": HostileReader(make=_text("l.toml", LEXICON), read=read_lexicon, ways=mu.TOML),
    "forms": HostileReader(make=_answers, read=_read_answers, ways=mu.JSON),
    "constraints": HostileReader(
        make=_text("c.json", CONFIG), read=lambda p: read_config(p, english()), ways=mu.JSON
    ),
    "run.toml": HostileReader(make=_text("run.toml", RUN_FILE), read=_read_run_file, ways=mu.TOML),
    "event": HostileReader(
        make=_text(
            "e", 'help[past](agent: the lawyer[pl] that[src] sleep(agent: _), patient: "man")'
        ),
        read=_read_event,
        ways=mu.TEXT,
    ),
    "npz": HostileReader(make=_vectors(".npz"), read=read_vectors, ways=mu.NPZ),
    "npy": HostileReader(make=_vectors(".npy"), read=read_vectors, ways=mu.NPY),
    "safetensors": HostileReader(make=_vectors(".safetensors"), read=read_vectors, ways=mu.TENSORS),
    "vectors of parquet": HostileReader(
        make=_vectors(".parquet"), read=read_vectors, ways=mu.PARQUET
    ),
    "lookup": HostileReader(make=_vectors(".txt"), read=read_vectors, ways=mu.TEXT),
    "lookup, packed": HostileReader(make=_vectors(".txt.gz"), read=read_vectors),
    "word vectors": HostileReader(
        make=_text("w.txt", "3 2\nthe 1 2\nman 3 4e-1\na b 5 6\n"),
        read=read_word_vectors,
        ways=mu.TEXT,
    ),
    "word2vec": HostileReader(make=_word2vec, read=read_word_vectors, ways=mu.TEXT, most=1000),
    "fasttext": HostileReader(make=_fasttext, read=read_word_vectors, most=500),
    "cache": HostileReader(make=_cached, read=_read_cached, ways=mu.TEXT),
    "answer of a server": HostileReader(
        make=_text("answer", ANSWER), read=_read_answer, ways=mu.JSON
    ),
    "config.json": HostileReader(make=_model("config.json"), read=_read_hf, ways=mu.JSON, most=200),
    "tokenizer.json": HostileReader(
        make=_model("tokenizer.json"), read=_read_hf, ways=mu.JSON, most=200
    ),
    "model.safetensors": HostileReader(
        make=_model("model.safetensors"), read=_read_hf, ways=mu.TENSORS, most=200
    ),
    "pytorch_model.bin": HostileReader(make=_model("pytorch_model.bin"), read=_read_hf, most=200),
    "modules.json": HostileReader(
        make=_model("modules.json"), read=_read_st, ways=mu.JSON, most=200
    ),
}
