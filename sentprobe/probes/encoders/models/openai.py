"""The encoder ``openai:``, a model behind an HTTP endpoint that follows the OpenAI embeddings API."""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
from numpy.typing import NDArray
from urllib3 import exceptions
from urllib3.util import parse_url

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.models import http_endpoint
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, check_vectors, digest
from sentprobe.specs import Spec, read_options
from sentprobe.values import BadSyntaxError, parse_json

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
    endpoint: http_endpoint.Endpoint = field(repr=False)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32, from concurrent requests. Raises EncoderError."""
        size = self.options.batch
        chunks = [sentences[start : start + size] for start in range(0, len(sentences), size)]
        group = http_endpoint.RequestGroup(threading.Event())
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

    def _encode(self, chunk: tuple[int, Sequence[str]], *, group: http_endpoint.RequestGroup) -> tuple[int, Vectors]:
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
            rows = _parse_rows(answer, count=count, key=http_endpoint.read_key(self.endpoint.key_env))
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
    if variable and not http_endpoint.read_key(variable):
        raise EncoderError(f"an encoder openai:... needs a key in the environment variable {variable}")
    return OpenAIEncoder(
        name=spec.name,
        fingerprint=digest("openai", url, spec.argument, options.dim),
        model=spec.argument,
        options=options,
        endpoint=http_endpoint.Endpoint(
            url=f"{url}/embeddings",
            owner=str(spec),
            key_env=variable,
            timeout=options.timeout,
            retries=options.retries,
            backoff=options.backoff,
            pool=http_endpoint.make_connection_pool(url, size=options.concurrency),
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
        server_message = http_endpoint.extract_server_message(body, key=key)[:80]
        raise ValueError(f"it has no list of embeddings: {server_message!r}") from None
    if len(data) != count:
        raise ValueError(f"it has {len(data)} embeddings for {count} sentences")
    if set(rows) != set(range(count)) or {*map(type, rows)} != {int}:
        raise ValueError(f"its indices are not the numbers from 0 to {count - 1}")
    return [rows[index] for index in range(count)]
