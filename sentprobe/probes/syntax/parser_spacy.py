"""The parsers spaCy (tags and dependencies) and benepar (constituents; Kitaev et al. 2019)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.probes.syntax.parsers import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import ParsedSentence, unescape_word
from sentprobe.specs import Spec, replace_options
from sentprobe.versions import describe_package, digest_folder

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

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
    replace_options(_NoOptions(), spec.options, owner="spacy")
    name = spec.argument or "en_core_web_sm"
    pipeline = _load_pipeline(name)
    if "tagger" not in pipeline.pipe_names:
        raise ParserError(f"the spaCy pipeline {name} has no tagger, which gives the Penn tags")
    return SpacyParser(_compute_fingerprint(name, pipeline), pipeline)


def load_benepar(spec: Spec) -> SpacyParser:
    """Load a model of benepar, by default ``benepar_en3``. Raises ParserError or UsageError."""
    import benepar  # noqa: F401 - an extra; it makes itself known to spaCy

    options = replace_options(BeneparOptions(), spec.options, owner="benepar")
    model = spec.argument or "benepar_en3"
    pipeline = _load_pipeline(options.pipeline)
    try:
        pipeline.add_pipe("benepar", config={"model": model})
    except (LookupError, OSError, ValueError) as error:
        raise ParserError(
            f'benepar has no model {model!r}; get it by: python -c "import benepar; benepar.download({model!r})"'
        ) from error
    fingerprint = f"{describe_package('benepar')} {model} {_compute_fingerprint(options.pipeline, pipeline)}"
    return SpacyParser(fingerprint, pipeline, constituents=True)


@dataclass(frozen=True, slots=True)
class _NoOptions:
    pass


def _load_pipeline(name: str) -> Any:
    import spacy

    try:
        return spacy.load(name)
    except (OSError, ValueError) as error:
        raise ParserError(
            f"spaCy has no pipeline {name!r}, and no folder has that name; install it by: "
            f"python -m spacy download {name}"
        ) from error


def _compute_fingerprint(name: str, pipeline: "Language") -> str:
    meta = pipeline.meta
    content = digest_folder(Path(name)) if Path(name).is_dir() else meta.get("version", "")
    return f"{describe_package('spacy')} {meta['lang']}_{meta.get('name', '')} {content}"
