"""A Dask cluster of this machine, for tests that need one."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

DASK = pytest.mark.skipif(find_spec("distributed") is None, reason="the extra dask is not installed")


@contextmanager
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    make: Any = LocalCluster
    with make(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as made:
        yield made
