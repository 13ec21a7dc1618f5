"""The functions that rules name as their change."""

from collections.abc import Callable, Mapping, Sequence

from sentprobe.generator.edits.clause_changes import CLAUSE_CHANGES
from sentprobe.generator.edits.edit_table import EditRule, EditTable
from sentprobe.generator.edits.edit_text import EditableText, Splice
from sentprobe.generator.edits.found_place import FoundPlace
from sentprobe.generator.edits.token_changes import TOKEN_CHANGES
from sentprobe.generator.edits.variant_changes import VARIANT_CHANGES
from sentprobe.generator.edits.word_changes import WORD_CHANGES

CHANGES: Mapping[str, Callable[[EditableText, FoundPlace, EditRule, EditTable], Sequence[Splice]]] = {
    **TOKEN_CHANGES,
    **CLAUSE_CHANGES,
    **WORD_CHANGES,
    **VARIANT_CHANGES,
}
"""Every change by its name. It gets the text, the place, the rule and the table, and returns the replaced parts."""
