"""Import of optional dependencies (pip extras), with errors that name the missing library and its extra."""

import json
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sentprobe.errors import SentprobeError, first_line

PROBE = {"torch": "PyTorch", "sklearn": "scikit-learn", "duckdb": "DuckDB", "lightgbm": "LightGBM"}
"""Libraries of the extra ``probe``: import name to display name."""

LIBRARIES_BY_EXTRA = {
    "probe": PROBE,
    "train": {"lightning_fabric": "lightning-fabric", "defusedxml": "defusedxml"},
    "dask": {"distributed": "Dask"},
}
"""Libraries of each extra: import name to display name."""

_WITH_PROBE = {"mteb", "sentence-transformers", "train", "transformers"}
"""Extras that install all libraries of ``probe``, too."""

_SYSTEM_LIBRARIES = {"lightgbm": "the OpenMP library of the system, libgomp (of macOS: libomp)"}
"""System libraries that pip does not install, by the Python library that needs them."""


class MissingError(SentprobeError, ImportError):
    """A library of an extra is not installed; the message names the library and the extra."""


class UnusableError(SentprobeError, ImportError):
    """An installed library cannot be loaded or is too old; the message names the missing part."""


def require_libraries(*libraries: str, extras: Iterable[str] = ()) -> None:
    """Raise MissingError if a library (import name) is not installed; nothing is imported.

    - extras: extras that the pip command in the message also installs
    """
    if missing := [library for library in libraries if find_spec(library) is None]:
        raise _missing_error(missing, extras)


def import_module_of_extra(module: str) -> Any:
    """Import and return a module of a library that the extra ``probe``, ``train`` or ``dask`` installs.

    >>> import_module_of_extra("sklearn.utils").__name__
    'sklearn.utils'

    Raises:
        MissingError: the library is not installed.
        UnusableError: a system library that the library needs is missing.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:  # the library lacks a dependency of its own
            raise
        raise _missing_error([library]) from None
    except OSError as error:  # ctypes cannot open a shared library
        system_library = _SYSTEM_LIBRARIES.get(library)
        hint = f"; it needs {system_library}" if system_library else ""
        message = f"{PROBE[library]} is installed, but cannot be loaded{hint}: {first_line(error)}"
        raise UnusableError(message) from error


def _missing_error(libraries: Sequence[str], extras: Iterable[str] = ()) -> MissingError:
    missing = [
        (extra, name)
        for extra, names in LIBRARIES_BY_EXTRA.items()
        for library, name in names.items()
        if library in libraries
    ]
    verb = "is" if len(missing) == 1 else "are"
    return MissingError(
        f"this needs {' and '.join(name for _, name in missing)}, which {verb} not installed: "
        f"{format_install(*(extra for extra, _ in missing), *extras)}"
    )


def format_install(*extras: str) -> str:
    """Return the pip command that installs *extras* from where sentprobe came: PyPI, a folder or a repository."""
    needed = sorted({*extras} - ({"probe"} if _WITH_PROBE & {*extras} else set()))
    named = f"sentprobe[{','.join(needed)}]"
    try:
        record = distribution("sentprobe").read_text("direct_url.json")
        source = json.loads(record or "{}")
    except (PackageNotFoundError, ValueError):  # it runs from a checkout
        source = {"url": Path(__file__).resolve().parents[1].as_uri(), "dir_info": {"editable": True}}
    url = source.get("url", "")
    if "dir_info" in source:
        option = "-e " if source["dir_info"].get("editable") else ""
        return f"pip install {option}{quote(url2pathname(urlsplit(url).path) + named.removeprefix('sentprobe'))}"
    if "vcs_info" in source:
        url = f"{source['vcs_info']['vcs']}+{url}@{source['vcs_info']['commit_id']}"
    return f"pip install {quote(f'{named} @ {url}' if url else named)}"
