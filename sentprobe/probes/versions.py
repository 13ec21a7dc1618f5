"""The versions that a dataset or a result was made with."""

import platform
from importlib import metadata


def versions(*packages: str) -> dict[str, str]:
    """Return Python's version and those of the packages.

    >>> sorted(versions("numpy"))
    ['numpy', 'python']
    """
    return {"python": platform.python_version()} | {name: _version(name) for name in packages}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
