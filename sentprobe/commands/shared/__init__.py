"""Options, help and output that several commands share."""
