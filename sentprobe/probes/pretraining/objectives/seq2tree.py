"""``seq2tree``: generate the constituents of a sentence, as a line of symbols."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Trees


def prepare(texts: Trees, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.PreparedObjective:
    """Return the objective over sentences and trees.

    Each frequent symbol has its own code. A tree counts as correct if all symbols are correct; Conneau et al. 2018 do
    not define their accuracy.
    """
    task = seq.SequenceTask(
        sources=texts.sentences, targets=[texts.trees], metric=seq.Metric.ACCURACY, targets_are_sentences=False
    )
    return seq.prepare_sequences(task, model, options)
