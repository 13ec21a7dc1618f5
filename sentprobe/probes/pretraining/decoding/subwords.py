"""The subword codes that decoders generate: byte-pair encoding within words (Sennrich et al. 2016, section 3.2)."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.pretraining.objective import TokenRows, collect_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PADDING, START, END = 0, 1, 2
"""Codes for padding and for the start and end of a text; they represent no characters."""
SPECIAL_CODES = 3
MIN_CODES = SPECIAL_CODES + 256
"""Minimum number of codes: the special codes, and a code for each byte."""
MAX_TEXTS = 200_000
"""Maximum number of texts to learn codes from, taken at equal distances; more texts would change few codes."""


class Subwords:
    """Converts texts to subword codes (numbers of subwords), and codes to texts."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        """Return the number of codes, including the special codes."""
        return SPECIAL_CODES + int(self._tokenizer.get_vocab_size())

    def encode(self, texts: Sequence[str]) -> TokenRows:
        """Return the codes of each text, without START and END."""
        distinct_words = dict.fromkeys(word for text in texts for word in _split_words(text))
        encodings = self._tokenizer.encode_batch_fast([*distinct_words], add_special_tokens=False)
        codes_by_word = {
            word: [code + SPECIAL_CODES for code in encoding.ids]
            for word, encoding in zip(distinct_words, encodings, strict=True)
        }
        return collect_rows(chain.from_iterable(codes_by_word[word] for word in _split_words(text)) for text in texts)

    def decode(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Return the text of each row of codes; special codes are left out, and invalid UTF-8 is replaced."""
        plain = [[int(code) - SPECIAL_CODES for code in row if code >= SPECIAL_CODES] for row in rows]
        return [str(text) for text in self._tokenizer.decode_batch(plain)]

    def to_json(self) -> str:
        """Return the codes as JSON in the format of the package tokenizers."""
        return str(self._tokenizer.to_str())


def _split_words(text: str) -> list[str]:
    """Split a text before each space: "a big dog" becomes "a", " big" and " dog"."""
    first_word, *later_words = text.split(" ")
    return [first_word, *(f" {word}" for word in later_words)]


def learn_subwords(texts: Sequence[str], *, codes: int) -> Subwords:
    """Learn at most *codes* subword codes by merging pairs that occur at least twice. Raises UsageError."""
    if codes < MIN_CODES:
        raise UsageError(f"{codes} codes: {MIN_CODES} are needed for bytes, padding, start and end")
    try:
        import tokenizers
    except ModuleNotFoundError:
        raise missing_extra("a decoder of subwords", "train") from None
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    word_splitter = tokenizers.pre_tokenizers.Split(" ", behavior="merged_with_next")
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([word_splitter, byte_level])
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=codes - SPECIAL_CODES,
        min_frequency=2,
        initial_alphabet=sorted(byte_level.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts[:: -(-len(texts) // MAX_TEXTS)], trainer)
    return Subwords(tokenizer)
