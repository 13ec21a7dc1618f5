"""Events: their values, notation, JSON form and drawings."""
