"""The list of tasks, at the end of the help of the commands that build them."""

from typing import Any, ClassVar

from sentprobe.commands.help import HelpfulCommand
from sentprobe.commands.options import CLASSIFIER, HELD_OUT, MACHINE, METHODS, NATURAL_TEXT


def task_list() -> str:
    """Return the names of all tasks and of their suites, a paragraph for each kind of task."""
    from sentprobe.probes.compeval.tasks import TASKS as COMPEVAL  # noqa: PLC0415 - help only
    from sentprobe.probes.natural.catalogue import TASKS as NATURAL  # noqa: PLC0415 - NumPy
    from sentprobe.probes.natural.task import TaskGroup  # noqa: PLC0415

    return (
        f"Tasks of compeval: {', '.join(COMPEVAL)}.\n\n"
        f"Tasks of natural: {', '.join(NATURAL)}; suites of these: {', '.join(TaskGroup)}. "
        "probe tasks says what each asks."
    )


class ListsTasks(HelpfulCommand):
    """A command whose help ends with the list of tasks, which is looked up only then."""

    folded: ClassVar = (METHODS, HELD_OUT, CLASSIFIER, MACHINE, NATURAL_TEXT)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        self.epilog = task_list()
        super().format_help(ctx, formatter)
