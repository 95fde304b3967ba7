"""The clocks that a kernel can read, in LLVM IR.

`%clock` is the number of instructions that the warp has executed (`simt.analysis.clock`). It lies in the
worker's block while the warp runs, and in the warp's context while the warp waits. Only kernels that read it
have code for it.
"""

from __future__ import annotations

from simt.engine.abi import WorkerSlot
from simt.engine.llvm_builder import Builder, ModuleText

_REALTIME = 0
"""The number of the clock that tells the time of day, on Linux and macOS."""


def clear_clock() -> list[str]:
    """A warp begins."""
    return [
        f"  %clock.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.CLOCK}",
        "  store i64 0, ptr %clock.p, align 8",
    ]


class Ticks:
    """Counts the instructions of a block while it is emitted, and adds them to the clock where somebody may
    look at it: at a reading, at a call, at the block's end."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._open = 0

    def tick(self) -> None:
        """One instruction is executed."""
        self._open += 1

    def settle(self) -> None:
        """The clock shows all that was counted."""
        if self._open:
            place = self._place()
            now = self._builder.emit(f"load i64, ptr {place}, align 8")
            then = self._builder.emit(f"add i64 {now}, {self._open}")
            self._builder.void(f"store i64 {then}, ptr {place}, align 8")
        self._open = 0

    def move(self, context: str, saving: bool) -> None:
        """To the place in the warp's context, or from there back."""
        source, target = (self._place(), context) if saving else (context, self._place())
        value = self._builder.emit(f"load i64, ptr {source}, align 8")
        self._builder.void(f"store i64 {value}, ptr {target}, align 8")

    def _place(self) -> str:
        return self._builder.emit(f"getelementptr i64, ptr %worker, i64 {WorkerSlot.CLOCK}")


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
