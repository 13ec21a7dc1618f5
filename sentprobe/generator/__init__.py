"""From events to annotated sentences and back, and the space of events to draw from."""
