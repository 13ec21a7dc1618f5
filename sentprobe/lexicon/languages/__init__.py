"""The languages: a module for each defines its :class:`~.language.Language`, and :mod:`.table` lists them."""
