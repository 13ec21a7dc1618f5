"""Names that options accept, listed here so that ``--help`` need not import NumPy.

A test compares them with the modules that define the tasks, contrasts, presets and so on.
"""

from collections.abc import Sequence

COMPEVAL_TASKS = ("Content1Probe", "Content2Probe", "Order", "SemRole", "Negation")
STRUCTURE_TASKS = ("Attachment", "TenseOf", "NumberOf", "Modality", "Binding", "Recipient", "Question", "Mood")

UNIVERSAL_TASKS = ("DepDepth", "TopDeps", "SubjGender", "SubjPerson", "VerbMood", "Voice")
NATURAL_TASKS = (
    *("SentLen", "WC", "TreeDepth", "TopConst", "BShift", "Tense", "SubjNum", "ObjNum", "SOMO"),
    *("CoordInv", *UNIVERSAL_TASKS),
    *("AdiLength", "AdiContent", "AdiOrder", "AdiLength-permuted", "AdiLength-random"),
    *("AdiContent-permuted", "AdiContent-random", "AdiOrder-permuted", "AdiOrder-random"),
)

TASK_GROUPS = ("conneau", "adi", "universal", "adi-controls")

CONTRASTS = (
    *("role", "recipient", "modifier", "binding", "negation", "polarity", "tense"),
    *("aspect", "modality", "mood", "number", "noun", "verb", "adverb"),
)

STRUCTURES = (
    *("passive", "relative", "subject-relative", "object-relative", "progressive"),
    *("negated", "past", "plural", "intransitive"),
)

ITEM_COLUMNS = (
    *("voice", "clause", "distance", "attractors", "tense", "aspect"),
    *("polarity", "template", "length", "label", "structure"),
)

LANGUAGES = ("en", "de")
VOCABULARIES = ("english", "compeval", "structure", "everyday", "published")
MOODS = ("statement", "question", "order")
SAMPLINGS = ("mirror", "paper")
PRESETS = ("ettinger", "adi", "conneau", "senteval", "logreg")
METHODS = ("mdl", "sample-efficiency", "v-information", "complexity")
ARCHITECTURES = ("lstm", "bilstm-last", "bilstm-max", "gated-conv", "gru-uni", "gru-bi", "cbow")
LSTM_LM, NGRAM = LANGUAGE_MODELS = ("lstm-lm", "ngram")

OBJECTIVES = (
    *("none", "autoencoder", "denoising", "skipthought", "nmt"),
    *("seq2tree", "nli", "meaning", "contrastive", "next-word"),
)

DATASET_FORMATS = ("directory", "jsonl", "published", "senteval", "csv", "splits", "hub")


def enumerate_names(names: Sequence[str]) -> str:
    """Return the names as a list in English.

    >>> enumerate_names(("text", "markdown", "json"))
    'text, markdown or json'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
