"""Texts to learn from, sound ones to be damaged."""

import json
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import mutations as mu
import pyarrow as pa
import pyarrow.parquet as pq
from hostile_files import HostileReader, text_file

from sentprobe.probes.pretraining.texts.nli import read_nli
from sentprobe.probes.pretraining.texts.parallel import read_parallel
from sentprobe.probes.pretraining.texts.sentences import SentenceFiles, read_sentences
from sentprobe.probes.pretraining.texts.trees import read_trees
from sentprobe.probes.pretraining.texts.triplets import read_triplets

TREES = """\
(ROOT (S (NP (NNS men)) (VP (VBD slept)) (. .)))
( (S (NP-SBJ (NNS dogs)) (VP (VBD saw) (NP (PRP us)) (-NONE- *T*-1))))
"""
CONLLU = """\
# newdoc id = 1
1	men	man	NOUN	NNS	_	2	nsubj	_	_
2	slept	sleep	VERB	VBD	_	0	root	_	_

1	dogs	dog	NOUN	NNS	_	2	nsubj	_	_
2	ran	run	VERB	VBD	_	0	root	_	_

"""
TMX = """\
<?xml version="1.0"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en"><seg>a <ph>x</ph>dog</seg></tuv><tuv xml:lang="es"><seg>un</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>two</seg></tuv><tuv xml:lang="es"><seg>dos &amp; 2</seg></tuv></tu>
</body></tmx>
"""
PO = """\
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

#: a.c:1
msgid "a dog"
msgstr "un perro"

#, fuzzy, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d archivo"
msgstr[1] "%d archivos"

#~ msgid "old"
#~ msgstr "viejo"

msgctxt "menu"
msgid "two"
msgstr ""
"dos"
"""


def _rows(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


LABELLED = _rows(
    {"gold_label": "neutral", "sentence1": "a dog", "sentence2": "it ran"},
    {"gold_label": "-", "sentence1": "a dog", "sentence2": "it ran"},
    {"gold_label": "entailment", "sentence1": "a cat", "sentence2": "an animal"},
    {"gold_label": "contradiction", "sentence1": "a cat", "sentence2": "a dog"},
)


def _parquet(name: str, **columns: list[object]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        pq.write_table(pa.table(columns), path)
        return path

    return make


def _beside_its_twin(path: Path) -> object:
    other = path.with_name("other.es")
    other.write_text("un perro\nun gato\n", "utf-8")
    return read_parallel(path, other)


TEXT = "a dog ran.\nit “slept”, didn’t it?\n\na cat\n"

OF_LEARNED: dict[str, HostileReader] = {
    "lines to learn from": HostileReader(
        make=text_file("t.txt", TEXT), read=read_sentences, ways=mu.TEXT
    ),
    "records to learn from": HostileReader(
        make=text_file("t.jsonl", _rows({"text": "a", "n": 1}, {"text": "b"}, {"text": "c"})),
        read=read_sentences,
        ways=mu.LINES,
    ),
    "columns to learn from": HostileReader(
        make=text_file("t.tsv", "n\ttext\n1\ta b\n1\tc\n2\td\n"),
        read=partial(read_sentences, files=SentenceFiles(document="n")),
        ways=mu.TEXT,
    ),
    "a table to learn from": HostileReader(
        make=_parquet("t.parquet", text=["a", "b", None, "c"], n=[1, 2, 3, 4]),
        read=read_sentences,
        ways=mu.PARQUET,
    ),
    "parses to learn from": HostileReader(
        make=text_file("t.conllu", CONLLU), read=read_sentences, ways=mu.TEXT
    ),
    "trees to learn from": HostileReader(
        make=text_file("t.mrg", TREES), read=read_trees, ways=mu.TEXT
    ),
    "lines and their translations": HostileReader(
        make=text_file("t.en", "a dog\na cat\n"), read=_beside_its_twin, ways=mu.TEXT
    ),
    "translations in columns": HostileReader(
        make=text_file("p.tsv", "a\tA\nb\tB\nc\tC\n"), read=read_parallel, ways=mu.TEXT
    ),
    "labelled pairs": HostileReader(
        make=text_file("nli.jsonl", LABELLED), read=read_nli, ways=mu.LINES
    ),
    "labelled pairs in a table": HostileReader(
        make=_parquet("nli.parquet", premise=["a", "b"], hypothesis=["c", "d"], label=[0, 2]),
        read=read_nli,
        ways=mu.PARQUET,
    ),
    "triplets to learn from": HostileReader(
        make=_parquet("t3.parquet", anchor=["a", "b"], positive=["c", "d"], negative=["e", "f"]),
        read=read_triplets,
        ways=mu.PARQUET,
    ),
}
if find_spec("defusedxml"):
    OF_LEARNED["translation memory"] = HostileReader(
        make=text_file("t.tmx", TMX), read=read_parallel, ways=mu.TEXT
    )
if find_spec("polib"):
    OF_LEARNED["messages of gettext"] = HostileReader(
        make=text_file("t.po", PO), read=read_parallel, ways=mu.TEXT
    )
