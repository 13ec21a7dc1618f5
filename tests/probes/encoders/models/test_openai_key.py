"""The key of an OpenAI kind of endpoint: in the header, and nowhere else."""

import logging

import pytest
from helpers.encoders.embedding_server import Reply, Server, start_server
from helpers.encoders.openai_client import SECRET, TEXTS, client

from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models.endpoints import hide_key, load_openai, read_key

pytestmark = pytest.mark.usefixtures("openai_environment")


def test_the_key_is_nowhere_but_in_the_header(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    encoder = client(server)
    echo = f"no: {SECRET} is wrong"
    answers: list[Reply] = [
        Reply({"error": {"message": echo}}, 401),
        Reply({"error": {"message": echo}}, 500),
        Reply(echo.encode(), 400),
        Reply(echo.encode()),
        Reply(b"x" * 190 + SECRET.encode(), 400),  # in the middle of which the text is cut
        Reply(b"x" * 70 + SECRET.encode()),
        Reply(b" " * (2**16 - 20) + SECRET.encode(), 400),  # of which the last five characters are not read
        Reply(b"no: " + " ".join(SECRET).encode() + b"!", 400),
        Reply(status=302, headers={"Location": f"http://x.invalid/?key={SECRET[:12]}"}),
        Reply(status=302, headers={"Location": f"http://x.invalid/?key={SECRET}"}),
    ]
    for reply in answers:
        server.replies = [reply] * 9
        with pytest.raises(EncoderError) as caught:
            client(server, "retries=1").encode(TEXTS)
        assert "[key]" in str(caught.value)
        chain = [caught.value, caught.value.__cause__, caught.value.__context__]
        assert not any(SECRET in repr(error) for error in chain)
        shown = "".join(str(caught.value).split())
        assert not any(SECRET[start : start + 8] in shown for start in range(len(SECRET) - 7))
    shown = repr(encoder) + str(encoder.name) + encoder.fingerprint + caplog.text
    assert SECRET not in shown
    assert all(request.key == f"Bearer {SECRET}" for request in server.requests)


@pytest.mark.parametrize("key", ["abc def ghi jkl", "my key", "k"])
def test_a_key_with_blanks_or_few_letters_is_hidden(key: str) -> None:
    assert hide_key(f"refused: {key}!", key=key).replace("[key]", "") in ("refused: !", "refused:!")


def test_words_of_a_key_stay_in_our_own_texts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-no-key-required")
    error = client(server).endpoint.make_error("the model is required; key sk-no-key-required")
    assert str(error).endswith("the model is required; key [key]")


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
