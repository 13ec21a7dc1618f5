"""Questions and mirror pairs of the suite structure: the same words, with a label by the structure only."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.attachments import WITHOUT_AUXILIARY, count_readings
from sentprobe.generator.spaces.constraints import Choices, Constraints, choose_words
from sentprobe.generator.spaces.drawn_event import DrawnEvent, find_layout_parts, number_variables
from sentprobe.generator.spaces.layout import ClauseForm, make_layout
from sentprobe.generator.spaces.templates import Pattern, find_pattern, find_patterns
from sentprobe.lexicon import Kind
from sentprobe.probes.compeval.items import Drawer, Probe, Unit
from sentprobe.probes.compeval.mirror import MirrorFinder, make_mirror_pairs, sample_with_adverbs
from sentprobe.probes.compeval.questions import ProbedSentence


def is_modified(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the relative clause of the verb belongs to the noun (Attachment)."""
    noun, verb = probe
    clause = sentence.verbs.get(verb)
    if clause is None or clause.site.gap is None or noun not in sentence.nouns:
        return None
    return sentence.nouns[noun] in clause.roles[clause.site.gap]


def is_past(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the verb is in the past tense (TenseOf)."""
    clause = sentence.verbs.get(probe[0])
    return None if clause is None or clause.tense is None else sentence.event.get_value(clause.tense) == ev.Tense.PAST


def is_agent_plural(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the agent of the verb is plural (NumberOf)."""
    clause = sentence.verbs.get(probe[0])
    if clause is None:
        return None
    noun, *conjuncts = clause.roles[ev.Role.AGENT]
    determiner = find_layout_parts(sentence.event.layout).determiners[noun]
    return bool(conjuncts) or sentence.event.get_value(determiner)[0] == ev.Number.PLURAL


def is_under_modal(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the verb is under a modal (Modality)."""
    clause = sentence.verbs.get(probe[0])
    return None if clause is None else clause.site.form.is_modal


def make_attachment_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask which noun the relative clause modifies; the mirror moves it to the other."""
    noun, verb = probe
    ((role, _),) = find_patterns((drawer.template,))[0].clauses
    person = ev.Participant(noun=noun, clause=ev.RelativeClause(event=ev.Event(predicate=verb)))
    required = ev.Event().with_argument(role, person)
    events = drawer.sample_events(required=(required,), words=probe)
    return make_mirror_pairs(drawer, probe, is_modified, events, keep_words(_move_clause))


def _move_clause(drawer: Drawer, probed: ProbedSentence, _: Probe) -> Iterator[DrawnEvent]:
    pattern = probed.event.layout.pattern
    ((clause_role, clause),) = pattern.clauses
    for role in ev.FRAME_ROLES[pattern.frame]:
        moved_pattern = find_pattern(pattern.frame, ((role, clause),))
        if role is not clause_role and drawer.has_weight(moved_pattern.name):
            yield change_layout(drawer, probed.event, partial(_rename_moved, role), pattern=moved_pattern)


def change_layout(
    drawer: Drawer,
    event: DrawnEvent,
    rename: Callable[[str], str],
    *,
    pattern: Pattern | None = None,
    forms: tuple[ClauseForm, ...] | None = None,
    fixed: Mapping[str, int] = MappingProxyType({}),
) -> DrawnEvent:
    """Return an event in another layout, with its variables renamed and those in *fixed* set."""
    old = event.layout
    choices = Choices(modals=list_modals(drawer))
    words = choose_words(drawer.wording.lexicon, drawer.vocabulary, choices, Constraints())
    adverbs = tuple(site.adverbs for site in old.clauses)
    forms = forms or tuple(site.form for site in old.clauses)
    layout = make_layout(pattern or old.pattern, adverbs, words, choices.negators, forms)
    values = {rename(name): event.values[number] for name, number in number_variables(old).items()}
    values |= fixed
    return DrawnEvent(layout, [values[variable.name] for variable in layout.variables])


def list_modals(drawer: Drawer) -> tuple[str | None, ...]:
    """Return the modals of the lexicon, and None for a clause without one."""
    return (None, *(word.lemma for word in drawer.wording.lexicon.words(Kind.MODAL)))


def _rename_moved(role: ev.Role, name: str) -> str:
    """Return the name of a variable after the relative clause has moved to the noun of *role*."""
    _, _, part = name.partition(".")
    return f"{role.value}.{part}" if part.startswith(("rel", "clause.")) else name


def make_tense_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb is past. The mirror exchanges the tenses of both clauses."""
    past, present = ev.Event(predicate=probe[0], tense=ev.Tense.PAST), ev.Event(tense=ev.Tense.PRESENT)
    events = sample_with_adverbs(drawer.exclude(WITHOUT_AUXILIARY), ((past, present), (present, past)))
    return make_mirror_pairs(drawer, probe, is_past, events, keep_words(_swap_tenses))


def _swap_tenses(_: Drawer, probed: ProbedSentence, __: Probe) -> Iterator[DrawnEvent]:
    main, inner = find_layout_parts(probed.event.layout).clauses
    if main.tense is not None and inner.tense is not None:
        yield probed.event.swap_values(main.tense, inner.tense)


def make_number_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb's agent is plural. The mirror exchanges the agents of both clauses."""
    plural = ev.Event(predicate=probe[0], agent=ev.Participant(number=ev.Number.PLURAL))
    singular = ev.Event(agent=ev.Participant(number=ev.Number.SINGULAR))
    past = drawer.exclude(ev.Event(tense=ev.Tense.PRESENT))
    events = sample_with_adverbs(past, ((plural, singular), (singular, plural)))
    return make_mirror_pairs(drawer, probe, is_agent_plural, events, keep_words(_swap_agents))


def _swap_agents(_: Drawer, probed: ProbedSentence, __: Probe) -> Iterator[DrawnEvent]:
    parts = find_layout_parts(probed.event.layout)
    main, inner = (clause.roles[ev.Role.AGENT][0] for clause in parts.clauses)
    yield probed.event.swap_values(main, inner).swap_values(parts.determiners[main], parts.determiners[inner])


def make_modality_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb is under a modal. The mirror moves the modal to the other verb."""
    features = (ev.Event(predicate=probe[0]), ev.Event())
    choices = Choices(modals=list_modals(drawer))
    events = sample_with_adverbs(drawer, (features, features[::-1]), accept=_has_one_modal, choices=choices)
    return make_mirror_pairs(drawer, probe, is_under_modal, events, keep_words(_move_modal))


def _has_one_modal(event: DrawnEvent) -> bool:
    return sum(site.form.is_modal for site in event.layout.clauses) == 1


def _move_modal(drawer: Drawer, probed: ProbedSentence, _: Probe) -> Iterator[DrawnEvent]:
    main, inner = probed.event.layout.clauses
    pairs = [(name, f"{inner.path}{name}") for name in ("modal", "tense")]
    names = {old: new for pair in pairs for old, new in (pair, pair[::-1])}
    yield change_layout(drawer, probed.event, lambda name: names.get(name, name), forms=(inner.form, main.form))


def keep_words(find_mirrors: MirrorFinder) -> MirrorFinder:
    """Return a function that leaves out ambiguous mirrors and those with other words, such as *is* for *was*."""

    def find_same_words(drawer: Drawer, probed: ProbedSentence, probe: Probe) -> Iterable[DrawnEvent]:
        words = sorted(probed.text.split())
        for mirror in find_mirrors(drawer, probed, probe):
            if sorted(drawer.wording.render(mirror).split()) != words:
                continue
            if mirror.layout is probed.event.layout or count_readings(mirror.event) == 1:
                yield mirror

    return find_same_words
