"""Make a lexicon from the XTAG database; or write `inflections.tsv` anew.

    python -m sentprobe.lexicon xtag FILE --noun dog cat --transitive help --out my.toml
    python -m sentprobe.lexicon

The second is for after a change of english.toml or of lemminflect.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.files import write_atomically
from sentprobe.lexicon.inflect import KEPT, kept_text
from sentprobe.lexicon.read import english
from sentprobe.lexicon.words import OPEN_KINDS, VERBS, Kind
from sentprobe.lexicon.xtag import lexicon_from_lemmas, read_xtag

NAME = "sentprobe.lexicon"


def main() -> None:
    """Do what the command line says; a mistake ends in one sentence and its exit code."""
    arguments = make_parser().parse_args()
    try:
        if arguments.command == "xtag":
            make_lexicon(arguments)
        else:
            write_inflections()
    except SentprobeError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with an option for each kind of open class."""
    parser = argparse.ArgumentParser(
        prog=NAME, description="Without a command: write the kept inflections anew."
    )
    what = "make a lexicon of lemmas, with their forms from the XTAG database"
    xtag = parser.add_subparsers(dest="command").add_parser(
        "xtag", help=what, description=what, fromfile_prefix_chars="@"
    )
    xtag.add_argument("database", type=Path, metavar="FILE", help="the flat format, gzip or not")
    for kind in OPEN_KINDS:
        text = "lemmas; @LIST is a file with one on each line"
        xtag.add_argument(f"--{kind}", nargs="+", action="extend", metavar="LEMMA", help=text)
    xtag.add_argument("--out", type=Path, required=True, help="the lexicon to write, in TOML")
    return parser


def make_lexicon(arguments: argparse.Namespace) -> None:
    """Write the lexicon that was asked for, and name on stderr the lemmas that it cannot have.

    Raises:
        UsageError: no noun or no verb is named that the database has in all forms; words clash.
        SentprobeError: the database cannot be read, the lexicon cannot be written.
    """
    lemmas = {kind: tuple(dict.fromkeys(getattr(arguments, kind) or ())) for kind in OPEN_KINDS}
    made = lexicon_from_lemmas(read_xtag(arguments.database), lemmas)
    for lemma in made.left_out:
        print(f"{NAME}: {lemma}", file=sys.stderr)
    lost = Counter(lemma.kind for lemma in made.left_out)
    kept = {kind for kind in OPEN_KINDS if len(lemmas[kind]) > lost[kind]}
    if not (Kind.NOUN in kept and kept & VERBS):
        asked = "a noun (--noun) and a verb (--transitive, --intransitive)"
        raise UsageError(f"{arguments.database}: a lexicon needs {asked} with all forms there")
    made.read(f"{arguments.out} (not written)")
    write_atomically(arguments.out, made.text)


def write_inflections() -> None:
    """Write lemminflect's answers for the built-in words beside this file."""
    target = Path(__file__).with_name(KEPT)
    target.write_text(kept_text(english().entries), encoding="utf-8")


if __name__ == "__main__":
    main()
