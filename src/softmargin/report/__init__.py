"""One page about one model: what it is, what is proved of it, what it was told, and where that does not fit."""

from softmargin.report.page import write_report

__all__ = ["write_report"]
