"""AdiLength of Adi et al. 2017, section 3: how many tokens a sentence has, up to 70."""

from dataclasses import replace

from sentprobe.lengths import ADI_BINS
from sentprobe.probes.natural.adi import Change, adi_tasks, changed
from sentprobe.probes.natural.select import Draw, Selection
from sentprobe.probes.natural.sentlen import ABOUT_LENGTH, HOW_LONG, length_classes, shown


def adi_length(draw: Draw, change: Change) -> Selection:
    """Return length: 8 classes by the number of tokens, from 5 to 70.

    As published they are as common as in the corpus (a fifth had 5 to 8 words); else equally.
    """
    found = length_classes(draw, ADI_BINS, balanced=not draw.as_published)
    texts = changed([entry.sentence for entry in found.entries], draw, change)
    there = (entry for entry in found.entries if entry.sentence in texts)
    return replace(found, entries=tuple(replace(e, sentence=texts[e.sentence]) for e in there))


TASK, *CONTROLS = adi_tasks(
    "AdiLength", adi_length, asks=HOW_LONG, classes=shown(ADI_BINS), may_answer=ABOUT_LENGTH
)
