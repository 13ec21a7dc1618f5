"""A classifier described as in a paper's methods section."""

from collections.abc import Iterator, Mapping, Sequence

from sentprobe.probes.report.references import Citation, Piece
from sentprobe.probes.trainer.classifier import Activation, Optimizer, Preset, Scaling, StopCriterion
from sentprobe.probes.trainer.presets import format_preset_name

PRESET_PAPERS: Mapping[str, str] = {
    "ettinger": "ettinger2018",
    "adi": "adi2017",
    "conneau": "conneau2018",
    "senteval": "senteval",
}

OPTIMIZERS: Mapping[Optimizer, tuple[str, str]] = {
    Optimizer.ADAM: ("Adam", "kingma2015"),
    Optimizer.ADAGRAD: ("AdaGrad", "duchi2011"),
}

STOPS: Mapping[StopCriterion, str] = {
    StopCriterion.TRAINING_LOSS: "the training loss",
    StopCriterion.VALIDATION_LOSS: "the loss on validation",
    StopCriterion.VALIDATION_ACCURACY: "the accuracy on validation",
}

SCALINGS: Mapping[Scaling, str] = {
    Scaling.AS_IS: "Vectors are used as they are",
    Scaling.UNIT: "Vectors are centred, and scaled by one factor to a mean length of 1",
    Scaling.VARIANCE: "Each dimension of the vectors is brought to mean 0 and variance 1",
    Scaling.WHITEN: "Vectors are whitened",
    Scaling.CHOSEN: "Vectors are whitened, or centred and scaled to a mean length of 1, as validation decides",
}


def describe_classifier(preset: Preset, *, labels: int) -> Iterator[Piece]:
    """Yield the sentences about a classifier of tasks with at most this number of labels."""
    yield "The probe is "
    yield from _describe_shape(preset, labels)
    yield f" (the preset {format_preset_name(preset)} of sentprobe"
    if preset.name in PRESET_PAPERS:
        yield ", after"
        yield Citation((PRESET_PAPERS[preset.name],), bare=True)
    yield "). "
    if preset.optimizer is Optimizer.LBFGS:
        chosen = ", chosen by the accuracy on validation" if len(preset.l2) > 1 else ""
        yield (
            f"It is fitted by L-BFGS, with an L2 penalty of {_format_values(preset.l2)}{chosen}, until no component of "
            f"the gradient is above {preset.tolerance:g}, in at most {preset.max_epochs:,} iterations. "
        )
    else:
        yield from _describe_training(preset)
    learned = "" if preset.scaling is Scaling.AS_IS else ", as learned from the training sentences"
    yield f"{SCALINGS[preset.scaling]}{learned}. "
    if preset.average > 1:
        yield f"The probabilities of {preset.average} probes are averaged into each figure. "


def _describe_shape(preset: Preset, labels: int) -> Iterator[Piece]:
    if preset.activation is Activation.NONE:
        yield "a multinomial logistic regression"
        return
    widths = [f"{width:,} units" if width else "as many units as inputs" for width in preset.hidden]
    name = {Activation.RELU: "ReLU", Activation.SIGMOID: "sigmoid"}[preset.activation]
    yield f"a classifier with one hidden layer of {' or '.join(widths)} ({name}) and a softmax"
    if 0 < preset.linear_from <= labels:
        yield f", or without a hidden layer where there are {preset.linear_from} labels or more"


def _describe_training(preset: Preset) -> Iterator[Piece]:
    name, key = OPTIMIZERS[preset.optimizer]
    passes = "pass over the items" if preset.check_every == 1 else f"{preset.check_every} passes over the items"
    yield f"It is trained with {name}"
    yield Citation((key,))
    yield (
        f" at a learning rate of {preset.learning_rate:g}, in batches of {preset.batch}, with an "
        f"L2 penalty of {_format_values(preset.l2)}"
    )
    if any(preset.dropout):
        yield f" and dropout of {_format_values(preset.dropout)}"
    yield (
        f", until {STOPS[preset.stop]} has not improved by more than {preset.tolerance:g} in more than "
        f"{preset.patience} checks{' in a row' if preset.patience_resets else ''}, one after every {passes}"
    )
    if preset.enough:
        yield f", or the training loss is below {preset.enough:g}"
    best = preset.stop is not StopCriterion.TRAINING_LOSS
    kept_text = "; the weights of the best check are kept" if best else ""
    yield f", and for at most {preset.max_epochs:,} passes{kept_text}. "
    grid = [name for name in ("hidden", "dropout", "l2") if len(getattr(preset, name)) > 1]
    if grid:
        names = {"hidden": "the width", "dropout": "dropout", "l2": "the penalty"}
        chosen = join_words([names[option] for option in grid])
        yield f"{chosen[0].upper()}{chosen[1:]} are chosen by the accuracy on validation. "


def _format_values(values: tuple[float, ...]) -> str:
    return join_words([f"{value:g}" for value in values], last="or")


def join_words(texts: Sequence[str], *, last: str = "and") -> str:
    """Join texts as in a sentence.

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    *first, end = texts
    return f"{', '.join(first)} {last} {end}" if first else end
