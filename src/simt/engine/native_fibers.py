"""Fibers, as LLVM IR: CTAs that share a native thread because they wait for each other.

A *fiber* is a worker of its own, with a block, memory for a CTA and a stack, that runs on the thread of
another worker, its *root*. The workers of a thread form a ring. Where a CTA has gone round a waiting loop for
some time, its worker calls `simt_yield(launch, worker)`, and the next of the ring goes on; each claims CTAs
like any worker. Everything happens at fixed numbers of turns, so that one worker's CTAs always run in the
same order.

Who has yielded `PATIENCE` times while no CTA of the launch was claimed, though some are left, probably waits
for one of these: `simt_yield` calls Python then, which makes more fibers (`simt.engine.fibers`), and they
join the ring by `simt_hire`. A thread returns from its kernel when all its fibers have ended (`simt_drain`).

What runs Python (signals, calls of the system, new fibers) does so on the thread's own stack, since Python
may look at the stack's address: a fiber leaves the call to its root, which goes on with the fiber afterwards.
"""

from __future__ import annotations

from simt.engine.abi import (
    ARGUMENTS,
    DRAIN,
    HIRE,
    SERVE,
    YIELD,
    CallSlot,
    LaunchSlot,
    WorkerSlot,
)

PATIENCE = 16384
"""Times that workers of a thread yield before somebody looks whether the launch gets on. A worker yields
after two turns of a loop at least, so that it takes half a millisecond or more: where processors are scarce,
a system makes those wait long who let others run too often."""
EAGER = 2**62
"""In `WorkerSlot.SEEN`: more CTAs than there are, so that the first look makes fibers; in `YIELDS`: look
soon."""
SAVED = "rbp", "rbx", "r12", "r13", "r14", "r15"
"""Registers that belong to a function's caller, in the order in which they are saved on the stack."""
FRAME = 8 * (len(SAVED) + 1)
"""Bytes on the stack of a worker that does not run: these registers and where it goes on."""


def can_switch(features: frozenset[str]) -> bool:
    """Whether there are fibers on a CPU with these features: the code to change stacks is written for
    x86-64."""
    return "sse2" in features


def field(base: str, number: int, name: str, load: str = "i64") -> list[str]:
    """Loads a slot as `%name`; its place is `%name.p`."""
    return [
        f"  %{name}.p = getelementptr i64, ptr {base}, i64 {number}",
        f"  %{name} = load {load}, ptr %{name}.p, align 8",
    ]


def fibers_text(features: frozenset[str], enter_python: list[str], leave_python: list[str]) -> list[str]:
    """The functions of fibers. `enter_python`, `leave_python`: lines around code that runs Python, which
    wants the CPU's mode as it usually is."""
    pause = ["  call void @llvm.x86.sse2.pause()"] if can_switch(features) else []
    return [
        *_switch(can_switch(features)),
        *_leave(),
        *_on_root(),
        *_yield(pause),
        *_judge(enter_python, leave_python),
        *_hire(),
        *_ended(),
        *_drain(),
    ]


def _switch(has_code: bool) -> list[str]:
    """`simt_switch(save, pointer)` goes on at another stack; it returns when somebody goes on at this one.
    `simt_begin` is where a new fiber does: `FRAME` bytes at its stack's end say what it calls."""
    if not has_code:
        nothing = ["  unreachable", "}"]
        return [
            "define void @simt_switch(ptr %save, i64 %pointer) noinline {",
            *nothing,
            "define void @simt_begin() noinline {",
            *nothing,
        ]
    switch = [f"pushq %{r}" for r in SAVED] + ["movq %rsp, (%rdi)", "movq %rsi, %rsp"]
    switch += [f"popq %{r}" for r in reversed(SAVED)] + ["retq"]
    begin = ["movq %r12, %rdi", "movq %r13, %rsi", "callq *%r14", "movq %r13, %rdi", "callq *%r15", "ud2"]
    return [
        *_naked("simt_switch(ptr %save, i64 %pointer)", switch),
        *_naked("simt_begin()", begin),
    ]


def _naked(head: str, code: list[str]) -> list[str]:
    text = "\\0A".join(code)
    return [
        f"define void @{head} naked noinline {{",
        f'  call void asm sideeffect "{text}", "~{{memory}}"()',
        "  unreachable",
        "}",
    ]


def _leave() -> list[str]:
    """`simt.leave(worker, to)` lets another worker of the ring go on. It returns when this one's turn has
    come; what fibers ask for meanwhile is done first."""
    arguments = [
        line for n in range(ARGUMENTS) for line in field("%worker", WorkerSlot.ARGUMENTS + n, f"a{n}")
    ]
    given = ", ".join(f"i64 %a{n}" for n in range(ARGUMENTS))
    return [
        "define internal void @simt.leave(ptr %worker, ptr %to) noinline {",
        f"  %mine = getelementptr i64, ptr %worker, i64 {WorkerSlot.POINTER}",
        *field("%to", WorkerSlot.POINTER, "theirs"),
        "  call void @simt_switch(ptr %mine, i64 %theirs)",
        "  br label %look",
        "look:",
        *field("%worker", WorkerSlot.ASKED, "asked", "ptr"),
        "  %none = icmp eq ptr %asked, null",
        "  br i1 %none, label %go, label %do",
        "do:",
        *arguments,
        f"  %result = call i32 %asked({given})",
        "  %wide = zext i32 %result to i64",
        f"  %answer.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.ANSWER}",
        "  store i64 %wide, ptr %answer.p, align 8",
        "  store ptr null, ptr %asked.p, align 8",
        *field("%worker", WorkerSlot.ASKER, "asker", "ptr"),
        *field("%asker", WorkerSlot.POINTER, "back"),
        "  call void @simt_switch(ptr %mine, i64 %back)",
        "  br label %look",
        "go:",
        "  ret void",
        "}",
    ]


def _on_root() -> list[str]:
    """`int32 simt.on_root(worker, function, arguments...)` calls a function on the thread's own stack."""
    parameters = ", ".join(f"i64 %a{n}" for n in range(ARGUMENTS))
    return [
        f"define internal i32 @simt.on_root(ptr %worker, ptr %function, {parameters}) noinline {{",
        *field("%worker", WorkerSlot.ROOT, "root", "ptr"),
        "  %is.root = icmp eq ptr %root, %worker",
        "  br i1 %is.root, label %here, label %there",
        "here:",
        f"  %done = call i32 %function({parameters})",
        "  ret i32 %done",
        "there:",
        *store("%root", WorkerSlot.ASKED, "ptr %function", "asked"),
        *store("%root", WorkerSlot.ASKER, "ptr %worker", "asker"),
        *(
            line
            for n in range(ARGUMENTS)
            for line in store("%root", WorkerSlot.ARGUMENTS + n, f"i64 %a{n}", f"place{n}")
        ),
        f"  %mine = getelementptr i64, ptr %worker, i64 {WorkerSlot.POINTER}",
        *field("%root", WorkerSlot.POINTER, "theirs"),
        "  call void @simt_switch(ptr %mine, i64 %theirs)",
        *field("%root", WorkerSlot.ANSWER, "answer"),
        "  %low = trunc i64 %answer to i32",
        "  ret i32 %low",
        "}",
    ]


def store(base: str, number: int, value: str, name: str) -> list[str]:
    """Writes a slot; its place is `%name.p`."""
    return [
        f"  %{name}.p = getelementptr i64, ptr {base}, i64 {number}",
        f"  store {value}, ptr %{name}.p, align 8",
    ]


def _yield(pause: list[str]) -> list[str]:
    return [
        f"define void @{YIELD}(ptr %launch, ptr %worker) {{",
        *field("%worker", WorkerSlot.ROOT, "root", "ptr"),
        *field("%root", WorkerSlot.YIELDS, "yields"),
        "  %more = add i64 %yields, 1",
        "  store i64 %more, ptr %yields.p, align 8",
        f"  %many = icmp uge i64 %more, {PATIENCE}",
        "  %is.root = icmp eq ptr %root, %worker",
        "  %looks = and i1 %many, %is.root",
        "  br i1 %looks, label %judge, label %go",
        "judge:",
        "  store i64 0, ptr %yields.p, align 8",
        "  call void @simt.judge(ptr %launch, ptr %worker)",
        "  br label %go",
        "go:",
        *field("%worker", WorkerSlot.NEXT, "next", "ptr"),
        "  %alone = icmp eq ptr %next, %worker",
        "  br i1 %alone, label %rest, label %on",
        "on:",
        "  call void @simt.leave(ptr %worker, ptr %next)",
        "  ret void",
        "rest:",
        *pause,
        "  ret void",
        "}",
    ]


def _judge(enter_python: list[str], leave_python: list[str]) -> list[str]:
    """`simt.judge(launch, root)`: more fibers if the launch does not get on, else a turn for other threads of
    the system, which may be what all of this one wait for."""
    functions = {
        CallSlot.ENSURE: "ensure",
        CallSlot.RELEASE: "release",
        CallSlot.NUMBER: "number",
        CallSlot.INVOKE: "invoke",
        CallSlot.DROP: "drop",
    }
    return [
        "define internal void @simt.judge(ptr %launch, ptr %root) noinline {",
        *field("%launch", LaunchSlot.CALL, "call", "ptr"),
        *field("%launch", LaunchSlot.CTAS, "ctas"),
        *field("%root", WorkerSlot.SEEN, "seen"),
        f"  %claimed.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.NEXT_CTA}",
        "  %claimed = load atomic i64, ptr %claimed.p monotonic, align 8",
        "  store i64 %claimed, ptr %seen.p, align 8",
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %abort = load atomic i32, ptr %abort.p monotonic, align 8",
        "  %goes = icmp eq i32 %abort, 0",
        "  %left = icmp ult i64 %claimed, %ctas",
        "  %stands = icmp uge i64 %seen, %claimed",
        "  %wanting = and i1 %left, %stands",
        "  %more = and i1 %wanting, %goes",
        "  br i1 %more, label %grow, label %way",
        "way:",
        *field("%call", CallSlot.MAKE_WAY, "make.way", "ptr"),
        "  %made = call i32 %make.way()",
        "  ret void",
        "grow:",
        *(line for number, name in functions.items() for line in field("%call", number, name, "ptr")),
        *field("%launch", LaunchSlot.GROW, "function", "ptr"),
        *enter_python,
        "  %state = call i32 %ensure()",
        "  %address = call ptr %number(ptr %root)",
        "  %result = call ptr %invoke(ptr %function, ptr %address)",
        "  call void %drop(ptr %address)",
        "  call void %drop(ptr %result)",
        "  call void %release(i32 %state)",
        *leave_python,
        "  %raised = icmp eq ptr %result, null",
        "  br i1 %raised, label %stop, label %go",
        "stop:",
        "  store atomic i32 1, ptr %abort.p monotonic, align 8",
        "  br label %go",
        "go:",
        "  ret void",
        "}",
    ]


def _hire() -> list[str]:
    """`simt_hire(root, entry, launch, workers, count)` lets fibers (addresses of blocks) join a root's
    ring."""
    frame = [f"%{name}" for name in ("ended", "entry.i", "worker.i", "launch.i", "zero", "zero", "begin")]
    assert len(frame) * 8 == FRAME
    return [
        f"define void @{HIRE}(ptr %root, ptr %entry, ptr %launch, ptr %workers, i64 %count) {{",
        "start:",
        "  %ended = ptrtoint ptr @simt.ended to i64",
        "  %begin = ptrtoint ptr @simt_begin to i64",
        "  %entry.i = ptrtoint ptr %entry to i64",
        "  %launch.i = ptrtoint ptr %launch to i64",
        "  %zero = add i64 0, 0",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %join ]",
        "  %left = icmp ult i64 %i, %count",
        "  br i1 %left, label %join, label %end",
        "join:",
        "  %worker.p = getelementptr ptr, ptr %workers, i64 %i",
        "  %worker = load ptr, ptr %worker.p, align 8",
        "  %worker.i = ptrtoint ptr %worker to i64",
        *field("%worker", WorkerSlot.STACK, "top"),
        f"  %pointer = sub i64 %top, {FRAME}",
        "  %frame = inttoptr i64 %pointer to ptr",
        *(line for n, value in enumerate(frame) for line in store("%frame", n, f"i64 {value}", f"word{n}")),
        *store("%worker", WorkerSlot.POINTER, "i64 %pointer", "pointer"),
        *field("%root", WorkerSlot.PREVIOUS, "last", "ptr"),
        *store("%last", WorkerSlot.NEXT, "ptr %worker", "last.next"),
        *store("%worker", WorkerSlot.PREVIOUS, "ptr %last", "previous"),
        *store("%worker", WorkerSlot.NEXT, "ptr %root", "next"),
        *store("%worker", WorkerSlot.ROOT, "ptr %root", "root"),
        "  store ptr %worker, ptr %last.p, align 8",
        "  %i.next = add i64 %i, 1",
        "  br label %next",
        "end:",
        "  ret void",
        "}",
    ]


def _ended() -> list[str]:
    """A fiber has found no CTA left: it leaves the ring for good."""
    return [
        "define internal void @simt.ended(ptr %worker) noinline {",
        *field("%worker", WorkerSlot.NEXT, "next", "ptr"),
        *field("%worker", WorkerSlot.PREVIOUS, "previous", "ptr"),
        *store("%previous", WorkerSlot.NEXT, "ptr %next", "their.next"),
        *store("%next", WorkerSlot.PREVIOUS, "ptr %previous", "their.previous"),
        f"  %mine = getelementptr i64, ptr %worker, i64 {WorkerSlot.POINTER}",
        *field("%next", WorkerSlot.POINTER, "theirs"),
        "  call void @simt_switch(ptr %mine, i64 %theirs)",
        "  unreachable",
        "}",
    ]


def _drain() -> list[str]:
    """`simt_drain(launch, worker)`: a root has found no CTA left, and lets its fibers go on until they have
    ended. A fiber has none."""
    return [
        f"define void @{DRAIN}(ptr %launch, ptr %worker) {{",
        "entry:",
        *field("%worker", WorkerSlot.ROOT, "root", "ptr"),
        "  %is.root = icmp eq ptr %root, %worker",
        "  br i1 %is.root, label %look, label %over",
        "look:",
        *field("%worker", WorkerSlot.NEXT, "next", "ptr"),
        "  %alone = icmp eq ptr %next, %worker",
        "  br i1 %alone, label %over, label %poll",
        "poll:",
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %request.p = getelementptr i8, ptr %abort.p, i64 4",
        "  %request = load atomic i32, ptr %request.p monotonic, align 4",
        *field("%launch", LaunchSlot.WORKER, "first", "ptr"),
        "  %is.first = icmp eq ptr %first, %worker",
        "  %asked = icmp ne i32 %request, 0",
        "  %mine = and i1 %asked, %is.first",
        "  br i1 %mine, label %serve, label %on",
        "serve:",
        f"  %stopped = call i32 @{SERVE}(ptr %launch, ptr %worker)",
        "  br label %on",
        "on:",
        f"  call void @{YIELD}(ptr %launch, ptr %worker)",
        "  br label %look",
        "over:",
        "  ret void",
        "}",
    ]
