"""Hypothesis strategies of spaces of events, over words of several lexicons."""

from functools import cache
from itertools import chain
from typing import TypeVar

from hypothesis import reject
from hypothesis import strategies as st

from sentprobe.generator.events.event import Contradiction, Event, Fronting, Mood, Negator, Number, Role, Tense
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import find_patterns, list_frames, list_template_names
from sentprobe.lexicon import Kind, Lexicon, english, read_lexicon_text
from sentprobe.lexicon.words import PLACE, TIME

Value = TypeVar("Value")

ODD_LEXICON = """
[noun]
"naïf" = { NNS = "naïfs" }
"élève" = { NNS = "élèves", article = "an" }
"学生" = { NNS = "学生们" }
"co-author" = { NNS = "co-authors" }
"𐐨𐐩" = { NNS = "𐐨𐐩𐐪" }

[transitive]
"küss" = { VBZ = "küsst", VBD = "küsste", VBG = "küssend", VBN = "geküsst", VBP = "küsse" }
help = {}

[intransitive]
"眠る" = { VBZ = "眠", VBD = "眠った", VBG = "眠って", VBN = "眠られ", VBP = "眠れ" }
sleep = {}

[ditransitive]
"schenk" = { VBZ = "schenkt", VBD = "schenkte", VBG = "schenkend", VBN = "geschenkt", VBP = "schenke" }
give = {}
help = {}

[adverb]
"déjà" = {}
"всегда" = {}
really = {}

[adjective]
old = {}
"élégant" = { article = "an" }
"古い" = {}

[vocabulary.odd]
noun = "*"
transitive = "*"
intransitive = "*"
ditransitive = "*"
adverb = "*"
adjective = "*"
"""


@cache
def odd_lexicon() -> Lexicon:
    """A user's lexicon of words beyond ASCII, and beyond 16 bits."""
    return read_lexicon_text(ODD_LEXICON, "odd.toml")


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """Spaces of any templates, with any choices, over a small, two large and an odd vocabulary."""
    lexicon, vocabulary = draw(
        st.sampled_from(
            ((english(), "compeval"), (english(), "english"), (english(), "everyday"), (odd_lexicon(), "odd"))
        )
    )
    determiners = [word.lemma for word in lexicon.words(Kind.DETERMINER)]
    adjectives = draw(st.integers(0, int(vocabulary in ("odd", "everyday"))))
    adjuncts = draw(st.sampled_from(((None,), (TIME, PLACE), (None, "on Monday", "in the garden"))))
    has_sorts = vocabulary == "everyday"  # rules on sorts divide a space into very many boxes
    choices = Choices(
        main=Event(tense=draw(st.sampled_from((None, *Tense)))),
        numbers=draw(_some(list(Number))),
        determiners=("the", *draw(_some([d for d in determiners if d != "the"], most=4))),
        relativizers=draw(_some([word.lemma for word in lexicon.words(Kind.RELATIVIZER)])),
        negators=draw(_some(list(Negator))),
        modals=draw(_some([None, *(word.lemma for word in lexicon.words(Kind.MODAL))], most=3)),
        moods=draw(_some([*Mood])),
        adjuncts=adjuncts,
        frontings=(None,) if adjuncts == (None,) else draw(st.sampled_from(((None,), (None, Fronting.ADJUNCT)))),
        asked=draw(_some([None, *Role])),
        adverbs=draw(st.sampled_from(((0,), (1,), (0, 2)))),
        adjectives=(adjectives,),
        coordinations=(draw(st.integers(0, int(not (has_sorts and adjectives)))),),
    )
    frames = {*lexicon.language.frames}
    names = list_template_names(deep=True)
    names = tuple(name for name in names if {*chain(*map(list_frames, find_patterns([name])))} <= frames)
    templates = draw(st.lists(st.sampled_from(names), min_size=1, max_size=1 if has_sorts else 3))
    try:
        return Space(lexicon, vocabulary=vocabulary, templates=templates, choices=choices)
    except Contradiction:
        reject()


def _some(values: list[Value], *, most: int | None = None) -> st.SearchStrategy[tuple[Value, ...]]:
    """Draw some of the values, at most *most*: the boxes of a space multiply with its choices."""
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True).map(tuple)
