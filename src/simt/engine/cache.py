"""Compiled objects kept on disk, so that a kernel is compiled once on a machine.

An entry is one file: a digest, then what it covers (a JSON header and the object code). Entries are
written under another name and renamed, so that processes may share the folder; one whose digest does
not fit is removed and made again. The folder is bounded in size.

Entries are code that runs in this process, and whoever writes one can compute its digest. So only files
are believed that nobody else can have written: regular ones of this user's, which others may not write, in
a folder of this user's that is closed to others (0700). The folder is opened once; what then happens to its
name or to the folders above does not matter. Where any of this fails, there is no cache, and no error.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import re
import stat
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, cast

from simt.digests import BYTES, digest

MAGIC = b"simt-object-3\n"
LIMIT = 512 << 20
"""Bytes that the folder may hold."""
ENTRIES = 10_000
"""Entries that it may hold."""
SLACK = 32
"""By one part in so many it may be over either for a while: looking at the whole folder takes time."""
ABANDONED = 600.0
"""Seconds after which a file that is still being written is taken for that of a killed process."""
_LIBRARIES = ".so", ".dylib", ".dll", ".py"
_SUFFIX, _NEW = ".o", ".new-"
_ENTRY = r"[0-9a-f]{64}\.o"
_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def default_folder() -> Path | None:
    """`SIMT_CACHE_DIR`, or `simt` in the user's cache folder. None if the user has no home."""
    chosen = os.environ.get("SIMT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # such values are invalid, says the XDG specification
        base = os.path.expanduser("~/.cache")
    return Path(base) / "simt" if os.path.isabs(base) else None


@functools.cache
def code_fingerprint() -> str:
    """A digest that changes when the package or one of its files does."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parts = [root, *sorted(_states(root))]
    return digest("\n".join(parts).encode("utf-8", "surrogateescape")).hex()


@functools.cache
def llvm_fingerprint() -> str:
    """A digest that changes when LLVM does, which llvmlite brings; it need not be loaded."""
    found = importlib.util.find_spec("llvmlite")
    if found is None or found.origin is None:
        raise ImportError("no llvmlite: simt needs it to make machine code")
    libraries = os.path.join(os.path.dirname(found.origin), "binding")
    try:
        parts = [libraries, *sorted(_states(libraries, _LIBRARIES))]
    except OSError:  # it is not as its wheels put it on disk
        return _loaded_llvm()
    return digest("\n".join(parts).encode("utf-8", "surrogateescape")).hex()


def _loaded_llvm() -> str:
    """The same, from LLVM itself."""
    from importlib.metadata import version

    from simt.engine.library import llvm

    return digest(f"{version('llvmlite')} {llvm.llvm_version_info}".encode()).hex()


def _states(folder: str, kinds: tuple[str, ...] = (".py",)) -> Iterator[str]:
    """A line for each file of some kinds below a folder: any change of it changes its line."""
    with os.scandir(folder) as found:
        for item in found:
            if item.is_dir(follow_symlinks=False):
                yield from _states(item.path, kinds)
            elif item.name.endswith(kinds):
                s = item.stat()
                yield f"{item.path} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns} {s.st_ino}"


class ObjectCache:
    """Objects by key (a hexadecimal digest of everything that they depend on).

    `usable` is False where there can be no private folder: nothing is found then, and nothing kept.
    """

    _grown: ClassVar[dict[Path | None, tuple[int, int]]] = {}
    """Entries and bytes that this process has put into a folder since it last looked at the whole of it."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._handle = -1
        # Without user numbers there is no telling whose a file is.
        if self.folder is not None and hasattr(os, "geteuid"):
            with contextlib.suppress(OSError):
                self._handle = _open_private(self.folder)
        if self.usable:
            weakref.finalize(self, os.close, self._handle)

    @property
    def usable(self) -> bool:
        return self._handle >= 0

    def load(self, key: str) -> tuple[dict[str, object], bytes] | None:
        """Header and object of an entry, None if there is none that is whole and ours."""
        name = key + _SUFFIX
        try:
            data = self._read(name) if self.usable else None
        except OSError:
            return None
        if data is None:
            return None
        said, body = data[len(MAGIC) : len(MAGIC) + BYTES], data[len(MAGIC) + BYTES :]
        if not data.startswith(MAGIC) or digest(key.encode(), body) != said:
            self._remove(name)
            return None
        with contextlib.suppress(OSError):
            os.utime(name, dir_fd=self._handle)  # the oldest use is evicted first
        length = int.from_bytes(body[:8], "little")
        return cast("dict[str, object]", json.loads(body[8 : 8 + length])), body[8 + length :]

    def store(self, key: str, header: Mapping[str, object], image: bytes) -> None:
        """Keeps an entry; a full disk or a lost folder only costs the next compilation."""
        text = json.dumps(header).encode()
        body = len(text).to_bytes(8, "little") + text + image
        if not self.usable or len(body) > LIMIT:
            return
        with contextlib.suppress(OSError):
            self._write(key + _SUFFIX, MAGIC + digest(key.encode(), body) + body)
            if self._has_grown(len(body)):
                self._evict()

    # -- files of the folder ---------------------------------------------------------------------

    def _read(self, name: str) -> bytes | None:
        """A file's contents; None, and the file is removed, if others may have written it."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(name, flags, dir_fd=self._handle)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if _is_ours(status) and stat.S_ISREG(status.st_mode) and status.st_size <= LIMIT:
                return file.read()
        self._remove(name)
        return None

    def _write(self, name: str, data: bytes) -> None:
        """Puts a whole file in place, or nothing."""
        new = f"{_NEW}{os.getpid()}-{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        handle = os.open(new, flags, 0o600, dir_fd=self._handle)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.rename(new, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            self._remove(new)
            raise

    def _remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self._handle)

    def _has_grown(self, nbytes: int) -> bool:
        """Notes an entry; whether this process has written much since it last looked at the whole folder."""
        entries, written = self._grown.get(self.folder, (ENTRIES, LIMIT))  # the first one looks
        entries, written = entries + 1, written + nbytes
        much = entries * SLACK > ENTRIES or written * SLACK > LIMIT
        self._grown[self.folder] = (0, 0) if much else (entries, written)
        return much

    def _evict(self) -> None:
        """Removes what killed processes left, and the entries used longest ago while there are too many."""
        total, now, entries = 0, time.time(), list[tuple[int, int, str]]()
        for name, status in _files(self._handle):
            if name.startswith(_NEW) and now - status.st_mtime > ABANDONED:
                self._remove(name)
                continue
            total += status.st_size
            if re.fullmatch(_ENTRY, name):
                entries.append((status.st_mtime_ns, status.st_size, name))
        for left, (_, size, name) in zip(range(len(entries), 0, -1), sorted(entries)):
            if total <= LIMIT and left <= ENTRIES:
                return
            self._remove(name)
            total -= size


def _is_ours(status: os.stat_result) -> bool:
    """Whether only this user may have written a file."""
    return status.st_uid == os.geteuid() and not status.st_mode & _WRITTEN_BY_OTHERS


def _open_private(folder: Path) -> int:
    """Makes a folder of this user's, and closes it to others: a handle of it. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.lstat().st_uid not in (0, os.geteuid()):  # of a link: it may lead anywhere
        raise PermissionError(f"{folder} is somebody else's")
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _make_private(handle)
    except OSError:
        os.close(handle)
        raise
    return handle


def _make_private(handle: int) -> None:
    status = os.fstat(handle)
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        raise PermissionError("a folder that others use")
    if status.st_mode & 0o077:
        os.chmod(handle, 0o700)
    if status.st_mode & _WRITTEN_BY_OTHERS:  # they may have put in files, even ones that are ours
        for name, _ in _files(handle):
            if re.fullmatch(_ENTRY, name) or name.startswith(_NEW):
                os.unlink(name, dir_fd=handle)


def _files(handle: int) -> Iterator[tuple[str, os.stat_result]]:
    """Names in a folder and what is known of them; those that vanish meanwhile are left out."""
    again = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    try:  # a handle of its own: readers of one share their place
        with os.scandir(again) as found:
            names = [item.name for item in found]
    finally:
        os.close(again)
    for name in names:
        with contextlib.suppress(OSError):
            yield name, os.stat(name, dir_fd=handle, follow_symlinks=False)
