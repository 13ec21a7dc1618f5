"""The options of ``probe train``."""

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.options import declare_option
from sentprobe.probes.training.objective_options import DEFAULTS, EVENTS

if TYPE_CHECKING:
    from sentprobe.probes.training.text_filters import TextOptions

TEXTS, ENCODER, TRAINING = "Training texts", "Encoder", "Training"
PROBING, DETAILS = "Probing during training", "Details"
"""TEXTS, ENCODER, TRAINING, PROBING and DETAILS are titles of option panels in ``--help``."""

text_option, encoder_option, training_option, probing_option, detail_option = (
    partial(declare_option, panel) for panel in (TEXTS, ENCODER, TRAINING, PROBING, DETAILS)
)
"""Functions that declare an option in a panel of ``--help``: ``text_option`` in TEXTS, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """The options of ``probe train``; each option's panel decides where ``--help`` shows it."""

    corpus: Annotated[
        list[Path] | None, text_option(metavar="FILE", help="Sentences; repeatable. For one objective: NAME=FILE.")
    ] = None
    parallel: Annotated[
        Path | None, text_option(metavar="FILE", help="For nmt: translation of --corpus, line by line.")
    ] = None
    tokenised: Annotated[bool, text_option("--tokenised", help="Tokens are separated by spaces already.")] = False
    lower: Annotated[bool, text_option("--lower", help="Convert the texts to lower case.")] = False
    format: Annotated[
        str | None,
        opt.build_format_option(
            ("lines", "text", "tokens", "jsonl", "parquet", "tsv", "trees", "conllu (sentences)"),
            "Default: by the suffix.",
            DETAILS,
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        detail_option(
            metavar="NAME",
            help="Column of the sentences (default: text). For nmt, give it twice: two columns, or "
            "two languages of a TMX file.",
        ),
    ] = None
    document: Annotated[
        str | None, detail_option(metavar="NAME", help="Column that names the document of a sentence.")
    ] = None
    encoding: Annotated[str, detail_option(help="Character encoding of the texts.")] = "utf-8"
    punkt: Annotated[
        Path | None,
        detail_option(metavar="DIR", help="Folder of the parameters of Punkt, the sentence splitter. Default: NLTK's."),
    ] = None
    longest: Annotated[int, detail_option(metavar="N", help="Skip sentences with more than N tokens.")] = 50

    vectors: Annotated[
        str | None, encoder_option(metavar="FILE|skip-gram", help="Word vectors: a file, or skip-gram (trained first).")
    ] = None
    frozen: Annotated[
        bool | None, encoder_option("--frozen/--learned", help="Freeze word vectors (default with --vectors).")
    ] = None
    hidden: Annotated[int, encoder_option(help="Hidden units per direction (gated-conv: per convolution).")] = 512
    layers: Annotated[int, encoder_option(help="Number of layers. Default: 1; gated-conv: 8.", show_default=False)] = 0
    inputs: Annotated[int | None, encoder_option(help="Width of word vectors (300 without --vectors).")] = None
    trees: Annotated[
        Path | None,
        detail_option(metavar="FILE", help="For tree-lstm: CoNLL-U. Default: exact trees of generated sentences."),
    ] = None
    words: Annotated[int, detail_option(help="Vocabulary: the N most frequent words.")] = 50_000
    order: Annotated[int, detail_option(help="For ngram: maximum number of words in an n-gram.")] = 5

    steps: Annotated[int | None, training_option(help="Stop after N batches (steps).")] = None
    epochs: Annotated[int | None, training_option(help="Stop after N passes over the texts.")] = None
    minutes: Annotated[float | None, training_option(metavar="N", help="Stop after N minutes.")] = None
    weight: Annotated[
        list[str] | None,
        detail_option(
            metavar="NAME=N",
            help="Share of the batches that one of several objectives gets, relative to others. Default: 1.",
        ),
    ] = None
    patience: Annotated[int, training_option(help="Stop after N validations without improvement.")] = 5
    validate_every: Annotated[str, detail_option(metavar="N|epoch", help="Steps between validations.")] = "epoch"
    batch: Annotated[int | None, training_option(help="Number of items in a batch. Default: 256.")] = None
    preset: Annotated[
        str | None,
        training_option(
            metavar="adi", help="As in Adi et al.: AdaGrad, batches of 32, one decoder layer, reversed input."
        ),
    ] = None

    probe_every: Annotated[
        str | None, probing_option(metavar="N|epoch", help="Probe every N steps; results are in OUT/probes.")
    ] = None
    task: Annotated[
        list[str] | None, probing_option(metavar="NAME|PATH", help="Task or dataset; repeatable. Default: compeval's.")
    ] = None
    contrast: Annotated[
        list[str] | None, probing_option("--contrast", "-c", help="Contrast to measure, as in probe geometry.")
    ] = None
    items: Annotated[
        int | None,
        detail_option(
            help="Training items of each probe; test items are half, triplets a fifth as many. Default: 1000."
        ),
    ] = None

    codes: Annotated[int, detail_option(help="Byte-pair codes that a decoder knows (Conneau et al.: 40000).")] = (
        DEFAULTS.codes
    )
    classes_hidden: Annotated[int, detail_option(help="For nli: hidden units of the classifier.")] = (
        DEFAULTS.classes_hidden
    )
    attention: Annotated[
        bool, detail_option("--attention", help="Decoders also attend to the states of all words (recurrent networks).")
    ] = DEFAULTS.attention
    dropout: Annotated[
        float | None, detail_option(help="Dropout of decoder and classifier. Default: 0; preset adi: 0.1.")
    ] = None
    neighbours: Annotated[
        bool, detail_option("--neighbours", help="For skipthought: also decode the previous sentence.")
    ] = DEFAULTS.neighbours
    drop: Annotated[float, detail_option(help="For denoising: share of words dropped.")] = DEFAULTS.drop
    swap: Annotated[float, detail_option(help="For denoising: share of word pairs swapped.")] = DEFAULTS.swap
    events: Annotated[int, detail_option(help="For meaning: number of sampled events.")] = EVENTS
    temperature: Annotated[float, detail_option(help="For contrastive: temperature of the softmax.")] = (
        DEFAULTS.temperature
    )
    validation: Annotated[int, detail_option(help="Held-out items for validation, at most a tenth.")] = (
        DEFAULTS.validation
    )
    optimizer: Annotated[str | None, detail_option(help="adam, sgd or adagrad. Default: adam; gated-conv: sgd.")] = None
    rate: Annotated[float | None, detail_option(help="Learning rate. Default: the optimizer's.")] = None
    clip: Annotated[float | None, detail_option(help="Greatest norm of a gradient. Default: the optimizer's.")] = None

    jobs: Annotated[int, opt.machine_option(help="Encoders trained in parallel, one thread each.")] = 1
    threads: Annotated[int | None, opt.machine_option(help="PyTorch threads. Default: one per core.")] = None
    device: Annotated[str, opt.machine_option(metavar="auto|cpu|cuda|mps", help="Device for training.")] = "cpu"
    devices: Annotated[int, opt.machine_option(help="Number of devices.")] = 1
    precision: Annotated[
        str, opt.machine_option(help="auto, float32 or bfloat16. auto uses bfloat16 where it is fast.")
    ] = "auto"

    def build_text_options(self) -> "TextOptions":
        """Return the options for decoding, tokenising and filtering the texts."""
        from sentprobe.probes.training.text_filters import TextOptions

        return TextOptions(**{field.name: getattr(self, field.name) for field in fields(TextOptions)})
