"""The Charniak-Johnson parser (Charniak and Johnson 2005), through ``bllipparser``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.probes.syntax.parser import ParserError, ParserOutcome, find_model
from sentprobe.probes.syntax.trees import Parsed
from sentprobe.specs import Spec, with_options
from sentprobe.versions import folder_digest, library

HOW = (
    "write --parser bllip:FOLDER with a model in the folder; a full one comes by: "
    "python -m nltk.downloader bllip_wsj_no_aux"
)


@dataclass(frozen=True, slots=True)
class BllipOptions:
    """What may be said of it."""

    rerank: bool = True
    """Use the reranker, where the model has one."""
    overparsing: int = 21
    """How long it looks for better parses after the first; 5 is several times as quick."""
    small_corpus: bool = True
    """Smooth more, for models from little data."""


@dataclass(frozen=True, slots=True)
class BllipParser:
    """A loaded parser; there can be one in a process. It cannot split text."""

    fingerprint: str
    rerank: bool
    parser: Any = field(repr=False)

    @property
    def splits(self) -> bool:
        """No."""
        return False

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Return the best parse of each sentence, or why there is none."""
        return [self._parse_one(tokens) for tokens in sentences]

    def _parse_one(self, tokens: Sequence[str]) -> ParserOutcome:
        found = self.parser.parse(list(tokens), rerank=self.rerank)
        if not len(found):
            return "the parser found no parse"
        return Parsed(tokens=tuple(tokens), tree=str(found[0].ptb_parse))

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Refuse: it cannot split text."""
        raise NotImplementedError(text)


def load_bllip(spec: Spec) -> BllipParser:
    """Load the model in the folder that the spec names, with a parser in it or in ``parser/``.

    Raises:
        ParserError: there is no model, or the process has loaded another.
        UsageError: an unknown option.
    """
    from bllipparser import RerankingParser  # noqa: PLC0415 - an extra

    options = with_options(BllipOptions(), spec.options, owner="bllip")
    folder = find_model(spec.argument, owner="bllip", how=HOW)
    models = [each for each in (folder / "parser", folder) if (each / "pSgT.txt").is_file()]
    if not models:
        raise UsageError(f"{folder}: not a model of bllipparser (no pSgT.txt in it); {HOW}")
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
    made = f"{library('bllipparser')} {folder_digest(folder)} {settings} rerank={rerank}"
    return BllipParser(made, rerank, parser)
