"""Convert what a Python caller passes as encoders (specs, models, functions, lists) to encoders and specs."""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from secrets import token_hex
from typing import Any, TypeAlias, TypeVar

from sentprobe.errors import ArgumentTypeError
from sentprobe.probes.encoders import protocol
from sentprobe.probes.encoders.kinds import SpecArgument, find_kind, make_encoders, read_spec
from sentprobe.probes.encoders.models.python import convert_to_array, find_style, wrap_encoder
from sentprobe.probes.encoders.variants.cut_and_rounded import StorageOptions, add_storage_options, make_stored_encoders
from sentprobe.probes.encoders.variants.erasure import NO_ERASURE, add_erasure, make_erased_encoders
from sentprobe.specs import Spec, check_names

EncoderArgument: TypeAlias = protocol.Encoder | protocol.Baseline | Spec | str | Callable[..., Any]
"""A spec, an encoder, an object with ``encode``, or a function that takes a list of sentences."""
EncodersArgument: TypeAlias = EncoderArgument | Iterable[EncoderArgument] | object
"""One or several encoders; the type ``object`` allows models of any library."""
EncoderSource: TypeAlias = protocol.Encoder | protocol.Baseline | Spec
"""An encoder or baseline, or the spec from which it can be built."""
Bindable = TypeVar("Bindable", bound=protocol.Encoder | protocol.Baseline)


def resolve_encoders(argument: EncodersArgument) -> list[EncoderSource]:
    """Parse specs, and wrap models and functions as encoders. Raises UsageError or ArgumentTypeError."""
    # A model of sentence-transformers is iterable, so a list cannot be recognized by iteration alone.
    is_no_list = isinstance(argument, str | Mapping | bytes | type) or is_encoder(argument)
    items = list(argument) if isinstance(argument, Iterable) and not is_no_list else [argument]
    sources = [_resolve_encoder(item) for item in items]
    check_names([source for source in sources if isinstance(source, Spec)])
    return sources


def build_encoders(sources: Iterable[EncoderSource], *, seed: int) -> list[protocol.Encoder | protocol.Baseline]:
    """Return *sources* with each spec replaced by the encoders built from it; *seed* determines random weights."""
    encoders: list[protocol.Encoder | protocol.Baseline] = []
    for source in sources:
        encoders += make_encoders(source, seed=seed) if isinstance(source, Spec) else [source]
    return encoders


def expand_variants(
    sources: Iterable[EncoderSource], storage: StorageOptions, *, erase: Sequence[str] = ()
) -> list[EncoderSource]:
    """Return *sources* and their variants. A spec's variants are options of the returned spec, such as ``dims=0,64``.

    - storage: numbers of dimensions and roundings
    - erase: paths of datasets; each dataset adds a variant, whose vectors lack information on the dataset's labels
    """
    variants: list[EncoderSource] = []
    for source in sources:
        if isinstance(source, Spec):
            has_vectors = find_kind(source).argument is not SpecArgument.NONE
            expanded = add_erasure(add_storage_options(source, storage), erase)
            variants.append(expanded if has_vectors else source)
        elif isinstance(source, protocol.Encoder):
            variants += make_stored_encoders(source, storage, label=source.name)
            variants += make_erased_encoders([source], (NO_ERASURE, *erase), label=source.name)
        else:
            variants.append(source)
    return variants


def depends_on_order(source: EncoderSource) -> bool:
    """Return whether vectors belong to sentences by position: vector i to the i-th distinct sentence of a run."""
    return not isinstance(source, Spec) and protocol.get_capabilities(source).bind_to_order is not None


def bind_to_sentence_order(encoders: Iterable[Bindable], texts: Iterable[Iterable[str]]) -> list[Bindable]:
    """Return *encoders*. Vectors stored without sentences get sentences of *texts*, in order. Raises EncoderError."""
    unbound = list(encoders)
    if not any(map(depends_on_order, unbound)):
        return unbound
    sentences = list(dict.fromkeys(chain.from_iterable(texts)))
    bound: list[Any] = []
    for encoder in unbound:
        bind = protocol.get_capabilities(encoder).bind_to_order
        bound.append(encoder if bind is None else bind(sentences))
    return bound


def is_encoder(argument: object) -> bool:
    """Return whether an object is an encoder or a baseline, or a model or function that can be wrapped."""
    if inspect.isclass(argument):
        return False
    return isinstance(argument, protocol.Encoder | protocol.Baseline) or find_style(argument) is not None


def _resolve_encoder(argument: object) -> EncoderSource:
    if isinstance(argument, str):
        argument = read_spec(argument)
    if isinstance(argument, Spec):
        find_kind(argument)
        return argument
    if not is_encoder(argument):
        subject = f"a {type(argument).__name__}"
        if inspect.isclass(argument):
            subject = f"the class {argument.__name__}, which must be instantiated first,"
        expected = "a spec such as 'bow', a function of a list of sentences, an object with encode, or a list of these"
        raise ArgumentTypeError(f"{subject} is not an encoder; expected: {expected}")
    if isinstance(argument, protocol.Encoder | protocol.Baseline):
        return argument
    name, fingerprint = protocol.read_code_name(argument), _find_fingerprint(argument)
    if fingerprint or (inspect.isfunction(argument) and argument.__closure__ is None):
        return wrap_encoder(argument, name=name, fingerprint=fingerprint)
    return wrap_encoder(argument, name=name, fingerprint=token_hex(), cacheable=False)  # its results are never reused


FINGERPRINT_ATTRIBUTES = ("max_seq_length", "prompts", "default_prompt_name", "truncate_dim")
"""Attributes of a sentence-transformers model that change its vectors, in addition to its weights."""


def _find_fingerprint(model: Any) -> str:
    """Return an object's attribute ``fingerprint``, or a digest of a PyTorch model's weights; "" without either."""
    fingerprint = protocol.read_fingerprint(model)
    if fingerprint or not callable(getattr(model, "state_dict", None)):
        return fingerprint
    content = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        array = convert_to_array(tensor)
        content.update(f"{name} {tensor.dtype} {array.shape}".encode())
        content.update(array.tobytes())
    settings = [repr(getattr(model, name, None)) for name in FINGERPRINT_ATTRIBUTES]
    return protocol.digest("weights", model, *settings, content.hexdigest())
