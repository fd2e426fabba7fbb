"""Set before any test imports numpy; how property tests run."""

import os

from hypothesis import settings

# Two test processes on two cores: a BLAS that starts threads of its own makes them wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples every time and no time limit on one: a test of figures must not fail because a machine is busy.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")
