"""HTTP requests of limited time and size, and what an error message may quote of a server's answer.

Redirects are not followed, and no password is looked up for a host. The environment's proxies are used.
"""

import http
import logging
import os
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import exceptions
from urllib3.util import parse_url

from sentprobe.common.errors import MAX_QUOTED, SentprobeError, first_line
from sentprobe.common.processes import call_in_time
from sentprobe.common.values import BadSyntaxError, parse_json

CONNECT_TIMEOUT = 10.0
"""Maximum number of seconds until a connection is open."""
MAX_REFUSAL_BYTES = 2**16
"""Maximum number of bytes that are read from the body of a response with another status than 200."""
_PART_BYTES = 2**16
"""Number of bytes of a response body that are read at a time."""

NOT_SHOWN = "the server's text is not shown, since it could repeat the key"
ERROR_CODES = frozenset({
    *("api_error", "authentication_error", "context_length_exceeded", "insufficient_quota", "invalid_api_key"),
    *("invalid_request_error", "model_not_found", "not_found_error", "overloaded_error", "permission_error"),
    *("rate_limit_error", "rate_limit_exceeded", "server_error", "unsupported_parameter", "unsupported_value"),
})  # fmt: skip
"""The values of ``type`` and ``code`` in a JSON error body that are shown although a key was sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer. Of a body longer than the maximum, one byte more than the maximum is kept."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send_in_time(
    pool: urllib3.PoolManager, method: str, url: str, *, seconds: float, max_bytes: int, **request: Any
) -> Answer:
    """Send a request; return the answer. Raises TimeoutError after *seconds*, and HTTPError of urllib3.

    At most *max_bytes* of the answer's body are read; if it is 0, only the head.
    """
    function = partial(_send, pool, method, url, seconds=seconds, max_bytes=max_bytes, **request)
    return call_in_time(function, seconds)


def _send(
    pool: urllib3.PoolManager, method: str, url: str, *, seconds: float, max_bytes: int, **request: Any
) -> Answer:
    # urllib3 would quote a wrong line of an answer's head, in which a key may stand.
    logging.getLogger("urllib3.connection").setLevel(logging.ERROR)
    deadline = time.monotonic() + seconds
    try:
        response = pool.request(
            method,
            url,
            **request,
            retries=False,
            redirect=False,
            timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=seconds),
            preload_content=False,
        )
        with response:
            maximum = max_bytes + 1 if response.status == 200 else min(max_bytes, MAX_REFUSAL_BYTES)
            content = _read_body(response, max_bytes=maximum if max_bytes else 0, deadline=deadline)
    except exceptions.ReadTimeoutError:
        raise TimeoutError from None
    return Answer(response.status, response.headers, content)


def _read_body(response: urllib3.BaseHTTPResponse, *, max_bytes: int, deadline: float) -> bytes:
    """Return at most *max_bytes* of a response's decompressed body. Raises TimeoutError after *deadline*."""
    body = bytearray()
    while len(body) < max_bytes:
        part = response.read1(min(_PART_BYTES, max_bytes - len(body)))
        if not part:
            response.release_conn()
            break
        body += part
        if time.monotonic() > deadline:
            raise TimeoutError
    return bytes(body)


def make_connection_pool(url: str, *, size: int) -> urllib3.PoolManager:
    """Return a pool of *size* connections to *url*, through the environment's proxy, if any. Raises SentprobeError."""
    parts = parse_url(url)
    proxy = getproxies().get(parts.scheme or "")
    if not proxy or proxy_bypass(parts.host or ""):
        return urllib3.PoolManager(maxsize=size)
    try:
        return urllib3.ProxyManager(proxy, maxsize=size)
    except exceptions.HTTPError:
        raise SentprobeError(f"the proxy that the environment names for {parts.scheme} is not an HTTP proxy") from None


def quote_server(text: str, *, has_key: bool) -> str:
    """Return a text from a server as one short line. If a key was sent, only NOT_SHOWN is returned.

    A server may repeat the key in any encoding, so no search for the key could tell whether a text holds it.

    >>> quote_server("no such  model", has_key=False), quote_server("no such model", has_key=True) == NOT_SHOWN
    ('no such model', True)
    """
    return NOT_SHOWN if has_key else " ".join(text.split())[:MAX_QUOTED]


def describe_refusal(answer: Answer, *, has_key: bool) -> str:
    """Return the reason of an answer whose status is not 200; if a key was sent, in words of ours only.

    >>> describe_refusal(Answer(404, {}, b'{"error": {"message": "no model m", "code": "x"}}'), has_key=False)
    'the server answers 404 Not Found: no model m'
    >>> describe_refusal(Answer(401, {}, b'{"code": "invalid_api_key"}'), has_key=True).partition(": ")[0]
    'the server answers 401 Unauthorized (invalid_api_key)'
    """
    location = answer.headers.get("Location")
    if location and 300 <= answer.status < 400:
        if has_key:
            return f"the server redirects ({_name_status(answer.status)}), and redirects are not followed: {NOT_SHOWN}"
        target = quote_server(location, has_key=has_key)
        return f"the server redirects to {target}, and redirects are not followed: use that address"
    text = f"the server answers {_name_status(answer.status)}"
    if has_key and (codes := _list_known_codes(answer.body)):
        text += f" ({', '.join(codes)})"
    message = extract_server_message(answer.body, has_key=has_key)
    return f"{text}: {message}" if message else text


def _name_status(status: int) -> str:
    """Return the number of a status and its standard reason, for which the server's own is not needed."""
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _list_known_codes(body: bytes) -> list[str]:
    try:
        value = parse_json(body)
    except BadSyntaxError:
        return []
    value = value.get("error", value) if isinstance(value, dict) else {}
    texts = [value.get(name) for name in ("type", "code")] if isinstance(value, dict) else []
    return [text for text in texts if isinstance(text, str) and text in ERROR_CODES]


def extract_server_message(body: bytes, *, has_key: bool) -> str:
    """Return the error message in a server's response as one short line; if a key was sent, NOT_SHOWN.

    >>> extract_server_message(b'{"error": {"message": "no such model", "code": 7}}', has_key=False)
    'no such model'
    """
    text = body[:MAX_REFUSAL_BYTES].decode(errors="replace")
    try:
        value = parse_json(text)
    except BadSyntaxError:
        value = text
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and name in value:
            value = value[name]
    return quote_server(str(value), has_key=has_key) if body else ""


def describe_failure(error: exceptions.HTTPError, *, has_key: bool) -> str:
    """Return why a request failed. A library may quote the server; if a key was sent, the error's kind is returned.

    >>> describe_failure(exceptions.DecodeError("wrong byte s at 0"), has_key=True)
    'DecodeError'
    """
    if not has_key:
        return quote_server(first_line(error), has_key=has_key)
    cause: BaseException = error
    while deeper := cause.__cause__ or cause.__context__:
        cause = deeper
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = cause.verify_message  # one of OpenSSL's own texts
    elif isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError | socket.gaierror) and cause.errno:
        reason = os.strerror(cause.errno)
    else:
        reason = "" if cause is error else type(cause).__name__
    return ": ".join(filter(None, (type(error).__name__, reason)))
