"""The parsers of the table in ``parsers.py``, each with its options and the function that loads it.

- BLLIP (Charniak and Johnson 2005), through the library ``bllipparser``: constituents
- CoreNLP (Manning et al. 2014), a running server: constituents and dependencies
- spaCy: tags and dependencies; benepar (Kitaev et al. 2019) adds constituents
- Stanza (Qi et al. 2020): constituents, Penn tags and Universal Dependencies
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlencode

from sentprobe.common.errors import UsageError, describe_package, digest_folder, first_line
from sentprobe.common.http_requests import describe_failure, describe_refusal, make_connection_pool, send_in_time
from sentprobe.common.specs import NoOptions, Spec, replace_options
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.probes.corpus.parsers import ParserError, ParserOutcome
from sentprobe.probes.corpus.trees import ParsedSentence, escape_word, unescape_word

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span
    from stanza.models.common.doc import Document, Sentence
    from urllib3 import PoolManager

HOW_TO_INSTALL = (
    "write --parser bllip:FOLDER with a model in the folder; a full one comes by: "
    "python -m nltk.downloader bllip_wsj_no_aux"
)


@dataclass(frozen=True, slots=True)
class BllipOptions:
    """Options of the parser."""

    rerank: bool = True
    """Whether the model's reranker, if it has one, chooses the best parse."""
    overparsing: int = 21
    """How long the parser searches for better parses after the first; with 5, parsing is several times as fast."""
    small_corpus: bool = True
    """Whether the model was trained on little data, so that smoothing is stronger."""


@dataclass(frozen=True, slots=True)
class BllipParser:
    """A loaded BLLIP parser, which cannot split text into sentences. A process can load only one."""

    splits: ClassVar[bool] = False
    fingerprint: str
    rerank: bool
    parser: Any = field(repr=False)

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the best parse of each tokenised sentence, or the reason why the sentence has none."""
        parses = [self.parser.parse(list(tokens), rerank=self.rerank) for tokens in sentences]
        return [
            ParsedSentence(tokens=tuple(tokens), tree=str(best[0].ptb_parse))
            if len(best)
            else "the parser found no parse"
            for tokens, best in zip(sentences, parses, strict=True)
        ]

    def tokenize(self, sentence: str) -> list[str]:  # noqa: ARG002 - the parser has no tokenizer
        """Return an empty list, since the parser has no tokenizer."""
        return []

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Raise NotImplementedError, since the parser cannot split text."""
        raise NotImplementedError(text)


def load_bllip(spec: Spec) -> BllipParser:
    """Load the model in the folder of *spec*, or in its subfolder ``parser``. Raises ParserError or UsageError."""
    from bllipparser import RerankingParser

    options = replace_options(BllipOptions(), spec.options, owner="bllip")
    folder = Path(spec.argument)
    if not spec.argument or not folder.is_dir():
        problem = f"{folder}: the folder does not exist" if spec.argument else "bllip: the spec names no model"
        raise UsageError(f"{problem}; {HOW_TO_INSTALL}")
    models = [model_folder for model_folder in (folder / "parser", folder) if (model_folder / "pSgT.txt").is_file()]
    if not models:
        raise UsageError(f"{folder}: not a model of bllipparser (no pSgT.txt in it); {HOW_TO_INSTALL}")
    settings = {"overparsing": options.overparsing, "small_corpus": options.small_corpus}
    try:
        if models[0] == folder:
            parser = RerankingParser()
            parser.load_parser_model(str(folder), **settings)
        else:
            parser = RerankingParser.from_unified_model_dir(
                str(folder), parsing_options=settings, parser_only=not options.rerank
            )
    except (RuntimeError, ValueError, OSError) as error:
        raise ParserError(f"{folder}: cannot load the model: {first_line(error)}") from error
    rerank = options.rerank and (folder / "reranker").is_dir()
    fingerprint = f"{describe_package('bllipparser')} {digest_folder(folder)} {settings} rerank={rerank}"
    return BllipParser(fingerprint, rerank, parser)


URL = "http://localhost:9000"
MAX_ANSWER_BYTES = 2**26
LIVE_TIMEOUT = 10.0
"""Maximum number of seconds until a server says that it is there."""
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
    """Maximum number of seconds for an answer."""
    version: str = ""
    """The version of the server, as stated by the user; a server does not report its version."""


@dataclass(frozen=True, slots=True)
class CorenlpParser:
    """A CoreNLP server and the connections to it."""

    splits: ClassVar[bool] = True
    fingerprint: str
    url: str
    timeout: int
    pool: "PoolManager" = field(repr=False)
    password: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The HTTP header of the user and password in the URL, if any."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the parse of each tokenised sentence, from one request."""
        text = "\n".join(" ".join(map(escape_word, tokens)) for tokens in sentences)
        return [convert_corenlp_sentence(sentence) for sentence in self._request(text, TOKENIZED_INPUT)]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, from one request."""
        try:
            return [str(token["word"]) for part in self._request(sentence, TOKENIZER_ONLY) for token in part["tokens"]]
        except (KeyError, TypeError):
            raise ValueError(f"{NOT_AS_EXPECTED}: a sentence has no list of words") from None

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text into sentences, and return their parses."""
        return [convert_corenlp_sentence(sentence) for sentence in self._request(text, {})]

    def _request(self, text: str, properties: Mapping[str, str]) -> Sequence[Any]:
        """Return the sentences in the server's answer, whose shape convert_corenlp_sentence checks."""
        from urllib3.exceptions import DecodeError, HTTPError, InvalidHeader, ProtocolError

        query = urlencode({"properties": json.dumps({**ANNOTATORS, **properties})})
        headers = {"Content-Type": "text/plain; charset=utf8", **self.password}
        has_key = bool(self.password)
        try:
            answer = send_in_time(
                self.pool, "POST", f"{self.url}?{query}",
                body=text.encode(), headers=headers, seconds=self.timeout, max_bytes=MAX_ANSWER_BYTES,
            )  # fmt: skip
        except TimeoutError:
            raise TimeoutError(f"the CoreNLP server took over {self.timeout} seconds") from None
        except HTTPError as error:
            is_answer = isinstance(error, DecodeError | InvalidHeader | ProtocolError)
            if not is_answer or isinstance(error.args[-1], ConnectionError):  # closed without an answer: it is gone
                raise ParserError(f"no CoreNLP server answers at {self.url}; {HOW_TO_START}") from error
            raise ValueError(f"{NOT_AS_EXPECTED}: {describe_failure(error, has_key=has_key)}") from None
        if 300 <= answer.status < 400:
            raise ParserError(f"{self.url}: {describe_refusal(answer, has_key=has_key)}")
        if answer.status != 200:
            raise ValueError(f"CoreNLP: {describe_refusal(answer, has_key=has_key)}")
        if len(answer.body) > MAX_ANSWER_BYTES:
            raise ValueError(f"the CoreNLP server's answer is longer than {MAX_ANSWER_BYTES:,} bytes")
        try:
            sentences = parse_json(answer.body)["sentences"]
        except (BadSyntaxError, KeyError, TypeError):
            sentences = None
        if not isinstance(sentences, list):
            raise ValueError(f"{NOT_AS_EXPECTED}: it has no list of sentences")
        return sentences


def convert_corenlp_sentence(sentence: Any) -> ParsedSentence:
    """Convert a sentence from the JSON of the server's answer. Raises ValueError if it has another shape."""
    try:
        tokens, tree = sentence["tokens"], sentence.get("parse")
        edges = {edge["dependent"]: edge for edge in sentence.get("basicDependencies", ())}
        numbers = [token["index"] for token in tokens]
        # Without the annotator depparse, the answer has no dependencies.
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
    from urllib3.exceptions import HTTPError
    from urllib3.util import make_headers, parse_url

    options = replace_options(CorenlpOptions(), spec.options, owner="corenlp")
    if options.timeout <= 0:
        raise UsageError(f"corenlp: option timeout={options.timeout}: must be above 0")
    named_url = (spec.argument or URL).rstrip("/")
    url = named_url.rpartition("@")[2]  # without a password, which no message may repeat
    try:
        parts = parse_url(named_url)
        password = dict(make_headers(basic_auth=unquote(parts.auth))) if parts.auth else {}
        url = parts._replace(auth=None).url if parts.auth else named_url
        pool = make_connection_pool(url, size=1)
        answer = send_in_time(pool, "GET", f"{url}/live", headers=password, seconds=LIVE_TIMEOUT, max_bytes=0)
    except (HTTPError, TimeoutError, ValueError) as error:
        raise ParserError(f"no CoreNLP server answers at {url}; {HOW_TO_START}") from error
    if 300 <= answer.status < 400:
        raise ParserError(f"{url}: {describe_refusal(answer, has_key=bool(password))}")
    return CorenlpParser(f"CoreNLP {options.version or 'unknown'}", url, options.timeout, pool, password)


SPLITTERS = frozenset(("parser", "senter", "sentencizer"))
"""Components of a pipeline that split text into sentences."""

RELATIONS: Mapping[str, str] = {
    "ROOT": "root",
    "dobj": "obj",
    "dative": "iobj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
}
"""The Universal Dependencies names of relations that spaCy's English models name differently."""


@dataclass(frozen=True, slots=True)
class BeneparOptions:
    """Options of benepar."""

    pipeline: str = "en_core_web_md"
    """The spaCy pipeline to which benepar is added."""


@dataclass(frozen=True, slots=True)
class SpacyParser:
    """A loaded spaCy pipeline. With *constituents*, it includes benepar."""

    fingerprint: str
    pipeline: "Language" = field(repr=False)
    constituents: bool = False

    @property
    def splits(self) -> bool:
        """Whether a component of the pipeline splits text into sentences."""
        return bool(SPLITTERS.intersection(self.pipeline.pipe_names))

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the parse of each tokenised sentence."""
        from spacy.tokens import Doc

        documents = [
            Doc(
                self.pipeline.vocab,
                words=list(map(unescape_word, tokens)),
                sent_starts=[place == 0 for place in range(len(tokens))],
            )
            for tokens in sentences
        ]
        return [convert_span(document[:], constituents=self.constituents) for document in self.pipeline.pipe(documents)]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, as the pipeline divides it."""
        return [token.text for token in self.pipeline.tokenizer(sentence) if not token.is_space]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text into sentences, and return their parses."""
        sentences = self.pipeline(text).sents
        parses = (convert_span(span, constituents=self.constituents) for span in sentences)
        return [parsed for parsed in parses if parsed.tokens]


def convert_span(span: "Span", *, constituents: bool) -> ParsedSentence:
    """Convert a sentence of a spaCy document; tokens of white space are left out."""
    # spaCy makes tokens of line breaks and repeated spaces, and may hang words below them: see numbers.get below.
    words = [token for token in span if not token.is_space]
    numbers = {token.i: number for number, token in enumerate(words, 1)}
    has_heads = span.doc.has_annotation("DEP")
    heads = [0 if word.head.i == word.i else numbers.get(word.head.i, 0) for word in words]
    return ParsedSentence(
        tokens=tuple(word.text for word in words),
        tags=tuple(_split_tags([word.tag_ for word in words])),
        tree=span._.parse_string if constituents else None,
        heads=tuple(heads) if has_heads else (),
        relations=tuple(RELATIONS.get(word.dep_, word.dep_) for word in words) if has_heads else (),
    )


def _split_tags(tags: Sequence[str]) -> Iterator[str]:
    """Yield one tag for each token. If both *did* and *n't* have the tag ``VBD_RB``, yield ``VBD``, then ``RB``."""
    for tag, group in groupby(tags):
        count = len(list(group))
        parts = tag.split("_")
        yield from parts if 1 < len(parts) == count else [parts[0]] * count


def load_spacy(spec: Spec) -> SpacyParser:
    """Load a pipeline by its name or folder, by default ``en_core_web_sm``. Raises ParserError or UsageError."""
    replace_options(NoOptions(), spec.options, owner="spacy")
    name = spec.argument or "en_core_web_sm"
    pipeline = _load_spacy_pipeline(name)
    if "tagger" not in pipeline.pipe_names:
        raise ParserError(f"the spaCy pipeline {name} has no tagger, which gives the Penn tags")
    return SpacyParser(_compute_fingerprint(name, pipeline), pipeline)


def load_benepar(spec: Spec) -> SpacyParser:
    """Load a model of benepar, by default ``benepar_en3``. Raises ParserError or UsageError."""
    import benepar  # noqa: F401 - an extra; it makes itself known to spaCy

    options = replace_options(BeneparOptions(), spec.options, owner="benepar")
    model = spec.argument or "benepar_en3"
    pipeline = _load_spacy_pipeline(options.pipeline)
    try:
        pipeline.add_pipe("benepar", config={"model": model})
    except (LookupError, OSError, ValueError) as error:
        raise ParserError(
            f'benepar has no model {model!r}; get it by: python -c "import benepar; benepar.download({model!r})"'
        ) from error
    fingerprint = f"{describe_package('benepar')} {model} {_compute_fingerprint(options.pipeline, pipeline)}"
    return SpacyParser(fingerprint, pipeline, constituents=True)


def _load_spacy_pipeline(name: str) -> Any:
    import spacy

    try:
        return spacy.load(name)
    except (OSError, ValueError) as error:
        advice = "" if "/" in name else f"; install it by: python -m spacy download {name}"
        raise ParserError(f"spaCy has no pipeline {name!r}, and no folder has that name{advice}") from error


def _compute_fingerprint(name: str, pipeline: "Language") -> str:
    meta = pipeline.meta
    content = digest_folder(Path(name)) if Path(name).is_dir() else meta.get("version", "")
    return f"{describe_package('spacy')} {meta['lang']}_{meta.get('name', '')} {content}"


PROCESSORS = "tokenize,pos,lemma,depparse,constituency"
Pipeline = Callable[[Any], "Document"]
"""A function from a text, or from tokenised sentences, to Stanza's document."""


class PipelineInput(Enum):
    """The input of a pipeline: text to split and parse, a sentence to tokenise, or tokenised sentences to parse."""

    TEXT = "text"
    SENTENCE = "sentence"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class StanzaOptions:
    """Options of Stanza."""

    package: str = "default"
    """A set of models, such as ``default_accurate`` or ``default_fast``."""
    dir: str = ""
    """The folder of the models; if empty, Stanza's default folder."""
    gpu: bool = False


@dataclass(frozen=True, slots=True)
class StanzaParser:
    """Stanza with a pipeline for each kind of input."""

    splits: ClassVar[bool] = True
    fingerprint: str
    pipeline: Callable[[PipelineInput], Pipeline] = field(repr=False)
    """The function that loads the pipeline for a kind of input."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the parse of each tokenised sentence; Stanza gets all sentences in one call."""
        document = self.pipeline(PipelineInput.TOKENS)([list(map(unescape_word, tokens)) for tokens in sentences])
        return [convert_stanza_sentence(sentence) for sentence in document.sentences]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, as Stanza divides it."""
        document = self.pipeline(PipelineInput.SENTENCE)(sentence)
        return [word.text for part in document.sentences for word in part.words]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text into sentences, and return their parses."""
        return [convert_stanza_sentence(sentence) for sentence in self.pipeline(PipelineInput.TEXT)(text).sentences]


def convert_stanza_sentence(sentence: "Sentence") -> ParsedSentence:
    """Convert a sentence of a Stanza document, with or without a tree and dependencies."""
    words = sentence.words
    tree = getattr(sentence, "constituency", None)
    has_heads = all(word.head is not None for word in words)
    return ParsedSentence(
        tokens=tuple(word.text for word in words),
        tags=tuple(word.xpos or "" for word in words),
        tree=None if tree is None else str(tree),
        heads=tuple(word.head for word in words) if has_heads else (),
        relations=tuple(word.deprel or "" for word in words) if has_heads else (),
    )


def load_stanza(spec: Spec) -> StanzaParser:
    """Load the models of a language, by default English. Raises ParserError or UsageError."""
    options = replace_options(StanzaOptions(), spec.options, owner="stanza")
    language = spec.argument or "en"
    load = cache(partial(_load_stanza_pipeline, language, options))
    load(PipelineInput.TOKENS)
    fingerprint = f"{describe_package('stanza')} {language} {options.package}"
    return StanzaParser(fingerprint, load)


def _load_stanza_pipeline(language: str, options: StanzaOptions, form: PipelineInput) -> Pipeline:
    import stanza

    folder = {"dir": options.dir} if options.dir else {}
    try:
        pipeline: Pipeline = stanza.Pipeline(
            language,
            processors="tokenize" if form is PipelineInput.SENTENCE else PROCESSORS,
            package=options.package,
            tokenize_pretokenized=form is PipelineInput.TOKENS,
            tokenize_no_ssplit=form is PipelineInput.SENTENCE,
            download_method=None,
            use_gpu=options.gpu,
            verbose=False,
            **folder,
        )
    except (OSError, KeyError, ValueError) as error:
        folder_argument = f", {options.dir!r}" if options.dir else ""
        raise ParserError(
            f"stanza has no model for {language!r} ({options.package}); get it by: "
            f'python -c "import stanza; stanza.download({language!r}{folder_argument})"'
        ) from error
    return pipeline
