"""``skipthought``: the sentence that follows is to be said, or both neighbours."""

from sentprobe.errors import UsageError
from sentprobe.probes.pretraining.objectives import sequences as seq
from sentprobe.probes.pretraining.texts.corpora import Sentences


def prepare(
    texts: Sentences, model: seq.SentenceModel, options: seq.ObjectiveOptions
) -> seq.Prepared:
    """Return the objective over sentences in reading order.

    Conneau et al. 2018, section 3.2, have the next sentence said. With ``neighbours``, a second
    decoder says the one before, as in Kiros et al. 2015; then the first and last sentence of a
    document are only said.

    Raises:
        UsageError: no sentence has its neighbours in its document.
    """
    shifts = (1, -1) if options.neighbours else (1,)
    middles = _middles(texts, before=-1 in shifts)
    if not middles:
        raise UsageError(
            f"{texts} have too few neighbours: skipthought reads sentences in their order, and "
            "an empty line ends a document"
        )
    task = seq.SequenceTask(
        sources=[texts.texts[place] for place in middles],
        targets=[[texts.texts[place + shift] for place in middles] for shift in shifts],
        metric=seq.Metric.PERPLEXITY,
    )
    return seq.prepare_sequences(task, model, options)


def _middles(texts: Sentences, *, before: bool) -> list[int]:
    """Return which sentences have another after them, and if asked for before them, in a text."""
    return [place for start, end in texts.spans() for place in range(start + before, end - 1)]
