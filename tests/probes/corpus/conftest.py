"""A small corpus of trees."""

from pathlib import Path

import pytest
from corpus_strategies import PAIRS, write_trees


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four sentences, of which two are the same."""
    return write_trees(tmp_path / "a.mrg", PAIRS)
