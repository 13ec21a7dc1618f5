"""The encoders that Python is given: specs, models, functions, or lists of them."""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from secrets import token_hex
from typing import Any, TypeAlias, TypeVar

from sentprobe.errors import GivenError
from sentprobe.probes.encoders.erasure import NOTHING, erase_each, with_erasure
from sentprobe.probes.encoders.kinds import SpecArgument, find_kind, make_encoders, read_spec
from sentprobe.probes.encoders.protocol import Baseline, Encoder, digest
from sentprobe.probes.encoders.python import PythonEncoder, as_array, style_of, wrap
from sentprobe.probes.encoders.storage import StorageOptions, store, with_storage
from sentprobe.specs import Spec, check_names

OneGiven: TypeAlias = Encoder | Baseline | Spec | str | Callable[..., Any]
"""A spec, an encoder, a function of a list of sentences, or an object with ``encode``."""

EncodersGiven: TypeAlias = OneGiven | Iterable[OneGiven] | object
"""One or several of them; ``object``: a model of any library, which no type describes."""

Known: TypeAlias = Encoder | Baseline | Spec
"""What encoders are made of, or are."""

Placeable = TypeVar("Placeable", bound=Encoder | Baseline)

WANTED = (
    "a spec such as 'bow', a function of a list of sentences, an object with encode, "
    "or a list of these"
)


def find_encoders(given: EncodersGiven) -> list[Known]:
    """Return what is given as encoders and specs; a function or model is wrapped.

    Raises:
        UsageError: a spec is wrong; two are of one name.
        GivenError: something cannot be an encoder.
    """
    found = [_known(each) for each in (_single(given) or _several(given))]
    check_names([each for each in found if isinstance(each, Spec)])
    return found


def make_known(known: Iterable[Known], *, seed: int) -> list[Encoder | Baseline]:
    """Return the encoders, those of specs made with *seed*."""
    return [
        made
        for each in known
        for made in (make_encoders(each, seed=seed) if isinstance(each, Spec) else [each])
    ]


def in_ways(
    known: Iterable[Known], asked: StorageOptions, *, erase: Sequence[str] = ()
) -> list[Known]:
    """Return the encoders, also stored in the ways that are asked for, and without properties.

    - erase: paths of the datasets whose labels say what these are

    Baselines stay as they are.
    """
    found: list[Known] = []
    for each in known:
        if isinstance(each, Spec):
            has_vectors = find_kind(each).argument is not SpecArgument.NONE
            stored = with_erasure(with_storage(each, asked), erase)
            found.append(stored if has_vectors else each)
        elif isinstance(each, Encoder):
            found += store(each, asked, label=each.name)
            found += erase_each([each], (NOTHING, *erase), label=each.name)
        else:
            found.append(each)
    return found


def placed_encoders(
    encoders: Iterable[Placeable], lists: Iterable[Iterable[str]]
) -> list[Placeable]:
    """Return the encoders; those that go by the order of the sentences are told each once.

    Raises:
        EncoderError: an encoder has vectors for more or fewer.
    """
    made = list(encoders)
    if not any(hasattr(each, "in_order") for each in made):
        return made
    sentences = list(dict.fromkeys(chain.from_iterable(lists)))
    return [each.in_order(sentences) if hasattr(each, "in_order") else each for each in made]


def is_encoder(given: object) -> bool:
    """Say whether an object can be an encoder as it is: it is no spec, and no list of encoders."""
    if inspect.isclass(given):
        return False
    return isinstance(given, Encoder | Baseline) or style_of(given) is not None


def _single(given: object) -> list[object]:
    # A model of sentence-transformers can be called, and is a sequence of modules.
    return [given] if isinstance(given, str | Spec) or is_encoder(given) else []


def _several(given: object) -> list[object]:
    if isinstance(given, Iterable) and not isinstance(given, Mapping | bytes | type):
        return list(given)
    raise _wrong(given)


def _known(given: object) -> Known:
    if isinstance(given, str):
        given = read_spec(given)
    if isinstance(given, Spec):
        find_kind(given)
        return given
    if not is_encoder(given):
        raise _wrong(given)
    if isinstance(given, Encoder | Baseline):
        return given
    return _wrapped(given)


def _wrapped(given: Any) -> PythonEncoder:
    """Return a function or model as an encoder, which is known again by what is known of it.

    A function that holds nothing is known by its file, as in ``wrap_encoder``. Of an object without
    fingerprint nothing is known, so that no result of another one is ever taken for its own.
    """
    name, fingerprint = name_of(given), fingerprint_of(given)
    if fingerprint or (inspect.isfunction(given) and given.__closure__ is None):
        return wrap(given, name=name, fingerprint=fingerprint)
    return replace(wrap(given, name=name, fingerprint=token_hex()), cacheable=False)


def _wrong(given: object) -> GivenError:
    if inspect.isclass(given):
        what = f"the class {given.__name__}, of which no object was made yet,"
    else:
        what = f"a {type(given).__name__}"
    return GivenError(f"{what} is no encoder; wanted: {WANTED}")


def name_of(given: object) -> str:
    """Return what results call a function or an object: its name, or that of its class.

    >>> name_of(len), name_of(lambda texts: texts)
    ('len', 'lambda')
    """
    name = getattr(given, "__name__", "")
    return name.strip("<>") if isinstance(name, str) and name else type(given).__name__


def fingerprint_of(given: Any) -> str:
    """Return a digest of what its vectors depend on: its own, or that of a model of PyTorch.

    A model is known by its weights and its description; of anything else the empty string says
    that nothing is known.
    """
    own = getattr(given, "fingerprint", "")
    if isinstance(own, str) and own:
        return own
    return _of_weights(given) if callable(getattr(given, "state_dict", None)) else ""


SETTINGS = ("max_seq_length", "prompts", "default_prompt_name", "truncate_dim")
"""What a model of sentence-transformers says of itself besides its modules."""


def _of_weights(model: Any) -> str:
    content = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        array = as_array(tensor)
        content.update(f"{name} {tensor.dtype} {array.shape}".encode())
        content.update(array.tobytes())
    told = [repr(getattr(model, name, None)) for name in SETTINGS]
    return digest("weights", model, *told, content.hexdigest())
