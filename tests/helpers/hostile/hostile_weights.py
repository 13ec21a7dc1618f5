"""Intact published weights and their tables, which tests damage."""

from collections.abc import Callable
from pathlib import Path

from helpers.encoders import published_models as pm
from helpers.hostile import mutations as mu
from helpers.hostile.hostile_files import HostileReader

from sentprobe.probes.encoders.kinds import make_encoder

MARKS = ("<s>", "</s>")


def _make_infersent(folder: Path) -> Path:
    return pm.write_infersent(folder, marks=MARKS)[0]


def _make_newer_infersent(folder: Path) -> Path:
    return pm.write_infersent(folder, marks=MARKS, _use_new_zipfile_serialization=True)[0]


def _read_infersent(path: Path) -> object:
    spec = f"infersent:{path}?vectors={path.parent / 'words.txt'}&device=cpu"
    return make_encoder(spec).encode(["the man"])


def _prepare_skipthought(name: str) -> Callable[[Path], Path]:
    return lambda folder: pm.write_skipthought(folder) / name


def _read_skipthought(path: Path) -> object:
    return make_encoder(f"skipthought:{path.parent}?device=cpu").encode(["the man"])


def _make_sdae(folder: Path) -> Path:
    return pm.write_sdae(folder)[1]


def _read_sdae(path: Path) -> object:
    spec = f"sdae:{path.parent / 'model.npz'}?dictionary={path}&device=cpu"
    return make_encoder(spec).encode(["the man"])


WEIGHT_READERS: dict[str, HostileReader] = {
    "infersent1.pkl": HostileReader(make=_make_infersent, read=_read_infersent),
    "infersent1.pkl, newer": HostileReader(make=_make_newer_infersent, read=_read_infersent),
    "bi_skip.npz": HostileReader(make=_prepare_skipthought("bi_skip.npz"), read=_read_skipthought, ways=mu.NPZ),
    "utable.npy": HostileReader(make=_prepare_skipthought("utable.npy"), read=_read_skipthought, ways=mu.NPY),
    "dictionary.txt": HostileReader(make=_prepare_skipthought("dictionary.txt"), read=_read_skipthought, ways=mu.TEXT),
    "words of SDAE": HostileReader(make=_make_sdae, read=_read_sdae, ways=mu.TEXT),
}
