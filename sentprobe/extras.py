"""The libraries that a plain install lacks: imported where they are used, or named as missing."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sentprobe.errors import SentprobeError

PROBE = {"torch": "PyTorch", "sklearn": "scikit-learn", "scipy": "SciPy", "duckdb": "DuckDB"}
"""What the extra ``probe`` installs, by the name that is imported."""


class MissingError(SentprobeError, ImportError):
    """A library is wanted that an extra installs; the message names both."""


def need(library: str) -> None:
    """Refuse at once what will want *library* later; it is not imported yet, for it is slow.

    Raises:
        MissingError: it is not installed.
    """
    if find_spec(library) is None:
        raise _missing(library)


def load(module: str) -> Any:
    """Import a module of one of the libraries of the extra ``probe``.

    >>> load("scipy.stats").__name__
    'scipy.stats'

    Raises:
        MissingError: the library is not installed.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:  # the library is there, but lacks something itself
            raise
        raise _missing(library) from None


def _missing(library: str) -> MissingError:
    return MissingError(
        f"this needs {PROBE[library]}, which is not installed: pip install 'sentprobe[probe]'"
    )
