"""Versions of sentprobe, Python and libraries; datasets and results record them."""

import platform
from functools import cache
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path


def get_own_version() -> str:
    """Return the version of sentprobe."""
    from sentprobe import __version__

    return __version__


def describe_package(package: str) -> str:
    """Return the name and version of an installed package."""
    return f"{package} {find_version(package)}"


def digest_folder(folder: Path) -> str:
    """Return a digest of the names and contents of all files in and below a folder, except hidden ones.

    >>> digest_folder(Path("there is none"))
    'e3b0c44298fc1c14'
    """
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        with path.open("rb") as file:
            digest.update(f"{name} ".encode())
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


@cache
def digest_code() -> str:
    """Return a digest of sentprobe's code; results with the same digest were made by the same code.

    >>> len(digest_code())
    64
    """
    folder, digest = Path(__file__).parent, sha256()
    for path in find_code_files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def find_code_files(folder: Path) -> list[Path]:
    """Return the files in and below a folder, except byte code, type stubs and files without a suffix."""
    sources = (path for path in folder.rglob("*") if path.suffix not in {"", ".pyc", ".pyi"} and path.is_file())
    return sorted(path for path in sources if "__pycache__" not in path.relative_to(folder).parts)


def find_versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of the packages.

    >>> sorted(find_versions("numpy"))
    ['numpy', 'python']
    """
    return {"python": platform.python_version()} | {name: find_version(name) for name in packages}


def find_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
