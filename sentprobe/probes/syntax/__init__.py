"""Constituent trees and dependencies, the parsers that produce them, and their labels."""
