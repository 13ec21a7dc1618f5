"""Generation of annotated sentences from events, parsing, and spaces of events."""
