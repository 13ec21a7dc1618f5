"""The commands, one file for a group of them: they read options, call the packages below, and print."""
