"""What encoders reach that know nothing of structure: words at fixed places, n-grams without the question, tricks.

python benchmarks/fixed_places.py Order SemRole Negation [--vocabularies compeval english] [--seeds 0 1 2] [--tricks]

The first table has encoders of fixed places on the first vocabulary, and the controls of their width with the exact
bound of the one with fixed positions; the second, n-grams of the sentence for each vocabulary; the third
(``--tricks``), encoders that fool a probe. Figures are means over the seeds, each of which builds other data.
"""

import argparse
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from statistics import mean

import numpy as np
from measure import describe_machine, format_sections, format_table

from sentprobe.probes.audits.cue_audit import audit
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.encoders.baselines import FIRST_SECOND_LAST, encode_places
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.models.python import wrap_encoder
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.results.result import Condition
from sentprobe.probes.runs.run import run

WIDTH = 512
Encode = Callable[[Sequence[str]], Vectors]


@cache
def find_vector(feature: str) -> Vectors:
    """Return the random vector of a feature, (WIDTH,) float32."""
    return np.random.default_rng(zlib.crc32(feature.encode())).standard_normal(WIDTH, np.float32)


def hash_features(sentences: Sequence[str], list_features: Callable[[list[str]], list[str]]) -> Vectors:
    """Return the sum of the vectors of each sentence's features, (n, WIDTH) float32."""
    return np.stack([np.sum([*map(find_vector, list_features(s.split()))], axis=0) for s in sentences])


def list_ngrams(tokens: list[str], size: int) -> list[str]:
    """Return the n-grams of a sentence, with marks at its ends."""
    padded = ["<s>", *tokens, "</s>"]
    return [" ".join(padded[i : i + size]) for i in range(len(padded) - size + 1)]


PLACE_SETS = {"first word": (0,), "second word": (1,), "last word": (-1,), "first, second and last": FIRST_SECOND_LAST}
PLACES = {name: partial(encode_places, places=places, seed=0) for name, places in PLACE_SETS.items()}
TRICK_FEATURES: Mapping[str, Callable[[list[str]], list[str]]] = {
    "word counts": lambda tokens: tokens,
    "length": lambda tokens: [str(len(tokens))],
    "first letters": lambda tokens: [f"{place} {token[0]}" for place, token in enumerate(tokens)],
    "words at all places": lambda tokens: [f"{place} {token}" for place, token in enumerate(tokens)],
    "hashed bigrams": partial(list_ngrams, size=2),
    "hashed trigrams": partial(list_ngrams, size=3),
}
TRICKS = {name: partial(hash_features, list_features=features) for name, features in TRICK_FEATURES.items()}


def measure_encoders(encoders: Mapping[str, Encode], data: ProbeDataset, seed: int) -> dict[str, float]:
    """Return the accuracy of each encoder and of the controls that it should exceed, and the exact bound."""
    first, *others = (wrap_encoder(encode, name=name) for name, encode in encoders.items())
    (record,) = run([data], [first], seed=seed).records
    further = run([data], others, seed=seed, controls=False).records
    bound = record.data.place_bound if record.data else None
    return {
        **{result.encoder: result.accuracy for result in (record, *further)},
        "control: fixed positions": record.scores[Condition.FIXED_POSITIONS].accuracy,
        "exact bound of the control": 1.0 if bound is None else bound,
        "control: bag of words": record.scores[Condition.BAG_OF_WORDS].accuracy,
        "control: words and positions": record.scores[Condition.WORDS_AND_POSITIONS].accuracy,
    }


def measure_ngrams(data: ProbeDataset, seed: int) -> float:
    """Return the accuracy of n-grams of the sentence, without the question."""
    (finding,) = audit(data, cues=[Cue.SENTENCE if data.slots else Cue.NGRAMS], seed=seed).findings
    return finding.score.accuracy


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--vocabularies", nargs="+", default=["compeval", "english", "everyday"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--tricks", action="store_true")
    arguments = parser.parse_args()
    tasks, vocabularies, seeds = arguments.tasks, arguments.vocabularies, arguments.seeds
    build = cache(lambda task, vocabulary, seed: build_task(task, vocabulary=vocabulary, seed=seed))

    def tabulate(names: Sequence[str], measure_column: Callable[[str, int], Mapping[str, float]]) -> str:
        columns = [[measure_column(name, seed) for seed in seeds] for name in names]
        rows = [(row, *(f"{100 * mean(m[row] for m in column):.1f}" for column in columns)) for row in columns[0][0]]
        return format_table(("accuracy %", *names), rows)

    def tabulate_encoders(encoders: Mapping[str, Encode]) -> str:
        return tabulate(tasks, lambda task, seed: measure_encoders(encoders, build(task, vocabularies[0], seed), seed))

    sections = {"Words at fixed places": tabulate_encoders(PLACES)}
    sections["N-grams of the sentence, without the question"] = tabulate(
        vocabularies, lambda name, seed: {task: measure_ngrams(build(task, name, seed), seed) for task in tasks}
    )
    sections |= {"Tricks": tabulate_encoders(TRICKS)} if arguments.tricks else {}
    print(f"# Encoders without structure\n\n{describe_machine(['torch', 'scikit-learn', 'numpy'])} Seeds: {seeds}.\n")
    print(format_sections(sections))


if __name__ == "__main__":
    main()
