"""Compiled objects kept on disk, so that a kernel is compiled once on a machine.

An entry is one file: a digest, then what it covers (a JSON header and the object code). Entries are
written under another name and renamed, so that processes may share the folder; one whose digest does
not fit is removed and compiled again. The folder is private (0700) and bounded in size.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

MAGIC = b"simt-object-1\n"
LIMIT = 512 << 20
"""Bytes that the folder may hold."""


def default_folder() -> Path:
    """`SIMT_CACHE_DIR`, or `simt` in the user's cache folder."""
    chosen = os.environ.get("SIMT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "simt"


def code_fingerprint() -> str:
    """A digest that changes when the package's own files do."""
    root = Path(__file__).resolve().parent.parent
    parts: list[str] = []
    for path in sorted(root.rglob("*.py")):
        status = path.stat()
        parts.append(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class ObjectCache:
    """Objects by key (a hexadecimal digest of everything that they depend on)."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self.usable = self._prepare()

    def _prepare(self) -> bool:
        """Makes the folder; it must be ours and closed to others."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.folder.stat()
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                return False
            if status.st_mode & 0o077:
                self.folder.chmod(0o700)
        except OSError:
            return False
        return True

    def load(self, key: str) -> tuple[dict[str, object], bytes] | None:
        """Header and object of an entry, None if there is none that is whole."""
        if not self.usable:
            return None
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, body = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
        if not data.startswith(MAGIC) or hashlib.sha256(key.encode() + body).digest() != digest:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the oldest use is evicted first
        length = int.from_bytes(body[:8], "little")
        return cast("dict[str, object]", json.loads(body[8 : 8 + length])), body[8 + length :]

    def store(self, key: str, header: Mapping[str, object], image: bytes) -> None:
        """Keeps an entry; a full disk or a lost folder only costs the next compilation."""
        if not self.usable:
            return
        text = json.dumps(header).encode()
        body = len(text).to_bytes(8, "little") + text + image
        digest = hashlib.sha256(key.encode() + body).digest()
        with contextlib.suppress(OSError):
            self._write(self._path(key), MAGIC + digest + body)
            self._evict()

    def _write(self, path: Path, data: bytes) -> None:
        """Puts a whole file in place, or nothing."""
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.o"

    def _evict(self) -> None:
        """Removes the entries used longest ago while the folder is over its limit."""
        found = [(s.st_mtime_ns, s.st_size, p) for p in self.folder.glob("*.o") if (s := p.stat())]
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= LIMIT:
                return
            path.unlink(missing_ok=True)
            total -= size
