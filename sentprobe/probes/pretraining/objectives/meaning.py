"""``meaning``: the event that a generated sentence states is to be said, in its notation."""

from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.objectives.sequences import SequenceTask, prepare_sequences
from sentprobe.probes.pretraining.said import Metric
from sentprobe.probes.pretraining.texts.meanings import Meanings


def prepare(texts: Meanings, model: SentenceModel, options: ObjectiveOptions) -> Prepared:
    """Return the objective over sentences and events.

    Who learns it knows who does what to whom in every such sentence: an upper bound for what our
    tasks ask of an encoder. An event counts as right if nothing in it is wrong.
    """
    task = SequenceTask(
        sources=texts.sentences,
        targets=[texts.events],
        metric=Metric.ACCURACY,
        says_sentences=False,
    )
    return prepare_sequences(task, model, options)
