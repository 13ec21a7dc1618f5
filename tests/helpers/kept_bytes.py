"""Check that a change of the code changes no byte of the commands' output and files.

``keep DIR --package OLD`` runs the commands of ``kept_commands.py`` with the package in OLD, and ``compare DIR`` runs
them with this package. ``compare`` also lets this package read, show and join the results that the old one wrote.
"""

import argparse
import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers.encoders.embedding_server import start_server  # noqa: E402
from helpers.encoders.language_models import make_bert, make_gpt2  # noqa: E402
from helpers.encoders.model_files import packaged_model  # noqa: E402
from helpers.encoders.published_models import write_infersent, write_sdae, write_skipthought  # noqa: E402
from helpers.kept_commands import GROUPS, TEXTS  # noqa: E402
from helpers.shared import SHARED  # noqa: E402

TREES = 3000
PORT = 18_990
"""The endpoint's port: an encoder's spec is part of names of files."""

MASKS = (
    (re.compile(rb"[^\n]*\xe2\x94\x81 [^\n]*\d:\d\d:\d\d\n"), b""),  # a progress bar
    (re.compile(rb"[\d.,]+ seconds, [\d.,]+ sentences a second"), b"some seconds"),
    (re.compile(rb"(?:, [\d.,]+ per second)? in [\d:]+(?: s| min)?\n"), b" in some time\n"),  # progress in a file
    (re.compile(rb'("(?:seconds|waited)": )(\{[^}]*\}|[\d.e-]+|null)'), rb"\1some"),
    (re.compile(rb",[\d.e-]+,cpu,"), b",some,cpu,"),  # the same in CSV
    (re.compile(rb", [\d,]+ tokens/s"), b""),
    (re.compile(rb'"(recipe|digest)": "[^"]*"'), rb'"\1": "some"'),  # a digest of the code is in the recipe
)
"""What differs between equal commands."""


def make_inputs(place: Path) -> None:
    """Write everything that the commands read, but for shared data."""
    for name, text in TEXTS.items():
        (place / name).write_text(text)
    make_bert(place / "tiny-bert")
    make_gpt2(place / "tiny-gpt2")
    write_infersent(place)
    write_skipthought(place / "skip")
    write_sdae(place)
    if SHARED.is_dir():
        shutil.copy(SHARED / "faults" / "hr_min-ud-test.conllu", place)
        with lzma.open(SHARED / "novels" / "parsed.mrg.xz", "rt", encoding="utf-8") as source:
            (place / "novels.mrg").write_text("".join(islice(source, TREES)), encoding="utf-8")


def run_command(command: str, folder: Path, package: Path, home: Path) -> tuple[bytes, float]:
    """Run a command in the folder; return how it ended and what it printed, and its CPU seconds."""
    line, _, source = command.partition(" < ")
    name, *arguments = shlex.split(line)
    read = folder / source if source else Path(os.devnull)
    with read.open("rb") as given, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", f"from sentprobe.cli import {name}; {name}()", *arguments],
            cwd=folder,
            stdin=given,
            stdout=stdout,
            stderr=stderr,
            env={
                "PATH": os.environ["PATH"], "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": str(home), "COLUMNS": "100", "LC_ALL": "C.UTF-8", "SENTPROBE_CACHE": str(home / "cache"),
                "MPLCONFIGDIR": str(home / "matplotlib"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
            },
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed = []
        for stream in (stdout, stderr):
            stream.seek(0)
            printed.append(stream.read())
    outcome = f"$ {command}\nexit code {process.returncode}\n".encode()
    return outcome + b"--- stdout\n%b--- stderr\n%b" % tuple(printed), usage.ru_utime + usage.ru_stime


class Session:
    """Runs groups of commands with one package."""

    def __init__(self, package: Path, inputs: Path, server: str) -> None:
        self.package, self.inputs = package, inputs
        self.words = {"server": server, "novels": "novels.mrg", "treebanks": str(SHARED / "treebanks")}
        self.words["model"] = str(packaged_model())

    def run_group(self, name: str, place: Path) -> None:
        """Run the commands of a group in ``place/name/files``; keep what they print in ``place/name/printed``."""
        files = place / name / "files"
        shutil.copytree(self.inputs, files)
        commands = [*GROUPS[name].commands, *GROUPS[name].readers]
        self.run_all(commands, files, place / name / "printed", home=place / name / "home")

    def run_all(self, commands: Sequence[str], files: Path, printed: Path, home: Path) -> None:
        """Run commands in the folder *files*, with *home* for the cache; keep what they print and their CPU times."""
        for folder in (printed, home):
            folder.mkdir(parents=True)
        seconds = {}
        for number, command in enumerate(commands):
            filled = command.format_map(self.words) if "{" in command and "'help" not in command else command
            outcome, seconds[command] = run_command(filled, files, self.package, home)
            if b"Traceback (most recent call last)" in outcome:
                print(f"traceback: {command}", file=sys.stderr)
            for path, mark in ((files, b"<here>"), (home, b"<home>"), (self.package, b"<package>")):
                outcome = outcome.replace(str(path).encode(), mark)
            (printed / f"{number:03}.txt").write_bytes(outcome)
            print(f"{seconds[command]:5.1f} s  {command}", file=sys.stderr)
        (home / "seconds.json").write_text(json.dumps(seconds))

    def read_old(self, name: str, old: Path, place: Path) -> None:
        """Run the readers of a group on a copy of what another package wrote."""
        files = place / name / "files"
        shutil.copytree(old / name / "files", files)
        self.run_all(GROUPS[name].readers, files, place / name / "printed", home=place / name / "home")


def mask(content: bytes) -> bytes:
    """Leave out what differs between equal commands."""
    for pattern, instead in MASKS:
        content = pattern.sub(instead, content)
    return content


def read_contents(place: Path) -> dict[str, bytes]:
    """Return the masked content of every file below *place*, by its path, without caches."""
    paths = (path for path in sorted(place.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(place).as_posix(): mask(path.read_bytes()) for path in paths}


def list_differences(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the names of files that differ, with the first line that differs."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name}: no longer there"
        elif name not in old:
            yield f"{name}: new"
        elif old[name] != new[name]:
            lines = zip(old[name].split(b"\n"), [*new[name].split(b"\n"), b"(shorter)"], strict=False)
            was, is_ = next((pair for pair in lines if pair[0] != pair[1]), (b"", b"(longer)"))
            what = old[name].split(b"\n")[0][:200].decode() if "printed" in name else ""
            yield f"{name}: differs {what}\n  was {was[:300]!r}\n  is  {is_[:300]!r}"


def compare_group(name: str, old: Path, new: Path, read: Path) -> list[str]:
    """Return the differences of a group: what commands printed and wrote, and what readers printed of old files."""
    found = []
    for part in ("printed", "files"):
        differences = list_differences(read_contents(old / name / part), read_contents(new / name / part))
        found += [f"{name}/{part}/{line}" for line in differences]
    readers = [file.read_bytes() for file in sorted((old / name / "printed").iterdir())]
    readers = readers[len(GROUPS[name].commands) :]
    shown = [file.read_bytes() for file in sorted((read / name / "printed").iterdir())] if readers else []
    numbered = [{f"{n:03}": mask(text) for n, text in enumerate(texts)} for texts in (readers, shown)]
    return found + [f"{name}/reads old files: {line}" for line in list_differences(*numbered)]


def count_seconds(place: Path, name: str) -> float:
    """Return the CPU seconds of a group."""
    seconds: dict[str, float] = json.loads((place / name / "home" / "seconds.json").read_text())
    return sum(seconds.values())


def main() -> int:
    """Keep or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["keep", "compare"])
    parser.add_argument("directory", type=Path, help="where the bytes are kept")
    parser.add_argument("--package", type=Path, default=ROOT, help="instead of this repository")
    parser.add_argument("--group", action="append", choices=[*GROUPS], help="only this group; repeatable")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    kept, names = arguments.directory.resolve(), arguments.group or [*GROUPS]
    with (
        tempfile.TemporaryDirectory() as folder,
        start_server(PORT) as server,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        place = Path(folder)
        new, read, inputs = place / "new", place / "read", kept / "inputs"
        if not inputs.exists():  # pickled weights differ each time that they are written
            (place / "inputs").mkdir()
            make_inputs(place / "inputs")
            shutil.copytree(place / "inputs", inputs)
        session = Session(arguments.package.resolve(), inputs, server.url)
        if arguments.action == "keep":
            list(pool.map(lambda name: session.run_group(name, kept), names))
            return 0
        list(pool.map(lambda name: session.run_group(name, new), names))
        list(pool.map(lambda name: session.read_old(name, kept, read), [n for n in names if GROUPS[n].readers]))
        differences = [line for name in names for line in compare_group(name, kept, new, read)]
        print("\n".join([*differences, f"{len(differences)} differences"]))
        for name in names:
            print(f"{name}: {count_seconds(kept, name):.0f} CPU seconds, now {count_seconds(new, name):.0f}")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
