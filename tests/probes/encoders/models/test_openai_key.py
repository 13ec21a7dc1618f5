"""The key of an OpenAI kind of endpoint: in the header, and nowhere else."""

import base64
import codecs
import json
import logging
import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from helpers.encoders.embedding_server import Reply, Server, start_server
from helpers.encoders.openai_client import SECRET, TEXTS, client

from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models.endpoints import load_openai, read_key

pytestmark = pytest.mark.usefixtures("openai_environment")


def encode_key(key: str) -> list[str]:
    """Return the key in the forms in which a server may repeat it."""
    raw = key.encode()
    return [
        key, key[:12], key[5:19], key.upper(), key.swapcase(), key[::-1], key[1:] + key[0],
        " ".join(key), "-".join(key), "\u200b".join(key), "\x1b".join(key), codecs.encode(key, "rot13"),
        " ".join(key[start : start + 7] for start in range(0, len(key), 7)),
        base64.b64encode(raw).decode(), base64.b32encode(raw).decode(), base64.b85encode(raw).decode(), raw.hex(),
        "".join(f"%{byte:02x}" for byte in raw), "".join(f"&#{byte};" for byte in raw),
        "".join(f"\\u{byte:04x}" for byte in raw), "".join(f"\\x{byte:02x}" for byte in raw),
        ",".join(map(str, raw)), str(int.from_bytes(raw)),
    ]  # fmt: skip


PLACES: dict[str, Callable[[str], bytes]] = {
    "message": lambda text: make_answer(401, json.dumps({"error": {"message": text}})),
    "code": lambda text: make_answer(400, json.dumps({"error": {"type": text, "code": text}})),
    "top": lambda text: make_answer(500, json.dumps({"type": text, "code": [text], text: text})),
    "text": lambda text: make_answer(503, text),
    "answer": lambda text: make_answer(200, text),
    "data": lambda text: make_answer(200, json.dumps({"data": text})),
    "index": lambda text: make_answer(200, json.dumps({"data": [{"index": text, "embedding": [1.0]}] * 5})),
    "embedding": lambda text: make_answer(200, json.dumps({"data": [{"embedding": [text]}] * 5})),
    "reason": lambda text: make_answer(401, "no", reason=text),
    "status": lambda text: f"HTTP/1.1 {text} {text}\r\n\r\n".encode(),
    "first line": lambda text: f"{text}\r\n\r\n".encode(),
    "location": lambda text: make_answer(302, "", Location=f"http://x.invalid/{text}"),
    "wait": lambda text: make_answer(429, "", **{"Retry-After": text}),
    "encoding": lambda text: make_answer(200, "x", **{"Content-Encoding": text}),
    "packed": lambda text: make_answer(200, text, **{"Content-Encoding": "gzip"}),
    "chunks": lambda text: make_answer(200, f"{text}\r\n", **{"Transfer-Encoding": "chunked"}),
    "length": lambda text: make_answer(200, "", **{"Content-Length": f"{text}, 5"}),
    "header": lambda text: f"HTTP/1.1 401 No\r\n{text}\r\nX: y\r\n\r\n".encode(),
    "many headers": lambda text: make_answer(401, "", **{f"{text}{number}": text for number in range(200)}),
}
"""Places of an answer in which a server may repeat the key."""


def make_answer(status: int, body: str, *, reason: str = "No", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "Connection: close", "", body]).encode()


@contextmanager
def start_raw_server(answers: Sequence[bytes]) -> Iterator[Server]:
    """Send each answer to one request, byte by byte as it is."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            head = b""
            while b"\r\n\r\n" not in head:
                head += self.request.recv(2**16)
            self.request.sendall(next(waiting))

    waiting = iter(answers)
    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        yield Server(f"http://127.0.0.1:{http.server_address[1]}/v1")
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("place", PLACES)
def test_no_form_of_the_key_is_shown(place: str, caplog: pytest.LogCaptureFixture) -> None:
    """The message is the same for each form of the key, but for the name of the error."""
    caplog.set_level(logging.INFO)
    forms = ["harmless", *encode_key(SECRET)]
    with start_raw_server([PLACES[place](form) for form in forms for _ in range(2)]) as server:
        encoder = client(server, "retries=1")
        for form in forms:
            caplog.clear()
            before = len(caplog.records)
            with pytest.raises(EncoderError) as caught:
                for _ in range(2):  # the first may be final
                    encoder.encode(TEXTS)
            shown = f"{caught.value} {caplog.text}".replace(server.url, "")
            assert form not in shown or form == "harmless"
            assert not any(SECRET[start : start + 4].lower() in shown.lower() for start in range(len(SECRET) - 3))
            assert len(caplog.records) - before <= 1
            chain = [caught.value, caught.value.__cause__, caught.value.__context__]
            assert not any(form in repr(error) for error in chain) or form == "harmless"


def test_the_reason_is_told_without_the_servers_text(server: Server) -> None:
    message = "the server's text is not shown, since it could repeat the key"
    for reply, text in [
        (Reply({"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_api_key"}}, 401),
         f"the server answers 401 Unauthorized (invalid_request_error, invalid_api_key): {message}"),
        (Reply({"error": {"message": "no", "code": "my_code"}}, 404), f"the server answers 404 Not Found: {message}"),
        (Reply(b"", 429), "the server answers 429 Too Many Requests (after"),
        (Reply(status=302, headers={"Location": "http://x.invalid/"}),
         f"the server redirects (302 Found), and redirects are not followed: {message}"),
        (Reply(b"no"), f"the server's answer is not as expected: it has no list of embeddings: {message}"),
        (Reply(b"{}", cut=1), "/v1/embeddings: ProtocolError: IncompleteRead (after"),
        (Reply(reset=True), "/v1/embeddings: ProtocolError: RemoteDisconnected (after"),
    ]:  # fmt: skip
        server.replies = [reply] * 9
        with pytest.raises(EncoderError) as caught:
            client(server, "retries=1").encode(TEXTS)
        assert text in str(caught.value)


def test_the_key_is_nowhere_but_in_the_header(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    encoder = client(server)
    encoder.encode(TEXTS)
    shown = repr(encoder) + str(encoder.name) + encoder.fingerprint + caplog.text
    assert SECRET not in shown
    assert all(request.key == f"Bearer {SECRET}" for request in server.requests)


def test_key_is_not_in_the_fingerprint(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    before = client(server).fingerprint
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    assert client(server).fingerprint == before


def test_redirect_to_another_host_does_not_get_the_key(server: Server) -> None:
    with start_server() as second:
        for status in (301, 302, 303, 307, 308):
            target = f"{second.url}/embeddings"
            server.replies = [Reply(status=status, headers={"Location": target})]
            with pytest.raises(EncoderError, match="not followed"):
                client(server).encode(TEXTS)
        assert not second.requests


def test_key_of_another_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f" {SECRET}2\n")
    client(server, "key_env=MY_KEY").encode(TEXTS)
    monkeypatch.delenv("OPENAI_API_KEY")
    client(server).encode(TEXTS)
    assert [request.key for request in server.requests] == [f"Bearer {SECRET}2", None]


def test_the_key_of_openai_goes_to_no_other_host(server: Server) -> None:
    plain = f"openai:m?base_url={server.url}"
    load_openai(parse_spec(plain)).encode(["a"])
    load_openai(parse_spec(f"{plain}&key_env=OPENAI_API_KEY")).encode(["a"])
    assert [request.key for request in server.requests] == [None, f"Bearer {SECRET}"]


@pytest.mark.parametrize(
    ("url", "has_key"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://API.OpenAI.com/v1/", True),
        ("http://api.openai.com/v1", False),  # where anybody on the way reads it
        ("https://api.openai.com.example.org/v1", False),
        ("https://example.org/api.openai.com", False),
        ("https://notapi.openai.com.evil/v1", False),
        ("http://localhost:8000/v1", False),
    ],
)
def test_who_is_openai(url: str, has_key: bool) -> None:
    encoder = load_openai(parse_spec(f"openai:m?base_url={url}"))
    assert bool(encoder.endpoint.key_env) is has_key


@pytest.mark.parametrize(
    ("spec", "variable"), [("openai:m", "OPENAI_API_KEY"), ("openai:m?base_url=http://x/v1&key_env=MY_KEY", "MY_KEY")]
)
def test_no_key(spec: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(EncoderError, match=f"needs a key in the environment variable {variable}$"):
        load_openai(parse_spec(spec))


@pytest.mark.parametrize("key", [f"{SECRET}\r\nHost: x", f"{SECRET}é"])
def test_key_that_no_header_may_have(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(EncoderError, match="OPENAI_API_KEY does not hold a key") as caught:
        read_key("OPENAI_API_KEY")
    assert SECRET not in str(caught.value)
