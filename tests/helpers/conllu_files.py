"""Sentences of CoNLL-U files."""

import io
from collections.abc import Iterable, Iterator, Sequence

from sentprobe.probes.corpus.sources import FORMATS, RecordFields
from sentprobe.probes.corpus.table_rows import Row, build_row
from sentprobe.probes.corpus.tree_files import FilePiece
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence


def read_conllu(lines: Iterable[str]) -> Iterator[ParsedSentence | Mistake]:
    """Yield the sentences of *lines* in order, and a mistake for each faulty one."""
    conllu = FORMATS["conllu"]
    for block in conllu.split(lines):
        assert isinstance(block, FilePiece)
        for sentence in conllu.read(block, RecordFields()):
            assert isinstance(sentence, ParsedSentence | Mistake)
            yield sentence


def read_one(text: str) -> ParsedSentence | Mistake:
    """Return the only sentence of a text."""
    (sentence,) = read_conllu(io.StringIO(text))
    return sentence


def make_line(number: object, form: str, tag: str, head: object = "_", relation: str = "_", *, lemma: str = "_") -> str:
    """Return the line of a word, whose tag is written UPOS|FEATURES."""
    upos, _, features = tag.partition("|")
    return "\t".join((str(number), form, lemma, upos, "_", features or "_", str(head), relation, "_", "_"))


def make_row(words: str, *, ranges: Sequence[tuple[int, int, str]] = (), language: str = "") -> Row:
    """Return the row of words written form/lemma/TAG/head/relation."""
    lines = []
    for number, word in enumerate(words.split(), 1):
        lines += [make_line(f"{a}-{b}", form, "_") for a, b, form in ranges if a == number]
        form, lemma, tag, head, relation = word.split("/")
        lines.append(make_line(number, form, tag, head, relation, lemma=lemma))
    sentence = read_one("\n".join(lines) + "\n")
    assert isinstance(sentence, ParsedSentence), sentence
    return build_row(sentence, language=language)
