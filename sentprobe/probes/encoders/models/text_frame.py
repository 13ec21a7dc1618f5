"""The text that a model reads around a sentence: a prompt, a chat template, and an end token."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import EncoderError

SENTENCE = "{sentence}"


class FramedText(NamedTuple):
    """A sentence, the text that contains it, and the index in the text at which the sentence starts."""

    sentence: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class TextFrame:
    """Puts a sentence into a prompt and a chat template, and appends an end token."""

    tokenizer: Any
    prompt: str = SENTENCE
    chat: bool = False
    end: str = ""
    """The end token to append; empty if none is read, or if the tokenizer appends it."""

    def tokenize(self, texts: list[str], **settings: Any) -> Any:
        """Return the tokenizer's output for framed texts."""
        # A chat template has its own special tokens.
        return self.tokenizer(texts, **({"add_special_tokens": False} if self.chat else {}), **settings)

    def add_to(self, sentence: str) -> FramedText:
        """Return the text that frames a sentence. Raises EncoderError if the chat template changes the sentence."""
        before, _, after = self.prompt.partition(SENTENCE)
        text, start = before + sentence + after, len(before)
        if self.chat:
            message = text.strip()  # most templates strip messages
            start -= len(text) - len(text.lstrip())
            messages = [{"role": "user", "content": message}]
            text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            if (message_start := text.find(message)) < 0:
                raise EncoderError(f"the chat template changes the text {message!r}")
            start += message_start
        return FramedText(sentence, text + self.end, start)


def find_end_token(frame: TextFrame, *, name: str) -> tuple[int, str]:
    """Return the end token's id, and its text (empty if the tokenizer appends it). Raises UsageError."""
    tokenizer = frame.tokenizer
    last = frame.tokenize([frame.add_to("a").text])["input_ids"][0][-1]
    if last in {tokenizer.eos_token_id, tokenizer.sep_token_id} - {None}:
        return last, ""
    if tokenizer.eos_token_id is None:
        raise UsageError(f"hf: option pool=eos: the tokenizer of {name} has no end token")
    return tokenizer.eos_token_id, tokenizer.eos_token
