"""The pages of the documentation."""

from helpers.shared import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    ROOT / "examples" / "README.md",
]
