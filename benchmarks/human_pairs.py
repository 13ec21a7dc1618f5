"""Measure how many pairs that people judged, edits, and generated pairs pass a cosine, by kind.

``python benchmarks/human_pairs.py st:MODEL 0.9 spacy:PIPELINE`` prints two tables, in percent with 95% intervals. The
first has each kind of pair in ``../shared/data/human_pairs`` (SICK and the GLUE diagnostic set): all pairs of people,
their pairs that differ in one word, edits of the same texts, and edits of questions (``questions.txt``) and of EWT's
test part (3 to 25 words, trees by people); and the pairs that ``probe gate`` generates for role and polarity, in the
anchor's and the positive's form. The second has the kinds of edits for which people made no pairs there.
"""

import csv
import lzma
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import sentprobe
from sentprobe.generator.edits.edit_table import load_table
from sentprobe.probes.corpus.text_edits import EditCounts, choose_edit_rules, make_edits
from sentprobe.probes.corpus.user_texts import UserText, read_user_texts
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity.gate_rates import PARAPHRASES
from sentprobe.probes.similarity.pair_scores import PairScorer, TextPair, VectorScorer
from sentprobe.probes.similarity.text_pairs import score_pairs
from sentprobe.probes.statistics import accuracy_interval

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared" / "data"
WORDS = (3, 25)
"""The least and the greatest number of words of EWT's sentences."""


class HumanKind(NamedTuple):
    """A kind of people's pairs, and the kinds of edits and the generated contrast that are most similar."""

    name: str
    sets: tuple[str, ...]
    """The beginnings of ``set: kind`` in the file of pairs."""
    edits: tuple[str, ...]
    contrast: str


VARIANTS = ("indirect", "polite", "contraction", "dative", "digits", "how")
HUMAN_KINDS = (
    HumanKind("SICK: paraphrases", ("SICK: paraphrase",), VARIANTS, PARAPHRASES),
    HumanKind(
        "SICK: contradictions, one negated", ("SICK: contradiction, one",), ("negation", "affirmation"), "polarity"
    ),
    HumanKind("GLUE: contradictions by negation", ("GLUE-diag: negation",), ("negation", "affirmation"), "polarity"),
    HumanKind("SICK: other contradictions", ("SICK: contradiction, no",), ("antonym",), ""),
    HumanKind("GLUE: other agents and patients", ("GLUE-diag: core",), ("role",), "role"),
    HumanKind(
        "both: same words, another meaning",
        ("SICK: same words, N", "SICK: same words, C", "GLUE-diag: same words"),
        ("role",),
        "role",
    ),
)


def read_human_pairs() -> list[TextPair]:
    """Return the pairs that people judged; a pair's kind is ``set: kind``."""
    with (SHARED / "human_pairs" / "pairs.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [TextPair(row["a"], row["b"], same=False, kind=f"{row['set']}: {row['kind']}") for row in rows]


def read_treebank() -> Iterator[UserText]:
    """Yield the sentences of EWT's test part that are neither short nor long."""
    with tempfile.NamedTemporaryFile(suffix=".conllu") as file:
        file.write(lzma.decompress((SHARED / "treebanks" / "ewt" / "en_ewt-ud-test.conllu.xz").read_bytes()))
        file.flush()
        for text in read_user_texts(file.name):
            tags = text.parse.universal.tags if text.parse and text.parse.universal else ()
            if WORDS[0] <= sum(not tag.startswith(("PUNCT", "SYM")) for tag in tags) <= WORDS[1]:
                yield text


def edit_texts(texts: Iterable[UserText], parser: str | None) -> list[TextPair]:
    """Return the edits of all kinds."""
    rules = choose_edit_rules([*load_table().kinds], has_parse=True)
    edits = make_edits(texts, rules, EditCounts(), parser=parser)
    return [TextPair(edit.a, edit.b, bool(edit.same), edit.kind) for edit in edits]


def differs_in_one_word(pair: TextPair) -> bool:
    """Return whether each text has at most one word that the other lacks; *n't* is the word *not*."""
    first, second = (Counter(re.findall(r"\w+", re.sub("n['’]t", " not", text.lower()))) for text in pair[:2])
    return max((first - second).total(), (second - first).total()) <= 1


class Shares:
    """Shares of pairs whose cosine is at least a threshold."""

    def __init__(self, scorer: PairScorer, threshold: float) -> None:
        """Measure with *scorer*."""
        self.scorer, self.threshold = scorer, threshold

    def compute(self, pairs: Sequence[TextPair]) -> float:
        """Return the share in percent."""
        return 100 * float((score_pairs(self.scorer, pairs).scores >= self.threshold).mean())

    def describe(self, pairs: Sequence[TextPair]) -> str:
        """Return the share with its interval; of fewer than 20 pairs, the counts."""
        if not pairs:
            return ""
        scored = score_pairs(self.scorer, pairs)
        passed = scored.scores >= self.threshold
        if len(pairs) < 20:
            return f"{passed.sum()} of {len(pairs)}"
        interval = accuracy_interval(passed, scored.units.tolist())
        return f"{100 * passed.mean():.1f} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


def list_edits(pairs: Sequence[TextPair], kinds: Sequence[str]) -> list[TextPair]:
    """Return the edits of some kinds."""
    return [pair for pair in pairs if pair.kind in kinds]


def main(spec: str, threshold: float, parser: str) -> None:
    """Print the two tables."""
    shares = Shares(VectorScorer(make_encoder(spec, seed=0)), threshold)
    human = read_human_pairs()
    contrasts = sorted({kind.contrast for kind in HUMAN_KINDS} - {"", PARAPHRASES})
    generated = sentprobe.gate(spec, threshold=threshold, contrasts=contrasts).draws[0]
    cells = {(rates.contrast, rates.form): f"{100 * rates.false_hits:.1f}" for rates in generated.rates}
    cells[PARAPHRASES, "form"] = f"{100 * generated.kept:.1f}"
    questions = edit_texts(read_user_texts(str(HERE / "questions.txt")), parser)
    treebank = edit_texts(read_treebank(), None)
    head = "people's kind | all | one word | edits of the same texts | of questions | of EWT | generated, anchor's form"
    print(f"{head} | positive's form | edits of the same texts less people's of one word\n---|{'---:|' * 7}---:")
    for kind in HUMAN_KINDS:
        pairs = [pair for pair in human if pair.kind.startswith(kind.sets)]
        close = [*filter(differs_in_one_word, pairs)]
        texts = [UserText(text) for text in dict.fromkeys(text for pair in pairs for text in pair[:2])]
        own = list_edits(edit_texts(texts, parser), kind.edits)
        edited = [list_edits(edits, kind.edits) for edits in (questions, treebank)]
        row = [kind.name, *map(shares.describe, (pairs, close, own, *edited))]
        row += [cells.get((kind.contrast, form), "") for form in ("anchor", "form")]
        row.append(f"{shares.compute(own) - shares.compute(close):+.1f}" if own else "")
        print(" | ".join(row), flush=True)
    print("\nkind | edits of questions | of EWT\n---|---|---")
    compared = {name for kind in HUMAN_KINDS for name in kind.edits}
    for name in load_table().kinds:
        if name not in compared:
            columns = [shares.describe(list_edits(edits, [name])) for edits in (questions, treebank)]
            print(f"{name} | {' | '.join(columns)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
