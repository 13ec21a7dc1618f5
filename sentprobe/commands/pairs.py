"""The command ``gen pairs``: triplets of an anchor, a paraphrase, and negatives that differ in meaning.

The command ``gen minimal``: minimal pairs for language models.

The command ``gen retrieval``: queries, and similar documents of which one has the meaning of the query.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.output_paths import OUTPUT_FILE, OUTPUT_FOLDER, build_completer
from sentprobe.common.errors import UsageError
from sentprobe.common.files import make_parent_folder
from sentprobe.common.screen import PROGRESS_THRESHOLD, show_bars
from sentprobe.common.settings import HELD_OUT, Repeatable
from sentprobe.common.specs import choose_member
from sentprobe.generator.events.event import Mood
from sentprobe.generator.spaces.templates import SplitSide, parse_side
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.probes.runs.suite_options import describe_vocabulary

if TYPE_CHECKING:
    from sentprobe.common.screen import Reporter
    from sentprobe.generator.pairs import triplet_files
    from sentprobe.generator.pairs.minimal_pairs import MinimalPair, MinimalPairSpace
    from sentprobe.generator.pairs.translated_rows import Translator
    from sentprobe.generator.pairs.triplets import TripletSpace
    from sentprobe.lexicon import Lexicon


def _list_paradigms() -> list[str]:
    from sentprobe.generator.pairs.paradigms import ALL_PARADIGMS, load_paradigms

    return [*load_paradigms(), ALL_PARADIGMS]


@opt.expand_option_groups
def minimal(
    paradigm: Annotated[
        Repeatable,
        typer.Option(
            "--paradigm",
            "-p",
            help="Kind of error, from --list; repeatable. With all: every kind that the vocabulary has words for.",
            autocompletion=build_completer(_list_paradigms),
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of pairs of each paradigm.")] = 10,
    seed: Annotated[int, opt.build_seed_option("the sample")] = 0,
    show_list: Annotated[
        bool,
        typer.Option(
            "--list", help="List the paradigms, and how often word frequency or length alone picks the good sentence."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        opt.build_out_option(f"File to write instead of stdout; {opt.REPLACED} lm-eval: a new folder."),
        OUTPUT_FILE,
    ] = None,
    format_: Annotated[
        str | None, opt.build_format_option(("jsonl", "parquet", "lm-eval (a folder)"), "Default: by the suffix.")
    ] = None,
    vocabulary: Annotated[str | None, opt.build_option(describe_vocabulary("everyday"))] = None,
    lexicon: opt.LexiconOption = None,
    language: opt.LanguageOption = "en",
) -> None:
    """Write minimal pairs: a sentence, and the same with one error.

    The good sentence has exactly one parse, and the bad sentence has none. Exception: in the s-selection
    paradigms, the bad sentence has a parse, but has a person where only a thing is possible, or the reverse.

    The fields are those of BLiMP, and two more. The field 'critical' is the position, counted from 1, of the
    first token that differs; the field 'annotation' describes the good sentence.
    """
    from sentprobe.generator.pairs import minimal_pairs as files
    from sentprobe.generator.pairs.minimal_pairs import build_pair_spaces
    from sentprobe.generator.pairs.paradigms import ALL_PARADIGMS
    from sentprobe.generator.pairs.triplet_files import find_pair_format

    words = load_lexicon(lexicon, language)
    name = vocabulary or choose_vocabulary(words, "everyday")
    if show_list:
        if out is not None:
            raise UsageError("--list prints a table, and --out is for pairs; give one of them")
        _print_paradigms(build_pair_spaces(words, paradigm or [ALL_PARADIGMS], vocabulary=name), name)
        return
    if not paradigm:
        raise UsageError("name a paradigm with --paradigm, or all; --list shows them")
    pair_format = find_pair_format(files.PairFormat, format_, out)
    spaces = build_pair_spaces(words, paradigm, vocabulary=name)
    for space in spaces:
        space.check_count(n)
    if out is None:
        sys.stdout.writelines(files.format_pair_lines(files.sample_pairs(spaces, n, seed=seed)))
        sys.stdout.flush()
    else:
        files.write_pairs(spaces, n, out, pair_format, seed=seed)


LISTED_PAIRS = 200
"""Number of pairs per paradigm on which ``--list`` measures how often frequency or length finds the good one."""


def _measure_surface_models(pairs: "Sequence[MinimalPair]") -> tuple[float, float]:
    """Return how often, in percent, the good sentence has the more frequent words, and how often it is the shorter."""
    from sentprobe.probes.language_models import sentence_pairs as lm

    rows = [lm.SentencePair(pair.good, pair.bad, "", "", "") for pair in pairs]
    lengths = ([-len(text.split()) for text in texts] for texts in zip(*((p.good, p.bad) for p in pairs), strict=True))
    answers = (lm.answer_by_frequency(rows, lm.number_units(rows)), lm.compare_scores(*lengths))
    unigram, shorter = (100 * float(answer.mean()) for answer in answers)
    return unigram, shorter


def _print_paradigms(spaces: "Sequence[MinimalPairSpace]", vocabulary: str) -> None:
    from sentprobe.common.screen import print_table
    from sentprobe.common.tables import build_empty_table
    from sentprobe.generator.pairs.changes import describe_word_overlap

    table = build_empty_table(("paradigm, good and bad", "phenomenon", "pairs", "bad one", "frequency", "length"))
    table.title = (
        f"paradigms (vocabulary {vocabulary}); last columns: % of {LISTED_PAIRS} pairs whose good sentence has the "
        "more frequent words (counted in the good sentences of the other half), or is the shorter one"
    )
    for space in spaces:
        row = space.paradigm
        pairs = [*space.iterate_pairs(space.sample(min(LISTED_PAIRS, space.count()), seed=0))]
        names = (f"{row.uid}\n  {pairs[0].good}\n  {pairs[0].bad}", row.term, f"{space.count():,}")
        table.add_row(*names, describe_word_overlap(row.change), *(f"{x:.1f}" for x in _measure_surface_models(pairs)))
    print_table(table)


class PairUse(StrEnum):
    """Purpose of the triplets; it determines the columns of the output."""

    PROBING = "probing"
    TRAINING = "training"


HoldOutOption = Annotated[
    Repeatable,
    opt.declare_option(
        HELD_OUT,
        "--hold-out",
        metavar="SHARE|TEMPLATE",
        help="Leave out this share of nouns and verbs, or this structure; repeatable.",
    ),
]


@opt.expand_option_groups
def pairs(
    contrast: Annotated[
        list[str],
        typer.Option(
            "--contrast",
            "-c",
            help=f"Property in which a negative differs: {opt.CONTRASTS}; repeatable. Several get equal shares of the "
            "triplets, or those that role=2 and polarity=1 state.",
        ),
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
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
    from sentprobe.generator.pairs.inference_pairs import PAIRS_PER_GROUP, NliSpace
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
    shares = parse_shares(contrast)
    translator = make_translator(words, translate, shares, can_translate=has_columns and not nli and mood is None)
    build_space = partial(
        NliSpace if nli else partial(TripletSpace, mood=mood),
        translator.restrict(vocabulary) if translator else words,
        vocabulary=vocabulary,
        templates=source.template or ("all",),
        side=side,
    )
    spaces = [build_space(name) for name in shares]
    if count:
        print(sum(space.count() for space in spaces))
        return
    sizes = _divide_by_shares(n, [*shares.values()])
    for space, size in zip(spaces, sizes, strict=True):
        space.check_count(size)
    if out is not None:
        make_parent_folder(out)
    rows = chain.from_iterable(
        _build_rows(space, size, seed, style, is_training=is_training, translator=translator)
        for space, size in zip(spaces, sizes, strict=True)
    )
    with show_bars(show=not quiet and n >= PROGRESS_THRESHOLD) as reporter:
        reporter.begin("write the triplets", n * (PAIRS_PER_GROUP if nli else 1))
        reported_rows = _report_rows(rows, reporter)
        if out is None:
            sys.stdout.writelines(reported_rows)
            sys.stdout.flush()
        else:
            triplet_files.write_rows(out, reported_rows)


def parse_shares(texts: Iterable[str]) -> dict[str, int]:
    """Return the contrasts, each with its share, which is 1 unless stated. Raises UsageError.

    >>> parse_shares(["role=2", "polarity"])
    {'role': 2, 'polarity': 1}
    """
    from sentprobe.generator.pairs.contrasts import find_contrast

    shares: dict[str, int] = {}
    for text in texts:
        name, equals, share = text.partition("=")
        if find_contrast(name).name in shares:
            raise UsageError(f"the contrast {name!r} is given twice; give it once, with a larger --n or share")
        if equals and not re.fullmatch("[1-9][0-9]{0,8}", share):
            raise UsageError(f"--contrast {text}: a whole number from 1 is expected after =, as in {name}=2")
        shares[name] = int(share or 1)
    return shares


def _divide_by_shares(n: int, shares: Sequence[int]) -> list[int]:
    """Divide *n* by *shares*, rounded down; the first shares get what remains. Raises UsageError if one gets nothing.

    >>> _divide_by_shares(10, [1, 1, 1]), _divide_by_shares(9, [2, 1])
    ([4, 3, 3], [6, 3])
    """
    if len(shares) == 1:
        return [n]
    sizes = [n * share // sum(shares) for share in shares]
    for place in range(n - sum(sizes)):
        sizes[place] += 1
    if 0 in sizes and n > 0:
        raise UsageError(f"--n {n} is too few: each of the {len(shares)} contrasts needs at least one")
    return sizes


def _report_rows(rows: Iterable[Any], reporter: "Reporter") -> Iterator[Any]:
    for row in rows:
        reporter.advance(1 if isinstance(row, str) else row.num_rows)
        yield row


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
    from sentprobe.generator.pairs import inference_pairs, translated_rows, triplet_files
    from sentprobe.generator.pairs.inference_pairs import NliSpace

    if isinstance(space, NliSpace):
        return inference_pairs.build_rows(space.iterate_pairs(n, seed=seed), style)
    if translator is not None and not is_training:
        return translated_rows.format_translated_lines(space, n, seed, translator)
    triplets = space.sample(n, seed=seed)
    if translator is not None:
        return inference_pairs.build_rows(translated_rows.iterate_translated_columns(triplets, translator), style)
    if is_training:
        return inference_pairs.build_rows(inference_pairs.iterate_training_columns(triplets), style)
    return triplet_files.build_rows(triplets, style)


def make_translator(
    words: "Lexicon", language: str | None, contrasts: Iterable[str], *, can_translate: bool
) -> "Translator | None":
    """Return a translator from English into *language*, or None if *language* is None. Raises UsageError."""
    from sentprobe.generator.pairs.contrasts import find_contrast
    from sentprobe.generator.pairs.translated_rows import UNTRANSLATED, Translator

    if language is None:
        return None
    if not can_translate:
        raise UsageError("--translate writes JSONL of triplets of statements, or their columns --for training")
    target = load_lexicon(None, language)
    if words.language is not ENGLISH or target.language is ENGLISH:
        raise UsageError("--translate translates from English into another language, such as de")
    for contrast in contrasts:
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


class QueryKind(StrEnum):
    """Kinds of retrieval queries."""

    PARAPHRASE = "paraphrase"
    EXCLUSION = "exclusion"


@opt.expand_option_groups
def retrieval(
    out: Annotated[Path, opt.build_out_option("New or empty folder for the files."), OUTPUT_FOLDER],
    contrast: Annotated[
        Repeatable,
        typer.Option(
            "--contrast",
            "-c",
            help=f"{opt.CONTRASTS.replace(' numeral,', '')}; repeatable. Required with --kind paraphrase.",
        ),
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
    from sentprobe.generator.pairs.retrieval_files import ExclusionSpace, sample_distinct_meanings, write_retrieval
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
