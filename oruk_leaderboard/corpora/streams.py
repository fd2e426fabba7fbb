"""Random access to bytes inside archives, without unpacking anything to disk.

Everything is a `ByteSource`: bytes that can be read at an offset. Windows of sources, and compressed sources with
restart points, stack: a recording in a ``.tar.gz`` in a ``.tar.gz`` is read with bounded memory.
"""

import bisect
import errno
import io
import lzma
import os
import threading
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

_BLOCK = 1 << 16
_IN_MEMORY = 1 << 26


class ByteSource(Protocol):
    """Bytes that can be read at any offset."""

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to ``count`` bytes from ``offset``; fewer only at the end."""


class LocalSource:
    """A local file; reads do not share a position, so threads and forked workers may read at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._lock = threading.Lock()

    def read_at(self, offset: int, count: int) -> bytes:
        """Bytes of the file."""
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), count, offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.read(count)


class OpenedSource:
    """A seekable file object, e.g. from fsspec."""

    def __init__(self, file: IO[bytes] | io.BufferedIOBase) -> None:
        self._file = file
        self._lock = threading.Lock()

    def read_at(self, offset: int, count: int) -> bytes:
        """Bytes of the file object.

        Raises:
            OSError: They cannot be read, or are damaged compressed data.
        """
        with self._lock:
            try:
                self._file.seek(offset)
                return self._file.read(count)
            except (lzma.LZMAError, EOFError, ValueError) as error:
                raise OSError(errno.EIO, f"damaged compressed data: {error}") from error


class Window:
    """A part of another source."""

    def __init__(self, source: ByteSource, start: int, size: int) -> None:
        self._source, self._start, self._size = source, start, size

    def read_at(self, offset: int, count: int) -> bytes:
        """Bytes of the part."""
        count = min(count, self._size - offset)
        return self._source.read_at(self._start + offset, count) if count > 0 else b""


class Inflated:
    """A deflate or gzip stream with restart points, so that reading backwards does not start from the beginning.

    Args:
        source: Compressed bytes.
        compressed: Their count, which sets how far the restart points are apart.
        window_bits: As for zlib: -15 for the raw streams of zip, 31 for gzip.
        limit: Uncompressed bytes beyond which the stream is refused.
    """

    def __init__(self, source: ByteSource, *, compressed: int, window_bits: int, limit: int) -> None:
        self._source, self._bits, self._limit = source, window_bits, limit
        # A restart point holds about 40 KiB; some hundreds of them are affordable for any archive.
        self._interval = max(1 << 22, compressed // 500)
        self._lock = threading.Lock()
        self._points: list[tuple[int, int, Any]] = [(0, 0, zlib.decompressobj(window_bits))]
        self._out = self._in = self._start = 0
        self._block = b""
        self._restart(0)

    def read_at(self, offset: int, count: int) -> bytes:
        """Bytes of the uncompressed stream.

        Raises:
            OSError: The stream is cut, damaged or absurdly large.
        """
        found: list[bytes] = []
        with self._lock:
            while count > 0 and self._seek(offset):
                piece = self._block[offset - self._start : offset - self._start + count]
                found.append(piece)
                offset += len(piece)
                count -= len(piece)
        return b"".join(found)

    def _seek(self, offset: int) -> bool:
        """Make the current block the one that contains the offset; False when the stream ends before it."""
        nearest = bisect.bisect_right(self._points, offset, key=lambda point: point[0]) - 1
        if offset < self._start or self._points[nearest][0] > self._out:
            self._restart(nearest)
        while offset >= self._start + len(self._block):
            self._start, self._block = self._out, self._next()
            if not self._block:
                return False
        return True

    def _restart(self, point: int) -> None:
        self._out, self._in, state = self._points[point]
        self._state = state.copy()
        self._start, self._block = self._out, b""

    def _next(self) -> bytes:
        while True:
            if self._state.eof:
                # A gzip file may contain several streams, one after the other.
                if self._bits < 16 or self._source.read_at(self._in, 2) != b"\x1f\x8b":
                    return b""
                self._state = zlib.decompressobj(self._bits)
            data = self._source.read_at(self._in, _BLOCK)
            try:
                block: bytes = self._state.decompress(data, 1 << 20)
            except zlib.error as error:
                raise OSError(errno.EIO, f"damaged compressed data: {error}") from error
            used = len(data) - len(self._state.unconsumed_tail) - len(self._state.unused_data)
            self._in += used
            self._out += len(block)
            if self._out > self._limit:
                raise OSError(errno.EFBIG, f"more than {self._limit:,} bytes when decompressed")
            if block:
                if self._out >= self._points[-1][0] + self._interval:
                    self._points.append((self._out, self._in, self._state.copy()))
                return block
            if not used and not self._state.eof:
                raise OSError(errno.EIO, "the compressed data is cut")


class _Reader(io.RawIOBase):
    """A source as a seekable file."""

    def __init__(self, source: ByteSource, size: int | None) -> None:
        super().__init__()
        self._source, self._size, self._position = source, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END and self._size is None:
            raise io.UnsupportedOperation("the size is not known")
        base = (0, self._position, self._size or 0)[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        data = self._source.read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def as_file(source: ByteSource, size: int | None = None) -> BinaryIO:
    """The source as a buffered, seekable, read-only file; without a size it cannot seek from the end."""
    return io.BufferedReader(_Reader(source, size), _BLOCK)


def member_file(source: ByteSource, size: int, *, crc: int | None = None) -> BinaryIO:
    """A member as a file, in memory unless it is large.

    Raises:
        OSError: The member is cut or damaged.
    """
    if size > _IN_MEMORY:
        return as_file(Window(source, 0, size), size)
    data = source.read_at(0, size)
    if len(data) != size:
        raise OSError(errno.EIO, f"the member is cut: {len(data):,} of {size:,} bytes")
    if crc is not None and zlib.crc32(data) != crc:
        raise OSError(errno.EIO, "the member is damaged: its checksum differs")
    return io.BytesIO(data)
