"""The members of ``.zip`` and ``.tar`` archives as files of a corpora root; hostile ones are refused by name.

Refused, each as a problem while the rest is used: absolute paths, paths with ``..`` or a drive letter, links and
devices, encrypted members, members that overlap others, that claim absurd sizes or compression ratios, or whose name
occurs twice; archives more than two deep; whatever cannot be read.
"""

import bz2
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from oruk_leaderboard.corpora.streams import ByteSource, Inflated, OpenedSource, Window, as_file, member_file
from oruk_leaderboard.paths import LFS_POINTER

MAX_MEMBER_BYTES = 1 << 36
"""Largest member that is read: the recordings of a whole corpus in one file are smaller."""
MAX_RATIO = 200
"""Highest ratio of bytes to compressed bytes of a large member; speech reaches about 10."""
ENCRYPTED = "encrypted"
"""Reason of members that a password protects; an archive of them is refused as a whole."""
_RATIO_FROM_BYTES = 1 << 26
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_UNREADABLE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, EOFError, ValueError, LookupError, RuntimeError, OverflowError),
)
"""What the standard library raises over damaged archives."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its size in bytes and where its bytes are."""

    size: int
    source: ByteSource
    crc: int | None = None

    def open(self) -> BinaryIO:
        """The member as a seekable file."""
        return member_file(self.source, self.size, crc=self.crc)


@dataclass(frozen=True, slots=True)
class Refused:
    """A member, or an archive, that is not used."""

    reason: str


def is_archive(name: str) -> bool:
    """Whether a file is read as an archive, by its name."""
    return name.lower().endswith((".zip", *_TAR_SUFFIXES))


_SHARD = re.compile(r"-\d{5}-of-\d{5}")
"""Number of a parquet shard, as the ``datasets`` library names them."""


def is_packed(name: str) -> bool:
    """Whether a part of a path may be an archive, or a parquet file with recordings, whose members are files."""
    return is_archive(name) or name.lower().endswith(".parquet")


def packed_name(name: str) -> str:
    """The name of an archive or parquet file as a folder: without its suffix and without a shard's number."""
    lower = name.lower()
    suffix = next((end for end in (".zip", ".parquet", *_TAR_SUFFIXES[::-1]) if lower.endswith(end)), "")
    return _SHARD.sub("", name[: len(name) - len(suffix)])


def members(name: str, source: ByteSource, size: int) -> Iterator[tuple[str, Member | Refused]]:
    """Names and members of an archive; a name may come twice, and ``""`` means the archive as a whole."""
    try:
        if source.read_at(0, len(LFS_POINTER)) == LFS_POINTER:
            yield "", Refused("a Git LFS pointer, not the archive: run git lfs pull in the clone")
        elif name.lower().endswith(".zip"):
            yield from _zip(source, size)
        else:
            yield from _tar(name.lower(), source, size)
    except _UNREADABLE as error:
        yield "", Refused(f"unreadable archive: {error}")


def unsafe(name: str) -> str | None:
    """Why a path that others wrote is not followed below a folder, or None."""
    if name.startswith("/") or name[1:2] == ":":
        return "absolute path"
    if ".." in name.split("/"):
        return "a path that leaves its folder"
    if "\0" in name or any("\ud800" <= char <= "\udfff" for char in name):
        return "the name is not readable"
    return None


def _absurd(size: int, compressed: int) -> str | None:
    if size > MAX_MEMBER_BYTES:
        return f"absurd size of {size:,} bytes"
    if size > _RATIO_FROM_BYTES and size > MAX_RATIO * compressed:
        return f"absurd compression ratio: {compressed:,} to {size:,} bytes"
    return None


def _zip(source: ByteSource, size: int) -> Iterator[tuple[str, Member | Refused]]:
    with zipfile.ZipFile(as_file(source, size)) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.header_offset)
    end = 0
    for info in infos:
        name = _zip_name(info)
        if name.endswith("/"):
            continue
        start, reason = _zip_start(source, info)
        if reason is None and info.header_offset < end:
            reason = "overlaps another member"
        end = max(end, start + info.compress_size)
        reason = unsafe(name) or _zip_refusal(info) or reason
        yield name, Refused(reason) if reason else _zip_member(source, start, info)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The member's name: UTF-8 where it is flagged or plainly so, else the DOS code page that zipfile assumes."""
    name = info.filename
    if not info.flag_bits & 0x800 and not name.isascii():
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    return name.replace("\\", "/")


def _zip_refusal(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16
    if info.flag_bits & 1:
        return ENCRYPTED
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return "link or device"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"compression method {info.compress_type} is not supported"
    return _absurd(info.file_size, info.compress_size)


def _zip_start(source: ByteSource, info: zipfile.ZipInfo) -> tuple[int, str | None]:
    header = source.read_at(info.header_offset, _LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        return info.header_offset, "the archive is cut"
    magic, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    start = info.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
    return start, None if magic == b"PK\3\4" else "damaged header"


def _zip_member(source: ByteSource, start: int, info: zipfile.ZipInfo) -> Member:
    data: ByteSource = Window(source, start, info.compress_size)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        data = Inflated(data, compressed=info.compress_size, window_bits=-15, limit=info.file_size)
    return Member(info.file_size, data, info.CRC)


def _tar(name: str, source: ByteSource, size: int) -> Iterator[tuple[str, Member | Refused]]:
    limit = max(_RATIO_FROM_BYTES, MAX_RATIO * size)
    stream = source
    if name.endswith((".gz", ".tgz")):
        stream = Inflated(source, compressed=size, window_bits=31, limit=limit)
    elif name.endswith((".bz2", ".tbz2")):
        stream = OpenedSource(bz2.BZ2File(as_file(source, size)))
    elif name.endswith((".xz", ".txz")):
        stream = OpenedSource(lzma.LZMAFile(as_file(source, size)))  # noqa: SIM115 closed with the source
    with tarfile.open(fileobj=as_file(stream), mode="r:", errors="surrogateescape") as archive:
        for info in archive:
            if info.offset > limit:
                raise tarfile.ReadError(f"absurd compression ratio: {size:,} to over {limit:,} bytes")
            # tarfile keeps every header it has read; a corpus has too many of them.
            archive.members.clear()  # type: ignore[attr-defined]
            if info.isdir():
                continue
            path = info.name.replace("\\", "/")
            reason = unsafe(path) or _absurd(info.size, info.size)
            if not info.isreg() or info.issparse():
                reason = reason or "link, device or sparse file"
            yield path, Refused(reason) if reason else Member(info.size, Window(stream, info.offset_data, info.size))
