"""Processes that train: what they are given is done, and one that dies is told of."""

import os
from functools import partial

import pytest

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.processes import check_jobs, cores, finished, workers


def test_work_is_done_here_or_elsewhere() -> None:
    work = {text: partial(len, text) for text in ("a", "bcd", "ef")}
    assert list(finished(work, pool=None)) == [("a", 1), ("bcd", 3), ("ef", 2)]
    with workers(2) as pool:
        assert dict(finished(work, pool=pool)) == {"a": 1, "bcd": 3, "ef": 2}


def test_a_process_that_is_killed() -> None:
    with (
        pytest.raises(SentprobeError, match="was killed"),
        workers(2) as pool,
    ):
        list(finished({0: partial(os._exit, 3)}, pool=pool))


def test_numbers_of_processes() -> None:
    assert cores() >= 1
    with pytest.raises(UsageError, match="the number of jobs must be positive, not 0"):
        check_jobs(0)
