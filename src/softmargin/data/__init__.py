"""Data: what is read and checked; knows nothing of learning."""
