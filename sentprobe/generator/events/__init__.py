"""Events: their classes, text notation, JSON form and drawings."""
