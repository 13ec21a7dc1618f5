"""Check that MTEB is installed and recent enough; the error has one line."""

from importlib.metadata import PackageNotFoundError, version

from sentprobe.extras import MissingError, UnusableError, format_install

MINIMUM_VERSION = (2, 26)


def need_mteb() -> None:
    """Raise MissingError or UnusableError for a missing or old MTEB, without importing it, which is slow."""
    minimum = ".".join(map(str, MINIMUM_VERSION))
    install = format_install("mteb")
    try:
        installed = version("mteb")
    except PackageNotFoundError:
        raise MissingError(f"tasks for MTEB need mteb {minimum} or later, which is not installed: {install}") from None
    if parse_version(installed) < MINIMUM_VERSION:
        raise UnusableError(f"tasks for MTEB need mteb {minimum} or later, and {installed} is installed: {install}")


def parse_version(text: str) -> tuple[int, ...]:
    """Return the first two numbers of a version.

    >>> parse_version("2.26.24"), parse_version("2.9"), parse_version("3")
    ((2, 26), (2, 9), (3,))
    """
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
