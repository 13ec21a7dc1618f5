"""Intact training texts, which tests damage."""

import json
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from helpers.hostile import mutations as mu
from helpers.hostile.hostile_files import TREES, HostileReader, parquet_file, text_file

from sentprobe.probes.training.pair_texts import read_nli, read_parallel, read_triplets
from sentprobe.probes.training.running_text import SentenceFiles, read_sentences, read_trees

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


def _format_rows(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


LABELLED = _format_rows(
    {"gold_label": "neutral", "sentence1": "a dog", "sentence2": "it ran"},
    {"gold_label": "-", "sentence1": "a dog", "sentence2": "it ran"},
    {"gold_label": "entailment", "sentence1": "a cat", "sentence2": "an animal"},
    {"gold_label": "contradiction", "sentence1": "a cat", "sentence2": "a dog"},
)


def _read_with_translations(path: Path) -> object:
    translations = path.with_name("other.es")
    translations.write_text("un perro\nun gato\n", "utf-8")
    return read_parallel(path, translations)


TEXT = "a dog ran.\nit “slept”, didn’t it?\n\na cat\n"

PRETRAINING_READERS: dict[str, HostileReader] = {
    "lines to learn from": HostileReader(make=text_file("t.txt", TEXT), read=read_sentences, ways=mu.TEXT),
    "records to learn from": HostileReader(
        make=text_file("t.jsonl", _format_rows({"text": "a", "n": 1}, {"text": "b"}, {"text": "c"})),
        read=read_sentences,
        ways=mu.LINES,
    ),
    "columns to learn from": HostileReader(
        make=text_file("t.tsv", "n\ttext\n1\ta b\n1\tc\n2\td\n"),
        read=partial(read_sentences, files=SentenceFiles(document="n")),
        ways=mu.TEXT,
    ),
    "a table to learn from": HostileReader(
        make=parquet_file("t.parquet", text=["a", "b", None, "c"], n=[1, 2, 3, 4]), read=read_sentences, ways=mu.PARQUET
    ),
    "parses to learn from": HostileReader(make=text_file("t.conllu", CONLLU), read=read_sentences, ways=mu.TEXT),
    "trees to learn from": HostileReader(make=text_file("t.mrg", TREES), read=read_trees, ways=mu.TEXT),
    "lines and their translations": HostileReader(
        make=text_file("t.en", "a dog\na cat\n"), read=_read_with_translations, ways=mu.TEXT
    ),
    "translations in columns": HostileReader(
        make=text_file("p.tsv", "a\tA\nb\tB\nc\tC\n"), read=read_parallel, ways=mu.TEXT
    ),
    "labelled pairs": HostileReader(make=text_file("nli.jsonl", LABELLED), read=read_nli, ways=mu.LINES),
    "labelled pairs in a table": HostileReader(
        make=parquet_file("nli.parquet", premise=["a", "b"], hypothesis=["c", "d"], label=[0, 2]),
        read=read_nli,
        ways=mu.PARQUET,
    ),
    "triplets to learn from": HostileReader(
        make=parquet_file("t3.parquet", anchor=["a", "b"], positive=["c", "d"], negative=["e", "f"]),
        read=read_triplets,
        ways=mu.PARQUET,
    ),
}
if find_spec("defusedxml"):
    PRETRAINING_READERS["translation memory"] = HostileReader(
        make=text_file("t.tmx", TMX), read=read_parallel, ways=mu.TEXT
    )
