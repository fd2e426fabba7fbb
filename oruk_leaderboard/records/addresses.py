"""Addresses on the web: of the data set, of its code, and of checkpoints."""

from collections.abc import Mapping

from oruk_leaderboard.records.record import SystemInfo

WEB = "https://huggingface.co"
"""The Hub for people."""

REPO = "oruk/oruk-bench-leaderboard"
"""The data set repository of the leaderboard."""

HOME = f"{WEB}/datasets/{REPO}"
"""The leaderboard's data set."""

CODE = "https://github.com/Oruk-AI/oruk-bench"
"""The benchmark's code."""

HOSTS: Mapping[str, str] = {"hf": f"{WEB}/", "modelscope": "https://modelscope.cn/models/"}
"""Hub of a checkpoint to the address that its model id follows."""


def model_url(system: SystemInfo) -> str | None:
    """Address of the checkpoint on its hub, or None."""
    host = HOSTS.get(system.hub or "")
    return f"{host}{system.model_id}" if host and system.model_id else None
