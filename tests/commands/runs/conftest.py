"""Fixtures of the tests of ``probe train``."""

from functools import partial
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.trainings.train_command import Train, run_train, write_text, write_triplets


@pytest.fixture
def train(command: Command) -> Train:
    return partial(run_train, command)


@pytest.fixture(scope="module")
def triplets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_triplets(tmp_path_factory.mktemp("texts"))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_text(tmp_path)
