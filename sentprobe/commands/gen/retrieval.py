"""The command ``gen retrieval``: a retrieval set in which the nearest documents have another meaning."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.gen.pairs import HoldOutOption, find_split_side
from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.completion import complete_contrast
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon


@opt.expand_option_groups
def retrieval(
    contrast: Annotated[
        list[str],
        typer.Option("--contrast", "-c", help=f"{opt.CONTRASTS}; repeatable.", autocompletion=complete_contrast),
    ],
    out: Annotated[Path, opt.build_out_option("New folder for the set."), OUTPUT_FOLDER],
    n: Annotated[int, typer.Option("--n", "-n", help="Queries per contrast.")] = 1000,
    seed: Annotated[int, opt.build_seed_option("the sample")] = 0,
    *,
    source: opt.TripletOptions,
    mood: opt.MoodOption = None,
    hold_out: HoldOutOption = None,
) -> None:
    """Write queries and documents for retrieval, in BEIR's layout.

    A query is the anchor of a triplet of gen pairs. The documents are the positives
    and negatives of all queries; only its own positive means the same as a query and is relevant to it.
    """
    from sentprobe.generator.pairs.retrieval_files import sample_distinct_meanings, write_retrieval
    from sentprobe.generator.pairs.triplets import TripletSpace

    side = find_split_side(hold_out or (), source)
    words = load_lexicon(source.lexicon)
    vocabulary = source.vocabulary or choose_vocabulary(words, "compeval")
    templates = source.template or ("all",)
    names = dict.fromkeys(contrast)
    build = partial(TripletSpace, words, vocabulary=vocabulary, templates=templates, side=side, mood=mood)
    spaces = [build(contrast=name) for name in names]
    write_retrieval(sample_distinct_meanings(spaces, n, seed=seed), out)
