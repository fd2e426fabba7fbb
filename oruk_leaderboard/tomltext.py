"""TOML text that users hand over."""

import tomllib
from typing import Any

_DEEPEST = 100
"""Most tables and arrays inside each other; what reads a document later may be recursive."""


def parse(text: str) -> dict[str, Any]:
    """The document of a TOML text.

    Raises:
        ValueError: The text is not TOML, is nested too deeply, or has a number of too many digits.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("TOML nested too deeply") from error
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        # Python refuses to convert such a number; its own message names a setting of the interpreter.
        raise ValueError("a number of more than 4,300 digits, or a date that does not exist") from error
    level: list[Any] = [document]
    for _ in range(_DEEPEST):
        inside = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inside for item in items]
        if not level:
            return document
    raise ValueError(f"TOML nested more than {_DEEPEST} deep")
