"""What a model gains while it is trained, asked at every tenth step of an ordinary loop.

The model averages word vectors, weighed by their place in the sentence, and is trained to tell
which noun comes first. Before training all places weigh the same: it is a bag of words, and at 0.5
by a theorem. What it learns is who comes first, not who did it: "the lawyer was helped by the man"
moves away from "the man helped the lawyer", so the figure falls below 0.5.
`probe show curve` prints the curve, `probe show curve --plot curve.svg` draws it.

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
    """Averages of word vectors, weighed by place; and what is trained on them."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, int] = {}
        self.vectors = torch.nn.Embedding(300, 16)
        self.places = torch.nn.Parameter(torch.ones(40, 16))
        self.head = torch.nn.Linear(16, 300)

    def rows(self, text: str) -> list[int]:
        """Return the numbers of a sentence's words."""
        return [self.words.setdefault(word, len(self.words)) for word in text.split()]

    def encode(self, sentences: list[str]) -> torch.Tensor:
        """Return a vector for each sentence."""
        rows = [self.rows(text) for text in sentences]
        return torch.stack(
            [(self.vectors(torch.tensor(row)) * self.places[: len(row)]).mean(0) for row in rows]
        )


sentprobe.generate("texts.txt", template="transitive", n=300, vocabulary="compeval", seed=1)
texts = Path("texts.txt").read_text("utf-8").splitlines()

torch.manual_seed(0)
model = Model()
first_nouns = torch.tensor([model.rows(text)[1] for text in texts])
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(31):
    if step % 10 == 0:
        scores = sentprobe.score(
            model, step=step, contrasts=["role", "tense"], triplets=20, out="curve", name="places"
        )
        print(f"step {step}: role {scores['geometry_role_form']:.2f}")
    loss = torch.nn.functional.cross_entropy(model.head(model.encode(texts)), first_nouns)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
