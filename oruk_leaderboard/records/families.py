"""The families of systems."""

FAMILIES: tuple[str, ...] = ("ours", "open", "API", "audio LLM", "text only")
"""Families of systems, in the order in which the card lists them."""
