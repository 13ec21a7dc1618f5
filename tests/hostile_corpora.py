"""Corpora, sentences of gen, lexicons, constraints and options, sound ones to be damaged."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mutations as mu
import pyarrow as pa
import pyarrow.parquet as pq
from corpus_strategies import make_table
from hostile_files import HostileReader, text_file
from hostile_results import chunks_of

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
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.work import work_on

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
    for chunk in chunks_of(path):
        work_on(chunk, Recipe(parser="none"), "key")
    return None


def _analyse_all(path: Path) -> object:
    return make_table([path], path.parent / "out", recipe=Recipe(parser="none"))


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


OF_TEXTS: dict[str, HostileReader] = {
    "corpus of conllu": HostileReader(
        make=text_file("c.conllu", CONLLU), read=_analyse, ways=mu.TEXT
    ),
    "corpus of trees": HostileReader(make=text_file("c.mrg", TREES), read=_analyse, ways=mu.TEXT),
    "corpus of jsonl": HostileReader(
        make=text_file("c.jsonl", RECORDS), read=_analyse, ways=mu.LINES
    ),
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
    "lexicon": HostileReader(make=text_file("l.toml", LEXICON), read=read_lexicon, ways=mu.TOML),
    "forms": HostileReader(make=_answers, read=_read_answers, ways=mu.JSON),
    "constraints": HostileReader(
        make=text_file("c.json", CONFIG), read=lambda p: read_config(p, english()), ways=mu.JSON
    ),
    "run.toml": HostileReader(
        make=text_file("run.toml", RUN_FILE), read=_read_run_file, ways=mu.TOML
    ),
    "event": HostileReader(
        make=text_file(
            "e", 'help[past](agent: the lawyer[pl] that[src] sleep(agent: _), patient: "man")'
        ),
        read=_read_event,
        ways=mu.TEXT,
    ),
}
