"""The command ``probe geometry``: what the distances between sentence vectors keep."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands import completion as offer
from sentprobe.commands import mirror_sentences as mirrors
from sentprobe.commands import options as opt
from sentprobe.commands.given_triplets import divide, refuse_of_drawn, triplet_materials
from sentprobe.commands.stopping import goes_on, stopping
from sentprobe.commands.table_files import find_caption, find_table_format
from sentprobe.errors import UsageError, counted, told
from sentprobe.files import cache_directory
from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.generator.split import parse_side
from sentprobe.generator.triplets import NoContrastError, TripletSpace
from sentprobe.generator.variants import check_variants
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.probes.encoders import USUAL_ENCODERS, Encoder, make_encoders, parse_encoders
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.given import placed_encoders
from sentprobe.probes.geometry.results import to_records
from sentprobe.probes.runs.store import check_directory, prepare_directory, sound_results
from sentprobe.processes import check_count, limit_threads
from sentprobe.progress import bars
from sentprobe.screen import print_table, say
from sentprobe.specs import Spec, choose
from sentprobe.table_writers import Grid, TableFormat, draw, write_tables

if TYPE_CHECKING:
    from sentprobe.probes.geometry.material import Drawing
    from sentprobe.probes.geometry.measures import Nearness
    from sentprobe.probes.geometry.results import GeometryResult
    from sentprobe.probes.geometry.run import GeometryOutcome
    from sentprobe.probes.geometry.tables import GroupedBy


@opt.with_groups
def geometry(
    context: typer.Context,
    sentences: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="compeval|PATH...",
            help="In place of drawn triplets, those of files of gen pairs; or the test sentences "
            "of SemRole, Order and Negation, of compeval or of datasets, with what probes in --out "
            "have on them beside.",
            autocompletion=offer.complete_suite,
        ),
    ] = None,
    encoder: opt.EncodersOption = None,
    contrast: Annotated[
        list[str] | None,
        typer.Option(
            "--contrast",
            "-c",
            help=f"{opt.CONTRASTS}; repeatable. By default all.",
            autocompletion=offer.complete_contrast,
        ),
    ] = None,
    task: opt.TaskOption = None,
    out: opt.ResultsOption = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Triplets of each contrast.")] = 400,
    variants: Annotated[
        int, typer.Option("--variants", help="Variants that the positive is ranked among: 0 to 8.")
    ] = 5,
    seed: Annotated[int, opt.seed_of("triplets and encoders")] = 0,
    nearness: opt.NearnessOption = "cosine",
    by: Annotated[
        str | None,
        typer.Option("--by", help="Show accuracy by structure, place or distance, in cosine."),
    ] = None,
    intervals: opt.IntervalsOption = False,
    format_: opt.TableFormatOption = "text",
    force: opt.ForceOption = False,
    cache: opt.CacheOption = True,
    threads: Annotated[
        int | None,
        typer.Option(
            help="PyTorch's threads. By default as many as there are cores.",
            rich_help_panel=opt.MACHINE,
        ),
    ] = None,
    *,
    source: opt.TripletOptions,
    latex: opt.LatexOptions,
) -> None:
    """Ask encoders, without training, whether the same meaning is nearer than another.

    An anchor has a positive, which means the same in another form, and negatives, which differ in
    one property: is the positive nearer? gen pairs writes such sentences.
    """
    style = find_table_format(format_, None, what="geometry")
    caption = find_caption(latex, style)
    from sentprobe.probes.geometry import measures, tables  # noqa: PLC0415 - not for --help
    from sentprobe.probes.geometry.material import (  # noqa: PLC0415
        Drawing,
        GeometryMaterial,
        TripletMaterial,
        background,
        word_digest,
    )
    from sentprobe.probes.geometry.run import GeometryRun, measure_all  # noqa: PLC0415

    shown = choose(measures.Nearness, nearness, what="nearness")
    grouped = None if by is None else choose(tables.GroupedBy, by, what="group")
    if grouped is not None:
        tables.check_grouped(shown)
    check_count("threads", threads)
    files, others = divide(sentences or ())
    refuse_of_drawn(files, {"--by": by is not None, "--held-out": bool(source.held_out)})
    mirrors.refuse_tasks(task or (), others)
    mirrors.refuse_drawing(opt.options_given(context), sentences or ())
    specs = parse_encoders(encoder or USUAL_ENCODERS)
    side = parse_side(source.held_out or (), held_out=True)
    words = load_lexicon(source.lexicon)
    vocabulary = source.vocabulary or default_vocabulary(words, "compeval")
    drawing = Drawing(
        vocabulary=vocabulary,
        templates=tuple(source.template or ("all",)),
        n=n,
        variants=variants,
        seed=seed,
        words=word_digest(side.lexicon(words, vocabulary) if side else words, vocabulary),
        held_out=side.values if side else (),
    )
    check_variants(variants)
    targets = mirrors.parse_sentences(others, task or (), source, seed=seed) if others else None
    read = triplet_materials(files, seed=seed)
    spaces = [] if sentences else find_spaces(words, contrast or (), drawing)
    if out is not None:
        check_directory(out)
    encoders = [made for spec in specs for made in vector_encoders(spec, seed)]
    materials: list[TripletMaterial] = [GeometryMaterial(each, drawing) for each in spaces]
    if targets:
        materials = mirrors.mirror_materials(targets, words, drawing, command=opt.command_line())
    materials += read
    behind = background(words, drawing)
    encoders = placed_encoders(encoders, [behind, *(each.sentences for each in materials)])
    if out is not None:
        prepare_directory(out)
    settings = GeometryRun(
        background=behind,
        out=out,
        force=force,
        cache=Cache(cache_directory()) if cache else None,
        command=opt.command_line(),
    )
    kept = goes_on(out) if out else "results are kept, and a run goes on, with --out"
    with stopping(kept), limit_threads(threads), bars() as reporter:
        outcome = measure_all(encoders, materials, settings, reporter)
    tables.check_nearness(outcome.results, shown)
    grid, notes = _table(outcome.results, out, shown, grouped, intervals=intervals)
    if style is TableFormat.TEXT:
        print_table(draw(grid))
        say(notes, end="")
    else:
        records = partial(to_records, outcome.results)
        text = write_tables([grid], notes=notes, records=records, style=style, caption=caption)
        print(text, end="")
    if out is not None:
        _tell_counts(outcome, out)


def _table(
    results: "Sequence[GeometryResult]",
    out: Path | None,
    nearness: "Nearness",
    by: "GroupedBy | None",
    *,
    intervals: bool,
) -> tuple[Grid, str]:
    """Return the table and the lines below it, with what probes in the folder have."""
    from sentprobe.probes.geometry import tables  # noqa: PLC0415 - not for --help
    from sentprobe.probes.report.geometry import beside, of_other_sentences  # noqa: PLC0415

    probed = [] if out is None else [*sound_results(out)]
    notes = tables.explain(results, nearness, by=by) + "".join(of_other_sentences(results, probed))
    if by is not None:
        return tables.group_grid(results, by, intervals=intervals), notes
    aside = beside(results, probed, intervals=intervals)
    grid = tables.geometry_grid(results, nearness=nearness, intervals=intervals, beside=aside)
    return grid, notes


def _tell_counts(outcome: "GeometryOutcome", out: Path) -> None:
    """Say on stderr where the results are, and how many of them were there already."""
    made = len(outcome.results) - outcome.found
    if outcome.found:
        more = f", {made} made" if made else ""
        print(f"{counted(outcome.found, 'result')} found{more}", file=sys.stderr)
    print(f"results: {out}", file=sys.stderr)


def find_spaces(lexicon: Lexicon, names: Sequence[str], drawing: "Drawing") -> list[TripletSpace]:
    """Return the triplets of the named contrasts or, without names, of all that can be had.

    Which cannot be had, and why, is said on stderr.

    Raises:
        UsageError: there is no such contrast; the templates cannot have it, or none at all; there
            are fewer triplets than are to be drawn.
    """
    found, why = [], []
    for name in dict.fromkeys(names or CONTRASTS):
        try:
            found.append(
                TripletSpace(
                    lexicon,
                    name,
                    vocabulary=drawing.vocabulary,
                    templates=drawing.templates,
                    side=drawing.side,
                )
            )
        except NoContrastError as error:
            if names:
                raise
            why.append(error)
    if not found:
        raise why[0]
    for each in why:
        print(told(f"left out: {each}"), file=sys.stderr)
    for space in found:
        space.check(drawing.n)
    return found


def vector_encoders(spec: Spec, seed: int) -> "list[Encoder]":
    """Return the encoders that a spec asks for.

    Raises:
        UsageError: it asks for a baseline, which has no vectors.
    """
    made = make_encoders(spec, seed=seed)
    found = [each for each in made if isinstance(each, Encoder)]
    if len(found) < len(made):
        raise UsageError(f"{str(spec)!r} is a baseline: it has no vectors, and so no distances")
    return found
