"""Diagnostics: what can be said about a model that is there, from outside."""
