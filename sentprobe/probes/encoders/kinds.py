"""The table of encoder kinds, and the encoders that a spec asks for."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.encoders.erasure import ERASE, NOTHING, erase_each, split_erase
from sentprobe.probes.encoders.model_config import is_model_folder
from sentprobe.probes.encoders.protocol import Baseline, Encoder, missing_extra
from sentprobe.probes.encoders.storage import NAMES, WHOLE, split_spec, store
from sentprobe.specs import Spec, check_names, parse_spec


class SpecArgument(Enum):
    """Whether a kind takes an argument after the colon."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """A row of the table of encoders."""

    name: str
    example: str
    summary: str
    argument: SpecArgument
    build: Callable[[Spec, int], Sequence[Encoder | Baseline]]
    """Makes the encoders of a spec from the run's seed: one, unless the spec asks for several."""
    extra: str = ""
    """The extra of the distribution that it needs; empty: none."""
    module: str = ""
    """The module whose presence says that the extra is installed."""
    extra_for: str = ""
    """What of it needs the extra; empty: all."""

    @property
    def installed(self) -> bool:
        """Whether the extra is there, or none is needed."""
        return not self.module or find_spec(self.module) is not None


def _bow(spec: Spec, seed: int) -> list[Encoder]:
    from sentprobe.probes.encoders.word_files import build_bow  # noqa: PLC0415

    return [build_bow(spec, seed=seed)]


def _untrained(spec: Spec, seed: int) -> list[Encoder]:
    from sentprobe.probes.encoders.untrained import build_untrained  # noqa: PLC0415

    return [build_untrained(spec, seed=seed)]


def _trained(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.trained import build_trained  # noqa: PLC0415

    return [build_trained(spec)]


def _precomputed(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.precomputed import build_precomputed  # noqa: PLC0415

    return [build_precomputed(spec)]


def _python(spec: Spec, seed: int) -> list[Encoder]:
    from sentprobe.probes.encoders.python import build_python  # noqa: PLC0415

    return [build_python(spec, seed=seed)]


def _sentence_transformer(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.sentence_transformer import load_sentence_transformer  # noqa: PLC0415

    return [load_sentence_transformer(spec)]


def _hf(spec: Spec, seed: int) -> Sequence[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.hf import load_hf  # noqa: PLC0415

    return load_hf(spec)


def _openai(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.openai import load_openai  # noqa: PLC0415

    return [load_openai(spec)]


def _infersent(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.published.infersent import build_infersent  # noqa: PLC0415

    return [build_infersent(spec)]


def _skipthought(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.published.skipthought import build_skipthought  # noqa: PLC0415

    return [build_skipthought(spec)]


def _sdae(spec: Spec, seed: int) -> list[Encoder]:  # noqa: ARG001
    from sentprobe.probes.encoders.published.sdae import build_sdae  # noqa: PLC0415

    return [build_sdae(spec)]


def _majority(spec: Spec, seed: int) -> list[Baseline]:
    from sentprobe.probes.encoders.baselines import build_majority  # noqa: PLC0415

    return [build_majority(spec, seed=seed)]


def _length(spec: Spec, seed: int) -> list[Baseline]:
    from sentprobe.probes.encoders.baselines import build_length  # noqa: PLC0415

    return [build_length(spec, seed=seed)]


def _tfidf(spec: Spec, seed: int) -> list[Baseline]:
    from sentprobe.probes.encoders.baselines import build_tfidf  # noqa: PLC0415

    return [build_tfidf(spec, seed=seed)]


ENCODERS = (
    EncoderKind(
        "bow",
        "bow:glove.6B.300d.txt",
        "average of word vectors, from a file (word2vec, fastText, GloVe) or random",
        SpecArgument.OPTIONAL,
        _bow,
        extra="gensim",
        module="gensim",
        extra_for="binary files",
    ),
    EncoderKind(
        "lstm",
        "lstm",
        "untrained LSTM, its last state; over random words or a file",
        SpecArgument.OPTIONAL,
        _untrained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "bilstm-last",
        "bilstm-last",
        "untrained BiLSTM, last state of each direction; over random words or a file",
        SpecArgument.OPTIONAL,
        _untrained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "bilstm-max",
        "bilstm-max",
        "untrained BiLSTM with max pooling; over random words or a file",
        SpecArgument.OPTIONAL,
        _untrained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "gated-conv",
        "gated-conv",
        "untrained gated convolutions with max pooling; over random words or a file",
        SpecArgument.OPTIONAL,
        _untrained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "gru-uni",
        "gru-uni",
        "untrained GRU, its last state; over random words or a file",
        SpecArgument.OPTIONAL,
        _untrained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "gru-bi",
        "gru-bi",
        "untrained bidirectional GRU, last state of each direction; over random words or a file",
        SpecArgument.OPTIONAL,
        _untrained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "trained",
        "trained:enc/",
        "an encoder that probe train made, by its folder; the folder alone is enough",
        SpecArgument.REQUIRED,
        _trained,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "st",
        "st:sentence-transformers/all-MiniLM-L6-v2",
        "a sentence-transformers model, by directory or hub name",
        SpecArgument.REQUIRED,
        _sentence_transformer,
        extra="sentence-transformers",
        module="sentence_transformers",
    ),
    EncoderKind(
        "hf",
        "hf:google-bert/bert-base-uncased?layer=6&pooling=mean",
        "a layer of a transformers model, or each of them, pooled over the tokens",
        SpecArgument.REQUIRED,
        _hf,
        extra="transformers",
        module="transformers",
    ),
    EncoderKind(
        "openai",
        "openai:text-embedding-3-small?base_url=http://localhost:8000/v1",
        "a model behind an HTTP endpoint of the OpenAI embeddings kind",
        SpecArgument.REQUIRED,
        _openai,
    ),
    EncoderKind(
        "infersent",
        "infersent:infersent2.pkl?vectors=crawl-300d-2M.vec",
        "InferSent 1 or 2, from its published weights and word vectors",
        SpecArgument.REQUIRED,
        _infersent,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "skipthought",
        "skipthought:skip-thoughts/?mode=combine",
        "Skip-Thought, uni, bi or both, from the folder of its published weights and tables",
        SpecArgument.REQUIRED,
        _skipthought,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "sdae",
        "sdae:model.npz?dictionary=words.tsv",
        "a denoising auto-encoder (SDAE), from what its authors' code writes",
        SpecArgument.REQUIRED,
        _sdae,
        extra="probe",
        module="torch",
    ),
    EncoderKind(
        "file",
        "file:vectors.npz",
        "precomputed vectors: npz, npy, safetensors, Parquet, or the published look-up format",
        SpecArgument.REQUIRED,
        _precomputed,
    ),
    EncoderKind(
        "python",
        "python:mymodule:encode",
        "a function or object of yours; also SentEval's batcher, and MTEB's encoders",
        SpecArgument.REQUIRED,
        _python,
    ),
    EncoderKind(
        "majority",
        "majority",
        "baseline: always the commonest label of training",
        SpecArgument.NONE,
        _majority,
    ),
    EncoderKind(
        "length",
        "length",
        "baseline: a linear classifier of the length of the sentence, and the probe words",
        SpecArgument.NONE,
        _length,
        extra="probe",
        module="sklearn",
    ),
    EncoderKind(
        "tfidf",
        "tfidf?ngrams=2",
        "baseline: Naive Bayes over tf-idf of words, or words and bigrams, and the probe words",
        SpecArgument.NONE,
        _tfidf,
        extra="probe",
        module="sklearn",
    ),
)
"""The encoder kinds, by the word before the colon of a spec."""

USUAL_ENCODERS = ("bow", "bilstm-max")
"""The specs of the encoders that are probed when none are named."""


def read_spec(text: str) -> Spec:
    """Read the spec of an encoder; the folder of one that was trained here is a spec, too."""
    spec = parse_spec(text)
    path = f"{spec.kind}:{spec.argument}" if spec.argument else spec.kind
    if spec.kind in {kind.name for kind in ENCODERS} or not is_model_folder(Path(path)):
        return spec
    return Spec("trained", path, spec.options)


def make_encoders(spec: Spec | str, *, seed: int = 0) -> list[Encoder | Baseline]:
    """Return the encoders that *spec* asks for; *seed* decides what is random in them.

    Raises:
        UsageError: the spec is wrong.
        EncoderError: an extra is not installed; a model or file cannot be read.
    """
    spec = read_spec(spec) if isinstance(spec, str) else spec
    kind = find_kind(spec)
    if not (kind.installed or kind.extra_for):
        colon = ":..." if kind.argument is SpecArgument.REQUIRED else ""
        raise missing_extra(f"an encoder {kind.name}{colon}", extra=kind.extra)
    bare, paths = split_erase(spec)
    plain, asked = split_spec(bare)
    if paths and WHOLE not in asked.ways:
        raise UsageError(f"{spec}: {ERASE}= is of whole vectors; leave dims= and quantize= out")
    made = list(kind.build(plain, seed))
    label = spec.label or ""
    erased = list(erase_each(made, paths, label=label))
    if paths and NOTHING not in paths:
        return [*erased]
    if plain == bare:
        return [*made, *erased]
    return [*(way for each in made for way in store(each, asked, label=label)), *erased]


def is_plain(spec: Spec) -> bool:
    """Say whether a spec asks for the vectors of its encoder as they are."""
    return not any(name in (*NAMES, ERASE) for name, _ in spec.options)


def make_encoder(spec: Spec | str, *, seed: int = 0) -> Encoder:
    """Return the one encoder that *spec* asks for; see :func:`make_encoders`.

    >>> make_encoder("bow?dim=4").encode(["the man slept"]).shape
    (1, 4)

    Raises:
        UsageError: it asks for several, or for a baseline, which has no vectors.
    """
    made = make_encoders(spec, seed=seed)
    if len(made) != 1:
        raise UsageError(f"{str(spec)!r} asks for {len(made)} encoders; one is wanted here")
    if not isinstance(made[0], Encoder):
        raise UsageError(
            f"{str(spec)!r} is a baseline, which has no vectors; an encoder is wanted here"
        )
    return made[0]


def find_kind(spec: Spec | str) -> EncoderKind:
    """Return the kind of encoder that *spec* asks for.

    Raises:
        UsageError: there is none of that name; its argument is missing, or it takes none.
    """
    parsed = read_spec(spec) if isinstance(spec, str) else spec
    kinds = {kind.name: kind for kind in ENCODERS}
    if parsed.kind not in kinds:
        raise _unknown(parsed, kinds)
    kind = kinds[parsed.kind]
    if kind.argument is SpecArgument.REQUIRED and not parsed.argument:
        raise UsageError(f"encoder {kind.name!r} wants an argument, as in {kind.example}")
    if kind.argument is SpecArgument.NONE and parsed.argument:
        raise UsageError(f"encoder {kind.name!r} takes no argument, but has {parsed.argument!r}")
    return kind


def _unknown(spec: Spec, known: Iterable[str]) -> UsageError:
    path = Path(f"{spec.kind}:{spec.argument}" if spec.argument else spec.kind)
    if path.is_dir():
        there = sorted(each.name for each in path.iterdir() if is_model_folder(each))
        inside = f"; in it are {', '.join(there)}: name one of them" if there else ""
        return UsageError(f"{path}: not the folder of an encoder that probe train made{inside}")
    if "/" in spec.kind:
        return UsageError(f"{path}: there is no such folder")
    names = list(known)
    return UsageError(
        f"unknown encoder {spec.kind!r}{suggest(spec.kind, names)}; known: {', '.join(names)}"
    )


def parse_encoders(texts: Sequence[str]) -> list[Spec]:
    """Return the specs of the encoders.

    Raises:
        UsageError: one is not right; two are of one name.
    """
    specs = [read_spec(text) for text in texts]
    check_names(specs)
    for spec in specs:
        find_kind(spec)
    return specs
