"""Stored parses of the examples in the tables of edits, and of traps: texts that look like ones with an edit.

``python tests/helpers/edit_parses.py MODEL`` parses the English texts again.

The parses are those of a spaCy pipeline trained on EWT; those of German examples are written by hand.
"""

import sys
import tomllib
from functools import cache

from helpers.shared import DATA

from sentprobe.common.files import write_atomically
from sentprobe.generator.edits.edit_table import load_table
from sentprobe.generator.edits.edit_text import EditableText
from sentprobe.probes.corpus.user_texts import parse_user_texts, read_user_texts

FOLDER = DATA / "edits"

TRAPS: dict[str, list[list[str]]] = tomllib.loads((FOLDER / "traps.toml").read_text("utf-8"))


@cache
def read_parses(language: str) -> dict[str, EditableText]:
    """Return the stored parses of a language's examples, by text."""
    texts = read_user_texts(str(FOLDER / f"{language}.conllu"))
    parses = parse_user_texts(texts, None, language=language)
    return {parse.text: parse for parse in parses if isinstance(parse, EditableText)}


def write_parses(model: str) -> None:
    """Parse the English examples with a spaCy pipeline, and store the parses."""
    from sentprobe.probes.corpus.parsers import load_parser
    from sentprobe.probes.corpus.trees import ParsedSentence

    parser = load_parser(f"spacy:{model}")
    rules = [rule for rule in load_table("en").rules if rule.needs_parse]
    examples = [text for rule in rules for text in (rule.example[0], rule.refused[0], rule.other) if text]
    texts = [*dict.fromkeys([*examples, *(row[0] for rows in TRAPS.values() for row in rows)])]
    blocks = []
    for text, parse in zip(texts, parser.parse([parser.tokenize(text) for text in texts]), strict=True):
        assert isinstance(parse, ParsedSentence)
        columns = zip(parse.tokens, parse.tags, parse.heads, parse.relations, strict=True)
        lines = [
            "\t".join((str(number), form, "_", "_", tag, "_", str(head), relation.lower(), "_", "_"))
            for number, (form, tag, head, relation) in enumerate(columns, 1)
        ]
        blocks.append("\n".join((f"# text = {text}", *lines)))
    write_atomically(FOLDER / "en.conllu", "\n\n".join(blocks) + "\n")


if __name__ == "__main__":
    write_parses(sys.argv[1])
