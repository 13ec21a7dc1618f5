"""The codes of what a decoder says: byte-pair encoding, learned from the training texts.

Words are what stands between spaces, for the decoder as for the encoder, and no code reaches over
two of them (Sennrich et al. 2016, section 3.2). Below the words are bytes, so every text has codes,
and codes give the text back exactly.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.pretraining.token_rows import TokenRows, collect_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PADDING, START, END = 0, 1, 2
"""Codes that no text has."""

SPECIAL = 3
FEWEST = SPECIAL + 256
"""Codes that there are before any is learned: the special ones, and one for each byte."""

TEXTS = 200_000
"""So many texts at most are learned from, evenly spread: more of them change few of the codes."""


class Subwords:
    """Texts as codes, and back."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        """Return how many codes there are, the special ones too."""
        return SPECIAL + int(self._tokenizer.get_vocab_size())

    def encode(self, texts: Sequence[str]) -> TokenRows:
        """Return the codes of each text, without those for start and end.

        Each different word is looked at once.
        """
        different = dict.fromkeys(word for text in texts for word in _words(text))
        found = self._tokenizer.encode_batch_fast([*different], add_special_tokens=False)
        known = {
            word: [code + SPECIAL for code in each.ids]
            for word, each in zip(different, found, strict=True)
        }
        return collect_rows(
            chain.from_iterable(known[word] for word in _words(text)) for text in texts
        )

    def decode(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Return the text of each row of codes; the special ones say nothing.

        Bytes that are no UTF-8 become the sign for what is not known.
        """
        plain = [[int(code) - SPECIAL for code in row if code >= SPECIAL] for row in rows]
        return [str(text) for text in self._tokenizer.decode_batch(plain)]

    def to_json(self) -> str:
        """Return them in the form of the package tokenizers; the same texts teach the same."""
        return str(self._tokenizer.to_str())


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, each but the first with the space before it."""
    first, *others = text.split(" ")
    yield first
    for word in others:
        yield f" {word}"


def learn_subwords(texts: Sequence[str], *, codes: int) -> Subwords:
    """Return at most so many codes: of the pairs that are seen twice, the most frequent.

    Raises:
        UsageError: there are not even codes for all bytes.
        EncoderError: the package tokenizers is not installed.
    """
    if codes < FEWEST:
        raise UsageError(f"{codes} codes: {FEWEST} are needed for bytes, padding, start and end")
    tk = _tokenizers()
    tokenizer = tk.Tokenizer(tk.models.BPE())
    words = tk.pre_tokenizers.Split(" ", behavior="merged_with_next")
    letters = tk.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = tk.pre_tokenizers.Sequence([words, letters])
    tokenizer.decoder = tk.decoders.ByteLevel()
    trainer = tk.trainers.BpeTrainer(
        vocab_size=codes - SPECIAL,
        min_frequency=2,
        initial_alphabet=sorted(letters.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts[:: -(-len(texts) // TEXTS)], trainer)
    return Subwords(tokenizer)


def _tokenizers() -> Any:
    try:
        import tokenizers  # noqa: PLC0415 - it is an extra
    except ModuleNotFoundError:
        raise missing_extra("a decoder of subwords", extra="train") from None
    return tokenizers
