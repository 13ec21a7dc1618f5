"""``meaning``: generate the notation of the event that a generated sentence states."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.meanings import Meanings


def prepare(texts: Meanings, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.PreparedObjective:
    """Return the objective over sentences and events.

    An encoder that solves this objective knows who does what to whom in every generated sentence. Its results are
    therefore an upper bound for our tasks. An event counts as correct if all of its notation is correct.
    """
    task = seq.SequenceTask(
        sources=texts.sentences, targets=[texts.events], metric=seq.Metric.ACCURACY, targets_are_sentences=False
    )
    return seq.prepare_sequences(task, model, options)
