"""Solvers: constraints in, weights with a certificate out."""
