"""All that reads a file of anybody's: a sound file for each, how it may be damaged, how it is read.

A reader makes its sound files in a folder, of which one is damaged, and reads them as a command
does. What it may raise is a SentprobeError alone.
"""

from collections.abc import Mapping

from hostile_corpora import OF_TEXTS
from hostile_datasets import OF_DATASETS
from hostile_files import HostileReader
from hostile_learned import OF_LEARNED
from hostile_results import OF_RESULTS
from hostile_vectors import OF_VECTORS
from hostile_weights import OF_WEIGHTS

PARTS = (OF_RESULTS, OF_DATASETS, OF_TEXTS, OF_VECTORS, OF_WEIGHTS, OF_LEARNED)

READERS: Mapping[str, HostileReader] = {name: one for part in PARTS for name, one in part.items()}
