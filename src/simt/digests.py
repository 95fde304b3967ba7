"""Digests: the names of what is kept on disk, and what says that it is whole."""

from __future__ import annotations

from functools import partial

# What `hashlib.blake2b` is: `hashlib` loads OpenSSL, which takes longer than to parse a small kernel.
try:
    from _blake2 import blake2b
except ImportError:  # a Python built without it
    from hashlib import sha256 as _begin
else:
    _begin = partial(blake2b, digest_size=32)

BYTES = 32


def digest(*parts: bytes) -> bytes:
    """Of bytes, in parts or not."""
    found = _begin()
    for part in parts:
        found.update(part)
    return found.digest()
