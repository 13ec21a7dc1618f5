"""The command ``probe geometry``: whether vectors of paraphrases are nearer than those of other sentences."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared import output_paths
from sentprobe.commands.shared.help import map_given_options
from sentprobe.commands.shared.interruption import describe_kept_work, report_interruption
from sentprobe.commands.shared.table_output import find_caption, find_table_format, print_reuse, write_tables
from sentprobe.common.errors import UsageError
from sentprobe.common.files import find_cache_directory
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.screen import print_message, show_bars
from sentprobe.common.specs import choose_member
from sentprobe.common.tables import Grid
from sentprobe.generator.spaces.templates import parse_side
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon

if TYPE_CHECKING:
    from sentprobe.probes.similarity.distance_results import GeometryResult
    from sentprobe.probes.similarity.distance_tables import GroupedBy
    from sentprobe.probes.similarity.measures import Nearness


@opt.expand_option_groups
def geometry(
    context: typer.Context,
    sentences: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="compeval|PATH...",
            help="Triplet files of gen pairs; or compeval or datasets, whose test items become triplets. Default: "
            "new triplets.",
            autocompletion=output_paths.complete_suite,
        ),
    ] = None,
    encoder: opt.EncodersOption = None,
    contrast: opt.ContrastsOption = None,
    task: opt.TaskOption = None,
    out: opt.ResultsOption = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of triplets for each contrast.")] = 400,
    distractors: Annotated[
        int, typer.Option(help="Rank the positive among N (0 to 8) sentences with other meanings.")
    ] = 5,
    seed: Annotated[int, opt.build_seed_option("triplets and encoders")] = 0,
    nearness: Annotated[
        str, typer.Option(help="Measure of nearness: cosine, dot, euclid or whitened (cosine after whitening).")
    ] = "cosine",
    by: Annotated[
        str | None,
        typer.Option(help="Show accuracy by structure, place of the contrast, distance (verb to noun) or voice."),
    ] = None,
    intervals: opt.IntervalsOption = False,
    format_: opt.TableFormatOption = "text",
    force: opt.ForceOption = False,
    cache: opt.CacheOption = True,
    threads: opt.ThreadsOption = None,
    *,
    source: opt.TripletOptions,
    latex: opt.LatexOptions,
) -> None:
    """Measure if paraphrases have nearer vectors than other sentences.

    A triplet has an anchor, a positive (its paraphrase), and negatives that differ from it in one property of meaning.
    An encoder is right if the anchor's vector is nearer to the positive's than to the negative's.
    """
    from sentprobe.commands.shared import geometry_input as inputs
    from sentprobe.generator.pairs.retrieval_files import check_distractors
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.encoders.kinds import USUAL_ENCODERS, bind_to_sentence_order, parse_encoders
    from sentprobe.probes.results.store import check_directory, prepare_directory
    from sentprobe.probes.similarity import distance_tables, measures
    from sentprobe.probes.similarity import triplet_sentences as ts
    from sentprobe.probes.similarity.distance_results import to_geometry_records
    from sentprobe.probes.similarity.distance_run import build_vector_encoders, measure_encoders

    style = find_table_format(format_, None, subject="geometry")
    caption = find_caption(latex, style)
    chosen_nearness = choose_member(measures.Nearness, nearness, what="nearness")
    grouping = None if by is None else choose_member(distance_tables.GroupedBy, by, what="group")
    if grouping is not None and chosen_nearness is not measures.Nearness.COSINE:
        raise UsageError(f"groups are measured by cosine only: remove --by or --nearness {nearness}")
    check_count("threads", threads)
    files, other_words = inputs.split_triplet_files(sentences or ())
    inputs.reject_unused_options(map_given_options(context), sentences or (), files)
    specs = parse_encoders(encoder or USUAL_ENCODERS)
    side = parse_side(source.held_out or (), held_out=True)
    words = load_lexicon(source.lexicon, source.language)
    vocabulary = source.vocabulary or choose_vocabulary(words, "compeval")
    drawing = ts.TripletSampling(
        vocabulary=vocabulary,
        templates=tuple(source.template or ("all",)),
        n=n,
        distractors=distractors,
        seed=seed,
        words=ts.digest_words(words, vocabulary, side),
        held_out=side.values if side else (),
        language=words.language.code,
    )
    check_distractors(distractors)
    targets = inputs.parse_sentence_targets(other_words, task or (), source, seed=seed) if other_words else None
    file_materials = ts.read_triplet_files(files, seed=seed)
    spaces = [] if sentences else inputs.build_spaces(words, contrast or (), drawing)
    if out is not None:
        check_directory(out)  # before models are loaded; it is made when the sentences are known
    encoders = build_vector_encoders(specs, seed)
    materials: list[ts.TripletSentences] = [ts.SampledTriplets(space, drawing) for space in spaces]
    if targets:
        materials = inputs.build_mirror_materials(targets, words, drawing, command=opt.format_command_line())
    materials += file_materials
    background_sentences = ts.sample_background(words, drawing)
    encoders = bind_to_sentence_order(encoders, [background_sentences, *(material.sentences for material in materials)])
    if out is not None:
        prepare_directory(out)
    vector_cache = Cache(find_cache_directory()) if cache else None
    with (
        report_interruption(lambda: describe_kept_work(out) if out else "use --out to keep results and resume a run"),
        limit_threads(threads),
        show_bars() as reporter,
    ):
        results, reused = measure_encoders(
            encoders,
            materials,
            background=background_sentences,
            out=out,
            force=force,
            cache=vector_cache,
            command=opt.format_command_line(),
            reporter=reporter,
        )
    distance_tables.check_nearness(results, chosen_nearness)
    write_tables(
        [("", *_build_table(results, out, chosen_nearness, grouping, intervals=intervals))],
        partial(to_geometry_records, results),
        style,
        caption=caption,
    )
    if out is not None:
        print_reuse(reused, total=len(results))
        print_message(f"results: {out}")


def _build_table(
    results: "Sequence[GeometryResult]",
    out: Path | None,
    nearness: "Nearness",
    by: "GroupedBy | None",
    *,
    intervals: bool,
) -> tuple[Grid, str]:
    """Return the table and its notes, with accuracies of probes if the results folder *out* has any."""
    from sentprobe.probes.reports.tables.distance_report import describe_probe_accuracies, describe_semrole_accuracies
    from sentprobe.probes.results.store import read_sound_results
    from sentprobe.probes.similarity import distance_tables

    probed = [] if out is None else [*read_sound_results(out)]
    notes = distance_tables.format_notes(results, nearness, by=by) + "".join(
        describe_semrole_accuracies(results, probed)
    )
    if by is not None:
        return distance_tables.build_group_grid(results, by, intervals=intervals), notes
    probe_columns = describe_probe_accuracies(results, probed, intervals=intervals)
    grid = distance_tables.build_geometry_grid(
        results, nearness=nearness, intervals=intervals, probe_cells=probe_columns
    )
    return grid, notes
