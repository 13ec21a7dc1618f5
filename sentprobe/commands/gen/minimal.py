"""The command ``gen minimal``: minimal pairs for language models."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.completion import build_completer
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.errors import UsageError
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon

if TYPE_CHECKING:
    from sentprobe.generator.minimal.minimal_pairs import MinimalPair, MinimalPairSpace


def _list_paradigms() -> list[str]:
    from sentprobe.generator.minimal.paradigms import ALL_PARADIGMS, load_paradigms

    return [*load_paradigms(), ALL_PARADIGMS]


@opt.expand_option_groups
def minimal(
    paradigm: Annotated[
        opt.Repeatable,
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
    vocabulary: Annotated[str | None, opt.build_vocabulary_option("everyday")] = None,
    lexicon: opt.LexiconOption = None,
    language: opt.LanguageOption = "en",
) -> None:
    """Write minimal pairs: a sentence, and the same with one error.

    The good sentence has exactly one parse, and the bad sentence has none. Exception: in the s-selection
    paradigms, the bad sentence has a parse, but has a person where only a thing is possible, or the reverse.

    The fields are those of BLiMP, and two more. The field 'critical' is the position, counted from 1, of the
    first token that differs; the field 'annotation' describes the good sentence.
    """
    from sentprobe.generator.minimal import minimal_files as files
    from sentprobe.generator.minimal.minimal_pairs import build_pair_spaces
    from sentprobe.generator.minimal.paradigms import ALL_PARADIGMS
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
    from sentprobe.display.screen import print_table
    from sentprobe.display.table_writers import build_empty_table
    from sentprobe.generator.minimal.changes import describe_word_overlap

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
