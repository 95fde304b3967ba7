"""The object cache: what it keeps, what it refuses, and that nothing outside can make it fail."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from simt.engine import cache
from simt.engine.cache import ObjectCache, code_fingerprint, default_folder

KEY = "0123456789abcdef" * 4
HEADER: dict[str, object] = {"symbols": ["a", "b"], "context": 128}
IMAGE = bytes(range(256)) * 5


@pytest.fixture
def objects(tmp_path: Path) -> ObjectCache:
    return ObjectCache(tmp_path / "objects")


def entry(objects: ObjectCache, key: str = KEY) -> Path:
    """The one file of an entry."""
    objects.store(key, HEADER, IMAGE)
    (found,) = (p for p in objects.folder.iterdir() if p.stem == key)
    return found


def test_keeps_header_and_object(objects: ObjectCache) -> None:
    assert objects.load(KEY) is None
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) == (HEADER, IMAGE)
    assert ObjectCache(objects.folder).load(KEY) == (HEADER, IMAGE), "another process"
    assert objects.load(KEY[::-1]) is None


@pytest.mark.parametrize("place", [0, 5, 20, 45, 60, 100, -1])
def test_a_changed_byte_is_noticed(objects: ObjectCache, place: int) -> None:
    path = entry(objects)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert objects.load(KEY) is None
    assert not path.exists(), "a broken entry is removed"
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) == (HEADER, IMAGE)


@pytest.mark.parametrize("length", [0, 1, 13, 14, 40, 46, 54, 80, 1000])
def test_truncated(objects: ObjectCache, length: int) -> None:
    path = entry(objects)
    path.write_bytes(path.read_bytes()[:length])
    assert objects.load(KEY) is None


@pytest.mark.parametrize(
    "content", [b"\x7fELF", b"simt-object-1\n", b"simt-object-1\n" + bytes(500), b"x" * 999]
)
def test_foreign_file(objects: ObjectCache, content: bytes) -> None:
    entry(objects).write_bytes(content)
    assert objects.load(KEY) is None


def test_entry_of_another_key(objects: ObjectCache) -> None:
    """An entry renamed to another key is not taken for it."""
    path = entry(objects)
    other = KEY[::-1]
    path.rename(path.with_stem(other))
    assert objects.load(other) is None


def test_entry_that_is_a_folder(objects: ObjectCache) -> None:
    path = entry(objects)
    path.unlink()
    path.mkdir()
    assert objects.load(KEY) is None
    objects.store(KEY, HEADER, IMAGE)
    assert [p.name for p in objects.folder.iterdir()] == [path.name], "nothing half-written stays"


def test_least_recently_used_goes_first(objects: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"{i:064x}" for i in range(4)]
    paths = [entry(objects, key) for key in keys]
    for age, path in enumerate(paths):
        os.utime(path, (1000 + age, 1000 + age))
    assert objects.load(keys[0]) is not None, "now the one used last"
    monkeypatch.setattr(cache, "LIMIT", 3 * paths[0].stat().st_size)
    objects.store(f"{9:064x}", HEADER, IMAGE)
    assert [p.exists() for p in paths] == [True, False, False, True]


def test_folder_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    for path in (folder, tmp_path / "new" / "deep"):
        assert ObjectCache(path).usable
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    objects = ObjectCache(tmp_path / "file" / "objects")
    assert not objects.usable
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) is None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert not ObjectCache(tmp_path / "objects").usable
    finally:
        tmp_path.chmod(0o700)


def test_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert not ObjectCache(tmp_path).usable


def test_folder_lost_while_running(objects: ObjectCache) -> None:
    entry(objects).unlink()
    objects.folder.rmdir()
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) is None


def test_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMT_CACHE_DIR", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"
    monkeypatch.delenv("SIMT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder() == tmp_path / "xdg" / "simt"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "simt"


def test_fingerprint_is_that_of_the_files() -> None:
    assert code_fingerprint() == code_fingerprint()
    assert len(code_fingerprint()) == 64


PROCESS = """
import hashlib, sys
from pathlib import Path
from simt.engine.cache import ObjectCache
objects = ObjectCache(Path(sys.argv[1]))
for i in range(60):
    key = f"{i % 5:064x}"
    image = key.encode() * 300
    objects.store(key, {"n": i % 5}, image)
    found = objects.load(key)
    assert found == ({"n": i % 5}, image), found
"""


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """Writers of the same keys never see a torn entry."""
    running = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(tmp_path / "o")], env=_paths()) for _ in range(3)
    ]
    assert [p.wait(timeout=60) for p in running] == [0, 0, 0]
    assert len(list((tmp_path / "o").iterdir())) == 5


def _paths() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
