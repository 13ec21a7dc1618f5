"""``seq2tree``: the constituents of a sentence are to be said, as symbols in a line."""

from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Trees


def prepare(texts: Trees, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.Prepared:
    """Return the objective over sentences and trees.

    Each frequent symbol has a code of its own. A tree counts as right if no symbol is wrong:
    Conneau et al. 2018 do not say what their accuracy counts.
    """
    task = seq.SequenceTask(
        sources=texts.sentences,
        targets=[texts.trees],
        metric=seq.Metric.ACCURACY,
        says_sentences=False,
    )
    return seq.prepare_sequences(task, model, options)
