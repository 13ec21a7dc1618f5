"""The languages: a module for each language, which ends with its :class:`~.language.Language`, and their table."""
