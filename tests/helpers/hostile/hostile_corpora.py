"""Intact corpora, generated sentences, lexicons, constraints and options, to be damaged."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from helpers.hostile import mutations as mu
from helpers.hostile.hostile_files import TREES, HostileReader, parquet_file, text_file
from helpers.hostile.hostile_results import list_chunks

from sentprobe.commands.shared.run_file import read_run_file
from sentprobe.generator.bulk.generate import generate, read_file
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.spaces.published_config import read_config
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
from sentprobe.lexicon.lexicon import read_answers, write_answers
from sentprobe.lexicon.read import read_lexicon
from sentprobe.lexicon.words import Form
from sentprobe.probes.corpus.chunks import compute_chunk_rows
from sentprobe.probes.corpus.table import AnalysisRecipe
from sentprobe.probes.encoders.sentence_trees import read_trees

CONLLU = """\
# sent_id = 1
# tree = (S (NP (NNS men)) (VP (VBD slept)) (. .))
1	men	man	NOUN	NNS	_	2	nsubj	_	_
2	slept	sleep	VERB	VBD	_	0	root	_	_
3	.	.	PUNCT	.	_	2	punct	_	_

1	dogs	dog	NOUN	NNS	_	2	nsubj	_	_
2	ran	run	VERB	VBD	_	0	root	_	_

"""


PARSED_RECORD = {
    "form": ["men", "slept"], "xpos": ["NNS", "VBD"], "head": [2, 0], "deprel": ["nsubj", "root"],
    "tree": "(S (NP (NNS men)) (VP (VBD slept)))",
}  # fmt: skip
RECORDS = "".join(
    json.dumps(record) + "\n"
    for record in ({"text": "the man slept", "n": 1}, PARSED_RECORD, {"text": ["a", "man", "slept"]})
)


def _analyse(path: Path) -> object:
    """Analyse a file as ``analyze`` does, in this process."""
    for chunk in list_chunks(path):
        compute_chunk_rows(chunk, AnalysisRecipe(parser="none"), "key")
    return None


def _make_generator(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"gen.{suffix}"
        path.write_bytes(_generate_bytes(suffix))
        return path

    return make


@cache
def _generate_bytes(suffix: str) -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"gen.{suffix}"
        generate(path, n=3, seed=1, template="transitive-rc")
        return path.read_bytes()


def _read_sentences(path: Path) -> object:
    from sentprobe.generator.sentences.sentence_records import to_json

    return [json.dumps(to_json(sentence)) for sentence in read_file(path, english())]


@cache
def _load_space() -> Space:
    return Space(english(), vocabulary="compeval", templates=("transitive",))


def _read_excluded(path: Path) -> object:
    from sentprobe.generator.bulk.generate import find_excluded_indices

    return find_excluded_indices([path], _load_space())


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
    return read_run_file(_make_context(), path)


@cache
def _make_context() -> Any:
    from sentprobe.commands.run import app

    (command,) = app.registered_commands
    return SimpleNamespace(command=SimpleNamespace(callback=command.callback), default_map=None, meta={})


def _write_answers(folder: Path) -> Path:
    path = folder / "a.json"
    path.write_bytes(write_answers({("wolf", Form.NNS): ("wolves", False)}).split(b"\n", 1)[1])
    return path


def _read_answers(path: Path) -> object:
    """Read answers with a matching digest, which their writer would have written."""
    from sentprobe.lexicon import lexicon

    body = path.read_bytes().removesuffix(b"\n")
    return read_answers(lexicon._format_head(body) + body + b"\n")


def _read_event(path: Path) -> object:
    return read_event(path.read_bytes().decode("utf-8", "replace"))


TEXT_READERS: dict[str, HostileReader] = {
    "corpus of conllu": HostileReader(make=text_file("c.conllu", CONLLU), read=_analyse, ways=mu.TEXT),
    "trees of sentences": HostileReader(make=text_file("c.conllu", CONLLU), read=read_trees, ways=mu.TEXT),
    "corpus of trees": HostileReader(make=text_file("c.mrg", TREES), read=_analyse, ways=mu.TEXT),
    "corpus of jsonl": HostileReader(make=text_file("c.jsonl", RECORDS), read=_analyse, ways=mu.LINES),
    "corpus of parquet": HostileReader(
        make=parquet_file("corpus.parquet", **{name: [value] * 3 for name, value in PARSED_RECORD.items()}),
        read=_analyse,
        ways=mu.PARQUET,
    ),
    "sentences of jsonl": HostileReader(make=_make_generator("jsonl"), read=_read_sentences, ways=mu.LINES),
    "sentences of conllu": HostileReader(make=_make_generator("conllu"), read=_read_sentences, ways=mu.TEXT),
    "sentences of trees": HostileReader(make=_make_generator("trees"), read=_read_sentences, ways=mu.TEXT),
    "sentences of parquet": HostileReader(make=_make_generator("parquet"), read=_read_sentences, ways=mu.PARQUET),
    "excluded": HostileReader(make=_make_generator("jsonl"), read=_read_excluded, ways=mu.LINES),
    "lexicon": HostileReader(make=text_file("l.toml", LEXICON), read=read_lexicon, ways=mu.TOML),
    "forms": HostileReader(make=_write_answers, read=_read_answers, ways=mu.JSON),
    "constraints": HostileReader(
        make=text_file("c.json", CONFIG), read=lambda p: read_config(p, english()), ways=mu.JSON
    ),
    "run.toml": HostileReader(make=text_file("run.toml", RUN_FILE), read=_read_run_file, ways=mu.TOML),
    "event": HostileReader(
        make=text_file("e", 'help[past](agent: the lawyer[pl] that[src] sleep(agent: _), patient: "man")'),
        read=_read_event,
        ways=mu.TEXT,
    ),
}
