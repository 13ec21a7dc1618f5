"""The command ``gen`` in this process and in a new process."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

GEN = (sys.executable, "-c", "from sentprobe.cli import gen; gen()")
FORMATS = {"text": ".txt", "jsonl": ".jsonl", "conllu": ".conllu", "trees": ".trees"}
ALL_FORMATS = FORMATS | {"parquet": ".parquet"}
GOOD = "the man slept"


@dataclass(frozen=True)
class Outcome:
    """How the command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Gen = Callable[..., Outcome]
"""Runs the command with these arguments, and bytes for ``stdin``."""


def command(*arguments: str, stdin: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*GEN, *arguments],
        input=stdin,
        check=False,
        text=True,
        timeout=100,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )
