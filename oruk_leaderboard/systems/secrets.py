"""Keys never reach a file or a screen: whatever looks like one is blanked in foreign text."""

import os
import re

_PATTERNS = (
    re.compile(r"(?<=://)[^/\s@]+(?=@)"),
    re.compile(r"(?i)(?<=bearer )[^\s\"',;]+"),
    re.compile(
        r"(?i)\b((?:api[-_]?)?key|token|secret|password|passwd|pwd|sig|signature)([\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;}]+"
    ),
)
_VARIABLE = re.compile(r"(?i)key|token|secret|password")
_SHORTEST = 8
"""Values of variables with fewer characters are not keys; blanking them would mangle ordinary words."""


def blank(text: str) -> str:
    """The text without URL credentials, bearer tokens, ``key=`` values and the values of key variables."""
    for name, value in os.environ.items():
        if _VARIABLE.search(name) and len(value) >= _SHORTEST:
            text = text.replace(value, "***")
    text = _PATTERNS[0].sub("***", text)
    text = _PATTERNS[1].sub("***", text)
    return _PATTERNS[2].sub(r"\1\2***", text)
