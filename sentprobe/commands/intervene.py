"""The command ``probe intervene``: exchange directions of a model's states between mirror sentences."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.interruption import report_interruption
from sentprobe.commands.shared.table_output import find_caption, find_table_format, write_tables
from sentprobe.common.errors import UsageError
from sentprobe.common.files import find_cache_directory
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.screen import show_bars
from sentprobe.common.specs import COMPEVAL
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.runs import suite_options

if TYPE_CHECKING:
    from sentprobe.probes.encoders.models.hf import HfEncoder

SENTENCE = "{sentence}"


@opt.expand_option_groups
def intervene(
    model: Annotated[str, typer.Argument(metavar="hf:MODEL", help="Model of transformers, with options of hf:.")],
    task: Annotated[str, typer.Option(help="Task with mirror pairs: SemRole, Order or Negation.")] = "SemRole",
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Stored datasets that have the task. Default: compeval.")
    ] = None,
    layer: Annotated[str, typer.Option(help="Layer to intervene on; 0: the embeddings; all.")] = "all",
    prompt: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Read the odds of the next word after this text, which contains {sentence}; for causal models. "
            "Default: the answers of a probe on the last layer.",
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Most mirror pairs to exchange, and to learn from.")] = 500,
    train: Annotated[int | None, typer.Option(help="Training items of the probe. [default: 10000]")] = None,
    preset: Annotated[str | None, typer.Option(help="Classifier of the probe. Default: of the task's paper.")] = None,
    seed: Annotated[int, opt.build_seed_option("items, probe and random directions")] = 0,
    format_: Annotated[str | None, opt.build_format_option(opt.TABLE_FORMATS, opt.DEFAULT_FORMAT_HELP)] = None,
    out: opt.OutFileOption = None,
    vocabulary: Annotated[str | None, opt.build_option(suite_options.describe_vocabulary("the suite's"))] = None,
    lexicon: opt.LexiconOption = None,
    language: opt.LanguageOption = "en",
    cache: opt.CacheOption = True,
    threads: opt.ThreadsOption = None,
    *,
    latex: opt.LatexOptions,
) -> None:
    """Exchange directions of a model's states between mirror sentences.

    Mirrors have the same words, and opposite answers. At the words that are asked about, the part of a sentence's
    state along a direction becomes that of its mirror. Directions: a linear probe's, a difference of means, a random
    one. If the answer turns, the model uses the direction.
    """
    style = find_table_format(format_, out, subject="an intervention")
    caption = find_caption(latex, style)
    for name, count in (("n", n), ("threads", threads)):
        check_count(name, count)
    if prompt is not None and prompt.count(SENTENCE) != 1:
        raise UsageError(f"--prompt {prompt!r}: it must contain {SENTENCE} once")
    if prompt is not None and (train is not None or preset is not None):
        raise UsageError("--train and --preset are for the final probe, which --prompt replaces")
    from sentprobe.probes.datasets.dataset import Split
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.encoders.models.hf import check_layer, resolve_layers
    from sentprobe.probes.interventions import readouts
    from sentprobe.probes.interventions.exchange import open_states
    from sentprobe.probes.interventions.intervention_run import measure_interventions
    from sentprobe.probes.interventions.mirror_units import find_mirror_units
    from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions
    from sentprobe.probes.runs.suites import PresetChoice
    from sentprobe.probes.runs.targets import find_datasets, find_targets

    check_layer(layer, name="--layer ")
    words = load_lexicon(lexicon, language)
    targets = find_targets(
        COMPEVAL if data is None else data,
        tasks=[task],
        compeval=CompevalOptions(vocabulary=vocabulary, lexicon=lexicon, language=language),
        items=ItemOptions(train=train),
        seed=seed,
        given_options={} if vocabulary is None else {"vocabulary": "--vocabulary"},
    )
    choice = PresetChoice(preset)
    encoder = _load_model(model, predicts_words=prompt is not None)
    with limit_threads(threads), show_bars() as reporter, report_interruption("nothing is kept"):
        (dataset,), _ = find_datasets(targets, command=opt.format_command_line(), reporter=reporter)
        learned, tested = (find_mirror_units(dataset, split, words, n=n) for split in (Split.TRAIN, Split.TEST))
        hf_model = encoder.store.model
        readout: readouts.Readout
        if prompt is None:
            readout = readouts.train_probe_readout(
                encoder,
                dataset,
                tested,
                preset=choice(dataset),
                seed=seed,
                cache=Cache(find_cache_directory()) if cache else None,
                reporter=reporter,
            )
        else:
            hf_model = replace(hf_model, frame=replace(hf_model.frame, prompt=prompt))
            readout = readouts.find_next_words(hf_model, tested)
        states = open_states(hf_model)
        # The last layer is no block's input: a state there does not reach the next word.
        layers = resolve_layers(layer, states.layers - (prompt is not None), first=0, name="--layer ")
        result = measure_interventions(
            states,
            readout,
            learned,
            tested,
            layers=layers,
            seed=seed,
            reporter=reporter,
            name=encoder.name,
            task=dataset.name,
        )
    write_tables([("", result.build_grid(), result.format_notes())], result.to_records, style, out=out, caption=caption)


def _load_model(text: str, *, predicts_words: bool) -> "HfEncoder":
    """Return the encoder of an ``hf:`` spec, of the last layer. Raises UsageError or EncoderError."""
    from sentprobe.probes.encoders.encoder import missing_extra
    from sentprobe.probes.encoders.kinds import read_spec

    spec = read_spec(text)
    if spec.kind != "hf":
        raise UsageError(f"{text}: an intervention needs a model of transformers, hf:MODEL")
    for name in ("layer", "part"):
        if name in dict(spec.options):
            advice = "; --layer names the layers to intervene on" if name == "layer" else ""
            raise UsageError(f"{text}: leave out {name}={advice}")
    try:
        from sentprobe.probes.encoders.models import hf
    except ImportError:
        raise missing_extra("an encoder hf:...", "transformers") from None
    encoders = hf.load_hf(spec, predicts_words=predicts_words)
    if len(encoders) > 1:
        raise UsageError(f"{text}: pool= with one method is expected")
    return encoders[0]
