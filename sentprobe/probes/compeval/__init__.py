"""The five tasks of Ettinger et al. (2018), and the suite structure."""

from sentprobe.probes.compeval.assemble import build
from sentprobe.probes.compeval.item_counts import count_templates
from sentprobe.probes.compeval.tasks import SUITE_TASKS, TASKS, CompevalTask, HeldOutKind, check_size, find_task
from sentprobe.probes.dataset import Sampling, Size

__all__ = [
    "SUITE_TASKS",
    "TASKS",
    "CompevalTask",
    "HeldOutKind",
    "Sampling",
    "Size",
    "build",
    "check_size",
    "count_templates",
    "find_task",
]
