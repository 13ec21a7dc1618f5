"""Errors of the command ``gen``: no request ends in a traceback."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.gen_command import ALL_FORMATS, GEN, GOOD, Gen, command

# ------------------------------------------------------------------ bad requests


@dataclass(frozen=True)
class Bad:
    """A bad request and what the message says; MISSING and so on name files that the test makes."""

    arguments: str
    message: str
    code: int = 2

    def __str__(self) -> str:
        return self.arguments


SMALL = "-v compeval -t intransitive"
BAD_REQUESTS = [
    Bad(f"{SMALL} -n 225", "gen: 225 sentences were asked for, but there are only 224 different"),
    Bad("-n 0", "gen: the number of sentences must be positive, not 0"),
    Bad("-n 1000000000000", "gen: 1000000000000 sentences are too many at once, at most 1,000,000"),
    Bad("-n 1" + "0" * 30, "sentences were asked for, but there are only"),
    Bad("-n 1" + "0" * 5000, "Invalid value for '--n' / '-n'"),
    Bad("--seed 1" + "0" * 30, "gen: the seed must be at most 4611686018427387904, not 1"),
    Bad("--jobs 2", "No such option: --jobs"),
    Bad("-n -3", "gen: the number of sentences must be positive, not -3"),
    Bad("-n many", "Invalid value for '--n' / '-n'"),
    Bad("--seed -1", "--seed"),
    Bad("-t transitiv", "gen: there is no template 'transitiv' (did you mean 'transitive'?); gen templates lists them"),
    Bad("-v compevl", "unknown vocabulary 'compevl'"),
    Bad("--tense future", "Invalid value for '--tense'"),
    Bad("--tence past", "No such option: --tence"),
    Bad("tempates", "tempates"),
    Bad("--negator no", "gen: there is no negator 'no'"),
    Bad("--determiner teh", "unknown determiner 'teh' (did you mean 'the'?)"),
    Bad(
        "--mood order -t intransitive-rc",
        "gen: an order has no agent, and the templates intransitive-rc need an agent with a relative clause",
    ),
    *(
        Bad(f"--mood order {option}", "gen: an order is active and simple, without a tense; leave out --tense")
        for option in ("--tense past", "--voice passive", "--aspect prog")
    ),
    Bad("--mood orders", "Invalid value for '--mood'"),
    Bad("--mood order --ask agent", "gen: --ask is for questions"),
    Bad("--ask subject", "Invalid value for '--ask': 'subject' is not one of"),
    *(
        Bad(
            f"--ask {role} -t {template}", f"gen: the {role} to ask for must stand in the templates {template}, without"
        )
        for role, template in (
            ("patient", "intransitive"),
            ("recipient", "transitive"),
            ("patient", "transitive-rc.patient"),
        )
    ),
    Bad(
        "--modal may --tense past", "gen: a modal takes the place of the tense; leave out --tense, or add --modal none"
    ),
    Bad("--require help[modal(must)]", "gen: 'must' is required but is not among the determiners, relativizers and"),
    Bad("--require help[question]", "gen: the required event help[transitive, question] needs --mood question"),
    Bad("--mood question --require help(patient:who?)", "the required event help(patient: who?) needs --ask patient"),
    Bad("--require help(patient:himself)", "the required event help(patient: himself) needs --reflexive patient"),
    Bad("--reflexive agent", "gen: no sentence of the templates all has a reflexive agent; only a recipient or"),
    Bad("--reflexive patient --mood order", "gen: no sentence of the templates all has a reflexive patient"),
    Bad("--determiner any --polarity pos", "gen: any cannot be the only determiner here: it needs a"),
    Bad("--language de --reflexive patient", "gen: sentprobe's German has no reflexive"),
    Bad(
        "--language de --require sehen --forbid sehen",
        "gen: the required event sehen[transitive] and the forbidden event sehen[transitive] contradict each other in",
    ),
    Bad("--language de --allow sentence", "gen: --allow is for verbs; ever and any stand in"),
    Bad("--allow npi", "gen: --allow is for verbs; ever and any stand in negated clauses and questions only"),
    Bad("--forbid *[statement]", "an event has no feature 'statement'"),
    Bad("--adjectives 1 -v compeval", "gen: vocabulary 'compeval' has no adjective; vocabulary "),
    Bad("--adjectives 2 -v everyday", "gen: a drawn noun has at most one adjective, not 2"),
    Bad("--adjectives few", "gen: expected a number of adjectives, or a range such as 0-2, not 'few'"),
    Bad(
        "-v everyday --require-word hungry -t intransitive",
        "gen: the required word 'hungry' and the choice of adjectives contradict each other",
    ),
    Bad("--coordinations 2-1", "gen: the range '2-1' is empty; write the smaller number first"),
    Bad("--coordinations two", "gen: expected a number of coordinations, or a range such as 0-2, not 'two'"),
    Bad(
        "--coordinations 3 -t transitive",
        "gen: no sentence of the templates transitive has 3 nouns without relative clauses to coordinate",
    ),
    Bad(
        "--require help(agent:man) -v compeval --forbid *(agent:man) --coordinations 1",
        "the required event help[transitive](agent: man) and the forbidden event *(agent: man) contradict",
    ),
    Bad("-t ditransitive", "gen: vocabulary 'english' has no ditransitive verb; vocabulary "),
    Bad("-v everyday --require help(agent:book)", "gen: 'book' is a thing, and the agent of 'help' is a person"),
    Bad("--modal muts", "unknown modal 'muts' (did you mean 'must'?)"),
    Bad("--modal may --negator n't --polarity neg", "gen: may has no form with n't; use the negator not"),
    Bad("--require-word ever", "gen: gen never puts 'ever' into a sentence; gen parse reads it"),
    Bad("minimal -p all --out NEW", "use .jsonl, .parquet or --format; a folder needs --format lm-eval"),
    Bad("--require-word must", "'must' is required but is not among the determiners, relativizers and modals"),
    Bad("--relativizer whom", "unknown relativizer 'whom'"),
    Bad("--relativizer dass", "unknown relativizer 'dass'; the relativizers are that, who, which"),
    Bad("--relativizer which -t transitive-rc", "relativizers take (which: no noun of the vocabulary) and the choice"),
    Bad("--mood question --ask recipient", "the recipient to ask for must stand in the templates all, without"),
    Bad("--adverbs ٢", "expected a number of adverbs, or a range such as 0-2, not '٢'"),
    Bad("--adverbs many", "expected a number of adverbs, or a range such as 0-2, not 'many'"),
    Bad("--adverbs 2-1", "the range '2-1' is empty"),
    Bad("--adverbs 0-99999999", "a verb takes from 0 to 6 adverbs, not 7"),
    Bad("--adverbs 99999999", "a verb takes from 0 to 6 adverbs, not 99999999"),
    Bad("--adverbs 0-" + "9" * 5000, "expected a number of adverbs, or a range such as 0-2"),
    Bad("--adverbs 0-9", "a verb takes from 0 to 6 adverbs, not 7"),
    Bad("--require help[past", "event:1:"),
    Bad("--require hlep", "'hlep' (did you mean 'help'?)"),
    Bad("--require-any hlep", "'hlep' (did you mean 'help'?)"),
    Bad(
        "-v compeval --require-any sleep --require-any help(agent:jockey)",
        "'jockey' is required but is not in vocabulary 'compeval'",
    ),
    Bad("--forbid help(agent:mna)", "'mna' (did you mean 'man'?)"),
    Bad("--require-word lwayer", "'lwayer' (did you mean 'lawyer'?)"),
    Bad("--forbid-word lwayer", "'lwayer' (did you mean 'lawyer'?)"),
    Bad("--require-word lawyer --forbid-word lawyer", "'lawyer' and the forbidden word 'lawyer'"),
    Bad(
        "--require help[past] --forbid *[past] -t transitive",
        "the required event help[transitive, past] and the forbidden event *[past] contradict",
    ),
    Bad("--require sleep[passive]", "'sleep' is intransitive: it has no passive"),
    Bad("--exclude MISSING", "MISSING: cannot read it: No such file or directory"),
    Bad("--exclude MISSING.jsonl", "MISSING.jsonl: there is no such file"),
    Bad("--exclude FOLDER", "FOLDER: cannot read it: Is a directory"),
    Bad("--exclude LATIN1", "LATIN1: line 2: not UTF-8", 1),
    Bad("--config MISSING", "MISSING: cannot read the configuration: No such file or directory"),
    Bad("--config LATIN1", "LATIN1: line 2: not UTF-8"),
    Bad("--config BROKEN", "BROKEN:2:2: not JSON"),
    Bad("--config MISSPELT", "MISSPELT: $.constraint: unknown key 'constraint' (did you mean 'constraints'?)"),
    Bad("--config FOLDER", "FOLDER: cannot read the configuration: Is a directory"),
    Bad("--lexicon MISSING", "MISSING: cannot read the lexicon: No such file or directory"),
    Bad("--lexicon FOLDER", "FOLDER: cannot read the lexicon: Is a directory"),
    Bad("--lexicon LATIN1", "LATIN1:2: L010: a lexicon is a TOML file in UTF-8"),
    Bad("--lexicon BROKEN", "BROKEN:2: L010: a lexicon is a TOML file in UTF-8"),
    Bad("--out LATIN1/a/x.txt", "x.txt: cannot write there: Not a directory"),
    Bad("--out NOFOLDER/x.txt -n 0", "gen: the number of sentences must be positive, not 0"),
    Bad("--out NOFOLDER/x.doc", "gen: no format goes with the suffix '.doc'"),
    Bad("--out LATIN1/x.txt", "x.txt: cannot write there: Not a directory"),
    Bad("--out FOLDER --format text", "FOLDER: is a directory, not a file to write"),
    Bad("--out NEW", "gen: no format goes with the suffix ''"),
    Bad("--out NEW.doc", "gen: no format goes with the suffix '.doc'"),
    Bad("--out NEW.txt --format jsnol", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    Bad("--format jsnol", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    Bad("--format parquet", "Parquet cannot be written to standard output; name a file"),
    Bad("parse --format parquet x", "Parquet cannot be written to standard output; name a file"),
    Bad("parse --format jsnol x", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    Bad("parse --file x.jsonl", "gen: x.jsonl: gen parse reads lines of text, not .jsonl"),
    Bad("parse --file MISSING", "MISSING: cannot read it: No such file or directory"),
    Bad("parse --file FOLDER", "FOLDER: cannot read it: Is a directory"),
    Bad("parse --file LATIN1", "LATIN1:2: not UTF-8", 1),
    Bad("parse x --out LATIN1/x.txt", "x.txt: cannot write there: Not a directory"),
    Bad("parse x --out LATIN1/a/x.txt", "x.txt: cannot write there: Not a directory"),
    Bad("parse x --out NEW.doc", "gen: no format goes with the suffix '.doc'"),
    Bad("parse x --lexicon MISSING", "MISSING: cannot read the lexicon"),
    Bad("templates --vocabulary compevl", "unknown vocabulary 'compevl'"),
    Bad("show", "Missing argument"),
    Bad("show help[", "event:1:"),
    Bad("show hlep", "unknown verb 'hlep' (did you mean 'help'?)"),
    Bad("show help --svg NOFOLDER/x.svg", "x.svg: cannot write there: No such file or directory"),
    Bad("show help --svg FOLDER", "FOLDER: is a directory, not a file to write"),
]


@pytest.mark.parametrize("bad", BAD_REQUESTS, ids=str)
def test_a_bad_request_is_a_message(gen: Gen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: Bad) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LATIN1").write_bytes(b"\nna\xefve")
    (tmp_path / "BROKEN").write_text("\n[noun", encoding="utf-8")
    (tmp_path / "MISSPELT").write_text('{"constraint": {}}', encoding="utf-8")
    (tmp_path / "FOLDER").mkdir()
    before = sorted(tmp_path.iterdir())
    done = gen(*bad.arguments.split(" "))
    assert bad.message in " ".join(done.err.split())
    assert done.code == bad.code
    assert sorted(tmp_path.iterdir()) == before


# ------------------------------------------------------------------ interruptions

LONG = {".txt": 1_000_000, ".jsonl": 1_000_000, ".parquet": 1_000_000}
"""How many sentences take many seconds to write, in each format."""


def asking_for_many(path: Path) -> list[str]:
    more = ("--template", "transitive-rc", "--quiet", "--out", str(path))
    return [*GEN, "-n", str(LONG[path.suffix]), *more]


@pytest.mark.parametrize(
    "suffix", [".jsonl", *(pytest.param(each, marks=pytest.mark.slow) for each in (".txt", ".parquet"))]
)
def test_ctrl_c_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    process = subprocess.Popen(asking_for_many(path), stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not any(part.stat().st_size for part in tmp_path.iterdir()):
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.01)
    assert [part.suffix for part in tmp_path.iterdir()] == [".part"]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "gen: stopped\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("old\n", encoding="utf-8")
    process = subprocess.Popen(asking_for_many(path), stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2:
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert path.read_text(encoding="utf-8") == "old\n"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("arguments", [("-n", "50000"), ("-n", "3000", "-f", "jsonl"), ("parse",), ("templates",)])
def test_a_reader_that_leaves_early(arguments: tuple[str, ...], buffered: bool) -> None:
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
def test_a_full_device(arguments: tuple[str, ...]) -> None:
    with FULL_DEVICE.open("w") as full:
        done = command(*arguments, stdout=full)
    assert done.returncode == 1
    assert done.stderr == "gen: standard output: No space left on device\n"


@pytest.mark.skipif(not FULL_DEVICE.is_char_device(), reason="there is no /dev/full here")
@pytest.mark.parametrize("fmt", ALL_FORMATS)
def test_a_full_device_as_a_file(gen: Gen, fmt: str) -> None:
    done = gen("-n", "5", "--out", FULL_DEVICE, "--format", fmt)
    assert done.code == 1
    assert "/dev/full: cannot write it: " in done.err
    assert FULL_DEVICE.is_char_device()
