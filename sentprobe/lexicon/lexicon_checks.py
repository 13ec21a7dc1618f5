"""The checks of a lexicon file; :data:`CHECKS` has the function of each code, such as L003.

A check yields the line number and the details of each problem; the error message begins with the broken rule.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from sentprobe.common.errors import suggest
from sentprobe.lexicon import draft as drafts
from sentprobe.lexicon.source import SORTS, SYNONYMS, VOCABULARY, LexiconEntry, Problem
from sentprobe.lexicon.words import (
    FRAMES,
    GENDERS,
    NO_PROGRESSIVE,
    NOT,
    PERSON,
    ROLES,
    VERB_FLAGS,
    VERBS,
    Flag,
    Form,
    Kind,
    Word,
)

LexiconFinding = tuple[int, str]
ARTICLES = ("a", "an")
TAKING_KINDS = frozenset({Kind.ADJECTIVE, Kind.RELATIVIZER})
"""The kinds of words, in addition to verbs, whose entries can have the key ``takes``."""
_WORD_LISTS: Mapping[str, frozenset[Kind]] = {
    drafts.EXCEPT: frozenset(Kind),
    drafts.EVENT_ADVERBS: frozenset({Kind.ADVERB}),
    drafts.STATES: VERBS,
}
"""Lists of a vocabulary that are not named after a kind of word, with the kinds of their words."""
_SWITCHES = (drafts.UNIFORM_CONJUNCTS, drafts.SEPARATE_AGENTS)
"""Keys of a vocabulary whose value is true or false."""
POLAR_KINDS = frozenset({Kind.ADVERB, Kind.DETERMINER})
"""The kinds of words that can be negative polarity items."""


def check_unknown_kind(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find sections that are not named after a kind of word, a vocabulary, the sorts or the synonyms."""
    for section in draft.document.sections:
        if section.name not in {*draft.language.forms, SORTS, SYNONYMS} and not drafts.is_vocabulary(section):
            kinds = draft.language.forms
            hint = _suggest_nearest(section.name, [*kinds, SORTS, SYNONYMS, VOCABULARY])
            expected = f"{', '.join(kinds)}, {SORTS}, {SYNONYMS} or {VOCABULARY}.NAME"
            yield section.line, f"[{section.name}], expected {expected}{hint}"


def check_duplicate_lemma(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find repeated lemmas in sections, lists and synonym sets, and translations that two words of a kind share."""
    for place, first in draft.document.repeated:
        yield place.first, f"{place.key!r} in [{place.section}] is on line {first.first} already"
    yield from _find_shared_translations(draft)
    for entry in (*_list_vocabulary_entries(draft), *draft.sorts, *_list_synonym_sets(draft)):
        counts = Counter(drafts.list_strings(entry.value))
        for lemma in sorted(lemma for lemma, count in counts.items() if count > 1):
            line = draft.document.find_line(lemma, after=entry.line)
            yield line, f"{lemma!r} occurs more than once in the list of {entry.key!r}"


def _find_shared_translations(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Yield a problem if two words of one kind have the same translation; dative verbs count as transitive verbs."""
    owners: dict[tuple[Kind, str], Word] = {}
    for item in draft.items:
        word, kind = item.word, Kind.TRANSITIVE if item.word.kind is Kind.DATIVE else item.word.kind
        owner = owners.setdefault((kind, word.english), word) if word.english else word
        if owner is not word:
            yield item.entry.line, f"the English {word.english!r} of {word.lemma!r} already translates {owner.lemma!r}"


def check_missing_form(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find words that must state a form (one that does not follow from the lemma) or a gender, and do not."""
    for item in draft.items:
        kind, forms, stated = item.word.kind, item.word.forms, item.stated
        missing = [f for f in draft.language.forms[kind] if f not in forms and isinstance(stated.get(f, ""), str)]
        if missing and (kind in draft.language.open_kinds or not forms):
            word = f"{kind} {item.word.lemma!r}"
            keys = draft.language.keys[kind]
            expected = f'"{missing[0]}" = ...' if missing[0] in keys else f"keys of {', '.join(keys)}"
            yield (item.entry.line, f"{word} lacks {', '.join(missing)}, expected {expected}")
        if drafts.GENDER in draft.language.keys[kind] and drafts.GENDER not in stated and not draft.language.reflexives:
            yield item.entry.line, f"{kind} {item.word.lemma!r} lacks its gender, expected {drafts.GENDER} = ..."


def check_form_clash(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find forms that stand for two words, for two numbers of a noun, or for two tenses of a verb."""
    for item in draft.items:
        reserved = draft.language.reserved - ({"who", "what"} if item.word.kind is Kind.RELATIVIZER else frozenset())
        for text in sorted(reserved & frozenset(item.word.forms.values())):
            yield item.entry.line, f"{text!r} of {item.word.lemma!r} is a word of the grammar"
    yield from _find_shared_forms(draft)
    for item in draft.items if draft.language.has_distinct_forms else ():
        forms, line, lemma = item.word.forms, item.entry.line, item.word.lemma
        if item.word.kind is Kind.NOUN and forms.get(Form.NN) == forms.get(Form.NNS):
            yield line, f"the plural of {lemma!r} equals its singular"
        if _is_syncretic(item.word) and Flag.SYNCRETIC not in item.word.flags:
            yield line, f'the past of {lemma!r} equals its plain form: flags = ["{Flag.SYNCRETIC}"]'


def _find_shared_forms(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Yield a problem for each form that two words share, unless both are the same verb with different frames."""
    owners = {text: word for word in draft.inherited for text in word.forms.values()}
    for item in draft.items:
        for text in dict.fromkeys(item.word.forms.values()):
            owner = owners.setdefault(text, item.word)
            if _find_identity(owner, draft) != _find_identity(item.word, draft):
                ours = f"{text!r} of {item.word.kind} {item.word.lemma!r}"
                yield item.entry.line, f"{ours} is also a form of {owner.kind} {owner.lemma!r}"


def check_unknown_key(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find unknown keys in the entries of words, vocabularies and synonyms."""
    for item in draft.items:
        kind = item.word.kind
        known_keys = dict.fromkeys((*draft.language.keys[kind], *_list_other_keys(kind)))
        yield from _find_unexpected(item.stated, (*known_keys,), item.entry.line)
        if kind in VERBS and isinstance(sorts_by_role := item.stated.get(drafts.TAKES), dict):
            yield from _find_unexpected(sorts_by_role, ROLES[kind], item.entry.line)
    for section in draft.vocabularies:
        for entry in section.entries:
            known = (*draft.language.open_kinds, *_SWITCHES, *_WORD_LISTS)
            yield from _find_unexpected([entry.key], known, entry.line)
    for entry in draft.synonyms:
        yield from _find_unexpected([entry.key], draft.language.open_kinds, entry.line)


def _list_other_keys(kind: Kind) -> tuple[str, ...]:
    """Return the keys that an entry can have in any language. ``Language.keys`` lists further keys."""
    flags = (drafts.FLAGS,) if kind in VERBS or kind in POLAR_KINDS else ()
    takes = (drafts.TAKES,) if kind in VERBS or kind in TAKING_KINDS else ()
    frames = (drafts.FRAMES_KEY,) if kind in VERBS or kind is Kind.ADVERB else ()
    ambiguous = (drafts.AMBIGUOUS,) if kind in VERBS or kind is Kind.NOUN else ()
    return (*flags, *((drafts.SORT,) if kind is Kind.NOUN else ()), *takes, *frames, *ambiguous)


def check_flags(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find flags that a kind of word cannot have, that are false, or that exclude each other."""
    for item in draft.items:
        flags = [flag for flag in Flag if (flag in VERB_FLAGS) is (item.word.kind in VERBS)]
        for flag in drafts.list_strings(item.stated.get(drafts.FLAGS)):
            if flag not in flags:
                yield (item.entry.line, f"{flag!r}, expected {', '.join(flags)}{_suggest_nearest(flag, flags)}")
        classes = sorted(item.word.flags & NO_PROGRESSIVE)
        if len(classes) > 1:
            yield item.entry.line, f"{item.word.lemma!r} is either {' or '.join(classes)}"
        if Flag.PSYCH in classes and item.word.kind is Kind.INTRANSITIVE:
            yield item.entry.line, f"{item.word.lemma!r} has the flag psych, but no object that could have a feeling"
        if Flag.SYMMETRIC in item.word.flags and item.word.kind not in (Kind.TRANSITIVE, Kind.DATIVE):
            yield item.entry.line, f"{item.word.lemma!r} has the flag symmetric, but no agent and patient to exchange"
        if Flag.SYNCRETIC in item.word.flags and not _is_syncretic(item.word):
            yield item.entry.line, f"the past of {item.word.lemma!r} differs from its plain form"


def check_unknown_word(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find words of vocabularies, sorts and synonym sets that the lexicon lacks."""
    kinds_and_lemmas = [(word.kind, word.lemma) for word in draft.words]
    sorts = [LexiconEntry(Kind.NOUN, entry.value, entry.line) for entry in draft.sorts]
    for entry in (*_list_vocabulary_entries(draft), *sorts, *_list_synonym_sets(draft)):
        kinds = _WORD_LISTS.get(entry.key, {entry.key})
        lemmas = dict.fromkeys(lemma for kind, lemma in kinds_and_lemmas if kind in kinds)
        for lemma in dict.fromkeys(drafts.list_strings(entry.value)):
            if lemma not in lemmas:
                line = draft.document.find_line(lemma, after=entry.line)
                kind = {drafts.EXCEPT: "word", drafts.EVENT_ADVERBS: "adverb", drafts.STATES: "verb"}.get(
                    entry.key, entry.key
                )
                yield line, f"there is no {kind} {lemma!r}{_suggest_nearest(lemma, lemmas)}"


def check_tokens(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find lemmas and forms that are not one token in lower case (German nouns: with a capital)."""
    for item in draft.items:
        stated = [value for key, value in item.stated.items() if key in frozenset(Form)]
        if draft.language.capitalized_kinds:
            stated = [*item.word.forms.values()]
        for text in dict.fromkeys([item.entry.key, *filter(None, drafts.list_strings(stated))]):
            is_name = item.word.kind in draft.language.capitalized_kinds
            if text != (text.capitalize() if is_name else text.lower()) or not all(
                part.isalpha() for part in text.split("-")
            ):
                yield item.entry.line, f"{text!r}"


def check_empty_vocabulary(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find vocabularies without a noun or without a verb, and empty lists in vocabularies."""
    for section in draft.vocabularies or (drafts.choose_everything(draft),):
        chosen = drafts.resolve_vocabulary(section, draft)
        if not chosen[Kind.NOUN] or not any(chosen.get(kind) for kind in VERBS):
            lacking = "verb" if chosen[Kind.NOUN] else Kind.NOUN
            yield section.line, f"[{section.name}] has no {lacking}"
        for entry in section.entries:
            if (
                entry.key in draft.language.open_kinds
                and entry.value in ([], drafts.ALL)
                and not chosen[Kind(entry.key)]
            ):
                yield entry.line, f"{entry.key!r} is empty; leave out the key"


def check_types(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find sections that are not tables, and values that their key does not allow."""
    for section in draft.document.sections:
        if not section.is_table:
            yield section.line, f"{section.name!r}, expected a section [{section.name}]"
    for item in draft.items:
        yield from _find_wrong_values(item)
        yield from _find_wrong_choice(item, drafts.GENDER, GENDERS)
        yield from _find_wrong_choice(item, drafts.AUXILIARY, tuple(draft.language.perfect_auxiliaries))
        yield from _find_wrong_members(item, drafts.FRAMES_KEY, FRAMES)
        yield from _find_wrong_members(item, drafts.AMBIGUOUS, tuple(draft.language.forms[item.word.kind]))
    for entry in (entry for section in draft.vocabularies for entry in section.entries):
        if entry.key in _SWITCHES and not isinstance(entry.value, bool):
            yield entry.line, f"{entry.key!r}, expected true or false"
    yield from _find_wrong_lists(draft)


def _find_wrong_lists(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    for entry in _list_vocabulary_entries(draft):
        if not _is_strings(entry.value) and (entry.value != drafts.ALL or entry.key in _WORD_LISTS):
            others = "" if entry.key in _WORD_LISTS else f' or "{drafts.ALL}"'
            yield entry.line, f"{entry.key!r}, expected a list of lemmas{others}"
    for entry in draft.sorts:
        if not (entry.value and _is_strings(entry.value)):
            yield entry.line, f"{entry.key!r} of [{SORTS}], expected a list of nouns"
    for entry in draft.synonyms:
        sets = entry.value if isinstance(entry.value, list) else [None]
        if not all(_is_strings(synonyms) and len(drafts.list_strings(synonyms)) > 1 for synonyms in sets):
            yield entry.line, f"{entry.key!r} of [{SYNONYMS}], expected a list of lists of two lemmas or more"


def _find_wrong_choice(item: drafts.DraftWord, key: str, values: tuple[str, ...]) -> Iterator[LexiconFinding]:
    if values and item.stated.get(key, values[0]) not in values:
        yield item.entry.line, f"{key!r} of {item.word.lemma!r}, expected {', '.join(values)}"


def _find_wrong_members(item: drafts.DraftWord, key: str, values: tuple[str, ...]) -> Iterator[LexiconFinding]:
    for value in drafts.list_strings(item.stated.get(key)):
        if value not in values:
            expected = f"expected {', '.join(values)}{_suggest_nearest(value, values)}"
            yield item.entry.line, f"{value!r} in {key!r} of {item.word.lemma!r}, {expected}"


def _find_wrong_values(item: drafts.DraftWord) -> Iterator[LexiconFinding]:
    line, lemma = item.entry.line, item.word.lemma
    if not isinstance(item.entry.value, dict):
        yield line, f"{lemma!r}, expected a table such as {{}}"
    for key, value in item.stated.items():
        if key in (drafts.FLAGS, drafts.FRAMES_KEY, drafts.AMBIGUOUS) and not _is_strings(value):
            yield line, f"{key!r} of {lemma!r}, expected a list of strings"
        elif key == drafts.ARTICLE and value not in ARTICLES:
            yield line, f"{key!r} of {lemma!r}, expected {', '.join(ARTICLES)}"
        elif key == drafts.SORT and not (isinstance(value, str) and len(value.split()) == 1):
            yield line, f"{key!r} of {lemma!r}, expected the name of a sort, in one word"
        elif key == drafts.TAKES:
            is_verb = item.word.kind in VERBS  # the sorts of verbs are in a table of roles
            lists = [*value.values()] if is_verb and isinstance(value, dict) else [None if is_verb else value]
            if not all(sorts and _is_strings(sorts) for sorts in lists):
                form = '{ patient = ["thing"] }' if is_verb else '["thing"]'
                yield line, f"{key!r} of {lemma!r}, expected sorts such as {form}"
        elif key in {*Form, drafts.ENGLISH_LEMMA} and not isinstance(value, str):
            yield line, f"{key!r} of {lemma!r}, expected a string"


def check_sorts(draft: drafts.Draft) -> Iterator[LexiconFinding]:
    """Find sorts in ``takes`` that no noun has, and roles of words that no noun can fill."""
    noun_sorts = {word.sorts: None for word in draft.words if word.kind is Kind.NOUN}
    main_sorts = dict.fromkeys((PERSON, *(sorts[0] for sorts in noun_sorts)))
    known_sorts = dict.fromkeys((*main_sorts, *(entry.key for entry in draft.sorts)))
    for entry in draft.sorts:
        if entry.key in main_sorts:
            yield entry.line, f"{entry.key!r} of [{SORTS}] is the sort of a noun already"
    for item in draft.items:
        word, line = item.word, item.entry.line
        stated = [sort.removeprefix(NOT) for sorts in word.takes.values() for sort in sorts]
        unknown = [sort for sort in dict.fromkeys(stated) if sort not in known_sorts]
        for sort in unknown:
            expected = f"expected {', '.join(known_sorts)}{_suggest_nearest(sort, known_sorts)}"
            yield line, f"{sort!r} of {word.lemma!r}, {expected}"
        for role in () if unknown or not noun_sorts else ROLES.get(word.kind, ()):
            if not any(word.accepts(sorts, role) for sorts in noun_sorts):
                yield line, f"no noun can be the {role} of {word.lemma!r}"


CHECKS: Mapping[str, tuple[Callable[[drafts.Draft], Iterator[LexiconFinding]], str]] = {
    "L001": (check_unknown_kind, "name each section after a kind of word, a vocabulary, the sorts or the synonyms"),
    "L002": (check_duplicate_lemma, "write a lemma or translation once in a section, and a lemma once in a list"),
    "L003": (check_missing_form, "state the inflected forms that do not follow from the lemma, and a needed gender"),
    "L004": (check_form_clash, "do not use a form for two words, or for two numbers or tenses of a word"),
    "L005": (check_unknown_key, "use only known keys in the entries of words, vocabularies and synonyms"),
    "L006": (check_flags, "use only flags that the word's kind can have, and that are true of the word"),
    "L007": (check_unknown_word, "use only words of the lexicon in vocabularies, sorts and synonym sets"),
    "L008": (check_tokens, "apart from German capitals, write each lemma and form as one token of lower-case letters"),
    "L009": (check_empty_vocabulary, "choose at least one noun and one verb for a vocabulary, and leave no list empty"),
    "L011": (check_types, "write each section as a table, and give each key a value that it allows"),
    "L012": (
        check_sorts,
        "name sorts that nouns of the lexicon have, each in one place, and let each role accept a noun",
    ),
}
"""The checks by code, each with the rule that the author of the file is told; a file that is not TOML in UTF-8 (L010)
is rejected before the checks run."""


MAX_PROBLEMS = 20
"""Maximum number of problems that one check reports; each may need a slow search for the nearest name."""


def find_problems(draft: drafts.Draft) -> tuple[Problem, ...]:
    """Return the problems of a lexicon file, at most MAX_PROBLEMS for each check, in the order of its lines."""
    all_problems = []
    for code, (check, rule) in CHECKS.items():
        findings = check(draft)
        all_problems += [Problem(line, code, f"{rule}: {text}") for line, text in islice(findings, MAX_PROBLEMS)]
        if further := next(findings, None):
            all_problems.append(Problem(further[0], code, f"{rule}: {further[1]}, and maybe more"))
    return tuple(sorted(all_problems))


def _find_identity(word: Word, draft: drafts.Draft) -> tuple[str, str]:
    """Return a key for a word; two words are allowed to share a form only if their keys are equal."""
    if word.kind in VERBS:
        return word.lemma, "verb"
    return (word.lemma, word.kind) if word.kind in draft.language.open_kinds else ("", "closed")


def _is_syncretic(word: Word) -> bool:
    """Say whether a word is a verb whose past equals its plain form."""
    past = word.forms.get(Form.VBD)
    return word.kind in VERBS and past is not None and past == word.forms.get(Form.VB)


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and len(drafts.list_strings(value)) == len(value)


def _find_unexpected(keys: Iterable[str], known_keys: tuple[str, ...], line: int) -> Iterator[LexiconFinding]:
    for key in keys:
        if key not in known_keys:
            yield (line, f"{key!r}, expected {', '.join(known_keys)}{_suggest_nearest(key, known_keys)}")


def _list_vocabulary_entries(draft: drafts.Draft) -> list[LexiconEntry]:
    entries = [entry for section in draft.vocabularies for entry in section.entries]
    return [entry for entry in entries if entry.key in (*draft.language.open_kinds, *_WORD_LISTS)]


def _list_synonym_sets(draft: drafts.Draft) -> list[LexiconEntry]:
    """Return an entry for each synonym set of open-class words. The entry's line is the line of the first lemma."""
    sets, line = [], 1
    for entry in draft.synonyms:
        line = entry.line
        for synonyms in drafts.list_lists(entry.value):
            line = draft.document.find_line(synonyms[0], after=line) if synonyms else line
            sets.append(LexiconEntry(entry.key, synonyms, line))
    return [entry for entry in sets if entry.key in draft.language.open_kinds]


def _suggest_nearest(name: str, known_names: Iterable[str]) -> str:
    return suggest(name, map(str, known_names))
