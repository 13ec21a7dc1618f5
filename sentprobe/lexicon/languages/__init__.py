"""The languages: one file each, with one :class:`~.language.Language` at its end, and their table."""
