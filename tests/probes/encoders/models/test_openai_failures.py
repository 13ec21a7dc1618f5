"""The OpenAI kind of endpoint, against a real server that fails, stalls and answers wrongly."""

import gzip
import re
import threading
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.encoders.embedding_server import Reply, Server, make_right_answer, start_server, vectors
from helpers.encoders.openai_client import SECRET, TEXTS, client

from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models import endpoints

pytestmark = pytest.mark.usefixtures("openai_environment")


# Failures that pass

PASSING: list[Reply] = [
    *(Reply({"error": {"message": "wait"}}, status) for status in (408, 409, 429, 500, 503, 529)),
    Reply(b"<html>bad gateway</html>", 502),
    Reply(reset=True),
    Reply(make_right_answer({"model": "m", "input": TEXTS}), cut=10),
    Reply(status=429, headers={"Retry-After": "0"}),
    *(
        Reply(status=429, headers={"Retry-After": text})
        for text in ("soon", "Wed, 21 Oct 99999 07:28:00 GMT", "-1", "9" * 5000)
    ),
    Reply(b"not gzip", headers={"Content-Encoding": "gzip"}),
]


@pytest.mark.parametrize("reply", PASSING, ids=str)
def test_failure_that_passes(server: Server, reply: Reply) -> None:
    server.replies = [reply, reply]
    np.testing.assert_array_equal(client(server).encode(TEXTS), vectors(TEXTS))
    assert len(server.requests) == 3


def test_each_further_try_is_told_at_once_and_once(
    server: Server, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    server.replies = [Reply({"error": f"busy, {SECRET}"}, 503)] * 4
    client(server, "batch=1&concurrency=2&retries=6").encode(["a", "b"])
    warning = [record.getMessage() for record in caplog.records]
    tries = re.findall(r"; try (\d) of 7 follows", "\n".join(warning))
    assert len(warning) == len(tries) == len(set(tries)) <= len(waits) == 4
    assert re.fullmatch(
        r"encoder openai:\S+: the server answers 503 Service Unavailable: "
        r"the server's text is not shown, since it could repeat the key; "
        r"try 2 of 7 follows in \d\.\d s",
        min(warning),
    )


def test_stall_is_given_up_and_tried_again(server: Server) -> None:
    server.replies = [Reply(stall=True)]
    np.testing.assert_array_equal(client(server, "timeout=0.2").encode(TEXTS), vectors(TEXTS))
    assert len(server.requests) == 2


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that clients would wait before retries; the test does not wait."""
    requested_seconds: list[float] = []

    class Event(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            requested_seconds.append(timeout or 0.0)
            return self.is_set()

    monkeypatch.setattr(endpoints, "threading", SimpleNamespace(Event=Event))
    return requested_seconds


def format_date_in_two_seconds() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)


@pytest.mark.parametrize("after", [lambda: "1", format_date_in_two_seconds], ids=["seconds", "date"])
def test_retry_after_is_honoured(server: Server, waits: list[float], after: Callable[[], str]) -> None:
    encoder = client(server)
    server.replies = [Reply(status=429, headers={"Retry-After": after()})]
    encoder.encode(TEXTS)
    (wait,) = waits
    assert 0.5 < wait <= 2  # a date has whole seconds


def test_back_off_doubles(server: Server, waits: list[float]) -> None:
    server.replies = [Reply(status=503)] * 3
    client(server, "backoff=0.1").encode(TEXTS)
    assert len(waits) == 3
    for wait, full_wait in zip(waits, (0.1, 0.2, 0.4), strict=True):
        assert full_wait / 2 <= wait <= full_wait


def test_longest_wait_is_bounded(server: Server, waits: list[float]) -> None:
    server.replies = [Reply(status=500)] * 3
    client(server, "backoff=1000").encode(TEXTS)
    assert len(waits) == 3
    assert max(waits) <= endpoints.MAX_WAIT


# Failures that last

LASTING: list[tuple[Reply, str, int]] = [
    (Reply({"error": {"message": "no model m"}}, 404), "answers 404 Not Found: no model m", 1),
    (Reply({"error": "bad\ninput"}, 400), "answers 400 Bad Request: bad input", 1),
    (Reply({"detail": "no"}, 422), "no", 1),
    (Reply(b"", 401), "answers 401 Unauthorized", 1),
    (Reply(status=500), "answers 500 Internal Server Error (after 3 tries)", 3),
    (Reply(status=429, headers={"Retry-After": "86400"}), "answers 429 Too Many Requests", 1),
    (Reply(reset=True), "(after 3 tries)", 3),
    (Reply(make_right_answer({"model": "m", "input": TEXTS}), cut=9), "(after 3 tries)", 3),
    (Reply(status=307, headers={"Location": "http://127.0.0.1:9/v1"}),
     "redirects to http://127.0.0.1:9/v1, and redirects are not followed: use that address", 1),
    (Reply(status=301), "answers 301 Moved Permanently", 1),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "message", "tries"), LASTING)
def test_failure_that_lasts(server: Server, reply: Reply, message: str, tries: int) -> None:
    server.replies = [reply] * 9
    with pytest.raises(EncoderError) as caught:
        client(server, "retries=2", has_key=False).encode(TEXTS)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == tries


def test_server_that_never_answers(server: Server) -> None:
    server.replies = [Reply(stall=True)] * 9
    with pytest.raises(EncoderError, match=r"did not finish its answer within 0.1 seconds \(after 2 tries\)"):
        client(server, "timeout=0.1&retries=1").encode(TEXTS)


@pytest.mark.parametrize("reply", [Reply(b" " * 60, drip=0.05), Reply(endless_head=True)], ids=["body", "head"])
def test_server_that_never_finishes(server: Server, reply: Reply) -> None:
    server.replies = [reply] * 9
    with pytest.raises(EncoderError, match=r"did not finish its answer within 0.3 seconds \(after 2 tries\)"):
        client(server, "timeout=0.3&retries=1").encode(TEXTS)


ZEROS = gzip.compress(b" " * 50_000_000)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(ZEROS, headers={"Content-Encoding": "gzip"}),
        Reply(gzip.compress(ZEROS), headers={"Content-Encoding": "gzip, gzip"}),
        Reply(make_right_answer({"model": "m", "input": TEXTS, "dimensions": 32}) | {"more": "x" * 9_000}),
    ],
    ids=["packed", "packed twice", "plain"],
)
def test_longer_answer_than_the_request_can_need(server: Server, monkeypatch: pytest.MonkeyPatch, reply: Reply) -> None:
    monkeypatch.setattr(endpoints, "SPARE_BYTES", 1000)
    server.replies = [reply]
    tracemalloc.start()
    try:
        with pytest.raises(EncoderError, match="answer is longer than 6,120 bytes, the maximum for this request"):
            client(server, "dim=32").encode(TEXTS)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert len(server.requests) == 1


def test_long_refusal_is_read_in_part(server: Server) -> None:
    server.replies = [Reply(ZEROS, status=400, headers={"Content-Encoding": "gzip"})]
    with pytest.raises(EncoderError, match="answers 400 Bad Request"):
        client(server).encode(TEXTS)


def test_answers_share_a_connection(server: Server) -> None:
    encoder = client(server, "batch=1&concurrency=1")
    encoder.encode(TEXTS)
    pool = encoder.endpoint.pool.connection_from_url(server.url)
    assert (pool.num_connections, pool.num_requests) == (1, len(TEXTS))


def test_nobody_there() -> None:
    with start_server() as server:
        pass
    with pytest.raises(EncoderError, match=r"/v1/embeddings: .*refused.* \(after 2 tries\)"):
        client(server, "retries=1").encode(TEXTS)


def test_unknown_host_is_not_tried_again(waits: list[float]) -> None:
    server = Server("http://no-such-host.invalid/v1")
    with pytest.raises(EncoderError, match="no-such-host"):
        client(server, "backoff=9").encode(TEXTS)
    assert waits == []


@pytest.mark.parametrize("first", [503, 400])
def test_the_others_stop_after_an_error(server: Server, first: int) -> None:
    """Whichever comes first: one waits to try again, the other ends it all."""
    server.replies = [Reply(status=first), Reply(status=903 - first)]
    with pytest.raises(EncoderError, match="400"):
        client(server, "batch=1&concurrency=2&backoff=2").encode(["a", "b"])
    assert len(server.requests) <= 2  # it did not wait to try again
    time.sleep(2.0)
    assert len(server.requests) == 2


def rows(*embeddings: Any, **more: Any) -> dict[str, Any]:
    return {"data": [{"index": n, "embedding": e, **more} for n, e in enumerate(embeddings)]}


NOT_NUMBERS: list[tuple[Any, Any]] = [
    ([1.0], None), (1.0, 2.0), (["1"], ["2"]), ("AACAPw==", "AACAPw=="), ([True, 0.5], [1, 2]), ([None], [1.0]),
    ([[1.0]], [[2.0]]),
]  # fmt: skip

WRONG: list[tuple[Any, str]] = [
    (b"<html>", "it has no list of embeddings: <html>"),
    (b"", "it has no list of embeddings"),
    (b"[" * 100_000, "it has too many lists and objects for 2 sentences"),
    ({"object": "list"}, "it has no list of embeddings"),
    ({"data": None}, "it has no list of embeddings"),
    ({"data": "ab"}, "it has no list of embeddings"),
    ({"data": [1, 2]}, "it has no list of embeddings"),
    ([], "it has no list of embeddings"),
    ({"data": [{"index": 0}, {"index": 1}]}, "it has no list of embeddings"),
    (rows([1.0]), "it has 1 embeddings for 2 sentences"),
    (rows([1.0], [2.0], [3.0]), "it has 3 embeddings for 2 sentences"),
    (rows([1.0], [2.0], index=0), "its indices are not the numbers from 0 to 1"),
    (rows([1.0], [2.0], index=[]), "it has no list of embeddings"),
    (rows([1.0], [2.0], index=None), "its indices are not the numbers from 0 to 1"),
    (rows([1.0], [2.0, 3.0]), "its embeddings have different widths, from 1 to 2"),
    (rows([], []), "its embeddings have width 0, not 1 to 32768"),
    (rows([0.5] * 33_000, [0.5] * 33_000), "its embeddings have width 33000, not 1 to 32768"),
    *((rows(*embeddings), "an embedding is not a list of numbers") for embeddings in NOT_NUMBERS),
    (rows([10**400], [1.0]), "too large"),
    ({"data": [{"index": False, "embedding": [1.0]}, {"index": True, "embedding": [2.0]}]}, "its indices are not"),
    ({"data": [{"index": 0.0, "embedding": [1.0]}, {"index": 1.0, "embedding": [2.0]}]}, "its indices are not"),
    (b'{"data": [' + b"[]," * 2_000 + b"[]]}", "it has too many lists and objects for 2 sentences"),
    (rows([1.0], [float("nan")]), "not finite for the sentence 'b'"),
    (rows([float("inf")], [1.0]), "not finite for the sentence 'a'"),
    (rows([1e39], [1.0]), "not finite for the sentence 'a'"),
]


@pytest.mark.parametrize(("body", "message"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_wrong_answer(server: Server, body: Any, message: str) -> None:
    server.replies = [Reply(body)]
    with pytest.raises(EncoderError) as caught:
        client(server, has_key=False).encode(["a", "b"])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 1


def test_memory_is_in_proportion_to_a_wrong_answer(server: Server) -> None:
    """NumPy would store every number as a text as wide as the longest one."""
    server.replies = [Reply(rows(["x" * 10_000, *[0.5] * 999], *[[0.5] * 1000] * 55))]
    tracemalloc.start()
    try:
        with pytest.raises(EncoderError, match="not a list of numbers"):
            client(server).encode(list(map(str, range(56))))
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_another_width_in_a_later_request(server: Server) -> None:
    server.make = lambda content: make_right_answer({**content, "dimensions": 2 + len(content["input"])})
    with pytest.raises(EncoderError, match=r"vectors of different widths, from 3 to 4"):
        client(server, "batch=2").encode(["a", "b", "c"])
