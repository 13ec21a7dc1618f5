"""Every error code of a lexicon file, with its line and message, and limits on sizes."""

import pickle
from pathlib import Path

import pytest
from helpers.shared import DATA
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.values import MAX_KEY_PARTS, BadSyntaxError, parse_toml
from sentprobe.lexicon import LexiconError, read_lexicon, read_lexicon_text
from sentprobe.lexicon.lexicon_checks import CHECKS, MAX_PROBLEMS, find_problems
from sentprobe.lexicon.read import read_built_in_draft
from sentprobe.lexicon.source import NOT_TOML

DATA = DATA / "lexicon"

FIXTURES = (
    ("L001_unknown_kind", 1, "[nuon], expected noun, transitive", "did you mean 'noun'?"),
    ("L002_duplicate_lemma", 4, "'king' in [noun] is on line 2 already", ""),
    ("L003_missing_form", 6, "transitive 'meet' lacks VBN", 'expected "VBN" = ...'),
    ("L004_form_clash", 3, "the plural of 'sheep' equals its singular", ""),
    ("L005_unknown_key", 3, "'NSS', expected NN, NNS, article", "did you mean 'NNS'?"),
    ("L006_bad_flag", 5, "'statve', expected stative, punctual, psych, syncretic", "did you mean 'stative'?"),
    ("L007_unknown_word", 11, "there is no noun 'lwayer'", "did you mean 'lawyer'?"),
    ("L008_not_a_token", 3, "one token of lower-case letters: 'ice skater'", ""),
    ("L009_empty_vocabulary", 10, "'adverb' is empty; leave out the key", ""),
    ("L010_not_toml", 3, "a lexicon is a TOML file in UTF-8", ""),
    ("L010_not_utf8", 3, "a lexicon is a TOML file in UTF-8", "0xe9"),
    ("L011_wrong_type", 3, "'queen', expected a table such as {}", ""),
    ("L012_unknown_sort", 6, "'thnig' of 'move', expected person, thing", "did you mean 'thing'?"),
)

NOUN = "[noun]\nking = {}\nqueen = {}\n"
VERB = "[intransitive]\nsleep = {}\n"
BASE = NOUN + VERB

VARIANTS = (
    ("no such vocabulary key", f'{BASE}[vocabulary.v]\nnuon = "*"\n', "L005", 7, "'nuon'"),
    ("section is a value", f"noun = 3\n{VERB}", "L011", 1, "expected a section [noun]"),
    ("vocabulary without name", f'{BASE}[vocabulary]\nnoun = ["king"]\n', "L011", 7, "vocabulary."),
    ("vocabulary misspelt", f'{BASE}[vocabulry.v]\nnoun = "*"\n', "L001", 6, "'vocabulary'"),
    ("lemma twice in a list", f'{BASE}[vocabulary.v]\nnoun = ["king", "king"]\nintransitive="*"\n',
     "L002", 7, "'king' occurs more than once"),
    ("list twice", f'{BASE}[vocabulary.v]\nnoun = [\n"king",\n]\nintransitive = "*"\nnoun = "*"\n',
     "L002", 11, "'noun' in [vocabulary.v] is on line 7 already"),
    ("section twice", f"{BASE}[noun]\nprince = {{}}\n", "L010", 6, "twice"),
    ("relativizer of no form", f"{BASE}[relativizer]\nthat = {{}}\n", "L003", 7, "lacks WDT, WP"),
    ("past equals present", "[noun]\nking = {}\n[transitive]\nhit = {}\n", "L004", 4, "syncretic"),
    ("two nouns, one plural", '[noun]\nox = { NNS = "oxen" }\naxe = { NNS = "oxen" }\n' + VERB,
     "L004", 3, "'oxen' of noun 'axe' is also a form of noun 'ox'"),
    ("noun and verb", "[noun]\nguide = {}\n[transitive]\nguide = {}\n", "L004", 4, "noun 'guide'"),
    ("two verbs", "[noun]\nking = {}\n[transitive]\nfind = {}\nfound = {}\n", "L004", 5, "'found'"),
    ("a word of the grammar", '[noun]\nbeing = {}\n' + VERB, "L004", 2, "a word of the grammar"),
    ("a preposition", '[noun]\nto = {}\n' + VERB, "L004", 2, "'to' of 'to' is a word of the grammar"),
    ("a conjunction", '[noun]\nand = {}\n' + VERB, "L004", 2, "'and' of 'and' is a word of the grammar"),
    ("a question word", '[noun]\nwhat = {}\n' + VERB, "L004", 2, "'what' of 'what' is a word of the grammar"),
    ("noun like a determiner", "[noun]\nking = {}\nsome = {}\n" + VERB, "L004", 3, "determiner"),
    ("two classes of verb", '[noun]\nking = {}\n[transitive]\nlove = { flags = ["stative", "psych"] }\n',
     "L006", 4, "'love' is either psych or stative"),
    ("a frame that does not exist", '[noun]\nking = {}\n[intransitive]\nsleep = { frames = ["transitve"] }\n',
     "L011", 4, "'transitve' in 'frames' of 'sleep', expected intransitive, transitive"),
    ("a frame of a noun", '[noun]\nking = { frames = ["to"] }\n' + VERB, "L005", 2, "'frames', expected NN"),
    ("frames in no list", '[noun]\nking = {}\n[intransitive]\nsleep = { frames = "to" }\n',
     "L011", 4, "'frames' of 'sleep', expected a list of strings"),
    ("a form that does not exist", '[noun]\nking = {}\n[intransitive]\nsleep = { ambiguous = ["VVPP"] }\n',
     "L011", 4, "'VVPP' in 'ambiguous' of 'sleep', expected VB, VBP"),
    ("psych without an object", '[noun]\nking = {}\n[intransitive]\nsleep = { flags = ["psych"] }\n',
     "L006", 4, "'sleep' has the flag psych, but no object that could have a feeling"),
    ("npi is no flag of a verb", '[noun]\nking = {}\n[transitive]\nlove = { flags = ["npi"] }\n',
     "L006", 4, "'npi', expected stative"),
    ("stative is no flag of an adverb", f'{BASE}[adverb]\never = {{ flags = ["stative"] }}\n',
     "L006", 7, "expected sentence, npi"),
    ("an unknown gender", '[noun]\nking = { gender = "m" }\n' + VERB, "L011", 2, "expected masc, fem"),
    ("flags of a noun", '[noun]\nking = { flags = ["stative"] }\n' + VERB, "L005", 2, "'flags'"),
    ("syncretic is not true", '[noun]\nking = {}\n[transitive]\nhelp = { flags = ["syncretic"] }\n',
     "L006", 4, "the past of 'help' differs"),
    ("except names no word", f'{BASE}[vocabulary.v]\nnoun="*"\nintransitive="*"\nexcept=["x"]\n',
     "L007", 9, "there is no word 'x'"),
    ("noun listed as verb", f'{BASE}[vocabulary.v]\nnoun = "*"\nintransitive = ["king", "sleep"]\n',
     "L007", 8, "there is no intransitive 'king'"),
    ("upper case", f"{BASE}[adverb]\nOften = {{}}\n", "L008", 7, "'Often'"),
    ("form of two tokens", '[noun]\nking = { NNS = "2 kings" }\n' + VERB, "L008", 2, "'2 kings'"),
    ("empty lemma", '[noun]\n"" = { NN = "x", NNS = "xs" }\n' + VERB, "L008", 2, "''"),
    ("no noun at all", VERB, "L009", 1, "has no noun"),
    ("no verb", f'{BASE}[vocabulary.v]\nnoun = "*"\n', "L009", 6, "has no verb"),
    ("nothing", "", "L009", 1, "has no noun"),
    ("everything excepted", f'{BASE}[vocabulary.v]\nnoun="*"\nintransitive="*"\nexcept=["sleep"]\n',
     "L009", 6, "has no verb"),
    ("form is a number", f"{BASE}[adverb]\noften = {{ RB = 3 }}\n", "L011", 7, "expected a string"),
    ("flags is a string", '[noun]\nking = {}\n[transitive]\nlove = { flags = "stative" }\n',
     "L011", 4, "expected a list"),
    ("flags holds a list", "[noun]\nking = {}\n[transitive]\nlove = { flags = [[]] }\n",
     "L011", 4, "expected a list"),
    ("article", '[noun]\nking = { article = "the" }\n' + VERB, "L011", 2, "expected a, an"),
    ("vocabulary list is a string", f'{BASE}[vocabulary.v]\nnoun = "king"\nintransitive = "*"\n',
     "L011", 7, "expected a list of lemmas"),
    ("synonym misspelt", f'{BASE}[synonyms]\nnoun = [\n  ["king", "queen"],\n  ["king", "quene"],\n]\n',
     "L007", 9, "there is no noun 'quene' (did you mean 'queen'?)"),
    ("synonym of another kind", f'{BASE}[synonyms]\nnoun = [["king", "sleep"]]\n',
     "L007", 7, "there is no noun 'sleep'"),
    ("synonym twice in a set", f'{BASE}[synonyms]\nnoun = [["king", "king"]]\n',
     "L002", 7, "'king' occurs more than once"),
    ("synonyms of no kind", f'{BASE}[synonyms]\nnuon = [["king", "queen"]]\n', "L005", 7, "did you mean 'noun'?"),
    ("set of one", f'{BASE}[synonyms]\nnoun = [["king"]]\n', "L011", 7, "two lemmas or more"),
    ("synonyms without sets", f'{BASE}[synonyms]\nnoun = ["king", "queen"]\n', "L011", 7, "two lemmas or more"),
    ("synonyms as a string", f'{BASE}[synonyms]\nnoun = "king"\n', "L011", 7, "two lemmas or more"),
    ("synonyms misspelt", f'{BASE}[synonym]\nnoun = []\n', "L001", 6, "did you mean 'synonyms'?"),
    ("synonyms as a value", f"synonyms = 3\n{BASE}", "L011", 1, "expected a section [synonyms]"),
    ("sort of a verb", f'{BASE}snore = {{ sort = "thing" }}\n', "L005", 6, "'sort'"),
    ("sort is a list", '[noun]\nking = { sort = ["person"] }\n' + VERB, "L011", 2, "expected the name of a sort"),
    ("sort of two words", '[noun]\nking = { sort = "not person" }\n' + VERB, "L011", 2, "in one word"),
    ("unknown role", f'{BASE}snore = {{ takes = {{ patient = ["person"] }} }}\n', "L005", 6, "'patient', expected"),
    ("takes is a list", f'{BASE}snore = {{ takes = ["person"] }}\n', "L011", 6, "expected sorts such as { patient"),
    ("takes is a string", f'{BASE}snore = {{ takes = {{ agent = "person" }} }}\n', "L011", 6, "expected sorts"),
    ("takes is empty", f'{BASE}snore = {{ takes = {{ agent = [] }} }}\n', "L011", 6, "expected sorts"),
    ("adjective takes a table", f'{BASE}[adjective]\nold = {{ takes = {{ noun = ["person"] }} }}\n',
     "L011", 7, 'expected sorts such as ["thing"]'),
    ("takes of a noun", '[noun]\nking = { takes = ["person"] }\n' + VERB, "L005", 2, "'takes'"),
    ("negated unknown sort", f'{BASE}[adjective]\nold = {{ takes = ["not prson"] }}\n', "L012", 7, "'prson'"),
    ("verb without nouns", '[noun]\nserver = { sort = "thing" }\n' + VERB,
     "L012", 4, "no noun can be the agent of 'sleep'"),
    ("verb that takes no noun", f'{BASE}snore = {{ takes = {{ agent = ["not person"] }} }}\n',
     "L012", 6, "no noun can be the agent of 'snore'"),
    ("noun of a sort misspelt", f'{BASE}[sorts]\nroyal = ["king", "quene"]\n', "L007", 7, "there is no noun 'quene'"),
    ("noun twice in a sort", f'{BASE}[sorts]\nroyal = ["king", "king"]\n', "L002", 7, "'king' occurs more than once"),
    ("sort without nouns", f'{BASE}[sorts]\nroyal = []\n', "L011", 7, "'royal' of [sorts], expected a list of nouns"),
    ("sort as a string", f'{BASE}[sorts]\nroyal = "king"\n', "L011", 7, "expected a list of nouns"),
    ("sort of two kinds", f'{BASE}[sorts]\nperson = ["king"]\n', "L012", 7, "is the sort of a noun already"),
    ("sorts misspelt", f'{BASE}[sort]\nroyal = ["king"]\n', "L001", 6, "did you mean 'sorts'?"),
    ("further sort misspelt", f'{BASE}[adjective]\nold = {{ takes = ["royl"] }}\n[sorts]\nroyal = ["king"]\n',
     "L012", 7, "'royl' of 'old', expected person, royal (did you mean 'royal'?)"),
    ("conjuncts are a word", f'{BASE}[vocabulary.v]\nnoun = "*"\nintransitive = "*"\nuniform_conjuncts = "yes"\n',
     "L011", 9, "'uniform_conjuncts', expected true or false"),
    ("no such event adverb", f'{BASE}[vocabulary.v]\nnoun = "*"\nintransitive = "*"\nevent_adverbs = ["sleep"]\n',
     "L007", 9, "there is no adverb 'sleep'"),
    ("all verbs are states", f'{BASE}[vocabulary.v]\nnoun = "*"\nintransitive = "*"\nstates = "*"\n',
     "L011", 9, "'states', expected a list of lemmas"),
    ("state misspelt", f'{BASE}[vocabulary.v]\nnoun = "*"\nintransitive = "*"\nstates = ["slep"]\n',
     "L007", 9, "there is no verb 'slep' (did you mean 'sleep'?)"),
    ("broken off", '[noun]\nking = {}\nqueen = "', "L010", 3, "TOML"),
)  # fmt: skip


def read_error(text: str) -> LexiconError:
    with pytest.raises(LexiconError) as caught:
        read_lexicon_text(text, "my.toml")
    return caught.value


@pytest.mark.parametrize(("name", "line", "what", "hint"), FIXTURES, ids=lambda v: str(v)[:20])
def test_fixture_has_code_and_line(name: str, line: int, what: str, hint: str) -> None:
    path = DATA / f"{name}.toml"
    with pytest.raises(LexiconError) as caught:
        read_lexicon(path)
    error = caught.value
    assert (error.code, error.line, error.path) == (name[:4], line, str(path))
    assert len(error.problems) == 1
    assert str(error).startswith(f"{path}:{line}: {name[:4]}: ")
    assert what in str(error)
    assert hint in str(error)


def test_every_code_has_fixture() -> None:
    assert {name[:4] for name, *_ in FIXTURES} == {*CHECKS, NOT_TOML}
    assert {path.stem for path in DATA.iterdir()} == {name for name, *_ in FIXTURES}


@pytest.mark.parametrize(("text", "code", "line", "what"), [v[1:] for v in VARIANTS], ids=[v[0] for v in VARIANTS])
def test_variant_has_code_and_line(text: str, code: str, line: int, what: str) -> None:
    error = read_error(text)
    codes_and_lines = [(p.code, p.line) for p in error.problems if what in p.text]
    assert (code, line) in codes_and_lines, str(error)


@pytest.mark.parametrize("code", CHECKS)
def test_rule_is_short_instruction(code: str) -> None:
    _, rule = CHECKS[code]
    assert rule[0].islower()
    assert "\n" not in rule
    assert rule[-1].isalpha()


def test_built_in_lexicon_has_no_problem() -> None:
    assert find_problems(read_built_in_draft()) == ()


def test_problems_are_in_order_of_lines() -> None:
    text = '[noun]\nKing = {}\nsheep = {}\nman = { plural = "men" }\n\n[advreb]\noften = {}\n'
    error = read_error(text)
    assert [(p.line, p.code) for p in error.problems] == [
        (1, "L009"),
        (2, "L008"),
        (3, "L004"),
        (4, "L005"),
        (6, "L001"),
    ]
    assert len(str(error).splitlines()) == 5
    assert str(error).splitlines()[-1].endswith("(did you mean 'adverb'?)")


def test_repeated_lemma_hides_no_problem() -> None:
    error = read_error(f"{NOUN}king = {{}}\nsheep = {{}}\n{VERB}")
    assert [(p.code, p.line) for p in error.problems] == [("L002", 4), ("L004", 5)]


def test_lexicon_error_survives_pickling() -> None:
    error = read_error("[noun]\n")
    assert isinstance(error, SentprobeError)
    assert error.exit_code == 2
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.problems == error.problems


@pytest.mark.parametrize("name", ["absent.toml", "."])
def test_unreadable_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot read the lexicon: "):
        read_lexicon(tmp_path / name)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_endless_device_is_refused(device: str) -> None:
    with pytest.raises(LexiconError, match=f"{device}:1: .*longer than 1,048,576 characters"):
        read_lexicon(Path(device))


def test_long_file_is_refused_and_a_full_one_is_read(tmp_path: Path) -> None:
    text = "[noun]\nwolf = {}\n[intransitive]\nhowl = {}\n#"
    path = tmp_path / "long.toml"
    path.write_text(text + "\U0001f43a" * (2**20 - len(text)), encoding="utf-8")
    assert read_lexicon(path).find("wolves")
    for more in ("\U0001f43a" * 20, "a" * 2**22):
        path.write_text(text + "\U0001f43a" * (2**20 - len(text)) + more, encoding="utf-8")
        with pytest.raises(LexiconError, match=r"longer than 1,048,576 characters"):
            read_lexicon(path)


def test_windows_line_ends_keep_line_numbers() -> None:
    error = read_error("[noun]\r\nking = {}\r\nking = {}\r\n[intransitive]\r\nsleep = {}\r\n")
    assert [(p.code, p.line) for p in error.problems] == [("L002", 3)]


@pytest.mark.parametrize("text", ["{}a = 1", "[{}a]", "x = {{ {}a = 1 }}", "[[ {}a ]]", "b = '''\n'''\n{}'a.b' = 1"])
def test_key_of_many_parts_is_refused(text: str) -> None:
    line = text.count("\n") + 1
    with pytest.raises(BadSyntaxError, match=f"a key of more than {MAX_KEY_PARTS} parts: line {line}"):
        parse_toml(text.format("a." * 20_000))


@given(st.text(st.sampled_from("a.=[]#{ "), min_size=1, max_size=80))
def test_dots_in_strings_do_not_count(text: str) -> None:
    assert parse_toml(f"a = '{text}' # {text}\nb = '''\n{text}\n'''") == {"a": text, "b": f"{text}\n"}


def test_long_text_is_refused() -> None:
    with pytest.raises(BadSyntaxError, match="longer than 1,048,576 characters"):
        parse_toml(" " * ((1 << 20) + 1))


def test_many_mistakes_are_listed_in_part() -> None:
    with pytest.raises(LexiconError) as caught:
        read_lexicon_text("".join(f"[s{number}]\n" for number in range(5000)), "my.toml")
    unknown = [problem for problem in caught.value.problems if problem.code == "L001"]
    assert [problem.line for problem in unknown] == [*range(1, MAX_PROBLEMS + 2)]
    assert unknown[-1].text.endswith(", and maybe more")
