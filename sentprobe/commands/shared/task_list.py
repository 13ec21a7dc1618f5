"""The list of tasks at the end of the help of commands that build tasks."""

from typing import Any, ClassVar

from sentprobe import names
from sentprobe.commands.shared.help import HelpfulCommand
from sentprobe.commands.shared.options import CLASSIFIER, HELD_OUT, MACHINE, METHODS, NATURAL_TEXT


def list_tasks_for_help() -> str:
    """Return the names of all tasks and task groups, a paragraph for each suite."""
    natural_tasks = ", ".join(name for name in names.NATURAL_TASKS if "-" not in name)
    groups = f"{', '.join(names.TASK_GROUPS)} (also -permuted, -random)"
    natural = f"{natural_tasks}; task groups: {groups}"
    compeval, structure = ", ".join(names.COMPEVAL_TASKS), ", ".join(names.STRUCTURE_TASKS)
    return f"Tasks of compeval: {compeval}; of structure: {structure}; of natural: {natural}. See probe tasks."


class CommandWithTaskList(HelpfulCommand):
    """A command whose help ends with the list of tasks."""

    folded: ClassVar = (METHODS, HELD_OUT, CLASSIFIER, MACHINE, NATURAL_TEXT)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        self.epilog = list_tasks_for_help()
        super().format_help(ctx, formatter)
