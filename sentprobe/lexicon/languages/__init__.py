"""The languages: each has a module that defines its :class:`~.language.Language`; :mod:`.table` lists all languages."""
