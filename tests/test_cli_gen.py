"""The command ``gen`` by exit code and output; no request, however bad, ends in a traceback."""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sentprobe import cli
from sentprobe.generator.event import Event, Participant, Tense, clauses, contains
from sentprobe.generator.files import read_file
from sentprobe.generator.notation import read_event
from sentprobe.generator.parse import parse
from sentprobe.generator.templates import template_names
from sentprobe.lexicon import english

LEXICON = english()
GEN = (sys.executable, "-c", "from sentprobe.cli import gen; gen()")
FORMATS = {"text": ".txt", "jsonl": ".jsonl", "conllu": ".conllu", "trees": ".trees"}
ALL_FORMATS = FORMATS | {"parquet": ".parquet"}
FULL_EVENT = "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])"


@dataclass(frozen=True)
class Outcome:
    """How the command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Gen = Callable[..., Outcome]


@pytest.fixture
def gen(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Gen:
    """Return a function that runs the command in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["gen", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            cli.gen()
        out, err = capfd.readouterr()
        code = caught.value.code or 0
        assert isinstance(code, int)
        assert "Traceback" not in err
        return Outcome(code, out, err)

    return run


def command(
    *arguments: str, stdin: str = "", **options: object
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*GEN, *arguments],
        input=stdin,
        check=False,
        text=True,
        timeout=100,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


# ------------------------------------------------------------------ generating


def test_by_default_ten_sentences_of_all_templates(gen: Gen) -> None:
    done = gen()
    assert (done.code, done.err) == (0, "")
    assert len(set(done.lines)) == 10
    assert all(len(parse(line, LEXICON)) == 1 for line in done.lines)


def test_the_seed_decides(gen: Gen) -> None:
    first, again, other = (gen("--seed", seed, "-n", "20").out for seed in ("1", "1", "2"))
    assert first == again != other
    assert gen("-n", "20", "--seed", "0").out == gen("-n", "20").out


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
def test_the_same_command_writes_the_same_bytes(
    gen: Gen, tmp_path: Path, fmt: str, suffix: str
) -> None:
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


def test_features_of_main_and_relative_clauses(gen: Gen) -> None:
    main = ("--tense=past", "--voice=passive", "--aspect=simple", "--polarity=neg")
    inner = ("--rc-tense=pres", "--rc-voice=active", "--rc-aspect=prog", "--rc-polarity=pos")
    wanted = read_event("*[passive, past, simple, neg]"), read_event("*[active, pres, prog, pos]")
    for event in events_of(gen(*main, *inner, "--number=pl", "-t", "transitive-rc", "-n", "40")):
        (outer, _), (clause, head) = clauses(event)
        assert contains(outer, wanted[0]) and contains(clause, wanted[1])
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


def test_allow(gen: Gen) -> None:
    base = ("-v", "published", "-t", "transitive", "--count")
    plain, stative, both = (
        int(gen(*base, *flags).out)
        for flags in ((), ("--allow=stative",), ("--allow=stative", "--allow=syncretic"))
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
        f"gen: warning: {path}: $.constraints.avoidList.intransitve: "
        "'intransitve' is taken for 'intransitive'\n"
    )
    for event in events_of(Outcome(done.code, done.out, "")):
        assert contains(event, Event(predicate="help", tense=Tense.PAST))
        assert len(list(clauses(event))) == 2
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
    for name in template_names():
        assert f" {name} " in done.out
        assert gen("--count", "-v", "compeval", "-t", name).out.strip() in shown
    assert "all: intransitive, intransitive-rc, transitive, transitive-rc" in done.out


@pytest.mark.parametrize("words", [(), ("templates",), ("parse",), ("show",)])
def test_help(gen: Gen, words: tuple[str, ...]) -> None:
    for flag in ("-h", "--help"):
        done = gen(*words, flag)
        assert (done.code, done.err) == (0, "")
        assert "Usage: gen" in done.out


# ------------------------------------------------------------------ parse

GOOD, BAD = "the man slept", "the man sleep"


def test_parse_arguments(gen: Gen) -> None:
    done = gen("parse", GOOD, "the women dance", "--format", "trees")
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "(S (NP (DT the) (NN man)) (VP (VBD slept)))",
        "(S (NP (DT the) (NNS women)) (VP (VBP dance)))",
    ]


def test_parse_gives_the_annotation_that_generating_gives(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    gen("-n", "40", "--out", path, "--adverbs", "0-2")
    parsed = tmp_path / "x.conllu"
    assert gen("parse", "--file", path, "--out", parsed).code == 0
    direct = tmp_path / "y.conllu"
    gen("-n", "40", "--out", direct, "--adverbs", "0-2")
    fields = ("id", "tokens", "tree", "event", "predicates", "negations")
    for one, two in zip(read_file(parsed, LEXICON), read_file(direct, LEXICON), strict=True):
        assert [getattr(one, f) for f in fields] == [getattr(two, f) for f in fields]


@pytest.mark.parametrize("where", ["arguments", "file", "stdin", "-"])
def test_failures_are_reported_and_the_rest_done(gen: Gen, tmp_path: Path, where: str) -> None:
    sentences = [GOOD, BAD, "the men slept", "nonsense"]
    text = "\n".join(sentences).encode() + b"\n"
    path = tmp_path / "x.txt"
    path.write_bytes(text)
    name = {"arguments": "sentence ", "file": f"{path}:"}.get(where, "<stdin>:")
    options = {"arguments": sentences, "file": ["--file", str(path)], "-": ["--file", "-"]}
    how = options.get(where, [])
    done = gen("parse", "--format", "text", *how, stdin=text)
    assert done.code == 1
    assert done.lines == [GOOD, "the men slept"]
    one, two = done.err.splitlines()
    assert one.startswith(f"gen: {name}2: token 3: expected ") and "not 'sleep'" in one
    assert two.startswith(f"gen: {name}4: token 1: expected ") and "not in the lexicon" in two


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
def test_parse_into_a_file(gen: Gen, tmp_path: Path, fmt: str, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    done = gen("parse", GOOD, BAD, "--out", path)
    assert (done.code, done.out) == (1, "")
    assert [sentence.text for sentence in read_file(path, LEXICON)] == [GOOD]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert gen("parse", GOOD, "--out", tmp_path / "y", "--format", fmt).code == 0


def test_empty_lines_are_passed_over(gen: Gen) -> None:
    done = gen("parse", "--format", "text", stdin=b"\xef\xbb\xbfthe man slept\r\n\n  \nx\n")
    assert done.lines == [GOOD]
    assert "<stdin>:4: token 1" in done.err


# ------------------------------------------------------------------ show


def test_show(gen: Gen, tmp_path: Path) -> None:
    partial = gen("show", "help[past](agent: lawyer[pl])")
    assert (partial.code, partial.err) == (0, "")
    assert "help" in partial.out and "lawyer" in partial.out
    full = gen("show", FULL_EVENT, "--svg", tmp_path / "x.svg")
    assert full.lines[-1] == "the man slept"
    picture = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert picture.startswith("<") and "</svg>" in picture
    assert len(list(tmp_path.iterdir())) == 1


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
    Bad("-n -3", "gen: the number of sentences must be positive, not -3"),
    Bad("-n many", "Invalid value for '--n' / '-n'"),
    Bad("--seed -1", "--seed"),
    Bad("-t transitiv", "gen: there is no template 'transitiv' (did you mean 'transitive'?)"),
    Bad("-v compevl", "unknown vocabulary 'compevl'"),
    Bad("--tense future", "Invalid value for '--tense'"),
    Bad("--tence past", "No such option: --tence"),
    Bad("tempates", "tempates"),
    Bad("--negator no", "gen: there is no negator 'no'"),
    Bad("--determiner teh", "unknown determiner 'teh' (did you mean 'the'?)"),
    Bad("--relativizer which", "unknown relativizer 'which'"),
    Bad("--adverbs many", "expected a number of adverbs, or a range such as 0-2, not 'many'"),
    Bad("--adverbs 2-1", "the range '2-1' is empty"),
    Bad("--adverbs 0-9", "a verb takes from 0 to 6 adverbs, not 7"),
    Bad("--require help[past", "event:1:"),
    Bad("--require hlep", "'hlep' (did you mean 'help'?)"),
    Bad("--forbid help(agent:mna)", "'mna' (did you mean 'man'?)"),
    Bad("--require-word lwayer", "'lwayer' (did you mean 'lawyer'?)"),
    Bad("--forbid-word lwayer", "'lwayer' (did you mean 'lawyer'?)"),
    Bad("--require-word lawyer --forbid-word lawyer", "'lawyer' and the forbidden word 'lawyer'"),
    Bad(
        "--require help[past] --forbid *[past] -t transitive",
        "the required event help[transitive, past] and the forbidden event *[past] contradict",
    ),
    Bad("--require sleep[passive]", "'sleep' is intransitive: it has no passive"),
    Bad("--config MISSING", "MISSING: cannot read the configuration: No such file or directory"),
    Bad("--config LATIN1", "LATIN1:2: the configuration is not UTF-8"),
    Bad("--config BROKEN", "BROKEN:2:2: not JSON"),
    Bad(
        "--config MISSPELT",
        "MISSPELT: $.constraint: unknown key 'constraint' (did you mean 'constraints'?)",
    ),
    Bad("--config FOLDER", "FOLDER: cannot read the configuration: Is a directory"),
    Bad("--lexicon MISSING", "MISSING: cannot read the lexicon: No such file or directory"),
    Bad("--lexicon FOLDER", "FOLDER: cannot read the lexicon: Is a directory"),
    Bad("--lexicon LATIN1", "LATIN1:2: L010: a lexicon is a TOML file in UTF-8"),
    Bad("--lexicon BROKEN", "BROKEN:2: L010: a lexicon is a TOML file in UTF-8"),
    Bad("--out NOFOLDER/x.txt", "x.txt: cannot write there: No such file or directory"),
    Bad("--out LATIN1/x.txt", "x.txt: cannot write there: Not a directory"),
    Bad("--out FOLDER --format text", "FOLDER: is a directory, not a file to write"),
    Bad("--out NEW", "gen: no format goes with the suffix ''"),
    Bad("--out NEW.doc", "gen: no format goes with the suffix '.doc'"),
    Bad("--out NEW.txt --format jsnol", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    Bad("--format jsnol", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    Bad("--format parquet", "Parquet cannot be written to standard output; name a file"),
    Bad("parse --format parquet x", "Parquet cannot be written to standard output; name a file"),
    Bad("parse --format jsnol x", "there is no format 'jsnol' (did you mean 'jsonl'?)"),
    Bad("parse --file MISSING", "MISSING: cannot read it: No such file or directory"),
    Bad("parse --file FOLDER", "FOLDER: cannot read it: Is a directory"),
    Bad("parse --file LATIN1", "LATIN1:2: not UTF-8", 1),
    Bad("parse x --out NOFOLDER/x.txt", "x.txt: cannot write there: No such file or directory"),
    Bad("parse x --out NEW.doc", "gen: no format goes with the suffix '.doc'"),
    Bad("parse x --lexicon MISSING", "MISSING: cannot read the lexicon"),
    Bad("templates --vocabulary compevl", "unknown vocabulary 'compevl'"),
    Bad("show", "Missing argument"),
    Bad("show help[", "event:1:"),
    Bad("show hlep", "unknown verb 'hlep' (did you mean 'help'?)"),
    Bad("show help --svg NOFOLDER/x.svg", "x.svg: cannot write there: No such file or directory"),
    Bad("show help --svg FOLDER", "FOLDER: cannot write it: Is a directory", 1),
]


@pytest.mark.parametrize("bad", BAD_REQUESTS, ids=str)
def test_a_bad_request_is_a_message(
    gen: Gen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: Bad
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LATIN1").write_bytes(b"\nna\xefve")
    (tmp_path / "BROKEN").write_text("\n[noun", encoding="utf-8")
    (tmp_path / "MISSPELT").write_text('{"constraint": {}}', encoding="utf-8")
    (tmp_path / "FOLDER").mkdir()
    before = sorted(tmp_path.iterdir())
    done = gen(*bad.arguments.split(" "))
    assert bad.message in " ".join(done.err.replace("│", " ").split())
    assert done.code == bad.code
    assert sorted(tmp_path.iterdir()) == before


# ------------------------------------------------------------------ interruptions

LONG = ("-n", "2000000", "--template", "transitive-rc", "--quiet")


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".parquet"])
def test_ctrl_c_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    process = subprocess.Popen([*GEN, *LONG, "--out", path], stderr=subprocess.PIPE, text=True)
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
    path = tmp_path / "x.txt"
    path.write_text("old\n", encoding="utf-8")
    process = subprocess.Popen([*GEN, *LONG, "--out", path], stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2:
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert path.read_text(encoding="utf-8") == "old\n"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "arguments", [("-n", "50000"), ("-n", "3000", "-f", "jsonl"), ("parse",), ("templates",)]
)
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
