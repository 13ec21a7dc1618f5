"""Check that a change of the code changes no byte of the commands' output and files."""

import argparse
import lzma
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOVELS = ROOT.parent / "shared" / "data" / "novels" / "parsed.mrg.xz"
TREES = 3000

HELP = [
    *(f"gen {name} --help".replace("  ", " ") for name in ("", "templates", "parse", "show")),
    *(f"probe {name} --help" for name in ("analyze", "agree", "build", "audit", "run", "show")),
    *(f"probe {name} --help" for name in ("compare", "embed", "encoders", "cache")),
    "probe cache clear --help", "probe cache check --help", "probe --help", "probe",
    "gen --version", "probe --version",
]  # fmt: skip

EVENT = "'help[past, neg](agent: professor[pl], patient: student that sleep[prog](agent: _))'"
WHOLE = "'sleep[past, simple, pos, adv()](agent: the man[sg, bare])'"
PARSED = "'the man that the doctors were called by sleeps'"
RC = "-t transitive-rc --require 'help[past](agent: lawyer[pl])' --forbid-word student"
VARIED = '-t transitive --determiner a --determiner the --negator "n\'t" --adverbs 0-2 --seed 3'

GEN = [
    "gen", "gen -n 40 -o all.txt", "gen -n 300 -v compeval -o made.conllu",
    "gen -n 300 -v compeval -o made.trees", "gen -n 300 -v compeval --seed 1 -o others.trees",
    *(f"gen -n 60 {RC} -o rc.{end}" for end in ("jsonl", "parquet", "conllu")),
    *(f"gen -n 60 -v english {VARIED} -f {name}" for name in ("jsonl", "conllu", "trees")),
    "gen -n 20 -v published --allow syncretic --allow stative -t transitive-rc-both",
    "gen -n 20 -t intransitive --tense past --number pl --relativizer who -o plain.txt",
    "gen -n 20 -t transitive-rc.patient.transitive.orc --rc-voice passive --voice active",
    "gen -n 5 --config constraints.json", "gen -n 5 --lexicon own.toml",
    "gen --count", f"gen --count {RC}", "gen --count -v compeval -t transitive --polarity neg",
    "gen templates", "gen templates -v compeval", f"gen show {EVENT}", f"gen show {WHOLE}",
    f"gen show {EVENT} --svg open.svg", f"gen show {WHOLE} --svg whole.svg",
    f"gen parse {PARSED}", f"gen parse {PARSED} -f trees", f"gen parse {PARSED} -o parsed.parquet",
    "gen parse 'the man help the doctors'", "gen parse -f jsonl < plain.txt",
]  # fmt: skip

SMALL = "--train 112 --test 56"
ONE_CORE = "--jobs 1 --threads 1"
COMPEVAL = [
    f"probe build compeval {SMALL} -o sets",
    f"probe build compeval {SMALL} --task SemRole -f jsonl -o sets-jsonl",
    f"probe build compeval {SMALL} --validation 56 --task Negation -f published -o sets-txt",
    f"probe build compeval {SMALL} --sampling paper -v english --task Order -o sets-paper",
    "probe audit sets-jsonl/SemRole.jsonl -f json -o audit.json --jobs 2",
    "probe audit sets-paper/Order --write --jobs 1 --strict",
    "probe embed plain.txt -e bow?dim=8 -o words.npz",
    "probe embed plain.txt -e gated-conv?dim=32 -o words.safetensors --threads 1",
    f"probe run compeval {SMALL} -o runs/compeval {ONE_CORE} -e bow?dim=64 "
    "-e bilstm-max?dim=64 -e tfidf --set max_epochs=10",
    "probe run sets-paper/Order sets-txt --jobs 2 --threads 1 --seeds 2 -o runs/sets "
    "-e bow?dim=16 -e python:toy:encode -e length -e majority --set max_epochs=5",
    f"probe run sets/Order --preset logreg {ONE_CORE} -e bilstm-last?dim=32",
    f"probe run sets/Order --probe-vectors encoder {ONE_CORE} -o runs/words -e bow?dim=8 "
    "--set max_epochs=5",
    "probe encoders",
]  # fmt: skip

SHOW = [
    *(f"probe show runs/compeval runs/sets -f {name}" for name in ("text", "markdown", "latex")),
    *(f"probe show runs/compeval -f {name} --intervals" for name in ("csv", "json", "html")),
    "probe show runs/compeval --published -o report.html", "probe show runs/sets --by-length bins",
    "probe show runs/compeval --by-length tokens -f csv", "probe show runs/words",
    "probe show runs/compeval --by-length bins --plot lengths.svg",
    "probe compare runs/compeval", "probe compare runs/compeval -f latex --correction bh",
    "probe compare runs/compeval#bow?dim=64 runs/compeval#tfidf -f json",
    "probe compare runs/sets --against length -f markdown",
]  # fmt: skip

CORPUS = [
    "probe analyze made.trees -o table-trees --jobs 1",
    "probe analyze others.trees made.conllu -o table-mixed --jobs 2",
    "probe analyze made.conllu -o table-conllu --jobs 1",
    "probe analyze plain.txt -f lines --parser none -o table-text --jobs 1",
    *(f"probe agree table-trees table-conllu -f {name}" for name in ("text", "json")),
    "probe agree table-trees table-mixed --disagreements differ.jsonl",
    "probe build natural table-trees --task Tense --task BShift --no-audit -o natural-made",
]  # fmt: skip

NATURAL = [
    "probe analyze novels.mrg -o table --jobs 1", "probe build natural table -o natural",
    "probe build natural table --task adi --task adi-controls --no-audit -o adi",
    "probe build natural table -f senteval --seed 1 --sequences 5 --frequency-band 1-5000 "
    "--odd-band 1-20 --words 3 --first-rank 12 --no-audit --task TopConst --task ObjNum "
    "--task SOMO --task WC -o senteval",
    "probe run natural table -o runs/natural --task SentLen --task AdiContent "
    f"--train 400 --validation 80 --test 80 -e bow?dim=32 -e tfidf -e length {ONE_CORE} "
    "--set max_epochs=2 --set hidden=20,30 --set dropout=0 --set l2=0",
    "probe show runs/natural", "probe show runs/natural --by-length bins",
    "probe compare runs/natural",
]  # fmt: skip

BAD = [
    "gen -n many", "gen -n 0", "gen -t transitiv", "gen -v compevl", "gen --tence past",
    "gen --require help[past", "gen --require hlep", "gen --lexicon none.toml", "gen -o x.doc",
    "gen --require help[past] --forbid *[past] -t transitive", "gen --lexicon constraints.json",
    "gen -n 3 --count templates", "gen show hlep", "probe rnu", "probe run compevel",
    "probe run compeval -e bwo", "probe run compeval --train 402",
    "probe run compeval --words 9", "probe run plain.txt", "probe run sets --vocabulary compeval",
    "probe run compeval --set batches=3", "probe run compeval -e python:toy:absent",
    "probe build compeval", "probe build natural -o x", "probe build compevl -o x",
    "probe build compeval -o natural-x -f jsnol", "probe build natural absent -o x",
    "probe analyze plain.txt -o x", "probe analyze made.trees -p stanza -o x",
    "probe analyze absent.mrg -o x", "probe audit plain.txt", "probe audit absent",
    "probe show absent", "probe show runs/compeval -f htlm", "probe compare runs/compeval#bwo",
    "probe agree table-trees table-text", "probe agree table-trees absent",
    "probe embed plain.txt -e bow -o x.doc",
]  # fmt: skip

INPUTS = {
    "toy.py": "def encode(sentences):\n    return [[float(len(s)), 0.5] for s in sentences]\n",
    "own.toml": "[noun]\nking = {}\n[intransitive]\nsleep = {}\n[transitive]\nhelp = {}\n",
    "constraints.json": '{"constraints": {"needList": {"noun": ["lawyer"]}}}\n',
}
"""Small files that the commands read."""

TIMES = (
    (re.compile(rb"[^\n]*\xe2\x94\x81 [^\n]*\d:\d\d:\d\d\n"), b""),  # a progress bar
    (re.compile(rb"[\d.,]+ seconds, [\d.,]+ sentences a second"), b"some seconds"),
    (re.compile(rb'("seconds": )(\{[^}]*\}|[\d.e-]+)'), rb"\1some"),
    (re.compile(rb",[\d.e-]+,cpu,"), b",some,cpu,"),  # the same in CSV
)
"""What differs between equal commands."""


def run(command: str, folder: Path, package: Path) -> bytes:
    """Run a command in the folder; return how it ended and what it printed."""
    line, _, source = command.partition(" < ")
    name, *arguments = shlex.split(line)
    code = f"from sentprobe.cli import {name}; {name}()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        input=(folder / source).read_bytes() if source else b"",
        capture_output=True,
        check=False,
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(package), "HOME": str(folder),
            "COLUMNS": "100", "LC_ALL": "C.UTF-8", "SENTPROBE_CACHE": "cache",
            "MPLCONFIGDIR": tempfile.gettempdir(),
        },
    )  # fmt: skip
    printed = b"--- stdout\n%b--- stderr\n%b" % (done.stdout, done.stderr)
    return f"$ {command}\nexit code {done.returncode}\n".encode() + printed


def run_all(place: Path, package: Path) -> None:
    """Run all commands in ``place/files``, and keep what they print in ``place/printed``."""
    files, printed = place / "files", place / "printed"
    for folder in (files, printed):
        folder.mkdir(parents=True)
    for name, text in INPUTS.items():
        (files / name).write_text(text)
    if there := NOVELS.exists():
        with lzma.open(NOVELS, "rt", encoding="utf-8") as source:
            (files / "novels.mrg").write_text("".join(islice(source, TREES)), encoding="utf-8")
    else:
        print(f"left out, as {NOVELS} is absent: {len(NATURAL)} commands on natural text")
    commands = [*HELP, *GEN, *COMPEVAL, *SHOW, *CORPUS, *(NATURAL if there else ()), *BAD]
    for number, command in enumerate(commands):
        start = time.monotonic()
        outcome = run(command, files, package)
        for path, mark in ((files, b"<here>"), (package, b"<package>")):
            outcome = outcome.replace(str(path).encode(), mark)
        (printed / f"{number:03}.txt").write_bytes(remove_times(outcome))
        print(f"{time.monotonic() - start:5.1f} s  {command}", file=sys.stderr)


def remove_times(content: bytes) -> bytes:
    """Leave out what differs between equal commands."""
    for pattern, instead in TIMES:
        content = pattern.sub(instead, content)
    return content


def contents(place: Path) -> dict[str, bytes]:
    """Return the content of every file, by its path in *place*."""
    paths = (path for path in sorted(place.rglob("*")) if path.is_file())
    actual = {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}
    return {n: remove_times(b) for n, b in actual.items() if "__pycache__" not in n}


def differences(old: dict[str, bytes], new: dict[str, bytes]) -> Iterator[str]:
    """Yield the names of files that differ, with the first line that differs."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name}: no longer there"
        elif name not in old:
            yield f"{name}: new"
        elif old[name] != new[name]:
            lines = zip(old[name].split(b"\n"), new[name].split(b"\n"), strict=False)
            was, is_ = next((pair for pair in lines if pair[0] != pair[1]), (b"", b"(longer)"))
            what = old[name].split(b"\n")[0][:200].decode() if name.startswith("printed") else ""
            yield f"{name}: differs {what}\n  was {was[:300]!r}\n  is  {is_[:300]!r}"


def main() -> int:
    """Keep or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["keep", "compare"])
    parser.add_argument("directory", type=Path, help="where the bytes are kept")
    parser.add_argument("--package", type=Path, default=ROOT, help="instead of this repository")
    arguments = parser.parse_args()
    place, package = arguments.directory.resolve(), arguments.package.resolve()
    if arguments.action == "keep":
        run_all(place, package)
        print(f"kept: {len(contents(place))} files in {place}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        run_all(Path(folder), package)
        old, new = contents(place), contents(Path(folder))
    actual = list(differences(old, new))
    print("\n".join([*actual, f"{len(actual)} of {len(old.keys() | new.keys())} files differ"]))
    return int(bool(actual))


if __name__ == "__main__":
    sys.exit(main())
