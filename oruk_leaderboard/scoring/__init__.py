"""Predictions against gold: read, score, compare, replay, verify."""
