"""The command ``gen pairs``: triplets of sentences that mean the same, and do not."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.completion import complete_contrast, complete_template
from sentprobe.files import check_apart, make_folder_of
from sentprobe.generator.triplet_files import find_triplet_format, triplet_lines, write_triplets
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon.read import default_vocabulary, load_lexicon

ContrastOption = Annotated[
    str,
    typer.Option(
        "--contrast",
        "-c",
        help="In what a negative differs: role, modifier, negation, polarity, tense, aspect, "
        "number, noun, verb or adverb.",
        autocompletion=complete_contrast,
    ),
]


def pairs(
    contrast: ContrastOption,
    n: Annotated[int, typer.Option("--n", "-n", help="How many triplets.")] = 10,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            "-t",
            help="Structure, from gen templates; repeatable. By default all that can.",
            autocompletion=complete_template,
        ),
    ] = None,
    seed: Annotated[int, opt.seed_of("the sample")] = 0,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            "--vocabulary",
            "-v",
            help=f"{opt.VOCABULARIES} By default compeval, or the only one of your lexicon.",
        ),
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="Your own lexicon file.")
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Only print how many there are.")] = False,
    out: Annotated[Path | None, opt.out_to("File instead of stdout; its folder is made.")] = None,
    format_: Annotated[
        str | None,
        opt.format_among("jsonl, parquet or blimp (from the file's suffix if not given)."),
    ] = None,
) -> None:
    """Write triplets: an anchor, a positive that means the same in another form, two negatives.

    A negative differs from them in exactly one property. One is in the positive's form, the other,
    hard_negative, in the anchor's. All are annotated.

    blimp is minimal pairs: the positive as sentence_good, the negative as sentence_bad, and
    the anchor that says which is which.
    """
    style = find_triplet_format(format_, out)
    if out is not None and lexicon is not None:
        check_apart(out, [lexicon])
    words = load_lexicon(lexicon)
    space = TripletSpace(
        words,
        contrast,
        vocabulary=vocabulary or default_vocabulary(words, "compeval"),
        templates=template or ("all",),
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
