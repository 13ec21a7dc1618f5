"""The OpenAI kind of endpoint, against a real server: requests, options, interrupts."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from helpers.encoders.embedding_server import Reply, Server, make_right_answer, vectors
from helpers.encoders.openai_client import SECRET, TEXTS, client
from helpers.processes import wait_for
from helpers.strategies.probe_strategies import sentences
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.encoder import Encoder, EncoderError
from sentprobe.probes.encoders.models.endpoints import load_openai

pytestmark = pytest.mark.usefixtures("openai_environment")


# What is asked for, and what comes back


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(sentences, min_size=1, max_size=12), st.integers(1, 5), st.integers(1, 4))
def test_vectors_are_in_the_order_of_the_sentences(
    server: Server, texts: list[str], batch: int, concurrency: int
) -> None:
    server.requests.clear()
    server.make = lambda content: make_right_answer(content) | {"data": make_right_answer(content)["data"][::-1]}
    actual = client(server, f"batch={batch}&concurrency={concurrency}").encode(texts)
    assert actual.dtype == np.float32
    np.testing.assert_array_equal(actual, vectors(texts))
    requests = [request.content["input"] for request in server.requests]
    assert sorted(text for part in requests for text in part) == sorted(texts)
    assert {len(part) for part in requests} <= {batch, len(texts) % batch}


def test_request(server: Server) -> None:
    encoder = client(server)
    assert isinstance(encoder, Encoder)
    assert not server.requests  # none before it is needed
    encoder.encode(TEXTS)
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.key == f"Bearer {SECRET}"
    assert request.content == {"model": "m", "input": TEXTS, "encoding_format": "float"}


def test_dim_is_asked_for_and_checked(server: Server) -> None:
    np.testing.assert_array_equal(client(server, "dim=7").encode(TEXTS), vectors(TEXTS, 7))
    assert server.requests[0].content["dimensions"] == 7
    server.make = lambda content: make_right_answer({**content, "dimensions": 4})
    with pytest.raises(EncoderError, match="returned vectors of width 4, not dim=7"):
        client(server, "dim=7").encode(TEXTS)


def test_no_index_means_the_order_of_the_answer(server: Server) -> None:
    server.make = lambda content: {
        "data": [{"embedding": row["embedding"]} for row in make_right_answer(content)["data"]]
    }
    np.testing.assert_array_equal(client(server).encode(TEXTS), vectors(TEXTS))


def test_whole_numbers_are_numbers(server: Server) -> None:
    server.make = lambda _: {"data": [{"index": 0, "embedding": [1, 0]}]}
    assert client(server).encode(["a"]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_at_most_so_many_requests_at_a_time(server: Server, concurrency: int) -> None:
    server.pause = 0.03
    client(server, f"batch=1&concurrency={concurrency}").encode([f"w{n}" for n in range(9)])
    assert server.together == concurrency
    assert len(server.requests) == 9


def test_a_slash_at_the_end_of_the_address(server: Server) -> None:
    plain = client(server)
    server.url += "/"
    encoder = client(server)
    encoder.encode(TEXTS)
    assert server.requests[0].path == "/v1/embeddings"
    assert encoder.fingerprint == plain.fingerprint


def test_fingerprint(server: Server) -> None:
    second = replace(server, url="http://localhost:1/v1")
    test_clients = [
        client(server),
        client(server, "dim=2"),
        client(server, "dim=3"),
        client(second),
        client(server, model="n"),
    ]
    assert len({encoder.fingerprint for encoder in test_clients}) == len(test_clients)
    for option in ("batch=3", "concurrency=2", "timeout=9", "retries=2", "key_env=OPENAI_API_KEY"):
        assert client(server, option).fingerprint == test_clients[0].fingerprint


# The rest


REFUSED: list[tuple[str, str]] = [
    ("base_url=localhost:8000", "an address is expected to which /embeddings can be"),
    ("base_url=ftp://x/v1", "an address is expected"),
    ("base_url=http://", "an address is expected"),
    ("base_url=http://[::1/v1", "an address is expected"),
    ("base_url=http://x/v1?a=b", "an address is expected"),
    (f"base_url=http://me:{SECRET}@x/v1", "contains a password, which results would show"),
    ("timeout=0", "option timeout=0: must be above 0"),
    ("timeout=nan", "option timeout=nan: a number is expected"),
    ("backoff=-1", "option backoff=-1: must be above 0"),
    ("batch=0", "option batch=0: a whole number from 1 is expected"),
    (f"api_key={SECRET}", "openai has no option 'api_key'"),
]


@pytest.mark.parametrize(("option", "message"), REFUSED)
def test_refused_option(option: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_openai(parse_spec(f"openai:m?{option}"))
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_proxy_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    remote = Server("http://models.invalid/v1")
    client(remote).encode(TEXTS)
    assert server.requests[0].path == "http://models.invalid/v1/embeddings"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    client(server).encode(TEXTS)
    assert server.requests[1].path == "/v1/embeddings"
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(SentprobeError, match="is not an HTTP proxy"):
        client(remote)


STALLED = """
import sys
from sentprobe.probes.encoders.kinds import make_encoder
try:
    print("ready", flush=True)
    make_encoder(sys.argv[1], seed=0).encode(["a", "b", "c"])
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("reply", [Reply(stall=True), Reply(status=503)], ids=["stall", "back-off"])
def test_interrupt_stops_at_once(server: Server, reply: Reply) -> None:
    server.replies = [reply] * 9
    spec = f"openai:m?base_url={server.url}&batch=1&backoff=60"
    with subprocess.Popen(
        [sys.executable, "-c", STALLED, spec], stdout=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        wait_for(lambda: len(server.requests) == 3)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130  # it would wait for 30 seconds at least
