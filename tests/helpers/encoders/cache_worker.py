"""Encodes ``s0 ... sN`` into a cache, a few sentences at a time, and prints how many were missing.

``python cache_worker.py DIRECTORY N SECONDS``: it sleeps so long in each call of the encoder.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from helpers.strategies.cache_strategies import HashingEncoder, expected

from sentprobe.probes.encoders import embedding
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import Vectors

CHUNK = 5


class SlowEncoder(HashingEncoder):
    """An encoder that takes its time."""

    pause = 0.0

    def encode(self, sentences: Sequence[str]) -> Vectors:
        time.sleep(self.pause)
        return super().encode(sentences)


def main(directory: str, count: str, pause: str) -> None:
    embedding.CHUNK = CHUNK
    encoder = SlowEncoder()
    encoder.pause = float(pause)
    sentences = [f"s{n}" for n in range(int(count))]
    vectors = embedding.embed(encoder, sentences, cache=Cache(Path(directory)))
    np.testing.assert_array_equal(vectors, expected(sentences, encoder=encoder))
    print(len(encoder.seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
