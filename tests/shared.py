"""The shared data, which is not part of the project: tests that need it skip where it is absent."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED}")
