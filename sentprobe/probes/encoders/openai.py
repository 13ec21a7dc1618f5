"""Encoders behind an HTTP endpoint of the OpenAI embeddings kind.

The key is read from the environment for each request, goes into its header, and nowhere else:
every error passes through :meth:`Endpoint.error`, which takes it out.
"""

import json
import logging
import os
import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any
from urllib.request import getproxies, proxy_bypass

import numpy as np
import urllib3
from numpy.typing import NDArray
from urllib3 import exceptions
from urllib3.util import Retry, parse_url

from sentprobe.errors import QUOTED, UsageError
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, check_vectors, digest
from sentprobe.specs import Spec, read_options
from sentprobe.values import BadSyntaxError, parse_json

log = logging.getLogger(__name__)

AGAIN = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may succeed; from 500 on, all are."""

LONGEST_WAIT = 60.0
"""The longest wait between two tries of our own choice, in seconds."""

LONGEST_RETRY_AFTER = 600.0
"""The longest wait that a server may ask for, in seconds; beyond that it is an error."""

CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a try failed, and whether another may not."""

    text: str
    passing: bool
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address to post JSON to."""

    url: str
    owner: str
    """Whose errors they are: the encoder's name."""
    key_env: str
    """The environment variable with the key; without one, no key is sent."""
    timeout: float
    """Seconds without a byte from the server, after which a try is given up."""
    retries: int
    backoff: float
    """Seconds before the first retry; each further one waits twice as long."""
    pool: urllib3.PoolManager = field(repr=False, compare=False)

    def post(self, content: Mapping[str, object], *, effort: "Effort") -> bytes:
        """Return the body of the answer, after as many tries as it takes and is allowed.

        A warning says at once that it is tried again, when, and how often.

        Raises:
            EncoderError: the last try failed, trying again would not help, or *effort* was stopped.
        """
        body = json.dumps(content).encode()
        for attempt in range(self.retries + 1):
            outcome = self._try(body)
            if isinstance(outcome, bytes):
                return outcome
            seconds = self._wait(outcome, attempt)
            if effort.is_first(attempt):
                log.warning("%s", self._trying(outcome, attempt, seconds))
            if effort.stop.wait(seconds):
                break
        raise self.error("stopped")

    def error(self, text: str) -> EncoderError:
        """Return the error to raise, without the key."""
        return EncoderError(f"encoder {self.owner}: {hidden(text, key=read_key(self.key_env))}")

    def _trying(self, failure: _Failure, attempt: int, seconds: float) -> EncoderError:
        tries = f"try {attempt + 2} of {self.retries + 1}"
        return self.error(f"{failure.text}; {tries} follows in {seconds:.1f} s")

    def _wait(self, failure: _Failure, attempt: int) -> float:
        """Return the seconds to wait before the next try, or raise when there is to be none.

        The back-off is exponential, half of it random so that clients spread out, and never ends
        earlier than the server asks for.
        """
        if not failure.passing or failure.retry_after > LONGEST_RETRY_AFTER:
            raise self.error(failure.text)
        if attempt == self.retries:
            raise self.error(f"{failure.text} (after {attempt + 1} tries)")
        own = min(LONGEST_WAIT, self.backoff * 2.0**attempt)
        return max(failure.retry_after, own * random.SystemRandom().uniform(0.5, 1.0))

    def _try(self, body: bytes) -> bytes | _Failure:
        """Make one request; return the body of its answer, or what went wrong."""
        key = read_key(self.key_env)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            answer = self.pool.request(
                "POST",
                self.url,
                body=body,
                headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}),
                retries=False,
                redirect=False,  # the key is for this host alone
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=self.timeout),
            )
        except exceptions.HTTPError as error:
            return self._unreached(error)
        return answer.data if answer.status == 200 else _refusal(answer, key=key)

    def _unreached(self, error: exceptions.HTTPError) -> _Failure:
        if isinstance(error, exceptions.ReadTimeoutError):
            return _Failure(f"{self.url} sent nothing for {self.timeout:g} seconds", passing=True)
        passing = not isinstance(error, (exceptions.SSLError, exceptions.NameResolutionError))
        return _Failure(f"{self.url}: {error}", passing)


@dataclass(frozen=True, slots=True)
class Effort:
    """Requests that are under way together: one event stops them, and one of them speaks."""

    stop: threading.Event
    _told: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_first(self, attempt: int) -> bool:
        """Say whether no other request has failed at this attempt yet."""
        with self._lock:
            first = attempt not in self._told
            self._told.add(attempt)
        return first


def read_key(variable: str) -> str:
    """Return the key in the environment variable; the empty string when there is none.

    Raises:
        EncoderError: it holds what cannot be sent in a header.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EncoderError(
            f"the environment variable {variable} does not hold a key: "
            "it has characters other than printable ASCII"
        )
    return key


def connections(url: str, *, size: int) -> urllib3.PoolManager:
    """Return a pool of connections to *url*, by the proxy that the environment names, if any."""
    parts = parse_url(url)
    proxy = getproxies().get(parts.scheme or "")
    if not proxy or proxy_bypass(parts.host or ""):
        return urllib3.PoolManager(maxsize=size)
    try:
        return urllib3.ProxyManager(proxy, maxsize=size)
    except exceptions.HTTPError:
        raise EncoderError(
            f"the proxy that the environment names for {parts.scheme} is not an HTTP proxy"
        ) from None


def hidden(text: str, *, key: str) -> str:
    """Return the text without the key."""
    return text.replace(key, "[key]") if key else text


def message(body: bytes, *, key: str) -> str:
    """Return a server's own words, on one line and not too many, without the key.

    It is taken out before the text is cut: half of it must not be left either.

    >>> message(b'{"error": {"message": "no such model", "code": 7}}', key="")
    'no such model'
    """
    text = body.decode(errors="replace")
    try:
        found = parse_json(text)
    except BadSyntaxError:
        found = text
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    return hidden(" ".join(str(found).split()), key=key)[:QUOTED]


def _refusal(answer: urllib3.BaseHTTPResponse, *, key: str) -> _Failure:
    """Return the failure for an answer whose status is not 200."""
    location = answer.headers.get("Location")
    if location and 300 <= answer.status < 400:
        text = f"the server redirects to {location}, which is not followed: give it as base_url"
        return _Failure(text, passing=False)
    text = f"the server answers {answer.status} {answer.reason or ''}".rstrip()
    said = message(answer.data, key=key)
    return _Failure(
        f"{text}: {said}" if said else text,
        passing=answer.status in AGAIN or answer.status >= 500,
        retry_after=_retry_after(answer),
    )


def _retry_after(answer: urllib3.BaseHTTPResponse) -> float:
    try:
        return Retry().get_retry_after(answer) or 0.0
    except (exceptions.HTTPError, OverflowError):
        return 0.0  # neither seconds nor a date


OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class OpenAIOptions:
    """Options of ``openai:``."""

    base_url: str = OPENAI
    """The requests go to ``base_url/embeddings``."""
    dim: int = 0
    """The width asked for (``dimensions`` of the protocol); 0: the model's own."""
    batch: int = 64
    """Sentences a request."""
    concurrency: int = 4
    """Requests under way at a time."""
    timeout: float = 60.0
    """Seconds without a byte from the server, after which a try is given up."""
    retries: int = 6
    """Tries after the first."""
    backoff: float = 0.5
    """Seconds before the first retry; each further one waits twice as long."""
    key_env: str = ""
    """The environment variable with the key; empty: OPENAI_API_KEY for OpenAI's own host, and no
    key for any other."""


@dataclass(frozen=True, slots=True)
class OpenAIEncoder:
    """A model that an HTTP endpoint serves, behind the encoder protocol."""

    name: str
    fingerprint: str
    model: str
    options: OpenAIOptions
    endpoint: Endpoint = field(repr=False)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the endpoint's vectors, (n, dim) float32, from several requests at a time.

        Raises:
            EncoderError: the endpoint cannot be reached, refuses, or answers with something that
                is not a finite vector of one width for each sentence.
        """
        size = self.options.batch
        chunks = [sentences[start : start + size] for start in range(0, len(sentences), size)]
        with _threads(min(len(chunks), self.options.concurrency)) as (pool, effort):
            # As they are done, so that the first error ends it, whatever the others wait for.
            done = dict(
                pool.imap_unordered(partial(self._numbered, effort=effort), enumerate(chunks))
            )
        parts = [done[place] for place in range(len(chunks))]
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise self.endpoint.error(f"the server returned vectors of different widths: {widths}")
        return np.concatenate(parts)

    def _numbered(self, chunk: tuple[int, Sequence[str]], *, effort: Effort) -> tuple[int, Vectors]:
        place, sentences = chunk
        return place, self._vectors(sentences, effort=effort)

    def _vectors(self, sentences: Sequence[str], *, effort: Effort) -> Vectors:
        """Return the vectors of one request's sentences, (n, dim) float32."""
        dim = self.options.dim
        request: dict[str, object] = {
            "model": self.model,
            "input": list(sentences),
            "encoding_format": "float",
        }
        answer = self.endpoint.post(request | ({"dimensions": dim} if dim else {}), effort=effort)
        vectors = check_vectors(
            self._array(answer, count=len(sentences)), sentences=sentences, encoder=self.name
        )
        if dim and vectors.shape[1] != dim:
            raise self.endpoint.error(
                f"the server returned vectors of width {vectors.shape[1]}, not dim={dim}"
            )
        return vectors

    def _array(self, answer: bytes, *, count: int) -> NDArray[Any]:
        """Return what the answer has as embeddings, of any type and shape."""
        try:
            found = np.array(_rows(answer, count=count, key=read_key(self.endpoint.key_env)))
        except ValueError as error:  # numpy's own is about rows of different lengths
            problem = str(error)
        else:
            return found.astype(np.float64) if found.dtype.kind in "iu" else found
        # Not inside the handler: the other error quotes the server, and may hold the key.
        raise self.endpoint.error(f"the server's answer is not as wanted: {problem}")


def load_openai(spec: Spec) -> OpenAIEncoder:
    """Return the encoder that ``openai:MODEL?...`` asks for; no request is made yet.

    Raises:
        UsageError: an option, or its value, is not known.
        EncoderError: the key is not in the environment, and is needed.
    """
    options = read_options(spec, OpenAIOptions())
    _check(options)
    url = options.base_url.rstrip("/")
    variable = options.key_env or (KEY if _is_openai(url) else "")
    if variable and not read_key(variable):
        raise EncoderError(
            f"an encoder openai:... needs a key in the environment variable {variable}"
        )
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
            pool=connections(url, size=options.concurrency),
        ),
    )


def _is_openai(url: str) -> bool:
    """Say whether an address is OpenAI's, to whom alone the key goes that is named after them.

    >>> _is_openai(OPENAI), _is_openai("http://localhost:8000/v1")
    (True, False)
    """
    parts = parse_url(url)
    host = parts.host or ""
    ours = host == "api.openai.com" or host.endswith(".api.openai.com")
    return ours and parts.scheme == "https"


def _check(options: OpenAIOptions) -> None:
    for name in ("timeout", "backoff"):
        if getattr(options, name) <= 0:
            raise UsageError(f"openai: option {name}={getattr(options, name):g}: must be above 0")
    try:
        url = parse_url(options.base_url)
    except exceptions.LocationParseError:
        url = parse_url("")
    if url.auth:
        raise UsageError("openai: option base_url has a password in it, which results would show")
    if url.scheme not in {"http", "https"} or not url.host or url.query or url.fragment:
        raise UsageError(
            f"openai: option base_url={options.base_url}: wanted the address that /embeddings is "
            "added to, such as http://localhost:8000/v1"
        )


@contextmanager
def _threads(count: int) -> Iterator[tuple[ThreadPool, Effort]]:
    """Yield threads, and what tells them to stop: after an error, and on Ctrl-C.

    They are daemons, so that one that waits for a server does not hold up the end of the program.
    """
    effort = Effort(threading.Event())
    with ThreadPool(max(count, 1)) as pool:
        try:
            yield pool, effort
        finally:
            effort.stop.set()


def _rows(body: bytes, *, count: int, key: str) -> list[object]:
    """Return the embeddings in the order of their sentences.

    The body is ``{"data": [{"index": 0, "embedding": [0.1, ...]}, ...]}``, in any order.

    Raises:
        ValueError: it is something else, or not *count* embeddings.
    """
    try:
        data = parse_json(body)["data"]
        rows = _by_index(data)
    except (BadSyntaxError, KeyError, TypeError, AttributeError):
        said = message(body, key=key)[:80]
        raise ValueError(f"it has no list of embeddings: {said!r}") from None
    if len(data) != count:
        raise ValueError(f"it has {len(data)} embeddings for {count} sentences")
    if set(rows) != set(range(count)):
        raise ValueError(f"its indices are not each of 0 to {count - 1} once")
    return [rows[place] for place in range(count)]


def _by_index(data: Sequence[Mapping[str, object]]) -> dict[object, object]:
    return {entry.get("index", place): entry["embedding"] for place, entry in enumerate(data)}
