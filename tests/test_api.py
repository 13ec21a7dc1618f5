"""The packages have the public names that they list, each listed once."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import sentprobe

ROOT = Path(sentprobe.__file__).parent
MODULES = sorted(
    ".".join(("sentprobe", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if path.name != "__main__.py"
)


@pytest.mark.parametrize("name", MODULES)
def test_all_is_complete_and_sorted(name: str) -> None:
    module = import_module(name)
    names = getattr(module, "__all__", [])
    assert [missing for missing in names if not hasattr(module, missing)] == []
    assert len(set(names)) == len(names)
    # Ruff sorts constants, classes, others; lazy_loader sorts the list of the top package.
    by_kind = sorted(names, key=lambda n: (not n.isupper(), not n[:1].isupper(), n))
    assert list(names) == (sorted(names) if module is sentprobe else by_kind)


@pytest.mark.parametrize("name", ["sentprobe", "sentprobe.lexicon"])
def test_public_packages_state_what_they_offer(name: str) -> None:
    assert import_module(name).__all__


def test_public_names_are_listed_and_described() -> None:
    stub = ast.parse((ROOT / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    promised = [alias.asname for node in imports for alias in node.names]
    assert sorted(map(str, promised)) == dir(sentprobe) == import_module("sentprobe").__all__
    for name in dir(sentprobe):
        value = getattr(sentprobe, name)
        assert not callable(value) or value.__doc__, name
        methods = vars(value).items() if inspect.isclass(value) and value.__module__.startswith("sentprobe") else ()
        own = {key: method for key, method in methods if not key.startswith("_")}
        undescribed = [key for key, method in own.items() if not (inspect.getdoc(method) or not callable(method))]
        assert undescribed == [], name


def test_unknown_name_is_attribute_error() -> None:
    with pytest.raises(AttributeError, match="generat"):
        _ = import_module("sentprobe").generat


@pytest.mark.parametrize("name", MODULES)
def test_module_has_docstring(name: str) -> None:
    assert import_module(name).__doc__
