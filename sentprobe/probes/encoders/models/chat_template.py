"""The chat template of a model, a program in its folder: no library may run it; ``hf:...?chat=yes`` runs it once.

It runs in a process of its own, whose time and memory are limited.
"""

import os
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from sentprobe.common.errors import first_line
from sentprobe.common.processes import make_workers
from sentprobe.probes.encoders.encoder import EncoderError

MESSAGE = "a Message frOM the user"
"""The message that a template is run on: a text that is unlike itself in upper, lower or title case."""
MAX_SECONDS = 20
"""Maximum number of seconds of a processor for which a template may run."""
MAX_BYTES = 2**30
"""Maximum of memory that a template may take."""
MAX_CHARACTERS = 100_000
"""Maximum length of a message in its template."""


class ChatFrame(NamedTuple):
    """The text that a chat template puts before and after a user's message."""

    before: str
    after: str


def render_chat_frame(tokenizer: Any, *, name: str) -> ChatFrame:
    """Return the text around a message in the chat template of a tokenizer. Raises EncoderError.

    - name: the model's name in messages
    """
    try:
        with make_workers(2) as pool:  # a pool of 1 would be this process
            assert pool is not None
            text = pool.submit(_render, tokenizer, MAX_SECONDS, MAX_BYTES).result()
    except BrokenProcessPool:
        limits = f"{MAX_SECONDS} seconds or {MAX_BYTES // 2**20:,} MiB"
        raise EncoderError(f"the chat template of {name} takes more than {limits} for one message") from None
    except Exception as error:  # a template may raise anything
        raise EncoderError(f"the chat template of {name} fails: {type(error).__name__}: {first_line(error)}") from None
    if len(text) > MAX_CHARACTERS:
        raise EncoderError(f"the chat template of {name} puts more than {MAX_CHARACTERS:,} characters around a message")
    before, *rest = text.split(MESSAGE)
    if len(rest) != 1:
        raise EncoderError(f"the chat template of {name} changes the text of a message, or has it {len(rest)} times")
    return ChatFrame(before, rest[0])


def _render(tokenizer: Any, seconds: int, size: int) -> str:
    """Return :data:`MESSAGE` in a tokenizer's chat template; end this process if that takes too much."""
    messages = [{"role": "user", "content": MESSAGE}]
    if os.name == "posix":
        import resource

        used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + 1
        limit_process(resource.RLIMIT_CPU, used + seconds)
        if (statistics := Path("/proc/self/statm")).exists():  # Linux
            pages = int(statistics.read_text("ascii").split()[0])
            limit_process(resource.RLIMIT_AS, pages * os.sysconf("SC_PAGE_SIZE") + size)
    text = str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    return text[: MAX_CHARACTERS + 1]


def limit_process(kind: int, limit: int) -> None:
    """Limit a resource of this process; a lower hard limit, as of a shell or a cluster, stays.

    - kind: such as ``resource.RLIMIT_CPU``
    """
    import resource  # which Windows lacks

    _, hard = resource.getrlimit(kind)
    lowest = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (lowest, lowest))


def refuse_chat_template(model: Any) -> None:
    """Drop the chat templates of a model of sentence-transformers. Raises ValueError if sentences are put into one."""
    for module in model.modules():
        if "message" in (getattr(module, "modality_config", None) or ()):
            raise ValueError(
                "sentence-transformers would put each sentence into its chat template, a program, which is not run; "
                "for its transformers model, write hf:"
            )
        processor = getattr(module, "processor", None)
        holders: tuple[Any, ...] = (processor, getattr(processor, "tokenizer", None))
        for holder in holders:
            if getattr(holder, "chat_template", None):
                holder.chat_template = None
