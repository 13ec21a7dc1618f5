"""Encoders behind an HTTP endpoint of the OpenAI embeddings kind."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
from numpy.typing import NDArray
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.http_client import Endpoint, connections, message, read_key
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, check_vectors, digest
from sentprobe.probes.encoders.specs import Spec, read_options

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
    """The environment variable with the key; empty: OPENAI_API_KEY, if there is one."""


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
        with _threads(min(len(chunks), self.options.concurrency)) as (pool, stop):
            # As they are done, so that the first error ends it, whatever the others wait for.
            done = dict(pool.imap_unordered(partial(self._numbered, stop=stop), enumerate(chunks)))
        parts = [done[place] for place in range(len(chunks))]
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise self.endpoint.error(f"the server returned vectors of different widths: {widths}")
        return np.concatenate(parts)

    def _numbered(
        self, chunk: tuple[int, Sequence[str]], *, stop: threading.Event
    ) -> tuple[int, Vectors]:
        place, sentences = chunk
        return place, self._vectors(sentences, stop=stop)

    def _vectors(self, sentences: Sequence[str], *, stop: threading.Event) -> Vectors:
        """Return the vectors of one request's sentences, (n, dim) float32."""
        dim = self.options.dim
        request: dict[str, object] = {
            "model": self.model,
            "input": list(sentences),
            "encoding_format": "float",
        }
        answer = self.endpoint.post(request | ({"dimensions": dim} if dim else {}), stop=stop)
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
    url, variable = options.base_url.rstrip("/"), options.key_env or KEY
    if not read_key(variable) and (options.key_env or url == OPENAI):
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


def _check(options: OpenAIOptions) -> None:
    for name in ("timeout", "backoff"):
        if getattr(options, name) <= 0:
            raise UsageError(f"openai: option {name}={getattr(options, name):g}: must be above 0")
    try:
        url = parse_url(options.base_url)
    except LocationParseError:
        url = parse_url("")
    if url.auth:
        raise UsageError("openai: option base_url has a password in it, which results would show")
    if url.scheme not in {"http", "https"} or not url.host or url.query or url.fragment:
        raise UsageError(
            f"openai: option base_url={options.base_url}: wanted the address that /embeddings is "
            "added to, such as http://localhost:8000/v1"
        )


@contextmanager
def _threads(count: int) -> Iterator[tuple[ThreadPool, threading.Event]]:
    """Yield threads, and the event that tells them to stop: after an error, and on Ctrl-C.

    They are daemons, so that one that waits for a server does not hold up the end of the program.
    """
    stop = threading.Event()
    with ThreadPool(max(count, 1)) as pool:
        try:
            yield pool, stop
        finally:
            stop.set()


def _rows(body: bytes, *, count: int, key: str) -> list[object]:
    """Return the embeddings in the order of their sentences.

    The body is ``{"data": [{"index": 0, "embedding": [0.1, ...]}, ...]}``, in any order.

    Raises:
        ValueError: it is something else, or not *count* embeddings.
    """
    try:
        data = json.loads(body)["data"]
        rows = _by_index(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        said = message(body, key=key)[:80]
        raise ValueError(f"it has no list of embeddings: {said!r}") from None
    if len(data) != count:
        raise ValueError(f"it has {len(data)} embeddings for {count} sentences")
    if set(rows) != set(range(count)):
        raise ValueError(f"its indices are not each of 0 to {count - 1} once")
    return [rows[place] for place in range(count)]


def _by_index(data: Sequence[Mapping[str, object]]) -> dict[object, object]:
    return {entry.get("index", place): entry["embedding"] for place, entry in enumerate(data)}
