"""The shipped JSON Schemas: checks of documents, and the column types of every table that is built from them."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.paths import schema_dir


@cache
def load_schema(name: str) -> dict[str, Any]:
    """Shipped JSON Schema ``schema/<name>.schema.json``."""
    schema: dict[str, Any] = json.loads((schema_dir() / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


@cache
def validator(name: str) -> Any:
    """Validator of a shipped schema; formats such as dates are checked too."""
    from jsonschema import Draft202012Validator, validators

    every_item = Draft202012Validator.VALIDATORS["items"]

    def items(checker: Any, schema: Any, instance: Any, parent: Any) -> Iterator[Any]:
        # A record has tens of thousands of counts, few of them different: equal numbers are checked once.
        if isinstance(instance, list) and {*map(type, instance)} <= {int, float}:
            one = checker.evolve(schema=schema)
            if all(one.is_valid(number) for _, number in {(type(number), number) for number in instance}):
                return
        yield from every_item(checker, schema, instance, parent)

    extend: Any = validators.extend  # jsonschema gives it no types
    checking = extend(Draft202012Validator, {"items": items})
    return checking(load_schema(name), format_checker=Draft202012Validator.FORMAT_CHECKER)


def check(document: object, schema: str, *, where: object = None) -> None:
    """Check a parsed JSON document against a shipped schema.

    Args:
        document: What ``json.loads`` gives.
        schema: Name of the schema, without ``.schema.json``.
        where: File or row, for the message.

    Raises:
        RecordError: The first three faults, each with its key, and how many more there are.
    """
    found = faults(document, schema)
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise RecordError(f"not valid by {schema}.schema.json: {'; '.join(found[:3])}{more}", where=where)


def faults(document: object, schema: str) -> list[str]:
    """Everything about a parsed JSON document that breaks a shipped schema, as ``key: fault``, sorted by key."""
    return [
        f"{key}: {message}"
        for key, message in sorted(
            ("/".join(map(str, fault.absolute_path)) or "top level", fault.message[:300])
            for fault in validator(schema).iter_errors(document)
        )
    ]


def arrow_schema(name: str) -> Any:
    """Arrow schema of a table whose rows the JSON Schema ``name`` describes: one column per property, in its order.

    Strings, numbers (float64), integers (int64), booleans and arrays of these; nullability is left to the JSON Schema.
    List elements are called ``element``, as parquet calls them, so that a table read back has the very same schema.
    """
    import pyarrow as pa

    scalars = {"string": pa.string(), "number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_()}

    def kind(column: Mapping[str, Any]) -> Any:
        types = column.get("type", "string")  # a column of an enum alone is text
        types = [types] if isinstance(types, str) else types
        name = next(name for name in types if name != "null")
        return pa.list_(pa.field("element", kind(column["items"]))) if name == "array" else scalars[name]

    return pa.schema([pa.field(column, kind(rule)) for column, rule in load_schema(name)["properties"].items()])
