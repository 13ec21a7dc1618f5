"""Files that the version digest of the code depends on."""

from pathlib import Path

from sentprobe.common.errors import find_code_files


def test_what_python_makes_of_the_code_is_no_code(tmp_path: Path) -> None:
    """A half-written file of ``__pycache__`` has its own suffix: x.pyc.14012."""
    for name in ("a.py", "data/b.toml", "__pycache__/a.pyc", "data/__pycache__/b.pyc.14012"):
        path = tmp_path / "__pycache__" / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    folder = tmp_path / "__pycache__" / "package"
    assert find_code_files(folder) == [folder / "a.py", folder / "data" / "b.toml"]
