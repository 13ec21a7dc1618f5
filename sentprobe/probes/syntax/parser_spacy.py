"""spaCy's pipelines: tags and dependencies; and with benepar (Kitaev et al. 2019), constituents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.probes.syntax.parser import ParserError, ParserOutcome
from sentprobe.probes.syntax.trees import Parsed, plain_word
from sentprobe.specs import Spec, with_options
from sentprobe.versions import folder_digest, library

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span


SPLITTERS = frozenset(("parser", "senter", "sentencizer"))
"""The components that set the boundaries of sentences."""

RELATIONS: Mapping[str, str] = {
    "ROOT": "root",
    "dobj": "obj",
    "dative": "iobj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
}
"""The relations of spaCy's English models that Universal Dependencies call otherwise."""


@dataclass(frozen=True, slots=True)
class BeneparOptions:
    """What may be said of benepar."""

    pipeline: str = "en_core_web_md"
    """The spaCy pipeline that it goes on top of."""


@dataclass(frozen=True, slots=True)
class SpacyParser:
    """A loaded pipeline; *constituents* where benepar is in it."""

    fingerprint: str
    pipeline: "Language" = field(repr=False)
    constituents: bool = False

    @property
    def splits(self) -> bool:
        """Whether a component of it splits text."""
        return bool(SPLITTERS.intersection(self.pipeline.pipe_names))

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[ParserOutcome]:
        """Parse sentences in tokens; each is kept as one."""
        from spacy.tokens import Doc  # noqa: PLC0415 - an extra

        documents = [
            Doc(
                self.pipeline.vocab,
                words=list(map(plain_word, tokens)),
                sent_starts=[place == 0 for place in range(len(tokens))],
            )
            for tokens in sentences
        ]
        return [
            parsed_of(document[:], constituents=self.constituents)
            for document in self.pipeline.pipe(documents)
        ]

    def parse_text(self, text: str) -> list[ParserOutcome]:
        """Split a text and parse its sentences."""
        sentences = self.pipeline(text).sents
        found = (parsed_of(each, constituents=self.constituents) for each in sentences)
        return [parsed for parsed in found if parsed.tokens]


def parsed_of(span: "Span", *, constituents: bool) -> Parsed:
    """Return what a span of a spaCy document holds, without tokens of white space."""
    words = [token for token in span if not token.is_space]
    numbers = {token.i: number for number, token in enumerate(words, 1)}
    has_heads = span.doc.has_annotation("DEP")
    heads = [0 if word.head.i == word.i else numbers.get(word.head.i, 0) for word in words]
    return Parsed(
        tokens=tuple(word.text for word in words),
        tags=tuple(_tags([word.tag_ for word in words])),
        tree=span._.parse_string if constituents else None,
        heads=tuple(heads) if has_heads else (),
        relations=tuple(RELATIONS.get(word.dep_, word.dep_) for word in words) if has_heads else (),
    )


def _tags(tags: Sequence[str]) -> Iterator[str]:
    """Yield the tags; ``VBD_RB`` on both parts of *didn't* becomes one tag for each."""
    for tag, group in groupby(tags):
        count = len(list(group))
        parts = tag.split("_")
        yield from parts if 1 < len(parts) == count else [parts[0]] * count


def load_spacy(spec: Spec) -> SpacyParser:
    """Load a pipeline by its name or folder; ``spacy:en_core_web_sm`` when the spec names none.

    Raises:
        ParserError: the pipeline is not there, or does not tag.
        UsageError: an option is given; there are none.
    """
    with_options(_NoOptions(), spec.options, owner="spacy")
    name = spec.argument or "en_core_web_sm"
    pipeline = _load(name)
    if "tagger" not in pipeline.pipe_names:
        raise ParserError(f"the spaCy pipeline {name} has no tagger, which gives the Penn tags")
    return SpacyParser(_fingerprint(name, pipeline), pipeline)


def load_benepar(spec: Spec) -> SpacyParser:
    """Load a model of benepar, ``benepar:benepar_en3`` when the spec names none.

    Raises:
        ParserError: the model, or the spaCy pipeline under it, is not there.
        UsageError: an unknown option.
    """
    import benepar  # noqa: F401, PLC0415 - an extra; it makes itself known to spaCy

    options = with_options(BeneparOptions(), spec.options, owner="benepar")
    model = spec.argument or "benepar_en3"
    pipeline = _load(options.pipeline)
    try:
        pipeline.add_pipe("benepar", config={"model": model})
    except (LookupError, OSError, ValueError) as error:
        raise ParserError(
            f"benepar has no model {model!r}; get it by: "
            f'python -c "import benepar; benepar.download({model!r})"'
        ) from error
    made = f"{library('benepar')} {model} {_fingerprint(options.pipeline, pipeline)}"
    return SpacyParser(made, pipeline, constituents=True)


@dataclass(frozen=True, slots=True)
class _NoOptions:
    pass


def _load(name: str) -> Any:
    import spacy  # noqa: PLC0415 - an extra

    try:
        return spacy.load(name)
    except (OSError, ValueError) as error:
        raise ParserError(
            f"spaCy has no pipeline {name!r}, and there is no such folder of one; get it by: "
            f"python -m spacy download {name}"
        ) from error


def _fingerprint(name: str, pipeline: "Language") -> str:
    meta = pipeline.meta
    content = folder_digest(Path(name)) if Path(name).is_dir() else meta.get("version", "")
    return f"{library('spacy')} {meta['lang']}_{meta.get('name', '')} {content}"
