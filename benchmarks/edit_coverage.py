"""Share of a treebank's sentences of 3 to 25 words with an edit of a default kind, and the speed of the rules.

python benchmarks/edit_coverage.py en_ewt-ud-test.conllu.xz [spacy:PIPELINE]
"""

import sys
import time
from collections import Counter

from sentprobe.generator.edits.edit_engine import edit_text
from sentprobe.generator.edits.edit_table import load_table
from sentprobe.generator.edits.edit_text import EditableText
from sentprobe.probes.corpus.user_texts import UserText, parse_user_texts, read_user_texts

NO_WORDS = ("PUNCT", "SYM")


def count_words(text: UserText) -> int:
    """Return the number of words of a sentence in CoNLL-U, without punctuation."""
    tags = text.parse.universal.tags if text.parse and text.parse.universal else ()
    return sum(not tag.startswith(NO_WORDS) for tag in tags)


def main(treebank: str, parser: str | None = None) -> None:
    """Print the share, the number of edits of each kind, and texts per CPU second without reading and parsing."""
    table = load_table("en")
    rules = table.choose_rules()
    texts = [text for text in read_user_texts(treebank) if 3 <= count_words(text) <= 25]
    parses = [
        *parse_user_texts([text._replace(parse=None) if parser else text for text in texts], parser, language="en")
    ]
    kinds: Counter[str] = Counter()
    edited = 0
    start = time.process_time()
    for parse in parses:
        if isinstance(parse, EditableText):
            edits, _ = edit_text(parse, rules, table)
            edited += bool(edits)
            kinds.update(edit.kind for edit in edits)
    seconds = time.process_time() - start
    share, speed = 100 * edited / len(texts), len(texts) / seconds
    print(f"{edited:,} of {len(texts):,} texts, {share:.1f}%; {speed:,.0f} a CPU second")
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main(*sys.argv[1:])
