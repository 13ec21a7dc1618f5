"""Import of the libraries of the extras (optional dependencies), with errors that name missing libraries."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sentprobe.errors import SentprobeError, first_line

PROBE = {"torch": "PyTorch", "sklearn": "scikit-learn", "duckdb": "DuckDB", "lightgbm": "LightGBM"}
"""Libraries of the extra ``probe``: import name to display name."""

TRAIN = {"defusedxml": "defusedxml"}
"""Libraries that the extra ``train`` adds."""

_SYSTEM_LIBRARIES = {"lightgbm": "the OpenMP library of the system, libgomp (of macOS: libomp)"}
"""System libraries that pip does not install, by the library that needs them."""


class MissingError(SentprobeError, ImportError):
    """A library of an extra is not installed; the message names both."""


class UnusableError(SentprobeError, ImportError):
    """An installed library cannot be loaded or is too old; the message names the missing part."""


def require_libraries(*libraries: str) -> None:
    """Check that *libraries* are installed, without importing them.

    Raises:
        MissingError: a library is not installed.
    """
    for library in libraries:
        if find_spec(library) is None:
            raise _missing_error(library)


def import_module_of_extra(module: str) -> Any:
    """Import a module of a library of the extras ``probe`` and ``train``.

    >>> import_module_of_extra("sklearn.utils").__name__
    'sklearn.utils'

    Raises:
        MissingError: the library is not installed.
        UnusableError: the library lacks a system library.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:  # the library lacks a dependency of its own
            raise
        raise _missing_error(library) from None
    except OSError as error:  # ctypes cannot open a shared library
        system_library = _SYSTEM_LIBRARIES.get(library)
        hint = f"; it needs {system_library}" if system_library else ""
        message = f"{PROBE[library]} is installed, but cannot be loaded{hint}: {first_line(error)}"
        raise UnusableError(message) from error


def _missing_error(library: str) -> MissingError:
    extra, names = ("train", TRAIN) if library in TRAIN else ("probe", PROBE)
    return MissingError(f"this needs {names[library]}, which is not installed: pip install 'sentprobe[{extra}]'")
