"""Output of ``probe run --dry-run``: missing results and estimated time."""

from typing import TYPE_CHECKING

from sentprobe.display.screen import print_table, print_text
from sentprobe.display.table_writers import build_empty_table
from sentprobe.errors import format_count
from sentprobe.probes.dataset import Split
from sentprobe.progress import format_duration

if TYPE_CHECKING:
    from sentprobe.probes.runs.forecast.forecast import Forecast
    from sentprobe.probes.runs.forecast.planned_work import PlannedResult


def print_forecast(forecast: "Forecast") -> None:
    """Print which results of a run are missing, and the estimated time to compute them."""
    table = build_empty_table(["encoder", "task", *Split, "missing"], left=[1, 5])
    for plan in forecast.planned:
        sizes = (f"{plan.items.get(split, 0):,}" for split in Split)
        table.add_row(plan.encoder, plan.task, *sizes, describe_missing(plan))
    print_table(table)
    missing = sum(plan.unfinished for plan in forecast.planned)
    existing = sum(len(plan.draws) for plan in forecast.planned) - missing
    print_text(f"{format_count(existing, 'result')} found, {missing} missing. Nothing was written.")
    if missing:
        print_text(
            f"About {format_duration(forecast.seconds)}: {format_duration(forecast.start)} to load, "
            f"{format_duration(forecast.build)} to build the tasks, {format_duration(forecast.encode)} to encode "
            f"(less what is in the cache), {format_duration(forecast.train)} to train."
        )
        print_text(describe_basis(forecast))


def describe_basis(forecast: "Forecast") -> str:
    """Return sentences that say which quantities of the estimate are measured, and which are assumed."""
    speeds = f", and the speed of {', '.join(forecast.unloaded)}" if forecast.unloaded else ""
    return (
        "Measured here: the speed of building, encoding and training, each on little data. Assumed: the passes of each "
        f"probe, as in earlier runs{speeds}. The estimate assumes idle cores, and may be wrong by a factor of two."
    )


def describe_missing(plan: "PlannedResult") -> str:
    """Describe the missing probes of an encoder on a task, such as ``4 probes in 2 of 3 draws: probe, bow``."""
    if not plan.missing:
        return "nothing"
    probes = format_count(sum(map(len, plan.missing.values())), "probe")
    draws = f" in {plan.unfinished} of {len(plan.draws)} draws" if len(plan.draws) > 1 else ""
    return f"{probes}{draws}: {', '.join(plan.missing)}"
