"""Answers: what a system said about each clip, from the receipt of a run to a class and a status."""
