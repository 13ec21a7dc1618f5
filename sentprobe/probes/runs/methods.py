"""The methods that a run may be asked for, by name, and what is trained for each."""

from collections.abc import Iterable
from enum import StrEnum

from sentprobe.probes.runs.results import METHODS, Condition
from sentprobe.specs import choose


class MethodName(StrEnum):
    """What may be asked for by ``--method``."""

    MDL = "mdl"
    """Minimum description length: how many bits the labels cost (Voita & Titov 2020)."""
    SAMPLE_EFFICIENCY = "sample-efficiency"
    """Accuracy by the number of training items, and the area under it."""
    V_INFORMATION = "v-information"
    """The bits that a probe can use (Xu et al. 2020)."""
    COMPLEXITY = "complexity"
    """A linear probe beside ever wider ones."""


TRAINED = {
    MethodName.MDL: Condition.PORTIONS,
    MethodName.SAMPLE_EFFICIENCY: Condition.PORTIONS,
    MethodName.V_INFORMATION: Condition.PORTIONS,
    MethodName.COMPLEXITY: Condition.WIDTHS,
}
"""The condition under which a method's probes are trained; several share one."""


def find_methods(names: Iterable[str], *, control_task: bool) -> tuple[Condition, ...]:
    """Return the conditions of the methods of those names, each once.

    >>> find_methods(["mdl", "v-information"], control_task=False)
    (<Condition.PORTIONS: 'portions'>,)

    Raises:
        UsageError: there is no such method; names the nearest.
    """
    wanted = {TRAINED[choose(MethodName, name, what="method")] for name in names}
    asked = wanted | ({Condition.CONTROL_TASK} if control_task else set())
    return tuple(each for each in METHODS if each in asked)
