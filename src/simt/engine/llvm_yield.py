"""Where a CTA that waits for others lets those go on that share its thread: see
`simt.engine.native_fibers`."""

from __future__ import annotations

from simt.engine.abi import LaunchSlot
from simt.engine.llvm_builder import ModuleText


def give_way(module: ModuleText) -> str:
    """A call, to be made where all that can run of a CTA waits."""
    return _call(module, "simt.give.way", LaunchSlot.YIELD)


def drain(module: ModuleText) -> str:
    """A call, to be made by a worker that has found no CTA left."""
    return _call(module, "simt.drain", LaunchSlot.DRAIN)


def _call(module: ModuleText, name: str, slot: int) -> str:
    if not module.has(name):
        module.define(name, "\n".join(_through(name, slot, module.attributes)))
    return f"call void @{name}(ptr %launch, ptr %worker)"


def _through(name: str, slot: int, attributes: str) -> list[str]:
    """A function of the same name in all kernels that calls the one whose address is in a launch's slot."""
    return [
        f"define internal void @{name}(ptr %launch, ptr %worker) noinline cold {attributes} {{",
        f"  %place = getelementptr i64, ptr %launch, i64 {slot}",
        "  %function = load ptr, ptr %place, align 8",
        "  call void %function(ptr %launch, ptr %worker)",
        "  ret void",
        "}",
    ]
