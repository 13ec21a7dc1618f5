"""Stanza (Qi et al. 2020): constituents, Penn tags and Universal Dependencies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from sentprobe.probes.syntax.parser import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import Parsed, plain_word
from sentprobe.specs import Spec, with_options
from sentprobe.versions import library

if TYPE_CHECKING:
    from stanza.models.common.doc import Document, Sentence


PROCESSORS = "tokenize,pos,lemma,depparse,constituency"

Pipeline = Callable[[Any], "Document"]
"""From text, or from sentences in tokens."""


class Input(Enum):
    """What a pipeline is given."""

    TEXT = "text"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class StanzaOptions:
    """What may be said of it."""

    package: str = "default"
    """Such as ``default_accurate`` or ``default_fast``."""
    dir: str = ""
    """The folder of the models; Stanza's own unless given."""
    gpu: bool = False


@dataclass(frozen=True, slots=True)
class StanzaParser:
    """Stanza's pipelines: one for text, and one for sentences in tokens."""

    fingerprint: str
    pipeline: Callable[[Input], Pipeline] = field(repr=False)
    """Gives the one or the other."""

    @property
    def splits(self) -> bool:
        """Yes."""
        return True

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Parse sentences in tokens, all at once."""
        document = self.pipeline(Input.TOKENS)(
            [list(map(plain_word, tokens)) for tokens in sentences]
        )
        return [parsed_of(sentence) for sentence in document.sentences]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text and parse its sentences."""
        return [parsed_of(sentence) for sentence in self.pipeline(Input.TEXT)(text).sentences]


def parsed_of(sentence: "Sentence") -> Parsed:
    """Return what a sentence of a Stanza document holds; it may lack tree or dependencies."""
    words = sentence.words
    tree = getattr(sentence, "constituency", None)
    has_heads = all(word.head is not None for word in words)
    return Parsed(
        tokens=tuple(word.text for word in words),
        tags=tuple(word.xpos or "" for word in words),
        tree=None if tree is None else str(tree),
        heads=tuple(word.head for word in words) if has_heads else (),
        relations=tuple(word.deprel or "" for word in words) if has_heads else (),
    )


def load_stanza(spec: Spec) -> StanzaParser:
    """Load the models of a language; ``stanza:en`` when the spec names none.

    Raises:
        ParserError: the models are not there.
        UsageError: an unknown option.
    """
    options = with_options(StanzaOptions(), spec.options, owner="stanza")
    language = spec.argument or "en"
    load = cache(partial(_pipeline, language, options))
    load(Input.TOKENS)
    made = f"{library('stanza')} {language} {options.package}"
    return StanzaParser(made, load)


def _pipeline(language: str, options: StanzaOptions, form: Input) -> Pipeline:
    import stanza  # noqa: PLC0415 - an extra

    folder = {"dir": options.dir} if options.dir else {}
    try:
        pipeline: Pipeline = stanza.Pipeline(
            language,
            processors=PROCESSORS,
            package=options.package,
            tokenize_pretokenized=form is Input.TOKENS,
            download_method=None,
            use_gpu=options.gpu,
            verbose=False,
            **folder,
        )
    except (OSError, KeyError, ValueError) as error:
        where = f", {options.dir!r}" if options.dir else ""
        raise ParserError(
            f"stanza has no model for {language!r} ({options.package}); get it by: "
            f'python -c "import stanza; stanza.download({language!r}{where})"'
        ) from error
    return pipeline
