"""``meaning``: the event that a generated sentence states is to be said, in its notation."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.meanings import Meanings


def prepare(
    texts: Meanings, model: seq.SentenceModel, options: seq.ObjectiveOptions
) -> seq.Prepared:
    """Return the objective over sentences and events.

    Who learns it knows who does what to whom in every such sentence: an upper bound for what our
    tasks ask of an encoder. An event counts as right if nothing in it is wrong.
    """
    task = seq.SequenceTask(
        sources=texts.sentences,
        targets=[texts.events],
        metric=seq.Metric.ACCURACY,
        says_sentences=False,
    )
    return seq.prepare_sequences(task, model, options)
