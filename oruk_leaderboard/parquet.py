"""Parquet bytes: plain, explicit and the same every time."""

from typing import Any


def serialize(table: Any) -> bytes:
    """Parquet bytes of a table, the same for the same table and release of pyarrow.

    Plain pyarrow, because parquet written by new releases of ``datasets`` or by pandas carries metadata or types that
    old releases of ``datasets`` cannot read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def same_table(first: bytes, second: bytes) -> bool:
    """Whether two parquet files have the same table.

    Their bytes may still differ: the footer names the release of pyarrow that wrote it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        one, two = (pq.read_table(pa.BufferReader(content)) for content in (first, second))
    except pa.ArrowInvalid:
        return False
    return bool(one.schema.equals(two.schema, check_metadata=True) and one.equals(two))
