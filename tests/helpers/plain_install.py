"""The distributions of an installation without extras."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from helpers.shared import ROOT
from packaging.requirements import Requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def closure(requirements: Iterable[str], exit_code: dict[str, Distribution]) -> dict[str, Distribution]:
    """Add to *found* the distributions that the requirements stand for, and what these require."""
    for requirement in map(Requirement, requirements):
        if requirement.name not in exit_code and (
            requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ):
            exit_code[requirement.name] = distribution(requirement.name)
            closure(exit_code[requirement.name].requires or (), exit_code)
    return exit_code


def link_plain(folder: Path) -> None:
    """Link all that a plain install puts beside sentprobe into *folder*, and sentprobe."""
    for value in closure(PROJECT["dependencies"], {}).values():
        for top in {file.parts[0] for file in value.files or ()} - {"..", "__pycache__"}:
            link = folder / top
            if not link.is_symlink():
                link.symlink_to(Path(str(value.locate_file(top))))
    (folder / "sentprobe").symlink_to(ROOT / "sentprobe")


def run_plain(folder: Path, code: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run *code* in a process that sees the linked libraries only."""
    return subprocess.run(
        [sys.executable, "-S", "-c", code, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
