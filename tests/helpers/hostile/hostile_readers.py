"""All readers of untrusted files: for each an intact file, the mutations, and the reading.

A reader makes its intact files in a folder, where one is damaged, and reads them as a command does. It may raise only a
SentprobeError.
"""

from collections.abc import Mapping

from helpers.hostile.hostile_corpora import TEXT_READERS
from helpers.hostile.hostile_datasets import OF_DATASETS
from helpers.hostile.hostile_files import HostileReader
from helpers.hostile.hostile_learned import PRETRAINING_READERS
from helpers.hostile.hostile_results import RESULT_READERS
from helpers.hostile.hostile_vectors import VECTOR_READERS
from helpers.hostile.hostile_weights import WEIGHT_READERS

PARTS = (RESULT_READERS, OF_DATASETS, TEXT_READERS, VECTOR_READERS, WEIGHT_READERS, PRETRAINING_READERS)

READERS: Mapping[str, HostileReader] = {name: reader for part in PARTS for name, reader in part.items()}
