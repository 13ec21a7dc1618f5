"""A running CoreNLP server (Manning et al. 2014), through NLTK's client."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sentprobe.probes.syntax.parser import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import Parsed, escape_word
from sentprobe.specs import Spec, with_options
from sentprobe.versions import library

URL = "http://localhost:9000"

START = (
    "start one in its folder by: java -mx4g -cp '*' edu.stanford.nlp.pipeline.StanfordCoreNLPServer"
)

ANNOTATORS = {"annotators": "tokenize,ssplit,pos,parse", "outputFormat": "json"}

IN_TOKENS = {"tokenize.whitespace": "true", "ssplit.eolonly": "true"}
"""Spaces are between tokens and line ends between sentences, and nowhere else."""


@dataclass(frozen=True, slots=True)
class CorenlpOptions:
    """What may be said of it."""

    timeout: int = 600
    """Seconds to wait for an answer."""
    version: str = ""
    """Which version it is; the server does not say, so say it to have it in the table's head."""


@dataclass(frozen=True, slots=True)
class CorenlpParser:
    """A server, and NLTK's client for it."""

    fingerprint: str
    url: str
    timeout: int
    client: Any = field(repr=False)

    @property
    def splits(self) -> bool:
        """Yes."""
        return True

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Parse sentences in tokens, in one request."""
        text = "\n".join(" ".join(map(escape_word, tokens)) for tokens in sentences)
        return self._ask(text, IN_TOKENS)

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Have a text split, and its sentences parsed."""
        return self._ask(text, {})

    def _ask(self, text: str, properties: Mapping[str, str]) -> list[ParserOutcome]:
        from requests import ConnectionError as Unreachable  # noqa: PLC0415 - an extra
        from requests import HTTPError, Timeout  # noqa: PLC0415

        try:
            answer = self.client.api_call(text, {**ANNOTATORS, **properties}, timeout=self.timeout)
        except Timeout:
            raise TimeoutError(f"the CoreNLP server took over {self.timeout} seconds") from None
        except HTTPError as error:
            reason = getattr(error.response, "text", "") or str(error)
            raise ValueError(f"the CoreNLP server says: {reason}") from error
        except Unreachable as error:
            raise ParserError(f"no CoreNLP server answers at {self.url}; {START}") from error
        return [parsed_of(sentence) for sentence in answer["sentences"]]


def parsed_of(sentence: Mapping[str, Any]) -> Parsed:
    """Return what a sentence of the server's JSON holds."""
    tokens = sentence["tokens"]
    edges = {edge["dependent"]: edge for edge in sentence.get("basicDependencies", ())}
    numbers = [token["index"] for token in tokens]
    has_heads = all(number in edges for number in numbers)
    return Parsed(
        tokens=tuple(token["word"] for token in tokens),
        tags=tuple(token["pos"] for token in tokens),
        tree=sentence.get("parse"),
        heads=tuple(edges[number]["governor"] for number in numbers) if has_heads else (),
        relations=tuple(edges[number]["dep"].lower() for number in numbers) if has_heads else (),
    )


def load_corenlp(spec: Spec) -> CorenlpParser:
    """Find the server at the URL of the spec; ``http://localhost:9000`` when it names none.

    Raises:
        ParserError: no server answers there.
        UsageError: an unknown option.
    """
    import requests  # noqa: PLC0415 - an extra
    from nltk.parse.corenlp import CoreNLPParser  # noqa: PLC0415 - slow import

    options = with_options(CorenlpOptions(), spec.options, owner="corenlp")
    url = (spec.argument or URL).rstrip("/")
    client = CoreNLPParser(url=url)
    try:
        client.session.get(f"{url}/live", timeout=10)
    except (requests.RequestException, ValueError) as error:
        raise ParserError(f"no CoreNLP server answers at {url}; {START}") from error
    made = f"CoreNLP {options.version or 'unknown'} {library('nltk')}"
    return CorenlpParser(made, url, options.timeout, client)
