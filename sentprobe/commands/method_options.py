"""The options of ``probe run`` that ask for more than accuracy on whole vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from sentprobe.commands.options import METHODS
from sentprobe.probes.encoders.given import Known, in_ways
from sentprobe.probes.encoders.storage import parse_storage
from sentprobe.specs import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """What is asked for beside the plain probes; docs/methods.md says what each is for."""

    dims: Annotated[
        str | None,
        typer.Option(
            "--dims",
            metavar="N,N,...",
            help="Also probe vectors that are cut after so many numbers: 64,128,256.",
            rich_help_panel=METHODS,
        ),
    ] = None
    quantize: Annotated[
        str | None,
        typer.Option(
            "--quantize",
            metavar="int8,binary",
            help="Also probe vectors that are rounded to these, whole and cut.",
            rich_help_panel=METHODS,
        ),
    ] = None

    def encoders(self, specs: Sequence[Spec]) -> list[Known]:
        """Return the encoders, whose vectors are stored in the ways that are asked for.

        Raises:
            UsageError: a width is no whole number, or there is no such rounding.
        """
        return in_ways(specs, parse_storage(self.dims, self.quantize))
