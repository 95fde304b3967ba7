"""The clocks that a kernel can read, in LLVM IR."""

from __future__ import annotations

from simt.engine.llvm_builder import ModuleText

_REALTIME = 0
"""The number of the clock that tells the time of day, on Linux and macOS."""


def cycles(module: ModuleText) -> str:
    """`i64 cycles()`: a counter of this CPU, whatever it counts."""
    return module.declare("llvm.readcyclecounter", "i64", ())


def nanoseconds(module: ModuleText) -> str:
    """`i64 nanoseconds()`: since 1970, as Python's `time.time_ns`.

    The attributes let loops keep memory in registers across it; two readings are two calls all the same.
    """
    name = "simt.nanoseconds"
    if not module.has(name):
        module.declare("clock_gettime", "i32", ("i32", "ptr"))
        module.define(name, "\n".join(_nanoseconds(name, module.attributes)))
    return f"@{name}"


def _nanoseconds(name: str, attributes: str) -> list[str]:
    return [
        f"define internal i64 @{name}() noinline memory(inaccessiblemem: readwrite) {attributes} {{",
        "  %time = alloca { i64, i64 }, align 8",
        f"  %bad = call i32 @clock_gettime(i32 {_REALTIME}, ptr %time)",
        "  %seconds = load i64, ptr %time, align 8",
        "  %rest.p = getelementptr i64, ptr %time, i64 1",
        "  %rest = load i64, ptr %rest.p, align 8",
        "  %whole = mul i64 %seconds, 1000000000",
        "  %sum = add i64 %whole, %rest",
        "  ret i64 %sum",
        "}",
    ]
