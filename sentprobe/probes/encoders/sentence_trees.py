"""Dependency trees of sentences, for encoders that read them: of a CoNLL-U file, or by the grammar of our sentences.

The words of a sentence are separated by spaces. A sentence of one word needs no look-up.
"""

import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, groupby, starmap
from pathlib import Path
from typing import TypeAlias

from sentprobe.common.conllu import ConlluError, ConlluSentence, parse_conllu
from sentprobe.common.errors import SentprobeError, UsageError, first_line, format_count, get_own_version, path_error
from sentprobe.common.specs import LANGUAGES
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.grammars import read_grammar_source
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.encoders.encoder import EncoderError, digest
from sentprobe.probes.encoders.vector_formats import read_lines

Heads: TypeAlias = tuple[int, ...]
"""The number of each word's head in a tree, from 1, and 0 for its only root."""


@dataclass(frozen=True, slots=True)
class SentenceTrees:
    """A map from sentence to tree."""

    source: str
    fingerprint: str
    find: Callable[[str], Heads | None] = field(repr=False)
    """Returns the tree of a sentence with single spaces; None if it has none."""
    hint: str
    """What to do about a sentence without a tree."""
    notes: tuple[str, ...] = ()
    """Notes for the user."""

    def find_heads(self, sentences: Sequence[str], *, lower: bool = False) -> list[Heads]:
        """Return the tree of each sentence. Raises EncoderError if a sentence has none.

        - lower: whether a sentence without a tree may have that of the sentence in lower case
        """
        texts = [" ".join(sentence.split()) for sentence in sentences]
        trees = [self.find(text) if " " in text else (0,) for text in texts]
        if lower:
            trees = [
                self.find(text.lower()) if heads is None else heads for text, heads in zip(texts, trees, strict=True)
            ]
        if missing := [text for text, heads in zip(texts, trees, strict=True) if heads is None]:
            raise EncoderError(
                f"{self.source} has no tree for the sentence {missing[0]!r} "
                f"({len(missing)} of {len(texts)} requested sentences are missing); {self.hint}"
            )
        return [heads for heads in trees if heads is not None]


def load_trees(*, trees: str = "", lexicon: str = "", language: str = ENGLISH.code) -> SentenceTrees:
    """Return the trees in a file or, without one, those of the grammar. Raises UsageError or SentprobeError.

    - trees, lexicon: paths of a CoNLL-U file and of a lexicon; empty: no file, and the built-in lexicon
    - language: of the grammar
    """
    if trees:
        if lexicon or language != ENGLISH.code:
            raise UsageError(f"{'lexicon' if lexicon else 'language'}= is for the grammar, not for trees={trees}")
        return read_trees(Path(trees).expanduser())
    path = Path(lexicon).expanduser() if lexicon else None
    words = load_lexicon(path, language)
    parts = (read_grammar_source(words.language), get_own_version(), path.read_bytes() if path else "")
    others = " or ".join(f"language={code}" for code in LANGUAGES if code != language)
    hint = (
        f"name {others} or lexicon=FILE if they are of another grammar, or else a CoNLL-U file of trees: trees=FILE, "
        "or --trees FILE in probe train"
    )
    capitalized = {form.lower(): form for form in words.list_forms() if form != form.lower()}
    find = partial(_find_parse, words, capitalized)
    return SentenceTrees(f"the grammar ({language})", digest("grammar", *parts), find, hint)


def _find_parse(lexicon: Lexicon, capitalized: Mapping[str, str], text: str) -> Heads | None:
    for spelling in dict.fromkeys((text, *_restore_capitals(lexicon, capitalized, text))):
        try:
            return tuple(token.head for token in annotate_text(spelling, lexicon).tokens)
        except SentprobeError:
            continue
    return None


def _restore_capitals(lexicon: Lexicon, capitalized: Mapping[str, str], text: str) -> Iterator[str]:
    """Yield a text with capitalized names, and with capitalized titles, which are other words, too, before them."""
    words = [word if lexicon.find(word) else capitalized.get(word, word) for word in text.split(" ")]
    yield " ".join(words)
    pairs = zip(words, [*words[1:], ""], strict=True)
    yield " ".join(capitalized.get(word, word) if name != name.lower() else word for word, name in pairs)


def read_trees(path: Path) -> SentenceTrees:
    """Read the trees of a CoNLL-U file, which may end in ``.gz`` or ``.xz``. Raises UsageError or EncoderError.

    A sentence in lower case is found, too. A multiword token may stand in the sentence as one word, whose head is that
    of the highest of its words.
    """
    trees: dict[str, Heads] = {}
    lowered: dict[str, Heads] = {}
    ambiguous: set[str] = set()
    try:
        for sentence in _read_sentences(path):
            for words, heads in starmap(_split_at_spaces, ((sentence.forms, sentence.heads), _merge_words(sentence))):
                text = " ".join(words)
                lowered.setdefault(text.lower(), heads)
                if trees.setdefault(text, heads) != heads:
                    ambiguous.add(text)
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=EncoderError) from None
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise EncoderError(f"{path}: cannot read it: {first_line(error)}") from None
    if not trees:
        raise EncoderError(f"{path}: there is no sentence in it")
    verb = "has" if len(ambiguous) == 1 else "have"
    note = f"{path}: {format_count(len(ambiguous), 'sentence')} {verb} several trees; the first of each is read"
    hint = "probe sentences writes those of a run, for a parser"
    fingerprint = digest("conllu", *trees.items())
    return SentenceTrees(str(path), fingerprint, (lowered | trees).get, hint, (note,) if ambiguous else ())


def _read_sentences(path: Path) -> Iterator[ConlluSentence]:
    lines = ((number, text) for number, text in read_lines(path) if text.strip())
    # Blank lines are left out of the lines, but counted in their numbers.
    for _, group in groupby(enumerate(lines), key=lambda entry: entry[1][0] - entry[0]):
        numbers, block = zip(*(line for _, line in group), strict=True)
        try:
            sentence = parse_conllu(block)
            _check_tree(sentence.heads, block)
        except ConlluError as error:
            raise EncoderError(f"{path}, line {numbers[error.offset]}: {error}") from None
        yield sentence


def _check_tree(heads: Heads, block: Sequence[str]) -> None:
    """Raise ConlluError unless the heads of a block form a tree with one root."""
    offsets = [offset for offset, line in enumerate(block) if line.partition("\t")[0].isdigit()]
    for word, head in enumerate(heads):
        if head > len(heads):
            words = format_count(len(heads), "word")
            raise ConlluError(f"the head of word {word + 1} is {head}, but there are {words}", offsets[word])
    roots = [word for word, head in enumerate(heads) if head == 0]
    if len(roots) != 1:
        offset = offsets[roots[1]] if roots else offsets[0]
        raise ConlluError(f"{format_count(len(roots), 'word')} with the head 0; exactly one is expected", offset)
    for word, depth in enumerate(_compute_depths(heads)):
        if depth == 0:
            raise ConlluError(f"the heads above word {word + 1} form a circle", offsets[word])


def _compute_depths(heads: Heads) -> list[int]:
    """Return the depth of each word: 1 for a root, and 0 for a word that is not below a root."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for number, head in enumerate(heads, 1):
        dependents[head].append(number)
    depths, level = [0] * (len(heads) + 1), [0]
    while level := [number for head in level for number in dependents[head] if not depths[number]]:
        for number in level:
            depths[number] = depths[heads[number - 1]] + 1
    return depths[1:]


def _split_at_spaces(words: Sequence[str], heads: Heads) -> tuple[list[str], Heads]:
    """Return the parts of words, which spaces separate in a sentence, and their heads: the first has the others."""
    parts = [word.split() or ["_"] for word in words]
    firsts = [*accumulate(map(len, parts), initial=1)][:-1]  # the number of each word's first part
    first_heads = [firsts[head - 1] if head else 0 for head in heads]
    split_heads = ((head, *[first] * (len(p) - 1)) for head, first, p in zip(first_heads, firsts, parts, strict=True))
    return [*chain.from_iterable(parts)], (*chain.from_iterable(split_heads),)


def _merge_words(sentence: ConlluSentence) -> tuple[tuple[str, ...], Heads]:
    """Return the tokens, with multiword tokens as one, and their heads."""
    words, heads = list(sentence.forms), list(sentence.heads)
    nodes, depths = list(range(len(words))), _compute_depths(sentence.heads)
    for start, end, form in sentence.ranges:
        # The heads above the highest word are outside of the range, so that they cannot form a circle.
        highest = min(range(start, end), key=depths.__getitem__)
        nodes[start:end] = [start] * (end - start)
        words[start], heads[start] = form, sentence.heads[highest]
    kept = sorted(set(nodes))
    numbers = {node: number for number, node in enumerate(kept, 1)}
    merged = tuple(numbers[nodes[heads[node] - 1]] if heads[node] else 0 for node in kept)
    return tuple(words[node] for node in kept), merged
