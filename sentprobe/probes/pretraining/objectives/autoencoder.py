"""``autoencoder``: a sentence is to be said again."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Sentences


def prepare(
    texts: Sentences, model: seq.SentenceModel, options: seq.ObjectiveOptions
) -> seq.Prepared:
    """Return the objective over sentences, whatever documents they are of."""
    task = seq.SequenceTask(sources=texts.texts, targets=[texts.texts], metric=seq.Metric.BLEU)
    return seq.prepare_sequences(task, model, options)
