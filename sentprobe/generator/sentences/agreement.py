"""Agreement of the finite verb with its subject, and of determiners, adjectives and relativizers with a noun."""

from sentprobe.generator.events.event import Event, Mood, Participant, Polarity
from sentprobe.grammars import shapes
from sentprobe.lexicon import Word
from sentprobe.lexicon.languages.language import Language


def choose_clause_shape(event: Event, head_number: str, language: Language) -> shapes.ClauseShape:
    """Return the shape of a clause; *head_number* is the number of the noun that the clause modifies.

    The verb of an order (an imperative), or of a clause with a modal, does not agree with the subject.
    """
    subject = event.argument(event.subject)
    # A gap has the number of the modified noun; for "who" and "what", callers pass the singular.
    number = str(subject.agreement if isinstance(subject, Participant) else head_number)
    tense = str(event.tense)
    if event.modal is not None or event.mood is Mood.ORDER:
        tense, number = shapes.IMPERATIVE if event.modal is None else shapes.UNTENSED, ""
    negation = event.negator if event.polarity is Polarity.NEGATIVE else event.polarity
    return shapes.ClauseShape(
        str(event.frame),
        str(event.voice),
        tense,
        str(event.aspect),
        str(negation),
        bool(event.adverbs),
        str(event.gap or event.asked or ""),
        number,
        str(event.mood),
        str(event.dative or ""),
        head_number if event.gap and "rel" in language.agreeing_slots else "",
        str(event.fronting or ""),
    )


def choose_form(slot: str, form: str, words: dict[str, Word], language: Language) -> tuple[str, str]:
    """Return the name of the form for a slot, such as "DT.sg.vowel", and the form's class, here "vowel".

    The class is "" if the form belongs neither to a noun nor to a word that agrees with a noun. *form* is the name in
    the sentence plan, such as "DT.sg". It lacks the class, which depends on *words*.
    """
    path, dot, last = slot.rpartition(".")
    name = last.rstrip("0123456789")
    if name == "rel" and name not in language.agreeing_slots:
        return next(iter(words[slot].forms)), ""
    if name != "noun" and name not in language.agreeing_slots:
        return form, ""
    controller = words[f"{path}{dot}noun"]
    if language.class_of_next_word:
        controller = words.get(f"{path}{dot}adjective0", controller)
    word_class = language.find_class(controller)
    return form if name == "noun" else language.find_form(name, *split_form(form), word_class), word_class


def split_form(form: str) -> tuple[str, str]:
    """Return the grammatical number and the case in the name of a form; a missing number or case is "".

    >>> split_form("ART.sg.acc.masc"), split_form("DT.pl"), split_form("NN")
    (('sg', 'acc'), ('pl', ''), ('', ''))
    """
    _, number, case, *_ = (*form.split("."), "", "")
    return number, case
