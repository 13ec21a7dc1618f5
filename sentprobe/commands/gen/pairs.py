"""The command ``gen pairs``: triplets of sentences with the same and with other meanings."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.completion import build_completer, complete_contrast, complete_template
from sentprobe.disk.files import make_parent_folder
from sentprobe.errors import UsageError
from sentprobe.generator.spaces.held_out_words import SplitSide, parse_side
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.specs import choose_member

if TYPE_CHECKING:
    from sentprobe.generator.pairs import training_files as training
    from sentprobe.generator.pairs.triplet_files import TripletFormat


class PairUse(StrEnum):
    """The purpose of pairs, which determines their columns."""

    PROBING = "probing"
    TRAINING = "training"


HoldOutOption = Annotated[
    list[str] | None,
    opt.declare_option(
        opt.HELD_OUT,
        "--hold-out",
        metavar="SHARE|TEMPLATE",
        help="Exclude this share of nouns and verbs, or a structure; repeatable. --held-out is the inverse.",
        autocompletion=complete_template,
    ),
]


@opt.expand_option_groups
def pairs(
    contrast: Annotated[
        str,
        typer.Option(
            "--contrast",
            "-c",
            help=f"Property in which a negative differs: {opt.CONTRASTS}.",
            autocompletion=complete_contrast,
        ),
    ],
    n: Annotated[int, typer.Option("--n", "-n", help="Number of triplets; with --nli, of groups of 8 pairs.")] = 10,
    seed: Annotated[int, opt.build_seed_option("the sample")] = 0,
    count: Annotated[bool, typer.Option("--count", help="Only print the number of possible triplets.")] = False,
    use: Annotated[
        str,
        typer.Option(
            "--for",
            help="probing, or training (only the columns anchor, positive, negative).",
            autocompletion=build_completer(lambda: PairUse),
        ),
    ] = "probing",
    nli: Annotated[
        bool, typer.Option("--nli", help="With --for training: premise, hypothesis and label, in groups of 8.")
    ] = False,
    out: opt.InsteadOfStdoutOption = None,
    format_: Annotated[
        str | None, opt.build_format_option(("jsonl", "parquet", "blimp"), "Default: by the suffix.")
    ] = None,
    *,
    source: opt.TripletOptions,
    mood: opt.MoodOption = None,
    hold_out: HoldOutOption = None,
) -> None:
    """Write triplets: an anchor, a paraphrase, and negatives.

    The positive differs from the anchor in form, not in meaning. Each negative differs from the anchor in one property
    of meaning. The negative has the form of the positive; the hard_negative has the form of the anchor. All sentences
    are annotated.

    The format blimp has the positive as sentence_good and the negative as sentence_bad; both are grammatical.
    """
    from sentprobe.generator.pairs.inference_pairs import NliSpace
    from sentprobe.generator.pairs.training_files import iterate_training_columns
    from sentprobe.generator.pairs.triplet_files import find_triplet_format, format_triplet_lines, write_triplets
    from sentprobe.generator.pairs.triplets import TripletSpace

    style = find_triplet_format(format_, out)
    pair_use = choose_member(PairUse, use, what="use of pairs")
    _check_use(pair_use, style, nli=nli)
    side = find_split_side(hold_out or (), source)
    words = load_lexicon(source.lexicon)
    if nli and mood is not None:
        raise UsageError("--nli is for statements: leave out --mood")
    space = (NliSpace if nli else partial(TripletSpace, mood=mood))(
        words,
        contrast,
        vocabulary=source.vocabulary or choose_vocabulary(words, "compeval"),
        templates=source.template or ("all",),
        side=side,
    )
    if count:
        print(space.count())
        return
    if out is not None:
        space.check_count(n)
        make_parent_folder(out)
    if isinstance(space, NliSpace):
        _write_training(space.iterate_pairs(n, seed=seed), out, style)
        return
    drawn = space.sample(n, seed=seed)
    if pair_use is PairUse.TRAINING:
        _write_training(iterate_training_columns(drawn), out, style)
    elif out is None:
        _print_lines(format_triplet_lines(drawn, style))
    else:
        write_triplets(drawn, out, style)


def _check_use(use: PairUse, style: "TripletFormat", *, nli: bool) -> None:
    """Raise UsageError if the format or --nli cannot be combined with this use of pairs."""
    from sentprobe.generator.pairs import training_files as training

    if use is PairUse.TRAINING:
        training.check_training_format(style)
    elif nli:
        raise UsageError("--nli is a kind of training data: add --for training")


def find_split_side(hold_out: Iterable[str], source: opt.TripletOptions) -> SplitSide | None:
    """Return the chosen side of the split; None means all words and structures."""
    included_side = parse_side([*hold_out], held_out=False)
    held_out = parse_side(source.held_out or (), held_out=True)
    if included_side and held_out:
        raise UsageError(f"{included_side} and {held_out}: give one of them")
    return included_side or held_out


def _write_training(portions: "Iterable[training.TrainingColumns]", out: Path | None, style: "TripletFormat") -> None:
    from sentprobe.generator.pairs import training_files as training

    if out is None:
        _print_lines(training.format_training_lines(portions))
    else:
        training.write_training_data(portions, out, style)


def _print_lines(lines: Iterable[str]) -> None:
    sys.stdout.writelines(lines)
    sys.stdout.flush()
