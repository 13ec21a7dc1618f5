"""The evaluator is one of sentence-transformers, with the scores of the scorer."""

import csv
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.encoders.model_files import packaged_model

import sentprobe
from sentprobe.common.errors import format_install
from sentprobe.probes.runs import sentence_transformers_evaluator as evaluating
from sentprobe.probes.similarity import gate_run

SMALL: dict[str, Any] = {"contrasts": ("role", "tense"), "triplets": 12}
KEYS = sentprobe.Scorer(**SMALL).keys


class TheirEvaluator:
    """The base class of evaluators, reduced to the parts that the trainer uses."""

    def __init__(self) -> None:
        self.greater_is_better, self.primary_metric = False, None

    def get_config_dict(self) -> dict[str, Any]:
        """Return the entries of a model card."""
        return {}


class Card:
    """Records the metrics that an evaluator reports for a model."""

    def __init__(self) -> None:
        self.metrics: list[tuple[Any, ...]] = []

    def set_evaluation_metrics(self, *args: Any) -> None:
        """Keep it."""
        self.metrics.append(args)


class Model:
    """The parts of a model that an evaluator calls."""

    def __init__(self, dim: int = 8) -> None:
        self.dim = dim
        self.batches: list[int] = []
        self.model_card_data = Card()

    def encode(self, texts: Sequence[str], *, batch_size: int, show_progress_bar: bool, convert_to_numpy: bool) -> Any:
        """Return uninformative vectors."""
        assert (show_progress_bar, convert_to_numpy) == (False, True)
        self.batches.append(batch_size)
        seeds = [int.from_bytes(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(s).standard_normal(self.dim) for s in seeds])


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for the package, which takes many seconds to load."""
    evaluation = SimpleNamespace(BaseEvaluator=TheirEvaluator)
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace())
    base = SimpleNamespace(evaluation=evaluation)
    monkeypatch.setitem(sys.modules, "sentence_transformers.base", base)
    evaluating._EVALUATOR_CLASSES.clear()
    yield
    evaluating._EVALUATOR_CLASSES.clear()


@pytest.mark.usefixtures("theirs")
def test_evaluator_is_of_both_classes() -> None:
    class Mine(sentprobe.SentenceTransformersEvaluator):
        pass

    for kind in (sentprobe.SentenceTransformersEvaluator, Mine):
        evaluator = kind(**SMALL)
        assert isinstance(evaluator, kind)
        assert TheirEvaluator in type(evaluator).__mro__
        assert type(evaluator).__name__ == kind.__name__
    assert (evaluator.greater_is_better, evaluator.get_config_dict()) == (True, {})


@pytest.mark.usefixtures("theirs")
def test_gate_evaluator_returns_false_hits(tmp_path: Path) -> None:
    evaluator = sentprobe.GateEvaluator(contrasts=["role", "noun"], n=40, keep=0.9, batch_size=7)
    assert TheirEvaluator in type(evaluator).__mro__
    assert (evaluator.primary_metric, evaluator.greater_is_better) == ("gate_false_hits_mean", False)
    model = Model()
    scores = evaluator(model, str(tmp_path), epoch=0.5, steps=10)
    (result,) = sentprobe.gate(
        lambda texts: Model().encode(texts, batch_size=1, show_progress_bar=False, convert_to_numpy=True),
        contrasts=["role", "noun"], n=40, keep=0.9,
    ).draws  # fmt: skip
    expected = {f"gate_false_hits_{rates.contrast}_{rates.form}": rates.false_hits for rates in result.rates}
    assert scores == expected | {
        "gate_false_hits_mean": pytest.approx(sum(expected.values()) / 4), "gate_misses": 1 - result.kept
    }  # fmt: skip
    assert model.model_card_data.metrics == [(evaluator, scores, 0.5, 10)]
    header, row = (tmp_path / "sentprobe_evaluation_gate_results.csv").read_text("utf-8").splitlines()
    assert header.split(",")[:3] == ["epoch", "steps", "false_hits_role_anchor"]
    assert row.startswith("0.5,10,")
    assert evaluator.description == "Sentprobe gate"


@pytest.mark.usefixtures("theirs")
def test_gate_evaluator_prepares_pairs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mistakes: list[dict[str, Any]] = [{"contrasts": ["rle"]}, {"keep": 2.0}, {"vocabulary": "englsh"}, {"n": 10**9}]
    for mistake in mistakes:
        with pytest.raises(sentprobe.UsageError):
            sentprobe.GateEvaluator(**{"contrasts": ["role"], **mistake})
    evaluator = sentprobe.GateEvaluator(contrasts=["role"], n=8)
    monkeypatch.setattr(gate_run, "build_triplet_spaces", None)
    assert evaluator(Model()) == evaluator(Model())


@pytest.mark.usefixtures("theirs")
def test_scores_have_prefix_and_reach_card() -> None:
    evaluator = sentprobe.SentenceTransformersEvaluator(name="dev", batch_size=7, **SMALL)
    model = Model()
    scores = evaluator(model, epoch=0.5, steps=10)
    assert list(scores) == [f"dev_{key}" for key in KEYS]
    plain = sentprobe.score(lambda texts: Model().encode(
        texts, batch_size=1, show_progress_bar=False, convert_to_numpy=True
    ), **SMALL)  # fmt: skip
    assert [*scores.values()] == [*plain.values()]
    assert model.model_card_data.metrics == [(evaluator, scores, 0.5, 10)]
    assert {*model.batches} == {7}
    del model.model_card_data
    assert evaluator(model) == scores
    assert evaluator.description == "Sentprobe"


@pytest.mark.usefixtures("theirs")
def test_primary_metric_is_among_scores() -> None:
    make = sentprobe.SentenceTransformersEvaluator
    assert make(**SMALL).primary_metric == "sentprobe_geometry_mean_form"
    assert make(name="", primary="geometry_role_anchor", **SMALL).primary_metric == ("geometry_role_anchor")
    probes = make(name="x", contrasts=(), tasks="Order", train=84, test=28)
    assert probes.primary_metric == "x_probe_mean"
    with pytest.raises(sentprobe.UsageError, match=r"^primary: there is no score 'geometry_rol.*"):
        make(primary="geometry_rol_form", **SMALL)


@pytest.mark.usefixtures("theirs")
def test_each_call_adds_a_csv_row(tmp_path: Path) -> None:
    evaluator = sentprobe.SentenceTransformersEvaluator(name="dev", **SMALL)
    path = tmp_path / "eval" / evaluator.csv_file
    assert path.name == "sentprobe_evaluation_dev_results.csv"
    scores = [evaluator(Model(), str(path.parent), epoch, step) for epoch, step in ((0.5, 1), (1, 2))]
    assert evaluator(Model(), str(path.parent)) == scores[0]
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["epoch", "steps", *KEYS]
    assert [row[:2] for row in rows] == [["0.5", "1"], ["1", "2"], ["-1", "-1"]]
    assert [float(value) for value in rows[0][2:]] == [*scores[0].values()]


@pytest.mark.usefixtures("theirs")
def test_csv_file_can_be_turned_off(tmp_path: Path) -> None:
    sentprobe.SentenceTransformersEvaluator(write_csv=False, **SMALL)(Model(), str(tmp_path))
    sentprobe.SentenceTransformersEvaluator(**SMALL)(Model())
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("theirs")
def test_csv_file_of_others_stays(tmp_path: Path) -> None:
    evaluator = sentprobe.SentenceTransformersEvaluator(**SMALL)
    path = tmp_path / evaluator.csv_file
    path.write_text("epoch,steps,accuracy\n1,2,0.5\n")
    with pytest.raises(sentprobe.UsageError, match="its columns are not those of these scores"):
        evaluator(Model(), str(tmp_path))
    assert path.read_text() == "epoch,steps,accuracy\n1,2,0.5\n"
    path.unlink()
    path.mkdir()
    with pytest.raises(sentprobe.UsageError, match="cannot write scores here"):
        evaluator(Model(), str(tmp_path))


@pytest.mark.usefixtures("theirs")
def test_results_have_name_and_step(tmp_path: Path) -> None:
    data = dict(contrasts=(), tasks="Order", train=84, test=28, preset="logreg", out=tmp_path)
    evaluator = sentprobe.SentenceTransformersEvaluator(name="dev", **data)  # type: ignore[arg-type]
    evaluator(Model(), steps=0, epoch=0)
    evaluator(Model(), steps=-1, epoch=1)
    results = sentprobe.read_results(tmp_path).records
    assert {(r.encoder, r.step, r.epoch) for r in results} == {("dev step 0", 0, 0), ("dev epoch 1", None, 1)}


@pytest.mark.usefixtures("theirs")
def test_width_may_not_change_between_steps() -> None:
    evaluator = sentprobe.SentenceTransformersEvaluator(name="dev", **SMALL)
    evaluator(Model(8), steps=1)
    with pytest.raises(sentprobe.EncoderError, match="width 9 after vectors of width 8"):
        evaluator(Model(9), steps=2)


def test_missing_package_is_named_with_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sentence_transformers", "sentence_transformers.base"):
        monkeypatch.setitem(sys.modules, name, None)
    evaluating._EVALUATOR_CLASSES.clear()
    with pytest.raises(sentprobe.EncoderError) as caught:
        sentprobe.SentenceTransformersEvaluator()
    assert str(caught.value) == (
        f"SentenceTransformersEvaluator needs the extra: {format_install('sentence-transformers')}"
    )


def test_import_loads_neither_package_nor_torch() -> None:
    code = (
        "import sys, sentprobe; sentprobe.SentenceTransformersEvaluator, sentprobe.score; "
        "print({'torch', 'sentence_transformers', 'transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.fixture
def minilm() -> Any:
    """A real model."""
    models = pytest.importorskip("sentence_transformers")
    evaluating._EVALUATOR_CLASSES.clear()
    return models.SentenceTransformer(str(packaged_model()), device="cpu")


@pytest.mark.slow
def test_real_model_is_unchanged_by_call(minilm: Any, tmp_path: Path) -> None:
    import torch
    from sentence_transformers.sentence_transformer import evaluation

    evaluator = sentprobe.SentenceTransformersEvaluator(name="dev", **SMALL)
    assert isinstance(evaluator, evaluation.SentenceEvaluator)
    minilm.train()
    minilm[0].eval()
    modes = [module.training for module in minilm.modules()]
    before = torch.get_rng_state().tolist()
    scores = minilm.evaluate(evaluator, str(tmp_path))
    assert [module.training for module in minilm.modules()] == modes
    assert torch.get_rng_state().tolist() == before
    assert evaluator(minilm) == scores
    assert [path.name for path in tmp_path.iterdir()] == [evaluator.csv_file]
    assert scores["dev_geometry_tense_form"] > 0.7
    logs = minilm.model_card_data.training_logs
    assert evaluator.primary_metric in logs[0]
    together = evaluation.SequentialEvaluator([evaluator])
    assert together(minilm)["sequential_score"] == scores[evaluator.primary_metric]


@pytest.mark.slow
def test_real_trainer_calls_both_evaluators(minilm: Any, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    datasets = pytest.importorskip("datasets")
    import sentence_transformers as their
    from sentence_transformers.sentence_transformer import losses

    evaluator = sentprobe.SentenceTransformersEvaluator(name="dev", out=tmp_path / "curve", **SMALL)
    gate = sentprobe.GateEvaluator(contrasts=["role"], n=20)
    rows = {"anchor": ["the man slept"] * 4, "positive": ["the man did sleep"] * 4}
    trainer = their.SentenceTransformerTrainer(
        model=minilm,
        args=their.SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path / "out"),
            max_steps=2,
            per_device_train_batch_size=2,
            eval_strategy="steps",
            eval_steps=1,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
        ),
        train_dataset=datasets.Dataset.from_dict(rows),
        loss=losses.MultipleNegativesRankingLoss(minilm),
        evaluator=[evaluator, gate],
    )
    trainer.train()
    for key in (f"eval_{evaluator.primary_metric}", f"eval_{gate.primary_metric}"):
        assert [entry["step"] for entry in trainer.state.log_history if key in entry] == [1, 2]
    names = sorted(path.name for path in (tmp_path / "curve" / "geometry").iterdir())
    assert [name.split(".")[0] for name in names] == [f"dev_step_{step}" for step in (1, 2) for _ in SMALL["contrasts"]]
    table = next((tmp_path / "out").rglob(evaluator.csv_file)).read_text()
    assert table.count("\n") == 3
