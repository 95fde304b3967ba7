"""What compiled code leaves to the interpreter."""

from __future__ import annotations


class Unsupported(Exception):
    """A kernel uses something that the JIT does not compile; the interpreter runs it instead."""
