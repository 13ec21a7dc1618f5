"""Training of probes: presets (without PyTorch) and fits (with it)."""
