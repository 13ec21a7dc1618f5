"""A tiny GPT-2 and a tiny BERT whose words have several tokens, scored token by token by the slow path."""

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from sentprobe.probes.language_models.pair_accuracies import StoredScores
from sentprobe.probes.language_models.scorers import LanguageModel, load_language_model, parse_models

WORDS = ("the", "man", "men", "sleep", "sleeps", "did", "not", "dance", "danced", "who")
_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "m", "sl", "d", "who", "not", ".", "?",
           *(f"##{piece}" for piece in ("an", "en", "eep", "s", "id", "ance", "d", "a", "e")))  # fmt: skip


def load_scorer(text: str) -> LanguageModel:
    """The language model of a spec, which is no file of scores."""
    model = load_language_model(*parse_models([text]))
    assert not isinstance(model, StoredScores)
    return model


def make_bert(folder: Path) -> Path:
    """A random masked model; its tokenizer cuts words into pieces."""
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(_PIECES)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    frame = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=frame)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    config = transformers.BertConfig(
        vocab_size=len(_PIECES), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
    return _save(folder, transformers.BertForMaskedLM, config, tokenizer, names)


def make_gpt2(folder: Path, *, has_start: bool = True) -> Path:
    """A random causal model; its tokens are bytes, "the" and " m"."""
    letters = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "th", "the", "Ġm", "<|end|>"]
    merges = [("t", "h"), ("th", "e"), ("Ġ", "m")]
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    names = {"bos_token": "<|end|>", "eos_token": "<|end|>"} if has_start else {}
    config = transformers.GPT2Config(
        vocab_size=len(letters), n_embd=16, n_layer=2, n_head=2, n_positions=64, initializer_range=0.5
    )
    return _save(folder, transformers.GPT2LMHeadModel, config, tokenizer, names)


def _save(folder: Path, kind: Any, config: Any, tokenizer: Tokenizer, names: dict[str, str]) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind(config).save_pretrained(folder)
    make: Any = transformers.PreTrainedTokenizerFast  # annotated in part
    make(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
    return folder


def load_reference(folder: Path, *, masked: bool) -> tuple[Any, Any]:
    """The model and its tokenizer, as transformers loads them."""
    kind: Any = transformers.AutoModelForMaskedLM if masked else transformers.AutoModelForCausalLM
    return kind.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder)


def score_causal_slowly(folder: Path, text: str, *, bos: bool = True) -> list[float]:
    """The log probability of each token after those before it: a forward pass for each, without padding."""
    model, tokenizer = load_reference(folder, masked=False)
    ids = ([tokenizer.bos_token_id] if bos else []) + tokenizer(text)["input_ids"]
    scores = []
    for place in range(1, len(ids)):
        with torch.no_grad():
            logits = model(torch.tensor([ids[:place]])).logits[0, -1]
        scores.append(float(torch.log_softmax(logits.double(), dim=0)[ids[place]]))
    return scores


def score_masked_slowly(folder: Path, text: str, *, within_word: bool) -> list[float]:
    """The log probability of each token where it is masked, with the later pieces of its word: a pass for each."""
    model, tokenizer = load_reference(folder, masked=True)
    ids = tokenizer(text)["input_ids"]
    pieces = tokenizer.convert_ids_to_tokens(ids)
    scores = []
    for place in range(1, len(ids) - 1):
        end = place + 1
        while within_word and pieces[end].startswith("##"):
            end += 1
        masked = [*ids[:place], *[tokenizer.mask_token_id] * (end - place), *ids[end:]]
        with torch.no_grad():
            logits = model(torch.tensor([masked])).logits[0, place]
        scores.append(float(torch.log_softmax(logits.double(), dim=0)[ids[place]]))
    return scores
