"""From a log of answers to a belief about weights, and from the belief to the next question."""
