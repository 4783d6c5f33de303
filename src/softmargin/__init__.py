"""Learn linear models you can trust from comparisons, labels and numbers."""
