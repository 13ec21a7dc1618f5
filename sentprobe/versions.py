"""The versions that a dataset, a result or a parse was made with."""

import platform
from functools import cache
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path


def own_version() -> str:
    """Return the version of sentprobe itself."""
    from sentprobe import __version__  # noqa: PLC0415 - for type checkers, it imports everything

    return __version__


def library(package: str) -> str:
    """Return the name and version of an installed package."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} unknown"


def folder_digest(folder: Path) -> str:
    """Return a digest of the names and contents of all files in a folder.

    >>> folder_digest(Path("there is none"))
    'e3b0c44298fc1c14'
    """
    digest = sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        with path.open("rb") as file:
            digest.update(f"{path.relative_to(folder)} ".encode())
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


@cache
def code_digest() -> str:
    """Return a digest of sentprobe's own files: whatever changes in them may change what is made.

    >>> len(code_digest())
    64
    """
    folder, digest = Path(__file__).parent, sha256()
    for path in code_files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def code_files(folder: Path) -> list[Path]:
    """Return the files in a folder that decide what is made.

    They are not what Python makes of them, half written or whole, nor files without a suffix.
    """
    found = (each for each in folder.rglob("*") if each.suffix not in {"", ".pyc", ".pyi"})
    own = (each for each in found if "__pycache__" not in each.relative_to(folder).parts)
    return sorted(each for each in own if each.is_file())


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
