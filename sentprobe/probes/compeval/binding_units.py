"""Questions and mirror pairs of the suite structure about nouns: their adjectives, and the recipient of a verb."""

from collections.abc import Iterator

from sentprobe.generator.events import event as ev
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.drawn_event import DrawnEvent, find_layout_parts
from sentprobe.probes.compeval.items import Drawer, Probe, Unit
from sentprobe.probes.compeval.mirror import make_mirror_pairs, swap_noun
from sentprobe.probes.compeval.questions import ProbedSentence, has_role


def is_bound(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the adjective belongs to the noun (Binding)."""
    noun, adjective = probe
    at = _find_adjective(sentence, adjective)
    if at is None or noun not in sentence.nouns:
        return None
    return find_layout_parts(sentence.event.layout).adjectives[at] == sentence.nouns[noun]


def _find_adjective(sentence: ProbedSentence, adjective: str) -> int | None:
    """Return the variable of an adjective, or None if it does not occur."""
    variables = find_layout_parts(sentence.event.layout).adjectives
    return next((at for at in variables if sentence.event.get_value(at) == adjective), None)


def make_binding_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the noun has the adjective; the mirror swaps the adjectives of two nouns."""
    events = drawer.sample_events(words=probe, choices=Choices(adjectives=(1,)))
    return make_mirror_pairs(drawer, probe, is_bound, events, _swap_adjective)


def _swap_adjective(drawer: Drawer, probed: ProbedSentence, probe: Probe) -> Iterator[DrawnEvent]:
    at = _find_adjective(probed, probe[1])
    for candidate in drawer.shuffle([*find_layout_parts(probed.event.layout).adjectives]):
        if at is not None and candidate != at:
            yield probed.event.swap_values(at, candidate)


def is_recipient(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the noun is the recipient of the verb (Recipient)."""
    return has_role(sentence, probe, ev.Role.RECIPIENT)


def make_recipient_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the noun is the recipient; the mirror swaps it with a like noun."""
    noun, verb = probe
    event = ev.Event(predicate=verb, recipient=ev.Participant(noun=noun))
    events = drawer.sample_events(required=(event,), words=probe)
    return make_mirror_pairs(drawer, probe, is_recipient, events, swap_noun)
