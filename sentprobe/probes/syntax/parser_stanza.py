"""The parser Stanza (Qi et al. 2020): constituents, Penn tags and Universal Dependencies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from sentprobe.probes.syntax.parsers import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import ParsedSentence, unescape_word
from sentprobe.specs import Spec, replace_options
from sentprobe.versions import describe_package

if TYPE_CHECKING:
    from stanza.models.common.doc import Document, Sentence

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
        return [convert_sentence(sentence) for sentence in document.sentences]

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, as Stanza divides it."""
        document = self.pipeline(PipelineInput.SENTENCE)(sentence)
        return [word.text for part in document.sentences for word in part.words]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text into sentences, and return their parses."""
        return [convert_sentence(sentence) for sentence in self.pipeline(PipelineInput.TEXT)(text).sentences]


def convert_sentence(sentence: "Sentence") -> ParsedSentence:
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
    load = cache(partial(_load_pipeline, language, options))
    load(PipelineInput.TOKENS)
    fingerprint = f"{describe_package('stanza')} {language} {options.package}"
    return StanzaParser(fingerprint, load)


def _load_pipeline(language: str, options: StanzaOptions, form: PipelineInput) -> Pipeline:
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
