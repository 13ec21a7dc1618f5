"""The command ``probe audit``: what surface cues alone achieve on datasets."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.options import format_among, jobs_of, out_to, seed_of
from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.extras import need
from sentprobe.files import atomic_path, check_apart, is_table, what_is
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes import formats
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.known_task import Cue
from sentprobe.processes import check_jobs
from sentprobe.progress import bars, console, has_width
from sentprobe.screen import say
from sentprobe.specs import choose

if TYPE_CHECKING:
    from sentprobe.probes.audit import Audit, AuditFormat


STYLES = ("text", "markdown", "json")
"""How audits can be written."""

_WITH_CARD = "directory"
"""The format of datasets that has a card to write to."""


class LeakError(SentprobeError):
    """A cue that should tell nothing is above chance, and this was asked to be an error."""


Located = tuple[Path, ProbeDataset]


def audit(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Datasets, or folders of datasets.")
    ],
    format_: Annotated[str, format_among("text, markdown or json.")] = "text",
    out: Annotated[Path | None, out_to("File for the audit; verdicts are printed.")] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also put the audit in each dataset's card.json.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a cue leaks.")] = False,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--expect",
            metavar="CUE",
            help="This cue may answer: probe, length, bag-of-words, n-grams, position, template or "
            "sentence; repeatable. Exit with 1 when another one leaks.",
        ),
    ] = None,
    read_as: Annotated[
        str | None,
        typer.Option(
            "--read-as",
            metavar="FORMAT",
            help="Format of the datasets: directory, jsonl, senteval, published, csv, "
            "splits. By default what they look like.",
        ),
    ] = None,
    seed: Annotated[int, seed_of("the classifiers")] = 0,
    lexicon: Annotated[
        Path | None,
        typer.Option(help="Your own lexicon file, which knows the forms of the probe words."),
    ] = None,
    jobs: Annotated[
        int | None,
        jobs_of("By default one for little work, and at most one for each core."),
    ] = None,
) -> None:
    """Report what surface cues alone achieve on datasets, and which of them leak the answer."""
    need("sklearn", "lightgbm")
    style = _find_style(format_)
    expected = [choose(Cue, name, what="cue") for name in expect or ()]
    if read_as is not None:
        formats.check_format(read_as)
    from sentprobe.probes.audit import audit_all, processes_for  # noqa: PLC0415 - is slow

    check_jobs(1 if jobs is None else jobs)
    for path in paths:
        _check_kind(path)
    if out is not None:
        check_apart(out, paths if lexicon is None else (*paths, lexicon))
    located = [each for path in paths for each in _locate(path, read_as)]
    if write:
        _check_cards(located)
    # Opened before the work, so that a path that cannot be written is said at once.
    with nullcontext() if out is None else atomic_path(out) as file:
        words = load_lexicon(lexicon)
        datasets = [data for _, data in located]
        with bars() as reporter:
            audits = audit_all(
                datasets,
                expect=expected,
                seed=seed,
                lexicon=words,
                jobs=jobs or processes_for(datasets),
                reporter=reporter,
            )
        if file is None:
            _print(audits, style)
        else:
            _write(audits, style, file)
            print(f"audit: {out}")
    if write:
        _write_cards(located, audits)
    if strict or expected:
        _refuse_leaks(audits)


def _find_style(name: str) -> "AuditFormat":
    from sentprobe.probes.audit import AuditFormat  # noqa: PLC0415

    if name not in STYLES:
        near = suggest(name, STYLES)
        raise UsageError(f"there is no format {name!r}{near}; one of {', '.join(STYLES)}")
    return AuditFormat(name)


def _check_kind(path: Path) -> None:
    kind = what_is(path)
    if kind and formats.recognise(path) is None:
        first = f"; build datasets from it first: probe build natural {path}"
        raise UsageError(f"{path}: is {kind}, not a dataset{first if is_table(path) else ''}")


def _locate(path: Path, read_as: str | None) -> list[Located]:
    """Return the datasets in a directory, each with its own path, or the one at *path*."""
    if read_as is not None or not path.is_dir() or formats.recognise(path) is not None:
        return [(path, formats.read_dataset(path, format=read_as))]
    children = (child for child in sorted(path.iterdir()) if not child.name.startswith("."))
    # read_datasets says what is wrong when there is none, or two are of one name.
    return list(
        zip(
            (child for child in children if formats.recognise(child)),
            formats.read_datasets(path),
            strict=True,
        )
    )


def _check_cards(located: Sequence[Located]) -> None:
    for path, _ in located:
        if formats.recognise(path) != _WITH_CARD:
            raise UsageError(
                f"{path}: only a dataset in the format {_WITH_CARD!r} has a card to write to, "
                f"not one in the format {formats.recognise(path)!r}"
            )


def _print(audits: "Sequence[Audit]", style: "AuditFormat") -> None:
    from sentprobe.probes.audit import AuditFormat, render  # noqa: PLC0415
    from sentprobe.probes.audit.render import print_audits  # noqa: PLC0415

    if style is AuditFormat.TEXT and has_width():
        print_audits(audits, console())
    else:
        print(render(audits, style=style), end="")


def _write(audits: "Sequence[Audit]", style: "AuditFormat", file: Path) -> None:
    from sentprobe.probes.audit import render, verdict_lines  # noqa: PLC0415

    file.write_text(render(audits, style=style), encoding="utf-8", newline="\n")
    say("".join(f"{line}\n" for each in audits for line in verdict_lines(each)), end="")


def _write_cards(located: Sequence[Located], audits: "Sequence[Audit]") -> None:
    from sentprobe.probes.audit import to_json  # noqa: PLC0415

    for (path, data), found in zip(located, audits, strict=True):
        # What a natural-text task's card has of the paper's baselines stays.
        kept = {key: data.card.audit[key] for key in ("baselines",) if key in data.card.audit}
        formats.write_card(
            replace(data, card=replace(data.card, audit={**kept, **to_json(found)})), path
        )
        print(f"audit written to the card: {path}", file=sys.stderr)


def _refuse_leaks(audits: "Sequence[Audit]") -> None:
    leaking = [each.task for each in audits if each.leaks]
    if leaking:
        raise LeakError(f"leaks in {len(leaking)} of {len(audits)} datasets: {', '.join(leaking)}")
