"""Whether a container ends before its own structure says so, where its decoder would not mind."""

import os

_OGG_PAGE = 27 + 255 + 255 * 255  # bytes of the longest page
_FLV_TAG = 11  # bytes of a tag's header
_EBML_SEGMENT = b"\x18\x53\x80\x67"


def ogg_is_cut(descriptor: int) -> bool:
    """Whether the last page of an Ogg file is not whole or not marked as the end of its stream."""
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, _OGG_PAGE, max(0, size - _OGG_PAGE))
    page = tail[max(0, tail.rfind(b"OggS")) :]
    if len(page) < 27:
        return True
    lacing = page[27 : 27 + page[26]]
    whole = len(lacing) == page[26] and len(page) >= 27 + len(lacing) + sum(lacing)
    return not (whole and page[5] & 4)


def video_is_cut(descriptor: int, head: bytes) -> bool:
    """Whether an AVI, FLV or Matroska file is shorter than it says; other containers fail to open when they are."""
    size = os.fstat(descriptor).st_size
    if head[:4] == b"RIFF":
        return size < 8 + int.from_bytes(head[4:8], "little")
    if head[:3] == b"FLV":
        return not _flv_ends(descriptor, size)
    if head[:4] == b"\x1aE\xdf\xa3":
        return _matroska_is_cut(head, size)
    return False


def _flv_ends(descriptor: int, size: int) -> bool:
    """Whether the file ends with the length of its last tag."""
    length = int.from_bytes(os.pread(descriptor, 4, max(0, size - 4)), "big")
    if not _FLV_TAG <= length <= size - 4:
        return False
    tag = os.pread(descriptor, 4, size - 4 - length)
    return int.from_bytes(tag[1:4], "big") + _FLV_TAG == length


def _matroska_is_cut(head: bytes, size: int) -> bool:
    """Whether the segment reaches beyond the file; a segment of unknown length does not tell."""
    at = head.find(_EBML_SEGMENT) + 4
    if at < 4 or at >= len(head) or head[at] == 0:
        return False
    width = 9 - head[at].bit_length()
    value = int.from_bytes(head[at : at + width], "big") & ((1 << 7 * width) - 1)
    unknown = value == (1 << 7 * width) - 1
    return not unknown and size < at + width + value
