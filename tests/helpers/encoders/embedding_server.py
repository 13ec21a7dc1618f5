"""An embeddings endpoint on loopback, which answers as it should or as it is told to."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from sentprobe.probes.encoders.encoder import Vectors


def vector(text: str, dim: int = 3) -> list[float]:
    """What the endpoint makes of a sentence."""
    return [byte / 256 for byte in hashlib.sha256(text.encode()).digest()[:dim]]


def vectors(texts: Sequence[str], dim: int = 3) -> Vectors:
    return np.array([vector(text, dim) for text in texts], dtype=np.float32)


def make_right_answer(content: dict[str, Any]) -> dict[str, Any]:
    """The right answer to a request."""
    dim = content.get("dimensions", 3)
    rows = [
        {"object": "embedding", "index": place, "embedding": vector(text, dim)}
        for place, text in enumerate(content["input"])
    ]
    return {"object": "list", "data": rows, "model": content["model"]}


@dataclass
class Request:
    path: str
    key: str | None
    content: dict[str, Any]


@dataclass
class Reply:
    """What goes over the wire; a body that is no bytes is sent as JSON."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    """How many bytes of the body that was promised are not sent."""
    stall: bool = False
    """Say nothing until the server ends."""
    reset: bool = False
    """Close the connection without an answer."""
    drip: float = 0.0
    """Seconds before each byte of the body."""
    endless_head: bool = False
    """Send a byte of the first line each 0.05 seconds, until the server ends."""


@dataclass
class Server:
    """Its replies in turn, and the right answer once they are used up."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    make: Callable[[dict[str, Any]], Any] = make_right_answer
    requests: list[Request] = field(default_factory=list)
    together: int = 0
    """The most requests that were under way at a time."""
    pause: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _under_way: int = 0

    def reply(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            self._under_way += 1
            self.together = max(self.together, self._under_way)
            reply = self.replies.pop(0) if self.replies else None
        self.ended.wait(self.pause)
        if reply is not None and reply.stall:
            self.ended.wait()
        with self._lock:
            self._under_way -= 1
        return reply or Reply(self.make(request.content))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Authorization"]
        reply = self.server.ours.reply(Request(self.path, key, content))
        if reply.reset or reply.stall:
            self.close_connection = True
            return
        if reply.endless_head:
            while not self.server.ours.ended.wait(0.05):
                self.wfile.write(b"H")
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for place in range(len(body) if reply.drip else 0):
            self.server.ours.ended.wait(reply.drip)
            self.wfile.write(body[place : place + 1])
        if not reply.drip:
            self.wfile.write(body[: len(body) - reply.cut])
        self.close_connection = bool(reply.cut)

    def log_message(self, *_: object) -> None:
        pass


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    ours: Server

    def handle_error(self, *_: object) -> None:
        """A client that went away is none of our concern."""


@contextmanager
def start_server(port: int = 0) -> Iterator[Server]:
    with _Quiet(("127.0.0.1", port), Handler) as http:
        http.ours = server = Server(f"http://127.0.0.1:{http.server_address[1]}/v1")
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            http.shutdown()
            thread.join()
