"""Encoders behind an HTTP endpoint that follows the OpenAI embeddings API."""

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
"""Largest width of the vectors of a model whose width is unknown."""

NUMBER_BYTES = 32
"""Largest size of a number of a vector as JSON, with the white space around it."""

SPARE_BYTES = 2**23
"""Size of an answer beside its numbers; also leaves room for a server that ignores the requested width."""


@dataclass(frozen=True, slots=True)
class OpenAIOptions:
    """Options of ``openai:``."""

    base_url: str = OPENAI_URL
    """Requests go to ``base_url/embeddings``."""
    dim: int = 0
    """Requested width (``dimensions`` of the API); 0: the default of the model."""
    batch: int = 64
    concurrency: int = 4
    timeout: float = 60.0
    """Seconds that an answer may take in all."""
    retries: int = 6
    """Number of retries after the first attempt."""
    backoff: float = 0.5
    """Seconds before the first retry; doubled for each further one."""
    key_env: str = ""
    """The environment variable with the key; empty: OPENAI_API_KEY for OpenAI's own host, no key for other hosts."""


@dataclass(frozen=True, slots=True)
class OpenAIEncoder:
    """A model behind an HTTP endpoint as an encoder."""

    name: str
    fingerprint: str
    model: str
    options: OpenAIOptions
    endpoint: http_endpoint.Endpoint = field(repr=False)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors, (n, dim) float32, from concurrent requests. Raises EncoderError."""
        size = self.options.batch
        chunks = [sentences[start : start + size] for start in range(0, len(sentences), size)]
        group = http_endpoint.RequestGroup(threading.Event())
        with ThreadPool(max(min(len(chunks), self.options.concurrency), 1)) as pool:
            try:
                # As they are done, so that the first error ends it, whatever the others wait for.
                vectors_by_chunk = dict(pool.imap_unordered(partial(self._encode, group=group), enumerate(chunks)))
            finally:  # also on Ctrl-C
                group.stop.set()
        parts = [vectors_by_chunk[place] for place in range(len(chunks))]
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise self.endpoint.make_error(f"the server returned vectors of different widths: {widths}")
        return np.concatenate(parts)

    def _encode(self, chunk: tuple[int, Sequence[str]], *, group: http_endpoint.RequestGroup) -> tuple[int, Vectors]:
        """Return the number of a chunk and, from one request, its vectors, (n, dim) float32."""
        place, sentences = chunk
        dim = self.options.dim
        request: dict[str, object] = {"model": self.model, "input": list(sentences), "encoding_format": "float"}
        max_bytes = SPARE_BYTES + len(sentences) * (dim or MAX_WIDTH) * NUMBER_BYTES
        answer = self.endpoint.post(request | ({"dimensions": dim} if dim else {}), group=group, max_bytes=max_bytes)
        vectors = check_vectors(self._parse_array(answer, count=len(sentences)), sentences=sentences, encoder=self.name)
        if dim and vectors.shape[1] != dim:
            raise self.endpoint.make_error(f"the server returned vectors of width {vectors.shape[1]}, not dim={dim}")
        return place, vectors

    def _parse_array(self, answer: bytes, *, count: int) -> NDArray[Any]:
        try:
            array = np.array(_parse_rows(answer, count=count, key=http_endpoint.read_key(self.endpoint.key_env)))
        except ValueError as error:  # numpy's own is about rows of different lengths
            problem = str(error)
        else:
            return array.astype(np.float64) if array.dtype.kind in "iu" else array
        # Not inside the handler: the other error quotes the server, and may hold the key.
        raise self.endpoint.make_error(f"the server's answer is not as wanted: {problem}")


def load_openai(spec: Spec) -> OpenAIEncoder:
    """Return the encoder of ``openai:MODEL?...``, without making a request. Raises UsageError or EncoderError."""
    options = read_options(spec, OpenAIOptions())
    _check_options(options)
    url = options.base_url.rstrip("/")
    variable = options.key_env or (OPENAI_KEY_VARIABLE if _is_openai_host(url) else "")
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


def _is_openai_host(url: str) -> bool:
    """Say whether an address is OpenAI's; OPENAI_API_KEY is sent to no other host.

    >>> _is_openai_host(OPENAI_URL), _is_openai_host("http://localhost:8000/v1")
    (True, False)
    """
    parts = parse_url(url)
    host = parts.host or ""
    is_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
    return is_openai and parts.scheme == "https"


def _check_options(options: OpenAIOptions) -> None:
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


def _parse_rows(body: bytes, *, count: int, key: str) -> list[object]:
    """Return the embeddings of ``{"data": [{"index": 0, "embedding": [0.1, ...]}, ...]}`` in order of index."""
    try:
        data = parse_json(body)["data"]
        rows = {entry.get("index", place): entry["embedding"] for place, entry in enumerate(data)}
    except (BadSyntaxError, KeyError, TypeError, AttributeError):
        server_message = http_endpoint.extract_server_message(body, key=key)[:80]
        raise ValueError(f"it has no list of embeddings: {server_message!r}") from None
    if len(data) != count:
        raise ValueError(f"it has {len(data)} embeddings for {count} sentences")
    if set(rows) != set(range(count)):
        raise ValueError(f"its indices are not each of 0 to {count - 1} once")
    return [rows[place] for place in range(count)]
