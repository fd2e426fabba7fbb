"""Records of results, cards of systems and what is known of their training data: the leaf that every table reads."""
