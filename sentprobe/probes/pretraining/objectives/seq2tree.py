"""``seq2tree``: the constituents of a sentence are to be said, as symbols in a line."""

from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.objectives.sequences import SequenceTask, prepare_sequences
from sentprobe.probes.pretraining.said import Metric
from sentprobe.probes.pretraining.texts.corpora import Trees


def prepare(texts: Trees, model: SentenceModel, options: ObjectiveOptions) -> Prepared:
    """Return the objective over sentences and trees.

    Each frequent symbol has a code of its own. A tree counts as right if no symbol is wrong:
    Conneau et al. 2018 do not say what their accuracy counts.
    """
    task = SequenceTask(
        sources=texts.sentences,
        targets=[texts.trees],
        metric=Metric.ACCURACY,
        says_sentences=False,
    )
    return prepare_sequences(task, model, options)
