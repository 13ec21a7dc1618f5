"""The space of sentences that the options of ``gen`` describe, and a sample of it on its way."""

import sys
from collections.abc import Sequence
from pathlib import Path

from sentprobe.commands.gen_options import ContentOptions, FeatureOptions, WordOptions
from sentprobe.errors import UsageError, suggest, told
from sentprobe.files import make_folder_of
from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import Event, Negator, Number
from sentprobe.generator.generate import read_known
from sentprobe.generator.records import PARQUET, format_of
from sentprobe.generator.sentence_files import write_file, write_sentences
from sentprobe.generator.space import Space
from sentprobe.grammars.shapes import MAX_ADVERBS
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import default_vocabulary
from sentprobe.progress import bars

MANY = 50_000
"""From so many sentences on, a progress bar is worth its while."""


def make_space(
    lexicon: Lexicon,
    *,
    vocabulary: str | None = None,
    templates: Sequence[str] = (),
    content: ContentOptions | None = None,
    features: FeatureOptions | None = None,
    words: WordOptions | None = None,
) -> Space:
    """Return the space that the options describe; no templates means all, or those of a config.

    Raises:
        UsageError: something in them is unknown or contradictory.
    """
    constraints, usual = _constraints(content or ContentOptions(), lexicon)
    return Space(
        lexicon,
        vocabulary=vocabulary or default_vocabulary(lexicon),
        templates=tuple(templates) or usual,
        choices=_choices(features or FeatureOptions(), words or WordOptions()),
        constraints=constraints,
    )


def _choices(features: FeatureOptions, words: WordOptions) -> Choices:
    return Choices(
        main=Event(
            tense=features.tense,
            voice=features.voice,
            aspect=features.aspect,
            polarity=features.polarity,
        ),
        clause=Event(
            tense=features.rc_tense,
            voice=features.rc_voice,
            aspect=features.rc_aspect,
            polarity=features.rc_polarity,
        ),
        numbers=tuple(Number) if features.number is None else (features.number,),
        determiners=tuple(words.determiner or ("the",)),
        relativizers=tuple(words.relativizer or ("that",)),
        negators=tuple(_negator(name) for name in words.negator or ("not",)),
        adverbs=read_range(words.adverbs),
        allow=frozenset(words.allow or ()),
    )


def _constraints(content: ContentOptions, lexicon: Lexicon) -> tuple[Constraints, tuple[str, ...]]:
    """Return the constraints, and the templates to use where none are named."""
    base = Constraints()
    templates: tuple[str, ...] = ("all",)
    if content.config is not None:
        from sentprobe.generator.config import read_config  # noqa: PLC0415

        config = read_config(content.config, lexicon)
        for warning in config.warnings:
            print(told(f"gen: warning: {warning}"), file=sys.stderr)
        base, templates = config.constraints, config.templates or templates
    required = tuple(read_known(text, lexicon) for text in content.require or ())
    required_any = tuple(read_known(text, lexicon) for text in content.require_any or ())
    forbidden = tuple(read_known(text, lexicon) for text in content.forbid or ())
    return Constraints(
        required=base.required + required,
        required_any=required_any,
        forbidden=base.forbidden + forbidden,
        required_words=(*base.required_words, *(content.require_word or ())),
        forbidden_words=(*base.forbidden_words, *(content.forbid_word or ())),
    ), templates


def _negator(name: str) -> Negator:
    known = [negator.value for negator in Negator]
    if name not in known:
        raise UsageError(
            f"there is no negator {name!r}{suggest(name, known)}; there are {', '.join(known)}"
        )
    return Negator(name)


def read_range(text: str) -> tuple[int, ...]:
    """Return the numbers of a range.

    >>> read_range("2"), read_range("0-2")
    ((2,), (0, 1, 2))
    """
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or len(text) > 40:
        raise UsageError(f"expected a number of adverbs, or a range such as 0-2, not {text!r}")
    least, most = int(first), int(last if dash else first)
    few = min(most, max(least, MAX_ADVERBS + 1))  # one that is too many is enough to be told of
    found = tuple(range(least, few + 1))
    if not found:
        raise UsageError(f"the range {text!r} is empty; write the smaller number first")
    return found


def record_format(out: Path | None, name: str | None, *, otherwise: str) -> str:
    """Return the format of what is written to *out*, or of a file with the suffix *otherwise*.

    Raises:
        UsageError: there is no such format, or it is not one for standard output.
    """
    found = format_of(out.suffix if out else otherwise, name)
    if out is None and found == PARQUET:
        raise UsageError("Parquet cannot be written to standard output; name a file with --out")
    return found


def excluded(paths: Sequence[Path], space: Space) -> list[int]:
    """Return where the sentences of files are in the space.

    Raises:
        UsageError: a file cannot be read.
        FormatError: what is in it is not right.
    """
    if not paths:
        return []
    from sentprobe.generator.exclusion import indices_of  # noqa: PLC0415 - slow import

    return indices_of(paths, space)


def write_sample(
    space: Space,
    n: int,
    out: Path | None,
    name: str,
    *,
    seed: int,
    without: Sequence[int],
    quiet: bool,
    jobs: int | None,
) -> None:
    """Draw *n* sentences and write them to a file, whose folder is made, or standard output.

    They are made by so many processes; None is as many as are worth it.

    Of many, a bar or lines on stderr say how many are written, unless *quiet*.
    """
    with bars(show=not quiet and n >= MANY) as reporter:
        indices = space.sample(n, seed=seed, without=without)
        if out is not None:
            make_folder_of(out)
            write_file(space, indices, out, name, reporter, jobs=jobs)
        else:
            write_sentences(space, indices, sys.stdout, name, reporter, jobs=jobs)
            sys.stdout.flush()
