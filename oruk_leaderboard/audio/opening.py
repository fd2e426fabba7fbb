"""Open a recording by what it contains, never by its name."""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from oruk_leaderboard.audio.cuts import video_is_cut
from oruk_leaderboard.audio.recording import MAX_RATE, MIN_RATE, Recording, bad_rate, cut_off
from oruk_leaderboard.audio.sndfile import open_sndfile
from oruk_leaderboard.audio.video import VideoRecording, is_video
from oruk_leaderboard.errors import AudioError
from oruk_leaderboard.paths import LFS_POINTER, writing

SPOOL_CHUNK = 1 << 20
"""Bytes copied at once when a recording is not a file of its own."""


@contextlib.contextmanager
def open_recording(file: Path | BinaryIO) -> Iterator[Recording]:
    """Open a recording from a path or a seekable binary file.

    A file object that is not a file of the operating system (a member of an archive, an object of a store) is copied to
    an unnamed temporary file first, so that it is decoded exactly like a file on disk.

    Raises:
        AudioError: With ``reason`` ``empty``, ``lfs-pointer``, ``no-rate``, ``truncated`` or ``unreadable``.
        MissingExtraError: A video container, and PyAV is not installed.
        OSError: The file cannot be opened or read.
    """
    with contextlib.ExitStack() as stack:
        handle = stack.enter_context(file.open("rb", buffering=0)) if isinstance(file, Path) else file
        descriptor = _descriptor(handle, stack)
        head = os.pread(descriptor, 1024, 0)
        if not head:
            raise AudioError("the file is empty", reason="empty", found="0 bytes")
        if head.startswith(LFS_POINTER):
            raise AudioError(
                "a Git LFS pointer, not the recording", reason="lfs-pointer", do="run git lfs pull in the corpus"
            )
        yield _checked(_decoder(descriptor, head, stack))


def _descriptor(handle: BinaryIO, stack: contextlib.ExitStack) -> int:
    # Not every object with a fileno() is the file of that number: a decompressing one names the compressed file.
    if isinstance(getattr(handle, "raw", handle), io.FileIO):
        return handle.fileno()
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the stack closes it
    stack.callback(spool.close)
    handle.seek(0)
    while chunk := handle.read(SPOOL_CHUNK):
        with writing(tempfile.gettempdir()):
            spool.write(chunk)
    with writing(tempfile.gettempdir()):
        spool.flush()
    return spool.fileno()


def _decoder(descriptor: int, head: bytes, stack: contextlib.ExitStack) -> Recording:
    if is_video(head):
        if video_is_cut(descriptor, head):
            raise cut_off()
        video = VideoRecording(stack.enter_context(os.fdopen(os.dup(descriptor), "rb")))
        stack.callback(video.close)
        return video
    recording = open_sndfile(descriptor, head)
    stack.callback(recording.close)
    return recording


def _checked(recording: Recording) -> Recording:
    if not MIN_RATE <= recording.rate <= MAX_RATE:
        raise bad_rate(recording.rate)
    if recording.frames == 0:
        raise AudioError("the recording is empty", reason="empty", found="0 frames")
    return recording
