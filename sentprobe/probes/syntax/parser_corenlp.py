"""The parser CoreNLP (Manning et al. 2014): a running server, asked through NLTK's client."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sentprobe.probes.syntax.parsers import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import ParsedSentence, escape_word
from sentprobe.specs import Spec, replace_options
from sentprobe.versions import describe_package

URL = "http://localhost:9000"
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
    """A CoreNLP server and NLTK's client for it."""

    splits: ClassVar[bool] = True
    fingerprint: str
    url: str
    timeout: int
    client: Any = field(repr=False)

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the parse of each tokenised sentence, from one request."""
        text = "\n".join(" ".join(map(escape_word, tokens)) for tokens in sentences)
        return [convert_sentence(sentence) for sentence in self._request(text, TOKENIZED_INPUT)]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, from one request."""
        return [token["word"] for part in self._request(sentence, TOKENIZER_ONLY) for token in part["tokens"]]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text into sentences, and return their parses."""
        return [convert_sentence(sentence) for sentence in self._request(text, {})]

    def _request(self, text: str, properties: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        from requests import ConnectionError as Unreachable
        from requests import HTTPError, Timeout

        try:
            answer = self.client.api_call(text, {**ANNOTATORS, **properties}, timeout=self.timeout)
        except Timeout:
            raise TimeoutError(f"the CoreNLP server took over {self.timeout} seconds") from None
        except HTTPError as error:
            reason = getattr(error.response, "text", "") or str(error)
            raise ValueError(f"the CoreNLP server says: {reason}") from error
        except Unreachable as error:
            raise ParserError(f"no CoreNLP server answers at {self.url}; {HOW_TO_START}") from error
        sentences: Sequence[Mapping[str, Any]] = answer["sentences"]
        return sentences


def convert_sentence(sentence: Mapping[str, Any]) -> ParsedSentence:
    """Convert a sentence from the JSON of the server's answer."""
    tokens = sentence["tokens"]
    edges = {edge["dependent"]: edge for edge in sentence.get("basicDependencies", ())}
    numbers = [token["index"] for token in tokens]
    has_heads = all(number in edges for number in numbers)
    return ParsedSentence(
        tokens=tuple(token["word"] for token in tokens),
        tags=tuple(token["pos"] for token in tokens),
        tree=sentence.get("parse"),
        heads=tuple(edges[number]["governor"] for number in numbers) if has_heads else (),
        relations=tuple(edges[number]["dep"].lower() for number in numbers) if has_heads else (),
    )


def load_corenlp(spec: Spec) -> CorenlpParser:
    """Connect to the server at the URL of *spec*, by default on this machine. Raises ParserError without a server."""
    import requests
    from nltk.parse.corenlp import CoreNLPParser

    options = replace_options(CorenlpOptions(), spec.options, owner="corenlp")
    url = (spec.argument or URL).rstrip("/")
    client = CoreNLPParser(url=url)
    try:
        client.session.get(f"{url}/live", timeout=10)
    except (requests.RequestException, ValueError) as error:
        raise ParserError(f"no CoreNLP server answers at {url}; {HOW_TO_START}") from error
    fingerprint = f"CoreNLP {options.version or 'unknown'} {describe_package('nltk')}"
    return CorenlpParser(fingerprint, url, options.timeout, client)
