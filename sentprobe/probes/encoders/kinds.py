"""The table of encoder kinds, and the functions that build encoders from specs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from sentprobe.errors import UsageError, suggest
from sentprobe.extras import require_libraries
from sentprobe.probes.encoders.protocol import Baseline, Encoder, missing_extra
from sentprobe.probes.encoders.trained.model_config import is_model_folder
from sentprobe.probes.encoders.variants import cut_and_rounded
from sentprobe.probes.encoders.variants.erasure import ERASE, NO_ERASURE, make_erased_encoders, split_erase_option
from sentprobe.specs import Spec, check_names, parse_spec


class SpecArgument(StrEnum):
    """Whether a kind takes an argument after the colon."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


MODULES = {"probe": "torch", "sentence-transformers": "sentence_transformers"}
"""The module that is present if an extra is installed, where it has another name than the extra."""


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """A row of the table of encoders."""

    name: str
    example: str
    summary: str
    build: Callable[[Spec, int], Sequence[Encoder | Baseline]]
    """Builds the encoders of a spec with the seed of the run."""
    argument: SpecArgument = SpecArgument.REQUIRED
    extra: str = ""
    """The required extra of the distribution; empty: none."""
    extra_for: str = ""
    """The feature that needs the extra; empty: the kind itself."""

    @property
    def pattern(self) -> str:
        """The form of a spec, such as ``st:...``."""
        return f"{self.name}:..." if self.argument is SpecArgument.REQUIRED else self.name

    @property
    def installed(self) -> bool:
        """Whether the extra is installed, or none is needed."""
        return not self.extra or find_spec(MODULES.get(self.extra, self.extra)) is not None


def _load_builder(path: str, *, seeded: bool = False) -> Callable[[Spec, int], Sequence[Encoder | Baseline]]:
    """Return a builder that imports its function, at ``module:function`` below this package, when it is called."""

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
    "gated-conv": "gated convolutions with max pooling",
    "gru-uni": "GRU, its last state",
    "gru-bi": "bidirectional GRU, last state of each direction",
}

ENCODERS = (
    EncoderKind(
        "bow",
        "bow:glove.6B.300d.txt",
        "average of word vectors, from a file (word2vec, fastText, GloVe) or random",
        _load_builder("files.word_files:build_bow", seeded=True),
        SpecArgument.OPTIONAL,
        extra="gensim",
        extra_for="binary files",
    ),
    *(
        EncoderKind(
            name,
            name,
            f"untrained {network}; over random words or a file",
            _load_builder("trained.untrained:build_untrained", seeded=True),
            SpecArgument.OPTIONAL,
            extra="probe",
        )
        for name, network in _UNTRAINED_NETWORKS.items()
    ),
    EncoderKind(
        "trained",
        "trained:enc/",
        "an encoder that probe train made, by its folder; the folder alone is enough",
        _load_builder("trained.trained_encoder:build_trained"),
        extra="probe",
    ),
    EncoderKind(
        "st",
        "st:sentence-transformers/all-MiniLM-L6-v2",
        "a sentence-transformers model, by directory or hub name",
        _load_builder("models.sentence_transformer:load_sentence_transformer"),
        extra="sentence-transformers",
    ),
    EncoderKind(
        "hf",
        "hf:google-bert/bert-base-uncased?layer=6&pool=mean",
        "layers of a transformers model, pooled over the tokens or at a named one",
        _load_builder("models.hf:load_hf"),
        extra="transformers",
    ),
    EncoderKind(
        "openai",
        "openai:text-embedding-3-small?base_url=http://localhost:8000/v1",
        "a model behind an HTTP endpoint of the OpenAI embeddings kind",
        _load_builder("models.openai:load_openai"),
    ),
    EncoderKind(
        "infersent",
        "infersent:infersent2.pkl?vectors=crawl-300d-2M.vec",
        "InferSent 1 or 2, from its published weights and word vectors",
        _load_builder("published.infersent:build_infersent"),
        extra="probe",
    ),
    EncoderKind(
        "skipthought",
        "skipthought:skip-thoughts/?mode=combine",
        "Skip-Thought, uni, bi or both, from the folder of its published weights and tables",
        _load_builder("published.skipthought:build_skipthought"),
        extra="probe",
    ),
    EncoderKind(
        "sdae",
        "sdae:model.npz?dictionary=words.tsv",
        "a denoising auto-encoder (SDAE), from what its authors' code writes",
        _load_builder("published.sdae:build_sdae"),
        extra="probe",
    ),
    EncoderKind(
        "file",
        "file:vectors.npz",
        "precomputed vectors: npz, npy, safetensors, Parquet, or the published look-up format",
        _load_builder("files.precomputed:build_precomputed"),
    ),
    EncoderKind(
        "python",
        "python:mymodule:encode",
        "a function or object of yours; also SentEval's batcher, and MTEB's encoders",
        _load_builder("models.python:build_python", seeded=True),
    ),
    EncoderKind(
        "majority",
        "majority",
        "baseline: always the commonest label of training",
        _load_builder("baselines:build_plain_baseline"),
        SpecArgument.NONE,
    ),
    EncoderKind(
        "length",
        "length",
        "baseline: a linear classifier of the length of the sentence, and the probe words",
        _load_builder("baselines:build_plain_baseline"),
        SpecArgument.NONE,
        extra="probe",
    ),
    EncoderKind(
        "tfidf",
        "tfidf?ngrams=2",
        "baseline: Naive Bayes over tf-idf of words, or words and bigrams, and the probe words",
        _load_builder("baselines:build_tfidf"),
        SpecArgument.NONE,
        extra="probe",
    ),
)
"""The encoder kinds, in the order of the help."""

USUAL_ENCODERS = ("bow", "bilstm-max?hidden=256")
"""The specs of the default encoders of a run."""


def read_spec(text: str) -> Spec:
    """Read the spec of an encoder; the folder of a trained encoder is a spec, too."""
    spec = parse_spec(text)
    path = f"{spec.kind}:{spec.argument}" if spec.argument else spec.kind
    if spec.kind in {kind.name for kind in ENCODERS} or not is_model_folder(Path(path)):
        return spec
    return Spec("trained", path, spec.options)


def make_encoders(spec: Spec | str, *, seed: int = 0) -> list[Encoder | Baseline]:
    """Return the encoders of a spec; *seed* initializes random weights. Raises UsageError or EncoderError."""
    spec = read_spec(spec) if isinstance(spec, str) else spec
    kind = find_kind(spec)
    check_installed([spec])
    bare, paths = split_erase_option(spec)
    plain, storage = cut_and_rounded.split_storage_options(bare)
    if paths and cut_and_rounded.UNCHANGED not in storage.variants:
        raise UsageError(f"{spec}: {ERASE}= is of whole vectors; leave dims= and quantize= out")
    encoders = list(kind.build(plain, seed))
    label = spec.label or ""
    erased = list(make_erased_encoders(encoders, paths, label=label))
    if paths and NO_ERASURE not in paths:
        return [*erased]
    if plain == bare:
        return [*encoders, *erased]
    stored = (cut_and_rounded.make_stored_encoders(encoder, storage, label=label) for encoder in encoders)
    return [*chain.from_iterable(stored), *erased]


def has_unchanged_vectors(spec: Spec) -> bool:
    """Say whether a spec asks for the unchanged vectors of its encoder."""
    return not any(name in (*cut_and_rounded.STORAGE_OPTION_NAMES, ERASE) for name, _ in spec.options)


def make_encoder(spec: Spec | str, *, seed: int = 0) -> Encoder:
    """Return the one encoder that *spec* asks for; see :func:`make_encoders`.

    >>> make_encoder("bow?dim=4").encode(["the man slept"]).shape
    (1, 4)

    Raises:
        UsageError: the spec asks for several encoders, or for a baseline.
    """
    encoders = make_encoders(spec, seed=seed)
    if len(encoders) != 1:
        raise UsageError(f"{str(spec)!r} asks for {len(encoders)} encoders; one is wanted here")
    if not isinstance(encoders[0], Encoder):
        raise UsageError(f"{str(spec)!r} is a baseline, which has no vectors; an encoder is wanted here")
    return encoders[0]


def check_installed(specs: Iterable[Spec], *libraries: str) -> None:
    """Check the libraries that a command and its encoders need; the error names all missing extras at once."""
    kinds = [find_kind(spec) for spec in specs]
    missing = {kind.pattern: kind.extra for kind in kinds if not (kind.installed or kind.extra_for)}
    require_libraries(*libraries, extras=missing.values())
    if missing:
        raise missing_extra(f"an encoder {' or '.join(missing)}", *missing.values())


def find_kind(spec: Spec | str, *other_kinds: str) -> EncoderKind:
    """Return the kind of encoder that *spec* asks for. Raises UsageError, which lists *other_kinds*, too."""
    parsed = read_spec(spec) if isinstance(spec, str) else spec
    kinds = {kind.name: kind for kind in ENCODERS}
    if parsed.kind not in kinds:
        raise _unknown_encoder_error(parsed, [*kinds, *other_kinds])
    kind = kinds[parsed.kind]
    if kind.argument is SpecArgument.REQUIRED and not parsed.argument:
        raise UsageError(f"encoder {kind.name!r} wants an argument, as in {kind.example}")
    if kind.argument is SpecArgument.NONE and parsed.argument:
        raise UsageError(f"encoder {kind.name!r} takes no argument, but has {parsed.argument!r}")
    return kind


def _unknown_encoder_error(spec: Spec, names: Sequence[str]) -> UsageError:
    path = Path(f"{spec.kind}:{spec.argument}" if spec.argument else spec.kind)
    if path.is_dir():
        model_folders = sorted(folder.name for folder in path.iterdir() if is_model_folder(folder))
        inside = f"; in it are {', '.join(model_folders)}: name one of them" if model_folders else ""
        return UsageError(f"{path}: not the folder of an encoder that probe train made{inside}")
    if "/" in spec.kind:
        return UsageError(f"{path}: there is no such folder")
    return UsageError(f"unknown encoder {spec.kind!r}{suggest(spec.kind, names)}; known: {', '.join(names)}")


def parse_encoders(texts: Sequence[str]) -> list[Spec]:
    """Return the specs of the encoders. Raises UsageError if a spec is wrong, or two have the same name."""
    specs = [read_spec(text) for text in texts]
    check_names(specs)
    for spec in specs:
        find_kind(spec)
    return specs
