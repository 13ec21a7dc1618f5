"""The embedding cache under several processes, and under processes that are killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.encoders.cache_worker import CHUNK
from helpers.shared import ROOT
from helpers.strategies.cache_strategies import HashingEncoder, expected, list_vector_files_below

from sentprobe.probes.encoders import cache as cache_files
from sentprobe.probes.encoders.cache import HOUR, Cache, check_cache_files, find_encoder_folder, list_leftovers
from sentprobe.probes.encoders.embedding import embed

WORKER = ROOT / "tests" / "helpers" / "encoders" / "cache_worker.py"
COUNT = 200


ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}


def start(directory: Path, *, pause: float) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WORKER), str(directory), str(COUNT), str(pause)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_files(directory: Path, count: int) -> None:
    limit = time.monotonic() + 60
    while len(list_vector_files_below(directory)) < count:
        assert time.monotonic() < limit
        time.sleep(0.005)


def test_several_processes_share_a_cache(tmp_path: Path) -> None:
    workers = [start(tmp_path, pause=0.002) for _ in range(3)]
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert (worker.returncode, err) == (0, "")
        assert 0 <= int(out) <= COUNT
    assert check_cache_files(tmp_path).damaged == ()
    encoder = HashingEncoder()
    embed(encoder, [f"s{n}" for n in range(COUNT)], cache=Cache(tmp_path))
    assert encoder.seen == []


@pytest.mark.skipif(not hasattr(os, "kill"), reason="there is no kill -9 here")
def test_what_was_encoded_before_a_kill_is_not_encoded_again(tmp_path: Path) -> None:
    done = 0
    for _ in range(2):
        worker = start(tmp_path, pause=0.03)
        wait_for_files(tmp_path, done + 3)
        worker.kill()
        worker.communicate(timeout=60)
        done = len(list_vector_files_below(tmp_path))
    assert 6 <= done < COUNT / CHUNK
    encoder = HashingEncoder()
    sentences = [f"s{n}" for n in range(COUNT)]
    vectors = embed(encoder, sentences, cache=Cache(tmp_path))
    np.testing.assert_array_equal(vectors, expected(sentences, encoder=encoder))
    assert len(encoder.seen) == COUNT - CHUNK * done
    assert check_cache_files(tmp_path).damaged == ()


DIES = """
import os, sys
from pathlib import Path
import numpy as np
from sentprobe.probes.encoders import cache as cache_files

Path.replace = lambda *_: os.kill(os.getpid(), 9)  # between writing and renaming
header = cache_files.FileHeader(encoder="e", fingerprint="f" * 64, rows=1, dim=1)
folder = cache_files.find_encoder_folder(Path(sys.argv[1]), "f" * 64)
cache_files.write_vectors(folder, header, ["a"], np.ones((1, 1), np.float32))
"""


def test_what_a_killed_process_was_writing_is_cleared_away(tmp_path: Path) -> None:
    embed(HashingEncoder(), ["b"], cache=Cache(tmp_path))
    command = [sys.executable, "-c", DIES, str(tmp_path)]
    died = subprocess.run(command, check=False, env=ENVIRONMENT)
    assert died.returncode == -9
    folder = find_encoder_folder(tmp_path, "f" * 64)
    (part,) = list_leftovers(folder)
    assert len(cache_files.list_vector_files(folder)) == 1
    assert check_cache_files(tmp_path).leftovers == 0  # it may be being written right now
    old = time.time() - 2 * HOUR
    os.utime(part, (old, old))
    assert check_cache_files(tmp_path).leftovers == 1
    assert list_leftovers(folder) == []
    assert len(cache_files.list_vector_files(folder)) == 1
