"""Questions and units of the suite structure about whole sentences: the role that is asked for, and the mood."""

from collections.abc import Iterator
from dataclasses import replace

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.matching import contains
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.drawn_event import DrawnEvent
from sentprobe.generator.spaces.layout import ClauseForm
from sentprobe.generator.spaces.templates import find_pattern
from sentprobe.probes.compeval.items import Drawer, Probe, Unit
from sentprobe.probes.compeval.mirror import interleave, make_mirror_pairs, sample_with_adverbs, skip_misses
from sentprobe.probes.compeval.questions import ProbedSentence
from sentprobe.probes.compeval.structure_units import change_layout, keep_words, list_modals

MOODS = tuple(ev.Mood)


def is_patient_asked(sentence: ProbedSentence, _: Probe) -> bool | None:
    """Answer whether a question asks for the patient, not the agent (Question)."""
    open_participant = sentence.event.layout.clauses[0].form.asked
    return None if open_participant is None else open_participant[0] is ev.Role.PATIENT


def get_mood(sentence: ProbedSentence, _: Probe) -> int:
    """Return the number of the sentence's mood (Mood)."""
    return MOODS.index(sentence.event.layout.clauses[0].form.mood)


def _sample_sentences(drawer: Drawer, choices: Choices) -> Iterator[DrawnEvent]:
    """Yield sentences with a tense and with a modal in turn, with equally many of each number of adverbs."""
    tensed, *modals = list_modals(drawer)
    all_choices = [replace(choices, modals=chosen) for chosen in ((tensed,), tuple(modals)) if chosen]
    features = ((ev.Event(), ev.Event()),)
    return interleave([sample_with_adverbs(drawer, features, choices=choices) for choices in all_choices])


def make_question_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask for which role a question asks; the mirror asks for the other: *who is the man helping*."""
    choices = Choices(moods=(ev.Mood.QUESTION,), asked=(ev.Role.AGENT, ev.Role.PATIENT))
    events = _sample_sentences(drawer, choices)
    return make_mirror_pairs(drawer, probe, is_patient_asked, events, keep_words(_ask_other_role))


def _ask_other_role(drawer: Drawer, probed: ProbedSentence, _: Probe) -> Iterator[DrawnEvent]:
    """Yield the question for the other role, if both roles take persons."""
    layout = probed.event.layout
    main, *inner = (site.form for site in layout.clauses)
    assert main.asked is not None
    asked_role, word = main.asked
    (role,) = {*ev.FRAME_ROLES[ev.Frame.TRANSITIVE]} - {asked_role}
    pattern = find_pattern(layout.pattern.frame, tuple((asked_role, clause) for _, clause in layout.pattern.clauses))

    def rename(name: str) -> str:
        return f"{asked_role}.{name.removeprefix(f'{role}.')}" if name.startswith(f"{role}.") else name

    if word is ev.Asked.WHO and drawer.has_weight(pattern.name):
        forms = (main._replace(asked=(role, word)), *inner)
        yield change_layout(drawer, probed.event, rename, pattern=pattern, forms=forms)


def make_mood_units(drawer: Drawer, _: Probe) -> Iterator[Unit]:
    """Yield a statement, the yes/no question of the same words, and the order to do it."""

    def make_unit(event: DrawnEvent) -> Unit | None:
        statement = ProbedSentence(event, drawer.wording)
        question = next(iter(keep_words(_ask)(drawer, statement, ())), None)
        order = _change_mood(drawer, event, ClauseForm(mood=ev.Mood.ORDER))
        having = drawer.part.having
        if question is None or (having and not any(contains(order.event, pattern) for pattern in having)):
            return None
        events = (event, question, order)
        return tuple(drawer.build_item(event, label=label) for label, event in enumerate(events))

    return skip_misses(map(make_unit, _sample_sentences(drawer, Choices())))


def _ask(drawer: Drawer, probed: ProbedSentence, _: Probe) -> Iterator[DrawnEvent]:
    form = probed.event.layout.clauses[0].form
    yield _change_mood(drawer, probed.event, form._replace(mood=ev.Mood.QUESTION))


def _change_mood(drawer: Drawer, event: DrawnEvent, form: ClauseForm) -> DrawnEvent:
    """Return an event with another form of its main clause; an order is active and simple."""
    forms = (form, *(site.form for site in event.layout.clauses[1:]))
    fixed = {"aspect": 0} if form.mood is ev.Mood.ORDER else {}
    return change_layout(drawer, event, str, forms=forms, fixed=fixed)
