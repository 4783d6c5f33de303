"""scikit-learn estimators: the only layer that knows scikit-learn."""
