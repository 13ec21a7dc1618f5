"""The command ``gen minimal``: minimal pairs for language models."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.completion import build_completer
from sentprobe.commands.shared.output_paths import OUTPUT_FILE
from sentprobe.errors import UsageError
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon

if TYPE_CHECKING:
    from sentprobe.generator.minimal.minimal_pairs import MinimalPairSpace

ALL = "all"


def _list_paradigms() -> list[str]:
    from sentprobe.generator.minimal.paradigms import load_paradigms

    return [*load_paradigms(), ALL]


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
        typer.Option("--list", help="List the paradigms: example, number of pairs, and what both sentences share."),
    ] = False,
    out: Annotated[
        Path | None, opt.build_out_option("Write to this file or folder instead of stdout."), OUTPUT_FILE
    ] = None,
    format_: Annotated[
        str | None, opt.build_format_option(("jsonl", "parquet", "lm-eval (a folder)"), "Default: by the suffix.")
    ] = None,
    vocabulary: opt.VocabularyOption = None,
    lexicon: opt.LexiconOption = None,
) -> None:
    """Write minimal pairs: a good sentence, and the same with an error.

    The good sentence has exactly one parse, the bad one none. (Paradigms of the field semantics: a noun of a wrong
    sort.) The fields are those of BLiMP; critical is the first token that differs, counted from 1; annotation is that
    of the good sentence.
    """
    from sentprobe.generator.minimal import minimal_files as files
    from sentprobe.generator.minimal.minimal_pairs import MinimalPairSpace

    words = load_lexicon(lexicon)
    name = vocabulary or choose_vocabulary(words, "everyday")
    if show_list:
        _print_paradigms(words, name)
        return
    if not paradigm:
        raise UsageError("name a paradigm with --paradigm, or all; --list shows them")
    pair_format = files.find_pair_format(format_, out)
    if ALL in paradigm:
        spaces = find_spaces(words, name)
    else:
        spaces = [MinimalPairSpace(words, uid, vocabulary=name) for uid in dict.fromkeys(paradigm)]
    for space in spaces:
        space.check_count(n)
    if out is None:
        sys.stdout.writelines(files.format_pair_lines(files.sample_pairs(spaces, n, seed=seed)))
        sys.stdout.flush()
    else:
        files.write_pairs(spaces, n, out, pair_format, seed=seed)


def find_spaces(lexicon: Lexicon, vocabulary: str) -> "list[MinimalPairSpace]":
    """Return the pairs of each paradigm that the vocabulary has words for."""
    from sentprobe.generator.minimal.minimal_pairs import MinimalPairSpace
    from sentprobe.generator.minimal.paradigms import load_paradigms

    lexicon.vocabulary(vocabulary)
    spaces = []
    for uid in load_paradigms():
        try:
            spaces.append(MinimalPairSpace(lexicon, uid, vocabulary=vocabulary))
        except UsageError:
            continue
    return spaces


def _print_paradigms(lexicon: Lexicon, vocabulary: str) -> None:
    from sentprobe.display.screen import print_table
    from sentprobe.display.table_writers import build_empty_table
    from sentprobe.generator.minimal.changes import find_effect

    table = build_empty_table(("paradigm, good and bad", "phenomenon", "pairs", "bad has"))
    table.title = f"paradigms (vocabulary {vocabulary}); same words: a model of single words scores exactly 50.0"
    for space in find_spaces(lexicon, vocabulary):
        row = space.paradigm
        pair = next(space.iterate_pairs(space.sample(1, seed=0)))
        table.add_row(
            f"{row.uid}\n  {pair.good}\n  {pair.bad}", row.term, f"{space.count():,}", find_effect(row.change)
        )
    print_table(table)
