"""Parser models for tests."""

import tarfile
from pathlib import Path

import pytest
from helpers.shared import SHARED

from sentprobe.probes.corpus.parsers import PARSERS

PUNKT = SHARED / "parsers" / "punkt_novels"
BLLIP = "bllip-treebank-gum.tar.xz"
SPACY = "spacy-ewt.tar.xz"


def skip_unless_installed(name: str) -> pytest.MarkDecorator:
    """Skip where the library of the parser of that name is not there."""
    (kind,) = (kind for kind in PARSERS if kind.name == name)
    return pytest.mark.skipif(not kind.is_installed, reason=f"the extra {kind.name} is not installed")


def unpack(name: str, folder: Path) -> Path:
    """Unpack a model into *folder* and return where it lies."""
    with tarfile.open(SHARED / "parsers" / name) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return unpacked
