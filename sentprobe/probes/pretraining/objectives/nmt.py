"""``nmt``: a sentence is to be said in another language."""

from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.objective import Prepared
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.objectives.sequences import SequenceTask, prepare_sequences
from sentprobe.probes.pretraining.said import Metric
from sentprobe.probes.pretraining.texts.corpora import SentencePairs


def prepare(texts: SentencePairs, model: SentenceModel, options: ObjectiveOptions) -> Prepared:
    """Return the objective over sentences and their translations; nothing attends to words."""
    task = SequenceTask(sources=texts.sources, targets=[texts.targets], metric=Metric.BLEU)
    return prepare_sequences(task, model, options)
