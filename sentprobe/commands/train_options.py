"""The options of ``probe train``, in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sentprobe.commands import completion as offer
from sentprobe.commands import options as opt

TEXTS, ENCODER, LONG = "What it learns from", "The encoder", "How it learns"
LOOKED, DETAILS = "What is looked at on the way", "Details"


def _option(panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChoices:
    """What is learned from."""

    corpus: Annotated[
        list[Path] | None,
        _option(TEXTS, "--corpus", metavar="FILE", help="Texts, a sentence a line; repeatable."),
    ] = None
    parallel: Annotated[
        Path | None,
        _option(TEXTS, "--parallel", metavar="FILE", help="Of nmt: the translation, line by line."),
    ] = None
    tokenised: Annotated[
        bool, _option(TEXTS, "--tokenised", help="Texts have spaces between tokens already.")
    ] = False
    lower: Annotated[bool, _option(TEXTS, "--lower", help="Read all in lower case.")] = False
    format: Annotated[
        str | None,
        opt.format_among(
            "lines, text, tokens, jsonl, parquet, tsv, trees or conllu (of sentences). By default "
            "as the suffix says.",
            DETAILS,
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        _option(
            DETAILS,
            "--column",
            metavar="NAME",
            help="The column of sentences, by default text. Of nmt, twice: two columns, or the "
            "languages of TMX.",
        ),
    ] = None
    document: Annotated[
        str | None,
        _option(
            DETAILS,
            "--document",
            metavar="NAME",
            help="The column that says which document a sentence is from.",
        ),
    ] = None
    encoding: Annotated[str, _option(DETAILS, "--encoding", help="Of the files' text.")] = "utf-8"
    punkt: Annotated[
        Path | None,
        _option(
            DETAILS,
            "--punkt",
            metavar="DIR",
            help="Parameters of Punkt, which splits running text. By default NLTK's.",
        ),
    ] = None
    longest: Annotated[
        int, _option(DETAILS, "--longest", metavar="N", help="Leave out what has more tokens.")
    ] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderChoices:
    """What learns."""

    vectors: Annotated[
        str | None,
        _option(
            ENCODER,
            "--vectors",
            metavar="FILE|skip-gram",
            help="Word vectors to begin with: of a file, or learned.",
        ),
    ] = None
    frozen: Annotated[
        bool | None,
        _option(
            ENCODER, "--frozen/--learned", help="Keep these. By default kept if --vectors is there."
        ),
    ] = None
    hidden: Annotated[
        int, _option(ENCODER, "--hidden", help="Units of each direction or convolution.")
    ] = 512
    layers: Annotated[
        int, _option(ENCODER, "--layers", help="By default 1, of gated-conv 8.", show_default=False)
    ] = 0
    inputs: Annotated[
        int | None,
        _option(ENCODER, "--inputs", help="Width of word vectors. By default 300, or the file's."),
    ] = None
    words: Annotated[
        int, _option(DETAILS, "--words", help="Words that have a vector, the most frequent.")
    ] = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthChoices:
    """How long is learned."""

    steps: Annotated[int | None, _option(LONG, "--steps", help="End after so many steps.")] = None
    epochs: Annotated[
        int | None, _option(LONG, "--epochs", help="End after so many times all texts.")
    ] = None
    minutes: Annotated[
        float | None,
        _option(
            LONG,
            "--minutes",
            metavar="N",
            help="End after so long: where that is, depends on the machine.",
        ),
    ] = None
    patience: Annotated[
        int, _option(LONG, "--patience", help="End after so many validations without a gain.")
    ] = 5
    validate_every: Annotated[
        str,
        _option(
            DETAILS,
            "--validate-every",
            metavar="N|epoch",
            help="Steps from one validation to the next.",
        ),
    ] = "epoch"
    batch: Annotated[
        int | None, _option(LONG, "--batch", help="Items of a step. By default 256.")
    ] = None
    preset: Annotated[
        str | None,
        _option(
            LONG,
            "--preset",
            metavar="adi",
            help="As Adi et al.: AdaGrad, batches of 32, one decoder layer, sentences reversed.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookChoices:
    """What is looked at on the way."""

    probe_every: Annotated[
        str | None,
        _option(
            LOOKED,
            "--probe-every",
            metavar="N|epoch",
            help="Probe it so often, into OUT/probes (probe show).",
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        _option(
            LOOKED,
            "--task",
            metavar="NAME|PATH",
            help="A task of compeval, or datasets that are there. By default the five of compeval.",
            autocompletion=offer.complete_task,
        ),
    ] = None
    contrast: Annotated[
        list[str] | None,
        _option(
            LOOKED,
            "--contrast",
            "-c",
            help="A contrast of probe geometry, too; repeatable.",
            autocompletion=offer.complete_contrast,
        ),
    ] = None
    items: Annotated[
        int | None,
        _option(
            DETAILS,
            "--items",
            help="Training items of a probe, by default 1000; for testing half, triplets a fifth.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailChoices:
    """What few choose."""

    codes: Annotated[
        int,
        _option(DETAILS, "--codes", help="Codes of a decoder; 40000 as in the paper are slower."),
    ] = 8000
    classes_hidden: Annotated[
        int, _option(DETAILS, "--classes-hidden", help="Units of the classifier of nli.")
    ] = 512
    dropout: Annotated[
        float | None,
        _option(
            DETAILS, "--dropout", help="Of decoder and classifier. By default 0, of the preset 0.1."
        ),
    ] = None
    neighbours: Annotated[
        bool, _option(DETAILS, "--neighbours", help="Of skipthought: say the one before, too.")
    ] = False
    drop: Annotated[
        float, _option(DETAILS, "--drop", help="Of denoising: the share of words left out.")
    ] = 0.1
    swap: Annotated[
        float, _option(DETAILS, "--swap", help="Of denoising: the share of pairs that swap.")
    ] = 0.1
    events: Annotated[
        int, _option(DETAILS, "--events", help="Of meaning: the events that are drawn.")
    ] = 100_000
    temperature: Annotated[float, _option(DETAILS, "--temperature", help="Of contrastive.")] = 0.05
    validation: Annotated[
        int, _option(DETAILS, "--validation", help="Items held out, at most a tenth.")
    ] = 1000
    optimizer: Annotated[
        str | None,
        _option(
            DETAILS, "--optimizer", help="adam, sgd or adagrad. By default adam, gated-conv sgd."
        ),
    ] = None
    rate: Annotated[
        float | None,
        _option(DETAILS, "--rate", help="Learning rate. By default the optimizer's."),
    ] = None
    clip: Annotated[
        float | None, _option(DETAILS, "--clip", help="Greatest norm of the gradient.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineChoices:
    """Where it runs."""

    jobs: Annotated[
        int,
        typer.Option(
            help="Models that are trained side by side, one thread each.",
            rich_help_panel=opt.MACHINE,
        ),
    ] = 1
    threads: Annotated[
        int | None,
        typer.Option(
            help="PyTorch's threads. By default as many as there are cores.",
            rich_help_panel=opt.MACHINE,
        ),
    ] = None
    device: Annotated[
        str,
        typer.Option(
            metavar="auto|cpu|cuda|mps",
            help="Where it is trained.",
            rich_help_panel=opt.MACHINE,
            autocompletion=offer.complete_device,
        ),
    ] = "cpu"
    devices: Annotated[
        int, typer.Option(help="How many of these.", rich_help_panel=opt.MACHINE)
    ] = 1
    precision: Annotated[
        str,
        typer.Option(
            help="auto, float32 or bfloat16. auto is bfloat16 where that is fast.",
            rich_help_panel=opt.MACHINE,
        ),
    ] = "auto"
