"""Models that outlive a process: files that hold one, and what other programs read of it."""

from softmargin.models.export import export
from softmargin.models.files import load, save

__all__ = ["export", "load", "save"]
