"""Launches on the thread of the caller, as LLVM IR: `int64 simt_run(call)`.

Python calls it with the lock of its interpreter held (`ctypes.PYFUNCTYPE`). It asks others for help, gives
the lock up, runs the launches of a call (`CallSlot`) one after the other, each to its end, waits a short time
for those that help (`simt.engine.native_seats`), and takes the lock again. The result is the number of
launches that were not stopped.

Compiled code that runs here must not keep Python from handling signals. Every now and then another thread
(`simt.engine.watch`) sets `REQUEST`; the kernel sees it where it looks for `ABORT`, and calls `simt_serve`.
That function lets Python handle signals. If a handler raises an exception, as the one for Ctrl-C does, the
launch is stopped, and Python finds the exception set when `simt_run` returns.
"""

from __future__ import annotations

import ctypes

from simt.engine.abi import RUN, SERVE, SHARE, CallSlot, LaunchSlot
from simt.engine.llvm_mode import DEFAULT_MXCSR
from simt.engine.native_fibers import fibers_text, field
from simt.engine.native_repeat import repeat_text
from simt.engine.native_seats import HELP_BEGINS, HELP_ENDS, seats_text
from simt.engine.native_system import system_text


def native_text(features: frozenset[str]) -> str:
    """The LLVM module for a CPU with these features."""
    has_mode = "sse" in features
    enter, leave = (_DEFAULT_MODE, _OWN_MODE) if has_mode else ([], [])
    fibers = fibers_text(features, enter, leave)
    system = system_text(enter, leave)
    seats = seats_text("sse2" in features)
    return "\n".join([*_serve(has_mode), *_run(), *seats, *fibers, *system, *repeat_text()])


def _serve(has_mode: bool) -> list[str]:
    """`has_mode`: the kernel may have changed how subnormals are handled, which is not for Python."""
    return [
        *(["declare void @llvm.x86.sse.stmxcsr(ptr)", "declare void @llvm.x86.sse.ldmxcsr(ptr)"] * has_mode),
        f"define i32 @{SERVE}(ptr %launch, ptr %worker) {{",
        "  %launch.i = ptrtoint ptr %launch to i64",
        "  %raised = call i32 @simt.on_root(ptr %worker, ptr @simt.serve, i64 %launch.i, i64 0, i64 0, "
        "i64 0, i64 0, i64 0)",
        "  ret i32 %raised",
        "}",
        "define internal i32 @simt.serve(ptr %launch) {",
        *field("%launch", LaunchSlot.CALL, "call", "ptr"),
        *field("%launch", LaunchSlot.GRID_ID, "grid"),
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %request.p = getelementptr i8, ptr %abort.p, i64 4",
        "  %request = load atomic i32, ptr %request.p monotonic, align 4",
        "  store atomic i32 0, ptr %request.p monotonic, align 4",
        f"  %shares = icmp eq i32 %request, {SHARE}",
        "  br i1 %shares, label %share, label %time",
        "share:",  # the kernel is between two instructions: what it has stored is there, the next one locks
        f"  %alone.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ALONE}",
        "  store atomic i64 0, ptr %alone.p release, align 8",
        "  br label %time",
        "time:",
        f"  %expired.p = getelementptr i64, ptr %call, i64 {CallSlot.EXPIRED}",
        "  %expired = load atomic i64, ptr %expired.p monotonic, align 8",
        "  %late = icmp eq i64 %expired, %grid",
        "  br i1 %late, label %stop, label %look",
        "look:",
        *field("%call", CallSlot.THREAD, "thread", "ptr"),
        *field("%call", CallSlot.RESTORE_THREAD, "restore", "ptr"),
        *field("%call", CallSlot.CHECK_SIGNALS, "check", "ptr"),
        *field("%call", CallSlot.SAVE_THREAD, "save", "ptr"),
        *(_DEFAULT_MODE * has_mode),
        "  call void %restore(ptr %thread)",
        "  %raised = call i32 %check()",
        "  %again = call ptr %save()",
        "  store ptr %again, ptr %thread.p, align 8",
        *(_OWN_MODE * has_mode),
        "  %bad = icmp ne i32 %raised, 0",
        "  br i1 %bad, label %stop, label %go",
        "stop:",
        "  store atomic i32 1, ptr %abort.p monotonic, align 8",
        "  ret i32 1",
        "go:",
        "  ret i32 0",
        "}",
    ]


_DEFAULT_MODE = [
    "  %mode = alloca i32",
    "  %mode.python = alloca i32",
    "  call void @llvm.x86.sse.stmxcsr(ptr %mode)",
    f"  store i32 {DEFAULT_MXCSR}, ptr %mode.python",
    "  call void @llvm.x86.sse.ldmxcsr(ptr %mode.python)",
]
_OWN_MODE = ["  call void @llvm.x86.sse.ldmxcsr(ptr %mode)"]


def _run() -> list[str]:
    return [
        f"define i64 @{RUN}(ptr %call) {{",
        "entry:",
        *field("%call", CallSlot.LAUNCHES, "launches", "ptr"),
        *field("%call", CallSlot.COUNT, "count"),
        *field("%call", CallSlot.RENEW, "renew"),
        *field("%call", CallSlot.GRID_ID, "grid"),
        *field("%call", CallSlot.LIMIT, "limit"),
        *field("%call", CallSlot.SAVE_THREAD, "save", "ptr"),
        *field("%call", CallSlot.RESTORE_THREAD, "restore", "ptr"),
        f"  %thread.p = getelementptr i64, ptr %call, i64 {CallSlot.THREAD}",
        f"  %current.p = getelementptr i64, ptr %call, i64 {CallSlot.CURRENT}",
        f"  %request.p = getelementptr i64, ptr %call, i64 {CallSlot.REQUEST}",
        "  %renews = icmp ne i64 %renew, 0",
        *HELP_BEGINS,
        "  %thread = call ptr %save()",
        "  store ptr %thread, ptr %thread.p, align 8",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %entry ], [ %i.next, %ran ]",
        "  %more = icmp ult i64 %i, %count",
        "  br i1 %more, label %begin, label %end",
        "begin:",
        "  store atomic i64 %i, ptr %current.p monotonic, align 8",
        "  %launch.p = getelementptr ptr, ptr %launches, i64 %i",
        "  %launch = load ptr, ptr %launch.p, align 8",
        *field("%launch", LaunchSlot.ENTRY, "kernel", "ptr"),
        *field("%launch", LaunchSlot.WORKER, "worker", "ptr"),
        "  br i1 %renews, label %fresh, label %start",
        *_renewal(),
        "start:",
        "  call void %kernel(ptr %launch, ptr %worker)",
        "  br label %ran",
        "ran:",
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %abort = load atomic i32, ptr %abort.p monotonic, align 8",
        "  %stopped = icmp ne i32 %abort, 0",
        "  %i.next = add i64 %i, 1",
        "  br i1 %stopped, label %end, label %next",
        "end:",
        "  %done = phi i64 [ %i, %next ], [ %i, %ran ], [ %i, %asked ]",
        *HELP_ENDS,
        "  %mine = load ptr, ptr %thread.p, align 8",
        "  call void %restore(ptr %mine)",
        "  ret i64 %done",
        "}",
    ]


def _renewal() -> list[str]:
    """What differs from one run of a recorded launch to the next."""
    return [
        "fresh:",
        "  %grid.id = add i64 %grid, %i",
        f"  %grid.p2 = getelementptr i64, ptr %launch, i64 {LaunchSlot.GRID_ID}",
        "  store i64 %grid.id, ptr %grid.p2, align 8",
        f"  %limit.p2 = getelementptr i64, ptr %launch, i64 {LaunchSlot.LIMIT}",
        "  store i64 %limit, ptr %limit.p2, align 8",
        f"  %cta.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.NEXT_CTA}",
        "  store atomic i64 0, ptr %cta.p monotonic, align 8",
        "  %request = load atomic i64, ptr %request.p monotonic, align 8",
        "  %asks = icmp ne i64 %request, 0",
        "  br i1 %asks, label %ask, label %start",
        "ask:",
        "  store atomic i64 0, ptr %request.p monotonic, align 8",
        "  %bad = call i32 @simt.serve(ptr %launch)",
        "  br label %asked",
        "asked:",
        "  %refused = icmp ne i32 %bad, 0",
        "  br i1 %refused, label %end, label %start",
    ]


def python_functions() -> dict[int, int]:
    """Addresses of the functions of Python (and of the C library, below it) that a call needs."""
    names = {
        CallSlot.SAVE_THREAD: "PyEval_SaveThread",
        CallSlot.RESTORE_THREAD: "PyEval_RestoreThread",
        CallSlot.CHECK_SIGNALS: "PyErr_CheckSignals",
        CallSlot.ENSURE: "PyGILState_Ensure",
        CallSlot.RELEASE: "PyGILState_Release",
        CallSlot.NUMBER: "PyLong_FromVoidPtr",
        CallSlot.INVOKE: "PyObject_CallOneArg",
        CallSlot.DROP: "Py_DecRef",
        CallSlot.MAKE_WAY: "sched_yield",
    }
    return {slot: c_function(name) for slot, name in names.items()}


def c_function(name: str) -> int:
    """Address of a function of Python or of the C library."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
