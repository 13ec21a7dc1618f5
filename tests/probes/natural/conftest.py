"""A table of made-up sentences."""

import pytest
from helpers.runs.natural_tables import sample_rows, write_table

from sentprobe.probes.corpus.table import Table


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Return the table of the sample rows, in three shards."""
    return write_table(sample_rows(), tmp_path_factory.mktemp("made") / "table", shards=3)
