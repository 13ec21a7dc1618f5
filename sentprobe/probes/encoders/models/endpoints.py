"""Send JSON to an HTTP endpoint by POST, with retries.

The API key is read from the environment for each request, and is sent only in the request's header. No message quotes
a server to which a key was sent, since the server could repeat the key.

The encoder ``openai:``, a model behind an HTTP endpoint that follows the OpenAI embeddings API.
"""

import json
import logging
import os
import random
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
import urllib3
from numpy.typing import NDArray
from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt, wait_exponential
from urllib3 import exceptions
from urllib3.util import Retry, parse_url

from sentprobe.common.errors import UsageError
from sentprobe.common.http_requests import (
    Answer,
    describe_failure,
    describe_refusal,
    extract_server_message,
    make_connection_pool,
    send_in_time,
)
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
        outcome = tries(self._request, json.dumps(content).encode(), max_bytes)
        if isinstance(outcome, bytes):
            return outcome
        raise self.make_error(outcome.text)

    def make_error(self, text: str) -> EncoderError:
        """Return an error with the encoder's name and *text*."""
        return EncoderError(f"encoder {self.owner}: {text}")

    @property
    def has_key(self) -> bool:
        """Whether a key is sent, which a server may repeat in its answers."""
        return bool(read_key(self.key_env))

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

    def _request(self, body: bytes, max_bytes: int) -> bytes | _Failure:
        """Make one request; return the body of the answer."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := read_key(self.key_env):
            headers["Authorization"] = f"Bearer {key}"
        try:
            answer = send_in_time(
                self.pool, "POST", self.url, body=body, headers=headers, seconds=self.timeout, max_bytes=max_bytes
            )
        except exceptions.HTTPError as error:
            may_retry = not isinstance(error, (exceptions.SSLError, exceptions.NameResolutionError))
            return _Failure(f"{self.url}: {describe_failure(error, has_key=self.has_key)}", may_retry)
        except TimeoutError:
            return _Failure(f"{self.url} did not finish its answer within {self.timeout:g} seconds", may_retry=True)
        if answer.status != 200:
            return _make_refusal(answer, has_key=self.has_key)
        if len(answer.body) > max_bytes:
            text = f"the server's answer is longer than {max_bytes:,} bytes, the maximum for this request"
            return _Failure(text, may_retry=False)
        return answer.body


def read_key(variable: str) -> str:
    """Return the API key in an environment variable, or an empty text. Raises EncoderError if it is not ASCII."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EncoderError(
            f"the environment variable {variable} does not hold a key: not all its characters are printable ASCII"
        )
    return key


def _make_refusal(answer: Answer, *, has_key: bool) -> _Failure:
    try:
        retry_after = Retry().parse_retry_after(answer.headers.get("Retry-After", "0"))
    except (exceptions.HTTPError, ValueError, OverflowError):  # neither seconds nor a date
        retry_after = 0.0
    may_retry = answer.status in RETRIED_STATUSES or answer.status >= 500
    return _Failure(
        describe_refusal(answer, has_key=has_key),
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
            text = f"the server returned vectors of different widths, from {widths[0]} to {widths[-1]}"
            raise self.endpoint.make_error(text)
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
            rows = _parse_rows(answer, count=count, has_key=self.endpoint.has_key)
            # NumPy would make texts of all numbers if one of them is a text, each as wide as the longest.
            max_width = max(self.options.dim, MAX_WIDTH)
            widths = set()
            for row in rows:
                if not isinstance(row, list) or not {*map(type, row)} <= {int, float}:
                    raise ValueError("an embedding is not a list of numbers")
                widths.add(len(row))
            if len(widths) > 1:
                raise ValueError(f"its embeddings have different widths, from {min(widths)} to {max(widths)}")
            if not 1 <= max(widths) <= max_width:
                raise ValueError(f"its embeddings have width {max(widths)}, not 1 to {max_width}")
            return np.array(rows, dtype=np.float64)
        except (ValueError, OverflowError) as error:
            raise self.endpoint.make_error(f"the server's answer is not as expected: {error}") from None


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


def _parse_rows(body: bytes, *, count: int, has_key: bool) -> list[object]:
    """Return the embeddings in an answer ``{"data": [{"index": 0, "embedding": [0.1, ...]}, ...]}``, by index."""
    # An answer of many empty lists would take a hundred times its size once it is parsed.
    if body.count(b"[") + body.count(b"{") > MAX_VALUES * (count + 100):
        raise ValueError(f"it has too many lists and objects for {count} sentences")
    try:
        data = parse_json(body)["data"]
        rows = {entry.get("index", number): entry["embedding"] for number, entry in enumerate(data)}
    except (BadSyntaxError, KeyError, TypeError, AttributeError):
        text = "" if not body else f": {extract_server_message(body, has_key=has_key)[:80]}"
        raise ValueError(f"it has no list of embeddings{text}") from None
    if len(data) != count:
        raise ValueError(f"it has {len(data)} embeddings for {count} sentences")
    if set(rows) != set(range(count)) or {*map(type, rows)} != {int}:
        raise ValueError(f"its indices are not the numbers from 0 to {count - 1}")
    return [rows[index] for index in range(count)]
