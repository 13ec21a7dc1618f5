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
    from sentprobe.generator.minimal.minimal_pairs import MinimalPairSpace


def _list_paradigms() -> list[str]:
    from sentprobe.generator.minimal.paradigms import ALL_PARADIGMS, load_paradigms

    return [*load_paradigms(), ALL_PARADIGMS]


def minimal(
    paradigm: Annotated[
        list[str] | None,
        typer.Option(
            "--paradigm",
            "-p",
            help="Error of the bad sentences, from --list; repeatable. all: all that the vocabulary has words for.",
            autocompletion=build_completer(_list_paradigms),
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of pairs of each paradigm.")] = 10,
    seed: Annotated[int, opt.build_seed_option("the sample")] = 0,
    show_list: Annotated[
        bool,
        typer.Option("--list", help="List the paradigms: example, number of pairs, and how the bad sentence differs."),
    ] = False,
    out: Annotated[
        Path | None, opt.build_out_option("Write to this file or folder instead of stdout."), OUTPUT_FILE
    ] = None,
    format_: Annotated[
        str | None, opt.build_format_option(("jsonl", "parquet", "lm-eval (a folder)"), "Default: by the suffix.")
    ] = None,
    vocabulary: Annotated[str | None, opt.build_vocabulary_option("everyday")] = None,
    lexicon: opt.LexiconOption = None,
    language: opt.LanguageOption = "en",
) -> None:
    """Write minimal pairs: a good sentence, and the same with an error.

    The good sentence has exactly one parse. The bad one has none; in paradigms of semantics it parses, but has a noun
    of the wrong sort. The fields are those of BLiMP; critical is the first token that differs, counted from 1;
    annotation is that of the good sentence.
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


def _print_paradigms(spaces: "Sequence[MinimalPairSpace]", vocabulary: str) -> None:
    from sentprobe.display.screen import print_table
    from sentprobe.display.table_writers import build_empty_table
    from sentprobe.generator.minimal.changes import describe_word_overlap

    table = build_empty_table(("paradigm, good and bad", "phenomenon", "pairs", "bad has"))
    table.title = f"paradigms (vocabulary {vocabulary}); same words: a model of single words scores exactly 50.0"
    for space in spaces:
        row = space.paradigm
        pair = next(space.iterate_pairs(space.sample(1, seed=0)))
        table.add_row(
            f"{row.uid}\n  {pair.good}\n  {pair.bad}", row.term, f"{space.count():,}", describe_word_overlap(row.change)
        )
    print_table(table)
