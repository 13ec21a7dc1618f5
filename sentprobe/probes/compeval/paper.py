"""Sampling as in the published datasets of Ettinger et al. 2018: without mirrors or balance for each probe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sentprobe.probes.compeval.items import MAX_REJECTED, Drawer, Probe, UnitItem
from sentprobe.probes.compeval.questions import ProbedSentence
from sentprobe.probes.compeval.tasks import CompevalTask

PaperQuestion = tuple[Probe, UnitItem]
"""The probe words of an item, and the item itself."""


def sample_paper_items(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], count: int, used: set[str]
) -> list[PaperQuestion]:
    """Return up to *count* items about *probes*, half with the label TRUE, and add their sentences to *used*."""
    drawers = drawer.list_template_drawers(task.templates)
    sources = [(template.weight, _sample_questions(task, template, probes, used)) for template in drawers]
    questions: list[PaperQuestion] = []
    while sources and len(questions) < count:
        weights = [weight for weight, _ in sources]
        for source in drawer.rng.choices(sources, weights) if drawer.profile else [*sources]:
            sentence_questions = next(source[1], None)
            if sentence_questions is None:
                sources.remove(source)
            else:
                questions += sentence_questions[: count - len(questions)]
    return questions


def _sample_questions(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], used: set[str]
) -> Iterator[list[PaperQuestion]]:
    """Yield the list of items of each sentence, in which TRUE and FALSE alternate."""
    misses = 0
    for event in task.sample_events(drawer):
        probed = ProbedSentence(event, drawer.wording)
        answers = {probe: task.question(probed, probe) for probe in probes}
        balanced = _choose_balanced(answers, drawer)
        if balanced and probed.text not in used:
            misses = 0
            used.add(probed.text)
            item = UnitItem(event=event, text=probed.text, template=drawer.template, label=True, part=drawer.part.name)
            yield [(probe, replace(item, label=answers[probe] is True)) for probe in balanced]
        elif (misses := misses + 1) == MAX_REJECTED:
            return


def _choose_balanced(answers: Mapping[Probe, int | None], drawer: Drawer) -> list[Probe]:
    """Choose equally many probes with the answers TRUE and FALSE at random; return them alternately."""
    true, false = ([probe for probe, answer in answers.items() if answer is label] for label in (True, False))
    size = min(len(true), len(false))
    pairs = zip(drawer.rng.sample(true, size), drawer.rng.sample(false, size), strict=True)
    return list(chain.from_iterable(pairs))
