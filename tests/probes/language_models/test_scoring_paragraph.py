"""The methods paragraph about language models says what their results say."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.tables import TableFormat
from sentprobe.probes.language_models.pair_accuracies import PairResults, PairScores
from sentprobe.probes.language_models.pair_results import METHOD_PAPERS, write_pair_methods, write_pair_paragraph
from sentprobe.probes.language_models.scorers import ScoreKind, ScoringMethod
from sentprobe.probes.language_models.sentence_pairs import SentencePair
from sentprobe.probes.reports.references import list_keys
from sentprobe.probes.results.result import Provenance

PAIRS = [SentencePair(f"a{i} b", f"b a{i}", "ab"[i % 2], "order", str(i)) for i in range(4)]
MASKED = PairScores(
    "bert", (1.0, 1.0, 1.0, 0.0), (0.0, 0.0, 1.0, 1.0), ("", "a1 b", "", "b"), ScoringMethod.MASKED,
    "hf:bert?name=bert", "read from x.jsonl", Provenance("probe lm", {"python": "3", "torch": "2"}, "cuda"),
)  # fmt: skip


def write(*scores: PairScores, kind: ScoreKind = ScoreKind.SENTENCE) -> str:
    return write_pair_methods([PairResults(PAIRS, kind, scores)], TableFormat.TEXT)


def test_the_paragraph_of_one_model() -> None:
    assert write(MASKED) == (
        "language models\n"
        "With sentprobe we scored minimal pairs of a grammatical and an ungrammatical sentence by bert "
        "(hf:bert?name=bert). The 4 pairs are from 2 paradigms (a and b) (Warstadt et al. 2020): read from "
        "x.jsonl. Scores are pseudo-log-likelihoods, log probabilities of tokens masked one by one, with the "
        "later tokens of the word (Salazar et al. 2020; Kauf and Ivanova 2023). A sentence's score is their "
        "sum, to 5 decimals. bert does not know words of 2 pairs, such as 'a1'. Scores were computed on cuda "
        "with python 3 and torch 2. Accuracy is the share of pairs whose grammatical sentence scores higher; "
        "ties (1 of bert) count half. Chance is 50.0 (in %). Word frequencies of one "
        "half of a paradigm's grammatical sentences achieve 50.0 on the other half. 95% intervals are "
        "Wilson's (Wilson 1927), widened where grammatical sentences have the same words.\n"
    )


def test_several_models_and_many_paradigms() -> None:
    ngram = replace(MASKED, model="5-gram", method=ScoringMethod.NGRAM, spec="", unknown=(), provenance=None)
    text = write(MASKED, ngram, kind=ScoreKind.CRITICAL)
    assert "Scores of 5-gram are log probabilities of words and of the sentence's end in a back-off n-gram" in text
    assert "by bert (hf:bert?name=bert) and 5-gram. " in text
    assert "their sum from the first to the last changed word" in text
    assert "On each paradigm, models are compared by exact sign tests, corrected for 2 comparisons (Holm)." in text
    pairs = [SentencePair(f"a{i} b", f"b a{i}", f"p{i}") for i in range(13)]
    many = PairResults(pairs, ScoreKind.TOKEN, [PairScores("x", (1.0,) * 13, (0.0,) * 13)])
    text = write_pair_methods([many], TableFormat.TEXT)
    assert "The 13 pairs are from 13 paradigms (Warstadt et al. 2020). Scores are numbers of a file." in text
    assert "scores higher; there are no ties. " in text


@given(st.sampled_from(ScoringMethod), st.sampled_from(ScoreKind), st.text(st.characters(codec="utf-8"), max_size=8))
def test_each_method_and_name_is_described(method: ScoringMethod, kind: ScoreKind, name: str) -> None:
    table = PairResults(PAIRS, kind, [replace(MASKED, method=method, model=f"m{name}")])
    assert {*METHOD_PAPERS.get(method, ())} <= {*list_keys(write_pair_paragraph(table))}
    for style in (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX):
        assert write_pair_methods([table], style).count("we scored minimal pairs") == 1
