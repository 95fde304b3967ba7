"""How fast PTX is parsed, verified and printed: `python bench/parse.py [MEGABYTES]`.

The input is nvcc's output for the corpus, repeated with renamed functions and variables.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from simt.ptx.nodes import Module
from simt.ptx.parser import parse
from simt.ptx.printer import print_module
from simt.verify import verify

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
_DECLARED = re.compile(
    r"^\.(?:visible|weak|global|const|func|shared)\b.*?([A-Za-z_$][\w$]*)(?:\[\w*\])*(?:\(| ?=|;)", re.M
)
_BODY = re.compile(r"^\.address_size 64$", re.M)


def make(size: int) -> str:
    """About `size` characters of distinct nvcc functions."""
    bodies = [_BODY.split(p.read_text(), maxsplit=1)[1] for p in sorted(CORPUS.glob("*.90.ptx"))]
    parts: list[str] = [HEADER]
    length = 0
    copy = 0
    while length < size:
        for number, body in enumerate(bodies):
            parts.append(_renamed(body, f"_c{copy}_{number}"))
            length += len(parts[-1])
        copy += 1
    return "".join(parts)


def _renamed(body: str, suffix: str) -> str:
    """A module's text with every name that could clash made its own."""
    names = set(
        re.findall(r"(?<![\w$%.])(?:_Z|__|\$str|\$L_|vprintf|free|malloc)[\w$]*|\bprototype_\d+", body)
    )
    names |= set(_DECLARED.findall(body))
    if not names:
        return body
    choice = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w$%.])(?:{choice})(?![\w$])", lambda m: m[0] + suffix, body)


def median(run: Callable[[], object], times: int = 5) -> float:
    """Processor seconds of the middle one of several runs."""
    found: list[float] = []
    for _ in range(times):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return statistics.median(found)


def parsed(text: str) -> Module:
    module, diagnostics = parse(text)
    if module is None or diagnostics.errors:
        sys.exit("\n".join(d.render() for d in diagnostics))
    return module


def main() -> None:
    text = make(int(float(sys.argv[1] if len(sys.argv) > 1 else 1) * 2**20))
    tracemalloc.start()
    module = parsed(text)
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    size = len(text) / 2**20
    print(
        f"input  {size:.2f} MiB, {text.count(';')} statements; tree {memory / 2**20 / size:.1f} MiB per MiB"
    )
    for name, run in (
        ("parse", lambda: parse(text)),
        ("verify", lambda: verify(module)),
        ("print", lambda: print_module(module)),
    ):
        seconds = median(run)
        print(f"{name:6} {seconds:.2f} s, {seconds / size:.2f} s per MiB")


if __name__ == "__main__":
    main()
