"""Questions and units of the suite ``structure``. The items of a mirror pair differ in structure, not in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import contains
from sentprobe.generator.sentences.realize import WITHOUT_AUXILIARY, count_readings
from sentprobe.generator.spaces.constraints import Choices, Constraints, choose_words
from sentprobe.generator.spaces.drawn_event import DrawnEvent, find_layout_parts, number_variables
from sentprobe.generator.spaces.layout import ClauseForm, make_layout
from sentprobe.generator.spaces.templates import Pattern, find_pattern, find_patterns
from sentprobe.lexicon import Kind
from sentprobe.probes.generated.items import Drawer, Probe, Questions, Unit
from sentprobe.probes.generated.mirror import (
    WITHOUT_BE,
    MirrorFinder,
    ProbedSentence,
    has_role,
    interleave,
    list_words,
    make_mirror_pairs,
    sample_with_adverbs,
    skip_misses,
    swap_nouns,
)


def is_modified(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the verb's clause modifies the noun (Attachment). None for a main clause or a missing word."""
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
    """Answer the question of task NumberOf: is the agent of the verb plural? None if the sentence lacks the verb."""
    clause = sentence.verbs.get(probe[0])
    if clause is None:
        return None
    noun, *conjuncts = clause.roles[ev.Role.AGENT]
    determiner = find_layout_parts(sentence.event.layout).determiners[noun]
    return bool(conjuncts) or sentence.event.get_value(determiner)[0] == ev.Number.PLURAL


def is_under_modal(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer the question of task Modality: does the verb have a modal? None if the sentence lacks the verb."""
    clause = sentence.verbs.get(probe[0])
    return None if clause is None else clause.site.form.is_modal


def make_attachment_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units that ask which of two nouns the relative clause modifies; in the mirror, it modifies the other."""
    (noun, verb), (other, _) = questions
    ((role, _),) = (pattern := find_patterns((drawer.template,))[0]).clauses
    (other_role,) = {*ev.FRAME_ROLES[pattern.frame]} - {role}
    person = ev.Participant(noun=noun, clause=ev.RelativeClause(event=ev.Event(predicate=verb)))
    required = ev.Event().with_argument(role, person).with_argument(other_role, ev.Participant(noun=other))
    events = drawer.sample_events(required=(required,), words=list_words(questions))
    return make_mirror_pairs(drawer, questions, is_modified, events, keep_words(_move_clause))


def _move_clause(drawer: Drawer, probed: ProbedSentence, _: Questions) -> Iterator[DrawnEvent]:
    pattern = probed.event.layout.pattern
    ((clause_role, clause),) = pattern.clauses

    def rename(role: ev.Role, name: str) -> str:  # agent.rel becomes patient.rel
        _, _, part = name.partition(".")
        return f"{role.value}.{part}" if part.startswith(("rel", "clause.")) else name

    for role in ev.FRAME_ROLES[pattern.frame]:
        moved_pattern = find_pattern(pattern.frame, ((role, clause),))
        if role is not clause_role and drawer.has_weight(moved_pattern.name):
            yield change_layout(drawer, probed.event, partial(rename, role), pattern=moved_pattern)


def change_layout(
    drawer: Drawer,
    event: DrawnEvent,
    rename: Callable[[str], str],
    *,
    pattern: Pattern | None = None,
    forms: tuple[ClauseForm, ...] | None = None,
    fixed: Mapping[str, int] = MappingProxyType({}),
) -> DrawnEvent:
    """Return *event* with a new template (*pattern*) or new *forms* of its clauses; None leaves them unchanged.

    - rename: returns the new name of a variable, which keeps its value
    - fixed: new values for some variables, as indices; ``{"aspect": 0}`` selects the first aspect
    """
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
    return (None, *(word.lemma for word in drawer.wording.lexicon.words(Kind.MODAL)))


def make_tense_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units that ask which of two verbs is past. The mirror swaps the tenses of main and relative clause."""
    (verb,), (other,) = questions
    past, present = ev.Event(predicate=verb, tense=ev.Tense.PAST), ev.Event(predicate=other, tense=ev.Tense.PRESENT)
    has_cases = len(drawer.wording.lexicon.language.cases) > 1  # such a language negates without an auxiliary
    # The form of a full verb would change with its tense, so that the mirror would have other words.
    drawer = drawer.exclude(WITHOUT_BE if has_cases else WITHOUT_AUXILIARY)
    events = sample_with_adverbs(drawer, ((past, present), (present, past)))
    return make_mirror_pairs(drawer, questions, is_past, events, keep_words(_swap_tenses))


def _swap_tenses(_: Drawer, probed: ProbedSentence, __: Questions) -> Iterator[DrawnEvent]:
    main, inner = find_layout_parts(probed.event.layout).clauses
    if main.tense is not None and inner.tense is not None:
        yield probed.event.swap_values(main.tense, inner.tense)


def make_number_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units that ask which of two verbs has a plural agent. The mirror exchanges the agents of both clauses."""
    (verb,), (other,) = questions
    plural = ev.Event(predicate=verb, agent=ev.Participant(number=ev.Number.PLURAL))
    singular = ev.Event(predicate=other, agent=ev.Participant(number=ev.Number.SINGULAR))
    features = [(plural, singular), (singular, plural)]
    if len(drawer.wording.lexicon.language.cases) > 1:
        # The agents have one case if the clauses have one voice. Auxiliaries agree and are exchanged too.
        drawer = drawer.exclude(WITHOUT_BE)
        features = [(replace(a, voice=v), replace(b, voice=v)) for v in ev.Voice for a, b in features]
        events = sample_with_adverbs(drawer, features)
    else:
        # A verb in the present agrees with its agent, so that the mirror would have other words.
        events = sample_with_adverbs(drawer.exclude(ev.Event(tense=ev.Tense.PRESENT)), features)
    return make_mirror_pairs(drawer, questions, is_agent_plural, events, keep_words(_swap_agents))


def _swap_agents(_: Drawer, probed: ProbedSentence, __: Questions) -> Iterator[DrawnEvent]:
    parts = find_layout_parts(probed.event.layout)
    main, inner = (clause.roles[ev.Role.AGENT][0] for clause in parts.clauses)
    yield probed.event.swap_values(main, inner).swap_values(parts.determiners[main], parts.determiners[inner])


def make_modality_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units that ask which of two verbs has a modal. The mirror moves the modal to the other clause."""
    (verb,), (other,) = questions
    features = (ev.Event(predicate=verb), ev.Event(predicate=other))
    choices = Choices(modals=list_modals(drawer))
    events = sample_with_adverbs(drawer, (features, features[::-1]), accept=_has_one_modal, choices=choices)
    return make_mirror_pairs(drawer, questions, is_under_modal, events, keep_words(_move_modal))


def _has_one_modal(event: DrawnEvent) -> bool:
    return sum(site.form.is_modal for site in event.layout.clauses) == 1


def _move_modal(drawer: Drawer, probed: ProbedSentence, _: Questions) -> Iterator[DrawnEvent]:
    main, inner = probed.event.layout.clauses
    pairs = [(name, f"{inner.path}{name}") for name in ("modal", "tense")]
    names = {old: new for pair in pairs for old, new in (pair, pair[::-1])}
    yield change_layout(drawer, probed.event, lambda name: names.get(name, name), forms=(inner.form, main.form))


def keep_words(find_mirrors: MirrorFinder) -> MirrorFinder:
    """Return *find_mirrors*, limited to mirrors that have exactly the sentence's words and add no ambiguity."""

    def find_same_words(drawer: Drawer, probed: ProbedSentence, questions: Questions) -> Iterable[DrawnEvent]:
        words = sorted(probed.text.split())
        for mirror in find_mirrors(drawer, probed, questions):
            if sorted(drawer.wording.render(mirror).split()) != words:
                continue
            if mirror.layout is probed.event.layout or count_readings(mirror.event) == 1:
                yield mirror

    return find_same_words


def is_bound(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the adjective belongs to the noun (Binding)."""
    noun, adjective = probe
    modified = find_layout_parts(sentence.event.layout).adjectives
    at = next((at for at in modified if sentence.event.get_value(at) == adjective), None)
    if at is None or noun not in sentence.nouns:
        return None
    return modified[at] == sentence.nouns[noun]


def make_binding_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield mirror pairs that ask which of two nouns the adjective modifies; the mirror swaps their adjectives."""
    events = drawer.sample_events(words=list_words(questions), choices=Choices(adjectives=(1,)))
    return make_mirror_pairs(drawer, questions, is_bound, events, _swap_adjectives)


def _swap_adjectives(_: Drawer, probed: ProbedSentence, questions: Questions) -> Iterator[DrawnEvent]:
    nouns = {probed.nouns[noun] for noun, _ in questions}
    modified = find_layout_parts(probed.event.layout).adjectives
    first, second = (adjective for adjective, noun in modified.items() if noun in nouns)
    yield probed.event.swap_values(first, second)


def is_recipient(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the noun is the recipient of the verb (Recipient)."""
    return has_role(sentence, probe, ev.Role.RECIPIENT)


def make_recipient_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield mirror pairs that ask which of two nouns is the verb's recipient; the mirror swaps these nouns."""
    noun, verb = questions[0]
    event = ev.Event(predicate=verb, recipient=ev.Participant(noun=noun))
    events = drawer.sample_events(required=(event,), words=list_words(questions))
    return make_mirror_pairs(drawer, questions, is_recipient, events, swap_nouns)


MOODS = tuple(ev.Mood)


def is_patient_asked(sentence: ProbedSentence, _: Probe) -> bool | None:
    """Answer the question of task Question: is the patient asked for? None if no participant is asked for."""
    open_participant = sentence.event.layout.clauses[0].form.asked
    return None if open_participant is None else open_participant[0] is ev.Role.PATIENT


def get_mood(sentence: ProbedSentence, _: Probe) -> int:
    """Return the index in MOODS of the sentence's mood (Mood)."""
    return MOODS.index(sentence.event.layout.clauses[0].form.mood)


def _sample_sentences(drawer: Drawer, choices: Choices) -> Iterator[DrawnEvent]:
    """Yield events, alternately without and with a modal. All numbers of adverbs in a clause are equally frequent."""
    tensed, *modals = list_modals(drawer)
    all_choices = [replace(choices, modals=chosen) for chosen in ((tensed,), tuple(modals)) if chosen]
    features = ((ev.Event(), ev.Event()),)
    return interleave([sample_with_adverbs(drawer, features, choices=choices) for choices in all_choices])


def make_question_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield mirror pairs of questions: one asks for the agent (*who is helping the man*), one for the patient."""
    choices = Choices(moods=(ev.Mood.QUESTION,), asked=(ev.Role.AGENT, ev.Role.PATIENT))
    events = _sample_sentences(drawer, choices)
    return make_mirror_pairs(drawer, questions, is_patient_asked, events, keep_words(_ask_other_role))


def _ask_other_role(drawer: Drawer, probed: ProbedSentence, _: Questions) -> Iterator[DrawnEvent]:
    """Yield the mirror of a *who* question: "who did the man help" for "who helped the man". Skip *what* questions."""
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


def make_mood_units(drawer: Drawer, _: Questions) -> Iterator[Unit]:
    """Yield units of three sentences: a statement, the yes/no question with the same words, and the imperative."""

    def make_unit(event: DrawnEvent) -> Unit | None:
        statement = ProbedSentence(event, drawer.wording)
        question = next(iter(keep_words(_ask)(drawer, statement, ())), None)
        order = _change_mood(drawer, event, ClauseForm(mood=ev.Mood.ORDER))
        having = drawer.part.having
        if question is None or (having and not any(contains(order.event, pattern) for pattern in having)):
            return None
        events = (event, question, order)
        return tuple(((), drawer.build_item(event, label=label)) for label, event in enumerate(events))

    return skip_misses(map(make_unit, _sample_sentences(drawer, Choices())))


def _ask(drawer: Drawer, probed: ProbedSentence, _: Questions) -> Iterator[DrawnEvent]:
    form = probed.event.layout.clauses[0].form
    yield _change_mood(drawer, probed.event, form._replace(mood=ev.Mood.QUESTION))


def _change_mood(drawer: Drawer, event: DrawnEvent, form: ClauseForm) -> DrawnEvent:
    forms = (form, *(site.form for site in event.layout.clauses[1:]))
    fixed = {"aspect": 0} if form.mood is ev.Mood.ORDER else {}
    return change_layout(drawer, event, str, forms=forms, fixed=fixed)
