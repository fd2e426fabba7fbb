"""Generated parts of files that people write: the lines between two markers, and nothing else, are replaced.

A part begins with a line ``<!-- generated: NAME -->`` (or ``# generated: NAME``) and ends with one that says
``end of generated``.
"""

import re
from collections.abc import Mapping

from oruk_leaderboard.errors import OrukError

_BLOCK = re.compile(
    r"^(?P<open>(?:<!-- |# )generated: (?P<name>[\w-]+)(?: -->)?\n)"
    r"(?P<body>.*?)^(?P<close>(?:<!-- |# )end of generated)",
    re.MULTILINE | re.DOTALL,
)


def block_names(text: str) -> list[str]:
    """Names of the generated parts in order."""
    return [match["name"] for match in _BLOCK.finditer(text)]


def fill(text: str, blocks: Mapping[str, str], *, where: object) -> str:
    """Text with every generated part replaced.

    Args:
        text: The file's text.
        blocks: Name of a part to its new content.
        where: The file, for the message.

    Raises:
        OrukError: The file has a part that nothing generates, or lacks or repeats one.
    """
    found = block_names(text)
    if sorted(found) != sorted(blocks):
        raise OrukError(
            "generated parts are not those that are generated",
            where=where,
            expected=", ".join(sorted(blocks)),
            found=", ".join(sorted(found)),
            do="put the markers back",
        )

    def replaced(match: re.Match[str]) -> str:
        blank = "\n" if match["open"].startswith("<") else ""
        content = blocks[match["name"]].strip()
        return (
            f"{match['open']}{blank}{content}\n{blank}{match['close']}" if content else match["open"] + match["close"]
        )

    return _BLOCK.sub(replaced, text)
