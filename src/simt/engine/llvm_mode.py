"""The CPU's floating-point mode (rounding, subnormals): a kernel sets its own and puts the caller's back.

Threads inherit the mode of those that start them, and what runs in a process may have changed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simt.engine.llvm_builder import ModuleText

DEFAULT_MXCSR = 0x1F80
"""Of x86: all exceptions masked, rounding to nearest, subnormals kept."""
DEFAULT_FPCR = 0
"""Of 64-bit Arm: the same, and NaNs propagate."""


def enter(module: ModuleText, features: frozenset[str], zeros: bool = False) -> list[str]:
    """Lines that save the mode and set the default one, for a function's first block.

    `zeros`: operands that are subnormal are read as zeros (x86 only)."""
    from simt.engine.llvm_flushing import MXCSR_ZEROS  # only to compile: start-up time

    if "sse" in features:
        module.declare("llvm.x86.sse.stmxcsr", "void", ("ptr",))
        module.declare("llvm.x86.sse.ldmxcsr", "void", ("ptr",))
        return [
            "  %float.mode = alloca i32",
            "  %float.mode.before = alloca i32",
            "  call void @llvm.x86.sse.stmxcsr(ptr %float.mode.before)",
            f"  store i32 {DEFAULT_MXCSR | zeros * MXCSR_ZEROS}, ptr %float.mode",
            "  call void @llvm.x86.sse.ldmxcsr(ptr %float.mode)",
        ]
    if "neon" in features:
        module.declare("llvm.aarch64.get.fpcr", "i64", ())
        module.declare("llvm.aarch64.set.fpcr", "void", ("i64",))
        return [
            "  %float.mode.before = call i64 @llvm.aarch64.get.fpcr()",
            f"  call void @llvm.aarch64.set.fpcr(i64 {DEFAULT_FPCR})",
        ]
    return []


def leave(features: frozenset[str]) -> list[str]:
    """Lines that put back what `enter` saved, before a function returns."""
    if "sse" in features:
        return ["  call void @llvm.x86.sse.ldmxcsr(ptr %float.mode.before)"]
    if "neon" in features:
        return ["  call void @llvm.aarch64.set.fpcr(i64 %float.mode.before)"]
    return []
