"""The loss that keeps cosines, and checkpoints of a repair."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from sentprobe.common.errors import UsageError
from sentprobe.probes.repair.repair_training import (
    COMPLETE,
    KeepCosinesLoss,
    ShortPadding,
    check_checkpoints,
    find_checkpoint,
    freeze_embeddings,
)

ROWS = st.lists(
    st.lists(st.floats(-3, 3), min_size=2, max_size=2).filter(lambda row: max(map(abs, row)) > 0.01),
    min_size=2,
    max_size=4,
).map(lambda rows: rows[: len(rows) // 2 * 2])


class Vectors(nn.Module):
    """A model whose vectors are its inputs."""

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"sentence_embedding": features["vectors"]}


def compute_loss(new: torch.Tensor, old: torch.Tensor, weight: float = 1.0) -> float:
    """Return the loss of the rows of the texts 0 and 1, 2 and 3, and so on."""
    columns = [{"vectors": new[place::2]} for place in (0, 1)]
    return float(KeepCosinesLoss(Vectors(), weight)(columns, old.reshape(len(old) // 2, 2, -1)))


@given(ROWS, st.floats(0.1, 6.2), st.floats(0.5, 5))
def test_rotated_and_scaled_vectors_lose_nothing(rows: list[list[float]], angle: float, scale: float) -> None:
    old = torch.tensor(rows, dtype=torch.float32)
    cosine, sine = torch.cos(torch.tensor(angle)), torch.sin(torch.tensor(angle))
    rotation = torch.stack([torch.stack([cosine, -sine]), torch.stack([sine, cosine])])
    assert compute_loss(scale * old @ rotation, old) == pytest.approx(0, abs=1e-5)


def test_loss_is_the_weighted_mean_square() -> None:
    old, new = torch.tensor([[1.0, 0], [0, 1]]), torch.tensor([[2.0, 0], [3, 0]])
    assert compute_loss(new, old, 5.0) == pytest.approx(5 * (0 + 1 + 1 + 0) / 4)
    # of two rows, the cosines of the first text with each of the three others change
    old, new = torch.eye(4), torch.eye(4)
    new[0] = torch.tensor([1.0, 1, 1, 1])
    assert compute_loss(new, old) == pytest.approx(2 * 3 * 0.25 / 16)


def test_newest_complete_checkpoint_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    assert find_checkpoint(folder, "recipe") is None
    for step in (8, 16, 24):
        (folder / f"checkpoint-{step}").mkdir()
    for step in (8, 16):
        (folder / f"checkpoint-{step}" / COMPLETE).touch()
    assert find_checkpoint(folder, "recipe") == folder / "checkpoint-16"
    assert find_checkpoint(folder, "another recipe") is None
    assert not [*folder.glob("checkpoint-*")]


def test_folder_of_others_is_no_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "out.checkpoints"
    check_checkpoints(folder)
    folder.mkdir()
    check_checkpoints(folder)
    find_checkpoint(folder, "recipe")
    check_checkpoints(folder)
    for other in (tmp_path, tmp_path / "file"):
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match="checkpoints belong there, and it has other content"):
            check_checkpoints(other)


class Sums(nn.Module):
    """A model whose vectors are sums of the tokens' embeddings; it notes the sizes of its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.layer = nn.Embedding(9, 3), nn.Linear(3, 3)
        self.sizes: list[tuple[int, ...]] = []

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        self.sizes.append(tuple(features["input_ids"].shape))
        vectors = self.layer(self.words(features["input_ids"])) * features["attention_mask"][:, :, None]
        return {"sentence_embedding": vectors.sum(1)}


@given(st.lists(st.integers(1, 12), min_size=1, max_size=30), st.booleans())
def test_parts_of_a_batch_have_the_vectors_of_the_batch(lengths: list[int], is_left: bool) -> None:
    model = Sums()
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    mask = mask.flip(1) if is_left else mask
    features = {"input_ids": torch.randint(9, mask.shape), "attention_mask": mask}
    vectors = ShortPadding(model)(features)["sentence_embedding"]
    assert sum(rows * columns for rows, columns in model.sizes) <= mask.numel()
    torch.testing.assert_close(vectors, model(features)["sentence_embedding"])


def list_trained(model: nn.Module) -> list[str]:
    return [name for name, parameter in model.named_parameters() if parameter.requires_grad]


def test_words_are_not_trained_beside_other_weights() -> None:
    model = Sums()
    with freeze_embeddings(model):
        assert list_trained(model) == ["layer.weight", "layer.bias"]
    assert list_trained(model) == ["words.weight", "layer.weight", "layer.bias"]
    with freeze_embeddings(words := nn.Embedding(2, 2)):
        assert list_trained(words) == ["weight"]
