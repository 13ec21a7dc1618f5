"""The oracle accepts published and hand-built sentences, and rejects near misses."""

from dataclasses import dataclass
from random import Random

import pytest
from helpers.oracles.oracle import VOWEL_SOUND, Oracle, Words, collect_words
from helpers.shared import SHARED
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.lexicon import Form, Kind, english

PUBLISHED = SHARED / "compeval" / "published"
SAMPLE = 500

NOUNS = {"professor": "professors", "man": "men", "doctor": "doctors", "artist": "artists"}
OTHER_NOUNS = {
    "student": "students",
    "woman": "women",
    "scientist": "scientists",
    "lawyer": "lawyers",
    "user": "users",
    "heir": "heirs",
}
WORDS = Words(
    nn={*NOUNS, *OTHER_NOUNS},
    nns={*NOUNS.values(), *OTHER_NOUNS.values()},
    det_sg={"the", "a", "an", "some", "no", "every", "this", "that"},
    det_pl={"the", "some", "no", "these", "those"},
    t_vb={"call", "help", "follow", "recommend", "meet"},
    t_vbz={"calls", "helps", "follows", "recommends", "meets"},
    t_vbd={"called", "helped", "followed", "recommended", "met"},
    t_vbg={"calling", "helping", "following", "recommending", "meeting"},
    t_vbn={"called", "helped", "followed", "recommended", "met"},
    i_vb={"sleep", "dance"},
    i_vbz={"sleeps", "dances"},
    i_vbd={"slept", "danced"},
    i_vbg={"sleeping", "dancing"},
    d_vb={"give", "show"},
    d_vbz={"gives", "shows"},
    d_vbd={"gave", "showed"},
    d_vbg={"giving", "showing"},
    d_vbn={"given", "shown"},
    rb={"really", "often"},
    jj={"old", "young", "honest"},
    md={"can", "must"},
    md_neg={"ca", "must"},
)
ORACLE = Oracle(WORDS)


def is_accepted(sentence: str) -> bool:
    return ORACLE.accepts(sentence.split(" "))


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data (shared/) is not here")
@pytest.mark.parametrize("task", ["sr", pytest.param("order", marks=pytest.mark.slow)])
@pytest.mark.parametrize("split", [pytest.param("train", marks=pytest.mark.slow), "test"])
def test_published_sentences_are_accepted(task: str, split: str) -> None:
    lines = (PUBLISHED / task / f"{split}.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line.split("\t")[2] for line in Random(0).sample(lines, SAMPLE // 4)]
    assert [sentence for sentence in sentences if not is_accepted(sentence)] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "the man sleeps",
        "an artist dances",
        "a user slept",
        "an heir slept",
        "no men sleep",
        "that man meets those women",
        "some student often helped this lawyer",
        "the men really , often help the women",
        "the man did n't often sleep",
        "the man does not really , often , really help the woman",
        "the men are not really , often helping the woman",
        "the man was n't often being helped by the women",
        "the man who that woman helped sleeps",
        "the man that that woman helped sleeps",
        "the man that the women are following is met by the doctor",
        "the men that the woman was not helped by were dancing",
        "the men that were being helped by the woman do not sleep",
        "the man helped the women who often dance",
        "the man that the women that sleep help dances",
        "the man that helped the women that meet the doctors dances",
        "the man who helped the women was called by the students that the doctor recommends",
        "an old man and the young women sleep",
        "an honest young user helps a young heir",
        "the men and an artist sleep",
        "the man gave the doctor the user",
        "the man is not giving the user to the old doctor",
        "the doctor was given the user by the man and the woman",
        "the user must be shown to the doctor by the man",
        "the man that gave the doctor the user slept",
        "the user that the man gave the doctor slept",
        "the user that the man is giving to the doctor slept",
        "the doctor that the man gave the user to slept",
        "the man can not sleep",
        "the man and the woman ca n't be helping the doctor",
        "did the man sleep",
        "ca n't the man often help the doctor",
        "was the man not being helped by the doctor",
        "who did the man help",
        "who is helping the man",
        "what was the man helped by",
        "who gave the doctor the user",
        "what did the man give the doctor",
        "what was the man giving to the doctor",
        "who must the man show the user to",
        "help the old man",
        "do n't give the doctor the user",
        "do not often sleep",
    ],
)
def test_grammatical_sentence_is_accepted(sentence: str) -> None:
    assert is_accepted(sentence)


UNGRAMMATICAL = {
    "": "no sentence at all",
    "the man": "no verb phrase",
    "sleeps": "no subject",
    "the man sleeps .": "a full stop",
    "the man sings": "an unknown word",
    "The man sleeps": "a capital",
    # agreement
    "the man sleep": "number of a verb",
    "the men sleeps": "number of a verb",
    "the men is sleeping": "number of an auxiliary",
    "the man were helped by the woman": "number of an auxiliary",
    "the men does not sleep": "number of an auxiliary",
    "the man that the women helps sleeps": "number inside an object relative",
    "the men that sleeps help the woman": "number inside a subject relative",
    "the men that is helped by the woman sleep": "number inside a passive relative",
    "the man that the women help sleep": "agreement with the nearer noun",
    "these man sleeps": "number of a determiner",
    "this men sleep": "number of a determiner",
    "a men sleep": "number of an article",
    # articles
    "a artist sleeps": "a before a vowel",
    "an man sleeps": "an before a consonant",
    "an user sleeps": "an before the sound of y",
    "a heir sleeps": "a before a silent h",
    "man sleeps": "no determiner",
    "the man helps woman": "no determiner",
    "the the man sleeps": "two determiners",
    # auxiliaries, negation and adverbs
    "the man not sleeps": "negation without do",
    "the man does sleep": "do without negation",
    "the man did sleep": "do without negation",
    "the man does not sleeps": "a finite form after do",
    "the man did not slept": "a finite form after do",
    "the man does not sleeping": "a participle after do",
    "the man does not n't sleep": "two negations",
    "the man is not not sleeping": "two negations",
    "the man is often not sleeping": "an adverb before not",
    "the man does often not sleep": "an adverb before not",
    "the man often does not sleep": "an adverb before do",
    "the man often is sleeping": "an adverb before be",
    "the man sleeps often": "an adverb after the verb",
    "often the man sleeps": "an adverb before the subject",
    "the man really often sleeps": "adverbs without a comma",
    "the man really , sleeps": "a comma after the last adverb",
    "the man , really sleeps": "a comma before the first adverb",
    "the man is being often helped by the woman": "an adverb after being",
    "the man is being not helped by the woman": "negation after being",
    "the man is": "no verb after be",
    "the man is sleep": "a plain form after be",
    "the man is being sleeping": "an active after being",
    "the man being helped by the woman": "no finite verb",
    "the man sleeping": "no finite verb",
    # objects and the passive
    "the man helps": "no object",
    "the man sleeps the woman": "an object of an intransitive",
    "the man helps the woman the doctor": "two objects",
    "the man was helped": "no agent",
    "the man was helped the woman": "no by",
    "the man was helped by": "nothing after by",
    "the man helped by the woman": "no auxiliary of the passive",
    "the man was helped by by the woman": "two by",
    "the man was slept by the woman": "a passive of an intransitive",
    "the man was slept": "a passive of an intransitive",
    "the man slept by the woman": "an agent of an intransitive",
    "the man helps by the woman": "an agent of an active",
    # relative clauses
    "the man the woman helped sleeps": "no relativizer",
    "the man that sleeps that dances helps the woman": "two relative clauses on one noun",
    "the man that that sleeps dances": "two relativizers",
    "the man whom sleeps dances": "another relativizer",
    "the man which which sleeps dances": "two relativizers",
    "the man that sleeps": "no main clause",
    "the man that the woman helped": "no main clause",
    "the man that dances": "no main clause",
    "the man that the woman helped the doctor sleeps": "an object relative without a gap",
    "the man that the woman slept sleeps": "an object relative of an intransitive",
    "the man that helped sleeps": "a subject relative without its object",
    "the man that was helped sleeps": "a passive subject relative without its agent",
    "the man that was helped by sleeps": "a passive relative with two gaps",
    "the man that the woman was helped sleeps": "an agent relative without by",
    "the man that the woman was helped by the doctor sleeps": "an agent relative without a gap",
    "the man by that the woman was helped sleeps": "by before the relativizer",
    "the man helped by the woman sleeps": "a reduced relative",
    # adjectives and coordination
    "a old man sleeps": "a before an adjective's vowel",
    "an young artist sleeps": "an before an adjective's consonant",
    "a honest man sleeps": "a before an adjective's silent h",
    "the man old sleeps": "an adjective after its noun",
    "the old sleeps": "an adjective without a noun",
    "the man and the woman sleeps": "a singular after two nouns",
    "the man and woman sleep": "no determiner after and",
    "the man and the woman and the doctor sleep": "three nouns",
    "the man and the woman that sleep dance": "a relative clause on two nouns",
    "the man and sleeps": "nothing after and",
    # recipients
    "the man gave": "no gift",
    "the man gave the doctor": "one object of three",
    "the man gave to the doctor the user": "to before the gift",
    "the man gave the doctor to": "nothing after to",
    "the user was given the doctor": "no agent",
    "the user was given to the doctor the man": "no by",
    "the doctor that the man gave the user slept the": "a determiner at the end",
    "the man helped the user to the doctor": "to after a verb of two",
    # modals, questions and orders
    "the man cans sleep": "a modal with s",
    "the man can sleeps": "a finite form after a modal",
    "the man can slept": "a past after a modal",
    "the man can be sleep": "a plain form after be",
    "the man does can sleep": "do before a modal",
    "the man ca sleep": "ca without n't",
    "the man can n't sleep": "can before n't",
    "did the man slept": "a past after did",
    "does the men sleep": "number of do in a question",
    "sleeps the man": "a verb before its subject",
    "who did help the man": "do in a positive question about the subject",
    "who the man helped": "no do in a question",
    "who did the man help the doctor": "a question without a gap",
    "who was the man helped": "a question without by",
    "who are helping the man": "a plural question word",
    "who did the man give to the doctor the user": "a question with three participants",
    "helps the man": "an order with s",
    "not help the man": "an order without do",
    "do help the man": "do in a positive order",
    "does not help the man": "does in an order",
    "must help the man": "a modal in an order",
}


@pytest.mark.parametrize(("sentence", "_why"), UNGRAMMATICAL.items(), ids=UNGRAMMATICAL.values())
def test_ungrammatical_sentence_is_rejected(sentence: str, _why: str) -> None:
    assert not is_accepted(sentence)


def test_vowel_sounds_by_hand() -> None:
    assert all(map(VOWEL_SOUND.match, ["actor", "engineer", "heiress", "umpire", "usher", "uncle"]))
    assert not any(map(VOWEL_SOUND.match, ["european", "user", "unionist", "usurer", "hero", "uk"]))


def test_lexicon_agrees_about_vowels() -> None:
    words = (*english().words(Kind.NOUN), *english().words(Kind.ADJECTIVE))
    assert [word.lemma for word in words if word.vowel != bool(VOWEL_SOUND.match(word.lemma))] == []


def test_words_of_lexicon() -> None:
    oracle = Oracle(collect_words(english()))
    for verb in english().words(Kind.TRANSITIVE):
        past, participle = verb.forms[Form.VBD], verb.forms[Form.VBN]
        sentence = f"an artist that {past} these lawyers was n't fully {participle} by that man"
        assert oracle.accepts(sentence.split())


@dataclass(frozen=True)
class Finite:
    """A finite verb or auxiliary, with the form for the other number."""

    form: str
    wrong_form: str


Piece = str | Finite
NUMBERS = ("sg", "pl")


def agree(number: str, sg: str, pl: str) -> Finite:
    return Finite(sg, pl) if number == "sg" else Finite(pl, sg)


@st.composite
def draw_adverbs(draw: st.DrawFn) -> list[Piece]:
    chosen = draw(st.lists(st.sampled_from(["really", "often"]), max_size=2))
    return list(" , ".join(chosen).split())


@st.composite
def draw_be(draw: st.DrawFn, number: str) -> list[Piece]:
    sg, pl = draw(st.sampled_from([("is", "are"), ("was", "were")]))
    neg: list[Piece] = draw(st.sampled_from([[], ["not"], ["n't"]]))
    return [agree(number, sg, pl), *neg, *draw(draw_adverbs())]


@st.composite
def draw_active(draw: st.DrawFn, number: str, verb: str, gerund: str) -> list[Piece]:
    """An active verb in the present or the progressive, whose number shows."""
    match draw(st.sampled_from(["simple", "do", "progressive"])):
        case "simple":
            return [*draw(draw_adverbs()), agree(number, f"{verb}s", verb)]
        case "do":
            return [agree(number, "does", "do"), "not", *draw(draw_adverbs()), verb]
        case _:
            return [*draw(draw_be(number)), gerund]


@st.composite
def draw_transitive(draw: st.DrawFn, number: str) -> tuple[list[Piece], list[Piece]]:
    """A verb that lacks its second argument, and the "by" that goes before that."""
    verb = draw(st.sampled_from(["call", "help", "follow"]))
    if draw(st.booleans()):
        return draw(draw_active(number, verb, f"{verb}ing")), []
    being: list[Piece] = draw(st.sampled_from([[], ["being"]]))
    return [*draw(draw_be(number)), *being, f"{verb}ed"], ["by"]


@st.composite
def draw_verb_phrase(draw: st.DrawFn, number: str, depth: int) -> list[Piece]:
    if draw(st.booleans()):
        return draw(draw_active(number, "sleep", "sleeping"))
    verb, by = draw(draw_transitive(number))
    return [*verb, *by, *draw(draw_noun_phrase(draw(st.sampled_from(NUMBERS)), depth))]


@st.composite
def draw_relative_clause(draw: st.DrawFn, number: str, depth: int) -> list[Piece]:
    if draw(st.booleans()):
        return draw(draw_verb_phrase(number, depth))
    inner = draw(st.sampled_from(NUMBERS))
    verb, by = draw(draw_transitive(inner))
    return [*draw(draw_noun_phrase(inner, depth)), *verb, *by]


@st.composite
def draw_noun_phrase(draw: st.DrawFn, number: str, depth: int) -> list[Piece]:
    sg, pl = draw(st.sampled_from(sorted(NOUNS.items())))
    if number == "pl":
        noun = [draw(st.sampled_from(["the", "some", "no", "these", "those"])), pl]
    else:
        article = "an" if sg == "artist" else "a"
        noun = [draw(st.sampled_from(["the", "some", "no", "every", "this", "that", article])), sg]
    if not depth or not draw(st.booleans()):
        return [*noun]
    return [*noun, draw(st.sampled_from(["that", "who"])), *draw(draw_relative_clause(number, depth - 1))]


@st.composite
def sentences(draw: st.DrawFn) -> list[Piece]:
    number = draw(st.sampled_from(NUMBERS))
    return [*draw(draw_noun_phrase(number, 2)), *draw(draw_verb_phrase(number, 2))]


def list_tokens(pieces: list[Piece]) -> list[str]:
    return [piece.form if isinstance(piece, Finite) else piece for piece in pieces]


@given(sentences())
def test_built_sentences_are_accepted(pieces: list[Piece]) -> None:
    assert ORACLE.accepts(list_tokens(pieces))


@given(sentences(), st.data())
def test_wrong_number_is_rejected(pieces: list[Piece], data: st.DataObject) -> None:
    places = [i for i, piece in enumerate(pieces) if isinstance(piece, Finite)]
    place = data.draw(st.sampled_from(places), label="place")
    corrupt = [
        piece.wrong_form if isinstance(piece, Finite) and i == place else piece for i, piece in enumerate(pieces)
    ]
    assert not ORACLE.accepts(list_tokens(corrupt))


@given(sentences(), st.data())
def test_missing_or_doubled_word_is_rejected(pieces: list[Piece], data: st.DataObject) -> None:
    sentence = list_tokens(pieces)
    required = [i for i, token in enumerate(sentence) if token in {"by", "the", "a", "an"}]
    for place in required:
        assert not ORACLE.accepts(sentence[:place] + sentence[place + 1 :])
    place = data.draw(st.sampled_from(range(len(sentence))), label="place")
    if sentence[place] != "that":  # "the man that that woman helped"
        assert not ORACLE.accepts(sentence[: place + 1] + sentence[place:])
