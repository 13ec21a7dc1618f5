"""The command ``probe gate``: how often a similarity threshold errs (false hits and misses)."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import map_given_options
from sentprobe.commands.shared.table_output import find_table_format, print_or_write, write_tables
from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.files import find_cache_directory
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.reading import parse_number
from sentprobe.common.screen import show_bars
from sentprobe.common.tables import TableFormat
from sentprobe.lexicon.read import load_lexicon

JUNIT = "junit"


@opt.expand_option_groups
def gate(
    context: typer.Context,
    encoder: Annotated[
        str, typer.Argument(metavar="ENCODER", help="Encoder or its path, or ce:MODEL for a cross-encoder.")
    ],
    then: Annotated[
        str | None, typer.Option(metavar="ENCODER", help="Second encoder, for the pairs that pass the first.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Lowest similarity that passes (euclid: greatest distance). Default: from --keep."),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="Share of paraphrases that must pass. The threshold is set on half of the triplets."
        ),
    ] = "95%",
    max_false_hits: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]SHARE",
            help="Exit with 1 if a contrast or kind (NAME) may exceed it (95% interval); repeatable.",
        ),
    ] = None,
    contrast: opt.ContrastsOption = None,
    pairs: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Also measure your pairs (columns a, b, same=0/1, kind).")
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of triplets for each contrast.")] = 400,
    draws: Annotated[int, typer.Option(help="Repetitions with new triplets and weights.")] = 1,
    seed: Annotated[int, opt.build_seed_option("triplets and encoder")] = 0,
    nearness: Annotated[str, typer.Option(help="Similarity: cosine, dot or euclid.")] = "cosine",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Show 95% intervals; csv and json always have them.")
    ] = False,
    format_: Annotated[
        str | None, opt.build_format_option((*opt.TABLE_FORMATS, "html", JUNIT), opt.DEFAULT_FORMAT_HELP)
    ] = None,
    out: opt.OutFileOption = None,
    cache: opt.CacheOption = True,
    threads: opt.ThreadsOption = None,
    *,
    source: opt.TripletOptions,
    mood: opt.MoodOption = None,
) -> None:
    """Measure how often pairs of different meaning pass a similarity threshold.

    A false hit is a pair of sentences that passes the threshold but differs in meaning; a miss is a paraphrase that
    does not pass. A pair is the anchor of a triplet (see gen pairs) and its paraphrase, or the anchor and a negative.
    """
    from sentprobe.generator.pairs.contrasts import CONTRASTS
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.similarity import gate_tables as tables
    from sentprobe.probes.similarity.gate_run import gate as measure

    # JUnit XML is no format of tables: it is chosen by name or suffix, and passes as text here.
    is_junit = format_ == JUNIT or (format_ is None and out is not None and out.suffix.lower() == ".xml")
    style = find_table_format(
        "text" if is_junit else format_, out, subject="gate", allowed=[*TableFormat], also=[JUNIT]
    )
    kept_share = parse_share(keep, "--keep")
    limits = parse_limits(max_false_hits or (), names=None if pairs else contrast or [*CONTRASTS])
    given_options = map_given_options(context).values()
    if threshold is not None and then is None and "--keep" in given_options:
        raise UsageError("--threshold and --keep: give one of them")
    if then is None and encoder.startswith("ce:") and "--nearness" in given_options:
        raise UsageError("--nearness compares vectors, and a cross-encoder has none")
    if intervals and is_junit:
        raise UsageError("--intervals is for tables and records; the format junit has no intervals")
    check_count("threads", threads)
    with limit_threads(threads), show_bars() as reporter:
        result = measure(
            encoder,
            then=then,
            threshold=threshold,
            keep=kept_share,
            contrasts=contrast or (),
            n=n,
            draws=draws,
            seed=seed,
            measure=nearness,
            pairs=pairs,
            lexicon=load_lexicon(source.lexicon, source.language),
            vocabulary=source.vocabulary,
            templates=source.template or ("all",),
            mood=mood,
            held_out=source.held_out or (),
            cache=Cache(find_cache_directory()) if cache else None,
            reporter=reporter,
        )
    tables.check_limits(result, limits)
    if is_junit:
        print_or_write(tables.format_junit(result, limits), out)
    elif style is TableFormat.HTML:
        from sentprobe.probes.reports.pages.page_parts import build_gate_page

        print_or_write(build_gate_page(result, command=opt.format_command_line(), intervals=intervals), out)
    else:
        table = (str(result), tables.build_gate_grid(result, intervals=intervals), tables.format_gate_notes(result))
        write_tables([table], result.to_records, style, out=out)
    tables.check_false_hits(result, limits)


def parse_limits(texts: Sequence[str], *, names: Collection[str] | None) -> dict[str, float]:
    """Convert limits such as ``5%`` (of all) and ``negation=1%`` to shares by name; the name of all is "".

    - names: the known contrasts; None: names are checked when the pairs have been read

    >>> parse_limits(["5%", "negation=1%"], names=None)
    {'': 0.05, 'negation': 0.01}
    """
    limits: dict[str, float] = {}
    for text in texts:
        name, mark, share = text.rpartition("=")
        name = name.strip()
        if mark and (not name or (names is not None and name not in names)):
            known = suggest(name, names or ())
            raise UsageError(f"--max-false-hits {text}: no contrast {name!r} is measured{known}")
        if name in limits:
            raise UsageError(f"--max-false-hits {text}: {name or 'a limit for all'} is given twice")
        limits[name] = parse_share(share, "--max-false-hits")
    return limits


def parse_share(text: str, option: str) -> float:
    """Convert a share such as ``5%`` or ``0.05`` to a number from 0 to 1. Raises UsageError, which names *option*.

    >>> parse_share("5%", "--keep"), parse_share("0.05", "--keep")
    (0.05, 0.05)
    """
    number, is_percent = text.removesuffix("%"), text.endswith("%")
    try:
        share = parse_number(number) / (100 if is_percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"{option} {text}: a share from 0% to 100% is expected, such as 5% or 0.05")
    return share
