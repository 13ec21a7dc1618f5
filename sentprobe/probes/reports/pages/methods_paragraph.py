"""``probe methods``: text about results for a paper's methods section, and the references of this text in BibTeX."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from sentprobe.common.errors import format_count
from sentprobe.common.tables import TableFormat, format_title
from sentprobe.probes.classifier.presets import format_preset_name
from sentprobe.probes.classifier.probe import Activation, Optimizer, Preset, Scaling, StopCriterion
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT
from sentprobe.probes.reports import control_verdicts
from sentprobe.probes.reports.paired_tests import find_requested_spec
from sentprobe.probes.reports.references import (
    SOFTWARE,
    Citation,
    Piece,
    list_keys,
    write_bibliography,
    write_with_citations,
)
from sentprobe.probes.reports.tables.main_table import describe_differences, split_settings
from sentprobe.probes.reports.tables.notes import TableFacts, describe_resampled_parts
from sentprobe.probes.reports.tables.table_notes import describe_chance, list_presets
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.result import Condition, Provenance, Result, Results, find_provenances
from sentprobe.probes.runs.suites import find_known_task

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
    """Yield the sentences about a classifier preset, for tasks with at most ``labels`` labels."""
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
        f", until {preset.patience + 1} checks{' in a row' if preset.patience_resets else ''} (one after every "
        f"{passes}) do not improve {STOPS[preset.stop]} by more than {preset.tolerance:g}"
    )
    if preset.enough:
        yield f", or the training loss is below {preset.enough:g}"
    best = "" if preset.stop is StopCriterion.TRAINING_LOSS else "; the weights of the best check are kept"
    yield f", and for at most {preset.max_epochs:,} passes{best}. "
    names = {"hidden": "the width", "dropout": "dropout", "l2": "the penalty"}
    if grid := [text for option, text in names.items() if len(getattr(preset, option)) > 1]:
        chosen = join_words(grid)
        yield f"{chosen[0].upper()}{chosen[1:]} are chosen by the accuracy on validation. "


def _format_values(values: tuple[float, ...]) -> str:
    return join_words([f"{value:g}" for value in values], last="or")


def join_words(texts: Sequence[str], *, last: str = "and") -> str:
    """Join texts with commas and a last "and" or "or", such as "a, b and c"."""
    *first, end = texts
    return f"{', '.join(first)} {last} {end}" if first else end


ENCODER_PAPERS: Mapping[str, str] = {
    "bilstm-last": "conneau2018",
    "bilstm-max": "conneau2018",
    "bilstm-att": "conneau2017",
    "infersent": "conneau2017",
    "gated-conv": "conneau2018",
    "tree-lstm": "tai2015",
    "st": "reimers2019",
    "hf": "wolf2020",
}


def write_methods_paragraph(table: Results) -> tuple[Piece, ...]:
    """Return the methods paragraph about the results of one table, as texts and citations."""
    return (
        *_describe_encoders(table),
        *_describe_tasks(table),
        *_describe_data(table),
        *_describe_classifiers(table),
        *_describe_repetitions(table),
        *_describe_controls(table),
        *_describe_methods(table),
        *_describe_training_runs(table),
    )


def _describe_encoders(table: Results) -> Iterator[Piece]:
    yield "With sentprobe"
    yield Citation((SOFTWARE,))
    yield " we probed "
    first_results = {record.encoder: record for record in reversed(table.records)}
    names = [name for name in table.encoders if first_results[name].dim]
    yield from _join_pieces([_describe_encoder(first_results[name]) for name in names])
    if baselines := [name for name in table.encoders if not first_results[name].dim]:
        connector = " beside " if names else ""
        yield f"{connector}the baselines {join_words(baselines)}, which have no vectors"
    yield ". "


def _join_pieces(parts: Sequence[Iterable[Piece]]) -> Iterator[Piece]:
    """Yield the texts and citations of all parts, with ", " between parts and " and " before the last part."""
    for index, part in enumerate(parts):
        if index:
            yield " and " if index == len(parts) - 1 else ", "
        yield from part


def _describe_encoder(first: Result) -> Iterator[Piece]:
    spec = find_requested_spec(first)
    yield first.encoder
    if spec is not None and str(spec) != first.encoder:
        yield f" ({spec})"
    drawn = "" if first.encoder_seed is None else ", random weights"
    yield f" ({first.dim:,} dimensions{drawn})"
    if spec is not None and spec.kind in ENCODER_PAPERS:
        yield Citation((ENCODER_PAPERS[spec.kind],))


def _describe_tasks(table: Results) -> Iterator[Piece]:
    by_paper: dict[str, list[str]] = {}
    for task in table.tasks:
        task_info = find_known_task(task)
        by_paper.setdefault(PRESET_PAPERS[task_info.preset] if task_info else "", []).append(task)
    yield "The tasks are " if len(table.tasks) > 1 else "The task is "
    yield from _join_pieces(
        [[join_words(names), *([Citation((key,))] if key else [])] for key, names in by_paper.items()]
    )
    yield ". "
    if across := [record for record in table.records if record.data and record.data.test_language]:
        yield (
            f"In names such as {across[0].task}, the first language is that of the training items, the second that of "
            "the test items. No training item has the sentence of a test item or its translation (same sent_id). "
        )
        if any(Condition.BAG_OF_WORDS in record.scores for record in across):
            yield "Below, the bag of words, and words with positions, ignore words that do not occur in training. "


def _describe_data(table: Results) -> Iterator[Piece]:
    tasks_by_facts: dict[str, dict[str, None]] = {}
    for record in table.records:
        tasks_by_facts.setdefault(_describe_dataset(record), {})[record.task] = None
    for facts, names in tasks_by_facts.items():
        subject = "Each task has" if len(table.tasks) > 1 else "It has"
        subject_text = subject if len(tasks_by_facts) == 1 else f"{join_words([*names])}:"
        yield f"{subject_text} {facts}. "
    if mirrored := dict.fromkeys(record.task for record in table.records if record.mirrored):
        yield (
            f"The items of {join_words([*mirrored])} are mirror pairs: the same words and probe words with the "
            "opposite label, in the same split. "
        )
    yield f"Chance, the share of the commonest label, is {describe_chance(table)} (in %). "


def _describe_dataset(record: Result) -> str:
    facts = record.data
    if facts is None:
        tested = f"{record.scores[Condition.PROBE].total:,}"
        return f"data with the digest {record.dataset_fingerprint[:12]}, {tested} test items"
    counts = {"training": facts.train, "validation": facts.validation, "test": facts.test}
    sizes = join_words([f"{count:,} {what}" for what, count in counts.items() if count])
    uses_training_items = record.preset.needs_validation and not facts.validation and record.dim
    details = (
        ("a tenth of the training items used for validation", uses_training_items),
        (f"vocabulary {facts.vocabulary}", facts.vocabulary),
        (f"{facts.sampling} sampling", facts.sampling),
        (f"source: {facts.source}", facts.source),
        (f"half of the test items with a structure held out of training ({facts.held_out})", facts.held_out),
    )
    shown = "; ".join(text for text, applies in details if applies)
    return f"{sizes} items ({shown})" if shown else f"{sizes} items"


def _describe_classifiers(table: Results) -> Iterator[Piece]:
    labels = max((record.labels or 2 for record in table.records), default=2)
    for preset in dict.fromkeys(list_presets(table)):
        yield from describe_classifier(preset, labels=labels)
    names = {ONE_HOT: "one-hot vectors", ENCODER_WORDS: "the encoder's own vectors"}
    for source in dict.fromkeys(record.probe_vectors for record in table.records if record.probe_vectors):
        vectors = names.get(source, f"the vectors of {source}")
        yield f"Beside the sentence vector, the probe gets {vectors} for the probe words. "


def _describe_repetitions(table: Results) -> Iterator[Piece]:
    facts = TableFacts(table)
    counts, draws = facts.probe_counts, len(facts.seeds)
    count_text = join_words([str(count) for count in counts], last="or")
    probes = "probe" if counts == [1] else "probes"
    if draws > 1:
        yield (
            f"Accuracies are means over {draws} draws of {count_text} {probes} each. {describe_resampled_parts(facts)} "
        )
    else:
        probes_text = "of one probe" if counts == [1] else f"means over {count_text} probes that differ in seed"
        yield f"Accuracies are {probes_text}, in one draw (seed {facts.seeds[0]}). "
    yield from _describe_intervals(facts)


def _describe_intervals(facts: TableFacts) -> Iterator[Piece]:
    table, several = facts.results, len(facts.seeds) > 1
    fixed = facts.stored_tasks if several else table.tasks
    yield "95% intervals are "
    if several:
        yield "Student's t over the draws, with variances moderated by those of all figures"
        yield Citation(("smyth2004",))
        where = f"on {join_words(fixed)}, " if 0 < len(fixed) < len(table.tasks) else ""
        yield f", and {where}at least " if fixed else ""
    if fixed:
        yield "Wilson intervals"
        yield Citation(("wilson1927",))
        yield " for the choice of test items"
        if any(record.units for record in table.records if record.task in fixed):
            yield ", widened where items belong together"
    yield ". "


def _describe_controls(table: Results) -> Iterator[Piece]:
    runs = control_verdicts.find_controls(table)
    conditions = {run.condition for run in runs}
    control_names = [control.in_paper for condition, control in CONTROLS.items() if condition in conditions]
    if not control_names:
        yield "No controls were trained. " if list_presets(table) else ""
        return
    required = [run for run in runs if run.must_be_at_chance]
    inside = sum(run.verdict is control_verdicts.ControlVerdict.AT_CHANCE for run in required)
    yield f"As controls, the same classifier was trained on {join_words(control_names)}"
    unchecked = dict.fromkeys(f"{result.encoder} on {result.task}" for result in control_verdicts.find_unchecked(table))
    yield f" (not for {join_words([*unchecked])}). " if unchecked else ". "
    yield (
        f"Of {format_count(len(required), 'control')} that cannot know the answer, {inside} "
        f"{'is' if inside == 1 else 'are'} inside the {control_verdicts.CONFIDENCE:.0%} interval around chance "
        "(corrected for the number of controls). "
    )


METHOD_TEXTS: Mapping[Condition, tuple[str, tuple[str, ...]]] = {
    Condition.CONTROL_TASK: (
        "selectivity, the accuracy minus that of the same probe on random labels that are fixed for each word type",
        ("hewitt2019",),
    ),
    Condition.PORTIONS: (
        "the online codelength of the training labels and usable information, from probes on growing portions of "
        "the training items",
        ("voita2020", "xu2020"),
    ),
    Condition.WIDTHS: ("accuracy by the width of the hidden layer", ()),
}


def _describe_methods(table: Results) -> Iterator[Piece]:
    method_texts = [t for condition, t in METHOD_TEXTS.items() if any(condition in r.scores for r in table.records)]
    for index, (text, keys) in enumerate(method_texts):
        yield "; " if index else "Also reported: "
        yield text
        yield from [Citation(keys)] if keys else []
    yield ". " if method_texts else ""


def _describe_training_runs(table: Results) -> Iterator[Piece]:
    records = [record for record in table.records if record.dim]
    seeds = [seed for record in records for seed in record.scores[Condition.PROBE].seeds]
    if not seeds:
        return
    if unconverged := sum(not seed.converged for seed in seeds):
        yield f"{unconverged} of {len(seeds)} probes reached the limit of passes before they converged. "
    for name in dict.fromkeys(record.encoder for record in records):
        if count := max(record.truncated or 0 for record in records if record.encoder == name):
            yield f"{name} read only the beginning of up to {count:,} sentences of a task. "
    names = {"bfloat16": "bfloat16 (the matrix products of the first layer)"}
    precisions = {names.get(seed.precision, seed.precision) for seed in seeds}
    provenances = [*chain.from_iterable(map(find_provenances, records))]
    devices = {provenance.device for provenance in provenances}
    yield f"Probes were trained in {join_words(sorted(precisions))} on {join_words(sorted(devices))}"
    packages = format_packages([provenance.versions for provenance in provenances])
    yield f", with {join_words(packages)}. " if packages else ". "


def format_packages(all_versions: Sequence[Mapping[str, str]]) -> list[str]:
    """Return each package with its versions, such as "numpy 2.1 or 2.2"."""
    by_package: dict[str, dict[str, None]] = {}
    for versions in all_versions:
        for name, version in versions.items():
            by_package.setdefault(name, {})[version] = None
    return [f"{name} {join_words([*package_versions], last='or')}" for name, package_versions in by_package.items()]


def write_methods_text(results: Results, style: TableFormat) -> str:
    """Return the methods text, with a paragraph for each table of ``probe show``, as plain text, Markdown or LaTeX."""
    tables = split_settings(results)
    return "\n".join(
        format_title(title, style) + write_with_citations(write_methods_paragraph(table), style) + "\n"
        for title, table in zip(describe_differences(tables), tables, strict=True)
    )


def write_references_text(results: Results, added: Iterable[Piece] = (), provenances: Iterable[Provenance] = ()) -> str:
    """Return the BibTeX entries of all citations in the methods text of *results* and in the text *added*.

    - provenances: the provenances of the results that *added* describes. The sentprobe versions in them are cited, too
    """
    pieces = [piece for table in split_settings(results) for piece in write_methods_paragraph(table)]
    all_provenances = chain(*map(find_provenances, results.records), provenances)
    versions = dict.fromkeys(provenance.versions.get("sentprobe", "") for provenance in all_provenances)
    return write_bibliography(list_keys((*pieces, *added)), version=" and ".join(filter(None, versions)))


BIBTEX_FORMATS: Mapping[TableFormat, Callable[[str], str]] = {
    TableFormat.TEXT: str,
    TableFormat.MARKDOWN: "```bibtex\n{}```\n".format,
    TableFormat.LATEX: lambda text: "".join(f"% {line}".rstrip() + "\n" for line in text.splitlines()),
}
"""Functions that format the BibTeX entries below the paragraphs. In LaTeX, the entries become comments."""
