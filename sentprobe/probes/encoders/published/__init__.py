"""Encoders with weights that their authors published, one module for each kind; no pickle is loaded."""
