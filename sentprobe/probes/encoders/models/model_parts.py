"""Hidden states of a transformers model: outputs of attention and MLP modules, and pooling over tokens.

Find words of a sentence by name, such as ``agent`` or ``verb``, with the parser or in an analysed table.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from sentprobe.common.errors import UsageError, first_line
from sentprobe.common.inputs import TABLE_MARKER, record_input
from sentprobe.common.values import BadSyntaxError, parse_json
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.sentence_plan import plan_sentence
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.probes.encoders.encoder import EncoderError


class ModelPart(StrEnum):
    """The part of each transformer block whose output is read."""

    RESIDUAL = "residual"
    """The residual stream after the block."""
    ATTENTION = "attention"
    """The attention module, before its output is added to the residual stream."""
    MLP = "mlp"
    """The MLP module, before its output is added to the residual stream."""


_MODULES = {
    ModelPart.ATTENTION: (
        "attention.output.dense",  # BERT, RoBERTa, ELECTRA, DeBERTa
        "attention.attn.o",  # MPNet
        "self_attention.dense",  # BLOOM (the whole attention module adds the residual stream), Falcon
        "attn",  # GPT-2, GPT-J, ModernBERT
        "self_attn",  # Llama, Mistral, Qwen, Gemma, OPT
        "attention",  # GPT-NeoX, DistilBERT
        "layer.0.SelfAttention",  # T5
    ),
    ModelPart.MLP: ("output.dense", "mlp.dense_4h_to_h", "mlp", "ffn", "fc2", "layer.1.DenseReluDense"),
}
"""Possible paths of the attention or MLP module within a block, the most specific first."""


def find_part_modules(model: nn.Module, part: ModelPart, *, name: str) -> list[nn.Module]:
    """Return the attention or MLP module of each block; an empty list for RESIDUAL. Raises EncoderError."""
    if part is ModelPart.RESIDUAL:
        return []
    for candidates in _iterate_block_lists(model):
        for path in _MODULES[part]:
            with suppress(AttributeError):
                if modules := [block.get_submodule(path) for block in candidates]:
                    return modules
    raise EncoderError(
        f"{name}: the {part} modules of a {type(model).__name__} are not known; part=residual reads any model"
    )


def find_blocks(model: nn.Module, *, name: str) -> nn.ModuleList:
    """Return the transformer blocks of a model, in order. Raises EncoderError."""
    for blocks in _iterate_block_lists(model):
        return blocks
    raise EncoderError(f"{name}: the blocks of a {type(model).__name__} are not known")


def _iterate_block_lists(model: nn.Module) -> Iterator[nn.ModuleList]:
    """Yield the lists of modules that have as many entries as the model has layers."""
    config: Any = model.config
    yield from (m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == config.num_hidden_layers)


@contextmanager
def record_outputs(modules: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Yield a list to which the modules' outputs are added, (batch, time, dim) or (batch * time, dim) each."""
    outputs: list[Tensor] = []

    def record(_module: nn.Module, _inputs: Any, output: Any) -> None:
        output = output[0] if isinstance(output, tuple) else output
        outputs.append(output.clone())  # a copy, since Falcon later adds to the output in place

    hooks = [module.register_forward_hook(record) for module in modules]
    try:
        yield outputs
    finally:
        for hook in hooks:
            hook.remove()


class Pooling(StrEnum):
    """How the hidden states of tokens are pooled into a sentence vector."""

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    LAST = "last"


def pool_states(states: Tensor, mask: Tensor, *, pooling: Pooling) -> Tensor:
    """Pool hidden states, (batch, time, dim), into (batch, dim) float32; *mask*, (batch, time), is 0 for padding."""
    return POOLINGS[pooling](states.float(), mask.bool())


def _pool_first(states: Tensor, mask: Tensor) -> Tensor:
    return states[torch.arange(len(states), device=states.device), mask.int().argmax(dim=1)]


def _pool_mean(states: Tensor, mask: Tensor) -> Tensor:
    masked = states.masked_fill(~mask[:, :, None], 0.0)  # (batch, time, dim)
    return masked.sum(dim=1) / mask.sum(dim=1, keepdim=True)


POOLINGS: Mapping[Pooling, Callable[[Tensor, Tensor], Tensor]] = {
    Pooling.CLS: _pool_first,
    Pooling.MEAN: _pool_mean,
    Pooling.MAX: lambda states, mask: states.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1),
    Pooling.LAST: lambda states, mask: _pool_first(states.flip(1), mask.flip(1)),
}


VERB, SUBJECT = "verb", "subject"
GRAMMAR_NAMES = (VERB, SUBJECT, *(role.value for role in ev.ROLES))
TABLE_NAMES = (VERB, SUBJECT, "object")
SLOT = re.compile(
    rf"(({'|'.join(role.value for role in ev.ROLES)})\.((conjunct|clause)\.)*)*"
    r"(noun|det|rel|verb|modal|(adverb|adjective)\d)"
)
"""The form of a slot, the name of a word in a sentence plan, such as ``agent.clause.verb``."""

WordIndices = Mapping[str, int]
"""The index, from 0, of each named word of a sentence, such as ``{"agent": 1, "verb": 2}``."""


@dataclass(frozen=True, slots=True)
class GrammarWords:
    """Finds named words, such as ``agent``, by parsing a sentence; omits a name if parses disagree on its word."""

    lexicon: Lexicon
    content: bytes = b""
    """The lexicon's language code (empty for English) and the content of its file, for the encoder's fingerprint."""
    names: Sequence[str] = GRAMMAR_NAMES
    """The names that error messages list; slots are valid names, too."""

    @property
    def source(self) -> str:
        """The end of an error message about a sentence that cannot be parsed."""
        return (
            f" in the grammar of generated {self.lexicon.language.name} sentences "
            "(language=de: German; for natural text, name its table: table=FOLDER)"
        )

    def has_name(self, name: str) -> bool:
        """Return whether *name* is in ``self.names`` or has the form of a slot, such as ``agent.clause.verb``."""
        return name in self.names or SLOT.fullmatch(name) is not None

    def find_words(self, sentences: Sequence[str]) -> list[WordIndices]:
        """Return, for each sentence, a map from a word's name or slot to its index; it is empty if parsing fails."""
        return [self._find_words_of(sentence) for sentence in sentences]

    def _find_words_of(self, sentence: str) -> WordIndices:
        try:
            events = parse(sentence, self.lexicon)
        except (ParseError, ValueError):
            return {}
        first, *alternatives = (find_event_words(event, self.lexicon.language) for event in events)
        return {name: index for name, index in first.items() if all(words.get(name) == index for words in alternatives)}


def find_event_words(event: ev.Event, language: Language) -> WordIndices:
    """Return a dictionary from each slot (``agent.clause.verb``) and name (``agent``) of an event to its word's index.

    Each name belongs to a word of the main clause or, if the main clause has no such word, of the first relative
    clause that has one.

    >>> from sentprobe.lexicon import english
    >>> words = find_event_words(*parse("the doctors that the lawyer helped slept", english()), english().language)
    >>> words["agent"], words["patient"], words["verb"], words["agent.clause.verb"]
    (1, 1, 6, 5)
    """
    indices = {token.slot: index for index, token in enumerate(plan_sentence(event, language).tokens) if token.slot}
    roles = {name: indices[slot] for name, slot in reversed([*_iterate_roles(event)]) if slot in indices}
    return indices | roles


def _iterate_roles(event: ev.Event, path: str = "", head: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, slot) pairs such as ("agent", "agent.noun"), main clause first. *head*: the modified noun's slot."""
    yield VERB, f"{path}verb"
    slots = {role: head if event.argument(role) is ev.GAP else f"{path}{role.value}.noun" for role in ev.ROLES}
    yield SUBJECT, slots[event.subject]
    yield from ((role.value, slot) for role, slot in slots.items())
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            yield from _iterate_roles(person.clause.event, f"{path}{role.value}.clause.", slots[role])


@dataclass(frozen=True, slots=True)
class TableWords:
    """Finds the main verb, its subject and its object in an analysed table."""

    source: str
    """The end of messages about the table, such as " in tables/news"."""
    files: tuple[str, ...]
    content: bytes
    """The content of the table's ``table.json``, which has the checksums of its files, for the fingerprint."""
    names: Sequence[str] = TABLE_NAMES

    def has_name(self, name: str) -> bool:
        return name in self.names

    def find_words(self, sentences: Sequence[str]) -> list[WordIndices]:
        """Return a dictionary for each sentence: it maps the name of a word, such as "subject", to the word's index.

        It is empty for a sentence that is not in the analysed table. Raises EncoderError.
        """
        import pyarrow as pa
        from pyarrow import dataset

        is_asked = dataset.field("text").isin(pa.array(sentences, pa.string()))
        columns = ["text", *(f"{name}_index" for name in TABLE_NAMES)]
        try:
            rows = dataset.dataset([*self.files]).to_table(columns, filter=is_asked).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise EncoderError(f"cannot read the table{self.source}: {first_line(error)}") from None
        words_by_text = {
            row["text"]: {name: index for name in TABLE_NAMES if (index := row[f"{name}_index"]) is not None}
            for row in rows
        }
        return [words_by_text.get(sentence, {}) for sentence in sentences]


WordFinder: TypeAlias = GrammarWords | TableWords
"""An object that finds the named words of sentences."""


def open_table_words(path: Path) -> TableWords:
    """Open an analysed table to look up the main verb, subject and object of a sentence. Raises UsageError."""
    try:
        record_input(path)
        content = (path / TABLE_MARKER).read_bytes()
        head = parse_json(content)
        files = tuple(str(path / head.get("folder", "shards") / shard["file"]) for shard in head["shards"])
    except (OSError, BadSyntaxError, KeyError, TypeError, AttributeError):
        raise UsageError(f"hf: option table={path}: not an analysed table, as probe analyze writes it") from None
    return TableWords(f" in {path}", files, content)
