"""Scores of a model during training, every tenth step of an ordinary PyTorch loop.

The model averages word vectors, weighted by their position in the sentence, and learns to name the
first noun. Before training all positions weigh the same: the model is a bag of words, whose
accuracy is 0.5 by construction. It learns which noun comes first, not which noun is the agent: "the
lawyer was helped by the man" moves away from "the man helped the lawyer", so the accuracy falls
below 0.5. `probe show curve` prints the curve, `probe show curve --plot curve.svg` draws it.

Prints:

    step 0: role 0.50
    step 10: role 0.42
    step 20: role 0.35
    step 30: role 0.33
"""

from pathlib import Path

import torch

import sentprobe


class Model(torch.nn.Module):
    """Position-weighted averages of word vectors, with the head that is trained on them."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, int] = {}
        self.vectors = torch.nn.Embedding(300, 16)
        self.places = torch.nn.Parameter(torch.ones(40, 16))
        self.head = torch.nn.Linear(16, 300)

    def rows(self, text: str) -> list[int]:
        """Return the indices of a sentence's words."""
        return [self.words.setdefault(word, len(self.words)) for word in text.split()]

    def encode(self, sentences: list[str]) -> torch.Tensor:
        """Return a vector for each sentence."""
        rows = [self.rows(text) for text in sentences]
        return torch.stack([(self.vectors(torch.tensor(row)) * self.places[: len(row)]).mean(0) for row in rows])


sentprobe.generate("texts.txt", template="transitive", n=300, vocabulary="compeval", seed=1)
texts = Path("texts.txt").read_text("utf-8").splitlines()

torch.manual_seed(0)
model = Model()
first_nouns = torch.tensor([model.rows(text)[1] for text in texts])
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(31):
    if step % 10 == 0:
        scores = sentprobe.score(model, step=step, contrasts=["role", "tense"], triplets=20, out="curve", name="places")
        print(f"step {step}: role {scores['geometry_role_form']:.2f}")
    loss = torch.nn.functional.cross_entropy(model.head(model.encode(texts)), first_nouns)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
