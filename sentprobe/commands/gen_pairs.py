"""The command ``gen pairs``: triplets of sentences that mean the same, and do not."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.completion import complete_contrast
from sentprobe.files import check_apart, make_folder_of
from sentprobe.generator.triplet_files import find_triplet_format, triplet_lines, write_triplets
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon.read import default_vocabulary, load_lexicon

ContrastOption = Annotated[
    str,
    typer.Option(
        "--contrast",
        "-c",
        help=f"In what a negative differs: {opt.CONTRASTS}.",
        autocompletion=complete_contrast,
    ),
]


@opt.with_groups
def pairs(
    contrast: ContrastOption,
    n: Annotated[int, typer.Option("--n", "-n", help="How many triplets.")] = 10,
    seed: Annotated[int, opt.seed_of("the sample")] = 0,
    count: Annotated[bool, typer.Option("--count", help="Only print how many there are.")] = False,
    out: Annotated[Path | None, opt.out_to("File instead of stdout; its folder is made.")] = None,
    format_: Annotated[
        str | None,
        opt.format_among("jsonl, parquet or blimp (from the file's suffix if not given)."),
    ] = None,
    *,
    source: opt.TripletOptions,
) -> None:
    """Write triplets: an anchor, a positive that means the same in another form, two negatives.

    A negative differs from them in exactly one property. One is in the positive's form, the other,
    hard_negative, in the anchor's. All are annotated.

    blimp is minimal pairs: the positive as sentence_good, the negative as sentence_bad, and
    the anchor that says which is which.
    """
    style = find_triplet_format(format_, out)
    if out is not None and source.lexicon is not None:
        check_apart(out, [source.lexicon])
    words = load_lexicon(source.lexicon)
    space = TripletSpace(
        words,
        contrast,
        vocabulary=source.vocabulary or default_vocabulary(words, "compeval"),
        templates=source.template or ("all",),
    )
    if count:
        print(space.count())
        return
    drawn = space.sample(n, seed=seed)
    if out is None:
        sys.stdout.writelines(triplet_lines(drawn, style))
        sys.stdout.flush()
    else:
        make_folder_of(out)
        write_triplets(drawn, out, style)
