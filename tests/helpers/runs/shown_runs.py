"""Runs in folders for tests of ``probe show`` and ``probe compare``, and parsers of output."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.results.result import Result
from sentprobe.probes.results.store import prepare_directory, write_result

LAYERS = [
    replace(make_sample_result(f"hf:m?layer={n}", "Order", 500 + 9 * n), layer=n, family="hf:m") for n in (10, 2, 0)
]


def write_run(path: Path, *results: Result) -> Path:
    prepare_directory(path)
    for result in results:
        write_result(result, path)
    return path


def write_first_run(place: Path) -> Path:
    """Write two encoders with controls, one on two tasks."""
    return write_run(
        place / "first",
        make_sample_result("bow", "Order", 500, 490, 505, 500, mirrored=True),
        make_sample_result("st<b>", "Order", 690, 490, 505, 500, mirrored=True),
        make_sample_result("bow", "Content1Probe", 900, 500, 501, 900),
    )


def split_rows(stdout: str) -> list[list[str]]:
    split = [re.split(r"\s*[│┃]\s*", line)[1:-1] for line in stdout.splitlines()]
    return [row for row in split if row]


class TagChecker(HTMLParser):
    """Check that tags are closed in order, and keep the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag not in {"meta", "path", "use"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"path", "use"}:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def parse_cells(stdout: str) -> dict[tuple[str, str], list[str]]:
    """Return the cells of a printed table by section and encoder."""
    cells, section = {}, ""
    for row in split_rows(stdout):
        if not any(row[1:]):
            section = row[0]
        else:
            cells[section, row[0]] = row[1:]
    return cells
