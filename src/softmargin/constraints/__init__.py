"""Constraints: labels, comparisons and classes become signed rows with a required margin and a price of slack."""

from softmargin.constraints.graded import Constraints, Grades, GroupCounts, Pairs

__all__ = ["Constraints", "Grades", "GroupCounts", "Pairs"]
