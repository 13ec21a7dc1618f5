"""Generator: makes annotated sentences from events, parses sentences into events, and samples spaces of events."""
