"""A small corpus of trees."""

from pathlib import Path

import pytest
from helpers.strategies.corpus_strategies import PAIRS, write_trees


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a corpus of four sentences; two are equal."""
    return write_trees(tmp_path / "a.mrg", PAIRS)
