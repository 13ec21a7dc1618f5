"""What ``probe run --dry-run`` prints: each encoder on each task, and the time."""

from typing import TYPE_CHECKING

from sentprobe.errors import counted
from sentprobe.probes.dataset import Split
from sentprobe.progress import spoken
from sentprobe.screen import print_table, say
from sentprobe.table_writers import empty_table

if TYPE_CHECKING:
    from sentprobe.probes.runs.forecast import Forecast
    from sentprobe.probes.runs.plan import Planned


def print_forecast(found: "Forecast") -> None:
    """Print what would be done, and about how long it would take."""
    table = empty_table(["encoder", "task", *Split, "to be done"], left=[1, 5])
    for each in found.planned:
        sizes = (f"{each.items.get(split, 0):,}" for split in Split)
        table.add_row(each.encoder, each.task, *sizes, to_do(each))
    print_table(table)
    missing = sum(each.unfinished for each in found.planned)
    there = sum(len(each.draws) for each in found.planned) - missing
    say(f"{counted(there, 'result')} found, {missing} to be made. Nothing was written.")
    if missing:
        say(
            f"About {spoken(found.seconds)}: {spoken(found.start)} to load, {spoken(found.build)} "
            f"to build the tasks, {spoken(found.encode)} to encode (less what is in the cache), "
            f"{spoken(found.train)} to train."
        )


def to_do(each: "Planned") -> str:
    """Return what is missing of an encoder on a task.

    All probes are counted, and with several draws those in which any is missing.
    """
    if not each.missing:
        return "nothing: it is there"
    probes = counted(sum(map(len, each.missing.values())), "probe")
    of = f" in {each.unfinished} of {len(each.draws)} draws" if len(each.draws) > 1 else ""
    return f"{probes}{of}: {', '.join(each.missing)}"
