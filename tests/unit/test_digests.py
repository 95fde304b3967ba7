"""Digests are BLAKE2b's, and SHA-256's where Python has no other."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from simt.digests import BYTES, digest

ELSEWHERE = """
import sys
sys.modules["_blake2"] = None  # a Python without it
from simt.digests import digest
print(digest(b"a", b"bc").hex())
"""


def test_parts_are_as_one() -> None:
    whole = bytes(range(256)) * 3
    assert digest(whole[:100], whole[100:], b"") == hashlib.blake2b(whole, digest_size=BYTES).digest()
    assert digest() == hashlib.blake2b(digest_size=BYTES).digest()


def test_pythons_that_have_no_such_module() -> None:
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == hashlib.sha256(b"abc").hexdigest(), done.stderr
