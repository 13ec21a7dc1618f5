"""The place where a rule of edits fits."""

import re
from typing import NamedTuple

from sentprobe.generator.edits.edit_clauses import FiniteClause
from sentprobe.generator.edits.edit_text import EditableToken, RefusalError


class FoundPlace(NamedTuple):
    """A match of a regular expression, or a token, with the main clause if the rule tests the clause."""

    match: re.Match[str] | None = None
    token: EditableToken | None = None
    clause: FiniteClause | None = None

    def get_match(self) -> re.Match[str]:
        """Return the match; for changes of rules with ``match``."""
        if self.match is None:
            raise RefusalError("the rule has no match")
        return self.match

    def get_token(self) -> EditableToken:
        """Return the token; for changes of rules with ``find`` or ``clause``."""
        if self.token is None:
            raise RefusalError("the rule has no token")
        return self.token

    def get_clause(self) -> FiniteClause:
        """Return the clause; for changes of rules with ``clause``."""
        if self.clause is None:
            raise RefusalError("the sentence has another form")
        return self.clause
