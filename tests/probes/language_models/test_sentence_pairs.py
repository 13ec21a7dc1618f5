"""Files of minimal pairs: changed words, the unigram model, distance and attractors of agreement."""

import csv
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.common.values import parse_json
from sentprobe.generator.pairs.minimal_pairs import build_pair_spaces, format_pair_lines, sample_pairs
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_records import to_json
from sentprobe.lexicon import english, german
from sentprobe.probes.generated.assemble import ProbedEvent, build_event_columns
from sentprobe.probes.language_models.sentence_pairs import (
    SentencePair,
    answer_by_frequency,
    build_pair,
    compare_scores,
    describe_agreement,
    number_units,
    read_pairs,
)

WORDS = st.lists(st.sampled_from(["the", "man", "men", "sleeps", "not", "?"]), min_size=1, max_size=7)
SPACES = st.sampled_from([" ", "  ", "\t"])
AGREEMENT = '{"sentence_good": "a", "sentence_bad": "b", "linguistics_term": "subject_verb_agreement"'
BLIMP = {
    "sentence_good": "Who should Derek hug after shocking Richard?",
    "sentence_bad": "Who should Derek hug Richard after shocking?",
    "field": "syntax", "linguistics_term": "island_effects", "UID": "adjunct_island", "simple_LM_method": True,
    "one_prefix_method": False, "two_prefix_method": False, "lexically_identical": True, "pairID": "0",
}  # fmt: skip


@given(WORDS, WORDS, SPACES)
def test_region_is_all_that_differs(good: list[str], bad: list[str], space: str) -> None:
    pair = SentencePair(space.join(good), space.join(bad))
    for text, other, (start, end) in zip(
        (pair.good, pair.bad), (pair.bad, pair.good), pair.find_regions(), strict=True
    ):
        assert text[start:end].split()
        assert other.split()[: len(text[:start].split())] == text[:start].split()
        behind = text[end:].split()
        assert other.split()[len(other.split()) - len(behind) :] == behind


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("the men sleep .", "the men sleeps .", ("sleep", "sleeps")),
        ("did he go ?", "did he not go ?", ("go", "not go")),
        ("who did he help", "who did he help Ann", ("help", "help Ann")),
        ("the men near Ann sleep", "Ann near the men sleep", ("the men near Ann", "Ann near the men")),
        ("sleep .", "you sleep .", ("sleep", "you sleep")),
        ("no no no", "no no", ("no no", "no")),
        ("same here", "same here", ("here", "here")),
    ],
)
def test_changed_words_by_hand(good: str, bad: str, words: tuple[str, str]) -> None:
    first, second = SentencePair(good, bad).find_regions()
    assert (good[slice(*first)], bad[slice(*second)]) == words


@given(st.lists(st.tuples(WORDS, st.randoms(use_true_random=False)), min_size=1, max_size=20))
def test_frequencies_are_at_chance_for_permutations(cases: list[tuple[list[str], object]]) -> None:
    pairs = []
    for words, random in cases:
        shuffled = [*words]
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        pairs.append(SentencePair(" ".join(words), " ".join(shuffled)))
    answers = answer_by_frequency(pairs, number_units(pairs))
    assert answers.shape == (2, len(pairs))
    assert answers.mean() == 0.5


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12))
def test_unigram_model_reads_other_half(cases: list[tuple[list[str], list[str]]]) -> None:
    pairs = [SentencePair(" ".join(good), " ".join(bad)) for good, bad in cases]
    units = number_units(pairs)
    answers = answer_by_frequency(pairs, units)
    for place, pair in enumerate(pairs):
        others = [
            word for p, u in zip(pairs, units, strict=True) if u % 2 != units[place] % 2 for word in p.good.split()
        ]
        products = []
        for text in (pair.good, pair.bad):
            product = 1.0
            for word in sorted(text.split()):
                product *= (others.count(word) + 1) / (len(others) + 1)
            products.append(product)
        if products[0] != pytest.approx(products[1]):
            assert answers[:, place].tolist() == [products[0] > products[1]] * 2


def test_tied_scores_count_half() -> None:
    assert compare_scores([1, 2, 3], [2, 2, 2]).mean() == 0.5


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


HUB = {name: value for name, value in BLIMP.items() if name != "pairID"}


def test_files_of_blimp_and_own_files(tmp_path: Path) -> None:
    write_lines(tmp_path / "b.jsonl", {"sentence_good": "a b", "sentence_bad": "b a"}, {**HUB, "pair_id": 7})
    write_lines(tmp_path / "a.jsonl", BLIMP)
    (tmp_path / "README.md").write_text("none")
    first, second, third = read_pairs([tmp_path])
    assert (first.paradigm, first.phenomenon, first.pair_id) == ("adjunct_island", "island_effects", "0")
    assert (first.good, first.bad) == (BLIMP["sentence_good"], BLIMP["sentence_bad"])
    assert (second.paradigm, second.phenomenon, second.pair_id) == ("b", "", "1")
    assert third.pair_id == "7"
    assert read_pairs([tmp_path / "a.jsonl", tmp_path / "a.jsonl"]) == [first, first]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no minimal pairs in it"),
        ("[]\n", "line 1: not an object with the keys sentence_good, sentence_bad"),
        ('{"sentence_good": "a"}\n', "line 1: not a minimal pair"),
        ('{"sentence_good": "a", "sentence_bad": " "}', "line 1: not a minimal pair"),
        ('{"sentence_good": 1, "sentence_bad": "a"}', "line 1: not a minimal pair"),
        ('{"sentence_good": "a  b", "sentence_bad": "a b"}', "line 1: not a minimal pair; both sentences are 'a  b'"),
        ("{", "line 1: not JSON"),
        ('{"sentence_good": "a", "sentence_bad": "b", "sentence_bad": "c"}', "the key 'sentence_bad' is stated twice"),
        (f'{AGREEMENT}, "annotation": [1]}}', "line 1: the annotation is not in the format that gen minimal"),
        (f'{AGREEMENT}, "annotation": {{"tokens": {{}}}}}}', "line 1: the annotation is not in"),
    ],
)
def test_files_that_are_no_pairs(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SentprobeError, match=message):
        read_pairs([path])


TABLE_TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5).map(lambda text: f"x{text}")


@given(st.lists(st.tuples(TABLE_TEXT, TABLE_TEXT, TABLE_TEXT), min_size=1, max_size=4), st.sampled_from(["csv", "tsv"]))
@settings(max_examples=20)
def test_table_has_the_pairs_of_the_lines(rows: list[tuple[str, str, str]], kind: str) -> None:
    records = [
        {"sentence_good": f"a {good}", "sentence_bad": f"b {bad}", "UID": paradigm, "note": "1"}
        for good, bad, paradigm in rows
    ]
    with TemporaryDirectory() as name:
        lines, table = write_lines(Path(name, "x.jsonl"), *records), Path(name, f"x.{kind}")
        rows_of_file = [("Good", "BAD", "paradigm", "note"), *(tuple(record.values()) for record in records)]
        with table.open("w", encoding="utf-8", newline="") as file:
            if kind == "tsv":  # no quoting
                file.writelines("\t".join(row) + "\n" for row in rows_of_file)
            else:
                csv.writer(file).writerows(rows_of_file)
        assert read_pairs([table]) == read_pairs([lines])
        assert [dict(pair.columns) for pair in read_pairs([table])] == [dict(p.columns) for p in read_pairs([lines])]
        assert len(read_pairs([Path(name)])) == 2 * len(rows)


def test_table_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('bad,good,phenomenon,distance\n"the cats sleeps, now","the cats sleep, now",agreement,0\n')
    (pair,) = read_pairs([path])
    assert pair == SentencePair("the cats sleep, now", "the cats sleeps, now", "mine", "agreement", "1")
    assert pair.columns["distance"] == "0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("good,band\na,b\n", "the column bad is missing (did you mean 'band'?); the first line must name"),
        ("good,sentence_good,bad\na,a,b\n", "the column good is given twice"),
        ("good,bad,UID,paradigm\na,b,c,c\n", "the column UID is given twice"),
        ("good,bad,distance,distance\na,b,1,2\n", "the column distance is given twice"),
        ("good,bad\n", "there are no minimal pairs in it"),
        ("good,bad\na,b\na, \n", "line 3: the field bad is empty"),
        ("good,bad\na,b,c\n", "line 2: 3 fields, the first line names 2"),
        ("good,bad\na b,a b\n", "line 2: not a minimal pair; both sentences are 'a b'"),
        ('good,bad\n"a,b\n', "a quote opens here, and is not closed"),
    ],
)
def test_tables_that_are_no_pairs(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SentprobeError, match=re.escape(message)):
        read_pairs([path])


def test_paths_that_have_no_pairs(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(SentprobeError) as caught:
            read_pairs([path])
        assert caught.value.exit_code == 2


def sample(uid: str, count: int, seed: int) -> list[SentencePair]:
    spaces = build_pair_spaces(english(), [uid], vocabulary="everyday")
    return [build_pair(parse_json(line)) for line in format_pair_lines(sample_pairs(spaces, count, seed=seed))]


@pytest.mark.parametrize(
    ("uid", "start", "expected"),
    [
        (
            "distractor_agreement_relative_clause",
            "the photographer that the landlords were not photographing is",
            ("6", "1"),
        ),
        (
            "distractor_agreement_by_phrase_exchange",
            "the soldiers that would not be watched by the waitress scream",
            ("8", "1"),
        ),
        ("subject_verb_agreement_auxiliary", "the barbers are not deceiving the inspector", ("0", "0")),
        ("transitive", "the driver was not encouraging the girl", None),
        ("double_modal", "the mayors must be sleeping", None),
    ],
)
def test_agreement_by_hand(uid: str, start: str, expected: tuple[str, str] | None) -> None:
    columns = next(pair.columns for pair in sample(uid, 1, 0) if pair.good.startswith(start))
    assert (columns.get("distance"), columns.get("attractors")) == (expected or (None, None))


@settings(max_examples=20)
@given(
    st.sampled_from(["distractor_agreement_relative_clause", "distractor_agreement_by_phrase"]), st.integers(0, 10**6)
)
def test_attractors_are_those_of_test_items(uid: str, seed: int) -> None:
    (pair,) = sample(uid, 1, seed)
    (event, *_) = parse(pair.good, english())
    noun = english().find(pair.good.split()[1])[0][0].lemma
    columns = build_event_columns(ProbedEvent(event, [noun, event.predicate or ""], language=english().language))
    verb = next(
        place for place, words in enumerate(zip(pair.good.split(), pair.bad.split(), strict=True)) if len({*words}) > 1
    )
    assert pair.columns["distance"] == str(verb - 2)  # the subject is the second word
    assert pair.columns["attractors"] == columns["attractors"]


def test_german_relative_pronoun_is_its_noun() -> None:
    good, bad = "die Kinder , die den Arzt sehen , schlafen", "die Kinder , die den Arzt sieht , schlafen"
    (event,) = parse(good, german())
    tokens = to_json(realize(event, german()))["tokens"]
    assert describe_agreement(good, bad, tokens) == {"distance": "4", "attractors": "1"}
