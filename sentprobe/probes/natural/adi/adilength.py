"""AdiLength of Adi et al. 2017, section 3: the number of tokens, up to 70."""

from dataclasses import replace

from sentprobe.lengths import ADI_BINS
from sentprobe.probes.natural.adi.shared_rules import Change, change_sentences, make_adi_tasks
from sentprobe.probes.natural.conneau.sentlen import ABOUT_LENGTH, HOW_LONG, list_bins, select_length_classes
from sentprobe.probes.natural.selection import Selection, SelectionRequest


def select_adi_length(request: SelectionRequest, change: Change) -> Selection:
    """Return the items of AdiLength: 8 classes by the number of tokens, from 5 to 70.

    With sampling as published, classes are as frequent as in the corpus; otherwise they are equally frequent.
    """
    selection = select_length_classes(request, ADI_BINS, balanced=not request.as_published)
    texts = change_sentences([entry.sentence for entry in selection.entries], request, change)
    entries = (entry for entry in selection.entries if entry.sentence in texts)
    return replace(selection, entries=tuple(replace(e, sentence=texts[e.sentence]) for e in entries))


TASK, *CONTROLS = make_adi_tasks(
    "AdiLength", select_adi_length, asks=HOW_LONG, classes=list_bins(ADI_BINS), may_answer=ABOUT_LENGTH
)
