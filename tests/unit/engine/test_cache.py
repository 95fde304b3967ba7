"""The object cache: what it keeps, what it refuses, and that nothing outside can make it fail."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
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
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
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


def test_fingerprint_of_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its files; by what it says of itself where they are somewhere else."""
    by_files = cache.llvm_fingerprint()

    def nowhere(folder: str, kinds: tuple[str, ...]) -> None:
        raise FileNotFoundError(folder)

    monkeypatch.setattr(cache, "_states", nowhere)
    by_version = cache.llvm_fingerprint.__wrapped__()
    assert len(by_files) == len(by_version) == 64
    assert by_files != by_version
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="llvmlite"):
        cache.llvm_fingerprint.__wrapped__()


def test_fingerprint_is_that_of_the_files() -> None:
    assert code_fingerprint() == code_fingerprint()
    assert len(code_fingerprint()) == 64


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "relative")
    assert default_folder() is None
    objects = ObjectCache()
    assert not objects.usable
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) is None


# ---------------------------------------------------------------- what others may have written


def test_link_to_an_entry_is_not_followed(objects: ObjectCache, tmp_path: Path) -> None:
    path = entry(objects)
    elsewhere = tmp_path / "planted"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert objects.load(KEY) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_file_that_others_may_write(objects: ObjectCache, mode: int) -> None:
    path = entry(objects)
    path.chmod(mode)
    assert objects.load(KEY) is None
    assert not path.exists()


def test_file_of_somebody_else(objects: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digest is right: whoever writes an entry can compute one."""
    path = entry(objects)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert objects.load(KEY) is None


def test_pipe_in_place_of_an_entry(objects: ObjectCache) -> None:
    path = entry(objects)
    path.unlink()
    os.mkfifo(path)
    assert objects.load(KEY) is None, "nor does it wait for a writer"


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o703])
def test_entries_of_a_folder_that_others_could_write(tmp_path: Path, mode: int) -> None:
    path = entry(ObjectCache(tmp_path / "objects"))
    own = path.parent / "module.o"
    own.write_text("the user's")
    path.parent.chmod(mode)
    objects = ObjectCache(path.parent)
    assert objects.load(KEY) is None
    assert own.exists()
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) == (HEADER, IMAGE)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_folder_that_everybody_uses_is_left_alone(tmp_path: Path) -> None:
    """`SIMT_CACHE_DIR=/tmp` must not close /tmp to others."""
    tmp_path.chmod(0o1777)
    assert not ObjectCache(tmp_path).usable
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777


def test_folder_put_in_place_of_the_opened_one(objects: ObjectCache) -> None:
    """As somebody can who may write the folder above."""
    path = entry(objects)
    planted = path.read_bytes()
    objects.folder.rename(objects.folder.with_name("moved"))
    objects.folder.mkdir()
    path.write_bytes(planted[:100])
    assert objects.load(KEY) == (HEADER, IMAGE)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_link_of_somebody_else_to_a_folder_of_ours(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "ours")
    assert ObjectCache(link).usable
    os.chown(link, 12345, 12345, follow_symlinks=False)
    assert not ObjectCache(link).usable


# ---------------------------------------------------------------- bounds


def test_leftovers_of_killed_processes_go(objects: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (entry(objects).with_name(f".new-{name}") for name in ("1-old", "2-new"))
    for path in (old, new):
        path.write_bytes(b"half an entry")
    os.utime(old, (1000, 1000))
    monkeypatch.setattr(cache, "ENTRIES", 1)  # so that it looks at the folder now
    objects.store(KEY[::-1], HEADER, IMAGE)
    assert (old.exists(), new.exists()) == (False, True)


def test_many_small_entries(objects: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "ENTRIES", 320)
    scans: list[str] = []
    evict = objects._evict
    monkeypatch.setattr(objects, "_evict", lambda: scans.append("") or evict())
    for i in range(600):
        objects.store(f"{i:064x}", {}, b"")
    assert 320 <= len(list(objects.folder.iterdir())) <= 331
    assert len(scans) < 60, "it does not look at the whole folder every time"
    assert objects.load(f"{599:064x}") is not None


def test_what_is_larger_than_the_folder_may_be(objects: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 1000)
    objects.store(KEY, HEADER, IMAGE)
    assert list(objects.folder.iterdir()) == []


FULL = """
import resource, signal, sys
from pathlib import Path
from simt.engine.cache import ObjectCache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
objects = ObjectCache(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
objects.store("f" * 64, {}, bytes(5000))
assert objects.load("f" * 64) is None
"""


def test_write_that_ends_in_the_middle(objects: ObjectCache) -> None:
    """As on a full disk: it leaves no entry, no rest, and no error."""
    pytest.importorskip("resource")
    subprocess.run([sys.executable, "-c", FULL, str(objects.folder)], env=_paths(), check=True)
    assert list(objects.folder.iterdir()) == []


# ---------------------------------------------------------------- processes


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


KILLED = """
import sys
import time
from pathlib import Path
from simt.engine.cache import ObjectCache
objects = ObjectCache(Path(sys.argv[1]))
print("writing", flush=True)
while True:
    objects.store("c" * 64, {"n": 1}, b"c" * 5_000_000)
"""


def test_process_killed_while_it_writes(tmp_path: Path) -> None:
    folder, whole = tmp_path / "o", ({"n": 1}, b"c" * 5_000_000)
    for delay in (0.0, 0.002, 0.005, 0.011):
        command = [sys.executable, "-c", KILLED, str(folder)]
        with subprocess.Popen(command, env=_paths(), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
        assert ObjectCache(folder).load("c" * 64) in (None, whole)
    objects = ObjectCache(folder)
    objects.store(KEY, HEADER, IMAGE)
    assert objects.load(KEY) == (HEADER, IMAGE)


COMPILING = """
import sys, simt
device = simt.Device("sm_90", memory="64MiB", workers=1)
out = device.zeros(64, "u4")
for n in map(int, sys.argv[1].split(",")):
    text = ".version 7.5 .target sm_75 .address_size 64 .visible .entry k(.param .u64 out) {"
    text += " .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [out]; mov.u32 %v, %tid.x;"
    text += f" mad.wide.u32 %a, %v, 4, %a; add.u32 %v, %v, {n}; st.global.u32 [%a], %v; ret; }}"
    device.load(text)["k"](1, 64, (out,))
    assert (out.numpy() == range(n, n + 64)).all()
"""


def test_processes_compile_at_once(tmp_path: Path) -> None:
    """The same kernels and different ones, from an empty folder on: all results are right."""
    environment = {**_paths(), "SIMT_CACHE_DIR": str(tmp_path / "o")}
    running = [
        subprocess.Popen([sys.executable, "-c", COMPILING, numbers], env=environment)
        for numbers in ("1,2,3,4", "4,3,2,1", "5,1,6,2")
    ]
    assert [p.wait(timeout=120) for p in running] == [0, 0, 0]
    names = [p.name for p in (tmp_path / "o").iterdir()]
    assert len([n for n in names if n.endswith(".o")]) >= 6
    assert not [n for n in names if n.startswith(".new-")]


def _paths() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
