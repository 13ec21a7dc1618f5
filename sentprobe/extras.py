"""The libraries that a plain install lacks: imported where they are used, or named as missing."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sentprobe.errors import SentprobeError, first_line

PROBE = {
    "torch": "PyTorch",
    "sklearn": "scikit-learn",
    "scipy": "SciPy",
    "duckdb": "DuckDB",
    "lightgbm": "LightGBM",
}
"""What the extra ``probe`` installs, by the name that is imported."""

TRAIN = {"defusedxml": "defusedxml", "polib": "polib", "pysword": "pysword"}
"""What the extra ``train`` installs besides."""

_OF_THE_SYSTEM = {"lightgbm": "the OpenMP library of the system, libgomp (of macOS: libomp)"}
"""What a library needs besides, that pip does not install."""


class MissingError(SentprobeError, ImportError):
    """A library is wanted that an extra installs; the message names both."""


class UnusableError(SentprobeError, ImportError):
    """A library is installed, but cannot be loaded or is too old; says which is wanted."""


def need(*libraries: str) -> None:
    """Refuse at once what will want *libraries* later; none is imported yet, for they are slow.

    Raises:
        MissingError: one is not installed.
    """
    for library in libraries:
        if find_spec(library) is None:
            raise _missing(library)


def load(module: str) -> Any:
    """Import a module of one of the libraries of the extras ``probe`` and ``train``.

    >>> load("scipy.stats").__name__
    'scipy.stats'

    Raises:
        MissingError: the library is not installed.
        UnusableError: it is, but not all that it needs of the system.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:  # the library is there, but lacks something itself
            raise
        raise _missing(library) from None
    except OSError as error:  # what ctypes raises for a shared library that it cannot open
        raise _unusable(library, error) from error


def _missing(library: str) -> MissingError:
    extra, names = ("train", TRAIN) if library in TRAIN else ("probe", PROBE)
    return MissingError(
        f"this needs {names[library]}, which is not installed: pip install 'sentprobe[{extra}]'"
    )


def _unusable(library: str, error: OSError) -> UnusableError:
    lacking = _OF_THE_SYSTEM.get(library)
    needed = f"; it needs {lacking}" if lacking else ""
    return UnusableError(
        f"{PROBE[library]} is installed, but cannot be loaded{needed}: {first_line(error)}"
    )
