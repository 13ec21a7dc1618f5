"""A real parser on real text: what it costs against gold trees, and a novel's way to results.

The parser runs in processes of its own: there can be one model in a process.
"""

import json
import lzma
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from helpers.encoders.parser_models import BLLIP, PUNKT, skip_unless_installed, unpack
from helpers.in_process import Command
from helpers.oracles.trees_of_lines import read_line_trees
from helpers.processes import ENVIRONMENT, PROBE
from helpers.runs.natural_tables import parse_rows, write_table
from helpers.shared import SHARED, needs_shared

from sentprobe.probes.corpus.table import Table, open_table
from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.datasets.formats import read_datasets
from sentprobe.probes.natural.table_agreement import open_pairs
from sentprobe.probes.results.result import Condition
from sentprobe.probes.results.store import read_results

pytestmark = [pytest.mark.slow, needs_shared, skip_unless_installed("bllip")]


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"bllip:{unpack(BLLIP, tmp_path_factory.mktemp('model'))}?overparsing=5"


def analyze(file: Path, *arguments: str, out: Path) -> Table:
    command = [*PROBE, "analyze", str(file), "--out", str(out), "--jobs", "1", *arguments]
    subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True)
    return open_table(out)


def read_held_out_rows() -> tuple[int, tuple[Row, ...]]:
    """Return the number of sentences outside the parser's training data, and their distinct rows."""
    with ZipFile(SHARED / "nltk_data/corpora/treebank.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.endswith("0.mrg"))
        trees = [line for name in names for line in archive.read(name).decode().splitlines(True)]
    return len(list(read_line_trees(trees))), parse_rows(trees)


def test_automatic_parsing_agrees_with_gold(parser: str, tmp_path: Path) -> None:
    """Every 14th sentence; ``docs/findings.md`` has the figures of all 349."""
    sentences, rows = read_held_out_rows()
    assert (sentences, len(rows)) == (351, 349)
    gold = write_table(rows[::14], tmp_path / "gold")
    tokens = tmp_path / "a.tok"
    tokens.write_text("".join(f"{row.text}\n" for row in rows[::14]), encoding="utf-8")
    parsed = analyze(tokens, "--parser", parser, out=tmp_path / "parsed")
    with open_pairs(gold, parsed) as pairs:
        agreement = pairs.compute_agreement()
    assert (agreement.both, agreement.only_a, agreement.only_b) == (25, 0, 0)
    tallies = {measure.name: tally for measure, tally in agreement.tallies.items()}
    assert agreement.tags.rate > 0.92
    assert tallies["tense"].both > 15
    assert tallies["tense"].rate_of_both > 0.94
    assert tallies["tense"].rate > 0.83
    assert tallies["subject"].rate > 0.75
    assert tallies["top constituents"].rate > 0.6


def write_chapter(folder: Path) -> Path:
    """Write the first chapter of a novel unchanged."""
    with lzma.open(SHARED / "novels/raw/Burnett_Garden_1911.txt.xz", "rt", encoding="utf-8") as file:
        _, text = file.read().split("CHAPTER I\n", maxsplit=1)
    path = folder / "chapter.txt"
    path.write_text(text.split("CHAPTER II\n", maxsplit=1)[0], encoding="utf-8")
    return path


CAN_BE_BUILT = {"SentLen", "WC", "TopConst", "BShift", "Tense"}
"""Tasks for which a chapter of 126 sentences is large enough."""
SIZES = ("--train", "12", "--validation", "2", "--test", "6", "--words", "2", "--first-rank", "1")
BANDS = ("--frequency-band", "1-50", "--odd-band", "1-50", "--sequences", "1")


def test_chapter_goes_from_text_to_results(parser: str, tmp_path: Path, command: Command) -> None:
    table, tasks, run = (str(tmp_path / name) for name in ("table", "tasks", "run"))
    analysis = analyze(write_chapter(tmp_path), "--parser", parser, "--punkt", str(PUNKT), out=Path(table))
    assert analysis.counts.rows > 110
    assert analysis.counts.failures == 0
    assert analysis.sources[0].format == "text"
    with analysis.connect() as connection:
        ((text,),) = connection.sql("SELECT text FROM sentences WHERE id = 2").fetchall()
    assert text == "It was true , too ."

    code, out, err = command("build", "natural", table, *SIZES, *BANDS, "-o", tasks, "--no-audit")
    built = {data.name: data for data in read_datasets(Path(tasks))}
    assert set(built) >= CAN_BE_BUILT
    assert code == (0 if len(built) == 10 else 1)
    for name in {"TreeDepth", "CoordInv"} - set(built):
        assert f"{name}: the corpus has too few sentences" in err

    task_options = (f"--task={name}" for name in sorted(CAN_BE_BUILT))
    options = (*SIZES, *BANDS, *task_options, "--preset", "logreg", "--jobs", "1")
    code, _, err = command("run", "natural", table, "-e", "bow", "-o", run, *options)
    assert code == 0, err
    results = read_results(Path(run))
    assert set(results.tasks) == CAN_BE_BUILT
    for result in results.records:
        assert 0 <= result.accuracy <= 1
        assert {Condition.PROBE, Condition.RANDOM_SENTENCES} <= set(result.scores)
        assert result.dataset_fingerprint

    code, out, _ = command("show", run, "--format", "json")
    assert code == 0
    shown = {record["task"]: record["accuracy"] for record in json.loads(out) if record["condition"] == "probe"}
    assert shown == {record.task: record.accuracy for record in results.records}
    code, out, _ = command("show", run)
    assert code == 0
    assert "bow" in out
