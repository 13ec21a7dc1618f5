"""The options of ``probe run`` that ask for more than accuracy on whole vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from sentprobe.commands.completion import among
from sentprobe.commands.options import METHODS
from sentprobe.probes.encoders.erasure import check_erasable
from sentprobe.probes.encoders.given import Known, in_ways
from sentprobe.probes.encoders.storage import parse_storage
from sentprobe.probes.formats import read_dataset
from sentprobe.probes.runs.methods import MethodName, find_methods
from sentprobe.probes.runs.results import Condition
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

    erase: Annotated[
        list[str] | None,
        typer.Option(
            "--erase",
            metavar="DATASET",
            help="Also probe vectors from which the answers of this dataset are gone; repeatable.",
            rich_help_panel=METHODS,
        ),
    ] = None
    control_task: Annotated[
        bool,
        typer.Option(
            "--control-task",
            help="Also train on random labels by word type: selectivity.",
            rich_help_panel=METHODS,
        ),
    ] = False
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="Also mdl, sample-efficiency, v-information or complexity; repeatable.",
            rich_help_panel=METHODS,
            autocompletion=among(lambda: [*MethodName]),
        ),
    ] = None

    def conditions(self) -> tuple[Condition, ...]:
        """Return what is trained for the methods.

        Raises:
            UsageError: there is no such method.
        """
        return find_methods(self.method or (), control_task=self.control_task)

    def encoders(self, specs: Sequence[Spec]) -> list[Known]:
        """Return the encoders, also with what is asked for of their vectors.

        Raises:
            UsageError: a width is no whole number, or there is no such rounding or dataset; the
                answers of a dataset are no property of its sentences.
        """
        for path in self.erase or ():
            check_erasable(read_dataset(path))
        storage = parse_storage(self.dims, self.quantize)
        return in_ways(specs, storage, erase=self.erase or ())
