"""The configs of the data set by name."""

from oruk_leaderboard.table.configs import CONFIGS

CONFIG = {config.name: config for config in CONFIGS}
