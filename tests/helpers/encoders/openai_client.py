"""Clients of the test embedding server."""

import os

from helpers.encoders.embedding_server import Server

from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.models.endpoints import OpenAIEncoder, load_openai

SECRET = "sk-very-secret-0123456789"
TEXTS = ["the man slept", "the woman danced", "a", "b", "c"]


def client(server: Server, options: str = "", *, model: str = "m", has_key: bool = True) -> OpenAIEncoder:
    """Return an encoder with short waits and the key of the environment, if any."""
    if has_key and "key_env" not in options and "OPENAI_API_KEY" in os.environ:
        options = f"{options}&key_env=OPENAI_API_KEY".lstrip("&")
    more = f"&{options}" if options else ""
    quick = "timeout=5&backoff=0.001" if "timeout" not in options else "backoff=0.001"
    return load_openai(parse_spec(f"openai:{model}?base_url={server.url}&{quick}{more}"))
