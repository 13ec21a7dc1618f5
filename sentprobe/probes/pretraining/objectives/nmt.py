"""``nmt``: translate the sentence."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import SentencePairs


def prepare(texts: SentencePairs, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.PreparedObjective:
    """Return the objective over sentences and their translations, without attention."""
    task = seq.SequenceTask(sources=texts.sources, targets=[texts.targets], metric=seq.Metric.BLEU)
    return seq.prepare_sequences(task, model, options)
