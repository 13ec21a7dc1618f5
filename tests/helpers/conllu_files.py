"""Sentences of CoNLL-U files."""

from collections.abc import Iterable, Iterator

from sentprobe.probes.corpus.text_formats import FORMATS, RecordFields
from sentprobe.probes.syntax.tree_files import FilePiece
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence


def read_conllu(lines: Iterable[str]) -> Iterator[ParsedSentence | Mistake]:
    """Yield the sentences of *lines* in order, and a mistake for each faulty one."""
    conllu = FORMATS["conllu"]
    for block in conllu.split(lines):
        assert isinstance(block, FilePiece)
        for sentence in conllu.read(block, RecordFields()):
            assert isinstance(sentence, ParsedSentence | Mistake)
            yield sentence
