"""Send JSON to an HTTP endpoint by POST, with retries.

The API key is read from the environment for each request, and is sent only in the request's header.
:meth:`Endpoint.make_error` removes the key from every error message.

The encoder ``openai:``, a model behind an HTTP endpoint that follows the OpenAI embeddings API.
"""

import json
import logging
import os
import random
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any
from urllib.request import getproxies, proxy_bypass

import numpy as np
import urllib3
from numpy.typing import NDArray
from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt, wait_exponential
from urllib3 import exceptions
from urllib3.util import Retry, parse_url

from sentprobe.common.errors import MAX_QUOTED, UsageError
from sentprobe.common.processes import call_in_time
from sentprobe.common.specs import Spec, read_options
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.probes.encoders.encoder import EncoderError, Vectors, check_vectors, digest

log = logging.getLogger(__name__)

RETRIED_STATUSES = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 after which a request is retried. All statuses from 500 on are retried, too."""
MAX_WAIT = 60.0
"""Maximum of the exponential backoff, in seconds."""
MAX_RETRY_AFTER = 600.0
"""Longest accepted ``Retry-After``, in seconds; if the server asks for a longer wait, the request fails."""
CONNECT_TIMEOUT = 10.0

MIN_SECRET = 8
"""Number of characters from which on a part of the API key is removed from messages."""
_PART_BYTES = 2**16
"""Number of bytes of a response body that are read at a time."""
_MAX_REFUSAL_BYTES = 2**16
"""Maximum number of bytes that are read from the body of a response with an error status."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """The reason why a request failed, and whether it may be retried."""

    text: str
    may_retry: bool
    retry_after: float = 0.0


def _get_last_failure(state: RetryCallState) -> _Failure:
    outcome: Any = state.outcome  # only failed attempts are retried
    failure: _Failure = outcome.result()
    return failure


def _make_final_failure(state: RetryCallState) -> _Failure:
    failure = _get_last_failure(state)
    return replace(failure, text=f"{failure.text} (after {state.attempt_number} tries)")


@dataclass(frozen=True, slots=True)
class RequestGroup:
    """Concurrent requests that stop together. If several requests fail at the first try, only one logs a warning."""

    stop: threading.Event
    _warned_attempts: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record_failure(self, attempt: int) -> bool:
        """Record that a request failed at try *attempt*; return whether it is the first request to fail at this try."""
        with self._lock:
            is_first = attempt not in self._warned_attempts
            self._warned_attempts.add(attempt)
        return is_first


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An HTTP endpoint: its address, API key, timeout and retries."""

    url: str
    owner: str
    """The name of the encoder in error messages."""
    key_env: str
    """The environment variable with the API key; empty: no key is sent."""
    timeout: float
    """Maximum number of seconds for the whole answer."""
    retries: int
    backoff: float
    """Seconds to wait before the first retry; doubled for each further retry."""
    pool: urllib3.PoolManager = field(repr=False, compare=False)

    def post(self, content: Mapping[str, object], *, group: RequestGroup, max_bytes: int) -> bytes:
        """Send JSON, with retries; return the response body. Raises EncoderError, also for a body over *max_bytes*."""
        tries = Retrying(
            retry=retry_if_result(lambda outcome: isinstance(outcome, _Failure) and outcome.may_retry),
            stop=stop_after_attempt(self.retries + 1),
            wait=self._compute_wait,
            before_sleep=partial(self._warn, group=group),
            sleep=partial(self._sleep, group=group),
            retry_error_callback=_make_final_failure,
        )
        outcome = tries(self._request_in_time, json.dumps(content).encode(), max_bytes)
        if isinstance(outcome, bytes):
            return outcome
        raise self.make_error(outcome.text)

    def make_error(self, text: str) -> EncoderError:
        """Return an error with the encoder's name and *text*, from which the API key is removed."""
        # Not its parts: a key such as "sk-no-key-required" has words of our own texts in it.
        key = read_key(self.key_env)
        return EncoderError(f"encoder {self.owner}: {text.replace(key, '[key]') if key else text}")

    def _warn(self, state: RetryCallState, *, group: RequestGroup) -> None:
        if group.record_failure(state.attempt_number):
            tries = f"try {state.attempt_number + 1} of {self.retries + 1}"
            text = f"{_get_last_failure(state).text}; {tries} follows in {state.upcoming_sleep:.1f} s"
            log.warning("%s", self.make_error(text))

    def _sleep(self, seconds: float, *, group: RequestGroup) -> None:
        if group.stop.wait(seconds):
            raise self.make_error("stopped")

    def _compute_wait(self, state: RetryCallState) -> float:
        """Return the seconds to wait: 50 to 100% of the backoff, at random, but at least ``Retry-After``."""
        backoff = wait_exponential(multiplier=self.backoff, max=MAX_WAIT)(state)
        jitter = random.SystemRandom().uniform(0.5, 1.0)
        return max(_get_last_failure(state).retry_after, backoff * jitter)

    def _request_in_time(self, body: bytes, max_bytes: int) -> bytes | _Failure:
        """Make one request; return a failure after the timeout, even while a network call blocks."""
        key, limit = read_key(self.key_env), CONNECT_TIMEOUT + self.timeout
        try:
            return call_in_time(partial(self._request_once, body, key, max_bytes), limit)
        except TimeoutError:
            return self._make_slow_failure(limit)

    def _request_once(self, body: bytes, key: str, max_bytes: int) -> bytes | _Failure:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        deadline = time.monotonic() + self.timeout
        try:
            answer = self.pool.request(
                "POST",
                self.url,
                body=body,
                headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}),
                retries=False,
                redirect=False,  # the key must not reach another host
                timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=self.timeout),
                preload_content=False,
            )
            with answer:
                if answer.status != 200:
                    start = _read_body(answer, max_bytes=_MAX_REFUSAL_BYTES, deadline=deadline)
                    return _make_refusal(answer, start, key=key)
                content = _read_body(answer, max_bytes=max_bytes + 1, deadline=deadline)
        except exceptions.ReadTimeoutError:
            return _Failure(f"{self.url} sent nothing for {self.timeout:g} seconds", may_retry=True)
        except exceptions.HTTPError as error:
            may_retry = not isinstance(error, (exceptions.SSLError, exceptions.NameResolutionError))
            return _Failure(f"{self.url}: {error}", may_retry)
        except TimeoutError:
            return self._make_slow_failure(self.timeout)
        if len(content) > max_bytes:
            text = f"the server's answer is longer than {max_bytes:,} bytes, the maximum for this request"
            return _Failure(text, may_retry=False)
        return content

    def _make_slow_failure(self, limit: float) -> _Failure:
        return _Failure(f"{self.url} did not finish its answer within {limit:g} seconds", may_retry=True)


def _read_body(answer: urllib3.BaseHTTPResponse, *, max_bytes: int, deadline: float) -> bytes:
    """Return at most *max_bytes* of a response's decompressed body. Raises TimeoutError after *deadline*."""
    body = bytearray()
    while len(body) < max_bytes:
        part = answer.read1(min(_PART_BYTES, max_bytes - len(body)))
        if not part:
            answer.release_conn()
            break
        body += part
        if time.monotonic() > deadline:
            raise TimeoutError
    return bytes(body)


def read_key(variable: str) -> str:
    """Return the API key in an environment variable, or an empty text. Raises EncoderError if it is not ASCII."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EncoderError(
            f"the environment variable {variable} does not hold a key: not all its characters are printable ASCII"
        )
    return key


def make_connection_pool(url: str, *, size: int) -> urllib3.PoolManager:
    """Return a pool of *size* connections to *url*, through the environment's proxy, if any. Raises EncoderError."""
    parts = parse_url(url)
    proxy = getproxies().get(parts.scheme or "")
    if not proxy or proxy_bypass(parts.host or ""):
        return urllib3.PoolManager(maxsize=size)
    try:
        return urllib3.ProxyManager(proxy, maxsize=size)
    except exceptions.HTTPError:
        raise EncoderError(f"the proxy that the environment names for {parts.scheme} is not an HTTP proxy") from None


def hide_key(text: str, *, key: str) -> str:
    """Return a server's text with ``[key]`` for the API key, and for each part of it from MIN_SECRET characters on.

    An answer may hold a part only, since it is cut, or the key with blanks or control characters in it.

    >>> hide_key("refused: sk-123 456789, sk-12345", key="sk-123456789")
    'refused: [key], [key]'
    """
    squeezed_key = "".join(key.split())
    if len(squeezed_key) < MIN_SECRET:
        return text.replace(key, "[key]") if key else text
    parts = {squeezed_key[start : start + MIN_SECRET] for start in range(len(squeezed_key) - MIN_SECRET + 1)}
    places = [place for place, sign in enumerate(text) if sign.isprintable() and not sign.isspace()]
    visible = "".join(text[place] for place in places)
    pieces, shown = [], 0  # what precedes the place *shown* is in *pieces*
    for start in range(len(visible) - MIN_SECRET + 1):
        if visible[start : start + MIN_SECRET] in parts:
            first, end = places[start], places[start + MIN_SECRET - 1] + 1
            if first >= shown:
                pieces += [text[shown:first], "[key]"]
            shown = max(shown, end)
    return "".join([*pieces, text[shown:]])


def extract_server_message(body: bytes, *, key: str) -> str:
    """Return the error message in a server's response as one short line without the API key.

    The key is removed before the text is shortened, so that no part of the key remains.

    >>> extract_server_message(b'{"error": {"message": "no such model", "code": 7}}', key="")
    'no such model'
    """
    text = body[:_MAX_REFUSAL_BYTES].decode(errors="replace")
    try:
        value = parse_json(text)
    except BadSyntaxError:
        value = text
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and name in value:
            value = value[name]
    return hide_key(" ".join(str(value).split()), key=key)[:MAX_QUOTED]


def _make_refusal(answer: urllib3.BaseHTTPResponse, body: bytes, *, key: str) -> _Failure:
    location = answer.headers.get("Location")
    if location and 300 <= answer.status < 400:
        address = hide_key(location, key=key)
        text = f"the server redirects to {address}, and redirects are not followed: use that address as base_url"
        return _Failure(text, may_retry=False)
    text = f"the server answers {answer.status} {hide_key(answer.reason or '', key=key)}".rstrip()
    server_message = extract_server_message(body, key=key)
    try:
        retry_after = Retry().get_retry_after(answer) or 0.0
    except (exceptions.HTTPError, ValueError, OverflowError):  # neither seconds nor a date
        retry_after = 0.0
    may_retry = answer.status in RETRIED_STATUSES or answer.status >= 500
    return _Failure(
        f"{text}: {server_message}" if server_message else text,
        may_retry=may_retry and retry_after <= MAX_RETRY_AFTER,
        retry_after=retry_after,
    )


OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"

MAX_WIDTH = 2**15
"""Maximum width of the vectors that a server may return if no width is requested."""
NUMBER_BYTES = 32
"""Maximum size, in bytes, of a number in JSON with the white space around it."""
MAX_VALUES = 10
"""Maximum number of lists and objects in an answer for each sentence; 100 sentences more are allowed for."""
SPARE_BYTES = 2**23
"""Bytes that an answer may have beside the expected numbers: JSON keys, and vectors wider than requested."""


@dataclass(frozen=True, slots=True)
class OpenAIOptions:
    """The options of the encoder ``openai:``."""

    base_url: str = OPENAI_URL
    """The server's address; requests go to ``base_url/embeddings``."""
    dim: int = 0
    """Requested width of the vectors (``dimensions`` in the API); 0: the model's default."""
    batch: int = 64
    concurrency: int = 4
    timeout: float = 60.0
    """Maximum number of seconds for an answer."""
    retries: int = 6
    """Number of retries after the first attempt."""
    backoff: float = 0.5
    """Seconds to wait before the first retry; doubled for each further retry."""
    key_env: str = ""
    """The environment variable with the API key; empty: OPENAI_API_KEY for OpenAI's server, no key for others."""


@dataclass(frozen=True, slots=True)
class OpenAIEncoder:
    """An encoder that requests vectors from an HTTP endpoint."""

    name: str
    fingerprint: str
    model: str
    options: OpenAIOptions
    endpoint: Endpoint = field(repr=False)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32, from concurrent requests. Raises EncoderError."""
        size = self.options.batch
        chunks = [sentences[start : start + size] for start in range(0, len(sentences), size)]
        group = RequestGroup(threading.Event())
        with ThreadPool(max(min(len(chunks), self.options.concurrency), 1)) as pool:
            try:
                # Results are taken in the order of completion, so that the first error ends all requests.
                vectors_by_chunk = dict(pool.imap_unordered(partial(self._encode, group=group), enumerate(chunks)))
            finally:  # also on Ctrl-C
                group.stop.set()
        parts = [vectors_by_chunk[number] for number in range(len(chunks))]
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise self.endpoint.make_error(f"the server returned vectors of different widths: {widths}")
        return np.concatenate(parts)

    def _encode(self, chunk: tuple[int, Sequence[str]], *, group: RequestGroup) -> tuple[int, Vectors]:
        """Request the vectors of a numbered chunk of sentences; return its number and vectors, (n, dim) float32."""
        number, sentences = chunk
        dim = self.options.dim
        request: dict[str, object] = {"model": self.model, "input": list(sentences), "encoding_format": "float"}
        max_bytes = SPARE_BYTES + len(sentences) * (dim or MAX_WIDTH) * NUMBER_BYTES
        answer = self.endpoint.post(request | ({"dimensions": dim} if dim else {}), group=group, max_bytes=max_bytes)
        vectors = check_vectors(self._parse_array(answer, count=len(sentences)), sentences=sentences, encoder=self.name)
        if dim and vectors.shape[1] != dim:
            raise self.endpoint.make_error(f"the server returned vectors of width {vectors.shape[1]}, not dim={dim}")
        return number, vectors

    def _parse_array(self, answer: bytes, *, count: int) -> NDArray[Any]:
        try:
            rows = _parse_rows(answer, count=count, key=read_key(self.endpoint.key_env))
            _check_rows(rows, max_width=max(self.options.dim, MAX_WIDTH))
            return np.array(rows, dtype=np.float64)
        except (ValueError, OverflowError) as error:
            problem = str(error)
        # Raised outside the handler: a traceback would show the first error, which may quote the key.
        raise self.endpoint.make_error(f"the server's answer is not as expected: {problem}")


def load_openai(spec: Spec) -> OpenAIEncoder:
    """Return the encoder of a spec ``openai:MODEL``, without a request yet. Raises UsageError or EncoderError."""
    options = read_options(spec, OpenAIOptions())
    _check_options(options)
    url = options.base_url.rstrip("/")
    variable = find_key_variable(options)
    if variable and not read_key(variable):
        raise EncoderError(f"an encoder openai:... needs a key in the environment variable {variable}")
    return OpenAIEncoder(
        name=spec.name,
        fingerprint=digest("openai", url, spec.argument, options.dim),
        model=spec.argument,
        options=options,
        endpoint=Endpoint(
            url=f"{url}/embeddings",
            owner=str(spec),
            key_env=variable,
            timeout=options.timeout,
            retries=options.retries,
            backoff=options.backoff,
            pool=make_connection_pool(url, size=options.concurrency),
        ),
    )


def find_key_variable(options: OpenAIOptions) -> str:
    """Return the environment variable whose value is sent as the key; empty if no key is sent."""
    return options.key_env or (OPENAI_KEY_VARIABLE if _is_openai_host(options.base_url.rstrip("/")) else "")


def _is_openai_host(url: str) -> bool:
    """Return whether an address is OpenAI's. By default, OPENAI_API_KEY is sent to no other address.

    >>> _is_openai_host(OPENAI_URL), _is_openai_host("http://localhost:8000/v1")
    (True, False)
    """
    try:
        parts = parse_url(url)
    except exceptions.LocationParseError:
        return False
    return parts.scheme == "https" and f".{parts.host}".endswith(".api.openai.com")


def _check_options(options: OpenAIOptions) -> None:
    if options.key_env and not re.fullmatch(r"\w*_(KEY|TOKEN)", options.key_env, re.ASCII):
        raise UsageError(
            f"openai: option key_env={options.key_env}: the name of a variable that ends in _KEY or _TOKEN is expected"
        )
    for name in ("timeout", "backoff"):
        if getattr(options, name) <= 0:
            raise UsageError(f"openai: option {name}={getattr(options, name):g}: must be above 0")
    try:
        url = parse_url(options.base_url)
    except exceptions.LocationParseError:
        url = parse_url("")
    if url.auth:
        raise UsageError("openai: option base_url contains a password, which results would show")
    if url.scheme not in {"http", "https"} or not url.host or url.query or url.fragment:
        raise UsageError(
            f"openai: option base_url={options.base_url}: an address is expected to which /embeddings "
            "can be appended, such as http://localhost:8000/v1"
        )


def _check_rows(rows: Sequence[object], *, max_width: int) -> None:
    """Raise ValueError unless each row is a list of numbers, of one width from 1 to *max_width*.

    NumPy would make texts of all numbers if one of them is a text, each as wide as the longest.
    """
    widths = set()
    for row in rows:
        if not isinstance(row, list) or not {*map(type, row)} <= {int, float}:
            raise ValueError("an embedding is not a list of numbers")
        widths.add(len(row))
    if len(widths) > 1:
        raise ValueError(f"its embeddings have different widths: {sorted(widths)}")
    if not 1 <= max(widths) <= max_width:
        raise ValueError(f"its embeddings have width {max(widths)}, not 1 to {max_width}")


def _parse_rows(body: bytes, *, count: int, key: str) -> list[object]:
    """Return the embeddings in an answer ``{"data": [{"index": 0, "embedding": [0.1, ...]}, ...]}``, by index."""
    # An answer of many empty lists would take a hundred times its size once it is parsed.
    if body.count(b"[") + body.count(b"{") > MAX_VALUES * (count + 100):
        raise ValueError(f"it has too many lists and objects for {count} sentences")
    try:
        data = parse_json(body)["data"]
        rows = {entry.get("index", number): entry["embedding"] for number, entry in enumerate(data)}
    except (BadSyntaxError, KeyError, TypeError, AttributeError):
        server_message = extract_server_message(body, key=key)[:80]
        raise ValueError(f"it has no list of embeddings: {server_message!r}") from None
    if len(data) != count:
        raise ValueError(f"it has {len(data)} embeddings for {count} sentences")
    if set(rows) != set(range(count)) or {*map(type, rows)} != {int}:
        raise ValueError(f"its indices are not the numbers from 0 to {count - 1}")
    return [rows[index] for index in range(count)]
