"""The grammar of the generated English, and what it derives."""
