"""Options of ``probe run`` for methods beyond accuracy, and for variants of the vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from sentprobe.commands.shared.options import declare_option
from sentprobe.common import specs as names
from sentprobe.common.errors import UsageError
from sentprobe.common.settings import METHODS
from sentprobe.common.specs import Spec

if TYPE_CHECKING:
    from sentprobe.probes.encoders.kinds import EncoderSource


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """Options for methods such as codelength, and for cut, rounded or erased vectors (docs/methods.md)."""

    positions: Annotated[
        str | None,
        declare_option(
            METHODS, metavar="TOKEN,...", help="Probe all layers of hf: encoders at these tokens: agent,verb,last."
        ),
    ] = None
    dims: Annotated[
        str | None,
        declare_option(
            METHODS, metavar="N,N,...", help="Also probe vectors cut to their first N dimensions: 64,128,256."
        ),
    ] = None
    quantize: Annotated[
        str | None,
        declare_option(
            METHODS, metavar="int8,binary", help="Also probe vectors rounded to int8 or binary, at full and cut width."
        ),
    ] = None
    erase: Annotated[
        list[str] | None,
        declare_option(
            METHODS,
            metavar="DATASET",
            help="Also probe vectors from which the labels of this dataset are erased (LEACE); repeatable.",
        ),
    ] = None
    control_task: Annotated[
        bool,
        declare_option(METHODS, "--control-task", help="Also train on a random label for each word, for selectivity."),
    ] = False
    method: Annotated[
        list[str] | None,
        declare_option(METHODS, help=f"Also apply a method: {names.enumerate_names([*names.MethodName])}; repeatable."),
    ] = None

    def resolve_encoders(self, specs: Sequence[Spec]) -> "list[EncoderSource]":
        """Return the encoders that the specs name, and the variants of their vectors that the options ask for."""
        from sentprobe.probes.datasets.formats import read_dataset
        from sentprobe.probes.encoders.kinds import expand_variants
        from sentprobe.probes.encoders.variants import check_erasable, parse_storage

        for path in self.erase or ():
            check_erasable(read_dataset(path))
        storage = parse_storage(self.dims, self.quantize)
        if self.positions is not None:
            specs = add_positions(specs, self.positions)
        return expand_variants(specs, storage, erase=self.erase or ())


def add_positions(specs: Sequence[Spec], positions: str) -> list[Spec]:
    """Return the specs, with ``pool=POSITIONS`` added to each hf: encoder, and ``layer=all`` if it names no layer.

    Raises UsageError if there is no hf: encoder, or if one has the option ``pool`` already.
    """
    if not any(spec.kind == "hf" for spec in specs):
        raise UsageError("--positions is for hf: encoders, and there is none")
    if stated := [spec for spec in specs if spec.kind == "hf" and "pool" in dict(spec.options)]:
        raise UsageError(f"{stated[0]}: leave out pool=, or --positions")
    return [_add_position(spec, positions) if spec.kind == "hf" else spec for spec in specs]


def _add_position(spec: Spec, positions: str) -> Spec:
    layer = () if "layer" in dict(spec.options) else (("layer", "all"),)
    return replace(spec, options=(*layer, ("pool", positions), *spec.options))
