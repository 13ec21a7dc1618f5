"""The parser of Charniak and Johnson (2005), through the library ``bllipparser``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sentprobe.errors import UsageError
from sentprobe.probes.syntax.parsers import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import ParsedSentence
from sentprobe.specs import Spec, replace_options
from sentprobe.versions import describe_package, digest_folder

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
        raise ParserError(f"{folder}: cannot load the model: {error}") from error
    rerank = options.rerank and (folder / "reranker").is_dir()
    fingerprint = f"{describe_package('bllipparser')} {digest_folder(folder)} {settings} rerank={rerank}"
    return BllipParser(fingerprint, rerank, parser)
