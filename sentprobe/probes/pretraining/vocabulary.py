"""Learn the vocabulary of a sentence model, and skip-gram word vectors, from the training texts."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.files.word_vectors import WordVectors
from sentprobe.probes.encoders.protocol import Vectors, digest, missing_extra
from sentprobe.probes.encoders.trained.sentence_model import ModelVocabulary


def learn_vocabulary(
    texts: Iterable[str], *, words: int, lower: bool = False, reverse: bool = False
) -> ModelVocabulary:
    """Return a vocabulary of the *words* most frequent words of *texts*.

    Of equally frequent words, those that occur first in the texts are chosen.

    >>> learn_vocabulary(["a dog saw a cat", "a cat"], words=2).words
    ('a', 'cat')
    """
    if words < 1:
        raise UsageError(f"words={words}: at least 1 is expected")
    counts = Counter(word for text in texts for word in text.split())
    return ModelVocabulary(tuple(word for word, _ in counts.most_common(words)), lower=lower, reverse=reverse)


SKIP_GRAM = "skip-gram"
"""The value of ``--vectors`` for word vectors that are learned by skip-gram, not read from a file."""
WINDOW = 5
EPOCHS = 5


def learn_skip_gram(texts: Sequence[str], *, dim: int, words: int, seed: int) -> WordVectors:
    """Learn a skip-gram vector, (dim,), for each frequent word, up to *words* in number (Adi et al. 2017, appendix I).

    One thread is used, so that the same seed gives the same vectors. Raises EncoderError if gensim is not installed.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise missing_extra("word vectors of skip-gram", "train") from None
    method = {"window": WINDOW, "sg": 1, "hs": 1, "negative": 0, "epochs": EPOCHS}
    vocabulary = {"min_count": 1, "max_final_vocab": words}
    sentences = [text.split() for text in texts]
    learned = Word2Vec(sentences, vector_size=dim, workers=1, seed=seed % 2**32, **method, **vocabulary).wv
    scale = float(np.sqrt(np.square(learned.vectors, dtype=np.float64).mean()))

    def find_vector(word: str) -> Vectors | None:
        row = learned.key_to_index.get(word)
        return None if row is None else learned.vectors[row]

    return WordVectors(SKIP_GRAM, dim, digest(SKIP_GRAM, seed, learned.vectors.tobytes()), find_vector, scale)
