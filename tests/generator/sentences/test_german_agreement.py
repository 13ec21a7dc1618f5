"""Agreement of case, number and gender in 2,000 German sentences, by dictionaries that share nothing with us."""

from collections.abc import Iterator, Sequence

import pytest
from helpers.gen_command import Gen
from helpers.oracles.german_sources import (
    AUXILIARIES,
    Agreement,
    analyze_adjective,
    analyze_article,
    analyze_noun,
    conjugate_all,
    find_finite_numbers,
    needs_sources,
)

Row = Sequence[str]
FORM, LEMMA, UPOS, FEATS, HEAD, DEPREL = 1, 2, 3, 5, 6, 7
CASE_OF_RELATION = {"nsubj": "Nom", "nsubj:pass": "Nom", "obj": "Acc", "obl:arg": "Dat", "obl:agent": "Dat"}
WRONG_AUXILIARIES = {"spazieren", "verblassen"}
"""The verbs whose auxiliary ablaut has wrong (tests/data/german/exceptions.toml)."""


def read_sentences(text: str) -> Iterator[list[Row]]:
    """Yield the words of each sentence of a CoNLL-U file; a multiword token is left out."""
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        yield [row for row in rows if row[0].isdecimal()]


def find_agreement(row: Row) -> Agreement:
    """Return what our annotation says."""
    features = dict(feature.split("=") for feature in row[FEATS].split("|") if "=" in feature)
    number = features.get("Number", "")
    return Agreement(features.get("Case", ""), number, features.get("Gender", "") if number == "Sing" else "")


def list_children(rows: Sequence[Row], row: Row) -> list[Row]:
    return [child for child in rows if child[HEAD] == row[0]]


def list_noun_faults(rows: Sequence[Row], noun: Row) -> Iterator[str]:
    """Yield the words of a noun phrase that cannot have the agreement that our annotation gives the noun."""
    agreement = find_agreement(noun)
    if agreement not in analyze_noun(noun[LEMMA], noun[FORM]):
        yield f"{noun[FORM]} is not {agreement}"
    for child in list_children(rows, noun):
        if child[DEPREL] == "det" and agreement not in analyze_article(child[FORM].lower()):
            yield f"{child[FORM]} {noun[FORM]}"
        if child[DEPREL] == "amod" and agreement not in analyze_adjective(child[FORM], child[LEMMA]):
            yield f"{child[FORM]} {noun[FORM]}"
    yield from list_case_faults(noun, agreement)


def list_pronoun_faults(rows: Sequence[Row], pronoun: Row) -> Iterator[str]:
    """Yield a fault if a relative pronoun does not agree with its noun, or cannot have its case."""
    clause = rows[int(pronoun[HEAD]) - 1]
    antecedent = find_agreement(rows[int(clause[HEAD]) - 1])
    agreement = antecedent._replace(case=find_agreement(pronoun).case)
    if agreement not in analyze_article(pronoun[FORM], is_relative=True):
        yield f"pronoun {pronoun[FORM]}"
    yield from list_case_faults(pronoun, agreement)


def list_case_faults(row: Row, agreement: Agreement) -> Iterator[str]:
    if row[DEPREL] in CASE_OF_RELATION and agreement.case != CASE_OF_RELATION[row[DEPREL]]:
        yield f"{row[FORM]} is {row[DEPREL]} in {agreement.case}"


def list_verb_faults(rows: Sequence[Row], verb: Row, lemmas: tuple[str, ...]) -> Iterator[str]:
    """Yield faults of the finite form, which has the number of its subject, of the participle and its auxiliary."""
    children = list_children(rows, verb)
    auxiliaries = [child for child in children if child[DEPREL] in ("aux", "aux:pass")]
    subjects = [child for child in children if child[DEPREL] in ("nsubj", "nsubj:pass")]
    finite = next((child for child in auxiliaries if child[FORM] in AUXILIARIES), verb)
    number = find_subject_number(rows, subjects[0])
    if number not in find_finite_numbers(lemmas, verb[LEMMA], finite[FORM]):
        yield f"{subjects[0][FORM]} {finite[FORM]}"
    forms = conjugate_all(lemmas)[verb[LEMMA]]
    if auxiliaries and verb[FORM] != forms["participle"]:
        yield f"participle {verb[FORM]}"
    if [child[DEPREL] for child in auxiliaries] == ["aux"] and verb[LEMMA] not in WRONG_AUXILIARIES:
        is_right = auxiliaries[0][FORM].startswith("ha") == (forms["auxiliary"] == "haben")
        yield from () if is_right else (f"auxiliary {auxiliaries[0][FORM]} {verb[FORM]}",)


def find_subject_number(rows: Sequence[Row], subject: Row) -> str:
    """Return the number of a subject: of a relative pronoun, that of its noun."""
    if subject[UPOS] == "PRON":
        clause = rows[int(subject[HEAD]) - 1]
        return find_agreement(rows[int(clause[HEAD]) - 1]).number
    return find_agreement(subject).number


def list_faults(rows: Sequence[Row], lemmas: tuple[str, ...]) -> Iterator[str]:
    """Yield the faults of a sentence."""
    for row in rows:
        if row[UPOS] == "NOUN":
            yield from list_noun_faults(rows, row)
        elif row[UPOS] == "PRON":
            yield from list_pronoun_faults(rows, row)
        elif row[UPOS] == "VERB":
            yield from list_verb_faults(rows, row, lemmas)


def find_faulty_sentences(text: str) -> dict[str, list[str]]:
    """Return the faults by sentence."""
    sentences = [*read_sentences(text)]
    lemmas = tuple(sorted({row[LEMMA] for rows in sentences for row in rows if row[UPOS] == "VERB"}))
    faults = {" ".join(row[FORM] for row in rows): [*list_faults(rows, lemmas)] for rows in sentences}
    return {sentence: listed for sentence, listed in faults.items() if listed}


@pytest.mark.slow
@needs_sources
@pytest.mark.parametrize(("vocabulary", "adjectives"), [("german", "0"), ("everyday", "0-1")])
def test_words_agree_by_wiktionary_and_ablaut(gen: Gen, vocabulary: str, adjectives: str) -> None:
    arguments = ("--language", "de", "--template", "all", "--n", 1000, "--seed", 5, "--format", "conllu")
    choices = ("--adverbs", "0-1", "--adjectives", adjectives, "--fronting", "none", "--fronting", "object-first")
    outcome = gen(*arguments, "--vocabulary", vocabulary, *choices)
    assert not outcome.code, outcome.err
    assert len([*read_sentences(outcome.out)]) == 1000
    assert not find_faulty_sentences(outcome.out)


def write_conllu(*words: str) -> str:
    """Return a sentence from `form lemma UPOS FEATS head deprel`."""
    rows = []
    for number, (form, lemma, pos, features, head, relation) in enumerate(map(str.split, words), 1):
        rows.append(f"{number}\t{form}\t{lemma}\t{pos}\t_\t{features}\t{head}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n\n"


@pytest.mark.slow
@needs_sources
@pytest.mark.parametrize(
    ("article", "noun", "verb", "faults"),
    [
        ("der", "Student", "schläft", []),
        ("den", "Student", "schläft", ["den Student"]),
        ("der", "Studenten", "schläft", ["Studenten is not"]),
        ("der", "Student", "schlafen", ["Student schlafen"]),
        ("das", "Student", "schlief", ["das Student"]),
    ],
)
def test_faults_by_hand(article: str, noun: str, verb: str, faults: list[str]) -> None:
    text = write_conllu(
        f"{article} der DET _ 2 det",
        f"{noun} Student NOUN Case=Nom|Gender=Masc|Number=Sing 3 nsubj",
        f"{verb} schlafen VERB Number=Sing|VerbForm=Fin 0 root",
    )
    sentences = find_faulty_sentences(text)
    assert [fault.partition(" Agreement")[0] for faults in sentences.values() for fault in faults] == faults
