"""The command ``gen pairs``: triplets of an anchor, a paraphrase, and negatives that differ in meaning."""

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.completion import build_completer
from sentprobe.disk.files import make_parent_folder
from sentprobe.errors import UsageError
from sentprobe.generator.spaces.held_out_words import SplitSide, parse_side
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.specs import choose_member

if TYPE_CHECKING:
    from sentprobe.generator.pairs import triplet_files
    from sentprobe.generator.pairs.translation import Translator
    from sentprobe.generator.pairs.triplets import TripletSpace
    from sentprobe.lexicon import Lexicon


class PairUse(StrEnum):
    """Purpose of the triplets; it determines the columns of the output."""

    PROBING = "probing"
    TRAINING = "training"


HoldOutOption = Annotated[
    opt.Repeatable,
    opt.declare_option(
        opt.HELD_OUT,
        "--hold-out",
        metavar="SHARE|TEMPLATE",
        help="Leave out this share of nouns and verbs, or this structure; repeatable.",
    ),
]


@opt.expand_option_groups
def pairs(
    contrast: Annotated[
        str, typer.Option("--contrast", "-c", help=f"Property in which a negative differs: {opt.CONTRASTS}.")
    ],
    n: Annotated[int, typer.Option("--n", "-n", help="Number of triplets (--nli: of groups of 8 pairs).")] = 10,
    seed: Annotated[int, opt.build_seed_option("the sample")] = 0,
    count: Annotated[bool, typer.Option("--count", help="Only print the number of possible triplets.")] = False,
    use: Annotated[
        str,
        typer.Option(
            "--for",
            help="Purpose: probing, or training (only the columns anchor, positive, negative).",
            autocompletion=build_completer(lambda: PairUse),
        ),
    ] = "probing",
    nli: Annotated[
        bool, typer.Option("--nli", help="With --for training: NLI pairs (premise, hypothesis, label) in groups of 8.")
    ] = False,
    translate: Annotated[
        str | None,
        typer.Option(metavar="LANGUAGE", help="Translate all sentences but the anchor into this language: de."),
    ] = None,
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

    The paraphrase (positive) differs from the anchor in form, not in meaning. Each negative differs from the anchor in
    one property of meaning, the contrast. The negative in the column 'negative' has the form of the positive; the one
    in the column 'hard_negative' has the form of the anchor. All sentences are annotated.

    The format blimp has the positive as sentence_good and the negative as sentence_bad; both are grammatical.
    """
    from sentprobe.generator.pairs import triplet_files
    from sentprobe.generator.pairs.inference_pairs import NliSpace
    from sentprobe.generator.pairs.triplets import TripletSpace

    style = triplet_files.find_pair_format(triplet_files.TripletFormat, format_, out)
    is_training = choose_member(PairUse, use, what="use of pairs") is PairUse.TRAINING
    if is_training and style is triplet_files.TripletFormat.BLIMP:
        raise UsageError("--format blimp is minimal pairs; --for training writes jsonl or parquet")
    if nli and not is_training:
        raise UsageError("--nli is a kind of training data: add --for training")
    side = find_split_side(hold_out or (), source)
    words = load_lexicon(source.lexicon, source.language)
    if nli and mood is not None:
        raise UsageError("--nli is for statements: leave out --mood")
    vocabulary = source.vocabulary or choose_vocabulary(words, "compeval")
    has_columns = is_training or style is triplet_files.TripletFormat.JSONL
    translator = make_translator(words, translate, contrast, can_translate=has_columns and not nli and mood is None)
    space = (NliSpace if nli else partial(TripletSpace, mood=mood))(
        translator.restrict(vocabulary) if translator else words,
        contrast,
        vocabulary=vocabulary,
        templates=source.template or ("all",),
        side=side,
    )
    if count:
        print(space.count())
        return
    if out is not None:
        space.check_count(n)
        make_parent_folder(out)
    rows = _build_rows(space, n, seed, style, is_training=is_training, translator=translator)
    if out is None:
        sys.stdout.writelines(rows)
        sys.stdout.flush()
    else:
        triplet_files.write_rows(out, rows)


def _build_rows(
    space: "TripletSpace",
    n: int,
    seed: int,
    style: "triplet_files.TripletFormat",
    *,
    is_training: bool,
    translator: "Translator | None",
) -> Iterator[Any]:
    """Return the rows of the output: lines of text, or Arrow tables for Parquet."""
    from sentprobe.generator.pairs import training_files, translated_rows, triplet_files
    from sentprobe.generator.pairs.inference_pairs import NliSpace

    if isinstance(space, NliSpace):
        return training_files.build_rows(space.iterate_pairs(n, seed=seed), style)
    if translator is not None and not is_training:
        return translated_rows.format_translated_lines(space, n, seed, translator)
    triplets = space.sample(n, seed=seed)
    if translator is not None:
        return training_files.build_rows(translated_rows.iterate_translated_columns(triplets, translator), style)
    if is_training:
        return training_files.build_rows(training_files.iterate_training_columns(triplets), style)
    return triplet_files.build_rows(triplets, style)


def make_translator(
    words: "Lexicon", language: str | None, contrast: str, *, can_translate: bool
) -> "Translator | None":
    """Return a translator from English into *language*, or None if *language* is None. Raises UsageError."""
    from sentprobe.generator.pairs.contrasts import find_contrast
    from sentprobe.generator.pairs.translation import UNTRANSLATED, Translator

    if language is None:
        return None
    if not can_translate:
        raise UsageError("--translate writes JSONL of triplets of statements, or their columns --for training")
    target = load_lexicon(None, language)
    if words.language is not ENGLISH or target.language is ENGLISH:
        raise UsageError("--translate translates from English into another language, such as de")
    if reason := UNTRANSLATED.get(find_contrast(contrast).name):
        raise UsageError(f"the contrast {contrast!r} is impossible with --translate: {reason}")
    return Translator(words, target)


def find_split_side(hold_out: Iterable[str], source: opt.TripletOptions) -> SplitSide | None:
    """Return the side of the split: training for --hold-out, test for --held-out, None (no split) without them."""
    included_side = parse_side([*hold_out], held_out=False)
    held_out = parse_side(source.held_out or (), held_out=True)
    if included_side and held_out:
        raise UsageError(f"{included_side} and {held_out}: give one of them")
    return included_side or held_out
