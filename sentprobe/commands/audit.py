"""What ``probe audit`` does, as functions that anyone can call."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.files import atomic_path, check_apart, is_table, what_is
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.formats import (
    check_format,
    read_dataset,
    read_datasets,
    recognise,
    write_card,
)
from sentprobe.processes import check_jobs, cores
from sentprobe.progress import Bars, columns

if TYPE_CHECKING:
    from sentprobe.probes.audit import Audit


STYLES = ("text", "markdown", "json")
"""How audits can be written."""

_WITH_CARD = "directory"
"""The format of datasets that has a card to write to."""


class LeakError(SentprobeError):
    """A cue that should tell nothing is above chance, and this was asked to be an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """An audit as it is written on the command line; no *jobs* means one for each core."""

    paths: tuple[Path, ...]
    read_as: str | None = None
    """The format of the datasets; None: what each looks like."""
    seed: int = 0
    lexicon: Path | None = None
    jobs: int | None = None
    style: str = "text"
    out: Path | None = None
    write: bool = False
    """Put each audit in the card of its dataset."""
    strict: bool = False
    """A leak is an error."""


Located = tuple[Path, ProbeDataset]


def audit_command(plan: AuditPlan) -> None:
    """Audit the datasets; print the audits or write them to a file, and to the cards if asked.

    Raises:
        UsageError: an unknown format or style, no such file, a dataset without a card to write to,
            an output that is or lies inside a dataset that is read.
        LeakError: a leak was found, and the plan is strict.
        SentprobeError: a dataset cannot be read, or a file not be written.
    """
    _check(plan)
    located = [each for path in plan.paths for each in _locate(path, plan.read_as)]
    if plan.write:
        _check_cards(located)
    # Opened before the work, so that a path that cannot be written is said at once.
    with nullcontext() if plan.out is None else atomic_path(plan.out) as file:
        audits = _audit(plan, [data for _, data in located])
        _show(plan, audits, file)
    if plan.write:
        _write_cards(located, audits)
    leaking = [each.task for each in audits if each.leaks]
    if plan.strict and leaking:
        raise LeakError(f"leaks in {len(leaking)} of {len(audits)} datasets: {', '.join(leaking)}")


def _check(plan: AuditPlan) -> None:
    if not plan.paths:
        raise UsageError("an audit needs at least one dataset")
    if plan.style not in STYLES:
        near = suggest(plan.style, STYLES)
        raise UsageError(f"there is no format {plan.style!r}{near}; one of {', '.join(STYLES)}")
    if plan.read_as is not None:
        check_format(plan.read_as)
    if plan.jobs is not None:
        check_jobs(plan.jobs)
    for path in plan.paths:
        _check_kind(path)
    if plan.out is not None:
        check_apart(plan.out, plan.paths if plan.lexicon is None else (*plan.paths, plan.lexicon))


def _check_kind(path: Path) -> None:
    kind = what_is(path)
    if kind and recognise(path) is None:
        first = f"; build datasets from it first: probe build natural {path}"
        raise UsageError(f"{path}: is {kind}, not a dataset{first if is_table(path) else ''}")


def _locate(path: Path, read_as: str | None) -> list[Located]:
    """Return the datasets in a directory, each with its own path, or the one at *path*."""
    if read_as is not None or not path.is_dir() or recognise(path) is not None:
        return [(path, read_dataset(path, format=read_as))]
    children = (child for child in sorted(path.iterdir()) if not child.name.startswith("."))
    # read_datasets says what is wrong when there is none, or two are of one name.
    return list(
        zip((child for child in children if recognise(child)), read_datasets(path), strict=True)
    )


def _check_cards(located: Sequence[Located]) -> None:
    for path, _ in located:
        if recognise(path) != _WITH_CARD:
            raise UsageError(
                f"{path}: only a dataset in the format {_WITH_CARD!r} has a card to write to, "
                f"not one in the format {recognise(path)!r}"
            )


def _audit(plan: AuditPlan, datasets: Sequence[ProbeDataset]) -> "list[Audit]":
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    from sentprobe.probes.audit import audit_all  # noqa: PLC0415

    lexicon = load_lexicon(plan.lexicon)
    with Progress(*columns(), console=Console(stderr=True)) as progress:
        return audit_all(
            datasets,
            seed=plan.seed,
            lexicon=lexicon,
            jobs=cores() if plan.jobs is None else plan.jobs,
            reporter=Bars(progress),
        )


def _show(plan: AuditPlan, audits: "Sequence[Audit]", file: Path | None) -> None:
    from sentprobe.probes.audit import AuditFormat, render, verdict_lines  # noqa: PLC0415

    style = AuditFormat(plan.style)
    if file is not None:
        file.write_text(render(audits, style=style), encoding="utf-8", newline="\n")
        print("".join(f"{line}\n" for each in audits for line in verdict_lines(each)), end="")
        print(f"audit: {plan.out}")
    elif style is AuditFormat.TEXT and sys.stdout.isatty():
        from sentprobe.probes.audit.render import print_audits  # noqa: PLC0415

        print_audits(audits)
    else:
        print(render(audits, style=style), end="")


def _write_cards(located: Sequence[Located], audits: "Sequence[Audit]") -> None:
    from sentprobe.probes.audit import to_json  # noqa: PLC0415

    for (path, data), found in zip(located, audits, strict=True):
        # What a natural-text task's card has of the paper's baselines stays.
        kept = {key: data.card.audit[key] for key in ("baselines",) if key in data.card.audit}
        write_card(replace(data, card=replace(data.card, audit={**kept, **to_json(found)})), path)
        print(f"audit written to the card: {path}", file=sys.stderr)
