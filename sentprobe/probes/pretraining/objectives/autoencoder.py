"""``autoencoder``: generate the sentence itself."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Sentences


def prepare(texts: Sentences, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.PreparedObjective:
    """Return the objective over sentences of any documents."""
    task = seq.SequenceTask(sources=texts.texts, targets=[texts.texts], metric=seq.Metric.BLEU)
    return seq.prepare_sequences(task, model, options)
