"""Compiled inner loops.  NumPy and Numba only; arrays and numbers in, arrays filled; no classes, no files."""
