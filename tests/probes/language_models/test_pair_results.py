"""Scores of language models in a results folder, and the methods paragraph about them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.common.errors import ResultsError, UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.common.tables import TableFormat
from sentprobe.probes.language_models import pair_results as pr
from sentprobe.probes.language_models.pair_accuracies import PairResults, PairScores
from sentprobe.probes.language_models.pair_results import METHOD_PAPERS, write_pair_methods, write_pair_paragraph
from sentprobe.probes.language_models.scorers import ScoreKind, ScoringMethod, load_language_model
from sentprobe.probes.language_models.sentence_pairs import SentencePair
from sentprobe.probes.reports.references import list_keys
from sentprobe.probes.results.result import Provenance

NUMBERS = st.floats(-1e6, 1e6)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
PAIR = SentencePair("the men sleep .", "the men sleeps .", "sva", "agr", "1", {"distance": "0"})
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1 <s>\n-1 </s>\n-1 <unk>\n{} sleep\n\n\\end\\\n"


@given(st.lists(st.tuples(NUMBERS, NUMBERS, TEXTS), min_size=1, max_size=6), TEXTS, st.sampled_from(ScoreKind))
def test_result_is_read_as_written(columns: list[tuple[float, float, str]], name: str, kind: ScoreKind) -> None:
    good, bad, texts = zip(*columns, strict=True)
    unknown = tuple(" ".join(text.split()) for text in texts)
    provenance = Provenance(name, {"python": "3"}, "cpu")
    result = pr.LanguageModelResult(
        spec=name, fingerprint="", pairs="0" * 16, kind=kind, model=name, good=good, bad=bad,
        unknown=unknown if any(unknown) else (), method=ScoringMethod.NGRAM, source=name, provenance=provenance,
    )  # fmt: skip
    assert pr.parse_lm_result(pr.format_lm_result(result), source="x") == result


SENTENCES = TEXTS.filter(str.strip)


@given(
    st.lists(
        st.builds(SentencePair, SENTENCES, SENTENCES, TEXTS, TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS)).filter(
            lambda pair: pair.good.strip() != pair.bad.strip()
        ),
        max_size=4,
    )
)
def test_pairs_are_read_as_written(pairs: list[SentencePair]) -> None:
    parsed = pr.parse_pairs(pr.format_pairs(pairs))
    assert parsed == pairs
    for before, after in zip(pairs, parsed, strict=True):
        fields = {"sentence_good", "sentence_bad", "UID", "linguistics_term", "pairID"}
        assert {k: v for k, v in before.columns.items() if k not in fields}.items() <= after.columns.items()
    assert pr.format_pairs(parsed) == pr.format_pairs(pairs)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "sentprobe-lm 0"), ("good", ""), ("good", "x"), ("bad", "nan"), ("bad", "1.0 2.0"), ("kind", "x"),
        ("model", 3), ("provenance", {}), ("unknown", "a\nb"), ("unknown", 1), ("method", "x"), ("source", 1),
        ("more", 1), ("good", "-0.5"), ("model", "better"), ("source", "another"), ("digest", ""),
    ],
)  # fmt: skip
def test_damaged_result_is_refused(tmp_path: Path, field: str, value: object) -> None:
    path = measure(tmp_path, Spec("ngram", str(write_arpa(tmp_path))))[1]
    text = path.read_text()
    pr.parse_lm_result(text, source="x")
    with pytest.raises(ResultsError, match=r"^x: not a result of probe lm"):
        pr.parse_lm_result(json.dumps({**json.loads(text), field: value}), source="x")
    without = {name: value for name, value in json.loads(text).items() if name != field}
    if field in json.loads(text) and field not in ("source", "digest"):  # which have a default
        with pytest.raises(ResultsError, match=f"(the key|keys are missing:) '{field}'"):
            pr.parse_lm_result(json.dumps(without), source="x")


def write_arpa(folder: Path, score: int = -2) -> Path:
    path = folder / "lm.arpa"
    path.write_text(ARPA.format(score))
    return path


def measure(folder: Path, spec: Spec) -> tuple[PairScores, Path, list[str]]:
    """Return scores, their file, and the specs of reused scores."""
    results = pr.PairFolder(folder / "run", [PAIR], command="probe lm", source="by hand")
    scores = results.measure(spec, ScoreKind.SENTENCE, SilentReporter(), load=load_language_model)
    (path,) = (folder / "run" / "lm").glob("*.json")
    return scores, path, results.reused


def test_scores_are_reused_until_changes(tmp_path: Path) -> None:
    spec = Spec("ngram", str(write_arpa(tmp_path)))
    scores, path, reused = measure(tmp_path, spec)
    assert reused == []
    written = path.read_bytes()
    again, _, reused = measure(tmp_path, spec)
    assert ([*again.good], [*again.bad], reused) == ([*scores.good], [*scores.bad], [str(spec)])
    path.write_text("{")
    assert measure(tmp_path, spec)[2] == []
    assert path.read_bytes() == written
    write_arpa(tmp_path, -3)
    changed, changed_path, reused = measure(tmp_path, spec)
    assert (reused, changed_path) == ([], path)
    assert changed.good[0] < scores.good[0]


def test_missing_or_changed_pairs_are_refused(tmp_path: Path) -> None:
    measure(tmp_path, Spec("ngram", str(write_arpa(tmp_path))))
    (table,) = pr.read_pair_tables([tmp_path / "run"])
    assert [*table.pairs] == [PAIR]
    assert table.provenances[0].command == "probe lm"
    (path,) = (tmp_path / "run" / "lm").glob("*.jsonl")
    text = path.read_text()
    for damaged, message in [(text.encode() * 2, "changed since"), (b"\xff", "not UTF-8"), (None, "missing")]:
        path.unlink() if damaged is None else path.write_bytes(damaged)
        with pytest.raises(ResultsError, match=rf"{path.name}: {message}"):
            pr.read_pair_tables([tmp_path / "run"])


@pytest.mark.parametrize("line", ["{}", "[]", "3", '{"sentence_good": "a", "sentence_bad": ""}', "{"])
def test_bad_stored_lines_are_refused(tmp_path: Path, line: str) -> None:
    _, result_path, _ = measure(tmp_path, Spec("ngram", str(write_arpa(tmp_path))))
    (path,) = (tmp_path / "run" / "lm").glob("*.jsonl")
    text = path.read_text() + line + "\n"
    damaged = path.with_name(f"{pr.digest_pairs(text)}.jsonl")
    damaged.write_text(text)
    result = pr.parse_lm_result(result_path.read_text(), source="x")
    result_path.write_text(pr.format_lm_result(replace(result, pairs=damaged.stem)))
    with pytest.raises(ResultsError, match=f"{damaged.name}: line 2: .*; remove it, and run probe lm again"):
        pr.read_pair_tables([tmp_path / "run"])
    result_path.write_text(result_path.read_text().replace(damaged.stem, "a\\u0000b"))
    with pytest.raises(ResultsError, match="'pairs' is not the digest of a file of pairs"):
        pr.read_pair_tables([tmp_path / "run"])


def test_models_of_folders_share_a_table(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        measure(tmp_path / name, Spec("ngram", str(write_arpa(tmp_path)), (("name", "m"),)))
    runs = [tmp_path / name / "run" for name in ("one", "two")]
    (table,) = tables = pr.read_pair_tables(runs)
    assert pr.list_model_names(tables) == [f"{run}#m" for run in runs]
    assert pr.select_models(tables, f"{runs[0]}#m")[0].scores == table.scores[:1]
    first, second = (pr.read_pair_tables([run]) for run in runs)
    assert [comparison.matched for comparison in pr.match_tables(first, second)[0].comparisons] == [(("m", "m"),)]
    other_kind = tuple(replace(table, kind=ScoreKind.TOKEN) for table in second)
    with pytest.raises(ResultsError, match="no common pairs"):
        pr.match_tables(first, other_kind)
    with pytest.raises(UsageError, match="x has no two language models on the same pairs"):
        pr.match_models(first, None, source="x")


PAIRS = [SentencePair(f"a{i} b", f"b a{i}", "ab"[i % 2], "order", str(i)) for i in range(4)]
MASKED = PairScores(
    "bert", (1.0, 1.0, 1.0, 0.0), (0.0, 0.0, 1.0, 1.0), ("", "a1 b", "", "b"), ScoringMethod.MASKED,
    "hf:bert?name=bert", "read from x.jsonl", Provenance("probe lm", {"python": "3", "torch": "2"}, "cuda"),
)  # fmt: skip


def write(*scores: PairScores, kind: ScoreKind = ScoreKind.SENTENCE) -> str:
    return write_pair_methods([PairResults(PAIRS, kind, scores)], TableFormat.TEXT)


def test_methods_of_language_models(stored_text: SnapshotAssertion) -> None:
    """Of one model, of two on changed words, and of many paradigms."""
    ngram = replace(MASKED, model="5-gram", method=ScoringMethod.NGRAM, spec="", unknown=(), provenance=None)
    pairs = [SentencePair(f"a{i} b", f"b a{i}", f"p{i}") for i in range(13)]
    many = PairResults(pairs, ScoreKind.TOKEN, [PairScores("x", (1.0,) * 13, (0.0,) * 13)])
    texts = (write(MASKED), write(MASKED, ngram, kind=ScoreKind.CRITICAL), write_pair_methods([many], TableFormat.TEXT))
    assert "\n".join(texts).replace(". ", ".\n") == stored_text


@given(st.sampled_from(ScoringMethod), st.sampled_from(ScoreKind), st.text(st.characters(codec="utf-8"), max_size=8))
def test_each_method_and_name_is_described(method: ScoringMethod, kind: ScoreKind, name: str) -> None:
    table = PairResults(PAIRS, kind, [replace(MASKED, method=method, model=f"m{name}")])
    assert {*METHOD_PAPERS.get(method, ())} <= {*list_keys(write_pair_paragraph(table))}
    for style in (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX):
        assert write_pair_methods([table], style).count("we scored minimal pairs") == 1
