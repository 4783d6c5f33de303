"""Bayesian linear regression as algebra: sums of rows, and the posterior that they imply."""
