"""Edits of a user's texts: minimal opposites, and variants of the same meaning."""
