"""Sampling as in the published datasets of Ettinger et al. 2018, for comparison.

What was done is read off the two of their datasets that we have (SemRole and Order), since their
generator makes sentences only. Sentences come from all structures in turn, over the probed words
alone. Each is asked about as many pairs with the answer TRUE as with FALSE (one to three of each);
so labels are balanced overall and for each sentence, but not for each probe. The pairs of test are
not asked about in training, but training sentences do have both words of them. There are no
mirrors, and a verb without auxiliary is negated with *do*.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sentprobe.generator.templates import find_patterns
from sentprobe.probes.compeval.held_out import too_few_in_training
from sentprobe.probes.compeval.items import REJECTED, Drawer, Probe, UnitItem
from sentprobe.probes.compeval.questions import Asked
from sentprobe.probes.compeval.tasks import CompevalTask
from sentprobe.probes.dataset import Split

PaperQuestion = tuple[Probe, UnitItem]
"""A sentence with its label, and the probe words under which it has that label."""


def paper_items(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], count: int, used: set[str]
) -> list[PaperQuestion]:
    """Return *count* items about these probes, half of them TRUE, or as many as there are.

    Sentences in *used* are left out, and those that are taken are added.
    """
    names = list(dict.fromkeys(p.name for p in find_patterns(task.templates)))
    sources = [
        _questions(task, replace(drawer, template=name), probes, used)
        for name in drawer.shuffled(names)
    ]
    found: list[PaperQuestion] = []
    while sources and len(found) < count:
        for source in [*sources]:
            taken = next(source, None)
            if taken is None:
                sources.remove(source)
            else:
                found += taken[: count - len(found)]
    return found


def _questions(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], used: set[str]
) -> Iterator[list[PaperQuestion]]:
    """Yield the items of one sentence after the other, TRUE and FALSE by turns."""
    misses = 0
    for event in task.events(drawer):
        of = Asked(event, drawer.wording)
        answers = {probe: task.question(of, probe) for probe in probes}
        chosen = _balanced(answers, drawer)
        if chosen and of.text not in used:
            misses = 0
            used.add(of.text)
            yield [
                (
                    probe,
                    UnitItem(
                        event=event,
                        text=of.text,
                        template=drawer.template,
                        label=answers[probe] is True,
                        part=drawer.part.name,
                    ),
                )
                for probe in chosen
            ]
        elif (misses := misses + 1) == REJECTED:
            return


def _balanced(answers: Mapping[Probe, bool | None], drawer: Drawer) -> list[Probe]:
    """Choose as many probes with the answer TRUE as with FALSE, at random, by turns."""
    true, false = (
        [probe for probe, answer in answers.items() if answer is label] for label in (True, False)
    )
    size = min(len(true), len(false))
    pairs = zip(drawer.rng.sample(true, size), drawer.rng.sample(false, size), strict=True)
    return list(chain.from_iterable(pairs))


def check_trained(items: Mapping[Split, Sequence[PaperQuestion]], *, task: CompevalTask) -> None:
    """Refuse items of which training lacks a probe word.

    Raises:
        TooFewItemsError: there are too few training items.
    """
    seen = {word for probe, _ in items[Split.TRAIN] for word in probe}
    for split, questions in items.items():
        unseen = {word for probe, _ in questions for word in probe} - seen
        if unseen:
            raise too_few_in_training(task.name, split, len(unseen))
