"""The table of encoder kinds, such as ``bow`` or ``st``; functions that build encoders from specs (``st:MODEL``).

What an encoder spec does beside reading files: a spec in somebody else's run file may not do it unasked.

Convert what a Python caller passes as encoders (specs, models, functions, lists) to encoders and specs.
"""

import hashlib
import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias, TypeVar

from sentprobe.common.errors import ArgumentTypeError, UsageError, require_libraries, suggest
from sentprobe.common.specs import Spec, check_names, parse_spec, read_options, replace_options
from sentprobe.probes.encoders.bare_specs import complete_spec
from sentprobe.probes.encoders.encoder import (
    Baseline,
    Encoder,
    digest,
    get_capabilities,
    missing_extra,
    read_code_name,
    read_fingerprint,
)
from sentprobe.probes.encoders.models.python import convert_to_array, find_style, wrap_encoder
from sentprobe.probes.encoders.variants import (
    ERASE,
    NO_ERASURE,
    STORAGE_OPTION_NAMES,
    UNCHANGED,
    StorageOptions,
    add_erasure,
    add_storage_options,
    make_erased_encoders,
    make_stored_encoders,
    split_options,
)

log = logging.getLogger(__name__)


class SpecArgument(StrEnum):
    """Whether the specs of an encoder kind have an argument after the colon."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


MODULES = {"probe": "torch", "sentence-transformers": "sentence_transformers"}
"""For each extra, a module that it installs; without an entry, the module is named like the extra."""


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """A kind of encoder or baseline: an entry in the list that the help prints."""

    example: str
    """A spec of this kind, such as ``tfidf?ngrams=2``."""
    summary: str
    build: Callable[[Spec, int], Sequence[Encoder | Baseline]]
    """Builds the encoders of a spec. The second argument is the seed of the run."""
    argument: SpecArgument = SpecArgument.REQUIRED
    extra: str = ""
    """The extra of sentprobe that this kind needs, such as ``probe``; empty: none."""
    extra_for: str = ""
    """The only feature that needs the extra, such as ``binary files``; empty: all of the encoder needs it."""

    @property
    def name(self) -> str:
        """The first part of a spec, before the argument and the options, such as ``st``."""
        return re.split("[:?]", self.example)[0]

    @property
    def pattern(self) -> str:
        """The form of a spec, such as ``st:...`` or ``bow``."""
        return f"{self.name}:..." if self.argument is SpecArgument.REQUIRED else self.name

    @property
    def installed(self) -> bool:
        """Whether sentprobe's pip extra for this kind is installed; true if the kind needs no extra."""
        return not self.extra or find_spec(MODULES.get(self.extra, self.extra)) is not None


def _load_builder(path: str, *, seeded: bool = False) -> Callable[[Spec, int], Sequence[Encoder | Baseline]]:
    """Return a builder that imports the function *path* and passes it an encoder spec and, if *seeded*, a seed."""

    def build(spec: Spec, seed: int) -> Sequence[Encoder | Baseline]:
        module, _, name = path.partition(":")
        function = getattr(import_module(f"sentprobe.probes.encoders.{module}"), name)
        encoders = function(spec, seed=seed) if seeded else function(spec)
        return encoders if isinstance(encoders, list) else [encoders]

    return build


_UNTRAINED_NETWORKS = {
    "lstm": "LSTM, its last state",
    "bilstm-last": "BiLSTM, last state of each direction",
    "bilstm-max": "BiLSTM with max pooling",
    "bilstm-att": "BiLSTM with self-attention",
    "gated-conv": "gated convolutions with max pooling",
    "gru-uni": "GRU, its last state",
    "gru-bi": "bidirectional GRU, last state of each direction",
    "tree-lstm": "child-sum Tree-LSTM over dependencies",
}

ENCODERS = (
    EncoderKind(
        "bow:glove.6B.300d.txt",
        "average or sum of word vectors, from a file (word2vec, fastText, GloVe) or random",
        _load_builder("word_vectors:build_bow", seeded=True),
        SpecArgument.OPTIONAL,
        extra="gensim",
        extra_for="binary files",
    ),
    *(
        EncoderKind(
            name,
            f"untrained {network}; word vectors random or from a file",
            _load_builder("models.untrained:build_untrained", seeded=True),
            SpecArgument.OPTIONAL,
            extra="probe",
        )
        for name, network in _UNTRAINED_NETWORKS.items()
    ),
    EncoderKind(
        "trained:enc/",
        "an encoder that probe train wrote to a folder; trained: may be left out",
        _load_builder("models.trained:build_trained"),
        extra="probe",
    ),
    EncoderKind(
        "st:sentence-transformers/all-MiniLM-L6-v2",
        "a sentence-transformers model, by directory or hub name",
        _load_builder("models.sentence_transformer:load_sentence_transformer"),
        extra="sentence-transformers",
    ),
    EncoderKind(
        "hf:google-bert/bert-base-uncased?layer=6&pool=mean",
        "layers of a transformers model, pooled over the tokens, or of one token",
        _load_builder("models.hf:load_hf"),
        extra="transformers",
    ),
    EncoderKind(
        "openai:text-embedding-3-small?base_url=http://localhost:8000/v1",
        "a model behind an HTTP endpoint of the OpenAI embeddings kind",
        _load_builder("models.endpoints:load_openai"),
    ),
    EncoderKind(
        "infersent:infersent2.pkl?vectors=crawl-300d-2M.vec",
        "InferSent 1 or 2, from its published weights and word vectors",
        _load_builder("models.published:build_infersent"),
        extra="probe",
    ),
    EncoderKind(
        "skipthought:skip-thoughts/?mode=combine",
        "Skip-Thought, uni, bi or both, from the folder of its published weights and tables",
        _load_builder("models.published:build_skipthought"),
        extra="probe",
    ),
    EncoderKind(
        "sdae:model.npz?dictionary=words.tsv",
        "a denoising auto-encoder (SDAE), from the files that its authors' code writes",
        _load_builder("models.published:build_sdae"),
        extra="probe",
    ),
    EncoderKind(
        "file:vectors.npz",
        "precomputed vectors: npz, npy, safetensors, Parquet, or the published look-up format",
        _load_builder("precomputed:build_precomputed"),
    ),
    EncoderKind(
        "python:mymodule:encode",
        "a function or object of yours; also SentEval's batcher, and MTEB's encoders",
        _load_builder("models.python:build_python", seeded=True),
    ),
    EncoderKind(
        "majority",
        "baseline: always the most frequent training label",
        _load_builder("baselines:build_plain_baseline"),
        SpecArgument.NONE,
    ),
    EncoderKind(
        "length",
        "baseline: a linear classifier over the sentence length and the probe words",
        _load_builder("baselines:build_plain_baseline"),
        SpecArgument.NONE,
        extra="probe",
    ),
    EncoderKind(
        "tfidf?ngrams=2",
        "baseline: Naive Bayes over tf-idf of words, or words and bigrams, and the probe words",
        _load_builder("baselines:build_tfidf"),
        SpecArgument.NONE,
        extra="probe",
    ),
)
"""The encoder kinds, in the order in which the help lists them."""

USUAL_ENCODERS = ("bow", "bilstm-max?hidden=256")
"""Specs of the encoders that a run probes by default."""


def read_spec(text: str, kinds: Collection[str] = ()) -> Spec:
    """Parse a spec; log how a path or a hub name without a kind is read. Raises UsageError.

    - kinds: the accepted kinds; empty: those of encoders
    """
    spec, reason = _complete_spec(text, kinds)
    if reason:
        log.warning("%s is read as %s: %s", text, spec, reason)
    return spec


def _complete_spec(text: str, kinds: Collection[str]) -> tuple[Spec, str]:
    spec, encoder_kinds = parse_spec(text), list_kind_names()
    is_kind = spec.kind in (*encoder_kinds, *kinds)
    return (spec, "") if is_kind else complete_spec(spec, kinds or encoder_kinds)


def list_kind_names() -> list[str]:
    """Return the names of the encoder kinds, in the order in which the help lists them."""
    return [kind.name for kind in ENCODERS]


def make_encoders(spec: Spec | str, *, seed: int = 0) -> list[Encoder | Baseline]:
    """Build the encoders of a spec; *seed* is used if the spec sets no seed. Raises UsageError or EncoderError."""
    spec = read_spec(spec) if isinstance(spec, str) else spec
    kind = find_kind(spec)
    check_installed([spec])
    bare, erase_options = split_options(spec, ERASE)
    paths = [path for _, path in erase_options]
    plain, storage_options = split_options(bare, *STORAGE_OPTION_NAMES)
    storage = replace_options(StorageOptions(), storage_options, owner=spec.kind)
    if paths and UNCHANGED not in storage.variants:
        raise UsageError(f"{spec}: {ERASE}= needs unchanged vectors; leave out half=, dims= and quantize=")
    encoders = list(kind.build(plain, seed))
    label = spec.label or ""
    erased = list(make_erased_encoders(encoders, paths, label=label))
    if paths and NO_ERASURE not in paths:
        return [*erased]
    if plain == bare:
        return [*encoders, *erased]
    stored = (make_stored_encoders(encoder, storage, label=label) for encoder in encoders)
    return [*chain.from_iterable(stored), *erased]


def has_unchanged_vectors(spec: Spec) -> bool:
    """Return whether a spec has none of the options ``half``, ``dims``, ``quantize`` and ``erase``."""
    return not any(name in (*STORAGE_OPTION_NAMES, ERASE) for name, _ in spec.options)


FILE_OPTIONS = ("trees", "lexicon")
"""Options by which a spec without an argument names files, as in ``tree-lstm?trees=FILE``."""


def reads_files(spec: Spec) -> bool:
    """Return whether a spec has an argument, or an option that names a file."""
    return bool(spec.argument) or any(name in FILE_OPTIONS for name, _ in spec.options)


def make_encoder(spec: Spec | str, *, seed: int = 0) -> Encoder:
    """Build the one encoder that a spec names; *seed* is the default of the spec's option ``seed``.

    Raises EncoderError, or UsageError, such as for a spec of several encoders or of a baseline.

    >>> make_encoder("bow?dim=4").encode(["the man slept"]).shape
    (1, 4)
    """
    encoders = make_encoders(spec, seed=seed)
    if len(encoders) != 1:
        raise UsageError(f"{str(spec)!r} asks for {len(encoders)} encoders; one is expected here")
    if not isinstance(encoders[0], Encoder):
        raise UsageError(f"{str(spec)!r} is a baseline, which has no vectors; an encoder is expected here")
    return encoders[0]


def check_installed(specs: Iterable[Spec], *libraries: str) -> None:
    """Raise an error, which names all missing extras, unless *libraries* and the encoders' extras are installed."""
    kinds = [find_kind(spec) for spec in specs]
    missing = {kind.pattern: kind.extra for kind in kinds if not (kind.installed or kind.extra_for)}
    require_libraries(*libraries, extras=missing.values())
    if missing:
        raise missing_extra(f"an encoder {' or '.join(missing)}", *missing.values())


def find_kind(spec: Spec | str, *other_kinds: str) -> EncoderKind:
    """Return the encoder kind of a spec. Raises UsageError, which lists *other_kinds*, too, if the kind is unknown."""
    parsed = read_spec(spec) if isinstance(spec, str) else spec
    kinds = {kind.name: kind for kind in ENCODERS}
    if parsed.kind not in kinds:
        names = [*kinds, *other_kinds]
        hint = "" if parsed.argument else f"; a model on the Hugging Face hub is written st:{parsed.kind}"
        raise UsageError(
            f"unknown encoder {parsed.kind!r}{suggest(parsed.kind, names)}; known: {', '.join(names)}{hint}"
        )
    kind = kinds[parsed.kind]
    if kind.argument is SpecArgument.REQUIRED and not parsed.argument:
        raise UsageError(f"encoder {kind.name!r} wants an argument, as in {kind.example}")
    if kind.argument is SpecArgument.NONE and parsed.argument:
        raise UsageError(f"encoder {kind.name!r} takes no argument, but has {parsed.argument!r}")
    return kind


def parse_encoders(texts: Sequence[str]) -> list[Spec]:
    """Parse the specs of several encoders. Raises UsageError if a spec is wrong or two specs have the same name."""
    specs = [read_spec(text) for text in texts]
    check_names(specs)
    for spec in specs:
        find_kind(spec)
    return specs


class ForeignRequest(StrEnum):
    """A request that a file must not make, as a phrase for messages."""

    CODE = "runs code"
    CONNECTION = "opens a connection"
    KEY = "sends a key of yours over a connection"


def find_request(text: str, kinds: Collection[str]) -> ForeignRequest | None:
    """Return what the spec of an encoder, or of the vectors of probe words, asks for; None if it reads files only.

    *kinds* are those with which the command reads the spec; see :func:`read_spec`.
    """
    if not text.partition("?")[0].partition(":")[0]:
        return None  # not a spec, which the command reports
    spec, _ = _complete_spec(text, kinds)
    match spec.kind:
        case "python":
            return ForeignRequest.CODE
        case "openai":
            from sentprobe.probes.encoders.models.endpoints import OpenAIOptions, find_key_variable

            plain, _ = split_options(spec, *STORAGE_OPTION_NAMES, ERASE)
            sends_key = find_key_variable(read_options(plain, OpenAIOptions()))
            return ForeignRequest.KEY if sends_key else ForeignRequest.CONNECTION
        case "st" | "hf":
            return None if _is_stored(spec) else ForeignRequest.CONNECTION
    return None


def find_model_name(text: str, kinds: Collection[str]) -> str:
    """Return the folder, or name on the hub, of a model in the spec of an encoder; "" for a spec of other kinds."""
    spec, _ = _complete_spec(text, kinds)
    return spec.argument if spec.kind in ("st", "hf") else ""


def _is_stored(spec: Spec) -> bool:
    """Return whether a model is in a folder or in the hub's local cache, so that loading it opens no connection."""
    if Path(spec.argument).expanduser().exists():
        return True
    if find_spec("huggingface_hub") is None:
        return False
    from sentprobe.probes.encoders.models.model_loading import is_cached
    from sentprobe.probes.encoders.models.sentence_transformer import MODEL_OWNERS

    required_file, owners = ("modules.json", MODEL_OWNERS) if spec.kind == "st" else ("config.json", ("",))
    return is_cached(
        spec.argument, revision=dict(spec.options).get("revision", ""), required_file=required_file, owners=owners
    )


EncoderArgument: TypeAlias = Encoder | Baseline | Spec | str | Callable[..., Any]
"""A spec, an encoder, an object with ``encode``, or a function that takes a list of sentences."""
EncodersArgument: TypeAlias = EncoderArgument | Iterable[EncoderArgument] | object
"""One or several encoders; the type ``object`` allows models of any library."""
EncoderSource: TypeAlias = Encoder | Baseline | Spec
"""An encoder or baseline, or the spec from which it can be built."""
Bindable = TypeVar("Bindable", bound=Encoder | Baseline)


def resolve_encoders(argument: EncodersArgument) -> list[EncoderSource]:
    """Parse specs, and wrap models and functions as encoders. Raises UsageError or ArgumentTypeError."""
    # A model of sentence-transformers is iterable, so a list cannot be recognized by iteration alone.
    is_no_list = isinstance(argument, str | Mapping | bytes | type) or is_encoder(argument)
    items = list(argument) if isinstance(argument, Iterable) and not is_no_list else [argument]
    sources = [_resolve_encoder(item) for item in items]
    check_names([source for source in sources if isinstance(source, Spec)])
    return sources


def build_encoders(sources: Iterable[EncoderSource], *, seed: int) -> list[Encoder | Baseline]:
    """Return *sources* with each spec replaced by the encoders built from it; *seed* determines random weights."""
    encoders: list[Encoder | Baseline] = []
    for source in sources:
        encoders += make_encoders(source, seed=seed) if isinstance(source, Spec) else [source]
    return encoders


def expand_variants(
    sources: Iterable[EncoderSource], storage: StorageOptions, *, erase: Sequence[str]
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
        elif isinstance(source, Encoder):
            variants += make_stored_encoders(source, storage, label=source.name)
            variants += make_erased_encoders([source], (NO_ERASURE, *erase), label=source.name)
        else:
            variants.append(source)
    return variants


def depends_on_order(source: EncoderSource) -> bool:
    """Return whether vectors belong to sentences by position: vector i to the i-th distinct sentence of a run."""
    return not isinstance(source, Spec) and get_capabilities(source).bind_to_order is not None


def bind_to_sentence_order(encoders: Iterable[Bindable], texts: Iterable[Iterable[str]]) -> list[Bindable]:
    """Return *encoders*. Vectors stored without sentences get sentences of *texts*, in order. Raises EncoderError."""
    unbound = list(encoders)
    if not any(map(depends_on_order, unbound)):
        return unbound
    sentences = list(dict.fromkeys(chain.from_iterable(texts)))
    bound: list[Any] = []
    for encoder in unbound:
        bind = get_capabilities(encoder).bind_to_order
        bound.append(encoder if bind is None else bind(sentences))
    return bound


def is_encoder(argument: object) -> bool:
    """Return whether an object is an encoder or a baseline, or a model or function that can be wrapped."""
    if inspect.isclass(argument):
        return False
    return isinstance(argument, Encoder | Baseline) or find_style(argument) is not None


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
    if isinstance(argument, Encoder | Baseline):
        return argument
    name, fingerprint = read_code_name(argument), _find_fingerprint(argument)
    if fingerprint or (inspect.isfunction(argument) and argument.__closure__ is None):
        return wrap_encoder(argument, name=name, fingerprint=fingerprint)
    return wrap_encoder(argument, name=name, fingerprint=token_hex(), cacheable=False)  # its results are never reused


FINGERPRINT_ATTRIBUTES = ("max_seq_length", "prompts", "default_prompt_name", "truncate_dim")
"""Attributes of a sentence-transformers model that change its vectors, in addition to its weights."""


def _find_fingerprint(model: Any) -> str:
    """Return an object's attribute ``fingerprint``, or a digest of a PyTorch model's weights; "" without either."""
    fingerprint = read_fingerprint(model)
    if fingerprint or not callable(getattr(model, "state_dict", None)):
        return fingerprint
    content = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        array = convert_to_array(tensor)
        content.update(f"{name} {tensor.dtype} {array.shape}".encode())
        content.update(array.tobytes())
    settings = [repr(getattr(model, name, None)) for name in FINGERPRINT_ATTRIBUTES]
    return digest("weights", model, *settings, content.hexdigest())
