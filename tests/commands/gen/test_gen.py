"""The command ``gen``: output and files."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from helpers.gen_command import ALL_FORMATS, FORMATS, Gen, Outcome, command

from sentprobe.generator.bulk.generate import read_file
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import Event, Participant, Tense, iterate_clauses, iterate_participants
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import english

LEXICON = english()


# ------------------------------------------------------------------ generating


def test_by_default_ten_sentences_of_all_templates(gen: Gen) -> None:
    done = gen()
    assert (done.code, done.err) == (0, "")
    assert len(set(done.lines)) == 10
    assert all(len(parse(line, LEXICON)) == 1 for line in done.lines)


def test_the_seed_decides(gen: Gen) -> None:
    first, again, second = (gen("--seed", seed, "-n", "20").out for seed in ("1", "1", "2"))
    assert first == again != second
    assert gen("-n", "20", "--seed", "0").out == gen("-n", "20").out


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
def test_the_same_command_writes_the_same_bytes(gen: Gen, tmp_path: Path, fmt: str, suffix: str) -> None:
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


def test_a_process_writes_the_same_bytes(gen: Gen) -> None:
    request = ("-n", "50", "--seed", "3", "--format", "jsonl", "--template", "transitive-rc")
    done = command(*request)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == gen(*request).out


def test_a_file_is_replaced(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old\n", encoding="utf-8")
    assert gen("-n", "2", "--out", path).code == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_the_folder_is_made(gen: Gen, tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "b" / "x.txt", tmp_path / "c" / "x.txt"
    assert gen("-n", "2", "--out", one).code == 0
    assert gen("parse", "--file", one, "--out", two).code == 0
    assert one.read_bytes() == two.read_bytes()


def test_a_link_is_kept_and_its_file_replaced(gen: Gen, tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert gen("-n", "2", "--out", tmp_path / "link.txt").code == 0
    assert (tmp_path / "link.txt").is_symlink()
    assert len((tmp_path / "real.txt").read_text(encoding="utf-8").splitlines()) == 2


def test_a_pipe_is_written_to_and_not_replaced(gen: Gen, tmp_path: Path) -> None:
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


# ------------------------------------------------------------------ what is asked for


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


@pytest.mark.parametrize("option", ["--lexicon", "--config"])
def test_what_a_command_reads_is_not_written_over(gen: Gen, tmp_path: Path, option: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text("mine", "utf-8")
    done = gen(option, path, "--out", path, "--format", "text")
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


def test_the_voice_of_the_main_clause_is_not_that_of_its_relative_clause(gen: Gen) -> None:
    done = gen("--voice", "passive", "--template", "intransitive-rc")
    assert done.code == 2
    assert "the main clause *[passive] is impossible" in done.err


def test_words_that_vary(gen: Gen) -> None:
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


def test_a_configuration_of_the_published_generator(gen: Gen, tmp_path: Path) -> None:
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


def test_a_lexicon_of_ones_own(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[noun]\nwolf = {}\n[intransitive]\nhowl = {}\n", encoding="utf-8")
    done = gen("--lexicon", path, "-v", "all", "-t", "intransitive", "--count")
    assert done.out == "16\n"
    done = gen("--lexicon", path, "-v", "all", "-t", "intransitive", "-n", "16")
    assert "the wolves are not howling" in done.lines
    assert gen("parse", "--lexicon", path, "the wolf howls").code == 0


# ------------------------------------------------------------------ templates, help


def test_the_templates_are_listed_with_example_and_count(gen: Gen) -> None:
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
