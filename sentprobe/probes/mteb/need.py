"""The extra ``mteb``: refused in one line where it is missing or too old."""

from importlib.metadata import PackageNotFoundError, version

from sentprobe.extras import MissingError, UnusableError

WANTED = (2, 26)
"""The first version of MTEB whose tasks and results are as ours."""


def need_mteb() -> None:
    """Refuse what will want MTEB; it is not imported yet, for that is slow.

    Raises:
        MissingError: it is not installed.
        UnusableError: it is of a version before.
    """
    wanted = ".".join(map(str, WANTED))
    install = "pip install 'sentprobe[mteb]'"
    try:
        found = version("mteb")
    except PackageNotFoundError:
        raise MissingError(
            f"tasks for MTEB need mteb {wanted} or later, which is not installed: {install}"
        ) from None
    if _numbers(found) < WANTED:
        raise UnusableError(
            f"tasks for MTEB need mteb {wanted} or later, and {found} is installed: {install}"
        )


def _numbers(text: str) -> tuple[int, ...]:
    """Return the first two numbers of a version.

    >>> _numbers("2.26.24"), _numbers("2.9"), _numbers("3")
    ((2, 26), (2, 9), (3,))
    """
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
