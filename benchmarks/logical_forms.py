"""Exact matches of a small LSTM on compositional splits: ``python benchmarks/logical_forms.py SPLIT [EPOCHS]``.

The network is that of Kim and Linzen (2020) in small: a BiLSTM reads the sentence, and an LSTM with attention writes
the logical form. It is trained on ``train.tsv``, and tested on ``test.tsv`` and on each kind of ``gen.tsv``.
"""

import csv
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from sentprobe.generator.pairs.compositional_splits import CompositionalSplit, LogicalNotation, write_split
from sentprobe.lexicon import english

PAD, END = 0, 1
N, VOCABULARY, WIDTH, BATCH, RATE = 6000, "structure", 128, 32, 4e-3


class SequenceModel(nn.Module):
    """An encoder and a decoder with dot-product attention."""

    def __init__(self, sources: int, targets: int) -> None:
        super().__init__()
        self.source = nn.Embedding(sources, WIDTH, padding_idx=PAD)
        self.target = nn.Embedding(targets, WIDTH, padding_idx=PAD)
        self.encoder = nn.LSTM(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.mix = nn.Linear(2 * WIDTH, WIDTH)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(WIDTH, targets)

    def encode(self, sentences: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return the states, (b, time, WIDTH), the mask, (b, time), and the decoder's first state."""
        lengths = (sentences != PAD).sum(dim=1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.source(sentences)), lengths, batch_first=True, enforce_sorted=False
        )
        states, (hidden, cell) = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        first = tuple(torch.cat([x[0], x[1]], dim=1)[None] for x in (hidden, cell))
        return states, (sentences != PAD)[:, : states.shape[1]], (first[0], first[1])

    def decode(
        self, inputs: Tensor, states: Tensor, mask: Tensor, hidden: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the logits, (b, time, targets), and the decoder's last state."""
        outputs, hidden = self.decoder(self.dropout(self.target(inputs)), hidden)
        scores = (outputs @ states.transpose(1, 2)).masked_fill(~mask[:, None], -torch.inf)
        context = scores.softmax(dim=2) @ states
        mixed = torch.tanh(self.mix(torch.cat([outputs, context], dim=2)))
        return self.out(self.dropout(mixed)), hidden


def read_rows(path: Path) -> list[tuple[list[str], list[str], str]]:
    """Return sentence, logical form and kind of each line."""
    with path.open(encoding="utf-8", newline="") as file:
        return [(s.split(), f.split(), k) for s, f, k in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def to_tensor(rows: Sequence[Sequence[str]], ids: dict[str, int], *, end: bool) -> Tensor:
    """Return the ids of words, (n, time) int64; unknown words are padding, but training knows all."""
    tensors = [torch.tensor([ids.get(word, PAD) for word in row] + [END] * end) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=PAD)


def iterate_batches(count: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Yield the numbers of a pass in random batches."""
    yield from torch.split(torch.randperm(count, generator=generator), BATCH)


@torch.inference_mode()
def count_matches(model: SequenceModel, sources: Tensor, targets: Tensor) -> int:
    """Return how many logical forms are written exactly, word by word."""
    model.eval()
    correct = 0
    for source, target in zip(torch.split(sources, 256), torch.split(targets, 256), strict=True):
        states, mask, hidden = model.encode(source)
        word = torch.full((len(source), 1), END)
        written = []
        for _ in range(target.shape[1]):
            logits, hidden = model.decode(word, states, mask, hidden)
            word = logits.argmax(dim=2)
            written.append(word)
        ended = (torch.cat(written, dim=1) == END).cumsum(dim=1) > 0
        output = torch.cat(written, dim=1).masked_fill(ended, PAD)
        correct += int((output == target.masked_fill(target == END, PAD)).all(dim=1).sum())
    return correct


def run(split: CompositionalSplit, *, epochs: int, seed: int = 0) -> None:
    """Train on a split, and print the share of exact matches of each kind."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "split"
        write_split(split, english(), VOCABULARY, out, n=N, seed=seed, notation=LogicalNotation.VARIABLE_FREE)
        rows = {name: read_rows(out / f"{name}.tsv") for name in ("train", "test", "gen")}
    ids = [
        {word: i + 2 for i, word in enumerate(sorted({w for row in rows["train"] for w in row[side]}))}
        for side in (0, 1)
    ]
    model = SequenceModel(len(ids[0]) + 2, len(ids[1]) + 2)
    sources = to_tensor([row[0] for row in rows["train"]], ids[0], end=False)
    targets = to_tensor([row[1] for row in rows["train"]], ids[1], end=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, epochs * -(-N // BATCH))
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for numbers in iterate_batches(len(sources), generator):
            source, target = sources[numbers], targets[numbers]
            target = target[:, : int((target != PAD).sum(dim=1).max())]
            inputs = torch.cat([torch.full((len(target), 1), END), target[:, :-1]], dim=1)
            logits, _ = model.decode(inputs, *model.encode(source[:, : int((source != PAD).sum(dim=1).max())]))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(numbers)
        print(f"epoch {epoch + 1}: loss {total / len(sources):.4f}", file=sys.stderr, flush=True)
    for name in ("test", "gen"):
        for kind in dict.fromkeys(row[2] for row in rows[name]):
            chosen = [row for row in rows[name] if row[2] == kind]
            correct = count_matches(
                model,
                to_tensor([row[0] for row in chosen], ids[0], end=False),
                to_tensor([row[1] for row in chosen], ids[1], end=True),
            )
            print(f"{split}, {kind}: {100 * correct / len(chosen):.1f}% of {len(chosen)}", flush=True)


if __name__ == "__main__":
    run(CompositionalSplit(sys.argv[1]), epochs=int(sys.argv[2]) if len(sys.argv) > 2 else 8)
