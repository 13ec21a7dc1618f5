"""Layout and language: the import order of the packages, few files a folder, and plain names."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from helpers.naming import PlainLanguage, measure_language
from helpers.shared import ROOT

PACKAGE = ROOT / "sentprobe"
MODULES = sorted(PACKAGE.rglob("*.py"))
TEST_MODULES = sorted((ROOT / "tests").rglob("*.py"))
FOLDERS = sorted({path.parent for path in (*MODULES, *TEST_MODULES)})

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_packages_import_only_lower_ones() -> None:
    """In its own process, since it turns off the logging of other libraries."""
    process = subprocess.run(
        [sys.executable, "-c", LINT, "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout


def test_import_order_names_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    for folder in (PACKAGE, PACKAGE / "probes"):
        prefix = ".".join(folder.relative_to(ROOT).parts)
        names = {f"{prefix}.{path.parent.name}" for path in folder.glob("*/__init__.py")}
        names |= {f"{prefix}.{path.stem}" for path in folder.glob("[!_]*.py")}
        assert names - {"sentprobe.probes"} <= set(layers)


def find_classes(path: Path) -> list[str]:
    """Return the names of classes and type aliases at the top of a module."""
    classes = []
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.ClassDef(name):
                classes.append(name)
            case ast.AnnAssign(ast.Name(name), ast.Name("TypeAlias")):
                classes.append(name)
            case ast.Assign([ast.Name(name)], ast.Subscript() | ast.BinOp()) if is_camel(name):
                classes.append(name)
    return classes


def is_camel(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def test_class_names_are_unique() -> None:
    counts = Counter(name for path in MODULES for name in find_classes(path))
    assert [name for name, count in counts.items() if count > 1] == []


def test_few_modules_share_a_base_name() -> None:
    counts = Counter(path.stem for path in MODULES if path.stem != "__init__")
    assert len([name for name, count in counts.items() if count > 1]) <= 12


def test_folders_have_few_files() -> None:
    for folder in FOLDERS:
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) <= 18, f"{folder.relative_to(ROOT)} has {len(files)} files"


def test_packages_have_docstrings() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path


def test_probes_has_few_modules() -> None:
    modules = {path.stem for path in (PACKAGE / "probes").glob("*.py")} - {"__init__"}
    assert len(modules) <= 4, modules


def test_tests_are_in_the_same_folders() -> None:
    """Tests of one folder may stand in several folders below that of its name."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        folder = PACKAGE / path.parent.relative_to(ROOT / "tests")
        places = (folder, folder.parent) if folder.parent != PACKAGE.parent else (folder,)
        assert folder.name == "documentation" or any((place / "__init__.py").is_file() for place in places), path


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
    assert imports / lines <= 0.08, f"{imports} of {lines} lines"


@pytest.mark.slow
@pytest.mark.parametrize("modules", [MODULES, TEST_MODULES], ids=["sentprobe", "tests"])
def test_names_and_docstrings_are_plain(modules: list[Path]) -> None:
    language = measure_language(modules)
    limits = PlainLanguage(vague_names=0.5, bare_functions=4, clumsy_turns=0.3)
    assert language.vague_names <= limits.vague_names, language
    assert language.bare_functions <= limits.bare_functions, language
    assert language.clumsy_turns <= limits.clumsy_turns, language


def test_documentation_is_short() -> None:
    manual = sum(map(count_words, (ROOT / "docs").rglob("*.md")))
    readme, changelog = (count_words(ROOT / name) for name in ("README.md", "CHANGELOG.md"))
    assert manual <= 30_600
    assert readme <= 1_200
    assert manual + readme + changelog <= 32_200


def count_words(path: Path) -> int:
    return len(path.read_text("utf-8").split())


def test_imports_in_functions_have_one_rule() -> None:
    """The rule is in pyproject.toml: a function imports modules that load slowly."""
    for path in (*MODULES, *TEST_MODULES):
        assert not re.search(r"#\s*noqa:.*PLC0415", path.read_text("utf-8")), path


BELOW = [path for path in MODULES if "commands" not in path.parts and path.name != "cli.py"]


def test_only_commands_use_console() -> None:
    for path in BELOW:
        text = path.read_text("utf-8")
        assert "sys.argv" not in text or path.name == "__main__.py", path
        in_memory = text.replace("Console(file=", "").replace("Console(\n        file=", "")
        assert path.name == "screen.py" or "Console(" not in in_memory, path


def test_commands_print_no_unescaped_message() -> None:
    """A name from a user's file may hold control characters: print_text and print_message escape them."""
    for path in (PACKAGE / "commands").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(ast.Name("print"), [ast.JoinedStr() as text, *_]):
                    assert ast.unparse(text) == "f'sentprobe {__version__}'", (path, node.lineno)


WRITER_MODULES = {
    "ensure_ascii": "common/values.py",
    "writer": "common/tables.py",
    "tostring": "probes/similarity/gate_checks.py",
}


def find_unsafe_writers(path: Path) -> list[str]:
    """Return the names of WRITER_MODULES that a module uses: Unicode JSON, the writers of the csv module, and XML."""
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.keyword("ensure_ascii") | ast.Attribute(_, "tostring"):
                names.append(node.arg or "" if isinstance(node, ast.keyword) else node.attr)
            case ast.Attribute(ast.Name("csv"), ("writer" | "DictWriter") as name):
                names.append(name)
            case ast.ImportFrom("csv" | "json", imported):
                names += [alias.name for alias in imported]
    return names


def test_writers_have_one_place_each() -> None:
    places = {(name, path.relative_to(PACKAGE).as_posix()) for path in MODULES for name in find_unsafe_writers(path)}
    assert places == set(WRITER_MODULES.items())
