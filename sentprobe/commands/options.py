"""Which options are of which suite, so that one that would do nothing is refused."""

from collections.abc import Collection, Iterable, Mapping

from sentprobe.errors import UsageError

COMPEVAL, NATURAL = "compeval", "natural"


SUITES_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("vocabulary", "lexicon", "sampling"), (COMPEVAL,)),
    **dict.fromkeys(("train", "test", "validation"), (COMPEVAL, NATURAL)),
    **dict.fromkeys(("frequency_band", "odd_band", "words", "first_rank", "sequences"), (NATURAL,)),
    "audit": (NATURAL,),
}
"""By the name of an option, with underscores: the suites for which it means something."""


SWITCHES = ("audit",)
"""The options that may be written in two ways."""


def _written(name: str) -> str:
    option = name.replace("_", "-")
    return f"--{option}/--no-{option}" if name in SWITCHES else f"--{option}"


def refuse_idle(given: Iterable[str], suites: Collection[str], *, what: str) -> None:
    """Refuse options that mean nothing for the suites at hand; *what* names these in the message.

    Raises:
        UsageError: one of *given* is for other suites.
    """
    for name in given:
        wanted = SUITES_OF.get(name)
        if wanted is not None and not set(wanted) & set(suites):
            noun = "suite" if len(wanted) == 1 else "suites"
            raise UsageError(
                f"{_written(name)} is for the {noun} {' and '.join(wanted)}, not for {what}"
            )
