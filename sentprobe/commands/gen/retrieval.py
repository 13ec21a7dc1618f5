"""The command ``gen retrieval``: queries, and similar documents of which one has the meaning of the query."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.gen.pairs import HoldOutOption, find_split_side
from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.completion import build_completer
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.errors import UsageError
from sentprobe.generator.events.event import Mood
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.specs import choose_member


class QueryKind(StrEnum):
    """Kinds of retrieval queries."""

    PARAPHRASE = "paraphrase"
    EXCLUSION = "exclusion"


@opt.expand_option_groups
def retrieval(
    out: Annotated[Path, opt.build_out_option("New or empty folder for the files."), OUTPUT_FOLDER],
    contrast: Annotated[
        opt.Repeatable,
        typer.Option("--contrast", "-c", help=f"{opt.CONTRASTS}; repeatable. Required with --kind paraphrase."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="Queries: paraphrase, or exclusion (who helped X but did not help Y).",
            autocompletion=build_completer(lambda: QueryKind),
        ),
    ] = "paraphrase",
    n: Annotated[int, typer.Option("--n", "-n", help="Number of queries for each contrast.")] = 1000,
    seed: Annotated[int, opt.build_seed_option("the sample")] = 0,
    *,
    source: opt.TripletOptions,
    mood: opt.MoodOption = None,
    hold_out: HoldOutOption = None,
) -> None:
    """Write queries and documents for retrieval, in BEIR's layout.

    A query is the anchor of a triplet (see gen pairs). The documents are the positives and negatives of all triplets.
    The only relevant document of a query is its own positive; all other documents differ from the query in meaning.

    With --kind exclusion, a query asks who did something to X but not to Y. A document says that somebody did it to X
    only, to both, or to Y only.
    """
    from sentprobe.generator.pairs.exclusion_queries import ExclusionSpace
    from sentprobe.generator.pairs.retrieval_files import sample_distinct_meanings, write_retrieval
    from sentprobe.generator.pairs.triplets import TripletSpace

    is_exclusion = choose_member(QueryKind, kind, what="kind") is QueryKind.EXCLUSION
    if is_exclusion and (contrast or source.template or mood):
        raise UsageError("--kind exclusion has one contrast, template and mood: leave out -c, -t and --mood")
    if not (is_exclusion or contrast):
        raise UsageError("a contrast is missing: give --contrast, or --kind exclusion")
    side = find_split_side(hold_out or (), source)
    words = load_lexicon(source.lexicon, source.language)
    if is_exclusion and Mood.QUESTION not in words.language.moods:
        raise UsageError(f"--kind exclusion asks questions, which {words.language.name} lacks here")
    vocabulary = source.vocabulary or choose_vocabulary(words, "" if is_exclusion else "compeval")
    spaces: list[TripletSpace]
    if is_exclusion:
        spaces = [ExclusionSpace(words, vocabulary=vocabulary, side=side)]
    else:
        templates = source.template or ("all",)
        build = partial(TripletSpace, words, vocabulary=vocabulary, templates=templates, side=side, mood=mood)
        spaces = [build(contrast=name) for name in dict.fromkeys(contrast or ())]
    write_retrieval(sample_distinct_meanings(spaces, n, seed=seed), out)
