"""The parser CoreNLP (Manning et al. 2014): a running server."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sentprobe.errors import MAX_QUOTED
from sentprobe.probes.syntax.parsers import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import ParsedSentence, escape_word
from sentprobe.specs import Spec, replace_options
from sentprobe.values import BadSyntaxError, parse_json

URL = "http://localhost:9000"
MAX_ANSWER_BYTES = 2**26
NOT_AS_EXPECTED = "the CoreNLP server's answer is not as expected"
HOW_TO_START = "start one in its folder by: java -mx4g -cp '*' edu.stanford.nlp.pipeline.StanfordCoreNLPServer"
ANNOTATORS = {"annotators": "tokenize,ssplit,pos,parse", "outputFormat": "json"}
TOKENIZED_INPUT = {"tokenize.whitespace": "true", "ssplit.eolonly": "true"}
"""Properties of a request with tokenised text: a token ends at a space, and a sentence at the end of a line."""
TOKENIZER_ONLY = {"annotators": "tokenize,ssplit", "ssplit.isOneSentence": "true"}
"""Properties of a request for the tokens of a sentence."""


@dataclass(frozen=True, slots=True)
class CorenlpOptions:
    """Options of the server."""

    timeout: int = 600
    """Seconds until a request fails."""
    version: str = ""
    """The version of the server, as stated by the user; a server does not report its version."""


@dataclass(frozen=True, slots=True)
class CorenlpParser:
    """A CoreNLP server and the session of its requests."""

    splits: ClassVar[bool] = True
    fingerprint: str
    url: str
    timeout: int
    session: Any = field(repr=False)

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the parse of each tokenised sentence, from one request."""
        text = "\n".join(" ".join(map(escape_word, tokens)) for tokens in sentences)
        return [convert_sentence(sentence) for sentence in self._request(text, TOKENIZED_INPUT)]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, from one request."""
        try:
            return [str(token["word"]) for part in self._request(sentence, TOKENIZER_ONLY) for token in part["tokens"]]
        except (KeyError, TypeError):
            raise ValueError(f"{NOT_AS_EXPECTED}: a sentence has no list of words") from None

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text into sentences, and return their parses."""
        return [convert_sentence(sentence) for sentence in self._request(text, {})]

    def _request(self, text: str, properties: Mapping[str, str]) -> Sequence[Any]:
        """Return the sentences in the server's answer, whose shape convert_sentence checks."""
        from requests import ConnectionError as Unreachable
        from requests import RequestException, Timeout
        from urllib3.exceptions import ReadTimeoutError

        try:
            response = self.session.post(
                self.url,
                params={"properties": json.dumps({**ANNOTATORS, **properties})},
                data=text.encode(),
                headers={"Content-Type": "text/plain; charset=utf8"},
                timeout=self.timeout,
                stream=True,
            )
            body = bytearray()
            with response:
                for part in response.iter_content(2**16):
                    body += part
                    if len(body) > MAX_ANSWER_BYTES:
                        raise ValueError(f"the CoreNLP server's answer is longer than {MAX_ANSWER_BYTES:,} bytes")
        except Timeout:
            raise TimeoutError(f"the CoreNLP server took over {self.timeout} seconds") from None
        except Unreachable as error:
            if error.args and isinstance(error.args[0], ReadTimeoutError):  # in the middle of an answer
                raise TimeoutError(f"the CoreNLP server took over {self.timeout} seconds") from None
            raise ParserError(f"no CoreNLP server answers at {self.url}; {HOW_TO_START}") from error
        except RequestException as error:
            raise ValueError(f"{NOT_AS_EXPECTED}: {str(error)[:MAX_QUOTED]}") from error
        if not response.ok:
            reason = body[:MAX_QUOTED].decode(errors="replace") or f"{response.status_code} {response.reason}"
            raise ValueError(f"the CoreNLP server says: {reason}")
        try:
            sentences = parse_json(bytes(body))["sentences"]
        except (BadSyntaxError, KeyError, TypeError):
            sentences = None
        if not isinstance(sentences, list):
            raise ValueError(f"{NOT_AS_EXPECTED}: it has no list of sentences")
        return sentences


def convert_sentence(sentence: Any) -> ParsedSentence:
    """Convert a sentence from the JSON of the server's answer. Raises ValueError if it has another shape."""
    try:
        tokens, tree = sentence["tokens"], sentence.get("parse")
        edges = {edge["dependent"]: edge for edge in sentence.get("basicDependencies", ())}
        numbers = [token["index"] for token in tokens]
        has_heads = all(number in edges for number in numbers)
        words, tags = tuple(token["word"] for token in tokens), tuple(token["pos"] for token in tokens)
        heads = tuple(edges[number]["governor"] for number in numbers) if has_heads else ()
        relations = tuple(edges[number]["dep"].lower() for number in numbers) if has_heads else ()
    except (AttributeError, KeyError, TypeError):
        raise ValueError(f"{NOT_AS_EXPECTED}: a sentence has not the fields of one") from None
    texts = (*words, *tags, *relations, "" if tree is None else tree)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{NOT_AS_EXPECTED}: a word, tag, relation or tree is not a text")
    if not all(type(head) is int and 0 <= head <= len(words) for head in heads):
        raise ValueError(f"{NOT_AS_EXPECTED}: a head is not the number of a token")
    return ParsedSentence(tokens=words, tags=tags, tree=tree, heads=heads, relations=relations)


def load_corenlp(spec: Spec) -> CorenlpParser:
    """Connect to the server at the URL of *spec*, by default on this machine. Raises ParserError without a server."""
    import requests

    options = replace_options(CorenlpOptions(), spec.options, owner="corenlp")
    url = (spec.argument or URL).rstrip("/")
    session = requests.Session()
    try:
        session.get(f"{url}/live", timeout=10)
    except (requests.RequestException, ValueError) as error:
        raise ParserError(f"no CoreNLP server answers at {url}; {HOW_TO_START}") from error
    return CorenlpParser(f"CoreNLP {options.version or 'unknown'}", url, options.timeout, session)
