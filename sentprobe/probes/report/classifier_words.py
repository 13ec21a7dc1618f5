"""A classifier in the words of a paper's methods section, with its figures."""

from collections.abc import Iterator, Mapping, Sequence

from sentprobe.probes.report.cited_text import Cited, Piece
from sentprobe.probes.trainer.classifier import Activation, Optimizer, Preset, Scaling, Stop
from sentprobe.probes.trainer.presets import short_name

PAPERS: Mapping[str, str] = {
    "ettinger": "ettinger2018",
    "adi": "adi2017",
    "conneau": "conneau2018",
    "senteval": "senteval",
}
"""The key of the paper that a preset is of."""

OPTIMIZERS: Mapping[Optimizer, tuple[str, str]] = {
    Optimizer.ADAM: ("Adam", "kingma2015"),
    Optimizer.ADAGRAD: ("AdaGrad", "duchi2011"),
}

STOPS: Mapping[Stop, str] = {
    Stop.TRAINING_LOSS: "the training loss",
    Stop.VALIDATION_LOSS: "the loss on validation",
    Stop.VALIDATION_ACCURACY: "the accuracy on validation",
}

SCALINGS: Mapping[Scaling, str] = {
    Scaling.AS_IS: "Vectors are used as they are",
    Scaling.UNIT: "Vectors are centred, and scaled by one factor to a mean length of 1",
    Scaling.VARIANCE: "Each dimension of the vectors is brought to mean 0 and variance 1",
    Scaling.WHITEN: "Vectors are whitened",
}


def classifier_words(preset: Preset, *, labels: int) -> Iterator[Piece]:
    """Yield the sentences about a classifier, of tasks with at most so many labels."""
    yield "The probe is "
    yield from _shape(preset, labels)
    yield f" (the preset {short_name(preset)} of sentprobe"
    if preset.name in PAPERS:
        yield ", after"
        yield Cited((PAPERS[preset.name],), bare=True)
    yield "). "
    if preset.optimizer is Optimizer.LBFGS:
        yield (
            f"It is fitted by L-BFGS, with an L2 penalty of {_values(preset.l2)}, until no "
            f"component of the gradient is above {preset.tolerance:g}, in at most "
            f"{preset.max_epochs:,} iterations. "
        )
    else:
        yield from _training(preset)
    learned = "" if preset.scaling is Scaling.AS_IS else ", as learned from the training sentences"
    yield f"{SCALINGS[preset.scaling]}{learned}. "
    if preset.average > 1:
        yield f"The probabilities of {preset.average} probes are averaged into each figure. "


def _shape(preset: Preset, labels: int) -> Iterator[Piece]:
    if preset.activation is Activation.NONE:
        yield "a multinomial logistic regression"
        return
    widths = [f"{width:,} units" if width else "as many units as inputs" for width in preset.hidden]
    name = {Activation.RELU: "ReLU", Activation.SIGMOID: "sigmoid"}[preset.activation]
    yield f"a classifier with one hidden layer of {' or '.join(widths)} ({name}) and a softmax"
    if 0 < preset.linear_from <= labels:
        yield f", or without a hidden layer where there are {preset.linear_from} labels or more"


def _training(preset: Preset) -> Iterator[Piece]:
    name, key = OPTIMIZERS[preset.optimizer]
    yield f"It is trained with {name}"
    yield Cited((key,))
    yield (
        f" at a learning rate of {preset.learning_rate:g}, in batches of {preset.batch}, with an "
        f"L2 penalty of {_values(preset.l2)}"
    )
    if any(preset.dropout):
        yield f" and dropout of {_values(preset.dropout)}"
    yield (
        f", until {STOPS[preset.stop]} has not improved by more than {preset.tolerance:g} in more "
        f"than {preset.patience} checks{' in a row' if preset.patience_resets else ''}, one after "
        f"every {_ordinal(preset.check_every)}"
    )
    if preset.enough:
        yield f", or the training loss is below {preset.enough:g}"
    best = preset.stop is not Stop.TRAINING_LOSS
    kept = "; the weights of the best check are kept" if best else ""
    yield f", and for at most {preset.max_epochs:,} passes{kept}. "
    grid = [name for name in ("hidden", "dropout", "l2") if len(getattr(preset, name)) > 1]
    if grid:
        names = {"hidden": "the width", "dropout": "dropout", "l2": "the penalty"}
        chosen = listed([names[each] for each in grid])
        yield f"{chosen[0].upper()}{chosen[1:]} are chosen by the accuracy on validation. "


def _ordinal(passes: int) -> str:
    return "pass over the items" if passes == 1 else f"{passes} passes over the items"


def _values(values: tuple[float, ...]) -> str:
    return listed([f"{value:g}" for value in values], last="or")


def listed(texts: Sequence[str], *, last: str = "and") -> str:
    """Write texts as a sentence lists them.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *first, end = texts
    return f"{', '.join(first)} {last} {end}" if first else end
