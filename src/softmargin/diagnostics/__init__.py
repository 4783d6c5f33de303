"""Diagnostics: what can be said about constraints without learning from them."""
