"""The command ``gen pairs``: triplets of sentences that mean the same, and do not."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.completion import among, complete_contrast, complete_template
from sentprobe.errors import UsageError
from sentprobe.files import check_apart, make_folder_of
from sentprobe.generator import training_files as training
from sentprobe.generator.nli import NliSpace
from sentprobe.generator.split import SplitSide, parse_side
from sentprobe.generator.training import training_columns
from sentprobe.generator.triplet_files import (
    TripletFormat,
    find_triplet_format,
    triplet_lines,
    write_triplets,
)
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.specs import choose


class PairUse(StrEnum):
    """What pairs are for, which says how they are written."""

    PROBING = "probing"
    TRAINING = "training"


ContrastOption = Annotated[
    str,
    typer.Option(
        "--contrast",
        "-c",
        help=f"In what a negative differs: {opt.CONTRASTS}.",
        autocompletion=complete_contrast,
    ),
]

UseOption = Annotated[
    str,
    typer.Option(
        "--for",
        help="probing, or training: the columns anchor, positive, negative, and no others.",
        autocompletion=among(lambda: PairUse),
    ),
]


@opt.with_groups
def pairs(
    contrast: ContrastOption,
    n: Annotated[
        int,
        typer.Option("--n", "-n", help="How many triplets; with --nli, how many groups."),
    ] = 10,
    seed: Annotated[int, opt.seed_of("the sample")] = 0,
    count: Annotated[bool, typer.Option("--count", help="Only print how many there are.")] = False,
    use: UseOption = "probing",
    nli: Annotated[
        bool,
        typer.Option("--nli", help="For training: premise, hypothesis, label; in groups of 8."),
    ] = False,
    out: Annotated[Path | None, opt.out_to("File instead of stdout; its folder is made.")] = None,
    format_: Annotated[
        str | None,
        opt.format_among("jsonl, parquet or blimp (from the file's suffix if not given)."),
    ] = None,
    *,
    source: opt.TripletOptions,
    hold_out: Annotated[
        list[str] | None,
        typer.Option(
            "--hold-out",
            metavar="SHARE|TEMPLATE",
            help="Leave out this share of nouns and verbs, or a structure; repeatable. The other "
            "side is --held-out.",
            rich_help_panel=opt.HELD_OUT,
            autocompletion=complete_template,
        ),
    ] = None,
) -> None:
    """Write triplets: an anchor, a positive that means the same in another form, two negatives.

    A negative differs from them in exactly one property. One is in the positive's form, the other,
    hard_negative, in the anchor's. All are annotated.

    blimp is minimal pairs: the positive as sentence_good, the negative as sentence_bad, and
    the anchor that says which is which.
    """
    style = find_triplet_format(format_, out)
    wanted = choose(PairUse, use, what="use of pairs")
    _check_use(wanted, style, nli=nli)
    side = _side(hold_out or (), source)
    if out is not None and source.lexicon is not None:
        check_apart(out, [source.lexicon])
    words = load_lexicon(source.lexicon)
    space = (NliSpace if nli else TripletSpace)(
        words,
        contrast,
        vocabulary=source.vocabulary or default_vocabulary(words, "compeval"),
        templates=source.template or ("all",),
        side=side,
    )
    if count:
        print(space.count())
        return
    if out is not None:
        space.check(n)
        make_folder_of(out)
    if isinstance(space, NliSpace):
        _write_training(training.nli_table(space.pairs(n, seed=seed)), out, style)
        return
    drawn = space.sample(n, seed=seed)
    if wanted is PairUse.TRAINING:
        _write_training(training_columns(drawn), out, style)
    elif out is None:
        _print(triplet_lines(drawn, style))
    else:
        write_triplets(drawn, out, style)


def _check_use(use: PairUse, style: TripletFormat, *, nli: bool) -> None:
    """Refuse what does not go with a use.

    Raises:
        UsageError: a format or a kind of pairs is of the other.
    """
    if use is PairUse.TRAINING:
        training.check_training_format(style)
    elif nli:
        raise UsageError("--nli is a kind of training data: add --for training")


def _side(hold_out: Iterable[str], source: opt.TripletOptions) -> SplitSide | None:
    """Return the side of the split that is asked for, None for everything.

    Raises:
        UsageError: both are, or one that cannot be.
    """
    rest = parse_side([*hold_out], held_out=False)
    held_out = parse_side(source.held_out or (), held_out=True)
    if rest and held_out:
        raise UsageError(f"{rest} and {held_out}: give the one or the other")
    return rest or held_out


def _write_training(
    columns: training.TrainingColumns, out: Path | None, style: TripletFormat
) -> None:
    if out is None:
        _print(training.training_lines(columns))
    else:
        training.write_training(columns, out, style)


def _print(lines: Iterable[str]) -> None:
    sys.stdout.writelines(lines)
    sys.stdout.flush()
