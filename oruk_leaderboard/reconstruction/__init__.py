"""From copies of the corpora to the rebuilt evaluation set: plan, render, write shards, report.

`plan` chooses the clips and checks their sources, `render` is what a worker does, `engines` is where workers are,
`resume` takes over what an earlier run left, `shards` writes what is new through `layouts` into `store`, and `report`
says what happened.
"""

from oruk_leaderboard.reconstruction.estimate import Estimate
from oruk_leaderboard.reconstruction.report import Report
from oruk_leaderboard.reconstruction.run import dry_run, reconstruct

__all__ = ["Estimate", "Report", "dry_run", "reconstruct"]
