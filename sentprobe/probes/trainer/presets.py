"""The classifiers of the papers, each in full in one table, and the points of their grids."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.trainer.classifier import (
    GRID,
    Activation,
    Masking,
    Optimizer,
    Penalty,
    Precision,
    Preset,
    Scaling,
    Start,
    Stop,
    differences,
)
from sentprobe.specs import OptionPair, with_options

PRESETS = (
    Preset(
        name="ettinger",
        # Ettinger et al. 2018, section 7 and their xy_classify.py: scikit-learn's MLPClassifier,
        # one hidden ReLU layer of the size of the input, at most 700 passes.
        hidden=(0,),
        activation=Activation.RELU,
        max_epochs=700,
        # Defaults of scikit-learn (1.9); they left those of the version that they had.
        linear_from=0,
        dropout=(0.0,),
        masking=Masking.AFTER,
        start=Start.GLOROT,
        optimizer=Optimizer.ADAM,
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        l2=(1e-4,),
        penalty=Penalty.PER_BATCH,
        batch=200,
        check_every=1,
        stop=Stop.TRAINING_LOSS,
        tolerance=1e-4,
        patience=10,
        patience_resets=True,
        # Ours: their code gives the vectors to the classifier as they are, and then the length of
        # the vectors decides whether training gets going at all before it stops. See Scaling.
        scaling=Scaling.UNIT,
        # As in scikit-learn. To end at a small loss, with all training items known, would save a
        # quarter of the time, and cost up to 0.7 points (docs/trainer.md).
        enough=0.0,
        precision=Precision.AUTO,
    ),
    Preset(
        name="adi",
        # Adi et al. 2017, section 3 and appendix: one hidden ReLU layer of the size of the input,
        # dropout 0.8 before the softmax, AdaGrad with 0.01, stop after 5 epochs in which the loss
        # on validation does not improve.
        hidden=(0,),
        activation=Activation.RELU,
        dropout=(0.8,),
        masking=Masking.AFTER,
        optimizer=Optimizer.ADAGRAD,
        learning_rate=1e-2,
        check_every=1,
        stop=Stop.VALIDATION_LOSS,
        tolerance=0.0,
        patience=4,
        patience_resets=True,
        # Defaults of Torch7, which they used.
        start=Start.FAN_IN,
        epsilon=1e-10,
        l2=(0.0,),
        penalty=Penalty.DECAY,
        # Ours: neither is in what we have of the paper.
        batch=32,
        max_epochs=200,
        # Ours, as in ettinger; nothing else ends training.
        scaling=Scaling.UNIT,
        linear_from=0,
        beta1=0.0,
        beta2=0.0,
        enough=0.0,
        precision=Precision.AUTO,
    ),
    Preset(
        name="conneau",
        # Conneau et al. 2018, section 4 and appendix: one hidden sigmoid layer; width, dropout and
        # L2 penalty chosen on validation; logistic regression for WC (1,000 labels; the other
        # tasks have at most 20). The values of the L2 grid are SentEval's, and none.
        hidden=(50, 100, 200),
        activation=Activation.SIGMOID,
        linear_from=100,
        dropout=(0.0, 0.1, 0.2),
        l2=(0.0, 1e-5, 1e-4, 1e-3, 1e-2),
        # As in SentEval's code, which see.
        masking=Masking.BEFORE,
        start=Start.FAN_IN,
        optimizer=Optimizer.ADAM,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        penalty=Penalty.DECAY,
        max_epochs=200,
        stop=Stop.VALIDATION_ACCURACY,
        tolerance=0.0,
        scaling=Scaling.AS_IS,
        # Ours, for speed at the same accuracy (docs/trainer.md): batches four times as large, at a
        # higher rate, and a check after every pass that counts anew when accuracy improves.
        batch=256,
        learning_rate=2e-3,
        check_every=1,
        patience=15,
        patience_resets=True,
        enough=0.0,
        precision=Precision.AUTO,
    ),
    Preset(
        name="senteval",
        # SentEval's senteval/tools/classifier.py and validation.py (Conneau & Kiela 2018): batch,
        # check every 4 passes, at most 204 of them (it goes on while no more than 200 are done),
        # the sixth check without improvement ends it, and the count never goes back to 0.
        activation=Activation.SIGMOID,
        masking=Masking.BEFORE,
        dropout=(0.0,),
        optimizer=Optimizer.ADAM,
        l2=(1e-5, 1e-4, 1e-3, 1e-2),
        penalty=Penalty.DECAY,
        batch=64,
        max_epochs=204,
        check_every=4,
        stop=Stop.VALIDATION_ACCURACY,
        tolerance=0.0,
        patience=5,
        patience_resets=False,
        scaling=Scaling.AS_IS,
        # Its default is no hidden layer (here: activation=none); 50 is the width of its examples
        # with one. probing.py: WC (1,000 labels; the other tasks have at most 20) never has one.
        hidden=(50,),
        linear_from=100,
        # Defaults of PyTorch, which it leaves.
        start=Start.FAN_IN,
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        enough=0.0,
        precision=Precision.AUTO,
    ),
    Preset(
        name="logreg",
        # The defaults of scikit-learn's LogisticRegression (1.9): C=1, tol=1e-4, no penalty on the
        # intercept. Ours: whitened inputs, on which the penalty is; one-hot ones stay as they are.
        hidden=(0,),
        activation=Activation.NONE,
        linear_from=0,
        optimizer=Optimizer.LBFGS,
        l2=(1.0,),
        penalty=Penalty.PER_BATCH,
        max_epochs=1000,
        tolerance=1e-4,
        scaling=Scaling.WHITEN,
        precision=Precision.FLOAT32,
        # Without a meaning here.
        dropout=(0.0,),
        masking=Masking.AFTER,
        start=Start.GLOROT,
        learning_rate=1.0,
        beta1=0.0,
        beta2=0.0,
        epsilon=0.0,
        batch=1,
        check_every=1,
        stop=Stop.TRAINING_LOSS,
        patience=1,
        patience_resets=True,
        enough=0.0,
    ),
)
"""Every value may be overridden by :func:`override`."""


def find_preset(name: str) -> Preset:
    """Return the preset of that name.

    >>> find_preset("ettinger").batch
    200
    """
    table = {preset.name: preset for preset in PRESETS}
    if name not in table:
        near = suggest(name, table)
        raise UsageError(f"unknown preset {name!r}{near}; known: {', '.join(table)}")
    return table[name]


def short_name(preset: Preset) -> str:
    """Return the preset's name, with the values that were overridden.

    >>> short_name(override(find_preset("ettinger"), [("batch", "64"), ("hidden", "50,100")]))
    'ettinger with hidden=50/100, batch=64'
    """
    usual = {each.name: each for each in PRESETS}.get(preset.name)
    changed = differences(preset, usual) if usual else ""
    return preset.name + (f" with {changed}" if changed else "")


def override(preset: Preset, options: Iterable[OptionPair]) -> Preset:
    """Return *preset* with the named fields read from text; a grid is a list with commas.

    >>> override(find_preset("ettinger"), [("batch", "64"), ("hidden", "50,100")]).hidden
    (50, 100)
    """
    return with_options(preset, options, owner=f"preset {preset.name}", fixed=("name",))


def careful(preset: Preset) -> Preset:
    """Return the classifier with weights that are least surprised by the validation items.

    A probe whose probabilities count must not be sure of what it does not know. It also waits
    longer, since on few items nothing is learned for many passes, and it does not go on for what
    is not worth having. L-BFGS stays as it is: there the penalty sees to that.
    """
    if preset.optimizer is Optimizer.LBFGS:
        return preset
    return replace(
        preset,
        stop=Stop.VALIDATION_LOSS,
        check_every=1,
        tolerance=1e-3,
        patience=max(30, preset.patience),
        patience_resets=True,
        enough=0.0,
    )


WIDTHS = (8, 32, 128)
"""The hidden layers of probes of growing complexity."""


def linear(preset: Preset) -> Preset:
    """Return the classifier without a hidden layer."""
    return replace(preset, activation=Activation.NONE, dropout=(0.0,))


def of_widths(preset: Preset) -> Preset:
    """Return the classifier with hidden layers of WIDTHS, however many labels there are.

    Raises:
        UsageError: it has none.
    """
    if preset.activation is Activation.NONE:
        raise UsageError(
            f"preset {preset.name} has no hidden layer that could be wider; use another, such as "
            "ettinger"
        )
    return replace(preset, hidden=WIDTHS, linear_from=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankShape:
    """The sizes that all probes over the same vectors share."""

    dim: int
    slots: int
    words: int
    labels: int
    word_dim: int = 0
    """Width of the probe words' vectors; 0: they are one-hot."""

    @property
    def word_rows(self) -> int:
        """How many numbers stand for an item's probe words, and so the rows of their weights."""
        return self.slots * (self.word_dim or self.words)

    @property
    def inputs(self) -> int:
        """Width of the input if the probe words were written out, one-hot or as word vectors."""
        return self.dim + self.word_rows

    def linear(self, preset: Preset) -> bool:
        """Whether the preset has no hidden layer here."""
        many = 0 < preset.linear_from <= self.labels
        return many or preset.activation is Activation.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoint:
    """One probe: a seed and a value of each field that may be a grid."""

    seed: int
    hidden: int
    """Width of the hidden layer, as it is; 0: there is none."""
    dropout: float
    l2: float

    def chosen(self, preset: Preset) -> dict[str, float]:
        """Return the values of those fields that have several in the preset."""
        return {name: getattr(self, name) for name in GRID if len(getattr(preset, name)) > 1}


def points_of(preset: Preset, shape: BankShape, *, seed: int) -> tuple[GridPoint, ...]:
    """Return the grid of *preset* in order; without a hidden layer only ``l2`` counts."""
    axes: Mapping[str, tuple[float, ...]] = {name: getattr(preset, name) for name in GRID}
    if shape.linear(preset):
        return tuple(GridPoint(seed=seed, hidden=0, dropout=0.0, l2=l2) for l2 in preset.l2)
    return tuple(
        GridPoint(seed=seed, hidden=int(hidden) or shape.inputs, dropout=dropout, l2=l2)
        for hidden, dropout, l2 in product(*axes.values())
    )
