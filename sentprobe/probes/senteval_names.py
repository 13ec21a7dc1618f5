"""The names that SentEval's files have for the ten tasks of Conneau et al. 2018."""

from collections.abc import Mapping

SENTEVAL: Mapping[str, str] = {
    "SentLen": "sentence_length",
    "WC": "word_content",
    "TreeDepth": "tree_depth",
    "TopConst": "top_constituents",
    "BShift": "bigram_shift",
    "Tense": "past_present",
    "SubjNum": "subj_number",
    "ObjNum": "obj_number",
    "SOMO": "odd_man_out",
    "CoordInv": "coordination_inversion",
}
"""By our names, which are the paper's."""


def _bare(name: str) -> str:
    return name.lower().replace("_", "")


_OURS = {_bare(file): name.lower() for name, file in SENTEVAL.items()}


def task_key(name: str) -> str:
    """Return what a task is looked up by: its name, not SentEval's, in lower case.

    >>> task_key("bigram_shift"), task_key("WordContent"), task_key("SemRole")
    ('bshift', 'wc', 'semrole')
    """
    return _OURS.get(_bare(name), name.lower())
