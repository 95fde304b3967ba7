"""A PTX file of any size, made of renamed copies of what nvcc made of the programs of tests/programs."""

from __future__ import annotations

import re
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "programs"
SOURCES = (
    "black_scholes",
    "hash",
    "mandelbrot",
    "matmul",
    "nbody",
    "scan",
    "transpose",
    "volume",
    "warp_reduce",
)
HEADER = ".version 9.0\n.target sm_75\n.address_size 64\n"

_DIRECTIVE = re.compile(r"^\.(version|target|address_size).*$", re.M)
_DEFINED = re.compile(r"\.(?:entry|func)\s+(\w+)|^\.(?:global|const|shared)\b[^;\n]*?\s(\w+)[\[; ]", re.M)


def big_ptx(size: int) -> str:
    """A valid module of at least `size` characters."""
    bodies = [_DIRECTIVE.sub("", (PROGRAMS / f"{name}.ptx").read_text()) for name in SOURCES]
    parts, length, copy = [HEADER], 0, 0
    while length < size:
        for body in bodies:
            parts.append(renamed(body, copy))
            length += len(parts[-1])
        copy += 1
    return "".join(parts)


def renamed(body: str, copy: int) -> str:
    """`body` with every name that it defines at module scope, and its parameters', made new."""
    names = {name for pair in _DEFINED.findall(body) for name in pair if name}
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names)))})(_param_\d+)?\b")
    return pattern.sub(lambda m: f"{m[1]}_copy{copy}{m[2] or ''}", body)
