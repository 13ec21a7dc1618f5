"""The documentation: its statements are true, its commands and scripts print what it shows, and its site is whole."""

import doctest
import json
import re
import runpy
import shlex
import tomllib
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from subprocess import run
from sys import executable
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from helpers.doc_pages import PAGES
from helpers.encoders.model_files import packaged_model
from helpers.in_process import Command
from helpers.plain_install import PROJECT
from helpers.runs.shown_output import is_same_output
from helpers.shared import ROOT
from packaging.requirements import Requirement

import sentprobe
from sentprobe import cli

FILES = [
    f"/{path.relative_to(ROOT).as_posix()}"
    for folder in ("sentprobe", "tests", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*.py")
]
NOT_OURS = {"xy_classify.py"}
"""Files of the published code."""

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_names_of_modules_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    for name in re.findall(r"\bsentprobe(?:\.[A-Za-z_]\w*)+", text):
        resolve_name(name)
    for module, names in re.findall(r"^ *from (sentprobe\S*) import (.*)$", text, re.MULTILINE):
        for name in names.split(","):
            resolve_name(f"{module}:{name.strip()}")


@every_page
def test_paths(page: Path) -> None:
    text = page.read_text("utf-8")
    for path in re.findall(r"(?<![\w./-])(?:sentprobe|tests|docs|benchmarks)/[\w./-]*\w", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"(?<![\w./-])\w[\w/]*\.py\b", text):
        assert name in NOT_OURS or any(path.endswith(f"/{name}") for path in FILES), name


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text("utf-8"))
    for target, heading in links:
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not heading or heading in read_headings(path), f"{target}#{heading}"


@every_page
def test_external_links_are_well_formed(page: Path) -> None:
    """`make docs-links` checks over the network that they lead somewhere."""
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\((https?:[^)]*)\)|<(https?:[^>]*)>", text):
        address = urlsplit("".join(link))
        assert (address.scheme, address.username, address.port) == ("https", None, None), link
        assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", address.netloc), link
        assert re.fullmatch(r"[\w./~%+:@=-]*", address.path), link


@every_page
def test_options_of_commands_exist(page: Path) -> None:
    text = page.read_text("utf-8").replace("\\\n", " ")
    for line in re.findall(r"^ *(?:    |\$ )((?:gen|probe) [a-z]+ .*)$", text, re.MULTILINE):
        if "..." in line or "--config" in line:  # incomplete, or needs a file
            continue
        program, name, *arguments = shlex.split(line, comments=True)
        cli.load_command(program, name).make_context(name, arguments)


def test_python_in_the_page_on_training(working_folder: Path) -> None:
    page = str(ROOT / "docs" / "training.md")
    assert doctest.testfile(page, module_relative=False) == (0, 9)
    assert len(list((working_folder / "curve" / "geometry").iterdir())) == 6


def read_headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub writes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def count_words(*pages: Path) -> int:
    """Return the number of words of pages, as wc counts them."""
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def test_head_of_readme_and_changelog_are_short() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.partition("\n## Install\n")[0].split()) <= 250
    assert count_words(ROOT / "CHANGELOG.md") <= 400


@pytest.mark.parametrize("record", sorted((ROOT / "docs" / "decisions").glob("0*.md")), ids=lambda page: page.stem)
def test_decision_is_one_page(record: Path) -> None:
    text = record.read_text("utf-8")
    assert count_words(record) <= 300
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert text.startswith(f"# {int(record.name[:4])}. ")


def test_types_of_the_glossary_exist() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "sentprobe").rglob("*.py"))
    classes = {*re.findall(r"^class (\w+)", sources, re.MULTILINE)}
    glossary = (ROOT / "docs" / "design.md").read_text("utf-8").partition("## Glossary")[2]
    types = {*re.findall(r"`([A-Z]\w+)`", glossary)}
    assert len(types) >= 50
    assert types <= classes


def test_drawn_layout_has_order_of_packages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    drawing = (ROOT / "docs" / "design.md").read_text("utf-8").partition("## Layout")[2]
    drawn = re.findall(r"\b(\w+)(?:/|\.py)(?=\s)", drawing.partition("tests/")[0])
    order = [name.rpartition(".")[2] for name in reversed(layers)]
    assert [name for name in drawn if name in order] == order


DOCS = ROOT / "docs"
INDEXES = ["index", "howto", "reference", "explanation", "measurements", "decisions/index"]


def read_toctrees(page: Path) -> str:
    """Return the text of a page's toctrees."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.M)
    return "".join(blocks)


def list_children(page: Path) -> list[Path]:
    """Return the pages that a page has below it."""
    names = [line for line in read_toctrees(page).splitlines() if line and line[0] != ":"]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def read_title(page: Path) -> str:
    """Return the first heading of a page."""
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ")


def test_each_page_stands_once_in_the_site() -> None:
    """Except the README: the home page of the site shows the same."""
    below = [child for page in DOCS.rglob("*.md") for child in list_children(page)]
    not_below = {DOCS / "index.md", ROOT / "README.md"}
    assert sorted(below) == sorted(page for page in PAGES if page not in not_below)


def test_home_and_search_lead_to_pages_for_newcomers() -> None:
    home = (DOCS / "index.md").read_text("utf-8").partition("```")[0]
    links = [name for name in re.findall(r"\]\(([\w-]+)\.md\)", home) if name != "lm"]
    titles = [read_title(DOCS / f"{name}.md") for name in links]
    assert titles == ["Tutorial", "Probe my own model", "Probe a language model's layers", "Is my threshold safe?"]
    scores = (DOCS / "_static" / "search_scores.js").read_text("utf-8")
    assert re.findall('page === "docs/([^"]*)"', scores) == ["own-model"]


def test_page_titles_differ() -> None:
    """And no other in the navigation."""
    titles = Counter(read_title(page) for page in PAGES if page != ROOT / "README.md")
    assert [title for title, count in titles.items() if count > 1] == []
    assert [page for page in PAGES if re.search(r"^.* <.*>$", read_toctrees(page), re.M)] == []


@pytest.mark.parametrize("name", INDEXES)
def test_index_links_pages_by_title(name: str) -> None:
    page = DOCS / f"{name}.md"
    links = {
        (page.parent / target).resolve(): text
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("- ") or " | " in line
        for text, target in re.findall(r"\[([^\]]*)\]\(([^)#\s]*)\)", line)
    }
    assert {child: links.get(child) for child in list_children(page)} == {
        child: read_title(child).lstrip("0123456789. ") for child in list_children(page)
    }


def test_reference_has_each_public_name_once() -> None:
    directives = r"^\.\. auto\w+:: sentprobe\.(\w+)$"
    named = re.findall(directives, (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    assert Counter(named) == Counter(dir(sentprobe))


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("sphinx"), reason="Sphinx is not installed: make docs")
def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs"]
    done = run([*command, "-d", tmp_path / "trees", ".", tmp_path / "site"], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert (tmp_path / "site" / "index.html").exists()
    assert 'id="sentprobe.Space.sample"' in (tmp_path / "site/docs/api.html").read_text("utf-8")


SHOWN_PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("install", "generate", "paper-table")),
    *(ROOT / "docs" / f"{name}.md" for name in ("own-structures", "own-tasks", "python")),
]
_BLOCKS = [
    re.sub(r"^  (?=\S)", "", block, flags=re.MULTILINE)
    for page in SHOWN_PAGES
    for block in re.findall(r"^ *```\n(.*?)^ *```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
]
EXAMPLES = [
    (command, shown)
    for block in _BLOCKS
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block, flags=re.MULTILINE)
    if command.startswith("gen ")
]


COMMANDS = [
    line for block in _BLOCKS for line in block.replace("\\\n", " ").splitlines() if line.startswith(("gen ", "probe "))
]
"""Commands that a reader pastes; words in capitals stand for the reader's files."""


@pytest.mark.parametrize("line", COMMANDS)
def test_command_can_be_pasted(line: str) -> None:
    program, name, *arguments = shlex.split(line)
    assert name in cli.COMMANDS[program]
    cli.load_command(program, name).make_context(name, arguments)
    files = [word for word in arguments if "." in word and not word.startswith(("st:", "--"))]
    reader_files = [word for word in files if word not in PRODUCED_FILES]
    assert all(word.partition(".")[0].rstrip("*/").isupper() for word in reader_files)
    assert "st:." not in line


PRODUCED_FILES = ["report.html", "table.tex"]
"""Files that the commands themselves make."""


def test_there_are_examples() -> None:
    assert len(COMMANDS) >= 10

    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_command_prints_shown_output(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", shlex.split(command))
    with pytest.raises(SystemExit):
        cli.gen()
    printed = capsys.readouterr()
    assert (printed.out + printed.err).strip() == shown.strip()


def test_python_on_its_page() -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert tried >= 6
    assert failed == 0


def test_python_of_readme_is_on_page() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8").replace(">>> import sentprobe\n", "")
    blocks = re.findall(r"^```python\n(.*?)^```$", SHOWN_PAGES[0].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    assert blocks[0].replace(">>> import sentprobe\n", "").strip() in page


EXAMPLE_FOLDER = ROOT / "examples"
SLOW = {"own_encoder", "own_task", "paper_table", "training_curve"}
"""Scripts that train probes or classifiers, which takes seconds."""
SCRIPTS = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [], id=path.stem)
    for path in sorted(EXAMPLE_FOLDER.glob("*.py"))
]


@pytest.mark.usefixtures("working_folder")
@pytest.mark.slow
def test_workflow_of_the_gate_works(command: Command) -> None:
    """Its packages are ours, and its command, on a bag of words, writes the file and exits with 1."""
    text = (ROOT / "docs/gate.md").read_text("utf-8")
    workflow = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0])
    steps = [shlex.split(step["run"]) for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    torch, package, gate = steps
    assert torch == ["pip", "install", "torch", "--index-url", "https://download.pytorch.org/whl/cpu"]
    requirement = Requirement(package[2])
    assert (requirement.name, requirement.url) == ("sentprobe", f"git+{PROJECT['urls']['Source']}")
    assert requirement.extras <= PROJECT["optional-dependencies"].keys()
    assert gate[:3] == ["probe", "gate", "st:all-MiniLM-L6-v2"]
    assert command("gate", "bow?dim=8", *gate[3:])[0] == 1
    assert ElementTree.parse("gate.xml").getroot().get("failures") != "0"


def read_promised_output(script: Path) -> str:
    """Return the output that a script's docstring shows."""
    text = script.read_text("utf-8").partition('"""')[2].partition('"""')[0]
    return text.partition("Prints:\n\n")[2]


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_prints_promised_output(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert read_promised_output(script)
    assert is_same_output(read_promised_output(script), capsys.readouterr().out)


def read_code_cells() -> list[dict[str, Any]]:
    """Return the notebook's code cells."""
    book = json.loads((EXAMPLE_FOLDER / "word_order.ipynb").read_text("utf-8"))
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def test_cells_of_the_notebook_compile() -> None:
    for cell in read_code_cells():
        compile("".join(cell["source"]), cell["id"], "exec")


@pytest.mark.usefixtures("working_folder")
@pytest.mark.slow
def test_notebook_shows_printed_output(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for cell in read_code_cells():
        exec("".join(cell["source"]), names)
        shown = "".join(line for output in cell["outputs"] for line in output.get("text", ()))
        assert is_same_output(shown, capsys.readouterr().out)


def test_containers_run_commands_of_the_readme() -> None:
    readme = [line.removeprefix("$ ") for line in (ROOT / "README.md").read_text("utf-8").splitlines()]
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    commands = re.findall(r"^RUN (.*)$", dockerfile, re.MULTILINE)
    assert len(commands) == 3
    assert [command for command in commands if command not in readme] == []
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    folder = ROOT / ".devcontainer"
    assert (folder / container["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (folder / container["build"]["context"]).resolve() == ROOT
    assert container["postCreateCommand"] == commands[-1]


def read_steps(page: str) -> list[tuple[list[str], str]]:
    """Return the commands of a page, each as its words with the output that the page shows."""
    text = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    pattern = r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)"
    examples = [pair for block in blocks for pair in re.findall(pattern, block, flags=re.MULTILINE)]
    return [(shlex.split(command), shown) for command, shown in examples]


FIRST = read_steps("README.md")
GENERATE, *TUTORIAL = read_steps("docs/tutorial.md")
LAYERS = read_steps("docs/layers.md")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("bow  81.2 | 36/52\n...\n0 of 1", "bow 80.0 | 35/51\n1\n2\n0 of 1", True),
        ("bow 81.2", "bow 77.0", False),
        ("0 of 1 are", "1 of 1 are", False),
        ("...\nbow -1.0\n...", "tfidf\nbow +1.4\nlength", True),
    ],
)
def test_output_agrees_within_tolerance(shown: str, printed: str, same: bool) -> None:
    assert is_same_output(shown, printed) == same


def test_each_step_is_a_command() -> None:
    assert (len(FIRST), len(TUTORIAL), len(LAYERS)) == (1, 7, 3)
    for (program, name, *options), _ in (*FIRST, *TUTORIAL, *LAYERS):
        cli.load_command(program, name).make_context(name, options)


def use_local_model(word: str) -> str:
    """Replace the online model in a word of the command line by the model in a local folder."""
    return word.replace("st:", "st:./").replace("hf:sentence-transformers/", "hf:./")


def check_output(words: list[str], shown: str, run_program: Command) -> None:
    program, *arguments = words
    code, out, _ = run_program(program, *arguments)
    assert code == 0
    assert is_same_output(shown, out), out


def test_first_step(run_program: Command) -> None:
    check_output(*GENERATE, run_program)


@pytest.mark.usefixtures("working_folder")
@pytest.mark.slow
@pytest.mark.parametrize("commands", [FIRST, TUTORIAL, LAYERS], ids=["readme", "tutorial", "layers"])
def test_all_steps(
    commands: list[tuple[list[str], str]], monkeypatch: pytest.MonkeyPatch, run_program: Command
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    Path("all-MiniLM-L6-v2").symlink_to(packaged_model())
    for words, shown in commands:
        check_output([use_local_model(word) for word in words], shown, run_program)
