"""Published weights and their tables, sound ones to be damaged."""

from collections.abc import Callable
from pathlib import Path

import mutations as mu
import published_models as pm
from hostile_files import HostileReader

from sentprobe.probes.encoders import make_encoder

MARKS = ("<s>", "</s>")


def _infersent(folder: Path) -> Path:
    return pm.write_infersent(folder, marks=MARKS)[0]


def _newer_infersent(folder: Path) -> Path:
    return pm.write_infersent(folder, marks=MARKS, _use_new_zipfile_serialization=True)[0]


def _read_infersent(path: Path) -> object:
    spec = f"infersent:{path}?vectors={path.parent / 'words.txt'}&device=cpu"
    return make_encoder(spec).encode(["the man"])


def _skipthought(name: str) -> Callable[[Path], Path]:
    return lambda folder: pm.write_skipthought(folder) / name


def _read_skipthought(path: Path) -> object:
    return make_encoder(f"skipthought:{path.parent}?device=cpu").encode(["the man"])


def _sdae(folder: Path) -> Path:
    return pm.write_sdae(folder)[1]


def _read_sdae(path: Path) -> object:
    spec = f"sdae:{path.parent / 'model.npz'}?dictionary={path}&device=cpu"
    return make_encoder(spec).encode(["the man"])


OF_WEIGHTS: dict[str, HostileReader] = {
    "infersent1.pkl": HostileReader(make=_infersent, read=_read_infersent),
    "infersent1.pkl, newer": HostileReader(make=_newer_infersent, read=_read_infersent),
    "bi_skip.npz": HostileReader(
        make=_skipthought("bi_skip.npz"), read=_read_skipthought, ways=mu.NPZ
    ),
    "utable.npy": HostileReader(
        make=_skipthought("utable.npy"), read=_read_skipthought, ways=mu.NPY
    ),
    "dictionary.txt": HostileReader(
        make=_skipthought("dictionary.txt"), read=_read_skipthought, ways=mu.TEXT
    ),
    "words of SDAE": HostileReader(make=_sdae, read=_read_sdae, ways=mu.TEXT),
}
