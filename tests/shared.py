"""Where data is: the project's own, and the shared data, which is not part of the project.

Tests that need the shared data skip where it is absent.
"""

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED}")
