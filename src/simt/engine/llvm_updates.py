"""Functions in LLVM IR for updates of memory by atomic operations: by all lanes of a warp, and by one."""

from __future__ import annotations

from simt.engine.abi import LaunchSlot, WorkerSlot
from simt.engine.atomic_operation import combine, is_simple
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import Builder, ModuleText, Value
from simt.engine.llvm_float import LlvmAlgebra
from simt.engine.llvm_runtime import ACCESS, each_lane
from simt.isa.mbarrier import STEPS
from simt.ptx.types import F32, Type


def atomic(module: ModuleText, op: str, t: Type, features: frozenset[str], private: bool) -> str:
    """`i1 atomic(ACCESS, ptr b, ptr c, ptr old)`: read-modify-write of each lane in ascending order.

    `private`: no other native thread uses the memory (shared memory, or any where a launch has one thread),
    so that nothing need be locked."""
    name, element, size = f"simt.atomic.{op}.{t.name}{'.private' * private}", element_type(t), t.bytes
    parameters = f"{ACCESS}, ptr %b, ptr %c, ptr %old"
    if module.has(name):
        return f"@{name}"
    if not private and _is_computed(op, t):
        return each_lane(
            module, name, parameters, size, _exchange_loop(module, op, t, features), "%left.then"
        )
    body = [
        f"  %b.p = getelementptr {element}, ptr %b, i64 %lane",
        f"  %b.v = load {element}, ptr %b.p, align {size}",
        *(_third_operand(t) if op == "cas" else ()),
        *_one_update(module, op, t, features, private),
        f"  %old.p = getelementptr {element}, ptr %old, i64 %lane",
        f"  store {element} %was, ptr %old.p, align {size}",
    ]
    return each_lane(module, name, parameters, size, body)


def update(module: ModuleText, op: str, t: Type, features: frozenset[str], private: bool) -> str:
    """`ELEMENT update(launch, worker, i64 address, ptr p, ELEMENT b, ELEMENT c)`: the same by one lane, of a
    place that has been checked; what it held."""
    name, element = f"simt.update.{op}.{t.name}{'.private' * private}", element_type(t)
    if module.has(name):
        return f"@{name}"
    inlined = "alwaysinline " if private and is_simple(t) else ""
    lines = [
        f"define internal {element} @{name}(ptr %launch, ptr %worker, i64 %address, ptr %p, "
        f"{element} %b.v, {element} %c.v) {inlined}{module.attributes} {{",
        "access:",
        *_one_update(module, op, t, features, private),
        f"  ret {element} %was",
        "}",
    ]
    module.define(name, "\n".join(lines))
    return f"@{name}"


def _one_update(module: ModuleText, op: str, t: Type, features: frozenset[str], private: bool) -> list[str]:
    """Changes `%p` by `%b.v` (and `%c.v`); `%was` is what it held."""
    if not _is_computed(op, t):
        return (_plain_update if private else _atomic_update)(module, op, t, features)
    return (_computed_update if private else _exchanged_update)(module, op, t, features)


def _plain_update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Where no other native thread uses the memory."""
    element, builder = element_type(t), Builder()
    algebra = LlvmAlgebra(builder, module, 1, features)
    third = Value("%c.v", element) if op == "cas" else None
    new = algebra.vector(combine(algebra, op, t, Value("%was", element), Value("%b.v", element), third))
    store = f"  store {new.typed}, ptr %p, align {t.bytes}"  # may need code of its own
    return [
        f"  %was = load {element}, ptr %p, align {t.bytes}",
        *builder.lines,
        store,
    ]


def _computed_update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Where no other native thread uses the memory, for what CPUs have no instruction for."""
    total, lines = _next_value(module, op, t, features)
    element = element_type(t)
    return [
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


def _atomic_update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """By one instruction of the CPU's. It has a lock, even where it leaves what it finds; so that is looked
    at before (what a program orders by an operation, it orders by fences: see `simt.isa.atomics`)."""
    element, kept = element_type(t), leaves(op, t)
    if op == "cas":
        change = [
            f"  %pair = cmpxchg ptr %p, {element} %b.v, {element} %c.v seq_cst seq_cst",
            f"  %found = extractvalue {{ {element}, i1 }} %pair, 0",
        ]
    else:
        change = [f"  %found = atomicrmw {native_operation(op, t)} ptr %p, {element} %b.v seq_cst"]
    if not kept:
        return [line.replace("%found", "%was") for line in change]
    return [
        f"  %seen = load atomic {element}, ptr %p monotonic, align {t.bytes}",
        f"  %stays = icmp {kept} {element} %seen, %b.v",
        "  br i1 %stays, label %did, label %exchange",
        "exchange:",
        *change,
        "  br label %did",
        "did:",
        f"  %was = phi {element} [ %seen, %access ], [ %found, %exchange ]",
    ]


def leaves(op: str, t: Type) -> str:
    """How a value that an operation leaves as it is compares with the operand, in LLVM's words; empty if that
    is not told, or seldom so."""
    sign = "s" if t.is_signed else "u"
    least = {"cas": "ne", "max": f"{sign}ge", "min": f"{sign}le"}
    return "" if t.is_native_float else least.get(op, "")


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


def _exchanged_update(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Computed, and stored unless another thread came between."""
    word, element = f"i{t.bits}", element_type(t)
    total, lines = _next_value(module, op, t, features)
    return [
        f"  %start = load atomic {word}, ptr %p monotonic, align {t.bytes}",
        "  br label %try",
        "try:",
        f"  %seen = phi {word} [ %start, %access ], [ %was.bits, %exchange ]",
        f"  %held = bitcast {word} %seen to {element}",
        "  br label %add",
        "add:",
        *lines,
        "  br label %exchange",
        "exchange:",
        *_exchange(word, element, total),
        "did:",
        f"  %was = bitcast {word} %seen to {element}",
    ]


def _exchange_loop(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> list[str]:
    """Computed, and stored unless another thread came between. Lanes with one address, one after the other,
    are one exchange: sums of sorted items, or of all lanes to one place."""
    word, element = f"i{t.bits}", element_type(t)
    total, lines = _next_value(module, op, t, features)
    return [
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
        *_exchange(word, element, total),
        "did:",
    ]


def _exchange(word: str, element: str, total: str) -> list[str]:
    """Stores a sum if `%p` still holds what has been `%seen`."""
    return [
        f"  %total.bits = bitcast {element} {total} to {word}",
        f"  %pair = cmpxchg ptr %p, {word} %seen, {word} %total.bits seq_cst seq_cst",
        f"  %was.bits = extractvalue {{ {word}, i1 }} %pair, 0",
        f"  %stored = extractvalue {{ {word}, i1 }} %pair, 1",
        "  br i1 %stored, label %did, label %try",
    ]


def _next_value(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> tuple[str, list[str]]:
    """What `%p` holds after `%b.v` has been added to `%held`, and the code that computes it."""
    if t is not F32 or op not in ("add", "add.far"):
        return _exact_value(module, op, t, features)
    exact = _careful(module, op, t, features)
    call = f"  %exact = call float {exact}(ptr %launch, ptr %worker, i64 %address, float %held, float %b.v)"
    return "%total", [*_large_sum(module), *_ZERO, call, "  br label %added", *_ADDED]


def _exact_value(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> tuple[str, list[str]]:
    element, builder = element_type(t), Builder()
    algebra = LlvmAlgebra(builder, module, 1, features)
    old, b = Value("%held", element), Value("%b.v", element)
    new = combine(algebra, op, t, old, b, None)
    if op == "add.far":
        new = algebra.pick(Value("%in.shared", "i1"), combine(algebra, "add", t, old, b, None), new)
    bits = algebra.to_bits(t, new)
    settled = f"  %exact = bitcast {bits.typed} to {element}"  # may need code of its own
    return "%exact", [*(_IN_SHARED if op == "add.far" else ()), *builder.lines, settled]


def _careful(module: ModuleText, op: str, t: Type, features: frozenset[str]) -> str:
    """`float careful(launch, worker, i64 address, float held, float b)`: the exact value. It is rare, and a
    function, so that the usual way is short."""
    name = f"simt.careful.{op}.{t.name}"
    if not module.has(name):
        value, lines = _exact_value(module, op, t, features)
        head = (
            f"define internal float @{name}(ptr %launch, ptr %worker, i64 %address, float %held, "
            f"float %b.v) noinline cold {module.attributes} {{"
        )
        module.define(name, "\n".join([head, *lines, f"  ret float {value}", "}"]))
    return f"@{name}"


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


_ZERO = (
    "careful:",
    "  %is.zero = fcmp oeq float %plain, 0.0",
    "  br i1 %is.zero, label %added, label %tiny",
    "tiny:",
)
"""A sum that is zero is so, with its sign, whether its operands are flushed or not: gradients and weights of
zero are added often."""
_ADDED = ("added:", "  %total = phi float [ %plain, %add ], [ %plain, %careful ], [ %exact, %tiny ]")


_IN_SHARED = (
    f"  %shared.p = getelementptr i64, ptr %worker, i64 {WorkerSlot.SHARED}",
    "  %shared = load i64, ptr %shared.p",
    f"  %shared.bytes.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.SHARED_BYTES}",
    "  %shared.bytes = load i64, ptr %shared.bytes.p",
    "  %shared.offset = sub i64 %address, %shared",
    "  %in.shared = icmp ult i64 %shared.offset, %shared.bytes",
)
"""Whether `%address`, a generic one, lies in the CTA's shared memory."""
