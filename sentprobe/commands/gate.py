"""The command ``probe gate``: how often a similarity threshold errs (false hits and misses)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import HelpfulCommand, map_given_options
from sentprobe.commands.shared.table_output import FLAT, find_table_format, print_or_write, write_tables
from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.files import find_cache_directory
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.reading import parse_number
from sentprobe.common.screen import print_message, show_bars
from sentprobe.common.settings import HELD_OUT, MACHINE, Repeatable
from sentprobe.common.tables import TableFormat
from sentprobe.lexicon.read import load_lexicon

JUNIT = "junit"


class GateCommand(HelpfulCommand):
    """A command whose ``--help`` lists rarely used options by name, without their descriptions."""

    folded: ClassVar = (HELD_OUT, MACHINE)


app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdOptions:
    """Options for the choice of the threshold."""

    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Lowest similarity that passes (euclid: greatest distance). Default: from --keep."
        ),
    ] = None
    keep: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Share of paraphrases that must pass. Default: 95%.")
    ] = None
    paraphrases: Annotated[Path | None, typer.Option(metavar="FILE", help="Paraphrases (columns a, b) for --keep.")] = (
        None
    )
    budget: Annotated[
        Repeatable, typer.Option(metavar="SHARE", help="95% bound of a kind's false hits; also NAME=SHARE.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """Options to compare the result, and to fail."""

    max_false_hits: Annotated[
        Repeatable, typer.Option(metavar="SHARE", help="Exit with 1 if a kind may exceed it; also NAME=SHARE.")
    ] = None
    baseline: Annotated[
        Path | None, typer.Option(metavar="JSON", help="Exit with 1 if a kind is worse than in this file.")
    ] = None
    against: Annotated[str | None, typer.Option(metavar="ENCODER", help="Encoder to compare with, by kind.")] = None


@app.command("gate", cls=GateCommand)
@opt.expand_option_groups
def gate(
    context: typer.Context,
    encoder: Annotated[str, typer.Argument(metavar="ENCODER", help="Encoder, ce:MODEL, or python: with a decision.")],
    then: Annotated[
        str | None, typer.Option(metavar="ENCODER", help="Second encoder, for the pairs that pass the first.")
    ] = None,
    *,
    rule: ThresholdOptions,
    checks: CheckOptions,
    contrast: opt.ContrastsOption = None,
    pairs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measure your pairs (columns a, b, same=0/1, kind).")
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measure edits of your texts, as gen edit makes them.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column of --texts in a table. Default: text.")] = None,
    parser: Annotated[
        str | None, typer.Option("--parser", "-p", help="Parser of --texts, as of gen edit. Default: none.")
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of triplets for each contrast.")] = 400,
    draws: Annotated[int, typer.Option(help="Repeats with other triplets and weights.")] = 1,
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
    source: opt.TripletOptions,
    mood: opt.MoodOption = None,
) -> None:
    """Measure how often pairs of different meaning pass a similarity threshold.

    A false hit is a pair that passes but differs in meaning; a miss is a paraphrase that does not pass. Pairs are
    those of gen pairs, or yours.
    """
    from sentprobe.generator.pairs.contrasts import CONTRASTS
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.similarity import gate_checks, gate_tables
    from sentprobe.probes.similarity.gate_run import gate as measure
    from sentprobe.probes.similarity.gate_thresholds import NoThresholdError

    # JUnit XML is no format of tables: it is chosen by name or suffix, and passes as text here.
    is_junit = format_ == JUNIT or (format_ is None and out is not None and out.suffix.lower() == ".xml")
    style = find_table_format(
        "text" if is_junit else format_, out, subject="gate", allowed=[*TableFormat], also=[JUNIT]
    )
    check_texts_options(map_given_options(context), has_texts=texts is not None, has_contrast=bool(contrast))
    names = None if pairs or texts else contrast or [*CONTRASTS]
    limits = parse_limits(checks.max_false_hits or (), "--max-false-hits", names=names)
    if then is None and encoder.startswith("ce:") and "--nearness" in map_given_options(context).values():
        raise UsageError("--nearness compares vectors, and a cross-encoder has none")
    if intervals and is_junit:
        raise UsageError("--intervals is for tables and records; the format junit has no intervals")
    if checks.against is not None and (limits or is_junit):
        raise UsageError("--against compares two encoders, without a limit; leave out --max-false-hits and junit")
    check_count("threads", threads)
    failure: NoThresholdError | None = None
    try:
        with limit_threads(threads), show_bars() as reporter:
            result = measure(
                encoder,
                then=then,
                against=checks.against,
                baseline=checks.baseline,
                threshold=None if rule.threshold is None else parse_threshold(rule.threshold),
                keep=None if rule.keep is None else opt.parse_share(rule.keep, "--keep"),
                paraphrases=rule.paraphrases,
                budget=parse_limits(rule.budget or (), "--budget", names=names) or None,
                contrasts=contrast or (),
                n=n,
                draws=draws,
                seed=seed,
                measure=nearness,
                pairs=pairs,
                texts=texts,
                column=column,
                parser=parser,
                lexicon=load_lexicon(source.lexicon, source.language),
                vocabulary=source.vocabulary,
                templates=source.template or ("all",),
                mood=mood,
                held_out=source.held_out or (),
                cache=Cache(find_cache_directory()) if cache else None,
                reporter=reporter,
            )
    except NoThresholdError as error:
        result, failure = error.results, error
    gate_checks.check_limits(result, limits)
    if is_junit:
        print_or_write(gate_checks.format_junit(result, limits), out)
    elif style is TableFormat.HTML:
        from sentprobe.probes.reports.pages.page_parts import build_gate_page

        print_or_write(build_gate_page(result, command=opt.format_command_line(), intervals=intervals), out)
    elif style in FLAT:
        print_or_write(result.format_records(style), out)
    else:
        tables = gate_tables.build_gate_tables(result, intervals=intervals)
        write_tables(tables, result.to_records, style, out=out)
    if out is not None:
        print_message(str(result))
        print_message(f"gate: {out}")
    if failure is not None:
        raise failure
    gate_checks.check_results(result, limits)


TEXTS_ONLY = ("column", "parser")
GENERATED_ONLY = ("n", "template", "vocabulary", "lexicon", "held_out", "mood")


def check_texts_options(given: Mapping[str, str], *, has_texts: bool, has_contrast: bool) -> None:
    """Raise UsageError for an option that has no use with, or without, ``--texts``.

    - given: the options on the command line, by parameter
    """
    for name in given:
        if name in TEXTS_ONLY and not has_texts:
            raise UsageError(f"{given[name]} is for --texts")
        if name in GENERATED_ONLY and has_texts and not has_contrast:
            raise UsageError(f"{given[name]} is for generated pairs, which --texts measures only with --contrast")


def parse_threshold(text: str) -> float:
    """Convert the text of ``--threshold`` to a number. Raises UsageError, which shows a percentage as a number.

    >>> parse_threshold("0.85")
    0.85
    """
    try:
        return parse_number(text)
    except ValueError:
        number = text.removesuffix("%").replace(",", ".")
    try:
        value = parse_number(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.9
    raise UsageError(f"--threshold {text}: a similarity as a number is expected, such as {value:g}")


def parse_limits(texts: Sequence[str], option: str, *, names: Collection[str] | None) -> dict[str, float]:
    """Convert limits such as ``5%`` (of all) and ``negation=1%`` to shares by name; the name of all is "".

    - names: the known contrasts; None: names are checked when the pairs have been read

    >>> parse_limits(["5%", "negation=1%"], "--budget", names=None)
    {'': 0.05, 'negation': 0.01}
    """
    limits: dict[str, float] = {}
    for text in texts:
        name, mark, share = text.rpartition("=")
        name = name.strip()
        if mark and (not name or (names is not None and name not in names)):
            known = suggest(name, names or ()) or (names and f"; measured: {', '.join(names)}")
            raise UsageError(f"{option} {text}: no contrast {name!r} is measured{known or ''}")
        if name in limits:
            raise UsageError(f"{option} {text}: {name or 'a limit for all'} is given twice")
        limits[name] = opt.parse_share(share, option)
    return limits
