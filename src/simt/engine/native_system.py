"""The way from compiled code to the device's system, as LLVM IR: `int32 simt_system(launch, worker, number,
mask, line, places)`, which calls what `LaunchSlot.GATE` says (`simt.engine.system_gate`).

The gate is Python. On the thread of the caller, Python would run handlers of signals in the middle of it, and
what they raise, as the one for Ctrl-C does, would be lost in compiled code. So that thread writes the call on
a *note* (`NoteSlot`), asks a thread of the pool to make it, and waits; meanwhile it serves signals as any
kernel does (`simt_serve`). Where no thread is free, it makes the call itself.
"""

from __future__ import annotations

from simt.engine.abi import ASK, JOIN, SYSTEM, CallSlot, LaunchSlot, NoteSlot, WorkerSlot
from simt.engine.native_fibers import field, store
from simt.engine.native_seats import TURNS

GIVEN = "worker", "number", "mask", "line", "places"
"""What the gate is called with, each an i64."""


def system_text(enter_python: list[str], leave_python: list[str]) -> list[str]:
    """`enter_python`, `leave_python`: lines around code that runs Python, which wants the CPU's mode as it
    usually is."""
    return [*_system(), *_make(enter_python, leave_python), *_pass(), *_wait(), *_deliver()]


def _system() -> list[str]:
    """On the thread's own stack, since Python may look at the stack's address."""
    return [
        f"define i32 @{SYSTEM}(ptr %launch, ptr %worker, i64 %number, i32 %mask, i64 %line, ptr %places) {{",
        "  %worker.i = ptrtoint ptr %worker to i64",
        "  %mask.i = zext i32 %mask to i64",
        "  %places.i = ptrtoint ptr %places to i64",
        "  %launch.i = ptrtoint ptr %launch to i64",
        "  %went = call i32 @simt.on_root(ptr %worker, ptr @simt.make, i64 %worker.i, i64 %number, "
        "i64 %mask.i, i64 %line, i64 %places.i, i64 %launch.i)",
        "  ret i32 %went",
        "}",
    ]


def _make(enter_python: list[str], leave_python: list[str]) -> list[str]:
    """Makes a call from the thread that runs now."""
    given = ", ".join(f"i64 %{name}" for name in GIVEN)
    return [
        f"define internal i32 @simt.make({given}, i64 %launch.i) {{",
        "start:",
        "  %launch = inttoptr i64 %launch.i to ptr",
        "  %worker.p = inttoptr i64 %worker to ptr",
        *field("%launch", LaunchSlot.GATE, "gate", "ptr"),
        *field("%launch", LaunchSlot.NOTE, "note", "ptr"),
        *field("%launch", LaunchSlot.WORKER, "first", "ptr"),
        *field("%worker.p", WorkerSlot.ROOT, "root", "ptr"),
        "  %is.callers = icmp eq ptr %root, %first",
        "  %can = icmp ne ptr %note, null",
        "  %passes = and i1 %is.callers, %can",
        "  br i1 %passes, label %pass, label %here",
        "pass:",
        f"  %seats = call i64 @simt.pass(ptr %launch, ptr %note, ptr %gate, {given})",
        "  %taken = icmp ne i64 %seats, 0",
        "  br i1 %taken, label %wait, label %here",
        "wait:",
        "  %answer = call i32 @simt.wait(ptr %launch, ptr %note)",
        "  ret i32 %answer",
        "here:",
        *enter_python,
        f"  %went = call i32 %gate({given})",
        *leave_python,
        "  ret i32 %went",
        "}",
    ]


def _pass() -> list[str]:
    """Writes the note and asks for somebody to take it: how many do, 0 or 1. Who asks holds Python's lock."""
    given = ", ".join(f"i64 %{name}" for name in GIVEN)
    places = {name: f"%{name}" for name in GIVEN} | {"gate": "%gate.i"}
    return [
        f"define internal i64 @simt.pass(ptr %launch, ptr %note, ptr %gate, {given}) {{",
        "  %gate.i = ptrtoint ptr %gate to i64",
        *(
            line
            for name, value in places.items()
            for line in store("%note", getattr(NoteSlot, name.upper()), f"i64 {value}", f"{name}.of")
        ),
        *field("%note", NoteSlot.ROSTER, "roster", "ptr"),
        *(f"  %{name}.p = getelementptr i64, ptr %note, i64 {slot}" for name, slot in _CELLS.items()),
        *field("%launch", LaunchSlot.CALL, "call", "ptr"),
        *field("%call", CallSlot.THREAD, "thread", "ptr"),
        *field("%call", CallSlot.RESTORE_THREAD, "restore", "ptr"),
        *field("%call", CallSlot.SAVE_THREAD, "save", "ptr"),
        "  %launch.i = ptrtoint ptr %launch to i64",
        "  %entry = ptrtoint ptr @simt.deliver to i64",
        "  call void %restore(ptr %thread)",
        f"  %seats = call i64 @{ASK}(ptr %roster, ptr %ITSELF.p, i64 1, ptr %SEAT.p, ptr %TICKET.p, "
        "i64 %entry, i64 %launch.i, i64 1)",
        "  %again = call ptr %save()",
        "  store ptr %again, ptr %thread.p, align 8",
        "  ret i64 %seats",
        "}",
    ]


_CELLS = {"ITSELF": NoteSlot.ITSELF, "SEAT": NoteSlot.SEAT, "TICKET": NoteSlot.TICKET}


def _wait() -> list[str]:
    """The answer to a note that was passed on. Signals are served until what a handler raised stops the
    launch."""
    return [
        "define internal i32 @simt.wait(ptr %launch, ptr %note) {",
        "start:",
        f"  %seat.p = getelementptr i64, ptr %note, i64 {NoteSlot.SEAT}",
        *field("%note", NoteSlot.TICKET, "ticket"),
        *field("%launch", LaunchSlot.CALL, "call", "ptr"),
        *field("%call", CallSlot.MAKE_WAY, "make.way", "ptr"),
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %request.p = getelementptr i8, ptr %abort.p, i64 4",
        "  br label %look",
        "look:",
        f"  %there = call i32 @{JOIN}(ptr %seat.p, i64 1, i64 %ticket, i64 {TURNS})",
        "  %is.there = icmp ne i32 %there, 0",
        "  br i1 %is.there, label %over, label %signals",
        "signals:",
        "  %abort = load atomic i32, ptr %abort.p monotonic, align 8",
        "  %request = load atomic i32, ptr %request.p monotonic, align 4",
        "  %goes.on = icmp eq i32 %abort, 0",
        "  %asked = icmp ne i32 %request, 0",
        "  %serves = and i1 %goes.on, %asked",
        "  br i1 %serves, label %serve, label %way",
        "serve:",
        "  %raised = call i32 @simt.serve(ptr %launch)",
        "  br label %way",
        "way:",
        "  %made = call i32 %make.way()",
        "  br label %look",
        "over:",
        *field("%note", NoteSlot.ANSWER, "answer"),
        "  %low = trunc i64 %answer to i32",
        "  ret i32 %low",
        "}",
    ]


def _deliver() -> list[str]:
    """What the thread that was asked runs, as if it were a kernel, with the note as its worker."""
    return [
        "define internal void @simt.deliver(ptr %launch, ptr %note) {",
        *field("%note", NoteSlot.GATE, "gate", "ptr"),
        *(line for name in GIVEN for line in field("%note", getattr(NoteSlot, name.upper()), name)),
        f"  %answer = call i32 %gate({', '.join(f'i64 %{name}' for name in GIVEN)})",
        "  %wide = zext i32 %answer to i64",
        *store("%note", NoteSlot.ANSWER, "i64 %wide", "answer.of"),
        "  ret void",
        "}",
    ]
