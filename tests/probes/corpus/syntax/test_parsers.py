"""Parsers: each adapter on its library's output, the real parsers if installed, and errors."""

import json
import re
import socketserver
import threading
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from helpers.encoders.parser_models import BLLIP, PUNKT, SPACY, skip_unless_installed, unpack
from helpers.shared import needs_shared
from helpers.strategies.corpus_strategies import make_table, read_rows

from sentprobe.common.errors import UsageError, format_install
from sentprobe.common.specs import Spec, parse_spec
from sentprobe.probes.corpus import chunks, own_parsers, parsers
from sentprobe.probes.corpus.own_parsers import CorenlpParser
from sentprobe.probes.corpus.parsers import PARSERS, ParserError, ParserKind, ParserOutcome, find_parser, load_parser
from sentprobe.probes.corpus.sources import RecordFields
from sentprobe.probes.corpus.table import AnalysisRecipe, make_recipe
from sentprobe.probes.corpus.trees import ParsedSentence


@pytest.fixture(autouse=True)
def clear_parser_cache() -> Iterator[None]:
    yield
    parsers._load_cached.cache_clear()


class Fake:
    """A parser that tags every word NN, and fails on some words."""

    fingerprint = "fake 1"
    splits = True

    def __init__(self) -> None:
        self.batches: list[int] = []

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        self.batches.append(len(sentences))
        if any("crash" in tokens for tokens in sentences):
            raise ValueError("it\ncrashed")
        if any("gone" in tokens for tokens in sentences):
            raise ParserError("the server is gone")
        outcomes: list[ParserOutcome] = []
        for tokens in sentences:
            if "lost" not in tokens:
                words = " ".join(f"(NN {token})" for token in tokens)
                tree = "(S x" if "broken" in tokens else f"(S {words})"
                outcomes.append("no parse" if "no" in tokens else ParsedSentence(tree=tree))
        return outcomes

    def tokenize(self, sentence: str) -> list[str]:
        return sentence.split(",") if "," in sentence else []

    def parse_text(self, text: str) -> list[ParserOutcome]:
        if "long" in text:
            return [ParsedSentence(tokens=("so", *text.split())), ParsedSentence(tokens=("short",))]
        return self.parse([part.split() for part in text.split(".") if part.strip()])


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    parser = Fake()
    kind = ParserKind("fake", "json", lambda _: parser)
    monkeypatch.setattr(parsers, "PARSERS", (kind,))
    monkeypatch.setattr(chunks, "BATCH_SIZE", 4)
    return parser


def read_failures(out: Path) -> list[tuple[int, str]]:
    lines = (out / "failures.jsonl").read_text().splitlines()
    return [(record["line"], record["message"]) for record in map(json.loads, lines)]


def test_one_sentence_that_fails_is_no_other_sentences_loss(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "a.tok"
    file.write_text("a b\nno c\nd crash\ne\nf lost\ng\nbroken h\n" + "long " * 5 + "\nlast\n")
    recipe = AnalysisRecipe(parser="fake", max_tokens=4)
    table = make_table([file], tmp_path / "out", recipe=recipe)
    assert [row["text"] for row in read_rows(table)] == ["a b", "e", "g", "last"]
    assert [row["place"] for row in read_rows(table)] == [0, 3, 5, 8]
    assert read_failures(tmp_path / "out") == [
        (2, "no parse"),
        (3, "ValueError: it crashed"),
        (5, "the parser returned no parse"),
        (7, "the word 'x' has no tag (expected a word as '(TAG word)')"),
        (8, "a sentence of 5 tokens; --max-tokens allows 4"),
    ]
    assert fake.batches[:5] == [4, 1, 1, 1, 1]
    assert table.recipe["parser_made_of"] == "fake 1"
    assert table.constituents


@pytest.mark.usefixtures("fake")
def test_a_parser_that_cannot_go_on_ends_the_run(tmp_path: Path) -> None:
    file = tmp_path / "a.tok"
    file.write_text("a b\ngone\n")
    with pytest.raises(ParserError, match="the server is gone"):
        make_table([file], tmp_path / "out", recipe=AnalysisRecipe(parser="fake"))


@pytest.mark.usefixtures("fake")
def test_text_is_split_by_the_parser_or_by_punkt(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("One two. Three\nfour.\n\nFive crash.\n")
    options: dict[str, Any] = {"reading": RecordFields(), "parser": "fake", "max_tokens": 9}
    recipe = make_recipe(punkt=None, has_text=True, **options)
    assert recipe.punkt is None
    table = make_table([file], tmp_path / "out", recipe=recipe)
    assert [row["text"] for row in read_rows(table)] == ["One two", "Three four"]
    assert read_failures(tmp_path / "out") == [(4, "ValueError: it crashed")]
    if not PUNKT.is_dir():
        return
    recipe = make_recipe(punkt=PUNKT, has_text=True, **options)
    table = make_table([file], tmp_path / "punkt", recipe=recipe)
    assert [row["text"] for row in read_rows(table)] == ["One two .", "Three four ."]
    assert table.recipe["punkt"]


@pytest.mark.usefixtures("fake")
def test_sentences_that_the_parser_splits_itself_keep_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one long sentence here\n")
    recipe = make_recipe(reading=RecordFields(), parser="fake", punkt=None, max_tokens=4, has_text=True)
    table = make_table([file], tmp_path / "out", recipe=recipe)
    assert [row["text"] for row in read_rows(table)] == ["short"]
    assert read_failures(tmp_path / "out") == [(1, "a sentence of 5 tokens; --max-tokens allows 4")]


@pytest.mark.usefixtures("fake")
def test_lines_are_tokenised_by_the_parser_or_as_in_the_penn_treebank(tmp_path: Path) -> None:
    file = tmp_path / "a.lines"
    file.write_text("a b,c\nHe didn't.\n")
    recipe = AnalysisRecipe(parser="fake")
    table = make_table([file], tmp_path / "out", recipe=recipe, format="lines")
    assert [row["text"] for row in read_rows(table)] == ["a_b c", "He did n't ."]


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("bllipp:x", UsageError, r"there is no parser 'bllipp' \(did you mean 'bllip'\?\); known"),
        ("bllip", UsageError, r"bllip: the spec names no model; write --parser bllip:FOLDER .*bllip_wsj"),
        ("bllip:nowhere", UsageError, r"nowhere: the folder does not exist; .*nltk.downloader"),
        ("bllip:.", UsageError, r"\.: not a model of bllipparser \(no pSgT.txt in it\); "),
        ("bllip:.?beam=3", UsageError, "bllip has no option 'beam'"),
        ("spacy:nowhere", ParserError, r"no pipeline 'nowhere'.*: python -m spacy download nowhere"),
        ("spacy:x?gpu=yes", UsageError, "spacy has no option 'gpu'"),
        ("stanza:en?dir=nowhere", ParserError, r"stanza has no model for 'en' \(default\).*'nowhere'"),
        ("corenlp:http://127.0.0.1:1", ParserError, r"no CoreNLP server answers at .*: java -mx4g"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # what the libraries say while they are imported
def test_parsers_that_cannot_be_used(
    spec: str, kind: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = parse_spec(spec).kind
    if not all(parser_kind.is_installed for parser_kind in PARSERS if parser_kind.name == name):
        pytest.skip("the extra is not installed")
    with pytest.raises(kind, match=message):
        load_parser(spec)


@pytest.mark.parametrize("kind", PARSERS, ids=lambda kind: kind.name)
def test_each_is_an_extra(kind: ParserKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "find_spec", lambda _: None)
    message = re.escape(f"the parser {kind.name} needs the extra: {format_install(kind.name)}")
    with pytest.raises(ParserError, match=message):
        find_parser(kind.name)


@skip_unless_installed("stanza")
@pytest.mark.filterwarnings("ignore")
def test_a_stanza_document() -> None:
    from stanza.models.common.doc import Document
    from stanza.models.constituency.parse_tree import Tree

    from sentprobe.probes.corpus.own_parsers import PipelineInput, StanzaParser

    def word(number: int, text: str, tag: str, head: int, relation: str) -> dict[str, object]:
        return {"id": number, "text": text, "xpos": tag, "head": head, "deprel": relation}

    document = Document(
        [[word(1, "Men", "NNS", 2, "nsubj"), word(2, "ran", "VBD", 0, "root")], [word(1, "(", "-LRB-", 0, "root")]]
    )
    noun = Tree("NP", [Tree("NNS", [Tree("Men")])])
    verb = Tree("VP", [Tree("VBD", [Tree("ran")])])
    document.sentences[0].constituency = Tree("ROOT", [Tree("S", [noun, verb])])
    requests: list[tuple[PipelineInput, object]] = []

    def pipeline(form: PipelineInput) -> Any:
        def parse(sentences: object) -> Document:
            requests.append((form, sentences))
            return document

        return parse

    parser = StanzaParser("stanza", pipeline)
    first, second = parser.parse([("Men", "ran"), ("(",)])
    assert first == ParsedSentence(
        tokens=("Men", "ran"),
        tags=("NNS", "VBD"),
        tree="(ROOT (S (NP (NNS Men)) (VP (VBD ran))))",
        heads=(2, 0),
        relations=("nsubj", "root"),
    )
    assert second == ParsedSentence(tokens=("(",), tags=("-LRB-",), heads=(0,), relations=("root",))
    assert parser.parse_text("Men ran (") == [first, second]
    assert parser.tokenize("Men ran(") == ["Men", "ran", "("]
    assert requests == [
        (PipelineInput.TOKENS, [["Men", "ran"], ["("]]),
        (PipelineInput.TEXT, "Men ran ("),
        (PipelineInput.SENTENCE, "Men ran("),
    ]


@skip_unless_installed("spacy")
@pytest.mark.filterwarnings("ignore")
def test_a_spacy_document() -> None:
    import spacy
    from spacy.tokens import Doc, Span

    from sentprobe.probes.corpus.own_parsers import convert_span

    vocab = spacy.blank("en").vocab
    document = Doc(
        vocab,
        words=["He", "did", "n't", " ", "see", "men"],
        tags=["PRP", "VBD_RB", "VBD_RB", "_SP", "VB", "NNS"],
        heads=[4, 4, 4, 2, 4, 4],
        deps=["nsubj", "aux", "neg", "", "ROOT", "dobj"],
    )
    expected = ParsedSentence(
        tokens=("He", "did", "n't", "see", "men"),
        tags=("PRP", "VBD", "RB", "VB", "NNS"),
        heads=(4, 4, 4, 0, 4),
        relations=("nsubj", "aux", "neg", "root", "obj"),
    )
    assert convert_span(document[:], constituents=False) == expected
    # benepar gives each sentence this attribute
    Span.set_extension("parse_string", getter=lambda span: f"(S (NP {len(span)}))", force=True)
    assert convert_span(document[:], constituents=True).tree == "(S (NP 6))"
    Span.remove_extension("parse_string")
    plain = convert_span(Doc(vocab, words=["He"], tags=["PRP"])[:], constituents=False)
    assert plain == ParsedSentence(tokens=("He",), tags=("PRP",))


ANSWER = {
    "sentences": [
        {
            "index": 0,
            "parse": "(ROOT\n  (S\n    (NP (NNS Men))\n    (VP (VBD ran) (-LRB- -LRB-))))",
            "basicDependencies": [
                {"dep": "ROOT", "governor": 0, "dependent": 2},
                {"dep": "nsubj", "governor": 2, "dependent": 1},
                {"dep": "punct", "governor": 2, "dependent": 3},
            ],
            "tokens": [
                {"index": 1, "word": "Men", "originalText": "Men", "pos": "NNS"},
                {"index": 2, "word": "ran", "originalText": "ran", "pos": "VBD"},
                {"index": 3, "word": "-LRB-", "originalText": "(", "pos": "-LRB-"},
            ],
        }
    ]
}


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[dict[str, str], str]]]]:
    """Yield the URL of a loopback server that answers like CoreNLP, and its requests."""
    requests: list[tuple[dict[str, str], str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200, b"live")

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            query = parse_qs(urlparse(self.path).query)
            requests.append((json.loads(query["properties"][0]), text))
            if "crash" in text:
                self._answer(500, b"CoreNLP request timed out.")
            elif text.startswith("{"):
                self._answer(200, text.encode())
            else:
                self._answer(200, json.dumps(ANSWER).encode())

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http_server:
        thread = threading.Thread(target=http_server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http_server.server_port}", requests
        http_server.shutdown()
        thread.join()


@skip_unless_installed("corenlp")
@pytest.mark.filterwarnings("ignore")
def test_a_corenlp_server(server: tuple[str, list[tuple[dict[str, str], str]]], tmp_path: Path) -> None:
    url, requests = server
    file = tmp_path / "a.tok"
    file.write_text("Men ran (\ncrash\n")
    recipe = AnalysisRecipe(parser=f"corenlp:{url}/")
    table = make_table([file], tmp_path / "out", recipe=recipe)
    (row,) = read_rows(table)
    assert row["tokens"] == ["Men", "ran", "("]
    assert (row["tree"], row["subject_index"]) == ("(ROOT (S (NP (NNS Men)) (VP (VBD ran) (-LRB- -LRB-))))", 0)
    ((line, message),) = read_failures(tmp_path / "out")
    assert line == 2
    assert "timed out" in message
    assert [text for _, text in requests] == ["Men ran -LRB-\ncrash", "Men ran -LRB-", "crash"]
    assert requests[0][0] == {
        "annotators": "tokenize,ssplit,pos,parse",
        "outputFormat": "json",
        "tokenize.whitespace": "true",
        "ssplit.eolonly": "true",
    }
    (parsed,) = load_parser(f"corenlp:{url}/").parse_text("Men ran (")
    assert isinstance(parsed, ParsedSentence)
    assert parsed.heads == (2, 0, 2)
    assert "ssplit.eolonly" not in requests[-1][0]
    assert load_parser(f"corenlp:{url}/").tokenize("Men ran(") == ["Men", "ran", "-LRB-"]
    assert requests[-1][0]["ssplit.isOneSentence"] == "true"


def edit_answer(**fields: Any) -> str:
    """Return an answer about one word, some fields of which are replaced."""
    token = {"index": 1, "word": "Men", "pos": "NNS", **fields.pop("token", {})}
    edge = {"dep": "ROOT", "governor": 0, "dependent": 1, **fields.pop("edge", {})}
    sentence = {"parse": "(ROOT (NNS Men))", "tokens": [token], "basicDependencies": [edge], **fields}
    return json.dumps({"sentences": [sentence]})


WRONG_ANSWERS = {
    "{": "it has no list of sentences",
    "{}": "it has no list of sentences",
    '{"sentences": 5}': "it has no list of sentences",
    '{"sentences": [5]}': "a sentence has not the fields of one",
    '{"sentences": [{"tokens": [{}]}]}': "a sentence has not the fields of one",
    edit_answer(parse=5): "a word, tag, relation or tree is not a text",
    edit_answer(token={"word": 5}): "a word, tag, relation or tree is not a text",
    edit_answer(token={"word": "\ud800"}): "it has no list of sentences",
    edit_answer(edge={"dep": 5}): "a sentence has not the fields of one",
    edit_answer(edge={"governor": 1_000_000_000}): "a head is not the number of a token",
    edit_answer(edge={"governor": True}): "a head is not the number of a token",
    edit_answer(edge={"governor": -1}): "a head is not the number of a token",
}


@skip_unless_installed("corenlp")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("answer", "message"), WRONG_ANSWERS.items())
def test_wrong_answer_of_a_corenlp_server(
    server: tuple[str, list[tuple[dict[str, str], str]]], answer: str, message: str
) -> None:
    with pytest.raises(ValueError, match=f"the CoreNLP server's answer is not as expected: {message}"):
        load_parser(f"corenlp:{server[0]}/").parse_text(answer)


@skip_unless_installed("corenlp")
@pytest.mark.filterwarnings("ignore")
def test_each_sentence_gets_the_parse_of_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server divides a sentence, skips another one, and has other words in the tree of a third."""
    import urllib3

    divided, skipped, renamed = "Fido", "Rex", "Bo"

    def answer(self: object, text: str, properties: object) -> list[dict[str, Any]]:  # noqa: ARG001
        sentences: list[dict[str, Any]] = []
        for line in text.split("\n"):
            words = line.split()
            tokens = [{"index": place, "word": word, "pos": "NN"} for place, word in enumerate(words, 1)]
            leaves = ["Al" if word == renamed else word for word in words]
            tree = f"(ROOT (NP {' '.join(f'(NN {leaf})' for leaf in leaves)}))"
            times = 2 if words[0] == divided else 0 if words[0] == skipped else 1
            sentences += [{"tokens": tokens, "parse": tree}] * times
        return sentences

    monkeypatch.setattr(CorenlpParser, "_request", answer)
    parser = CorenlpParser("CoreNLP", "http://127.0.0.1", 1, urllib3.PoolManager())
    monkeypatch.setattr(parsers, "PARSERS", (ParserKind("corenlp", "urllib3", lambda _: parser),))
    file = tmp_path / "a.tok"
    file.write_text('Fido slept\ndogs ( slept )\nRex slept\ncats " slept\nBo slept\n')
    table = make_table([file], tmp_path / "out", recipe=AnalysisRecipe(parser="corenlp"))
    assert [(row["place"], row["text"]) for row in read_rows(table)] == [(1, "dogs ( slept )"), (3, 'cats " slept')]
    assert read_failures(tmp_path / "out") == [
        (1, "the parser returned 2 parses"),
        (3, "the parser returned no parse"),
        (5, "the token 'Bo' is 'Al' in the tree"),
    ]
    file.write_text("Fido slept\nRex slept\ncats slept\n")  # as many parses as sentences
    table = make_table([file], tmp_path / "again", recipe=AnalysisRecipe(parser="corenlp"))
    assert [(row["place"], row["text"]) for row in read_rows(table)] == [(2, "cats slept")]
    assert [line for line, _ in read_failures(tmp_path / "again")] == [1, 2]


@pytest.mark.usefixtures("fake")
def test_a_parse_of_other_words_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "parse", lambda _, sentences: [ParsedSentence(tokens=("a", "b")) for _ in sentences])
    file = tmp_path / "a.tok"
    file.write_text("a b\nc d\n")
    table = make_table([file], tmp_path / "out", recipe=AnalysisRecipe(parser="fake"))
    assert [row["text"] for row in read_rows(table)] == ["a b"]
    assert read_failures(tmp_path / "out") == [(2, "the parser returned a parse of other words")]


@skip_unless_installed("corenlp")
@pytest.mark.filterwarnings("ignore")
def test_failed_tokenizer_ends_the_analysis(
    server: tuple[str, list[tuple[dict[str, str], str]]], tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("crash\n")
    recipe = AnalysisRecipe(parser=f"corenlp:{server[0]}/")
    with pytest.raises(ParserError, match=r"tokenizer failed: CoreNLP: the server answers 500 .*: CoreNLP request"):
        make_table([file], tmp_path / "out", recipe=recipe, format="lines")


OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
LIVE = OK + b"Content-Length: 4\r\n\r\nlive"
Sent = tuple[bytes, bytes]
"""The first bytes of an answer, and the bytes that follow again and again."""


@contextmanager
def start_endless_server(get: Sent, post: Sent) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the URL of a server that never ends an answer unless nothing follows, and the heads of its requests."""
    ended, heads = threading.Event(), list[bytes]()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            heads.append(self.request.recv(2**16))
            first, more = get if heads[-1].startswith(b"GET") else post
            with suppress(OSError):
                self.request.sendall(first)
                while more and not ended.wait(0.0 if len(more) > 100 else 0.02):
                    self.request.sendall(more)

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Threads(("127.0.0.1", 0), Handler) as tcp_server:
        thread = threading.Thread(target=tcp_server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{tcp_server.server_address[1]}", heads
        ended.set()
        tcp_server.shutdown()
        thread.join()


ENDLESS: dict[str, Sent] = {
    "body that drips": (OK + b"\r\n", b" "),
    "error that drips": (b"HTTP/1.1 500 No\r\n\r\n", b" "),
    "endless line": (b"HTTP/1.1 ", b"2"),
    "endless head": (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "silence": (b"", b""),
}


@skip_unless_installed("corenlp")
@pytest.mark.parametrize("answer", ENDLESS)
def test_an_answer_of_corenlp_ends_in_time(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = ENDLESS[answer]
    monkeypatch.setattr(own_parsers, "LIVE_TIMEOUT", 2.0)
    with start_endless_server((LIVE, b""), sent) as (url, _):
        parser = load_parser(f"corenlp:{url}?timeout=1")
        with pytest.raises(TimeoutError if sent[1] else ParserError, match=r"took over 1 seconds|no CoreNLP server"):
            parser.parse_text("Men ran.")
    if not sent[0].endswith(b"\r\n\r\n"):  # else the head is complete
        with start_endless_server(sent, (b"", b"")) as (url, _), pytest.raises(ParserError, match="no CoreNLP server"):
            load_parser(f"corenlp:{url}")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("localhost:9", "localhost:9"),
        ("http://user:secret@localhost:99999", "localhost:99999"),
        ("http://user:se/cret@localhost:9", "localhost:9"),
        ("http://user:p\u20acsecret@localhost:9", "localhost:9"),
    ],
)
def test_unreachable_corenlp_is_named_without_password(url: str, shown: str) -> None:
    with pytest.raises(ParserError, match=f"^no CoreNLP server answers at (http://)?{shown}; ") as caught:
        load_parser(f"corenlp:{url}")
    assert "cret" not in str(caught.value)


@skip_unless_installed("corenlp")
def test_only_the_head_of_the_first_answer_is_read() -> None:
    with start_endless_server((OK + b"\r\n", b"a" * 2**20), (LIVE, b"")) as (url, _):
        tracemalloc.start()
        try:
            load_parser(f"corenlp:{url}")
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()


@skip_unless_installed("corenlp")
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_redirect_of_corenlp_is_followed(status: int, method: str) -> None:
    with start_endless_server((LIVE, b""), (LIVE, b"")) as (target, heads):
        redirect = (f"HTTP/1.1 {status} x\r\nLocation: {target}/x\r\nContent-Length: 0\r\n\r\n".encode(), b"")
        live = (LIVE, b"")
        with (
            start_endless_server(redirect if method == "GET" else live, redirect) as (url, _),
            pytest.raises(ParserError, match=f"redirects to {target}/x, and redirects are not followed"),
        ):
            load_parser(f"corenlp:{url}").parse_text("A secret text.")
        assert not heads


@skip_unless_installed("corenlp")
def test_corenlp_gets_no_password_but_the_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login u password hidden\ndefault login u password hidden\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    refusal = (b"HTTP/1.1 401 dTpw\r\nContent-Length: 4\r\n\r\ndTpw", b"")
    with start_endless_server((LIVE, b""), refusal) as (url, heads):
        with pytest.raises(ValueError, match="the server answers 401 Unauthorized: dTpw"):
            load_parser(f"corenlp:{url}").parse_text("Men ran.")
        assert len(heads) == 2
        assert not any(b"authorization" in head.lower() for head in heads)
        with pytest.raises(ValueError, match="the server answers 401 Unauthorized: the server's text is not shown"):
            load_parser(f"corenlp:{url.replace('//', '//u:p@')}").parse_text("Men ran.")
        assert all(b"authorization: Basic dTpw" in head for head in heads[2:])


TEXT = (
    "The old man saw the dogs. They did not see him.\n\n"
    'Dr. Mortimer came, and we (all of us) laughed. "Who," he asked, "are you?"\n'
)


@needs_shared
@skip_unless_installed("bllip")
def test_bllip_from_raw_text_to_rows(tmp_path: Path) -> None:
    model = unpack(BLLIP, tmp_path / "model")
    file = tmp_path / "a.txt"
    file.write_text(TEXT + "\n" + "word " * 450 + ".\n")
    recipe = make_recipe(
        reading=RecordFields(), parser=f"bllip:{model}?overparsing=5", punkt=PUNKT, max_tokens=1000, has_text=True
    )
    table = make_table([file], tmp_path / "out", recipe=recipe)
    rows = read_rows(table)
    assert [row["text"] for row in rows] == [
        "The old man saw the dogs .",
        "They did not see him .",
        "Dr. Mortimer came , and we ( all of us ) laughed .",
        '" Who , " he asked , " are you ? "',
    ]
    first, second, third, _ = rows
    assert first["top"] == "NP VP ."
    assert (first["subject_index"], first["object_index"], first["verb_index"]) == (2, 5, 3)
    assert (first["subject_number"], first["object_number"]) == ("sg", "pl")
    assert second["verb_tag"] == "VBD"
    assert third["clauses"] is not None
    ((line, message),) = read_failures(tmp_path / "out")
    assert line == 5
    assert message == "ValueError: Sentence is too long (451 tokens, must be under 399)"
    assert "overparsing': 5" in str(table.recipe["parser_made_of"])
    assert not load_parser(recipe.parser or "").splits
    other_model = tmp_path / "other"
    (other_model / "parser").mkdir(parents=True)
    (other_model / "parser" / "pSgT.txt").touch()
    with pytest.raises(ParserError, match=r"cannot load the model: .*only be loaded once"):
        load_parser(f"bllip:{other_model}")


@needs_shared
@skip_unless_installed("spacy")
@pytest.mark.filterwarnings("ignore")
def test_spacy_from_raw_text_to_rows(tmp_path: Path) -> None:
    model = unpack(SPACY, tmp_path / "model")
    file = tmp_path / "a.txt"
    file.write_text("The old man saw the dogs. They did not see him.\n")
    recipe = make_recipe(reading=RecordFields(), parser=f"spacy:{model}", punkt=None, max_tokens=100, has_text=True)
    table = make_table([file], tmp_path / "out", recipe=recipe)
    first, second = read_rows(table)
    assert first["text"] == "The old man saw the dogs ."
    assert (first["subject_index"], first["object_index"], first["verb_index"]) == (2, 5, 3)
    assert second["tags"] == ["PRP", "VBD", "RB", "VB", "PRP", "."]
    assert [row[name] for row in (first, second) for name in ("tree", "depth", "top", "clauses")] == [None] * 8
    assert not table.constituents
    urls = tmp_path / "a.lines"
    urls.write_text("He saw https://example.org/a?b=c, @sam and :-).\n")
    table = make_table([urls], tmp_path / "lines", recipe=recipe, format="lines")
    assert [row["text"] for row in read_rows(table)] == ["He saw https://example.org/a?b=c , @sam and :-) ."]
    lines = tmp_path / "a.tok"
    lines.write_text("He ran . She slept .\n")
    table = make_table([lines], tmp_path / "tokens", recipe=recipe)
    assert [row["length"] for row in read_rows(table)] == [6]


@skip_unless_installed("spacy")
@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_without_a_tagger(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ParserError, match="blank has no tagger, which gives the Penn tags"):
        load_parser(f"spacy:{tmp_path / 'blank'}")


def test_a_spec_reads_as_an_encoders() -> None:
    assert parse_spec("stanza:en?gpu=yes") == Spec("stanza", "en", (("gpu", "yes"),))
