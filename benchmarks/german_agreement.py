"""Agreement of generated German sentences with a tagger and parser that has seen only treebanks.

    python benchmarks/german_agreement.py train FOLDER
    gen --language de --n 2000 --format conllu | python benchmarks/german_agreement.py check FOLDER [--faults FILE]

`train` makes a small spaCy pipeline from UD German-GSD (dev and test, less 150 sentences) and German-PUD, in about 10
minutes on one core, and prints its accuracy on the 150. `check` compares its case, number and gender of articles,
pronouns and nouns, its number of finite verbs, and its heads with those of the generated sentences. It knows neither
our lexicon nor our grammar, and it errs: so each sentence is checked again with one article or finite verb changed.
The share of disagreement on true sentences beside that on changed ones says how much a disagreement means.
"""

import argparse
import lzma
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import spacy
from measure import format_table
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.batchers import minibatch_by_words
from thinc.api import fix_random_seed

TREEBANKS = Path(__file__).parents[2] / "shared" / "data" / "treebanks" / "ud"
FEATURES = ("Case", "Gender", "Number", "Tense", "VerbForm")
NOMINALS = frozenset({"DET", "NOUN", "PRON"})
HELD_OUT = 150
WIDTH = 96
ARTICLES = {"der": "den", "den": "der", "dem": "den", "die": "der", "das": "dem", "vom": "von"}
"""The wrong article that a changed sentence gets."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the surface: of a multiword token, the head of the first word and the features of the last."""

    form: str
    pos: str
    features: str
    head: int
    deprel: str
    is_spaced: bool


Tokens = tuple[Token, ...]


def read_conllu(lines: Iterable[str]) -> Iterator[Tokens]:
    """Yield the sentences of a file."""
    rows: list[list[str]] = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            rows.append(line.rstrip("\n").split("\t"))
        elif not line.strip() and rows:
            yield merge_rows(rows)
            rows = []
    if rows:
        yield merge_rows(rows)


def merge_rows(rows: Sequence[Sequence[str]]) -> Tokens:
    """Return the surface tokens of a sentence; heads count from 0, and the root is its own head."""
    spans = {int(start): int(end) for start, _, end in (row[0].partition("-") for row in rows) if end}
    surface = {int(row[0].partition("-")[0]): row for row in rows if "-" in row[0]}
    words = {int(row[0]): row for row in rows if row[0].isdecimal()}
    groups: list[range] = []
    for number in words:
        if not groups or number not in groups[-1]:
            groups.append(range(number, spans.get(number, number) + 1))
    places = {number: place for place, group in enumerate(groups) for number in group}
    tokens = []
    for place, group in enumerate(groups):
        first, last = words[group[0]], words[group[-1]]
        shown = surface.get(group[0], first) if len(group) > 1 else first
        head = places[int(first[6])] if first[6] != "0" else place
        features = choose_features(last[5], last[3])
        deprel = first[7] if first[6] != "0" else "ROOT"
        tokens.append(Token(shown[1], first[3], features, head, deprel, "SpaceAfter=No" not in shown[9]))
    return tuple(tokens)


def choose_features(text: str, pos: str) -> str:
    """Return the features that are learned; in the plural, German words have no gender."""
    features = dict(feature.split("=") for feature in text.split("|")) if text != "_" else {}
    names = [name for name in FEATURES if name in features]
    if features.get("Number") == "Plur" or pos in ("VERB", "AUX"):
        names = [name for name in names if name != "Gender"]
    return "|".join(f"{name}={features[name]}" for name in names)


def make_example(nlp: Any, tokens: Tokens) -> Example:
    """Return the sentence for training and evaluation."""
    words, spaces = [token.form for token in tokens], [token.is_spaced for token in tokens]
    gold = Doc(
        nlp.vocab,
        words=words,
        spaces=spaces,
        pos=[token.pos for token in tokens],
        morphs=[token.features for token in tokens],
        heads=[token.head for token in tokens],
        deps=[token.deprel for token in tokens],
    )
    return Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)


def build_pipeline() -> Any:
    """Return an untrained pipeline; tagger and parser share a convolutional encoder of word shapes and affixes."""
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": WIDTH,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [4000, 1000, 2000, 500],
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": WIDTH,
        "depth": 4,
        "window_size": 1,
        "maxout_pieces": 3,
    }
    shared = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}
    nlp = spacy.blank("de")
    nlp.add_pipe("tok2vec", config={"model": {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}})
    nlp.add_pipe("morphologizer", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": shared}})
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": shared,
    }
    nlp.add_pipe("parser", config={"model": parser})
    return nlp


def train(folder: Path, epochs: int) -> None:
    """Train the pipeline, and write the best state by its score on the held-out sentences."""
    fix_random_seed(0)
    generator = random.Random(0)
    nlp = build_pipeline()
    gsd = [*read_treebank("de_gsd-ud-dev"), *read_treebank("de_gsd-ud-test")]
    generator.shuffle(gsd)
    held_out = [make_example(nlp, tokens) for tokens in gsd[:HELD_OUT]]
    examples = [make_example(nlp, tokens) for tokens in (*gsd[HELD_OUT:], *read_treebank("de_pud-ud-test"))]
    optimizer = nlp.initialize(lambda: examples)
    best = 0.0
    for epoch in range(epochs):
        generator.shuffle(examples)
        for batch in minibatch_by_words(examples, size=600):
            nlp.update(batch, sgd=optimizer, drop=0.15)
        with nlp.use_params(optimizer.averages):
            scores = nlp.evaluate(held_out)
            shown = ", ".join(f"{name} {scores[name]:.3f}" for name in ("morph_acc", "dep_uas", "dep_las"))
            print(f"epoch {epoch}: {shown}", file=sys.stderr, flush=True)
            if scores["morph_acc"] + scores["dep_las"] > best:
                best = scores["morph_acc"] + scores["dep_las"]
                nlp.to_disk(folder)


def read_treebank(name: str) -> list[Tokens]:
    """Return the sentences of a treebank of the shared data."""
    with lzma.open(TREEBANKS / f"{name}.conllu.xz", "rt", encoding="utf-8") as lines:
        return list(read_conllu(lines))


def list_differences(tokens: Tokens, doc: Any) -> list[str]:
    """Return how the parser's analysis differs, as `FEATURE ours theirs` or `head`."""
    differences = []
    for token, parsed in zip(tokens, doc, strict=False):  # the parser has a full stop more
        ours, theirs = read_features(token.features), parsed.morph.to_dict()
        if token.pos in NOMINALS:
            names: tuple[str, ...] = ("Case", "Number")
        else:
            names = ("Number",) if "Number" in ours else ()
        differences += [
            f"{name} of {token.pos} {ours[name]}, not {theirs.get(name, '-')}"
            for name in names
            if name in ours and theirs.get(name) != ours[name]
        ]
    return differences


def read_features(text: str) -> dict[str, str]:
    """Return features by name."""
    return dict(feature.split("=") for feature in text.split("|")) if text else {}


def list_agreement_faults(doc: Any) -> list[str]:
    """Return the faults of agreement that the parser's own analysis has."""
    faults = []
    for token in doc:
        ours = token.morph.to_dict()
        for child in token.children:
            theirs = child.morph.to_dict()
            if child.dep_ == "det" and token.pos_ == "NOUN":
                faults += [f"det {n}" for n in ("Case", "Number", "Gender") if ours.get(n) != theirs.get(n)]
            if child.dep_ in ("nsubj", "nsubj:pass"):
                finite = find_finite(token)
                if theirs.get("Case", "Nom") != "Nom":
                    faults.append("subject Case")
                if finite is not None and finite.get("Number") != theirs.get("Number"):
                    faults.append("subject Number")
            if child.dep_ == "obj" and theirs.get("Case") in ("Nom", "Gen"):
                faults.append("object Case")
    return faults


def find_finite(verb: Any) -> dict[str, str] | None:
    """Return the features of a verb's finite form: its own, or those of its auxiliary."""
    forms = [token.morph.to_dict() for token in (verb, *verb.children) if token.pos_ in ("VERB", "AUX")]
    return next((form for form in forms if form.get("VerbForm") == "Fin"), None)


def write_as_text(tokens: Tokens) -> Tokens:
    """Return the sentence with a capital and a full stop, as treebanks have it."""
    first = replace(tokens[0], form=tokens[0].form.capitalize())
    root = next(place for place, token in enumerate(tokens) if token.head == place)
    return (first, *tokens[1:], Token(".", "PUNCT", "", root, "punct", is_spaced=False))


def change_sentence(tokens: Tokens, number: int) -> Tokens:
    """Return the sentence with one article wrong; *number* picks which."""
    places = [place for place, token in enumerate(tokens) if token.form in ARTICLES and token.pos != "PRON"]
    place = places[number % len(places)]
    wrong = replace(tokens[place], form=ARTICLES[tokens[place].form])
    return (*tokens[:place], wrong, *tokens[place + 1 :])


def check(folder: Path, lines: Iterable[str], faults: Path | None) -> None:
    """Print a table of disagreements by kind, and write the sentences with them to *faults*."""
    nlp = spacy.load(folder)
    sentences = [tokens for tokens in read_conllu(lines) if any(token.form in ARTICLES for token in tokens)]
    changed = [change_sentence(tokens, number) for number, tokens in enumerate(sentences)]
    counts: dict[str, Counter[str]] = {"true": Counter(), "changed": Counter()}
    sizes: dict[str, list[int]] = {name: [] for name in counts}
    report = []
    for name, group in (("true", sentences), ("changed", changed)):
        docs = nlp.pipe(make_example(nlp, write_as_text(tokens)).predicted for tokens in group)
        for tokens, doc in zip(group, docs, strict=True):
            differences = [*list_differences(tokens, doc), *list_agreement_faults(doc)]
            counts[name].update({*differences, *(["any"] if differences else [])})
            sizes[name].append(len(differences))
            if differences and name == "true":
                report.append(f"{doc.text}\t{'; '.join(differences)}\n")
    if faults is not None:
        faults.write_text("".join(report), encoding="utf-8")
    kinds = [kind for kind, _ in counts["true"].most_common()]
    rows = [[kind, *(f"{100 * counts[name][kind] / len(sentences):.1f}" for name in counts)] for kind in kinds]
    fewer = sum(true < changed for true, changed in zip(*sizes.values(), strict=True))
    more = sum(true > changed for true, changed in zip(*sizes.values(), strict=True))
    print(f"{len(sentences):,} sentences. The true one has fewer disagreements in {100 * fewer / len(sentences):.1f}%,")
    print(f"more in {100 * more / len(sentences):.1f}%. % of sentences with a disagreement:\n")
    print(format_table(["disagreement", "true", "one article changed"], rows))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("train", "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--faults", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.action == "train":
        train(arguments.folder, arguments.epochs)
    else:
        check(arguments.folder, sys.stdin, arguments.faults)


if __name__ == "__main__":
    main()
