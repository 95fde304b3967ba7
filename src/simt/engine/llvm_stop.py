"""Whether a launch is to be stopped, in LLVM IR."""

from __future__ import annotations

from simt.engine.abi import LaunchSlot, WorkerSlot
from simt.engine.llvm_builder import ModuleText
from simt.engine.llvm_runtime import SELDOM


def stop(module: ModuleText) -> str:
    """`i1 stop(launch, worker)`: what to do when `ABORT` is not zero.

    The worker on the thread of the caller, or a fiber there, serves a request first. Python's signals are
    handled then, which touches nothing that compiled code knows of: hence the attributes, which leave loops
    as fast as without.
    """
    name = "simt.stop"
    if not module.has(name):
        module.define(name, "\n".join(_stop(name, module.attributes)))
    return f"@{name}"


def _stop(name: str, attributes: str) -> list[str]:
    touches = "memory(argmem: readwrite, inaccessiblemem: readwrite)"
    return [
        f"define internal i1 @{name}(ptr %launch, ptr %worker) {SELDOM} cold {touches} {attributes} {{",
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %abort = load atomic i32, ptr %abort.p monotonic, align 8",
        "  %stopped = icmp ne i32 %abort, 0",
        "  br i1 %stopped, label %yes, label %look",
        "look:",
        f"  %first.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.WORKER}",
        "  %first = load ptr, ptr %first.p, align 8",
        f"  %root.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.ROOT}",
        "  %root = load ptr, ptr %root.p, align 8",
        "  %mine = icmp eq ptr %first, %root",
        "  br i1 %mine, label %serve, label %no",
        "serve:",
        f"  %serve.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.SERVE}",
        "  %function = load ptr, ptr %serve.p, align 8",
        "  %raised = call i32 %function(ptr %launch, ptr %worker)",
        "  %bad = icmp ne i32 %raised, 0",
        "  ret i1 %bad",
        "yes:",
        "  ret i1 true",
        "no:",
        "  ret i1 false",
        "}",
    ]
