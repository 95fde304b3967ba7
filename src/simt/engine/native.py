"""Launches on the thread of the caller, as LLVM IR: `int64 simt_run(call)`.

Python calls it with the lock of its interpreter held (`ctypes.PYFUNCTYPE`). It gives the lock up, runs the
launches of a call (`CallSlot`) one after the other, each to its end, and takes the lock again. The result is
the number of launches that were not stopped.

Compiled code that runs here must not keep Python from handling signals. Every now and then another thread
(`simt.engine.watch`) sets `REQUEST`; the kernel sees it where it looks for `ABORT`, and calls `simt_serve`.
That function lets Python handle signals. If a handler raises an exception, as the one for Ctrl-C does, the
launch is stopped, and Python finds the exception set when `simt_run` returns.
"""

from __future__ import annotations

import ctypes

from simt.engine.abi import ASK, JOIN, LINGER, RUN, SERVE, WITHDRAW, CallSlot, LaunchSlot, Seat, SeatSlot
from simt.engine.llvm_mode import DEFAULT_MXCSR
from simt.engine.native_fibers import fibers_text, field


def native_text(features: frozenset[str]) -> str:
    """The LLVM module for a CPU with these features."""
    has_mode = "sse" in features
    enter, leave = (_DEFAULT_MODE, _OWN_MODE) if has_mode else ([], [])
    fibers = fibers_text(features, enter, leave)
    return "\n".join([*_serve(has_mode), *_run(), *_seats("sse2" in features), *fibers])


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
        "  store atomic i32 0, ptr %request.p monotonic, align 4",
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


def _seats(has_pause: bool) -> list[str]:
    """What threads that help need. `has_pause`: the CPU has an instruction for loops that wait."""
    declared = ["declare void @llvm.x86.sse2.pause()"] * has_pause
    pause = ["  call void @llvm.x86.sse2.pause()"] * has_pause
    return [*declared, *_linger(pause), *_ask(), *_withdraw(), *_join(pause)]


def _linger(pause: list[str]) -> list[str]:
    """`simt_linger(seat, turns)` waits on a seat for launches, so many turns for each, and helps then."""
    return [
        f"define void @{LINGER}(ptr %seat, i64 %turns) {{",
        "entry:",
        f"  %done.p = getelementptr i64, ptr %seat, i64 {SeatSlot.DONE}",
        f"  store atomic i64 {Seat.READY}, ptr %seat release, align 8",
        "  br label %wait",
        "wait:",
        "  %i = phi i64 [ 0, %entry ], [ %i.next, %pass ], [ 0, %take ], [ 0, %help ]",
        "  %state = load atomic i64, ptr %seat acquire, align 8",
        f"  %asked = icmp eq i64 %state, {Seat.ASKED}",
        "  br i1 %asked, label %take, label %look",
        "look:",
        "  %i.next = add i64 %i, 1",
        "  %over = icmp ugt i64 %i.next, %turns",
        "  br i1 %over, label %leave, label %pass",
        "pass:",
        *pause,
        "  br label %wait",
        "leave:",
        f"  %left = cmpxchg ptr %seat, i64 {Seat.READY}, i64 {Seat.AWAY} acq_rel monotonic",
        "  %left.ok = extractvalue { i64, i1 } %left, 1",
        "  br i1 %left.ok, label %gone, label %take",
        "take:",
        f"  %took = cmpxchg ptr %seat, i64 {Seat.ASKED}, i64 {Seat.BUSY} acq_rel monotonic",
        "  %took.ok = extractvalue { i64, i1 } %took, 1",
        "  br i1 %took.ok, label %help, label %wait",
        "help:",
        *field("%seat", SeatSlot.ENTRY, "kernel", "ptr"),
        *field("%seat", SeatSlot.LAUNCH, "launch", "ptr"),
        *field("%seat", SeatSlot.WORKER, "worker", "ptr"),
        *field("%seat", SeatSlot.TICKET, "ticket"),
        "  call void %kernel(ptr %launch, ptr %worker)",
        f"  store atomic i64 {Seat.READY}, ptr %seat release, align 8",
        "  store atomic i64 %ticket, ptr %done.p release, align 8",
        "  br label %wait",
        "gone:",
        "  ret void",
        "}",
    ]


def _ask() -> list[str]:
    """`int64 simt_ask(seats, count, workers, wanted, asked, entry, launch, ticket)` asks threads that wait on
    some of `count` seats to run a launch, until as many are asked as are wanted: each with the next of the
    workers (addresses). The result is their number; `asked` has their seats then."""
    values = {
        SeatSlot.ENTRY: "%entry",
        SeatSlot.LAUNCH: "%launch",
        SeatSlot.WORKER: "%worker",
        SeatSlot.TICKET: "%ticket",
    }
    return [
        f"define i64 @{ASK}(ptr %seats, i64 %count, ptr %workers, i64 %wanted, ptr %asked, i64 %entry, "
        "i64 %launch, i64 %ticket) {",
        "start:",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %on ]",
        "  %n = phi i64 [ 0, %start ], [ %n.next, %on ]",
        "  %left = icmp ult i64 %i, %count",
        "  %few = icmp ult i64 %n, %wanted",
        "  %go = and i1 %left, %few",
        "  br i1 %go, label %look, label %end",
        "look:",
        "  %seat.p = getelementptr ptr, ptr %seats, i64 %i",
        "  %seat = load ptr, ptr %seat.p, align 8",
        "  %state = load atomic i64, ptr %seat monotonic, align 8",
        f"  %ready = icmp eq i64 %state, {Seat.READY}",
        "  br i1 %ready, label %fill, label %on",
        "fill:",
        "  %worker.p = getelementptr i64, ptr %workers, i64 %n",
        "  %worker = load i64, ptr %worker.p, align 8",
        *(
            line
            for slot, value in values.items()
            for line in (
                f"  %slot.{slot.value} = getelementptr i64, ptr %seat, i64 {slot.value}",
                f"  store i64 {value}, ptr %slot.{slot.value}, align 8",
            )
        ),
        "  %asked.p = getelementptr ptr, ptr %asked, i64 %n",
        "  store ptr %seat, ptr %asked.p, align 8",
        f"  %pair = cmpxchg ptr %seat, i64 {Seat.READY}, i64 {Seat.ASKED} acq_rel monotonic",
        "  %ok = extractvalue { i64, i1 } %pair, 1",
        "  %one = zext i1 %ok to i64",
        "  br label %on",
        "on:",
        "  %more = phi i64 [ 0, %look ], [ %one, %fill ]",
        "  %n.next = add i64 %n, %more",
        "  %i.next = add i64 %i, 1",
        "  br label %next",
        "end:",
        "  ret i64 %n",
        "}",
    ]


def _withdraw() -> list[str]:
    """`int64 simt_withdraw(asked, count, ticket)` asks no more those who have not seen it yet; how many have,
    whose seats come first then. Who has helped already may have been asked by another launch since: Python's
    lock, which callers of this and of `simt_ask` hold, keeps the ticket from changing meanwhile."""
    return [
        f"define i64 @{WITHDRAW}(ptr %asked, i64 %count, i64 %ticket) {{",
        "start:",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %on ]",
        "  %n = phi i64 [ 0, %start ], [ %n.next, %on ]",
        "  %left = icmp ult i64 %i, %count",
        "  br i1 %left, label %look, label %end",
        "look:",
        "  %seat.p = getelementptr ptr, ptr %asked, i64 %i",
        "  %seat = load ptr, ptr %seat.p, align 8",
        *field("%seat", SeatSlot.TICKET, "latest"),
        "  %same = icmp eq i64 %latest, %ticket",
        "  br i1 %same, label %try, label %on",
        "try:",
        f"  %pair = cmpxchg ptr %seat, i64 {Seat.ASKED}, i64 {Seat.READY} acq_rel monotonic",
        "  %withdrawn = extractvalue { i64, i1 } %pair, 1",
        "  br label %on",
        "on:",
        "  %gone = phi i1 [ false, %look ], [ %withdrawn, %try ]",
        "  %kept.p = getelementptr ptr, ptr %asked, i64 %n",
        "  store ptr %seat, ptr %kept.p, align 8",
        "  %begun = xor i1 %gone, true",
        "  %one = zext i1 %begun to i64",
        "  %n.next = add i64 %n, %one",
        "  %i.next = add i64 %i, 1",
        "  br label %next",
        "end:",
        "  ret i64 %n",
        "}",
    ]


def _join(pause: list[str]) -> list[str]:
    """`int32 simt_join(asked, count, ticket, turns)` waits until the threads of all those seats have helped
    with a launch; whether they have, after so many looks."""
    return [
        f"define i32 @{JOIN}(ptr %asked, i64 %count, i64 %wanted, i64 %turns) {{",
        "start:",
        "  br label %next",
        "next:",
        "  %n = phi i64 [ 0, %start ], [ %n.next, %there ]",
        "  %i = phi i64 [ 0, %start ], [ %i.now, %there ]",
        "  %left = icmp ult i64 %n, %count",
        "  br i1 %left, label %seat, label %yes",
        "seat:",
        "  %seat.p = getelementptr ptr, ptr %asked, i64 %n",
        "  %seat.n = load ptr, ptr %seat.p, align 8",
        f"  %done.p = getelementptr i64, ptr %seat.n, i64 {SeatSlot.DONE}",
        "  br label %wait",
        "wait:",
        "  %i.now = phi i64 [ %i, %seat ], [ %i.next, %pass ]",
        "  %done = load atomic i64, ptr %done.p acquire, align 8",
        "  %is.there = icmp uge i64 %done, %wanted",
        "  br i1 %is.there, label %there, label %look",
        "there:",
        "  %n.next = add i64 %n, 1",
        "  br label %next",
        "look:",
        "  %i.next = add i64 %i.now, 1",
        "  %over = icmp ugt i64 %i.next, %turns",
        "  br i1 %over, label %no, label %pass",
        "pass:",
        *pause,
        "  br label %wait",
        "yes:",
        "  ret i32 1",
        "no:",
        "  ret i32 0",
        "}",
    ]


def python_functions() -> dict[CallSlot, int]:
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
    functions = {slot: getattr(ctypes.pythonapi, name) for slot, name in names.items()}
    return {slot: ctypes.cast(f, ctypes.c_void_p).value or 0 for slot, f in functions.items()}
