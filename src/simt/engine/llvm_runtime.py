"""Functions in LLVM IR that compiled kernels call on their slow paths: lane by lane, fully checked.

They are put into a module on demand. All share the leading parameters of `ACCESS`: the region that
addresses must lie in is `lo .. lo + room`, found in host memory at `host + lane * lane_stride`.
A false result means that a fault was recorded and the warp must stop.
"""

from __future__ import annotations

import re

from simt.engine.abi import FaultKind, FaultSlot, LaunchSlot, WorkerSlot
from simt.engine.atomic_operation import combine, is_simple
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, ModuleText, Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_frame import Frame
from simt.isa.mbarrier import STEPS
from simt.ptx.types import F32, Type

ACCESS = (
    "ptr %launch, ptr %worker, ptr %addresses, i32 %mask, i64 %lo, i64 %room1, i64 %host, i64 %lane_stride"
    ", i64 %line, i64 %space"
)


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
        f"i64 %lane, i64 %size, i64 %space) noinline cold {module.attributes} {{",
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


def _lanes(
    module: ModuleText, name: str, parameters: str, size: int, body: list[str], rest: str = "%rest"
) -> str:
    """A function that runs `body` for each lane of `%mask`, with `%p` the checked host address of `size`
    bytes, `%lane` (i64) and `%address` at hand. `rest`: lanes (i32) that the body leaves to later turns."""
    record = fault(module)
    where = f"i64 %line, i64 %address, i64 %lane, i64 {size}, i64 %space"
    text = [
        f"define internal i1 @{name}({parameters}) noinline {module.attributes} {{",
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
        f"i64 %lo, i64 %room1, i64 %space, i64 %size) noinline {module.attributes} {{",
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
            f"define internal void @{name}({parameters}) noinline {module.attributes} {{",
            *frame.lines,
            f"  call void {refuse(module)}(ptr %launch, ptr %worker, i64 %address, i32 %mask, i64 %line, "
            f"{lies})",
            "  ret void",
            "}",
        ]
        module.define(name, "\n".join(lines))
    return f"@{name}"


def load(module: ModuleText, size: int) -> str:
    """`i1 load(ACCESS, ptr data)`: copies `size` bytes of each lane to `data + lane * size`."""
    name, word = f"simt.load.{size}", f"i{8 * size}"
    if module.has(name):
        return f"@{name}"
    body = [
        f"  %value = load volatile {word}, ptr %p, align {size}",
        f"  %data.p = getelementptr {word}, ptr %data, i64 %lane",
        f"  store {word} %value, ptr %data.p, align 1",
    ]
    return _lanes(module, name, f"{ACCESS}, ptr %data", size, body)


def store(module: ModuleText, size: int) -> str:
    """`i1 store(ACCESS, ptr data)`: the reverse; higher lanes win."""
    name, word = f"simt.store.{size}", f"i{8 * size}"
    if module.has(name):
        return f"@{name}"
    body = [
        f"  %data.p = getelementptr {word}, ptr %data, i64 %lane",
        f"  %value = load {word}, ptr %data.p, align 1",
        f"  store volatile {word} %value, ptr %p, align {size}",
    ]
    return _lanes(module, name, f"{ACCESS}, ptr %data", size, body)


def atomic(module: ModuleText, op: str, t: Type, features: frozenset[str], private: bool) -> str:
    """`i1 atomic(ACCESS, ptr b, ptr c, ptr old)`: read-modify-write of each lane in ascending order.

    `private`: no other native thread uses the memory (shared memory, or any where a launch has one thread),
    so that nothing need be locked."""
    name, element, size = f"simt.atomic.{op}.{t.name}{'.private' * private}", element_type(t), t.bytes
    parameters = f"{ACCESS}, ptr %b, ptr %c, ptr %old"
    if module.has(name):
        return f"@{name}"
    if not private and _is_computed(op, t):
        return _lanes(module, name, parameters, size, _exchange_loop(module, op, t, features), "%left.then")
    update = _update
    if private:
        update = _computed_update if _is_computed(op, t) else _plain_update
    body = [
        f"  %b.p = getelementptr {element}, ptr %b, i64 %lane",
        f"  %b.v = load {element}, ptr %b.p, align {size}",
        *update(module, op, t, features),
        f"  %old.p = getelementptr {element}, ptr %old, i64 %lane",
        f"  store {element} %was, ptr %old.p, align {size}",
    ]
    return _lanes(module, name, parameters, size, body)


def _plain_update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Changes `%p`; `%was` is what it held."""
    element, builder = element_type(t), Builder()
    algebra = LlvmAlgebra(builder, module, 1, features)
    third = Value("%c.v", element) if op == "cas" else None
    new = algebra.vector(combine(algebra, op, t, Value("%was", element), Value("%b.v", element), third))
    store = f"  store {new.typed}, ptr %p, align {t.bytes}"  # may need code of its own
    return [
        *(_third_operand(t) if op == "cas" else ()),
        f"  %was = load {element}, ptr %p, align {t.bytes}",
        *builder.lines,
        store,
    ]


def _computed_update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """The same for what CPUs have no instruction for."""
    total, lines = _next_value(module, op, t, features)
    element = element_type(t)
    return [
        *_IN_SHARED,
        f"  %was = load {element}, ptr %p, align {t.bytes}",
        f"  %held = bitcast {element} %was to {element}",
        "  br label %add",
        "add:",
        *lines,
        f"  store {element} {total}, ptr %p, align {t.bytes}",
    ]


def _third_operand(t: Type) -> list[str]:
    element = element_type(t)
    return [
        f"  %c.p = getelementptr {element}, ptr %c, i64 %lane",
        f"  %c.v = load {element}, ptr %c.p, align {t.bytes}",
    ]


def _update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Changes `%p`; `%was` is what it held."""
    element = element_type(t)
    if op == "cas":
        return [
            *_third_operand(t),
            f"  %pair = cmpxchg ptr %p, {element} %b.v, {element} %c.v seq_cst seq_cst",
            f"  %was = extractvalue {{ {element}, i1 }} %pair, 0",
        ]
    return [f"  %was = atomicrmw {native_operation(op, t)} ptr %p, {element} %b.v seq_cst"]


def native_operation(op: str, t: Type) -> str:
    """What LLVM's `atomicrmw` calls an operation."""
    if t.is_native_float:
        return {"min": "fmin", "max": "fmax", "exch": "xchg"}[op]
    if op in ("min", "max"):
        return op if t.is_signed else f"u{op}"
    return {"exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}.get(op, op)


def _is_computed(op: str, t: Type) -> bool:
    """Whether CPUs have no instruction for the operation."""
    summed = op in ("add", "add.far") and t.is_float
    return op != "cas" and (summed or op in STEPS or not (is_simple(t) or op == "exch"))


def _exchange_loop(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Computed, and stored unless another thread came between. Lanes with one address, one after the other,
    are one exchange: sums of sorted items, or of all lanes to one place."""
    word, element = f"i{t.bits}", element_type(t)
    total, lines = _next_value(module, op, t, features)
    return [
        *_IN_SHARED,
        "  %same.memory = icmp eq i64 %lane_stride, 0",
        f"  %start = load atomic {word}, ptr %p monotonic, align {t.bytes}",
        "  br label %try",
        "try:",
        f"  %seen = phi {word} [ %start, %access ], [ %was.bits, %exchange ]",
        f"  %seen.value = bitcast {word} %seen to {element}",
        "  br label %add",
        "add:",
        f"  %held = phi {element} [ %seen.value, %try ], [ {total}, %go.on ]",
        "  %left.now = phi i32 [ %left, %try ], [ %left.then, %go.on ]",
        "  %lane.now32 = call i32 @llvm.cttz.i32(i32 %left.now, i1 true)",
        "  %lane.now = zext i32 %lane.now32 to i64",
        f"  %b.p = getelementptr {element}, ptr %b, i64 %lane.now",
        f"  %b.v = load {element}, ptr %b.p, align {t.bytes}",
        *lines,
        f"  %old.p = getelementptr {element}, ptr %old, i64 %lane.now",
        f"  store {element} %held, ptr %old.p, align {t.bytes}",
        "  %below.now = sub i32 %left.now, 1",
        "  %left.then = and i32 %left.now, %below.now",
        "  %last = icmp eq i32 %left.then, 0",
        "  br i1 %last, label %exchange, label %go.on",
        "go.on:",
        "  %lane.then32 = call i32 @llvm.cttz.i32(i32 %left.then, i1 true)",
        "  %lane.then = zext i32 %lane.then32 to i64",
        "  %then.p = getelementptr i64, ptr %addresses, i64 %lane.then",
        "  %address.then = load i64, ptr %then.p",
        "  %same.address = icmp eq i64 %address.then, %address",
        "  %same = and i1 %same.memory, %same.address",
        "  br i1 %same, label %add, label %exchange",
        "exchange:",
        f"  %total.bits = bitcast {element} {total} to {word}",
        f"  %pair = cmpxchg ptr %p, {word} %seen, {word} %total.bits seq_cst seq_cst",
        f"  %was.bits = extractvalue {{ {word}, i1 }} %pair, 0",
        f"  %stored = extractvalue {{ {word}, i1 }} %pair, 1",
        "  br i1 %stored, label %did, label %try",
        "did:",
    ]


def _next_value(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> tuple[str, list[str]]:
    """What `%p` holds after `%b.v` has been added to `%held`, and the code that computes it."""
    element, builder = element_type(t), Builder()
    algebra = LlvmAlgebra(builder, module, 1, features)
    old, b = Value("%held", element), Value("%b.v", element)
    new = combine(algebra, op, t, old, b, None)
    if op == "add.far":
        new = algebra.pick(Value("%in.shared", "i1"), combine(algebra, "add", t, old, b, None), new)
    bits = algebra.to_bits(t, new)
    settled = f"  %exact = bitcast {bits.typed} to {element}"  # may need code of its own
    exact = [*builder.lines, settled]
    if t is not F32 or op not in ("add", "add.far"):
        return "%exact", exact
    return "%total", [*_large_sum(module), "careful:", *exact, "  br label %added", *_ADDED]


def _large_sum(module: ModuleText) -> list[str]:
    """Sums in which there is nothing to flush: the next one waits for this addition alone. If a sum is not
    below 2**-100, what is subnormal of its two operands is less than half of the other one's last place, and
    flushed or not, the sum is the same. Goes on at `added`, else at `careful`."""
    absolute = module.declare("llvm.fabs.f32", "float", ("float",))
    return [
        "  %plain = fadd float %held, %b.v",
        f"  %plain.size = call float {absolute}(float %plain)",
        "  %is.large = fcmp oge float %plain.size, 0x39B0000000000000",
        "  br i1 %is.large, label %added, label %careful",
    ]


_ADDED = ("added:", "  %total = phi float [ %plain, %add ], [ %exact, %careful ]")


_IN_SHARED = (
    f"  %shared.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.SHARED}",
    "  %shared = load i64, ptr %shared.p",
    f"  %shared.bytes.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.SHARED_BYTES}",
    "  %shared.bytes = load i64, ptr %shared.bytes.p",
    "  %shared.offset = sub i64 %address, %shared",
    "  %in.shared = icmp ult i64 %shared.offset, %shared.bytes",
)
"""Whether `%address`, a generic one, lies in the CTA's shared memory."""
