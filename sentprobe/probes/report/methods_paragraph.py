"""What a paper's methods section has to say of a run: true to its results, and with its sources."""

from collections.abc import Iterator, Mapping, Sequence

from sentprobe.errors import counted
from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS
from sentprobe.probes.report import sanity
from sentprobe.probes.report.asked_specs import asked_spec
from sentprobe.probes.report.cited_text import Cited, Piece
from sentprobe.probes.report.classifier_words import PAPERS, classifier_words, listed
from sentprobe.probes.report.draws import seeds_of
from sentprobe.probes.report.references import SOFTWARE
from sentprobe.probes.report.spread_lines import of_items, probe_counts, what_is_new
from sentprobe.probes.report.tables import chance_text, trained
from sentprobe.probes.runs.results import METHODS, Condition, Result, Results, makings
from sentprobe.probes.suites import known_task

OF_KINDS: Mapping[str, str] = {
    "bilstm-last": "conneau2018",
    "bilstm-max": "conneau2018",
    "gated-conv": "conneau2018",
    "st": "reimers2019",
    "hf": "wolf2020",
}
"""What is to be cited for a kind of encoder."""


def methods_paragraph(table: Results) -> tuple[Piece, ...]:
    """Return the paragraph about the results of one table."""
    parts = (_encoders, _tasks, _data, _classifier, _repetitions, _controls, _methods, _making)
    return tuple(piece for part in parts for piece in part(table))


def _encoders(table: Results) -> Iterator[Piece]:
    yield "With sentprobe"
    yield Cited((SOFTWARE,))
    yield " we probed "
    firsts = {each.encoder: each for each in reversed(table.records)}
    names = [name for name in table.encoders if firsts[name].dim]
    for place, name in enumerate(names):
        yield _between(place, len(names))
        yield from _encoder(firsts[name])
    baselines = [name for name in table.encoders if not firsts[name].dim]
    if baselines:
        beside = " beside " if names else ""
        yield f"{beside}the baselines {listed(baselines)}, which have no vectors"
    yield ". "


def _between(place: int, count: int) -> str:
    if place == 0:
        return ""
    return " and " if place == count - 1 else ", "


def _encoder(first: Result) -> Iterator[Piece]:
    spec = asked_spec(first)
    yield first.encoder
    if spec is not None and str(spec) != first.encoder:
        yield f" ({spec})"
    drawn = "" if first.encoder_seed is None else ", drawn at random"
    yield f" ({first.dim:,} dimensions{drawn})"
    if spec is not None and spec.kind in OF_KINDS:
        yield Cited((OF_KINDS[spec.kind],))


def _tasks(table: Results) -> Iterator[Piece]:
    by_paper: dict[str, list[str]] = {}
    for task in table.tasks:
        found = known_task(task)
        by_paper.setdefault(PAPERS[found.preset] if found else "", []).append(task)
    yield "The tasks are " if len(table.tasks) > 1 else "The task is "
    for place, (key, names) in enumerate(by_paper.items()):
        yield _between(place, len(by_paper))
        yield listed(names)
        yield from [Cited((key,))] if key else []
    yield ". "


def _data(table: Results) -> Iterator[Piece]:
    alike: dict[str, dict[str, None]] = {}
    for record in table.records:
        alike.setdefault(_made_of(record), {})[record.task] = None
    for made, names in alike.items():
        each = "Each task has" if len(table.tasks) > 1 else "It has"
        whose = each if len(alike) == 1 else f"{listed([*names])}:"
        yield f"{whose} {made}. "
    mirrored = dict.fromkeys(each.task for each in table.records if each.mirrored)
    if mirrored:
        yield (
            f"The items of {listed([*mirrored])} are mirror pairs: the same words and probe words "
            "with the opposite label, in the same split. "
        )
    yield f"Chance, the share of the commonest label, is {chance_text(table)} (in %). "


def _made_of(record: Result) -> str:
    facts = record.data
    if facts is None:
        return f"data with the digest {record.dataset_fingerprint[:12]}, {_test(record)} test items"
    counts = {"training": facts.train, "validation": facts.validation, "test": facts.test}
    sizes = listed([f"{count:,} {what}" for what, count in counts.items() if count])
    carved = record.preset.needs_validation and not facts.validation and record.dim
    told = (
        ("a tenth of the training items being used for validation", carved),
        (f"made from the vocabulary {facts.vocabulary}", facts.vocabulary),
        (f"drawn with the sampling {facts.sampling}", facts.sampling),
        (f"source: {facts.source}", facts.source),
        (f"{HELD_OUT} ({facts.held_out})", facts.held_out),
    )
    return ", ".join([f"{sizes} items", *(text for text, so in told if so)])


HELD_OUT = "a structure being held out of training that half of the test items have"


def _test(record: Result) -> str:
    return f"{record.scores[Condition.PROBE].total:,}"


def _classifier(table: Results) -> Iterator[Piece]:
    labels = max((each.labels or 2 for each in table.records), default=2)
    for preset in dict.fromkeys(trained(table)):
        yield from classifier_words(preset, labels=labels)
    words = dict.fromkeys(each.probe_vectors for each in table.records if each.probe_vectors)
    for name in words:
        stands = WORDS.get(name, f"the vectors of {name}")
        yield f"Beside the sentence vector, {stands} stand for the probe words. "


WORDS = {ONE_HOT: "one-hot vectors", OWN_WORDS: "the encoder's own vectors of them"}
"""What stands for probe words."""


def _repetitions(table: Results) -> Iterator[Piece]:
    seeds, counts = seeds_of(table), probe_counts(table)
    each = listed([str(count) for count in counts], last="or")
    probes = "probe" if counts == [1] else "probes"
    if len(seeds) > 1:
        yield (
            f"Accuracies are means over {len(seeds)} draws of {each} {probes} each. "
            f"{what_is_new(table)} "
        )
    else:
        over = "of one probe" if counts == [1] else f"means over {each} probes that differ in seed"
        yield f"Accuracies are {over}, in one draw (seed {seeds[0]}). "
    yield from _intervals(table, several=len(seeds) > 1)


def _intervals(table: Results, *, several: bool) -> Iterator[Piece]:
    fixed = [task for task in table.tasks if not several or of_items(table, task)]
    yield "95% intervals are "
    if len(fixed) < len(table.tasks):
        yield "Student's t over the draws"
        yield f" and, on {listed(fixed)}, " if fixed else ""
    if fixed:
        yield "Wilson's"
        yield Cited(("wilson1927",))
        yield " for the choice of test items"
        if any(each.units for each in table.records if each.task in fixed):
            yield ", widened where items belong together"
    yield ". "


CONTROLS: Mapping[Condition, str] = {
    Condition.RANDOM_SENTENCES: "random vectors in place of the sentence vectors",
    Condition.RANDOM_PROBES: "random words in place of the probe words",
    Condition.BAG_OF_WORDS: "averages of random word vectors of the same width (a bag of words)",
    Condition.NO_SENTENCE: "the probe words alone",
}


def _controls(table: Results) -> Iterator[Piece]:
    runs = sanity.sanity_runs(table)
    there = {run.condition for run in runs}
    made = [text for condition, text in CONTROLS.items() if condition in there]
    if not made:
        yield "No controls were trained. " if trained(table) else ""
        return
    must = [run for run in runs if run.must_be_at_chance]
    inside = sum(run.verdict is sanity.SanityVerdict.AT_CHANCE for run in must)
    yield f"As controls, the same classifier was trained on {listed(made)}"
    without = dict.fromkeys(f"{each.encoder} on {each.task}" for each in sanity.unchecked(table))
    yield f" (not for {listed([*without])}). " if without else ". "
    yield (
        f"Of {counted(len(must), 'control')} that cannot know the answer, {inside} "
        f"{'is' if inside == 1 else 'are'} inside the interval around chance in which, corrected "
        f"for their number, all are in {sanity.CONFIDENCE:.0%} of sound runs. "
    )


METHOD_TEXTS: Mapping[Condition, tuple[str, tuple[str, ...]]] = {
    Condition.CONTROL_TASK: (
        "selectivity, accuracy less that of the same probe on random labels that are the same for "
        "a word type everywhere",
        ("hewitt2019",),
    ),
    Condition.PORTIONS: (
        "the length of an online code of the training labels and usable information, by probes on "
        "growing portions of the training items",
        ("voita2020", "xu2020"),
    ),
    Condition.WIDTHS: ("accuracy by the width of the hidden layer", ()),
}


def _methods(table: Results) -> Iterator[Piece]:
    there = [METHOD_TEXTS[each] for each in METHODS if any(each in r.scores for r in table.records)]
    for place, (text, keys) in enumerate(there):
        yield "Reported besides: " if not place else "; "
        yield text
        yield from [Cited(keys)] if keys else []
    yield ". " if there else ""


PRECISIONS: Mapping[str, str] = {"bfloat16": "bfloat16 (the products of the first layer)"}
"""How the precisions are called that do not hold for all of a probe."""


def _making(table: Results) -> Iterator[Piece]:
    records = [each for each in table.records if each.dim]
    seeds = [seed for each in records for seed in each.scores[Condition.PROBE].seeds]
    if not seeds:
        return
    ended = sum(not each.converged for each in seeds)
    if ended:
        yield f"{ended} of {len(seeds)} probes reached the limit of passes before they converged. "
    yield from _cut(records)
    precisions = {PRECISIONS.get(each.precision, each.precision) for each in seeds}
    made = [each for record in records for each in makings(record)]
    devices = dict.fromkeys(each.device for each in made)
    yield f"Probes were trained in {listed(sorted(precisions))} on {listed(sorted(devices))}"
    packages = _packages([each.versions for each in made])
    yield f", with {listed(packages)}. " if packages else ". "


def _cut(records: Sequence[Result]) -> Iterator[str]:
    most: dict[str, int] = {}
    for each in records:
        most[each.encoder] = max(most.get(each.encoder, 0), each.truncated or 0)
    for name, count in most.items():
        if count:
            yield f"{name} read the beginning only of up to {count:,} sentences of a task. "


def _packages(stated: Sequence[Mapping[str, str]]) -> list[str]:
    """Return each package with its version, or all that there are."""
    found: dict[str, dict[str, None]] = {}
    for versions in stated:
        for name, version in versions.items():
            found.setdefault(name, {})[version] = None
    return [f"{name} {listed([*each], last='or')}" for name, each in found.items()]
