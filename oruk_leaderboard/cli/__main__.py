"""``python -m oruk_leaderboard.cli``: the command, where the script is not on the path."""

import sys

from oruk_leaderboard.cli import main

sys.exit(main())
