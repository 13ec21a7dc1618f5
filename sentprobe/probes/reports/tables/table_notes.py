"""Notes below a table about its figures, data and controls: all notes, or a summary of at most four lines."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT
from sentprobe.probes.datasets.known_task import remove_languages
from sentprobe.probes.reports.control_verdicts import is_balanced
from sentprobe.probes.reports.paired_tests import strip_reductions
from sentprobe.probes.reports.table_findings import find_marked_cells
from sentprobe.probes.reports.tables.main_table import CellStyle, describe_origins, describe_published_tables
from sentprobe.probes.reports.tables.notes import (
    TableFacts,
    count_controls,
    describe_controls,
    describe_mean,
    describe_missing_cells,
    describe_spread,
    describe_uneven_probes,
    join_names,
    list_average_settings,
    summarize_controls,
    summarize_spread,
)
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.human_results import HUMAN, match_human
from sentprobe.probes.results.result import Condition, EncoderOnTask, Result, Results, SeedScore

DIGEST_LENGTH = 12
"""The number of hexadecimal digits shown of a digest. In one of 10^14 cases, two different digests begin alike."""
CONTROLS_REPLACE_CHANCE = (
    "Where a bag of words, words and positions or fixed positions are above chance, they take the place of chance."
)


def describe_datasets(results: Results) -> Iterator[str]:
    """Yield a line about each group of datasets of equal size and settings, with the digest of each dataset."""
    groups: dict[str, list[str]] = {}
    for record in results.records:
        digest = record.dataset_fingerprint[:DIGEST_LENGTH]
        words = "" if record.data is None else f"{record.data.word_types} word types, "
        texts = groups.setdefault(_describe_shared_facts(record.data), [])
        if (text := f"{record.task}: {words}dataset digest {digest}") not in texts:
            texts.append(text)
    yield from (f"{shared_facts}. {'; '.join(details)}." for shared_facts, details in groups.items())


def _describe_shared_facts(facts: DataFacts | None) -> str:
    """Return text such as "Data: 1000 training, 500 test items; vocabulary NAME, sampling NAME, seed 0"."""
    if facts is None:
        return "Data: items, words, sampling and seed not recorded"
    counts = {"training": facts.train, "validation": facts.validation, "test": facts.test}
    sizes = [f"{count} {split}" for split, count in counts.items() if count]
    origin = (
        f"vocabulary {_quote_name(facts.vocabulary)}, sampling {_quote_name(facts.sampling)}, "
        f"seed {'not stated' if facts.seed is None else facts.seed}"
    )
    if origin.count("not stated") == 3:
        origin = "vocabulary, sampling and seed not stated"
    if facts.held_out:
        origin += f", {_quote_name(facts.held_out)} held out of training"
    return f"Data: {', '.join(sizes)} items; {origin}"


def _quote_name(name: str) -> str:
    """Return a name, in quotation marks if it has unusual characters, or "not stated" if it is empty."""
    if not name:
        return "not stated"
    return name if re.fullmatch(r"[\w.+-]+", name) else repr(name)


def describe_all(results: Results, *, style: CellStyle | None = None) -> str:
    """Return all notes below a table, one per line."""
    facts = TableFacts(results)
    counts = count_controls(facts) if style and not style.all_rows else ()
    notes = (
        *(f"{note} (--all-rows shows their rows)" for note in counts),
        *describe_classifiers(results),
        *describe_figures(facts),
        *describe_controls(facts),
        *describe_added_rows(results, style),
    )
    return "".join(f"{note}\n" for note in notes)


def describe_added_rows(results: Results, style: CellStyle | None) -> tuple[str, ...]:
    """Return the notes on the rows of people and papers that the table shows."""
    if style is None:
        return ()
    published = describe_published_tables(results.tasks) if style.published else ()
    return (*describe_human(results, style), *published)


def describe_human(results: Results, style: CellStyle) -> Iterator[str]:
    """Yield a note on the people in each column of the row Human."""
    yield from (f"{HUMAN}: {human.describe()}." for human in match_human(style.human, results.records).values())


def list_presets(results: Results) -> list[Preset]:
    """Return each result's classifier preset, in order and with repetitions; leave out the results of baselines."""
    return [result.preset for result in results.records if result.dim]


def describe_classifiers(results: Results) -> Iterator[str]:
    """Yield a note for each classifier preset, with all its settings."""
    yield from (f"classifier: {preset}" for preset in dict.fromkeys(list_presets(results)))


def describe_figures(facts: TableFacts) -> Iterator[str]:
    """Yield notes on a table's accuracies: unit, uncertainty, data, bold type, precision, truncated sentences."""
    results = facts.results
    sizes = group_by_task(results, lambda result: str(result.scores[Condition.PROBE].total))
    (first_task, size), *more_tasks = sizes.items()
    items = f"{size} test items"
    if len(set(sizes.values())) > 1:
        items += f" of {first_task}" + "".join(f", {n} of {task}" for task, n in more_tasks)
    yield (
        f"Accuracy in % on {items}{describe_mean(facts)}. Chance, the share of "
        f"the most frequent label, is {describe_chance(results)}."
    )
    yield from describe_spread(facts)
    yield from describe_datasets(results)
    if find_marked_cells(results):
        rivals = " and than every other model (by the test of probe compare)" * _has_several_models(results)
        yield f"Bold, or with a *: significantly better than chance{rivals}. {CONTROLS_REPLACE_CHANCE}"
    skewed = dict.fromkeys(result.task for result in results.records if not is_balanced(result))
    if skewed:
        yield (
            f"The labels of {', '.join(skewed)} are not equally frequent: chance is the share of the most frequent "
            "label, and the accuracy of a probe that knows nothing may be below it."
        )
    yield from _describe_probe_words(results)
    yield from _describe_precision(results)
    if any(result.units for result in results.records):
        yield (
            "Test items that belong together (mirror pairs, questions about one sentence) are not "
            "independent: the intervals count them as one unit."
        )
    count, total = count_unconverged(results)
    if count:
        was, they, their = ("was", "it", "its") if count == 1 else ("were", "they", "their")
        yield (
            f"{count} of {total} probes {was} stopped by max_epochs before {they} converged; more "
            f"epochs may raise {their} accuracy."
        )
    for result in find_truncated(results):
        sentences = sum(norm.sentences for norm in result.norms)
        yield (
            f"{result.encoder} read only the beginning of {result.truncated:,} of {sentences:,} "
            f"different sentences of {result.task}."
        )


def _describe_probe_words(results: Results) -> Iterator[str]:
    trained = [result for result in results.records if result.dim]
    for name in dict.fromkeys(result.probe_vectors for result in trained):
        if name not in ("", ONE_HOT):
            source = "the encoder itself" if name == ENCODER_WORDS else name
            yield f"Probe words are represented by word vectors of {source}."
    with_own_words = [result for result in results.records if result.probe_vectors == ENCODER_WORDS]
    for are_inputs, source in ((True, "input embeddings"), (False, "encodings of single words")):
        encoders = dict.fromkeys(r.encoder for r in with_own_words if bool(r.input_words) is are_inputs)
        if encoders:
            yield f"Word vectors of {', '.join(encoders)}: its {source}."


def _describe_precision(results: Results) -> Iterator[str]:
    """Yield a note on the floating-point precision in which probes were trained; nothing for baselines."""
    counts = Counter(seed.precision for seed in _list_probes(results) if seed.precision)
    if not counts:
        return
    names = [name + (f" ({count} probes)" if len(counts) > 1 else "") for name, count in sorted(counts.items())]
    if "bfloat16" in counts:
        yield f"In training, matrix products of the first layer use {' or '.join(names)}; all else uses float32."
    else:
        yield f"Probes were trained in {' and '.join(names)}."


def _list_probes(results: Results) -> list[SeedScore]:
    scores = [result.scores[Condition.PROBE] for result in results.records]
    return [seed for score in scores for seed in score.seeds]


def count_unconverged(results: Results) -> tuple[int, int]:
    """Return two numbers: the probes that reached ``max_epochs`` before they converged, and all probes."""
    converged = [seed.converged for seed in _list_probes(results)]
    return converged.count(False), len(converged)


def find_truncated(results: Results) -> list[Result]:
    """Return one result for each encoder and task: the draw with the most truncated sentences, if there are any."""
    worst = [max(draws, key=lambda result: result.truncated or 0) for draws in results.records_by_cell.values()]
    return [result for result in worst if result.truncated]


def describe_chance(results: Results) -> str:
    """Return chance in percent: "50.0 on every task" or, if tasks differ, "50.0 on Tense, 33.3 on SemRole"."""
    shares = group_by_task(results, lambda result: f"{100 * result.majority:.1f}")
    if len(set(shares.values())) > 1:
        return ", ".join(f"{share} on {task}" for task, share in shares.items())
    return next(iter(shares.values())) + (" on every task" if len(shares) > 1 else "")


def group_by_task(results: Results, describe: Callable[[Result], str]) -> dict[str, str]:
    """Join descriptions of results by task and test language: {"Tense": "500 or 498", "SemRole in de": "400"}."""
    texts: dict[str, dict[str, None]] = {}
    for result in results.records:
        language = result.data.test_language if result.data else ""
        name = f"{remove_languages(result.task)} in {language}" if language else result.task
        texts.setdefault(name, {})[describe(result)] = None
    return {task: " or ".join(parts) for task, parts in texts.items()}


LONGEST_COMMAND = 100
"""The maximum length of a displayed command in characters; "RUN..." replaces the folders of a longer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteStyle:
    """Whether all notes or only a summary is shown below a table."""

    complete: bool = False
    command: str = ""
    """The command that prints all notes, named below a summary; if empty, ``probe show`` or ``results.to_markdown``."""


SHORT = NoteStyle()
COMPLETE = NoteStyle(complete=True)


def write_table_notes(
    table: Results, style: CellStyle, notes: NoteStyle, *, folders: bool, missing: Sequence[EncoderOnTask]
) -> str:
    """Return all notes (with the results folders if *folders* is True) if ``notes.complete``, else a summary."""
    if not notes.complete:
        return "".join(f"{line}\n" for line in summarize(table, style, missing))
    sources = describe_origins(table) if folders else ()
    lines = (*sources, *describe_missing_cells(table, missing))
    return "".join(f"{line}\n" for line in lines) + describe_all(table, style=style)


def summarize(table: Results, style: CellStyle, missing: Sequence[EncoderOnTask] = ()) -> Iterator[str]:
    """Yield a line on accuracy, a line on uncertainty, and a line on controls if there is anything to say on them."""
    sizes = group_by_task(table, lambda result: str(result.scores[Condition.PROBE].total))
    shares = group_by_task(table, lambda result: f"{100 * result.majority:.1f}")
    facts = TableFacts(table)
    accuracy = [
        f"Accuracy in % on {_format_values(sizes)} test items{describe_mean(facts)}; chance is "
        f"{_format_values(shares)}{' (by task)' if len(set(shares.values())) > 1 else ''}."
    ]
    if find_marked_cells(table):
        rivals = " and than every other model" * _has_several_models(table)
        accuracy.append(f"Bold or *: significantly better than chance{rivals}. {CONTROLS_REPLACE_CHANCE}")
    if style.published:
        accuracy.append("Rows from papers come from other data and encoders.")
    if match_human(style.human, table.records):
        accuracy.append(f"{HUMAN}: the majority of annotators on a sample of the test items.")
    yield " ".join(accuracy)
    uncertainty = [summarize_spread(facts), *describe_missing_cells(table, missing), *describe_uneven_probes(table)]
    for average in list_average_settings(table):
        uncertainty.append(f"Each probe is an average of {average} classifiers (setting average={average}).")
    unconverged, probes = count_unconverged(table)
    if unconverged:
        uncertainty.append(f"{unconverged} of {probes} probes reached max_epochs before converging.")
    if truncated := find_truncated(table):
        encoders = join_names(dict.fromkeys(result.encoder for result in truncated))
        most = max(result.truncated or 0 for result in truncated)
        uncertainty.append(
            f"{encoders} read only the beginning of long sentences (up to {most:,} sentences on one task)."
        )
    yield " ".join(uncertainty)
    if controls := " ".join(summarize_controls(facts)):
        yield controls


def _has_several_models(results: Results) -> bool:
    """Return whether a table has at least two models; variants such as ``dims=64`` belong to the same model."""
    return len({strip_reductions(result.encoder) for result in results.records}) > 1


def _format_values(by_task: Mapping[str, str]) -> str:
    """Return the value that all tasks share, or the range of values, such as "33.3 to 50.0"."""
    values = {value for text in by_task.values() for value in text.split(" or ")}
    least, greatest = min(values, key=float), max(values, key=float)
    return least if least == greatest else f"{least} to {greatest}"


def say_where_more_is(results: Results, notes: NoteStyle) -> str:
    """Return the line "All notes: COMMAND"; empty if all notes are shown."""
    if notes.complete or not results.records:
        return ""
    folders = dict.fromkeys(result.source for result in results.records)
    command = f"probe show {shlex.join(folders)} --notes"
    if not all(folders):
        command = "results.to_markdown(notes=True)"
    elif len(command) > LONGEST_COMMAND:
        command = "probe show RUN... --notes"
    return f"All notes: {notes.command or command}\n"
