"""``to_dict`` of plain data classes, written once."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class ToDict:
    """Gives a data class ``to_dict``: its fields by name, nested data classes and containers copied."""

    __slots__ = ()

    def to_dict(self: "DataclassInstance") -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)
