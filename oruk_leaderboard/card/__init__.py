"""The data set card and everything else that is derived: built, never edited."""
