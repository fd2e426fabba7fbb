"""Set before any test imports numpy."""

import os

# Two test processes on two cores: a BLAS that starts threads of its own makes them wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
