"""The Hub: publish, sync, results for model repositories, submissions."""
