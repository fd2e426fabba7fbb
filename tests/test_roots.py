"""Roots from what people download: archives, nested archives, URLs, hostile members."""

import errno
import gzip
import io
import pickle
import random
import struct
import tarfile
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from oruk_leaderboard.corpora import clips, find_corpora, get_corpus, locate, open_root, roots
from oruk_leaderboard.corpora.example import build_example
from oruk_leaderboard.corpora.streams import Inflated, OpenedSource
from oruk_leaderboard.errors import CorpusError


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def zip_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tar_of(files: dict[str, bytes], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@pytest.fixture
def emovo(tmp_path: Path) -> dict[str, bytes]:
    build_example(get_corpus("emovo"), tmp_path / "plain")
    return tree(tmp_path / "plain")


def packings(files: dict[str, bytes]) -> dict[str, bytes]:
    return {
        "emovo.zip": zip_of(files),
        "emovo.tar": tar_of(files),
        "emovo.tar.gz": tar_of(files, "w:gz"),
        "emovo.tgz": tar_of(files, "w:gz"),
        "emovo.tar.bz2": tar_of(files, "w:bz2"),
        "emovo.tar.xz": tar_of(files, "w:xz"),
        "nested.zip": zip_of({"EMOVO/emovo.zip": zip_of(files)}),
        "nested.tar.gz": tar_of({"raw/inner.tar.gz": tar_of(files, "w:gz")}, "w:gz"),
    }


@pytest.mark.parametrize("name", list(packings({})))
def test_archive_equals_folder(name: str, emovo: dict[str, bytes], tmp_path: Path) -> None:
    archive = tmp_path / "downloads" / name
    archive.parent.mkdir()
    archive.write_bytes(packings(emovo)[name])
    for place in (archive, archive.parent):
        (corpus,) = find_corpora(place)
        found = clips(corpus)
        assert [(clip.clip_id, clip.label) for clip in found.clips] == [
            ("emovo/dis-f1-b1", "disgust"),
            ("emovo/pau-m1-l1", "fear"),
        ]
        for clip in reversed(found.clips):
            official = found.official[clip.clip_id]
            assert corpus.root.size(clip.media) == len(emovo[official])
            assert corpus.root.local_path(clip.media) is None
            with corpus.root.open(clip.media) as file:
                file.seek(4)
                assert b"RIFF" + file.read()[:0] + emovo[official][4:] == b"RIFF" + emovo[official][4:]
                file.seek(0)
                assert file.read() == emovo[official]
        assert not corpus.root.problems
        assert pickle.loads(pickle.dumps(corpus.root)).names() == corpus.root.names()
    assert [path.name for path in archive.parent.iterdir()] == [name], "nothing is unpacked"


def test_memory_url(emovo: dict[str, bytes]) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    for name, data in emovo.items():
        memory.pipe_file(f"/corpora/EMOVO/{name}", data)
    memory.pipe_file("/zips/emovo.zip", zip_of(emovo))
    memory.pipe_file("/zips/files.lst", "\n".join(emovo).encode())
    for url in ("memory://corpora", "memory://zips/emovo.zip", "memory://zips/files.lst", "memory://zips"):
        root = open_root(url)
        found = clips(locate(get_corpus("emovo"), root))
        assert len(found.clips) == 2
        if not root.listing_only:
            with root.open(found.clips[0].media) as file:
                assert file.read() == emovo["f1/dis-f1-b1.wav"]
    with pytest.raises(CorpusError, match="URL cannot be opened"):
        open_root("memory://nowhere.zip")
    with pytest.raises(CorpusError, match="URL cannot be opened"):
        open_root("nosuchprotocol://x")


def test_archives_that_may_not_be_read(emovo: dict[str, bytes], tmp_path: Path, monkeypatch: Any) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "secret.zip").write_bytes(zip_of(emovo))
    (folder / "dis-f1-b1.wav").write_bytes(b"x")
    monkeypatch.setattr(roots, "LocalSource", refuse)
    root = open_root(folder)
    assert list(root.names()) == ["dis-f1-b1.wav"]
    assert root.problems == [roots.Problem("secret.zip", "unreadable archive: Permission denied")]
    with pytest.raises(CorpusError, match=r"secret\.zip: the corpora root cannot be read; found Permission denied"):
        open_root(folder / "secret.zip")


def test_hostile_zip_members(emovo: dict[str, bytes], tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in emovo.items():
            archive.writestr(name, data)
        archive.writestr("/etc/f1/dis-f1-b2.wav", b"x")
        archive.writestr("../f1/dis-f1-b3.wav", b"x")
        archive.writestr("C:/f1/dis-f1-l1.wav", b"x")
        link = zipfile.ZipInfo("f1/dis-f1-l2.wav")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("f1/gio-f1-b1.wav", b"one")
            archive.writestr("f1/gio-f1-b1.wav", b"two")
        archive.writestr("f1/gio-f1-b2.wav", b"secret")
        archive.writestr("f1/bomb.wav", bytes(100_000_000))
    data = bytearray(buffer.getvalue())
    for header, flags in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        at = data.rindex(b"f1/gio-f1-b2.wav") if header == b"PK\1\2" else data.index(b"f1/gio-f1-b2.wav")
        start = data.rindex(header, 0, at)
        data[start + flags] |= 1
    (tmp_path / "bad.zip").write_bytes(data)
    root = open_root(tmp_path / "bad.zip")
    assert list(root.names()) == sorted(emovo)
    assert {problem.where: problem.reason for problem in root.problems} == {
        "/etc/f1/dis-f1-b2.wav": "absolute path",
        "../f1/dis-f1-b3.wav": "a path that leaves its folder",
        "C:/f1/dis-f1-l1.wav": "absolute path",
        "f1/dis-f1-l2.wav": "link or device",
        "f1/gio-f1-b1.wav": "the name occurs twice in the archive",
        str(tmp_path / "bad.zip"): "encrypted (1 members): unpack it with its password first",
        "f1/bomb.wav": next(p.reason for p in root.problems if "ratio" in p.reason),
    }
    assert len(clips(locate(get_corpus("emovo"), root)).clips) == 2


def test_hostile_tar_members(emovo: dict[str, bytes], tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in emovo.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for kind, name in ((tarfile.SYMTYPE, "f1/link.wav"), (tarfile.LNKTYPE, "f1/hard.wav")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        archive.addfile(tarfile.TarInfo("/abs.wav"))
        archive.addfile(tarfile.TarInfo("f1/../../up.wav"))
    (tmp_path / "bad.tar.gz").write_bytes(buffer.getvalue())
    root = open_root(tmp_path / "bad.tar.gz")
    assert list(root.names()) == sorted(emovo)
    assert {problem.where: problem.reason for problem in root.problems} == {
        "f1/link.wav": "link, device or sparse file",
        "f1/hard.wav": "link, device or sparse file",
        "/abs.wav": "absolute path",
        "f1/../../up.wav": "a path that leaves its folder",
    }


def test_unreadable_and_cut_archives(emovo: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"no zip at all")
    with pytest.raises(CorpusError, match="nothing usable in the archive"):
        open_root(tmp_path / "broken.zip")
    whole = tar_of(emovo)
    (tmp_path / "cut.tar").write_bytes(whole[: whole.index(b"m1/pau") + 700])
    damaged = bytearray(zip_of(emovo))
    damaged[60:70] = bytes(10)
    (tmp_path / "damaged.zip").write_bytes(damaged)
    root = open_root(tmp_path)
    assert any(problem.where == "broken.zip" and "unreadable" in problem.reason for problem in root.problems)
    with root.open("cut.tar/f1/dis-f1-b1.wav") as file:
        assert file.read() == emovo["f1/dis-f1-b1.wav"]
    with pytest.raises(OSError, match="cut"):
        root.open("cut.tar/m1/pau-m1-l1.wav")
    with pytest.raises(OSError, match="damaged"):
        root.open("damaged.zip/f1/dis-f1-b1.wav")


def test_dos_and_unflagged_utf8_names(tmp_path: Path) -> None:
    spec = get_corpus("cafe")
    build_example(spec, tmp_path / "plain")
    files = tree(tmp_path / "plain")
    for encoding in ("cp437", "utf-8"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for number, data in enumerate(files.values()):
                archive.writestr(f"{number:03}", data)
        data = buffer.getvalue()
        for number, name in enumerate(files):
            raw = unicodedata.normalize("NFC", name).encode(encoding)
            data = _renamed(data, f"{number:03}".encode(), raw)
        (tmp_path / "CaFE.zip").write_bytes(data)
        root = open_root(tmp_path / "CaFE.zip")
        assert set(root.names()) == set(files)
        assert len(clips(locate(spec, root)).clips) == 2


def _renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    """The zip with another member name, in both headers, without the UTF-8 flag."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        contents = [archive.read(info) for info in infos]
    names = [new if info.orig_filename.encode("cp437") == old else info.orig_filename.encode("cp437") for info in infos]
    out, directory = bytearray(), bytearray()
    for info, name, content in zip(infos, names, contents, strict=True):
        fixed = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 33, info.CRC, len(content), len(content), len(name), 0)
        directory += b"PK\1\2" + struct.pack("<H", 20) + fixed + struct.pack("<HHHLL", 0, 0, 0, 0, len(out)) + name
        out += b"PK\3\4" + fixed + name + content
    end = struct.pack("<HHHHLLH", 0, 0, len(infos), len(infos), len(directory), len(out), 0)
    return bytes(out + directory + b"PK\5\6" + end)


def test_restart_points_read_any_order() -> None:
    rng = random.Random(1)
    data = b"".join(rng.randbytes(1 << 16) + bytes(1 << 16) for _ in range(100))
    packed = gzip.compress(data[: len(data) // 2], 1) + gzip.compress(data[len(data) // 2 :], 1)
    source = Inflated(OpenedSource(io.BytesIO(packed)), compressed=len(packed), window_bits=31, limit=len(data))
    for _ in range(50):
        offset, count = rng.randrange(len(data)), rng.randrange(200_000)
        assert source.read_at(offset, count) == data[offset : offset + count]
    assert source.read_at(len(data), 10) == b""
    small = Inflated(OpenedSource(io.BytesIO(packed)), compressed=len(packed), window_bits=31, limit=1 << 20)
    with pytest.raises(OSError, match="more than"):
        small.read_at(0, len(data))


def test_three_downloads_in_one_folder(tmp_path: Path) -> None:
    for name in ("ravdess", "emodb", "crema_d"):
        build_example(get_corpus(name), tmp_path / "unpacked" / name)
        (tmp_path / f"{name}.zip").write_bytes(zip_of(tree(tmp_path / "unpacked" / name)))
    import shutil

    shutil.rmtree(tmp_path / "unpacked")
    found = {corpus.spec.id: corpus for corpus in find_corpora(tmp_path)}
    assert sorted(found) == ["crema_d", "emodb", "ravdess"]
    assert found["ravdess"].prefix == "ravdess.zip/"
    assert all(len(clips(corpus).clips) == 2 for corpus in found.values())
