"""The layout: imports keep the order of the packages, names mean one thing, tests stand beside."""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

from shared import ROOT

PACKAGE = ROOT / "sentprobe"
MODULES = sorted(PACKAGE.rglob("*.py"))


LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_each_package_uses_only_those_below_it_and_there_is_no_circle() -> None:
    """In a process of its own: it turns the logging of other libraries off."""
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_order_names_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    for folder in (PACKAGE, PACKAGE / "probes"):
        prefix = ".".join(folder.relative_to(ROOT).parts)
        there = {f"{prefix}.{path.parent.name}" for path in folder.glob("*/__init__.py")}
        there |= {f"{prefix}.{path.stem}" for path in folder.glob("[!_]*.py")}
        assert there - {"sentprobe.probes"} <= set(layers)


def classes_in(path: Path) -> list[str]:
    """Return the names of classes, and of aliases of types, at the top of a module."""
    found = []
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.ClassDef(name):
                found.append(name)
            case ast.AnnAssign(ast.Name(name), ast.Name("TypeAlias")):
                found.append(name)
            case ast.Assign([ast.Name(name)], ast.Subscript() | ast.BinOp()) if is_camel(name):
                found.append(name)
    return found


def is_camel(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def test_no_name_of_a_class_means_two_things() -> None:
    counts = Counter(name for path in MODULES for name in classes_in(path))
    assert [name for name, count in counts.items() if count > 1] == []


GENERIC = {"words", "tasks", "build", "report", "table", "pieces"}


def test_no_generic_name_stands_for_two_files() -> None:
    names = [path.stem for path in MODULES] + [path.name for path in PACKAGE.rglob("*/")]
    assert {name for name in GENERIC if names.count(name) > 1} == set()


def test_probes_has_few_modules_beside_its_folders() -> None:
    beside = {path.stem for path in (PACKAGE / "probes").glob("*.py")} - {"__init__"}
    assert len(beside) <= 4, beside


def test_tests_are_in_the_same_folders() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        folder = PACKAGE / path.parent.relative_to(ROOT / "tests")
        assert (folder / "__init__.py").is_file(), path


def test_few_lines_are_imports() -> None:
    lines, imports = 0, 0
    for path in MODULES:
        text = path.read_text("utf-8")
        lines += len(text.splitlines())
        imports += sum(
            (node.end_lineno or node.lineno) - node.lineno + 1
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import | ast.ImportFrom)
        )
    assert imports / lines <= 0.07, f"{imports} of {lines} lines"


BELOW = [path for path in MODULES if path.parent.name != "commands" and path.name != "cli.py"]


def test_below_the_command_line_nothing_reads_it_or_makes_a_console() -> None:
    for path in BELOW:
        text = path.read_text("utf-8")
        assert "sys.argv" not in text, path
        made = text.replace("Console(file=", "").replace("Console(\n        file=", "")  # in memory
        assert path.name == "progress.py" or "Console(" not in made, path
