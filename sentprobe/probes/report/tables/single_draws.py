"""Results divided into tables of one draw each."""

from dataclasses import dataclass, field

from sentprobe.probes.dataset import ENCODER_WORDS
from sentprobe.probes.results.result import EncoderOnTask, Result, Results
from sentprobe.probes.trainer.classifier import Preset


@dataclass(slots=True)
class _DrawTable:
    """A table that grows, and the values that a further result must share, so that each result is looked up once."""

    records: dict[EncoderOnTask, Result] = field(default_factory=dict)
    probe_words: set[tuple[str, str]] = field(default_factory=set)
    datasets: dict[str, str] = field(default_factory=dict)
    vectors: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    def add(self, record: Result) -> bool:
        """Add a result, or keep the one with more seeds of two in a cell; return False if it does not belong here."""
        if not self._accepts(record):
            return False
        former = self.records.get(record.cell)
        if former is None:
            self.records[record.cell] = record
            self._note(record)
        elif _count_scores(record) > _count_scores(former):
            self.records[record.cell] = record
            for names in (self.probe_words, self.datasets, self.vectors, self.words):
                names.clear()
            for member in self.records.values():
                self._note(member)
        return True

    def _accepts(self, record: Result) -> bool:
        own_words = {_get_probe_words(record)} if record.probe_vectors else self.probe_words
        word_vectors = {record.probe_fingerprint, self.words.get(record.encoder, "")} - {""}
        return (
            (not self.probe_words or own_words == self.probe_words)
            and self.datasets.get(record.task, record.dataset_fingerprint) == record.dataset_fingerprint
            and self.vectors.get(record.encoder, record.encoder_fingerprint) == record.encoder_fingerprint
            and len(word_vectors) <= 1
        )

    def _note(self, record: Result) -> None:
        if record.probe_vectors:
            self.probe_words.add(_get_probe_words(record))
        self.datasets[record.task] = record.dataset_fingerprint
        self.vectors[record.encoder] = record.encoder_fingerprint
        if record.probe_fingerprint:
            self.words[record.encoder] = record.probe_fingerprint


def split_single_draws(results: Results) -> tuple[Results, ...]:
    """Divide results into tables of one draw each, in order of seed.

    A table has the results of one classifier and run seed, with one dataset per task and one encoder per name.
    Duplicates (from runs that overlap) are kept once, with more seeds.
    """
    tables: list[_DrawTable] = []
    tables_by_setting: dict[tuple[int, Preset], list[_DrawTable]] = {}
    for record in results.records:
        candidates = tables_by_setting.setdefault((record.seed, record.preset), [])
        if not any(table.add(record) for table in candidates):
            table = _DrawTable()
            table.add(record)
            candidates.append(table)
            tables.append(table)
    members = [tuple(table.records.values()) for table in tables]
    return tuple(Results(records) for records in sorted(members, key=lambda records: records[0].seed))


def _get_probe_words(record: Result) -> tuple[str, str]:
    """Return the source of probe word vectors; an encoder's own vectors are identified by the encoder."""
    is_own = record.probe_vectors == ENCODER_WORDS
    return record.probe_vectors, "" if is_own else record.probe_fingerprint


def _count_scores(record: Result) -> tuple[int, int]:
    scores = record.scores
    return len(scores), sum(len(score.seeds) for score in scores.values())
