"""The command ``probe show``: tables, draws, files in MTEB's layout, and language models."""

import csv
import io
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.language_models import make_gpt2
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_geometry import make_geometry_result
from helpers.runs.shown_runs import TagChecker, split_rows, write_run
from helpers.strategies.probe_strategies import (
    CountingEncoder,
    make_learnable_dataset,
    make_sample_result,
    make_seed_score,
)
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import sentprobe
from sentprobe.common.tables import escape_markdown
from sentprobe.lexicon import Lexicon
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated import assemble
from sentprobe.probes.generated.tasks import CompevalTask
from sentprobe.probes.reports.correlations import match_names, read_scores, to_mteb_name
from sentprobe.probes.reports.tables.main_table import sort_results, split_settings
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.draws import list_seeds
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.results.store import prepare_directory, read_results, write_result
from sentprobe.probes.runs import suites
from sentprobe.probes.similarity.distance_results import write_geometry


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_table_is_shown(style: str, first: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    code, stdout, stderr = command("show", first, "--notes", "-f", style)
    assert (code, stderr) == (0, "")
    assert stdout == stored_text


def test_several_runs_in_one_table(first: Path, tmp_path: Path, command: Command) -> None:
    more = write_run(tmp_path / "more", make_sample_result("lstm", "Order", 600, mirrored=True))
    _, stdout, _ = command("show", first, more)
    assert split_rows(stdout)[1:4] == [["bow", "90.0", "50.0"], ["st<b>", "", "* 69.0"], ["lstm", "", "60.0"]]


def test_several_folders_are_named(first: Path, tmp_path: Path, command: Command) -> None:
    more = write_run(tmp_path / "more", make_sample_result("lstm", "Order", 600, mirrored=True))
    messages = [f"from {first}: bow, st<b>", f"from {more}: lstm"]
    for style, sign in (("text", ""), ("markdown", "- "), ("latex", "% ")):
        lines = command("show", first, more, "-f", style, "--notes")[1].splitlines()
        expected = [escape_markdown(line) if style == "markdown" else line for line in messages]
        assert [line for line in lines if "from " in line and "from one probe" not in line] == [
            f"{sign}{line}" for line in expected
        ]
    page = TagChecker()
    page.feed(command("show", first, more, "-f", "html")[1])
    assert set(messages) <= set(page.texts)
    assert f"from {first}" not in command("show", first)[1]
    records = json.loads(command("show", first, more, "-f", "json")[1])
    assert {(record["encoder"], record["run"]) for record in records} == {
        ("bow", str(first)), ("st<b>", str(first)), ("lstm", str(more)),
    }  # fmt: skip
    read = list(csv.DictReader(io.StringIO(command("show", first, "-f", "csv")[1])))
    assert {(record["run"], record["precision"]) for record in read} == {(str(first), "float32")}


TITLES = {
    "text": "table {} of 2\n", "markdown": "**table {} of 2**\n\n", "latex": "% table {} of 2\n",
    "html": "<h2>Accuracy: table {} of 2</h2>",
}  # fmt: skip


@pytest.mark.parametrize("style", TITLES)
def test_several_tables_are_numbered(style: str, first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 600), dataset_fingerprint="1")
    out = command("show", first, write_run(tmp_path / "other", other_result), "-f", style)[1]
    assert all(TITLES[style].format(number) in out for number in (1, 2))
    assert "of 1" not in command("show", first, "-f", style)[1]


def test_tables_of_other_seeds_say_so(first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 600), seed=7)
    out = command("show", first, write_run(tmp_path / "other", other_result))[1]
    assert "table 1 of 2, seed 0\n" in out
    assert "table 2 of 2, seed 7\n" in out


def test_table_for_each_setting(first: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow", "Order", 600), dataset_fingerprint="1")
    _, stdout, _ = command("show", first, write_run(tmp_path / "other", other_result), "--notes")
    assert stdout.count("classifier: ") == 2
    assert [row for row in split_rows(stdout) if row[0] == "encoder"] == [
        ["encoder", "Content1Probe", "Order"],
        ["encoder", "Order"],
    ]


def test_records_and_file_of_text(first: Path, command: Command, tmp_path: Path) -> None:
    read = list(csv.DictReader(io.StringIO(command("show", first, "-f", "csv")[1])))
    assert len(read) == 12
    assert len(json.loads(command("show", first, "-f", "json")[1])) == 12
    out = tmp_path / "table.txt"
    assert command("show", first, "--intervals", "-o", out)[:2] == (0, "")
    assert "69.0 [" in out.read_text()


@pytest.mark.parametrize("suffix", ["md", "tex", "csv", "json", "html", "TEX", "txt"])
def test_suffix_says_the_format(suffix: str, first: Path, command: Command, tmp_path: Path) -> None:
    named = {"md": "markdown", "tex": "latex", "txt": "text"}
    out, expected = tmp_path / f"table.{suffix}", tmp_path / "wanted"
    assert command("show", first, "-o", out)[0] == 0
    assert "x.dat: no format has the suffix '.dat'" in command("show", first, "-o", tmp_path / "x.dat")[2]
    style = named.get(suffix.lower(), suffix)
    assert command("show", first, "-o", expected, "-f", style)[0] == 0
    assert out.read_text() == expected.read_text()
    assert command("show", first, "-o", out, "-f", "csv")[0] == 0
    assert len(list(csv.DictReader(io.StringIO(out.read_text())))) == 12


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "html"])
def test_published_rows(style: str, first: Path, command: Command) -> None:
    stdout = check_success(command("show", first, "--published", "--notes", "-f", style))
    for message in ("ST-UNI (Ettinger et al. 2018)", "93.2", "table 2, section 7.2"):
        assert message in stdout
    assert "Ettinger" not in command("show", first, "-f", style)[1]


def test_published_rows_among_records(first: Path, command: Command) -> None:
    records = json.loads(command("show", first, "--published", "-f", "json")[1])
    papers = [record for record in records if record["condition"] == "published"]
    assert {record["task"] for record in papers} == {"Content1Probe", "Order"}
    assert len(papers) == 10
    read = csv.DictReader(io.StringIO(command("show", first, "--published", "-f", "csv")[1]))
    assert [record["condition"] for record in read].count("published") == 10


TINY = ("--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")
ONE = ("run", "compeval", "--task", "Order", *TINY, "-e", "bow?dim=8", "-e", "bilstm-max?hidden=8")
FAST = override(find_preset("ettinger"), [("max_epochs", "2")])


def test_draws_of_one_command(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "run"
    stdout = check_success(command(*ONE, "--draws", 2, "--seeds", 2, "--out", out, "--sources", "--notes"))
    assert "over 2 draws, with 2 probes in each" in stdout
    assert "New in each draw (seeds 0, 10): the data, the untrained weights, the probes." in stdout
    assert stdout.count("Data: 56 training, 28 test items; vocabulary compeval") == 2
    table = split_rows(stdout)
    assert [row[0] for row in table[1:3]] == ["bow?dim=8", "bilstm-max?hidden=8"]
    assert all("(draws " in row[1] and ", probes " in row[1] for row in table[1:])
    built = read_results(out).records
    assert {(r.seed, *(s.seed for s in r.scores[Condition.PROBE].seeds)) for r in built} == {
        (0, 0, 1), (10, 10, 11),
    }  # fmt: skip
    for facts in ([r.dataset_fingerprint for r in built], [r.data and r.data.seed for r in built]):
        assert len(set(facts)) == 2
    assert len({record.encoder_fingerprint for record in built}) == 4
    *_, shown = split_settings(sort_results(read_results(out)))
    assert list_seeds(shown) == [0, 10]
    # The same command trains nothing; another draw is added to these.
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("[!.]*.json")}
    assert "train" not in command(*ONE, "--draws", 2, "--seeds", 2, "--out", out)[2]
    again = command(*ONE, "--draws", 3, "--seeds", 2, "--out", out)[1]
    assert "over 3 draws, with 2 probes in each" in again
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("[!.]*.json")}
    assert {name: after[name] for name in before if name != "run.json"} == {
        name: stamp for name, stamp in before.items() if name != "run.json"
    }
    compared = command("compare", out, "-f", "json")[1]
    assert [record["draws"] for record in json.loads(compared)] == [3]


def test_runs_of_seeds_share_table(tmp_path: Path, command: Command) -> None:
    """Each draw by a command of its own gives the same as ``--draws``."""
    for seed in (0, 10):
        assert command(*ONE, "--seed", seed, "--out", tmp_path / f"{seed}")[0] == 0
    assert command(*ONE, "--draws", 2, "--out", tmp_path / "both")[0] == 0
    apart = command("show", tmp_path / "0", tmp_path / "10", "--intervals", "--notes")[1]
    both = command("show", tmp_path / "both", "--intervals")[1]
    assert "table 1" not in apart
    assert split_rows(apart) == split_rows(both)
    assert "Each draw has one probe" in apart
    series = command("show", tmp_path / "both", "--by-length", "tokens")[1]
    assert "table 2 of 2, seed 10" in series


def test_other_lexicon_is_no_draw(tmp_path: Path, command: Command) -> None:
    """Two lexicons with vocabularies of one name, of which the nouns are disjoint."""
    text = (files("sentprobe.lexicon") / "english.toml").read_text("utf-8")
    nouns = '"professor", "student", "man", "woman", "doctor", "scientist", "lawyer"'
    options = '"president", "child", "girl", "boy", "judge", "senator", "secretary"'
    assert f"noun = [{nouns}]" in text
    run = (*ONE[:-4], "-e", "bow?dim=8", "--no-controls")
    for seed, words in ((0, nouns), (10, options), (20, nouns)):
        lexicon = tmp_path / f"{seed}.toml"
        lexicon.write_text(text.replace(f"noun = [{nouns}]", f"noun = [{words}]"), "utf-8")
        done = command(*run, "--lexicon", lexicon, "--seed", seed, "--out", tmp_path / f"{seed}")
        assert done[0] == 0
    shown = command("show", *(tmp_path / f"{seed}" for seed in (0, 10, 20)))[1]
    assert "table 1 of 2, seed 0 and 20" in " ".join(shown.split())


def test_failing_task_is_counted_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it lacks may be said otherwise in each draw."""
    build = assemble.build

    def fail(task: CompevalTask, lexicon: Lexicon, **options: Any) -> ProbeDataset:
        if task.name == "Order":
            raise TooFewError(f"Order: too few with seed {options['seed']}")
        return build(task, lexicon, **options)

    monkeypatch.setattr(suites, "build", fail)
    run = ("run", "compeval", "--task", "Order", "--task", "SemRole", *TINY, "-e", "majority")
    code, _, err = command(*run, "--draws", 3)
    assert code == 1
    assert "probe: 1 of 2 tasks could not be built:\nOrder: too few with seed" in err
    assert err.count("Order: too few") == 1


def test_stored_data_is_not_drawn_anew(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="mine", size=40), tmp_path / "mine.jsonl")
    run = ("run", tmp_path / "mine.jsonl", "--set", "max_epochs=2", "--jobs", 1, "--no-cache")
    stdout = check_success(command(*run, "-e", "bow?dim=8", "--draws", 2, "--notes"))
    assert "(seeds 0, 10): the untrained weights, the probes. The same in each: the data." in stdout
    assert stdout.count("Data: ") == 1


def test_undrawn_encoder_is_made_once() -> None:
    built = CountingEncoder(make_encoder("bow?dim=4", seed=0))
    results = sentprobe.run(
        "compeval", [built, "bow?dim=4"], tasks="Order", train=56, test=28, preset=FAST,
        draws=2, controls=False,
    )  # fmt: skip
    (table,) = split_settings(results)
    assert len({r.encoder_fingerprint for r in table.records if r.encoder == "counting"}) == 1
    assert "The same in each: the vectors of counting." in results.to_markdown(notes=True)


def test_draws_refuse_bad_numbers(command: Command) -> None:
    message = "11 seeds: in several draws there are at most 10 probes each"
    check_refusal(command("run", "compeval", "--seeds", 11, "--draws", 2), message)
    check_refusal(command("run", "compeval", "--draws", 0), "the number of draws must be positive, not 0")


@pytest.mark.parametrize("seed", [0, 3])
def test_draw_is_run_of_its_seed(seed: int) -> None:
    """What a draw gives does not depend on the draws beside it."""

    def run(seed: int, draws: int) -> Results:
        return sentprobe.run(
            "compeval", "bow?dim=4", tasks="Order", train=56, test=28, preset=FAST, seed=seed,
            draws=draws, controls=False,
        )  # fmt: skip

    both = run(seed, 2).records
    assert [item.scores for item in both] == [run(item, 1).records[0].scores for item in (seed, seed + 10)]


ENCODERS = ("bow?dim=8", "bow?dim=16", "st:./models/mini", "hf:org/mini?layer=1")
NAMES = ("sentprobe/bow_dim=8", "sentprobe/bow_dim=16", "sentprobe/mini", "org/mini_layer=1")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    results = [
        make_sample_result(encoder, task, 500 + 10 * place + rise, 495, seeds=2)
        for place, encoder in enumerate(ENCODERS)
        for task, rise in (("Order", 0), ("SemRole", 5))
    ]
    return write_run(tmp_path / "run", *results)


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_files_of_a_run(run: Path, tmp_path: Path, command: Command) -> None:
    for encoder in ENCODERS[:2]:
        write_geometry(make_geometry_result(encoder, "role"), run)
    out = tmp_path / "out"
    line = ("show", run, "--format", "mteb", "--out", out)
    assert command(*line) == (0, f"results of 4 encoders in 10 files: {out}\n", "")
    folders = [name.replace("/", "__") for name in NAMES]
    assert sorted(path.name for path in (out / "results").iterdir()) == sorted(folders)
    (place,) = (out / "results" / folders[1]).iterdir()
    assert sorted(path.name for path in place.iterdir()) == [
        "GeometryRole.json",
        "Order.json",
        "SemRole.json",
        "model_meta.json",
    ]
    meta = read(place / "model_meta.json")
    assert (meta["name"], meta["revision"]) == (NAMES[1], place.name)
    record = read(place / "SemRole.json")
    assert (record["task_name"], record["dataset_revision"]) == ("SemRole", "0")
    (part,) = record["scores"]["test"]
    assert part["main_score"] == part["accuracy"] == pytest.approx(0.5155)
    assert part["low"] < 0.5155 < part["high"]
    assert part["chance"] == 0.5
    assert part["accuracy_random_sentences"] == pytest.approx(0.4955)
    assert [item["seed"] for item in part["scores_per_experiment"]] == [0, 1]
    (part,) = read(place / "GeometryRole.json")["scores"]["test"]
    assert part["main_score"] == part["form_cosine_accuracy"] == 0.5
    assert part["anchor_cosine_accuracy"] == 0.0


def test_correlate_reads_them(run: Path, tmp_path: Path, command: Command) -> None:
    assert command("show", run, "--format", "mteb", "--out", tmp_path / "out")[0] == 0
    assert match_names(ENCODERS, NAMES) == dict(zip(ENCODERS, NAMES, strict=True))
    assert read_scores(tmp_path / "out")[NAMES[3]]["Order"] == pytest.approx(0.5305)
    out = check_success(command("correlate", run, "--with", tmp_path / "out"))
    assert split_rows(out)[1] == ["Order", "1.00 [1.00, 1.00]", "1.00 [1.00, 1.00]"]
    assert "over 4 encoders" in " ".join(out.split())


def a_draw(seed: int, correct: int) -> Result:
    facts = DataFacts(train=9, test=1000, word_types=9, sampling="mirror", seed=seed, origin="x")
    right = make_seed_score([item < correct for item in range(1000)], seed=seed)
    return replace(
        make_sample_result("bow", "Order", correct),
        seed=seed,
        data=facts,
        dataset_fingerprint=f"{seed}",
        scores={Condition.PROBE: make_score([right], ())},
    )


def test_mteb_score_is_mean_of_draws(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", a_draw(0, 600), a_draw(10, 700))
    assert command("show", run, "--format", "mteb", "--out", tmp_path / "out")[0] == 0
    (path,) = (tmp_path / "out").rglob("Order.json")
    assert [part["hf_subset"] for part in read(path)["scores"]["test"]] == ["seed-0", "seed-10"]
    assert read_scores(tmp_path / "out") == {"sentprobe/bow": {"Order": pytest.approx(0.65)}}


def test_mteb_export_keeps_other_files(run: Path, tmp_path: Path, command: Command) -> None:
    line = ("show", run, "--format", "mteb", "--out", tmp_path / "out")
    assert command(*line)[0] == 0
    files = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*.json")}
    (tmp_path / "out" / "results" / "mine.txt").write_text("mine")
    assert command(*line)[0] == 0
    assert {p: p.read_bytes() for p in (tmp_path / "out").rglob("*.json")} == files
    assert (tmp_path / "out" / "results" / "mine.txt").read_text() == "mine"


MTEB_REFUSED = [
    ("run --format mteb", "--format mteb writes a folder: name it with --out"),
    ("run --format mteb --out out --intervals", "--intervals is for tables, and --format mteb writes"),
    ("run --format mteb --out out --by-length bins", "--by-length is for tables, and --format mteb"),
    ("run --format mteb --out out --caption x", "--caption is for tables, and --format mteb writes"),
    ("run --format mteb --out run", "is an input; the output needs another path"),
    ("run --format mteb --out file", "cannot write results there"),
    ("run --format mtep", "no format 'mtep' (did you mean 'mteb'?); known: text,"),
    ("run more --format mteb --out out", "data or seed; MTEB's layout holds one of them: name fewer runs"),
    ("same --format mteb --out out", "the encoders st:./a/x and st:/b/x would both be sentprobe/x in MTEB's layout"),
    ("far --format mteb --out out", "there are two results of bow on the contrast role, of other sentences"),
    ("empty --format mteb --out out", "no results yet"),
]


@pytest.mark.usefixtures("working_folder", "run")
@pytest.mark.parametrize(("line", "message"), MTEB_REFUSED, ids=[line for line, _ in MTEB_REFUSED])
def test_mteb_export_refuses(line: str, message: str, command: Command) -> None:
    Path("file").write_text("mine")
    write_run(Path("more"), replace(make_sample_result("bow?dim=8", "Order", 500), dataset_fingerprint="1"))
    write_run(Path("same"), *(make_sample_result(f"st:{name}/x", "Order", 5) for name in ("./a", "/b")))
    write_run(Path("far"), make_sample_result("bow", "Order", 5))
    for seed in (0, 1):
        write_geometry(make_geometry_result("bow", seed=seed), Path("far"))
    write_run(Path("empty"))
    check_refusal(command("show", *line.split()), message)
    assert not Path("out").exists()


@examples(100)
@given(st.text(min_size=1))
def test_mteb_name_fits_a_folder(encoder: str) -> None:
    organisation, slash, model = to_mteb_name(encoder).partition("/")
    assert slash
    for part in (organisation, model):
        assert part
        assert not {"/", " ", "\0", "\n"} & {*part}
        assert "__" not in part
    assert to_mteb_name(encoder) == to_mteb_name(encoder)


MODELS = ("python:shown_lm:score", "python:shown_lm:flip?name=<b>flip</b>")
PAIRS = ("-p", "transitive", "-p", "double_modal", "-n", "20")


@pytest.fixture
def scored(command: Command, working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (working_folder / "shown_lm.py").write_text(
        "def score(texts):\n    return [[-float(len(word)) for word in text.split()] for text in texts]\n"
        "def flip(texts):\n    return [-sum(row) for row in score(texts)]\n"
    )
    monkeypatch.syspath_prepend(working_folder)
    code, shown, stderr = command("lm", *MODELS, *PAIRS, "--out", "run")
    assert (code, "transitive" in shown, "results: run" in stderr) == (0, True, True)
    return Path("run")


def test_show_prints_the_accuracies_of_lm(command: Command, scored: Path) -> None:
    records = json.loads(command("lm", *MODELS, *PAIRS, "-f", "json")[1])
    keys = ("paradigm", "model", "accuracy", "accuracy_low", "ties", "unigram")
    expected = {tuple(record[key] for key in keys) for record in records if record["model"]}
    assert {
        tuple(record[key] for key in keys) for record in json.loads(command("show", scored, "-f", "json")[1])
    } == expected
    code, shown, _ = command("show", scored, "-f", "markdown", "--intervals")
    assert (code, "language models" in shown, "Ties count half." in shown) == (0, True, True)
    command("lm", MODELS[0], *PAIRS, "--score", "token", "--out", scored)
    assert "language models, table 2 of 2" in command("show", scored)[1]


def test_page_escapes_names_of_models(command: Command, scored: Path) -> None:
    assert command("report", scored, "-o", "page.html")[0] == 0
    page = Path("page.html").read_text()
    assert "<h2>Language models</h2>" in page
    assert "&lt;b&gt;flip" in page
    assert "<b>flip" not in page
    assert "probe lm" in page.partition("How to reproduce the results")[2]


def test_language_models_are_compared(command: Command, scored: Path) -> None:
    rows = [*csv.DictReader(io.StringIO(command("compare", scored, "-f", "csv")[1]))]
    assert [(row["first"], row["paradigm"]) for row in rows] == [
        ("<b>flip</b>", "transitive"), ("<b>flip</b>", "double_modal"),
    ]  # fmt: skip
    against = [*csv.DictReader(io.StringIO(command("compare", scored, "-f", "csv", "--against", "<b>flip</b>")[1]))]
    assert [float(row["difference"]) for row in against] == [-float(row["difference"]) for row in rows]
    command("lm", MODELS[1], *PAIRS, "--out", "second")
    code, shown, _ = command("compare", "run#python:shown_lm:score", "second", "--correction", "bh")
    assert (code, "python:shown_lm:score - <b>flip</b>" in shown, "Holm" in shown) == (0, True, False)
    assert "no language model 'x'" in command("compare", scored, "--against", "x")[2]
    assert "no encoder 'x'" in command("compare", "run#x", "second")[2]
    command("lm", MODELS[1], "-p", "transitive", "-n", "5", "--out", "third")
    check_refusal(command("compare", "run", "third"), "have no common pairs", 1, progress=True)
    assert command("compare", "third")[0] == 2


def test_probes_and_language_models_share_a_folder(command: Command, scored: Path) -> None:
    assert "no results of probes" in command("show", scored, "--published")[2]
    assert "nothing to plot" in command("show", scored, "--plot", "x.svg")[2]
    prepare_directory(scored)
    for encoder in ("bow", "random"):
        write_result(make_sample_result(encoder, "order", 500), scored)
    shown = command("show", scored)[1]
    assert shown.index("bow") < shown.index("language models")
    assert command("check", scored)[1].endswith("by 23 checks\n")
    text = command("methods", scored)[1]
    assert text.index("we probed") < text.index("we scored minimal pairs") < text.index("@misc{sentprobe,\n")
    assert text.count("@misc") == text.count("@article{wilson1927") == 1
    code, shown, stderr = command("compare", scored)
    assert (code, "bow - random" in shown, "transitive" in shown, stderr) == (0, True, True, "")
    code, _, stderr = command("compare", scored, "--against", "bow")
    assert (code, "left out: language models: run has no language model 'bow'" in stderr) == (0, True)


def test_check_and_methods_describe_language_models(command: Command, scored: Path) -> None:
    code, shown, stderr = command("check", scored)
    assert (code, stderr) == (1, "")
    assert "severe: unigram: language models; python:shown_lm:score\n  On 2 of 2 paradigms, the model is not" in shown
    assert "    double_modal: 0.0, unigram 100.0, chance 50.0; difference -100.0" in shown
    assert shown.endswith("by 6 checks\n")
    assert {finding["check"] for finding in json.loads(command("check", scored, "-f", "json")[1])} >= {"unigram", "few"}
    code, shown, stderr = command("methods", scored, "-f", "markdown")
    assert (code, stderr) == (0, "")
    assert "transitive and double\\_modal" in shown
    assert "20 pairs of each paradigm, sampled by sentprobe from everyday words with seed 0. " in shown
    assert "\\<b>flip" in shown
    command("lm", MODELS[0], *PAIRS, "--score", "token", "--out", scored)
    assert "table 2 (40 pairs, token): python:shown_lm:score" in command("check", scored)[1]
    assert command("methods", scored, "-f", "latex")[1].count("we scored minimal pairs") == 2


def test_same_command_scores_no_sentence_again(command: Command, scored: Path) -> None:
    make_gpt2(Path("gpt2"))
    first = command("lm", "hf:gpt2", *PAIRS, "--out", scored)
    again = command("lm", "hf:gpt2", *PAIRS, "--out", scored)
    assert again[:2] == first[:2] == (0, first[1])
    assert ("1 result found" in first[2], "1 result found" in again[2]) == (False, True)


def test_bad_folders_of_lm_are_refused(command: Command, scored: Path) -> None:
    Path("notes").mkdir()
    Path("notes", "x.txt").write_text("x")
    Path("file").write_text("x")
    for out, message in [("notes", "not a directory of sentprobe's results"), ("file", "file"), ("x.dat", "suffix")]:
        code, shown, stderr = command("lm", MODELS[0], *PAIRS, "--out", out)
        assert (code, shown, message in stderr) == (2, "", True), stderr
    for path in (scored / "lm").glob("*.json"):
        path.write_text("{}")
    for name in ("show", "compare"):
        check_refusal(command(name, scored), "not a result of probe lm", 1, progress=True)
