"""The lexicon: its words and forms, reading and writing, and the built-in vocabularies."""

import json
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from helpers.shared import ROOT, SHARED, needs_shared
from hypothesis import given
from hypothesis import strategies as st

import sentprobe.lexicon
from sentprobe.common.errors import UsageError
from sentprobe.grammars import read_grammar_source
from sentprobe.lexicon import (
    Flag,
    Form,
    Kind,
    Lexicon,
    UnknownVocabularyError,
    UnknownWordError,
    Vocabulary,
    Word,
    english,
    read_lexicon,
    read_lexicon_text,
    write_lexicon_text,
)
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.read import read_closed_words
from sentprobe.lexicon.words import (
    FORMS,
    FUNCTION_WORDS,
    GENDERS,
    KEPT_FORMS,
    MODIFIED,
    NO_PROGRESSIVE,
    OPEN_KINDS,
    PERSON,
    RESERVED,
    ROLES,
    VERBS,
    VOWEL_KINDS,
    format_kept_forms,
)

COMPEVAL = {
    Kind.NOUN: "professor student man woman doctor scientist lawyer",
    Kind.TRANSITIVE: "call help follow recommend meet",
    Kind.INTRANSITIVE: "sleep dance",
    Kind.ADVERB: "really actually fully absolutely totally entirely completely quickly clearly always often",
}
AT_LEAST = {Kind.NOUN: 120, Kind.TRANSITIVE: 120, Kind.INTRANSITIVE: 60, Kind.ADVERB: 40}
SORTS = ("person", "thing", "place")
TAKEN = RESERVED.union(text for word in read_closed_words() for text in word.forms.values())

FURTHER_SORTS = ("metal", "paper")


def sample_tokens(n: int) -> st.SearchStrategy[list[str]]:
    """Strategy for *n* different tokens that are no words of the grammar."""
    part = st.text("abcdeéfghijklmnopqrsßtuvwxyz", min_size=1, max_size=4)
    token = st.builds("{}{}{}".format, part, st.sampled_from(["", "-"]), part)
    return st.lists(token.filter(lambda t: t not in TAKEN), min_size=n, max_size=n, unique=True)


def sample_takes(kind: Kind, noun_sorts: list[str]) -> st.SearchStrategy[dict[str, tuple[str, ...]]]:
    """Strategy for the sorts that a word takes; some noun has each."""
    sort_lists = [(sort,) for sort in noun_sorts] + [(f"not {sort}",) for sort in noun_sorts if len(noun_sorts) > 1]
    roles = st.sampled_from(ROLES.get(kind, (MODIFIED,)))
    return st.dictionaries(roles, st.sampled_from([*sort_lists, tuple(noun_sorts)]), max_size=2)


@st.composite
def sample_word_lists(draw: st.DrawFn) -> tuple[Word, ...]:
    """Strategy for words of the open kinds, all of whose forms differ."""
    kinds = draw(st.lists(st.sampled_from(OPEN_KINDS), max_size=4))
    kinds = [Kind.NOUN, Kind.TRANSITIVE, *kinds]
    supply = iter(draw(sample_tokens(sum(1 + len(FORMS[kind]) for kind in kinds))))
    words: list[Word] = []
    for kind in sorted(kinds, key=OPEN_KINDS.index):
        flag = Flag.STATIVE if kind in VERBS else Flag.NPI if kind is Kind.ADVERB else None
        flags = frozenset({flag}) if flag and draw(st.booleans()) else frozenset()
        gender = draw(st.sampled_from(("", *GENDERS))) if kind is Kind.NOUN else ""
        vowel = kind in VOWEL_KINDS and draw(st.booleans())
        forms = {form: next(supply) for form in FORMS[kind]}
        sort = draw(st.sampled_from(SORTS)) if kind is Kind.NOUN and words else PERSON
        further = st.lists(st.sampled_from(FURTHER_SORTS), unique=True).map(lambda sorts: tuple(sorted(sorts)))
        nouns = [w for w in words if w.kind is Kind.NOUN]
        takes = (
            draw(sample_takes(kind, sorted({s for w in nouns for s in (w.sorts if kind not in VERBS else (w.sort,))})))
            if kind in VERBS or kind is Kind.ADJECTIVE
            else {}
        )
        further_sorts = draw(further) if kind is Kind.NOUN and words else ()
        words.append(
            Word(next(supply), kind, forms, flags, vowel, sort, further_sorts=further_sorts, takes=takes, gender=gender)
        )
    return tuple(words)


@st.composite
def sample_vocabularies(draw: st.DrawFn, words: tuple[Word, ...]) -> Vocabulary:
    """Strategy for a choice of words of each kind, with at least a noun and a verb."""
    chosen = {}
    for kind in OPEN_KINDS:
        lemmas = [word.lemma for word in words if word.kind is kind]
        least = 1 if kind in (Kind.NOUN, Kind.TRANSITIVE) else 0
        some = st.lists(st.sampled_from(lemmas), min_size=least, unique=True)
        chosen[kind] = tuple(draw(some)) if lemmas else ()
    verbs = tuple(dict.fromkeys(word.lemma for word in words if word.kind in VERBS))
    return Vocabulary(
        draw(st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True)),
        chosen,
        uniform_conjuncts=draw(st.booleans()),
        separate_agents=draw(st.booleans()),
        event_adverbs=chosen[Kind.ADVERB][:1],
        states=tuple(draw(st.lists(st.sampled_from(verbs), unique=True))),
    )


@st.composite
def sample_lexicons(draw: st.DrawFn) -> Lexicon:
    """Strategy for small lexicons of invented words, with every form stated."""
    words = draw(sample_word_lists())
    vocabulary = draw(sample_vocabularies(words))
    synonyms: dict[Kind, tuple[tuple[str, ...], ...]] = {}
    for kind in OPEN_KINDS:
        lemmas = [word.lemma for word in words if word.kind is kind]
        if len(lemmas) > 1:
            sets = st.lists(
                st.lists(st.sampled_from(lemmas), min_size=2, unique=True).map(tuple), min_size=1, max_size=3
            )
            synonyms |= {kind: tuple(draw(sets))} if draw(st.booleans()) else {}
    return Lexicon(
        "random.toml", (*words, *read_closed_words(), *ENGLISH.make_words()), {vocabulary.name: vocabulary}, synonyms
    )


@given(sample_lexicons())
def test_writing_and_reading_gives_same_words(lexicon: Lexicon) -> None:
    copy = read_lexicon_text(write_lexicon_text(lexicon), "random.toml")
    assert copy.entries == lexicon.entries
    assert copy.vocabularies == lexicon.vocabularies
    assert copy.synonyms == lexicon.synonyms


@given(sample_word_lists())
def test_handwritten_file_gives_its_words(words: tuple[Word, ...]) -> None:
    lines = []
    for kind in {word.kind: None for word in words}:
        lines.append(f"[{kind}]")
        for word in (w for w in words if w.kind is kind):
            pairs = [f"{json.dumps(str(f))} = {json.dumps(t)}" for f, t in word.forms.items()]
            pairs += [f"flags = {json.dumps(list(word.flags))}"] if word.flags else []
            pairs += [f'gender = "{word.gender}"'] if word.gender else []
            pairs += [f'sort = "{word.sort}"'] if kind is Kind.NOUN else []
            sorts = [f"{role} = {list(names)}" for role, names in word.takes.items()]
            pairs += (
                [f"takes = {{ {', '.join(sorts)} }}" if kind in VERBS else sorts[0].replace("noun", "takes")]
                if sorts
                else []
            )
            pairs += [f'article = "{"an" if word.vowel else "a"}"'] if kind in VOWEL_KINDS else []
            lines.append(f"{json.dumps(word.lemma, ensure_ascii=False)} = {{ {', '.join(pairs)} }}")
    lines.append("[sorts]")
    for sort in FURTHER_SORTS:
        if nouns := [word.lemma for word in words if sort in word.further_sorts]:
            lines.append(f"{sort} = {json.dumps(nouns, ensure_ascii=False)}")
    lexicon = read_lexicon_text("\n".join(lines), "hand.toml")
    assert lexicon.entries == (*words, *read_closed_words(), *ENGLISH.make_words())
    every = lexicon.vocabulary("all")
    assert all(every.words[k] == tuple(w.lemma for w in lexicon.words(k) if not w.phrase) for k in OPEN_KINDS)


@given(sample_lexicons(), st.data())
def test_find_inverts_forms(lexicon: Lexicon, data: st.DataObject) -> None:
    pairs = [(word, form) for word in lexicon.entries for form in word.forms]
    assert all((word, form) in lexicon.find(word.forms[form]) for word, form in pairs)
    text = data.draw(st.sampled_from(sorted({w.forms[f] for w, f in pairs})))
    assert set(lexicon.find(text)) == {(w, f) for w, f in pairs if w.forms[f] == text}
    assert lexicon.find(text + "?") == ()


@given(sample_lexicons())
def test_get_and_kinds_of_agree_with_words(lexicon: Lexicon) -> None:
    for word in (word for kind in Kind for word in lexicon.words(kind)):
        assert lexicon.get(word.lemma, word.kind) is word
        assert word.kind in lexicon.kinds_of(word.lemma)


def test_built_in_lexicon_comes_back() -> None:
    copy = read_lexicon_text(write_lexicon_text(english()), "copy.toml")
    assert copy.entries == english().entries
    assert copy.vocabularies == english().vocabularies


def test_find_in_english_inverts_forms() -> None:
    for word in english().entries:
        for form, text in word.forms.items():
            assert (word, form) in english().find(text)


def test_lexicon_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(english()))
    assert copy != english()
    assert len({copy, english(), english()}) == 2
    assert copy.entries == english().entries
    assert copy.find("slept") == english().find("slept")


def test_words_and_vocabularies_are_hashable() -> None:
    assert len(set(english().entries)) == len(english().entries)
    assert len(set(english().vocabularies.values())) == len(english().vocabularies)


def test_compeval_is_papers_vocabulary() -> None:
    words = english().vocabulary("compeval").words
    assert words == {kind: tuple(COMPEVAL.get(kind, "").split()) for kind in OPEN_KINDS}


@needs_shared
def test_published_vocabulary_is_generators() -> None:
    theirs = json.loads((SHARED / "compeval" / "vocabulary.json").read_text())
    ours = english().vocabulary("published").words
    for kind in OPEN_KINDS:
        assert set(ours[kind]) == set(theirs.get("adverbs" if kind is Kind.ADVERB else kind, ()))


def test_english_is_large() -> None:
    words = english().vocabulary("english").words
    assert all(len(words[kind]) >= least for kind, least in AT_LEAST.items())
    assert not set(words[Kind.TRANSITIVE]) & set(words[Kind.INTRANSITIVE])
    assert not {"hit", "run"} & {*words[Kind.TRANSITIVE], *words[Kind.INTRANSITIVE]}


def test_everyday_has_persons_things_and_places() -> None:
    words = english().vocabulary("everyday").words
    sorts = Counter(english().get(noun, Kind.NOUN).sort for noun in words[Kind.NOUN])
    assert sorts["person"] >= 60
    assert sorts["thing"] >= 60
    assert sorts.keys() == {"person", "thing", "place"}
    least = {Kind.TRANSITIVE: 120, Kind.INTRANSITIVE: 30, Kind.DITRANSITIVE: 12, Kind.ADJECTIVE: 40, Kind.ADVERB: 16}
    assert all(len(words[kind]) >= count for kind, count in least.items())
    assert not set(words[Kind.TRANSITIVE]) & {*words[Kind.INTRANSITIVE], *words[Kind.DITRANSITIVE]}


def test_english_has_persons_only() -> None:
    assert {english().get(noun, Kind.NOUN).sort for noun in english().vocabulary("english").words[Kind.NOUN]} == {
        "person"
    }


def test_example_of_domain_has_sorts() -> None:
    lexicon = read_lexicon(ROOT / "examples" / "operations.toml")
    assert lexicon.get("disable", Kind.TRANSITIVE).accepts(["machine"], "patient")
    assert not lexicon.get("disable", Kind.TRANSITIVE).accepts(["machine"], "agent")
    assert {lexicon.get(noun, Kind.NOUN).sort for noun in lexicon.vocabulary("all").words[Kind.NOUN]} == {
        "person",
        "thing",
        "machine",
    }


def test_english_has_few_states() -> None:
    verbs = vocabulary_words(english().vocabulary("english"), Kind.TRANSITIVE)
    assert not [word.lemma for word in verbs if Flag.SYNCRETIC in word.flags]
    assert sum(Flag.STATIVE in word.flags for word in verbs) < len(verbs) / 10


VERBS_BY_CLASS = {
    None: "comfort insult intimidate console flatter sneeze nod arrive help",
    Flag.STATIVE: "admire believe tolerate",
    Flag.PUNCTUAL: "recognize overhear faint vanish",
    Flag.PSYCH: "startle astonish fascinate frighten",
}


@pytest.mark.parametrize("flag", VERBS_BY_CLASS)
def test_verbs_have_class_of_their_meaning(flag: Flag | None) -> None:
    verbs = {word.lemma: word.flags & NO_PROGRESSIVE for word in english().entries if word.kind in VERBS}
    lemmas = [lemma for lemma in VERBS_BY_CLASS[flag].split() if lemma in verbs]
    assert len(lemmas) >= 3
    assert {verbs[lemma] for lemma in lemmas} == {frozenset([flag] if flag else [])}


def test_english_forms_are_unambiguous() -> None:
    for text in {text for word in english().entries for text in word.forms.values()}:
        readings = [(w, f) for w, f in english().find(text) if w.kind in OPEN_KINDS]
        assert len({word.lemma for word, _ in readings}) <= 1, text
        forms = {form for _, form in readings}
        flags = {flag for word, _ in readings for flag in word.flags}
        alike = ({Form.VB, Form.VBP}, {Form.VBD, Form.VBN}, {Form.VB, Form.VBP, Form.VBN})
        assert len(forms) <= 1 or forms in alike or Flag.SYNCRETIC in flags, text


def vocabulary_words(vocabulary: Vocabulary, kind: Kind) -> list[Word]:
    return [english().get(lemma, kind) for lemma in vocabulary.words[kind]]


def test_published_verbs_are_flagged() -> None:
    verbs = vocabulary_words(english().vocabulary("published"), Kind.TRANSITIVE)
    flagged = {word.lemma: word.flags for word in verbs if word.flags}
    states = dict.fromkeys(["hate", "like", "believe", "love"], frozenset({Flag.STATIVE}))
    assert flagged == {**states, "hit": frozenset({Flag.SYNCRETIC}), "meet": frozenset({Flag.SYMMETRIC})}


DETERMINERS: Mapping[str, tuple[str | None, ...]] = {
    "the": ("the", "the", "the", "the"),
    "a": ("a", "an", None, None),
    "some": ("some", "some", "some", "some"),
    "no": ("no", "no", "no", "no"),
    "every": ("every", "every", None, None),
    "this": ("this", "this", "these", "these"),
    "that": ("that", "that", "those", "those"),
    "any": ("any", "any", "any", "any"),
}


def test_determiners_and_relativizers() -> None:
    forms = FORMS[Kind.DETERMINER]
    words = {w.lemma: w for w in english().words(Kind.DETERMINER) if not w.phrase}
    assert {lemma: tuple(map(w.forms.get, forms)) for lemma, w in words.items()} == DETERMINERS
    relativizers = {w.lemma: w.forms for w in english().words(Kind.RELATIVIZER)}
    assert relativizers == {"that": {Form.WDT: "that"}, "who": {Form.WP: "who"}, "which": {Form.WDT: "which"}}


def test_modals_state_their_contracted_form() -> None:
    modals = {w.lemma: w.forms.get(Form.MD_NEG) for w in english().words(Kind.MODAL)}
    regular = {lemma: lemma for lemma in ("could", "might", "must", "should", "would")}
    assert modals == {**regular, "can": "ca", "may": None, "will": "wo"}


def test_noun_hides_modal_of_same_form() -> None:
    lexicon = read_lexicon_text("[noun]\nwill = {}\n[ditransitive]\ngive = {}\n", "x")
    assert {w.lemma for w in lexicon.words(Kind.MODAL)} == {w.lemma for w in english().words(Kind.MODAL)} - {"will"}
    assert read_lexicon_text(write_lexicon_text(lexicon), "x").entries == lexicon.entries


def test_function_words_are_those_of_grammar() -> None:
    quoted = re.findall(r"""-> (?:'([a-z]+)'|"([a-z']+)")$""", read_grammar_source(ENGLISH), re.MULTILINE)
    assert {first or second for first, second in quoted} == FUNCTION_WORDS


def test_adjective_may_state_its_article() -> None:
    lexicon = read_lexicon_text(
        '[noun]\nman = {}\n[ditransitive]\ngive = {}\n[adjective]\nold = {}\nodd = { article = "a" }', "x"
    )
    assert [(w.forms, w.vowel) for w in lexicon.words(Kind.ADJECTIVE)] == [
        ({Form.JJ: "old"}, True),
        ({Form.JJ: "odd"}, False),
    ]


@pytest.mark.parametrize(
    ("lemma", "kind", "form", "text"),
    [
        ("man", Kind.NOUN, Form.NNS, "men"),
        ("secretary", Kind.NOUN, Form.NNS, "secretaries"),
        ("fisherman", Kind.NOUN, Form.NNS, "fishermen"),
        ("watch", Kind.TRANSITIVE, Form.VBZ, "watches"),
        ("kidnap", Kind.TRANSITIVE, Form.VBG, "kidnapping"),
        ("overtake", Kind.TRANSITIVE, Form.VBD, "overtook"),
        ("overtake", Kind.TRANSITIVE, Form.VBN, "overtaken"),
        ("panic", Kind.INTRANSITIVE, Form.VBG, "panicking"),
        ("run", Kind.INTRANSITIVE, Form.VBD, "ran"),
    ],
)
def test_inflection(lemma: str, kind: Kind, form: Form, text: str) -> None:
    assert english().get(lemma, kind).forms[form] == text


def test_entry_overrides_form_and_article(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(
        '[noun]\nuser = {}\nfoo = { NNS = "fooim", article = "an" }\n'
        '[transitive]\nzorp = {}\n[intransitive]\nzorp = { VBD = "zarp" }\n'
    )
    lexicon = read_lexicon(path)
    assert lexicon.get("foo", Kind.NOUN) == Word("foo", Kind.NOUN, {Form.NN: "foo", Form.NNS: "fooim"}, vowel=True)
    assert not lexicon.get("user", Kind.NOUN).vowel
    assert english().get("heir", Kind.NOUN).vowel
    assert lexicon.get("zorp", Kind.TRANSITIVE).forms[Form.VBG] == "zorping"
    assert [word.kind for word, _ in lexicon.find("zarp")] == [Kind.INTRANSITIVE]
    assert lexicon.words(Kind.DETERMINER) == english().words(Kind.DETERMINER)


def test_vocabulary_of_all_but_some() -> None:
    text = "[noun]\nking = {}\nqueen = {}\n[transitive]\nhelp = {}\n[vocabulary.v]\n"
    lexicon = read_lexicon_text(f'{text}noun = "*"\ntransitive = "*"\nexcept = ["king"]\n', "x")
    assert lexicon.vocabulary("v").words == {
        Kind.NOUN: ("queen",),
        Kind.TRANSITIVE: ("help",),
        **dict.fromkeys(OPEN_KINDS[2:], ()),
    }


@pytest.mark.parametrize(
    ("lemma", "kind", "hint"),
    [
        ("lwayer", Kind.NOUN, r"unknown noun 'lwayer' \(did you mean 'lawyer'\?\)"),
        ("sleep", Kind.TRANSITIVE, r"unknown transitive 'sleep' \(the lexicon has it as intrans"),
        ("qqq", Kind.ADVERB, r"unknown adverb 'qqq'$"),
    ],
)
def test_unknown_word_suggests_nearest(lemma: str, kind: Kind, hint: str) -> None:
    with pytest.raises(UnknownWordError, match=hint) as caught:
        english().get(lemma, kind)
    assert isinstance(caught.value, UsageError)


def test_unknown_vocabulary_suggests_nearest() -> None:
    with pytest.raises(UnknownVocabularyError, match=r"'engilsh'.*did you mean 'english'\?"):
        english().vocabulary("engilsh")


def test_exported_names_exist() -> None:
    assert sorted(sentprobe.lexicon.__all__) == sentprobe.lexicon.__all__
    assert all(hasattr(sentprobe.lexicon, name) for name in sentprobe.lexicon.__all__)


def test_kept_inflections_are_lemminflects() -> None:
    file_text = files("sentprobe.lexicon").joinpath(KEPT_FORMS).read_text(encoding="utf-8")
    assert file_text == format_kept_forms(english().entries), "run python -m sentprobe.lexicon"


def test_built_in_lexicon_needs_no_lemminflect() -> None:
    code = (
        "import sys, sentprobe.lexicon; sentprobe.lexicon.english(); "
        "sys.exit(not sys.modules.keys().isdisjoint({'lemminflect', 'numpy'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
