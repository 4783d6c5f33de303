"""Diagnostics: what can be said, from outside, about constraints and about a model that is there."""
