"""Reports on results: comparisons of encoders, tests against chance and controls, tables, plots, texts for papers."""
