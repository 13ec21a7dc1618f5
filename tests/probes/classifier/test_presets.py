"""Classifier presets: values, overriding and JSON."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.classifier.presets import PRESETS, find_preset, override
from sentprobe.probes.classifier.probe import (
    GRID_FIELDS,
    Activation,
    Masking,
    Optimizer,
    Penalty,
    Preset,
    Scaling,
    StopCriterion,
)

ETTINGER = find_preset("ettinger")

fractions = st.floats(0, 0.9, allow_nan=False)
changed = st.builds(
    replace,
    st.sampled_from([preset for preset in PRESETS if preset.optimizer is not Optimizer.LBFGS]),
    hidden=st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True).map(tuple),
    dropout=st.lists(fractions, min_size=1, max_size=3, unique=True).map(tuple),
    l2=st.lists(fractions, min_size=1, max_size=3, unique=True).map(tuple),
    activation=st.sampled_from(Activation),
    stop=st.sampled_from(StopCriterion),
    patience_resets=st.booleans(),
    average=st.integers(1, 9),
    tolerance=fractions,
)


@given(changed | st.sampled_from(PRESETS))
def test_preset_round_trips_as_json(preset: Preset) -> None:
    assert Preset.from_json(preset.to_json()) == preset


@given(changed)
def test_grid_or_check_needs_validation(preset: Preset) -> None:
    grid = any(len(getattr(preset, name)) > 1 for name in GRID_FIELDS)
    assert preset.needs_validation == (grid or preset.stop is not StopCriterion.TRAINING_LOSS)


def test_known_presets_need_validation() -> None:
    needy = {preset.name for preset in PRESETS if preset.needs_validation}
    assert needy == {"adi", "conneau", "senteval", "logreg"}


def test_logreg_text_names_its_values() -> None:
    assert str(find_preset("logreg")) == (
        "logreg (no hidden layer, optimizer=lbfgs, l2=0.1/1/10/100, penalty=per-batch, max_epochs=1000, "
        "stop=validation-accuracy, tolerance=0.0001, scaling=chosen, precision=float32)"
    )
    assert "l2=0.5/2" in str(override(find_preset("logreg"), [("l2", "0.5,2")]))


BY_STEPS = [preset for preset in PRESETS if preset.optimizer is not Optimizer.LBFGS]


@pytest.mark.parametrize("preset", BY_STEPS, ids=lambda preset: preset.name)
def test_preset_text_names_every_value(preset: Preset) -> None:
    text = str(preset)
    assert text.startswith(f"{preset.name} (hidden ")
    for entry in fields(preset):
        assert entry.name in {"name", "hidden"} or f"{entry.name}=" in text


def test_ettinger_has_the_defaults_of_scikit_learn() -> None:
    neural_network = pytest.importorskip("sklearn.neural_network")
    theirs = neural_network.MLPClassifier().get_params()
    assert ETTINGER.learning_rate == theirs["learning_rate_init"]
    assert (ETTINGER.beta1, ETTINGER.beta2) == (theirs["beta_1"], theirs["beta_2"])
    assert (ETTINGER.epsilon, *ETTINGER.l2) == (theirs["epsilon"], theirs["alpha"])
    assert (ETTINGER.tolerance, ETTINGER.patience) == (theirs["tol"], theirs["n_iter_no_change"])
    assert len({preset.name for preset in PRESETS}) == len(PRESETS)


def test_logreg_has_the_defaults_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    theirs = linear_model.LogisticRegression().get_params()
    logreg = find_preset("logreg")
    assert logreg.tolerance == theirs["tol"]
    assert 1 / theirs["C"] in logreg.l2


def test_presets_have_values_of_papers() -> None:
    """Values of Adi et al. 2017, Conneau et al. 2018 and SentEval."""
    adi, conneau, senteval = map(find_preset, ("adi", "conneau", "senteval"))
    assert (adi.hidden, adi.dropout, adi.masking) == ((0,), (0.8,), Masking.AFTER)
    assert (adi.optimizer, adi.learning_rate, adi.patience) == (Optimizer.ADAGRAD, 0.01, 4)
    assert (conneau.activation, conneau.hidden) == (Activation.SIGMOID, (50, 100, 200))
    assert conneau.dropout == (0.0, 0.1, 0.2)
    assert len(conneau.hidden) * len(conneau.dropout) * len(conneau.l2) == 45
    assert (senteval.learning_rate, senteval.batch, senteval.check_every) == (1e-3, 64, 4)
    assert (senteval.patience, senteval.patience_resets) == (5, False)
    assert (senteval.l2, senteval.penalty) == ((1e-5, 1e-4, 1e-3, 1e-2), Penalty.DECAY)


def test_preset_values_can_be_overridden() -> None:
    options = [("hidden", "50,0"), ("l2", "0"), ("learning_rate", "0.01"), ("scaling", "variance")]
    overridden = override(ETTINGER, [*options, ("patience_resets", "no"), ("dropout", "0.1,0.5")])
    assert (overridden.hidden, overridden.l2, overridden.learning_rate) == ((50, 0), (0.0,), 0.01)
    assert (overridden.dropout, overridden.patience_resets) == ((0.1, 0.5), False)
    assert overridden.scaling is Scaling.VARIANCE


BAD_OPTIONS = [
    (("bacth", "3"), "preset ettinger has no option 'bacth' (did you mean 'batch'?)"),
    (("name", "foo"), "preset ettinger has no option 'name'"),
    (("batch", "0"), "option batch=0: a whole number from 1 is expected"),
    (("hidden", "50;100"), "option hidden=50;100: whole numbers from 0 are expected, with commas"),
    (("hidden", ""), "option hidden=: whole numbers from 0 are expected"),
    (("l2", "0,x"), "option l2=0,x: a number is expected"),
    (("l2", "0,0.0"), "l2=0/0 has a value twice"),
    (("dropout", "1"), "dropout must be less than 1"),
    (("learning_rate", "fast"), "option learning_rate=fast: a number is expected"),
    (("learning_rate", "nan"), "option learning_rate=nan: a number is expected"),
    (("learning_rate", "0"), "learning_rate must be more than 0"),
    (("l2", "-1"), "l2=-1.0 is negative"),
    (("optimizer", "lbfgs"), "optimizer=lbfgs needs activation=none"),
    (("average", "0"), "option average=0: a whole number from 1 is expected"),
    (("average", "1.5"), "option average=1.5: a whole number from 1 is expected"),
    (("average", "1001"), "preset ettinger: average must be at most 1,000"),
    (("scaling", "varience"), "(did you mean 'variance'?)"),
]


@pytest.mark.parametrize(("option", "message"), BAD_OPTIONS)
def test_bad_option_is_refused(option: tuple[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        override(ETTINGER, [option])
    assert message in str(caught.value)


def test_logreg_refuses_average() -> None:
    with pytest.raises(UsageError, match="average=2 has no effect with optimizer=lbfgs"):
        override(find_preset("logreg"), [("average", "2")])


BAD_JSON = [
    ({"average": 0}, "average must be more than 0"),
    ({"batch": None}, "None is not of type int"),
    ({"batch": 10**400}, "a number is too large"),
    ({"patience": -(10**400)}, "a number is too large"),
    ({"l2": [10**400]}, "a number is too large"),
    ({"learning_rate": 10**400}, "a number is too large"),
    ({"batch": True}, "True is not of type int"),
    ({"hidden": 3}, "3 is not a list"),
    ({"l2": ["x"]}, "'x' is not of type float"),
    ({"scaling": "none"}, "'none' is not a valid Scaling"),
    ({"bacth": 3}, "a preset has other fields than in this version: bacth"),
]


@pytest.mark.parametrize(("change", "message"), BAD_JSON)
def test_bad_json_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SentprobeError, match=message.replace("(", r"\(")):
        Preset.from_json(ETTINGER.to_json() | change)


def test_empty_value_is_refused() -> None:
    with pytest.raises(UsageError, match="preset ettinger: l2 has no value"):
        replace(ETTINGER, l2=())


def test_unknown_preset_suggests_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'ettinger'"):
        find_preset("etinger")
