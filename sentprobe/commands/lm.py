"""The command ``probe lm``: accuracy of language models on minimal pairs."""

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.commands.shared.table_output import (
    check_output_file,
    find_caption,
    find_table_format,
    print_or_write,
    print_reuse,
    write_tables,
)
from sentprobe.common.errors import format_count
from sentprobe.common.inputs import find_descriptor, is_device
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.screen import print_message, show_bars
from sentprobe.common.specs import choose_member

if TYPE_CHECKING:
    from sentprobe.probes.language_models.scorers import ModelLoader


@opt.expand_option_groups
def lm(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="hf:MODEL (causal or masked), ngram:FILE, a folder written by probe train lstm-lm, "
            "python:MODULE:FUNCTION, or scores:CSV. A path or a name on the hub may stand alone.",
        ),
    ],
    pairs: Annotated[
        list[Path] | None,
        typer.Option(
            help="JSONL file in BLiMP's format, CSV or TSV with the columns good and bad, or a folder of such files; "
            "repeatable."
        ),
    ] = None,
    paradigm: Annotated[
        list[str] | None,
        typer.Option("--paradigm", "-p", help="Instead of --pairs: paradigm of gen minimal, or all; repeatable."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", "-n", help="Number of pairs for each --paradigm. [default: 1000]")
    ] = None,
    seed: Annotated[int, opt.build_seed_option("the pairs of --paradigm")] = 0,
    known_words: Annotated[
        bool, typer.Option("--known-words", help="Leave out pairs with words that at least one model does not know.")
    ] = False,
    score: Annotated[
        str,
        typer.Option(help="Score: sentence (sum over tokens), token (mean) or critical (first to last changed word)."),
    ] = "sentence",
    by: Annotated[
        str, typer.Option(help="Show accuracy by a field of the pairs, such as distance or attractors.")
    ] = "paradigm",
    intervals: opt.IntervalsOption = False,
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: Annotated[
        Path | None,
        opt.build_out_option("File to write (replaced if it exists), or results folder, which keeps the scores."),
        OUTPUT_FILE,
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(metavar="CSV", help=f"File for the scores of each pair; {opt.REPLACED}"), OUTPUT_FILE
    ] = None,
    device: Annotated[str, opt.machine_option(help="PyTorch device for hf:. Default: a GPU if there is one.")] = "",
    threads: opt.ThreadsOption = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Measure how often language models prefer the good sentence of a minimal pair.

    A minimal pair is a grammatical and an ungrammatical sentence. Several models are compared by paired tests.
    """
    from sentprobe.probes.language_models import pair_accuracies as accuracies
    from sentprobe.probes.language_models.pair_results import PairFolder, score_models
    from sentprobe.probes.language_models.scorers import ScoreKind, load_language_model, parse_models
    from sentprobe.probes.language_models.sentence_pairs import read_or_sample_pairs
    from sentprobe.probes.results.store import check_directory, prepare_directory

    # A path without a suffix is a results folder, unless it is a device such as /dev/stdout.
    is_stream = out is not None and (is_device(out) or find_descriptor(out) is not None)
    results = out if out is not None and not is_stream and (out.is_dir() or not out.suffix) else None
    out = None if results else out
    style = find_table_format(format_, out, subject="lm")
    caption = find_caption(latex, style)
    if results is not None:
        check_directory(results)
    check_output_file(scores)
    kind = choose_member(ScoreKind, score, what="score")
    check_count("threads", threads)
    specs = accuracies.read_scores_files(parse_models(models))
    minimal_pairs, source = read_or_sample_pairs(pairs or (), paradigm or (), n, seed=seed)
    accuracies.check_column(minimal_pairs, by)
    load: ModelLoader = partial(load_language_model, device=device)
    if known_words:
        load = cache(load) if len(specs) == 1 else load  # several models are not in memory together
        total = len(minimal_pairs)
        minimal_pairs, reporting = accuracies.select_known_pairs(specs, minimal_pairs, load)
        print_message(f"left out: {total - len(minimal_pairs)} of {format_count(total, 'pair')}")
        source += f", without pairs that have words unknown to {' or '.join(map(str, reporting))}"
    folder = None
    if results is not None:
        prepare_directory(results)
        folder = PairFolder(results, minimal_pairs, command=opt.format_command_line(), source=source, device=device)
    with limit_threads(threads), show_bars() as reporter:
        scored = score_models(specs, minimal_pairs, kind, reporter, load=load, folder=folder)
    result = accuracies.PairResults(minimal_pairs, kind, scored, by)
    if scores is not None:
        print_or_write(result.format_scores(), scores)
    write_tables(result.build_tables(intervals=intervals), result.to_records, style, out=out, caption=caption)
    if folder is not None:
        print_reuse(len(folder.reused), total=len(scored))
        print_message(f"results: {results}")
