"""Constraints: labels, comparisons and classes become signed rows with a required margin and a price of slack."""
