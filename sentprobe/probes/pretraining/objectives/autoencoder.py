"""``autoencoder``: a sentence is to be said again."""

from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.objectives.sequences import SequenceTask, prepare_sequences
from sentprobe.probes.pretraining.said import Metric
from sentprobe.probes.pretraining.texts.corpora import Sentences


def prepare(texts: Sentences, model: SentenceModel, options: ObjectiveOptions) -> Prepared:
    """Return the objective over sentences, whatever documents they are of."""
    task = SequenceTask(sources=texts.texts, targets=[texts.texts], metric=Metric.BLEU)
    return prepare_sequences(task, model, options)
