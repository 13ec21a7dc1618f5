"""Paths of the project's data, and of shared data outside the project."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED}")
