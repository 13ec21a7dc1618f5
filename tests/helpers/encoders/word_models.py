"""Random transformers whose tokens are words, and a task of their sentences with mirror pairs."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from sentprobe.probes.datasets.dataset import Card, Items, ProbeDataset, Split

NOUNS = ("man", "woman", "doctor", "lawyer", "student", "professor", "boy", "girl")


def save_word_model(folder: Path, sentences: Sequence[str], *, kind: str) -> Path:
    """A random ``Bert`` (with a frame of special tokens) or ``GPT2LMHead`` of width 16 and two layers."""
    words = ["?", "[", "]", *sorted({word for sentence in sentences for word in sentence.split()})]
    tokenizer: Any = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if kind == "Bert":
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[ $A ]", special_tokens=[("[", 1), ("]", 2)]
        )  # fmt: skip
        config: Any = transformers.BertConfig(
            vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=32, initializer_range=0.5,
        )  # fmt: skip
    else:
        config = transformers.GPT2Config(
            vocab_size=len(words), n_embd=16, n_layer=2, n_head=2, n_positions=32, initializer_range=0.5,
            bos_token_id=1, eos_token_id=2,
        )  # fmt: skip
    make: Any = transformers.PreTrainedTokenizerFast
    make(tokenizer_object=tokenizer, model_max_length=32, pad_token="?").save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, f"{kind}Model")(config).save_pretrained(folder)
    return folder


def make_role_data(nouns: Sequence[str] = NOUNS) -> ProbeDataset:
    """A task of sentences *the man helped the doctor*: is the noun the agent? Neighbours in *nouns* are test items."""
    tested = {frozenset(pair) for pair in pairwise(nouns)}
    sentences: list[str] = []
    splits: dict[Split, list[tuple[int, list[int], int]]] = {Split.TRAIN: [], Split.TEST: []}
    words = (*nouns, "help")
    for first, second in ((a, b) for i, a in enumerate(nouns) for b in nouns[i + 1 :]):
        split = Split.TEST if {first, second} in tested else Split.TRAIN
        for agent, patient in ((first, second), (second, first)):
            sentences.append(f"the {agent} helped the {patient}")
            for noun in (first, second):
                item = (len(sentences) - 1, [words.index(noun), len(nouns)], int(noun == agent))
                splits[split].append(item)
    items = {}
    for split, rows in splits.items():
        columns: Any = [*map(list, zip(*rows, strict=True))]
        items[split] = Items(*columns)
    return ProbeDataset(
        name="SemRole", sentences=tuple(sentences), labels=("FALSE", "TRUE"), probe_words=words,
        splits=items, card=Card("SemRole"),
    )  # fmt: skip
