"""Cues that may answer a task: its question is about them, or its text has them and may.

Of natural text the second is the rule: whatever the definition of a task does not even out may go
with the answer, as the baselines of Conneau et al. 2018 (table 2) show. What it does even out stays
without a reason, so that it is a leak if it is above chance: length in TreeDepth; length and words
in BShift; length in SOMO and CoordInv.
"""

from collections.abc import Iterable, Mapping

from sentprobe.probes.audit.cues import Cue
from sentprobe.probes.suites import task_key

Reasons = Mapping[Cue, str]
"""Why a cue may answer, for each that may."""

_TEXT = (
    "in natural text it goes with the answer, which the task does not rule out; beat this figure"
)
_BAG_AND_ORDER = (Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)


def _why(reason: str, *cues: Cue) -> dict[Cue, str]:
    return dict.fromkeys(cues, reason)


_WORDS = _why("the task is about which words there are", Cue.BAG, Cue.NGRAMS, Cue.POSITION)
_ORDER = _why("the task is about the order of words", Cue.NGRAMS, Cue.POSITION)
_USUAL_ORDER = _ORDER | _why(
    "of many two words, one is usually first in text; beat this figure",
    *(Cue.PROBE, Cue.LENGTH, Cue.BAG),
)
_ROLE = _why("word order is what marks the role; beat this figure", Cue.NGRAMS, Cue.POSITION)
_NEGATION = _why("a negation stands near its verb; beat this figure", Cue.NGRAMS, Cue.POSITION)
_LENGTH = _why(
    "the task is about the length of the sentence", *(set(Cue) - {Cue.PROBE, Cue.POSITION})
)
_CONTENT = _why(_TEXT, Cue.LENGTH) | _why(
    "the task is about which words there are", *_BAG_AND_ORDER, Cue.SENTENCE
)
_PRESENCE = _WORDS | _why("a short sentence lacks more words; beat this figure", Cue.LENGTH)
_DEPTH = _why("words and their order tell of the structure; beat this figure", *_BAG_AND_ORDER)
_TENSE = _why("other words go with the tense of the verb; beat this figure", *_BAG_AND_ORDER)
_NUMBER = _why("other words agree with the number of the noun; beat this figure", *_BAG_AND_ORDER)
_SHIFT = _why("the task is about words that stand together", Cue.NGRAMS, Cue.TEMPLATE)
_ODD = _why("the new word fits those around it less well; beat this figure", Cue.BAG, Cue.NGRAMS)
_CLAUSES = _why("the task is about the order of clauses", Cue.NGRAMS, Cue.TEMPLATE) | _why(
    "the capital letter says which word is first; beat this figure", Cue.BAG
)
_LENGTH_OF_TEXT = _why(_TEXT, Cue.LENGTH)


def _named(reasons: Reasons, names: str) -> Iterable[tuple[str, Reasons]]:
    return ((name, reasons) for name in names.split())


EXPECTED: Mapping[str, Reasons] = dict(
    (
        # Ettinger et al. 2018; sr is the name of a published file.
        *_named(_WORDS, "content1probe content2probe"),
        *_named(_ORDER, "order"),
        *_named(_ROLE, "semrole sr"),
        *_named(_NEGATION, "negation"),
        # Conneau et al. 2018; also by the names of SentEval's files, see expected().
        *_named(_LENGTH, "sentlen"),
        *_named(_CONTENT, "wc"),
        *_named(_DEPTH, "treedepth"),
        *_named(_DEPTH | _LENGTH_OF_TEXT, "topconst"),
        *_named(_SHIFT, "bshift"),
        *_named(_TENSE | _LENGTH_OF_TEXT, "tense"),
        *_named(_NUMBER | _LENGTH_OF_TEXT, "subjnum objnum"),
        *_named(_ODD, "somo"),
        *_named(_CLAUSES, "coordinv"),
        # Adi et al. 2017. Where tokens are in random order, no two have a usual one.
        *_named(_LENGTH, "adilength adilength-permuted adilength-random"),
        *_named(_PRESENCE, "adicontent adicontent-permuted adicontent-random"),
        *_named(_USUAL_ORDER, "adiorder"),
        *_named(_ORDER, "adiorder-permuted adiorder-random"),
    )
)
"""By a dataset's name in lower case."""

_ODD_TURNED = _why(
    "no replacement of training is one in test, where it stands in originals too",
    *(Cue.BAG, Cue.NGRAMS),
)

TURNED: Mapping[str, Reasons] = dict(_named(_ODD_TURNED, "somo"))
"""Where training and test disagree about a cue because the task says so, and why."""


def expected(name: str, cue: Cue) -> str:
    """Return why a cue may answer the task of that name, or the empty string.

    >>> from sentprobe.probes.audit.cues import Cue
    >>> expected("Content1Probe", Cue.BAG)
    'the task is about which words there are'
    >>> expected("SemRole", Cue.BAG)
    ''
    >>> expected("word_content", Cue.BAG) == expected("WC", Cue.BAG)
    True
    """
    return EXPECTED.get(task_key(name), {}).get(cue, "")


def turned(name: str, cue: Cue) -> str:
    """Return why a cue is below chance on the test items of the task of that name."""
    return TURNED.get(task_key(name), {}).get(cue, "training and test disagree about this cue")
