"""The command ``gen``: output, files and errors; no request ends in a traceback."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from helpers.gen_command import ALL_FORMATS, FORMATS, GEN, GOOD, Gen, Outcome, command

from sentprobe.generator.bulk.generate import read_file
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import Event, Participant, Tense, iterate_clauses, iterate_participants
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import english

LEXICON = english()


# generating


def test_default_is_ten_sentences(gen: Gen) -> None:
    done = gen()
    assert (done.code, done.err) == (0, "")
    assert len(set(done.lines)) == 10
    assert all(len(parse(line, LEXICON)) == 1 for line in done.lines)


def test_seed_decides_sentences(gen: Gen) -> None:
    first, again, second = (gen("--seed", seed, "-n", "20").out for seed in ("1", "1", "2"))
    assert first == again != second
    assert gen("-n", "20", "--seed", "0").out == gen("-n", "20").out


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
def test_same_command_writes_same_bytes(gen: Gen, tmp_path: Path, fmt: str, suffix: str) -> None:
    data = []
    for name, more in ((f"a{suffix}", ()), ("b.out", ("--format", fmt))):
        done = gen("-n", "30", "--seed", "7", "--adverbs", "0-2", "--out", tmp_path / name, *more)
        assert (done.code, done.out, done.err) == (0, "", "")
        data.append((tmp_path / name).read_bytes())
    assert data[0] == data[1]
    texts = gen("-n", "30", "--seed", "7", "--adverbs", "0-2").lines
    assert [s.text for s in read_file(tmp_path / f"a{suffix}", LEXICON)] == texts
    if fmt in FORMATS:
        done = gen("-n", "30", "--seed", "7", "--adverbs", "0-2", "--format", fmt)
        assert done.out.encode() == data[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"a{suffix}", "b.out"])


def test_process_writes_same_bytes(gen: Gen) -> None:
    request = ("-n", "50", "--seed", "3", "--format", "jsonl", "--template", "transitive-rc")
    done = command(*request)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == gen(*request).out


def test_file_is_replaced(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old\n", encoding="utf-8")
    assert gen("-n", "2", "--out", path).code == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_folder_is_made(gen: Gen, tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "b" / "x.txt", tmp_path / "c" / "x.txt"
    assert gen("-n", "2", "--out", one).code == 0
    assert gen("parse", "--file", one, "--out", two).code == 0
    assert one.read_bytes() == two.read_bytes()


def test_link_is_kept_and_file_replaced(gen: Gen, tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert gen("-n", "2", "--out", tmp_path / "link.txt").code == 0
    assert (tmp_path / "link.txt").is_symlink()
    assert len((tmp_path / "real.txt").read_text(encoding="utf-8").splitlines()) == 2


def test_pipe_is_written_and_not_replaced(gen: Gen, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert gen("-n", "4", "--out", pipe).code == 0
    out, _ = reader.communicate(timeout=60)
    assert len(out.splitlines()) == 4
    assert pipe.is_fifo()


def test_count(gen: Gen) -> None:
    small = ("--vocabulary", "compeval", "--template", "intransitive")
    assert gen("--count", *small).out == "224\n"
    assert gen("--count", *small, "--tense", "past").out == "112\n"
    assert gen("--count", *small, "--number", "pl", "--polarity", "neg").out == "56\n"
    assert int(gen("--count", "--adverbs", "0-6").out) > 2**64


# what is asked for


def events_of(done: Outcome) -> list[Event]:
    assert (done.code, done.err) == (0, "")
    return [event for line in done.lines for event in parse(line, LEXICON)]


def test_require_and_forbid(gen: Gen) -> None:
    required = ("help[past]", "*(patient: lawyer[pl])")
    forbidden = ("*[neg]", "meet", "*(agent: man rc sleep)")
    flags = [f"--require={event}" for event in required]
    flags += [f"--forbid={event}" for event in forbidden]
    words = ("--require-word", "student", "--forbid-word", "doctor")
    for event in events_of(gen(*flags, *words, "-v", "compeval", "-n", "60")):
        assert all(contains(event, read_event(text)) for text in required)
        assert not any(contains(event, read_event(text)) for text in forbidden)
    assert all("student" in line and "doctor" not in line for line in gen(*words).lines)


def test_require_any(gen: Gen) -> None:
    expected = ("help[past]", "call(agent: lawyer)", "sleep[neg]")
    flags = [f"--require-any={event}" for event in expected]
    actual = {text: 0 for text in expected}
    for event in events_of(gen(*flags, "-v", "compeval", "-n", "100")):
        held = [text for text in expected if contains(event, read_event(text))]
        assert held
        for text in held:
            actual[text] += 1
    assert min(actual.values()) > 0


@pytest.mark.parametrize("line", ["--lexicon {}", "--config {}", "pairs -c role --lexicon {}"])
def test_input_is_not_written_over(line: str, gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("mine", "utf-8")
    done = gen(*line.format(path).split(), "--out", path, "--format", "jsonl")
    assert (done.code, done.err) == (2, f"gen: {path}: is an input; the output needs another path\n")
    assert path.read_text("utf-8") == "mine"


@pytest.mark.parametrize("suffix", ALL_FORMATS.values())
def test_exclude(gen: Gen, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"train{suffix}"
    small = ("-v", "compeval", "-t", "intransitive")
    assert gen(*small, "-n", "200", "--out", path).code == 0
    train = {sentence.text for sentence in read_file(path, LEXICON)}
    assert gen(*small, "--exclude", path, "--count").out == "24\n"
    done = gen(*small, "--exclude", path, "-n", "24")
    assert len({*done.lines}) == 24 and train.isdisjoint(done.lines)
    done = gen(*small, "--exclude", path, "-n", "25")
    assert done.code == 2 and "; 200 are excluded)" in done.err
    before = path.read_bytes()
    done = gen(*small, "--exclude", path, "-n", "2", "--out", path)
    assert (done.code, done.err) == (2, f"gen: {path}: is an input; the output needs another path\n")
    assert path.read_bytes() == before


def test_features_of_main_and_relative_clauses(gen: Gen) -> None:
    main = ("--tense=past", "--voice=passive", "--aspect=simple", "--polarity=neg")
    inner = ("--rc-tense=pres", "--rc-voice=active", "--rc-aspect=prog", "--rc-polarity=pos")
    expected = read_event("*[passive, past, simple, neg]"), read_event("*[active, pres, prog, pos]")
    for event in events_of(gen(*main, *inner, "--number=pl", "-t", "transitive-rc", "-n", "40")):
        (outer, _), (clause, head) = iterate_clauses(event)
        assert contains(outer, expected[0]) and contains(clause, expected[1])
        assert isinstance(head, Participant) and str(head.number) == "pl"


def test_voice_is_of_main_clause(gen: Gen) -> None:
    done = gen("--voice", "passive", "--template", "intransitive-rc")
    assert done.code == 2
    assert "satisfies this: the main clause *[passive]" in done.err


def test_words_vary(gen: Gen) -> None:
    vary = ("--determiner", "a", "--determiner", "no", "--relativizer", "who", "--negator", "n't")
    text = gen(*vary, "-t", "intransitive-rc", "-n", "200", "--adverbs", "1").out
    tokens = set(text.split())
    assert {"a", "an", "no", "who", "n't"} <= tokens
    assert not {"the", "that", "not", ","} & tokens


def test_modals_stand_in_place_of_tense(gen: Gen) -> None:
    both = gen("--modal", "may", "--modal", "must", "--modal", "none", "-t", "intransitive-rc", "-n", "100").out
    assert {"may", "must", "is", "were"} <= set(both.split())
    small = ("-v", "compeval", "-t", "intransitive", "--count")
    tenses, modals, each = (
        int(gen(*small, *(f"--modal={name}" for name in names)).out)
        for names in ((), ("can", "will", "might"), ("none", "can", "will", "might"))
    )
    assert (modals, each) == (tenses * 3 // 2, tenses + modals)


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
@pytest.mark.parametrize("mood", ["statement", "question", "order"])
def test_adjectives_and_coordinations(gen: Gen, tmp_path: Path, mood: str, fmt: str, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    request = ("-v", "everyday", "-t", "transitive-rc.patient", "--adjectives", "1", "--mood", mood, "-n", "20")
    number = "0" if mood == "order" else "1"  # an order has no noun without a relative clause
    assert gen(*request, "--coordinations", number, "-f", fmt, "-o", path).code == 0
    for sentence in read_file(path, LEXICON):
        people = [person for clause, _ in iterate_clauses(sentence.event) for _, person in iterate_participants(clause)]
        conjuncts = [conjunct for person in people for conjunct in person.conjuncts]
        assert {len(conjunct.adjectives) for conjunct in conjuncts} == {1}
        assert len(conjuncts) - len(people) == int(number)
        assert parse(sentence.text, LEXICON) == (sentence.event,)


def test_numbers_of_adjectives_and_coordinations_add_up(gen: Gen) -> None:
    def count(*options: str) -> int:
        return int(gen("-v", "everyday", "-t", "transitive", "--count", *options).out)

    none, one, some = (count("--adjectives", number, "--coordinations", "1") for number in ("0", "1", "0-1"))
    assert 0 < none < one < some
    assert count("--coordinations", "0-1") == count() + none
    assert count("--coordinations", "0", "--adjectives", "0") == count()


def test_moods(gen: Gen) -> None:
    small = ("-v", "compeval", "-t", "transitive", "--tense", "past", "-n", "30")
    asking = {text.split()[0] for text in gen(*small, "--mood", "question").out.splitlines()}
    assert asking == {"did", "was", "were"}
    assert {text.split()[0] for text in gen(*small, "--ask", "patient").out.splitlines()} == {"who"}
    orders = gen("--mood", "order", "-v", "compeval", "-t", "transitive", "-n", "20", "-f", "conllu").out
    assert "Mood=Imp|Person=2|VerbForm=Fin" in orders and "Agent=0|Patient=" in orders


def test_reflexives_and_polarity_items(gen: Gen) -> None:
    lines = gen("-t", "transitive", "--reflexive", "patient", "-n", "30").out.splitlines()
    assert {text.split()[-1] for text in lines} == {"himself", "herself", "themselves"}
    negated = gen("-t", "transitive", "--determiner", "any", "--determiner", "the", "-n", "60").out.splitlines()
    assert {"not" in text.split() for text in negated if "any" in text.split()} == {True}


def test_allow(gen: Gen) -> None:
    base = ("-v", "published", "-t", "transitive", "--count")
    plain, stative, both = (
        int(gen(*base, *flags).out) for flags in ((), ("--allow=stative",), ("--allow=stative", "--allow=syncretic"))
    )
    assert plain < stative < both


def test_configuration_of_the_published_generator(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(
        '{"constraints": {"needEv": {"name": "help", "tense": "past"},'
        '"avoidList": {"noun": ["man"], "intransitve": []}},'
        '"role_rc_structures": {"transitive": [{"agent": "none", "patient": "intransitive"}]}}',
        encoding="utf-8",
    )
    done = gen("--config", path, "-n", "30", "--vocabulary", "compeval")
    assert done.err == (
        f"gen: warning: {path}: $.constraints.avoidList.intransitve: 'intransitve' is taken for 'intransitive'\n"
    )
    for event in events_of(Outcome(done.code, done.out, "")):
        assert contains(event, Event(predicate="help", tense=Tense.PAST))
        assert len(list(iterate_clauses(event))) == 2
    assert "intransitive" in gen("--config", path, "-t", "intransitive").err


def test_lexicon_of_ones_own(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[noun]\nwolf = {}\n[intransitive]\nhowl = {}\n", encoding="utf-8")
    done = gen("--lexicon", path, "-v", "all", "-t", "intransitive", "--count")
    assert done.out == "16\n"
    done = gen("--lexicon", path, "-v", "all", "-t", "intransitive", "-n", "16")
    assert "the wolves are not howling" in done.lines
    assert gen("parse", "--lexicon", path, "the wolf howls").code == 0


# templates, help


def test_templates_have_example_and_count(gen: Gen) -> None:
    done = gen("templates", "--vocabulary", "compeval")
    assert done.code == 0
    shown = done.out.replace(",", "")
    for name in list_template_names():
        assert re.search(rf"(?m)[ │]{name}( |$)", done.out)
        assert gen("--count", "-v", "compeval", "-t", name).out.strip() in shown
    assert "all: intransitive, intransitive-rc, transitive, transitive-rc" in done.out


@pytest.mark.parametrize("words", [(), ("templates",), ("parse",), ("show",)])
def test_help(gen: Gen, words: tuple[str, ...]) -> None:
    for flag in ("-h", "--help"):
        done = gen(*words, flag)
        assert (done.code, done.err) == (0, "")
        assert "Usage: gen" in done.out


SMALL = "-v compeval -t intransitive"
BAD_REQUESTS = [
    (f"{SMALL} -n 225", "gen: 225 sentences were asked for, but there are only 224 different"),
    ("-n 0", "gen: the number of sentences must be positive, not 0"),
    ("-n 1000000000000", "gen: 1000000000000 sentences are too many at once, at most 1,000,000"),
    ("-n 1" + "0" * 30, "sentences were asked for, but there are only"),
    ("-n 1" + "0" * 5000, "Invalid value for '--n' / '-n'"),
    ("--seed 1" + "0" * 30, "gen: the seed must be at most 4611686018427387904, not 1"),
    ("--jobs 2", "No such option: --jobs"),
    ("-n -3", "gen: the number of sentences must be positive, not -3"),
    ("-n many", "Invalid value for '--n' / '-n'"),
    ("--seed -1", "--seed"),
    ("-t transitiv", "gen: there is no template 'transitiv' (did you mean 'transitive'?); gen templates lists them"),
    ("-v compevl", "unknown vocabulary 'compevl'"),
    ("--tense future", "Invalid value for '--tense'"),
    ("--tence past", "No such option: --tence"),
    ("tempates", "tempates"),
    ("--language de --aspect prog", "gen: German has no aspect 'prog', only simple and perf"),
    (
        "--aspect perfprog --voice passive",
        "gen: an event: a perfect progressive has no passive, but its voice is passive",
    ),
    ("minimal -p transitiv", "there is no paradigm 'transitiv' (did you mean 'transitive'?)"),
    ("--negator no", "gen: there is no negator 'no'"),
    ("--determiner teh", "unknown determiner 'teh' (did you mean 'the'?)"),
    (
        "--mood order -t intransitive-rc",
        "gen: an order has no agent, and the templates intransitive-rc need an agent with a relative clause",
    ),
    *(
        (f"--mood order {option}", "gen: an order is active and simple, without a tense; leave out --tense")
        for option in ("--tense past", "--voice passive", "--aspect prog", "--aspect perf")
    ),
    *(
        (f"--adjunct time --fronting adjunct-first --mood {mood}", "gen: only statements have the order adjunct-first")
        for mood in ("question", "order")
    ),
    ("--mood orders", "Invalid value for '--mood'"),
    ("--mood order --ask agent", "gen: --ask is for questions"),
    ("--ask subject", "Invalid value for '--ask': 'subject' is not one of"),
    *(
        (f"--ask {role} -t {template}", f"gen: the {role} to ask for must stand in the templates {template}, without")
        for role, template in (
            ("patient", "intransitive"),
            ("recipient", "transitive"),
            ("patient", "transitive-rc.patient"),
        )
    ),
    ("--modal may --tense past", "gen: a modal takes the place of the tense; leave out --tense, or add --modal none"),
    ("--require help[modal(must)]", "gen: 'must' is required but is not among the determiners, relativizers and"),
    ("--require help[question]", "gen: the required event help[transitive, question] needs --mood question"),
    ("--mood question --require help(patient:who?)", "the required event help(patient: who?) needs --ask patient"),
    ("--require help(patient:himself)", "the required event help(patient: himself) needs --reflexive patient"),
    ("--reflexive agent", "gen: no sentence of the templates all has a reflexive agent; only a recipient or"),
    ("--reflexive patient --mood order", "gen: no sentence of the templates all has a reflexive patient"),
    ("--determiner any --polarity pos", "gen: any cannot be the only determiner here: it needs a"),
    ("--language de --reflexive patient", "gen: sentprobe's German has no reflexive"),
    (
        "--language de --require sehen --forbid sehen",
        "gen: the required event sehen[transitive] and the forbidden event sehen[transitive] contradict each other in",
    ),
    ("--language de --allow sentence", "gen: --allow is for verbs; ever and any stand in"),
    ("--allow npi", "gen: --allow is for verbs; ever and any stand in negated clauses and questions only"),
    ("--forbid *[statement]", "an event has no feature 'statement'"),
    ("--adjectives 1 -v compeval", "gen: vocabulary 'compeval' has no adjective; vocabulary "),
    ("--adjectives 2 -v everyday", "gen: a drawn noun has at most one adjective, not 2"),
    ("--adjectives few", "gen: expected a number of adjectives, or a range such as 0-2, not 'few'"),
    (
        "-v everyday --require-word hungry -t intransitive",
        "gen: the required word 'hungry' and the choice of adjectives contradict each other",
    ),
    ("--coordinations 2-1", "gen: the range '2-1' is empty; write the smaller number first"),
    ("--coordinations two", "gen: expected a number of coordinations, or a range such as 0-2, not 'two'"),
    (
        "--coordinations 3 -t transitive",
        "gen: no sentence of the templates transitive has 3 nouns without relative clauses to coordinate",
    ),
    (
        "--require help(agent:man) -v compeval --forbid *(agent:man) --coordinations 1",
        "the required event help[transitive](agent: man) and the forbidden event *(agent: man) contradict",
    ),
    ("-t ditransitive", "gen: vocabulary 'english' has no ditransitive verb; vocabulary "),
    ("-v everyday --require help(agent:book)", "gen: 'book' is a thing, and the agent of 'help' is a person"),
    ("--modal muts", "unknown modal 'muts' (did you mean 'must'?)"),
    ("--modal may --negator n't --polarity neg", "gen: may has no form with n't; use the negator not"),
    ("--require-word ever", "gen: gen never puts 'ever' into a sentence; gen parse reads it"),
    ("minimal -p all --out NEW", "use .jsonl, .parquet or --format; a folder needs --format lm-eval"),
    ("--require-word must", "'must' is required but is not among the determiners, relativizers and modals"),
    ("--relativizer whom", "unknown relativizer 'whom'"),
    ("--relativizer dass", "unknown relativizer 'dass'; the relativizers are that, who, which"),
    ("--relativizer which -t transitive-rc", "relativizers take (which: no noun of the vocabulary) and the choice"),
    ("--mood question --ask recipient", "the recipient to ask for must stand in the templates all, without"),
    ("--adverbs ٢", "expected a number of adverbs, or a range such as 0-2, not '٢'"),
    ("--adverbs many", "expected a number of adverbs, or a range such as 0-2, not 'many'"),
    ("--adverbs 2-1", "the range '2-1' is empty"),
    ("--adverbs 0-99999999", "a verb takes from 0 to 6 adverbs, not 7"),
    ("--adverbs 99999999", "a verb takes from 0 to 6 adverbs, not 99999999"),
    ("--adverbs 0-" + "9" * 5000, "expected a number of adverbs, or a range such as 0-2"),
    ("--adverbs 0-9", "a verb takes from 0 to 6 adverbs, not 7"),
    ("--require help[past", "event:1:"),
    ("--require hlep", "'hlep' (did you mean 'help'?)"),
    ("--require-any hlep", "'hlep' (did you mean 'help'?)"),
    (
        "-v compeval --require-any sleep --require-any help(agent:jockey)",
        "'jockey' is required but is not in vocabulary 'compeval'",
    ),
    ("--forbid help(agent:mna)", "'mna' (did you mean 'man'?)"),
    ("--require-word lwayer", "'lwayer' (did you mean 'lawyer'?)"),
    ("--forbid-word lwayer", "'lwayer' (did you mean 'lawyer'?)"),
    ("--require-word lawyer --forbid-word lawyer", "'lawyer' and the forbidden word 'lawyer'"),
    (
        "--require help[past] --forbid *[past] -t transitive",
        "the required event help[transitive, past] and the forbidden event *[past] contradict",
    ),
    ("--require sleep[passive]", "'sleep' is intransitive: it has no passive"),
    ("--exclude MISSING", "MISSING: cannot read it: No such file or directory"),
    ("--exclude MISSING.jsonl", "MISSING.jsonl: there is no such file"),
    ("--exclude FOLDER", "FOLDER: cannot read it: Is a directory"),
    ("--exclude LATIN1", "LATIN1: line 2: not UTF-8"),
    ("--config MISSING", "MISSING: cannot read the configuration: No such file or directory"),
    ("--config LATIN1", "LATIN1: line 2: not UTF-8"),
    ("--config BROKEN", "BROKEN:2:2: not JSON"),
    ("--config MISSPELT", "MISSPELT: $.constraint: unknown key 'constraint' (did you mean 'constraints'?)"),
    ("--config FOLDER", "FOLDER: cannot read the configuration: Is a directory"),
    ("--lexicon MISSING", "MISSING: cannot read the lexicon: No such file or directory"),
    ("--lexicon FOLDER", "FOLDER: cannot read the lexicon: Is a directory"),
    ("--lexicon LATIN1", "LATIN1:2: L010: a lexicon is a TOML file in UTF-8"),
    ("--lexicon BROKEN", "BROKEN:2: L010: a lexicon is a TOML file in UTF-8"),
    ("--out LATIN1/a/x.txt", "x.txt: cannot write there: Not a directory"),
    ("--out NOFOLDER/x.txt -n 0", "gen: the number of sentences must be positive, not 0"),
    ("--out NOFOLDER/x.doc", "gen: no format goes with the suffix '.doc'"),
    ("--out LATIN1/x.txt", "x.txt: cannot write there: Not a directory"),
    ("--out FOLDER --format text", "FOLDER: is a directory, not a file to write"),
    ("--out NEW", "gen: no format goes with the suffix ''"),
    ("--out NEW.doc", "gen: no format goes with the suffix '.doc'"),
    ("--out NEW.txt --format jsnol", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    ("--format jsnol", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    ("--format parquet", "Parquet cannot be written to standard output; name a file"),
    ("parse --format parquet x", "Parquet cannot be written to standard output; name a file"),
    ("parse --format jsnol x", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    ("parse --file x.jsonl", "gen: x.jsonl: gen parse reads lines of text, not .jsonl"),
    ("parse --file MISSING", "MISSING: cannot read it: No such file or directory"),
    ("parse --file FOLDER", "FOLDER: cannot read it: Is a directory"),
    ("parse --file LATIN1", "LATIN1:2: not UTF-8"),
    ("parse x --out LATIN1/x.txt", "x.txt: cannot write there: Not a directory"),
    ("parse x --out LATIN1/a/x.txt", "x.txt: cannot write there: Not a directory"),
    ("parse x --out NEW.doc", "gen: no format goes with the suffix '.doc'"),
    ("parse x --lexicon MISSING", "MISSING: cannot read the lexicon"),
    ("templates --vocabulary compevl", "unknown vocabulary 'compevl'"),
    ("show", "Missing argument"),
    ("show help[", "event:1:"),
    ("show hlep", "unknown verb 'hlep' (did you mean 'help'?)"),
    ("show help --svg NOFOLDER/x.svg", "x.svg: cannot write there: No such file or directory"),
    ("show help --svg FOLDER", "FOLDER: is a directory, not a file to write"),
]


FAILURES = ("--exclude LATIN1", "parse --file LATIN1")
"""Requests whose file is damaged, which have exit code 1."""


@pytest.mark.parametrize(("line", "message"), BAD_REQUESTS, ids=[line for line, _ in BAD_REQUESTS])
def test_bad_request_is_refused(line: str, message: str, gen: Gen, working_folder: Path) -> None:
    (working_folder / "LATIN1").write_bytes(b"\nna\xefve")
    (working_folder / "BROKEN").write_text("\n[noun", encoding="utf-8")
    (working_folder / "MISSPELT").write_text('{"constraint": {}}', encoding="utf-8")
    (working_folder / "FOLDER").mkdir()
    before = sorted(working_folder.iterdir())
    done = gen(*line.split(" "))
    assert message in " ".join(done.err.split())
    assert done.code == (1 if line in FAILURES else 2)
    assert sorted(working_folder.iterdir()) == before


# interruptions


def start_long_request(path: Path) -> "subprocess.Popen[str]":
    """Start a request that takes many seconds, and wait until it has written something."""
    before = len(list(path.parent.iterdir()))
    options = ("--template", "transitive-rc", "--quiet", "--out", str(path))
    process = subprocess.Popen([*GEN, "-n", "1000000", *options], stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not any(part.stat().st_size for part in path.parent.glob("*.part")):
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.01)
    assert len(list(path.parent.iterdir())) == before + 1
    return process


@pytest.mark.parametrize(
    "suffix", [".jsonl", *(pytest.param(each, marks=pytest.mark.slow) for each in (".txt", ".parquet"))]
)
def test_ctrl_c_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    process = start_long_request(tmp_path / f"x{suffix}")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "gen: stopped\n")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("old\n", encoding="utf-8")
    process = start_long_request(path)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert path.read_text(encoding="utf-8") == "old\n"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("arguments", [("-n", "50000"), ("-n", "3000", "-f", "jsonl"), ("parse",), ("templates",)])
def test_early_end_of_reader_is_silent(arguments: tuple[str, ...], buffered: bool) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    environment |= {} if buffered else {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*GEN, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdin and process.stdout and process.stderr
    if arguments != ("templates",):
        process.stdin.write(f"{GOOD}\n" * 3000)
    process.stdin.close()
    if arguments != ("templates",):
        assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0
    process.stderr.close()


FULL_DEVICE = Path("/dev/full")


@pytest.mark.skipif(not FULL_DEVICE.is_char_device(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [("-n", "5"), ("--count",), ("parse", GOOD), ("templates",)])
def test_full_device(arguments: tuple[str, ...]) -> None:
    with FULL_DEVICE.open("w") as full:
        done = command(*arguments, stdout=full)
    assert done.returncode == 1
    assert done.stderr == "gen: standard output: No space left on device\n"


@pytest.mark.skipif(not FULL_DEVICE.is_char_device(), reason="there is no /dev/full here")
@pytest.mark.parametrize("fmt", ALL_FORMATS)
def test_full_device_as_a_file(gen: Gen, fmt: str) -> None:
    done = gen("-n", "5", "--out", FULL_DEVICE, "--format", fmt)
    assert done.code == 1
    assert "/dev/full: cannot write it: " in done.err
    assert FULL_DEVICE.is_char_device()


def test_help_names_aspects_of_english(gen: Gen) -> None:
    text = " ".join(gen("--help-all").out.split())
    assert "--aspect [simple|prog|perf|perfprog] Aspect of main clauses; in German simple or perf." in text
    assert "--rc-aspect [simple|prog|perf|perfprog] " in text
    assert gen("--language", "de", "--aspect", "perf", "-n", "1").code == 0


# logical forms


def test_logical_forms_are_files_of_cogs(gen: Gen, tmp_path: Path) -> None:
    out = tmp_path / "forms"
    options = ("--split", "structural", "-n", "20", "-v", "structure", "--out", out)
    assert gen("logical-forms", *options) == Outcome(0, "", "")
    assert {path.name for path in out.iterdir()} == {"train.tsv", "dev.tsv", "test.tsv", "gen.tsv", "split.json"}
    sentence, form, kind = (out / "gen.tsv").read_text("utf-8").splitlines()[0].split("\t")
    assert (sentence[0].isupper(), sentence[-2:], kind) == (True, " .", "modified_subject")
    assert " . nmod ( x _ " in form
    assert gen("logical-forms", *options) == Outcome(0, "", "")  # the same files
    again = gen("logical-forms", *options, "--seed", "1")
    assert (again.code, again.err) == (2, f"gen: {out}: not a new or empty folder; name another with --out\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--split lexcal", "there is no split 'lexcal' (did you mean 'lexical'?)"),
        ("--split lexical --notation lambda", "there is no notation 'lambda'; known: cogs, variable-free"),
        ("--split lexical -n 0", "the number of n must be positive"),
        ("--split lexical -n 20", "more sentences are needed"),
        ("--split lexical -v everday", "did you mean 'everyday'"),
    ],
)
def test_wrong_request_of_logical_forms(options: str, message: str, gen: Gen, tmp_path: Path) -> None:
    done = gen("logical-forms", "--out", tmp_path / "forms", *options.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not (tmp_path / "forms").exists()
