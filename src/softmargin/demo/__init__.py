"""The demo: ``python -m softmargin.demo``."""
