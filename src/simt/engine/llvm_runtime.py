"""Functions in LLVM IR that compiled kernels call on their slow paths: lane by lane, fully checked.

They are put into a module on demand. All share the leading parameters of `ACCESS`: the region that
addresses must lie in is `lo .. lo + room`, found in host memory at `host + lane * lane_stride`.
A false result means that a fault was recorded and the warp must stop.
"""

from __future__ import annotations

import re

from simt.engine.abi import FaultKind, FaultSlot, LaunchSlot, WorkerSlot
from simt.engine.llvm_builder import ModuleText
from simt.engine.llvm_frame import Frame

ACCESS = (
    "ptr %launch, ptr %worker, ptr %addresses, i32 %mask, i64 %lo, i64 %room1, i64 %host, i64 %lane_stride"
    ", i64 %line, i64 %space"
)
OFTEN = "noinline"
SELDOM = "optnone noinline"
"""Of functions that are called when a warp is about to stop: it does not matter how fast they are, and
LLVM's passes over their loops took a fifth to a third of the time for a small kernel."""


def fault(module: ModuleText) -> str:
    """`void fault(launch, worker, kind, line, address, lane, size, space)`: records a worker's first fault
    and stops the launch."""
    name = "simt.fault"
    if module.has(name):
        return f"@{name}"
    fields = {
        FaultSlot.KIND: "%kind",
        FaultSlot.LINE: "%line",
        FaultSlot.ADDRESS: "%address",
        FaultSlot.LANE: "%lane",
        FaultSlot.SIZE: "%size",
        FaultSlot.SPACE: "%space",
    }
    lines = [
        f"define internal void @{name}(ptr %launch, ptr %worker, i64 %kind, i64 %line, i64 %address, "
        f"i64 %lane, i64 %size, i64 %space) {SELDOM} cold {module.attributes} {{",
        f"  %old.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.FAULT + FaultSlot.KIND}",
        "  %old = load i64, ptr %old.p",
        "  %first = icmp eq i64 %old, 0",
        "  br i1 %first, label %record, label %done",
        "record:",
    ]
    for slot, value in fields.items():
        lines += [
            f"  %p{slot} = getelementptr i64, ptr %worker, i64 {WorkerSlot.FAULT + slot}",
            f"  store i64 {value}, ptr %p{slot}",
        ]
    for slot, source in ((FaultSlot.WARP, WorkerSlot.WARP), (FaultSlot.CTA, WorkerSlot.CTA)):
        lines += [
            f"  %s{slot} = getelementptr i64, ptr %worker, i64 {source}",
            f"  %v{slot} = load i64, ptr %s{slot}",
            f"  %p{slot} = getelementptr i64, ptr %worker, i64 {WorkerSlot.FAULT + slot}",
            f"  store i64 %v{slot}, ptr %p{slot}",
        ]
    lines += [
        f"  %abort = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  store atomic i64 1, ptr %abort monotonic, align 8",
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ]
    module.define(name, "\n".join(lines))
    return f"@{name}"


def each_lane(
    module: ModuleText,
    name: str,
    parameters: str,
    size: int,
    body: list[str],
    rest: str = "%rest",
    how: str = OFTEN,
) -> str:
    """A function that runs `body` for each lane of `%mask`, with `%p` the checked host address of `size`
    bytes, `%lane` (i64) and `%address` at hand. `rest`: lanes (i32) that the body leaves to later turns.
    `how`: its attributes."""
    record = fault(module)
    where = f"i64 %line, i64 %address, i64 %lane, i64 {size}, i64 %space"
    text = [
        f"define internal i1 @{name}({parameters}) {how} {module.attributes} {{",
        "entry:",
        f"  %limit = call i64 @llvm.usub.sat.i64(i64 %room1, i64 {size})",
        "  br label %next",
        "next:",
        f"  %left = phi i32 [ %mask, %entry ], [ {rest}, %after ]",
        "  %none = icmp eq i32 %left, 0",
        "  br i1 %none, label %done, label %one",
        "one:",
        "  %lane32 = call i32 @llvm.cttz.i32(i32 %left, i1 true)",
        "  %lane = zext i32 %lane32 to i64",
        "  %below = sub i32 %left, 1",
        "  %rest = and i32 %left, %below",
        "  %a.p = getelementptr i64, ptr %addresses, i64 %lane",
        "  %address = load i64, ptr %a.p",
        "  %offset = sub i64 %address, %lo",
        "  %inside = icmp ult i64 %offset, %limit",
        "  br i1 %inside, label %aligned, label %illegal",
        "aligned:",
        f"  %low = and i64 %address, {size - 1}",
        "  %even = icmp eq i64 %low, 0",
        "  br i1 %even, label %access, label %odd",
        "access:",
        "  %shift = mul i64 %lane, %lane_stride",
        "  %lane.host = add i64 %host, %shift",
        "  %p.i = add i64 %lane.host, %offset",
        "  %p = inttoptr i64 %p.i to ptr",
        *body,
        "  br label %after",
        "after:",
        "  br label %next",
        "illegal:",
        f"  call void {record}(ptr %launch, ptr %worker, i64 {FaultKind.ILLEGAL}, {where})",
        "  ret i1 false",
        "odd:",
        f"  call void {record}(ptr %launch, ptr %worker, i64 {FaultKind.MISALIGNED}, {where})",
        "  ret i1 false",
        "done:",
        "  ret i1 true",
        "}",
    ]
    module.declare("llvm.usub.sat.i64", "i64", ("i64", "i64"))
    module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
    module.define(name, "\n".join(text))
    return f"@{name}"


def refuse(module: ModuleText) -> str:
    """`void refuse(launch, worker, address, mask, line, lo, room1, space, size)`: records the fault of an
    address that is not valid, but the same for all lanes: that of the first active one. (Were it `cold`, LLVM
    would take time by the square of its calls.)"""
    name = "simt.refuse"
    if module.has(name):
        return f"@{name}"
    record = fault(module)
    lines = [
        f"define internal void @{name}(ptr %launch, ptr %worker, i64 %address, i32 %mask, i64 %line, "
        f"i64 %lo, i64 %room1, i64 %space, i64 %size) {SELDOM} {module.attributes} {{",
        "  %some = icmp ne i32 %mask, 0",
        "  br i1 %some, label %refused, label %done",
        "refused:",
        "  %lane32 = call i32 @llvm.cttz.i32(i32 %mask, i1 true)",
        "  %lane = zext i32 %lane32 to i64",
        "  %offset = sub i64 %address, %lo",
        "  %limit = call i64 @llvm.usub.sat.i64(i64 %room1, i64 %size)",
        "  %inside = icmp ult i64 %offset, %limit",
        f"  %kind = select i1 %inside, i64 {FaultKind.MISALIGNED}, i64 {FaultKind.ILLEGAL}",
        f"  call void {record}(ptr %launch, ptr %worker, i64 %kind, i64 %line, i64 %address, i64 %lane, "
        "i64 %size, i64 %space)",
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ]
    module.declare("llvm.usub.sat.i64", "i64", ("i64", "i64"))
    module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
    module.define(name, "\n".join(lines))
    return f"@{name}"


def refuse_in(module: ModuleText, frame: Frame, lies: str) -> str:
    """`void refuse(FRAME, address, mask, line)` for a region: `lies` are the last four arguments of `refuse`,
    which are names of every frame."""
    name = f"simt.refuse.{re.sub('[^a-z0-9]+', '.', lies)}"
    if not module.has(name):
        parameters = ", ".join((*frame.parameters, "i64 %address", "i32 %mask", "i64 %line"))
        lines = [
            f"define internal void @{name}({parameters}) {SELDOM} {module.attributes} {{",
            *frame.lines,
            f"  call void {refuse(module)}(ptr %launch, ptr %worker, i64 %address, i32 %mask, i64 %line, "
            f"{lies})",
            "  ret void",
            "}",
        ]
        module.define(name, "\n".join(lines))
    return f"@{name}"


def load(module: ModuleText, size: int, how: str = OFTEN) -> str:
    """`i1 load(ACCESS, ptr data)`: copies `size` bytes of each lane to `data + lane * size`. `how`: whether
    it is called to load, or to find out which lane cannot."""
    name, word = _name("load", size, how), f"i{8 * size}"
    if module.has(name):
        return f"@{name}"
    body = [
        f"  %value = load volatile {word}, ptr %p, align {size}",
        f"  %data.p = getelementptr {word}, ptr %data, i64 %lane",
        f"  store {word} %value, ptr %data.p, align 1",
    ]
    return each_lane(module, name, f"{ACCESS}, ptr %data", size, body, how=how)


def store(module: ModuleText, size: int, how: str = OFTEN) -> str:
    """`i1 store(ACCESS, ptr data)`: the reverse; higher lanes win."""
    name, word = _name("store", size, how), f"i{8 * size}"
    if module.has(name):
        return f"@{name}"
    body = [
        f"  %data.p = getelementptr {word}, ptr %data, i64 %lane",
        f"  %value = load {word}, ptr %data.p, align 1",
        f"  store volatile {word} %value, ptr %p, align {size}",
    ]
    return each_lane(module, name, f"{ACCESS}, ptr %data", size, body, how=how)


def _name(what: str, size: int, how: str) -> str:
    return f"simt.{what}.{size}" if how == OFTEN else f"simt.{what}.{size}.seldom"
