"""The probing methods on request, and their conditions."""

from collections.abc import Iterable
from enum import StrEnum

from sentprobe.probes.results.result import METHODS, Condition
from sentprobe.specs import choose_member


class MethodName(StrEnum):
    """The values of ``--method``."""

    MDL = "mdl"
    """Minimum description length: the codelength of the labels in bits (Voita & Titov 2020)."""
    SAMPLE_EFFICIENCY = "sample-efficiency"
    """Accuracy by the number of training items, and the area under this curve."""
    V_INFORMATION = "v-information"
    """The information that a probe can use, in bits (Xu et al. 2020)."""
    COMPLEXITY = "complexity"
    """A linear probe beside probes with ever wider hidden layers."""


METHOD_CONDITIONS = {
    MethodName.MDL: Condition.PORTIONS,
    MethodName.SAMPLE_EFFICIENCY: Condition.PORTIONS,
    MethodName.V_INFORMATION: Condition.PORTIONS,
    MethodName.COMPLEXITY: Condition.WIDTHS,
}
"""The condition of each method; several methods share one."""


def find_methods(names: Iterable[str], *, control_task: bool) -> tuple[Condition, ...]:
    """Return the distinct conditions of the methods of those names.

    >>> find_methods(["mdl", "v-information"], control_task=False)
    (<Condition.PORTIONS: 'portions'>,)
    """
    method_conditions = {METHOD_CONDITIONS[choose_member(MethodName, name, what="method")] for name in names}
    requested = method_conditions | ({Condition.CONTROL_TASK} if control_task else set())
    return tuple(condition for condition in METHODS if condition in requested)
