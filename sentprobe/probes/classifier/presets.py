"""Classifier presets with the settings of the papers, and the points of a preset's grid."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.specs import OptionPair, replace_options
from sentprobe.probes.classifier import probe as cl

PRESETS = (
    cl.Preset(
        name="ettinger",
        # Ettinger et al. 2018, section 7 and their xy_classify.py: scikit-learn's MLPClassifier,
        # one hidden ReLU layer of the size of the input, at most 700 passes.
        hidden=(0,),
        activation=cl.Activation.RELU,
        max_epochs=700,
        # Defaults of scikit-learn 1.9; the paper used those of its version.
        start=cl.WeightInitialization.GLOROT,
        optimizer=cl.Optimizer.ADAM,
        learning_rate=1e-3,
        l2=(1e-4,),
        penalty=cl.Penalty.PER_BATCH,
        batch=200,
        stop=cl.StopCriterion.TRAINING_LOSS,
        tolerance=1e-4,
        patience=10,
        # Our choice: their code does not scale vectors, so that the length of the vectors decides
        # whether training makes progress before it stops. See Scaling.
        scaling=cl.Scaling.UNIT,
        # As in scikit-learn. Stopping at a small training loss would save a quarter of the time and
        # cost up to 0.7 points of accuracy (docs/trainer.md).
        enough=0.0,
    ),
    cl.Preset(
        name="adi",
        # Adi et al. 2017, section 3 and appendix: one hidden ReLU layer of the size of the input,
        # dropout 0.8 before the softmax, AdaGrad with 0.01, stop after 5 epochs in which the loss
        # on validation does not improve.
        hidden=(0,),
        activation=cl.Activation.RELU,
        dropout=(0.8,),
        masking=cl.Masking.AFTER,
        optimizer=cl.Optimizer.ADAGRAD,
        learning_rate=1e-2,
        stop=cl.StopCriterion.VALIDATION_LOSS,
        tolerance=0.0,
        patience=4,
        # Defaults of Torch7, which they used.
        start=cl.WeightInitialization.FAN_IN,
        epsilon=1e-10,
        l2=(0.0,),
        penalty=cl.Penalty.DECAY,
        # Our choice, since the paper states neither.
        batch=32,
        max_epochs=200,
        # Our choice, as in ettinger.
        scaling=cl.Scaling.UNIT,
        beta1=0.0,
        beta2=0.0,
    ),
    cl.Preset(
        name="conneau",
        # Conneau et al. 2018, section 4 and appendix: one hidden sigmoid layer; width, dropout and
        # L2 penalty chosen on validation; logistic regression for WC (1,000 labels; the other
        # tasks have at most 20). The grid of L2 penalties is SentEval's, and 0.
        hidden=(50, 100, 200),
        activation=cl.Activation.SIGMOID,
        linear_from=100,
        dropout=(0.0, 0.1, 0.2),
        l2=(0.0, 1e-5, 1e-4, 1e-3, 1e-2),
        # As in SentEval's code.
        masking=cl.Masking.BEFORE,
        start=cl.WeightInitialization.FAN_IN,
        optimizer=cl.Optimizer.ADAM,
        penalty=cl.Penalty.DECAY,
        max_epochs=200,
        stop=cl.StopCriterion.VALIDATION_ACCURACY,
        tolerance=0.0,
        scaling=cl.Scaling.AS_IS,
        # Our choice, for speed at the same accuracy (docs/trainer.md): batches four times as large,
        # a higher learning rate, a check after every pass, and patience that resets.
        batch=256,
        learning_rate=2e-3,
        check_every=1,
        patience=15,
        patience_resets=True,
    ),
    cl.Preset(
        name="senteval",
        # SentEval's senteval/tools/classifier.py and validation.py (Conneau & Kiela 2018): batch,
        # check every 4 passes, at most 204 passes (training continues while at most 200 are done),
        # end at the sixth check without improvement, counted over the whole training.
        activation=cl.Activation.SIGMOID,
        masking=cl.Masking.BEFORE,
        optimizer=cl.Optimizer.ADAM,
        l2=(1e-5, 1e-4, 1e-3, 1e-2),
        penalty=cl.Penalty.DECAY,
        batch=64,
        max_epochs=204,
        check_every=4,
        stop=cl.StopCriterion.VALIDATION_ACCURACY,
        tolerance=0.0,
        patience=5,
        patience_resets=False,
        scaling=cl.Scaling.AS_IS,
        # SentEval's default is no hidden layer (here: activation=none), and the hidden layers in
        # its examples have width 50. WC (1,000 labels; the other tasks have at most 20) never has
        # a hidden layer (probing.py).
        hidden=(50,),
        linear_from=100,
        # Defaults of PyTorch.
        start=cl.WeightInitialization.FAN_IN,
        learning_rate=1e-3,
    ),
    cl.Preset(
        name="logreg",
        # The defaults of scikit-learn's LogisticRegression (1.9): tol=1e-4, no penalty on the
        # intercept. Our choice: penalty (1/C) and scaling are chosen on validation.
        hidden=(0,),
        activation=cl.Activation.NONE,
        optimizer=cl.Optimizer.LBFGS,
        l2=(0.1, 1.0, 10.0, 100.0),
        penalty=cl.Penalty.PER_BATCH,
        max_epochs=1000,
        tolerance=1e-4,
        scaling=cl.Scaling.CHOSEN,
        stop=cl.StopCriterion.VALIDATION_ACCURACY,
        precision=cl.Precision.FLOAT32,
        # Ignored by L-BFGS.
        start=cl.WeightInitialization.GLOROT,
        learning_rate=1.0,
        beta1=0.0,
        beta2=0.0,
        epsilon=0.0,
        batch=1,
        patience=1,
    ),
)


def find_preset(name: str) -> cl.Preset:
    """Return the preset with this name. Raises UsageError if there is none.

    >>> find_preset("ettinger").batch
    200
    """
    table = {preset.name: preset for preset in PRESETS}
    if name not in table:
        suggestion = suggest(name, table)
        raise UsageError(f"unknown preset {name!r}{suggestion}; known: {', '.join(table)}")
    return table[name]


def format_preset_name(preset: cl.Preset) -> str:
    """Return a preset's name, and its values that ``PRESETS`` does not have: "ettinger with batch=64"."""
    default_preset = {default.name: default for default in PRESETS}.get(preset.name)
    changed = cl.describe_differences(preset, default_preset) if default_preset else ""
    return preset.name + (f" with {changed}" if changed else "")


def override(preset: cl.Preset, options: Iterable[OptionPair]) -> cl.Preset:
    """Return a copy of a preset in which *options* replace fields. Raises UsageError for an invalid option.

    An option is the name of a field and its new value as text. Commas separate the values of a grid.

    >>> override(find_preset("ettinger"), [("batch", "64"), ("hidden", "50,100")]).hidden
    (50, 100)
    """
    return replace_options(preset, options, owner=f"preset {preset.name}", fixed=("name",))


def calibrate_stopping(preset: cl.Preset) -> cl.Preset:
    """Return the preset with early stopping on validation loss, so that probabilities are calibrated.

    Patience is at least 30 passes, since probes on few items may learn nothing for many passes. L-BFGS does not stop
    early: there, the validation loss selects the best probe of a grid.
    """
    if preset.optimizer is cl.Optimizer.LBFGS:
        return replace(preset, stop=cl.StopCriterion.VALIDATION_LOSS) if preset.needs_validation else preset
    return replace(
        preset,
        stop=cl.StopCriterion.VALIDATION_LOSS,
        check_every=1,
        tolerance=1e-3,
        patience=max(30, preset.patience),
        patience_resets=True,
        enough=0.0,
    )


MIN_UPDATES = 16
"""Minimum number of weight updates per pass over a portion of the training items."""


def reduce_batch(preset: cl.Preset, *, items: int) -> cl.Preset:
    """Return the preset with batches that are small enough for MIN_UPDATES updates per pass over *items* items."""
    if preset.optimizer is cl.Optimizer.LBFGS:
        return preset
    return replace(preset, batch=max(1, min(preset.batch, items // MIN_UPDATES)))


HIDDEN_WIDTHS = (8, 32, 128)


def remove_hidden_layer(preset: cl.Preset) -> cl.Preset:
    """Return the preset without a hidden layer."""
    return replace(preset, activation=cl.Activation.NONE, dropout=(0.0,))


def set_hidden_widths(preset: cl.Preset) -> cl.Preset:
    """Return the preset with the grid HIDDEN_WIDTHS. Raises UsageError if the preset has no hidden layer."""
    if preset.activation is cl.Activation.NONE:
        raise UsageError(f"preset {preset.name} has no hidden layer that could be wider; use another, such as ettinger")
    return replace(preset, hidden=HIDDEN_WIDTHS, linear_from=0)


COLUMN_MULTIPLE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class BankShape:
    """Input and output sizes that all probes of a bank share; a bank holds the weights of probes trained together."""

    dim: int
    """Width of the sentence vectors."""
    slots: int
    """Number of probe words of an item."""
    words: int
    """Number of distinct probe words in the dataset."""
    labels: int
    word_dim: int = 0
    """Width of the vectors of probe words; 0: probe words are one-hot."""

    @property
    def word_rows(self) -> int:
        """Number of inputs that encode an item's probe words."""
        return self.slots * (self.word_dim or self.words)

    @property
    def inputs(self) -> int:
        """Width of the whole input: sentence vector and probe words."""
        return self.dim + self.word_rows

    @property
    def columns(self) -> int:
        """Number of columns of an input matrix: the inputs, a 1 for the bias, and zeros up to a multiple of 32."""
        # Products in bfloat16 are slow if the width is no such multiple.
        return -(-(self.inputs + 1) // COLUMN_MULTIPLE) * COLUMN_MULTIPLE

    def is_linear(self, preset: cl.Preset) -> bool:
        """Return whether probes with *preset* lack a hidden layer. Some presets omit it for tasks with many labels."""
        has_many_labels = 0 < preset.linear_from <= self.labels
        return has_many_labels or preset.activation is cl.Activation.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoint:
    """The settings in which trained probes differ: the seed, and one value of each grid field."""

    seed: int
    hidden: int
    """Width of the hidden layer; 0: no hidden layer."""
    dropout: float
    l2: float
    max_epochs: int | None = None
    """Maximum number of passes, if it is below that of the preset; else None."""
    is_whitened: bool | None = None
    """With ``scaling=chosen``: whether the probe reads the whitened vectors. None with another scaling."""

    def select_grid_values(self, preset: cl.Preset) -> dict[str, float]:
        """Return this point's values of the fields that the grid varies, including ``whitened`` (0.0 or 1.0)."""
        scaling = {} if self.is_whitened is None else {"whitened": float(self.is_whitened)}
        return {name: getattr(self, name) for name in cl.GRID_FIELDS if len(getattr(preset, name)) > 1} | scaling


def list_grid_points(
    preset: cl.Preset, shape: BankShape, *, seed: int, max_epochs: int | None = None
) -> tuple[GridPoint, ...]:
    """Return a grid point for each combination of a preset's grid values, all with the same seed.

    Probes without a hidden layer differ only in ``l2`` and, with ``scaling=chosen``, in whitening.
    """
    if shape.is_linear(preset):
        halves = (False, True) if preset.scaling is cl.Scaling.CHOSEN else (None,)
        return tuple(
            GridPoint(seed=seed, hidden=0, dropout=0.0, l2=l2, max_epochs=max_epochs, is_whitened=half)
            for half in halves
            for l2 in preset.l2
        )
    return tuple(
        GridPoint(seed=seed, hidden=hidden or shape.inputs, dropout=dropout, l2=l2, max_epochs=max_epochs)
        for hidden, dropout, l2 in product(preset.hidden, preset.dropout, preset.l2)
    )
