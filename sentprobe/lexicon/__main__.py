"""Make a lexicon file from the XTAG database, or rewrite ``inflections.tsv``.

    python -m sentprobe.lexicon xtag FILE --noun dog cat --transitive help --out my.toml
    python -m sentprobe.lexicon

Run the second command after a change of english.toml or lemminflect: ``inflections.tsv`` stores the inflected forms of
the built-in words, as lemminflect spells them.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.files import write_atomically
from sentprobe.lexicon.read import english, read_lexicon_text
from sentprobe.lexicon.words import KEPT_FORMS, OPEN_KINDS, VERBS, Kind, format_kept_forms
from sentprobe.lexicon.xtag import lexicon_from_lemmas, read_xtag

NAME = "sentprobe.lexicon"


def main() -> None:
    """Run the command line; an error is printed as one sentence, and sets the exit code."""
    arguments = make_parser().parse_args()
    try:
        if arguments.command == "xtag":
            make_lexicon(arguments)
        else:
            target = Path(__file__).with_name(KEPT_FORMS)
            target.write_text(format_kept_forms(english().entries), encoding="utf-8")
    except SentprobeError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None


def make_parser() -> argparse.ArgumentParser:
    """Return the command-line parser; each kind of word in a vocabulary has an option, such as ``--noun``."""
    parser = argparse.ArgumentParser(prog=NAME, description="Without a command: rewrite inflections.tsv.")
    what = "make a lexicon of lemmas, with their forms from the XTAG database"
    xtag = parser.add_subparsers(dest="command").add_parser(
        "xtag", help=what, description=what, fromfile_prefix_chars="@"
    )
    xtag.add_argument("database", type=Path, metavar="FILE", help="the flat format, plain or gzip")
    for kind in OPEN_KINDS:
        text = "lemmas; @LIST reads them from a file, one per line"
        xtag.add_argument(f"--{kind}", nargs="+", action="extend", metavar="LEMMA", help=text)
    xtag.add_argument("--out", type=Path, required=True, help="the lexicon to write, in TOML")
    return parser


def make_lexicon(arguments: argparse.Namespace) -> None:
    """Write the lexicon file ``--out``; print to stderr the lemmas that lack a form in XTAG. Raises SentprobeError."""
    lemmas = {kind: tuple(dict.fromkeys(getattr(arguments, kind) or ())) for kind in OPEN_KINDS}
    lexicon_text, omitted = lexicon_from_lemmas(read_xtag(arguments.database), lemmas)
    for lemma in omitted:
        print(f"{NAME}: {lemma}", file=sys.stderr)
    omitted_counts = Counter(lemma.kind for lemma in omitted)
    kept_kinds = {kind for kind in OPEN_KINDS if len(lemmas[kind]) > omitted_counts[kind]}
    if not (Kind.NOUN in kept_kinds and kept_kinds & VERBS):
        needed = "a noun (--noun) and a verb (--transitive, --intransitive)"
        raise UsageError(f"{arguments.database}: a lexicon needs {needed} with all forms there")
    read_lexicon_text(lexicon_text, f"{arguments.out} (not written)")  # raises LexiconError if two words share a form
    write_atomically(arguments.out, lexicon_text)


if __name__ == "__main__":
    main()
