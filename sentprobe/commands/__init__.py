"""The commands: one module for each, with its options."""
