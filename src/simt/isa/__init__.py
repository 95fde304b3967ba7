"""The instruction set: importing this package fills `FORMS` and `KNOWN` of `simt.isa.catalogue` from all
chapters."""

from __future__ import annotations

import importlib

CHAPTERS = (
    "integer", "floating", "compare", "logic", "half", "packed_single", "mixed", "move", "memory",
    "convert", "small_formats", "texture", "control", "sync", "atomics", "warp", "video", "video_vectors",
    "async_copy", "bulk_copy", "cache", "vector_atomics", "grids", "mbarrier", "matrices", "mma", "wmma",
    "known",
)  # fmt: skip
"""Modules that declare instructions, in the order of the manual."""

for _chapter in CHAPTERS:
    importlib.import_module(f"{__name__}.{_chapter}")
