"""Keys of meanings: two drafted events have the same key if, and only if, they have the same meaning.

:func:`~sentprobe.generator.events.meaning.compute_meaning` defines the meaning of one event. Here, arrays hold the
meanings of many events with the same structure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from sentprobe.generator.bulk.word_tables import StringPool
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.meaning import DEFINITE_DETERMINERS
from sentprobe.generator.pairs.drafts import EventDraft, ValueColumn
from sentprobe.generator.spaces.layout import ClauseSite, Group, Layout
from sentprobe.lexicon import Kind

_Columns: TypeAlias = "list[ValueColumn]"
"""A column of numbers for each property of a clause or noun; the first property is the verb or the noun."""


class MeaningKeys:
    """Computes the keys of events. Keys are comparable only if the same object computed them."""

    def __init__(self) -> None:
        self._pool = StringPool()
        self._pool.number("")
        self._tables: dict[tuple[int, Kind], tuple[Sequence[object], ValueColumn]] = {}

    def compute_keys(self, draft: EventDraft) -> list[bytes]:
        """Return one key for each event of *draft*."""
        layout = draft.build_layout()
        draft = replace(draft, values={variable.name: draft.values[variable.name] for variable in layout.variables})
        clauses = [self._describe_clause(site, draft, layout) for site in layout.clauses]
        nouns = [self._describe_noun(path, draft) for path in _list_noun_paths(layout)]
        # The order of clauses and nouns is no part of the meaning.
        counts = np.full((2, len(draft.salts)), [[len(clauses)], [len(nouns)]])
        table = np.concatenate([counts, _sort_by_first(clauses), _sort_by_first(nouns)])
        return [row.tobytes() for row in np.ascontiguousarray(table.T, dtype=np.int32)]

    def _describe_clause(self, site: ClauseSite, draft: EventDraft, layout: Layout) -> _Columns:
        path, values, form = site.path, draft.values, site.form
        nothing = np.zeros(len(draft.salts), np.int64)
        fillers = {role: self._number_words(Kind.NOUN, f"{path}{role.value}.noun", draft) for role in site.overt_roles}
        head = self._number_words(Kind.NOUN, f"{site.owner}noun", draft) if site.owner else nothing
        if site.gap is not None:
            fillers[site.gap] = head
        if form.asked is not None:
            role, word = form.asked
            fillers[role] = np.full_like(nothing, self._pool.number(f"{word}?"))
        modal = self._number_words(Kind.MODAL, f"{path}modal", draft) if form.is_modal else nothing
        adverbs = [self._number_words(Kind.ADVERB, f"{path}adverb{i}", draft) for i in range(site.adverbs)]
        return [
            self._number_words(Kind.TRANSITIVE, f"{path}verb", draft),
            head,
            *(fillers.get(role, nothing) for role in ev.ROLES),
            values.get(f"{path}tense", nothing - 1),
            modal,
            self._number_words(Kind.ADJUNCT, f"{path}adjunct", draft) if form.has_adjunct else nothing,
            np.full_like(nothing, self._pool.number(form.mood)),
            values[f"{path}aspect"],
            # "not" and "n't" mean the same.
            np.minimum(values[f"{path}negation"], 1),
            self._find_scopes(site, draft),
            *adverbs,
            *[nothing] * (max(other.adverbs for other in layout.clauses) - len(adverbs)),
        ]

    def _find_scopes(self, site: ClauseSite, draft: EventDraft) -> ValueColumn:
        """Return a number for ``ClauseMeaning.scope`` of each event: 0 for "", else voice and recipient's form."""
        path, values = site.path, draft.values
        is_quantifier = np.array([word not in DEFINITE_DETERMINERS for _, word in draft.words.determiners])
        phrases = [is_quantifier[values[f"{path}{role.value}.det"]] for role in site.overt_roles]
        quantified = np.sum(phrases, axis=0, dtype=np.int64)
        operators = (values[f"{path}negation"] > 0) + sum((site.form.is_modal, site.adverbs > 0, bool(site.form.asked)))
        dative = values.get(f"{path}dative", 0 if site.dative is None else [*ev.Dative].index(site.dative))
        voice = values.get(f"{path}voice", 0 if site.voice is None else [*ev.Voice].index(site.voice))
        return np.where((quantified > 0) & (quantified + operators > 1), 1 + 2 * voice + dative, 0)

    def _describe_noun(self, path: str, draft: EventDraft) -> _Columns:
        adjective, nothing = f"{path}adjective0", np.zeros(len(draft.salts), np.int64)
        return [
            self._number_words(Kind.NOUN, f"{path}noun", draft),
            self._number_words(Kind.DETERMINER, f"{path}det", draft),
            self._number_words(Kind.ADJECTIVE, adjective, draft) if adjective in draft.values else nothing,
        ]

    def _number_words(self, kind: Kind, name: str, draft: EventDraft) -> ValueColumn:
        """Return the number of each event's word of the variable *name*, the same number in all vocabularies."""
        words = draft.words
        key = id(words), kind
        if key not in self._tables:
            lemmas: dict[Kind, Sequence[object]] = {
                Kind.NOUN: words.nouns,
                Kind.TRANSITIVE: words.verbs,
                Kind.MODAL: words.modals,
                Kind.ADJUNCT: words.adjuncts,
                Kind.ADVERB: words.adverbs,
                Kind.ADJECTIVE: words.adjectives,
                Kind.DETERMINER: words.determiners,
            }
            # The words are kept with their table, so that no other words get their id.
            self._tables[key] = lemmas[kind], self._pool.numbers(map(str, lemmas[kind]))
        return self._tables[key][1][draft.values[name]]


def _list_noun_paths(layout: Layout) -> Iterator[str]:
    for variable in layout.variables:
        if variable.group is Group.NOUN:
            yield variable.name.removesuffix("noun")


def _sort_by_first(entries: Sequence[_Columns]) -> ValueColumn:
    """Return the properties of all entries, (properties of all entries, events); each event's entries are sorted."""
    table = np.array(entries)
    order = table[:, 0].argsort(axis=0)
    return np.take_along_axis(table, order[:, None], axis=0).reshape(-1, table.shape[-1])
