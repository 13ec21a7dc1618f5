"""``skipthought``: generate the next sentence, or both neighbours."""

from sentprobe.errors import UsageError
from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Sentences


def prepare(texts: Sentences, model: seq.SentenceModel, options: seq.ObjectiveOptions) -> seq.PreparedObjective:
    """Return the objective over sentences in reading order.

    Conneau et al. 2018, section 3.2, generate the next sentence. With ``neighbours``, a second decoder generates the
    previous sentence, as in Kiros et al. 2015. The first and last sentence of a document are then targets only.
    """
    shifts = (1, -1) if options.neighbours else (1,)
    places = [place for start, end in texts.list_spans() for place in range(start + options.neighbours, end - 1)]
    if not places:
        raise UsageError(
            f"{texts} have too few neighbours: skipthought reads sentences in their order, and "
            "an empty line ends a document"
        )
    task = seq.SequenceTask(
        sources=[texts.texts[place] for place in places],
        targets=[[texts.texts[place + shift] for place in places] for shift in shifts],
        metric=seq.Metric.PERPLEXITY,
    )
    return seq.prepare_sequences(task, model, options)
