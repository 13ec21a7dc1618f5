"""How often a control that must be at chance is not: the default command with other seeds.

    python benchmarks/controls.py [ENCODER ...] [--seeds N] [--jobs N] --out FOLDER > benchmarks/controls.md

Each seed builds other data, draws other untrained encoders and trains other probes. Its results are kept in FOLDER, so
that a stopped measurement goes on.
"""

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

from measure import describe_machine, format_sections, format_table

from sentprobe.probes.encoders.kinds import USUAL_ENCODERS
from sentprobe.probes.reports.control_verdicts import ControlRun, ControlVerdict
from sentprobe.probes.reports.table_findings import judge_controls
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.runs.run import run


def list_required_controls(encoders: list[str], seed: int, folder: Path, jobs: int) -> list[ControlRun]:
    """Return the controls of one run that must be at chance."""
    results = run("compeval", encoders, seed=seed, out=folder / str(seed), jobs=jobs)
    return [control for control in judge_controls(results) if control.must_be_at_chance]


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="*", default=USUAL_ENCODERS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    encoders, seeds = [*arguments.encoders], range(arguments.seeds)
    runs = [list_required_controls(encoders, seed, arguments.out, arguments.jobs) for seed in seeds]

    by_kind: dict[tuple[str, str], list[ControlRun]] = defaultdict(list)
    for control in (control for controls in runs for control in controls):
        by_kind[CONTROLS[control.condition].name, control.result.task].append(control)
    rows = []
    for (name, task), controls in by_kind.items():
        accuracies = [100 * control.score.accuracy for control in controls]
        failed = sum(control.verdict is not ControlVerdict.AT_CHANCE for control in controls)
        figures = (
            f"{mean(accuracies):.2f}",
            f"{stdev(accuracies):.2f}",
            f"{min(accuracies):.1f} to {max(accuracies):.1f}",
        )
        rows.append((name, task, str(len(controls)), *figures, str(failed)))
    failures = [str(c) for controls in runs for c in controls if c.verdict is not ControlVerdict.AT_CHANCE]
    failing = sum(any(c.verdict is not ControlVerdict.AT_CHANCE for c in controls) for controls in runs)
    command = f"probe run compeval{''.join(f' -e {spec}' for spec in encoders)}"
    summary = (
        f"`{command}` with seeds 0 to {seeds[-1]}: in {failing} of {len(runs)} runs, a control that must be at chance "
        f"is not, of {len(runs[0])} a run; the intervals allow 1 run in 100. {' '.join(f'{f}.' for f in failures)}"
    )
    table = format_table(("control", "task", "n", "mean %", "SD", "range", "outside"), rows)
    print(f"# Controls over {len(runs)} seeds\n\n{describe_machine(['torch', 'numpy'])}\n\n{summary.strip()}\n")
    print(format_sections({"Accuracies": table}))


if __name__ == "__main__":
    main()
