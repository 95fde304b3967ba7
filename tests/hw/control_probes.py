"""Programs of branches, calls and returns, barriers and fences, votes of some of a warp's lanes, and the
special registers. Threads part and meet in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simt.isa.form import Binding, Form, Version
from simt.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
from simt.isa.targets import NEWEST
from tests.hw.arithmetic import OLD_TARGET, OLD_VERSION
from tests.hw.probes import Probe, data, forms, versions, wanted

SOURCE = "ld.global.u32 %n, [%in];"
START = "mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o; .reg .pred %p, %q; .reg .u32 %x, %y; .reg .u64 %a;"
"""Before every body. `%n`: a word of the thread's input, `%p`: whether that is odd, `%q`: whether the lane is
one of the first 13 of its warp."""
PREDICATES = (
    f"{SOURCE} and.b32 %t, %n, 1; setp.ne.u32 %p, %t, 0; and.b32 %t, %lane, 31; setp.lt.u32 %q, %t, 13;"
)
END = "st.global.u32 [%out+4], %x; exit;"

Body = tuple[tuple[str, ...], tuple[str, ...]]
"""The instructions, and what the module declares before its entry."""

FATAL = ("trap", "brkpt")
"""End or halt a program; recorded in a process of their own (`tests.hw.record_probes`)."""


def probes() -> Iterator[Probe]:
    """Of control flow, synchronisation, votes and special registers."""
    for form in forms("control", "sync", "warp"):
        for binding in wanted(form):
            for name, version, target in _versions(form, binding):
                for suffix, (body, variables) in bodies(form, binding, version).items():
                    lines = (START, PREDICATES, "mov.u32 %x, 7;", *body, END)
                    yield Probe(name + suffix, form, version, target, lines, variables, data())
    yield from registers()


def _versions(form: Form, binding: Binding) -> Iterator[tuple[str, Version, int]]:
    yield from versions(form, binding)
    if form.until is not None and form.until > OLD_VERSION:
        yield form.spell(binding), form.until, form.until_target


def bodies(form: Form, binding: Binding, version: Version) -> dict[str, Body]:
    """Programs for an instruction by a suffix of their names; none if other vectors show it."""
    make = MAKERS.get(form.control) or MAKERS.get(form.mnemonic)
    return make(form, form.spell(binding), version) if make else {}


# ---------------------------------------------------------------- branches


def branch(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Around a block and in a loop whose number of rounds differs; `.uni` where all threads go one way."""
    if opcode.endswith(".uni"):
        return {"": ((f"{opcode} L1;", "add.u32 %x, %x, 1;", "L1: st.global.u32 [%out], %x;"), ())}
    around = (f"@%p {opcode} L1; add.u32 %x, %x, %n; {opcode} L2; L1: sub.u32 %x, %x, %n; L2:",)
    loop = "and.b32 %y, %n, 15; L3: mad.lo.u32 %x, %x, 5, %y; sub.u32 %y, %y, 1; setp.ge.s32 %p, %y, 0;"
    return {
        "": ((*around, "st.global.u32 [%out], %x;"), ()),
        " loop": ((loop, f"@%p {opcode} L3;", "st.global.u32 [%out], %x;"), ()),
        " not": ((f"@!%p {opcode} L4; xor.b32 %x, %n, 3; L4: st.global.u32 [%out], %x;",), ()),
    }


def indexed(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    index = "and.b32 %y, %n, 3;" if not opcode.endswith(".uni") else "mov.u32 %y, 2;"
    blocks = " ".join(f"B{i}: add.u32 %x, %x, {i * i + 3}; bra B4;" for i in range(4))
    lines = (index, "ways: .branchtargets B0, B1, B2, B3;", f"{opcode} %y, ways; {blocks} B4:")
    return {"": ((*lines, "st.global.u32 [%out], %x;"), ())}


# ---------------------------------------------------------------- calls


def call(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """With nothing, with parameters, with a result; guarded, unless `.uni`."""
    if version < (2, 0):
        mix = ".func (.reg .u32 r) mix (.reg .u32 a, .reg .u32 b) { mad.lo.u32 r, a, 3, b; ret; }"
        plain, guarded = f"{opcode} (%x), mix, (%n, %lane);", f"@%p {opcode} (%x), mix, (%n, %lane);"
    else:
        mix = ".func (.param .u32 r) mix (.param .u32 a, .param .u32 b) { .reg .u32 %u, %v;"
        mix += " ld.param.u32 %u, [a]; ld.param.u32 %v, [b]; mad.lo.u32 %u, %u, 3, %v;"
        mix += " st.param.u32 [r], %u; ret; }"
        given = "{ .param .u32 a, b, r; st.param.u32 [a], %n; st.param.u32 [b], %lane;"
        plain = f"{given} {opcode} (r), mix, (a, b); ld.param.u32 %x, [r]; }}"
        guarded = f"@!%p bra L1; {plain} L1:"
    count = ".global .u32 counter;"
    bump = ".func bump { .reg .u32 %u; ld.global.u32 %u, [counter]; ret; }"
    store = "st.global.u32 [%out], %x;"
    found: dict[str, Body] = {
        "": ((plain, store), (mix,)),
        " without parameters": ((f"{opcode} bump;", store), (count, bump)),
    }
    if not opcode.endswith(".uni"):
        found[" guarded"] = ((guarded, store), (mix,))
    return found


def give_back(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """From a function by several ways, and from the entry."""
    if version < (2, 0):
        guard = "" if opcode.endswith(".uni") else f"@%u {opcode};"
        head = ".func (.reg .u32 r) pick (.reg .u32 a) { .reg .pred %u; .reg .u32 %v;"
        tail = f"mov.u32 r, a; and.b32 %v, a, 2; setp.ne.u32 %u, %v, 0; {guard} add.u32 r, r, 9; {opcode}; }}"
        function, use = f"{head} {tail}", "call (%x), pick, (%n);"
    else:
        guard = "" if opcode.endswith(".uni") else f"@%u {opcode};"
        head = ".func (.param .u32 r) pick (.param .u32 a) { .reg .pred %u; .reg .u32 %v, %w;"
        tail = (
            f"ld.param.u32 %w, [a]; st.param.u32 [r], %w; and.b32 %v, %w, 2; setp.ne.u32 %u, %v, 0; {guard}"
        )
        tail += " add.u32 %w, %w, 9;"
        function = f"{head} {tail} st.param.u32 [r], %w; {opcode}; }}"
        use = "{ .param .u32 a, r; st.param.u32 [a], %n; call (r), pick, (a); ld.param.u32 %x, [r]; }"
    leave = f"{opcode};" if opcode.endswith(".uni") else f"@%p {opcode};"
    return {
        "": ((use, "st.global.u32 [%out], %x;"), (function,)),
        " in the entry": (("st.global.u32 [%out], %n;", leave, "st.global.u32 [%out], %lane;"), ()),
    }


def leave(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Some threads early, from a loop or a function; a barrier does not wait for them."""
    early = ("st.global.u32 [%out], %n;", f"@%p {opcode};", "bar.sync 0;", "st.global.u32 [%out], %lane;")
    quit_ = f".func quit {{ .reg .u32 %u; {opcode}; }}"
    return {
        "": (early, ()),
        " in a function": (("st.global.u32 [%out], %n;", "@!%p bra L1;", "call quit;", "L1:"), (quit_,)),
    }


# ---------------------------------------------------------------- barriers, fences, miscellaneous

SHARE = ".shared .align 4 .u32 cells[64];"
WRITE = "mov.u64 %a, cells; mul.wide.u32 %o, %lane, 4; add.u64 %a, %a, %o; st.shared.u32 [%a], %n;"
READ = "sub.u32 %t, 63, %lane; mov.u64 %a, cells; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;"
READ += " ld.shared.u32 %x, [%a]; st.global.u32 [%out], %x;"


def barrier(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """An exchange between two warps around it, by several barriers; reductions of the input's parity."""
    names = [o.name for o in form.operands]
    count = ", 64" if "b" in names else ""
    if ".red." in opcode:
        return {" counted" if count else "": (_reduction(opcode, count), ())}
    if ".arrive" in opcode:
        pair = f"setp.lt.u32 %q, %lane, 32; @%q {opcode} 3, 64;"
        wait = f"@!%q {opcode.replace('.arrive', '.sync')} 3, 64;"
        part = "@%q bra L1;"
        return {"": ((WRITE, pair, wait, part, READ, "L1:"), (SHARE,))}
    numbers = (4,) if count else (0, 1, 15)
    return {f" {n}": ((WRITE, f"{opcode} {n}{count};", READ), (SHARE,)) for n in numbers}


def _reduction(opcode: str, count: str) -> tuple[str, ...]:
    """Of the parity of the input, and of its contrary."""
    result, shown = ("%q", "selp.u32 %x, 1, 0, %q;") if opcode.endswith(".pred") else ("%x", "")
    parts = [f"{opcode} {result}, 1{count}, {p}; {shown} st.global.u32 [%out+{at}], %x;"
             for p, at in (("%p", 0), ("!%p", 8))]  # fmt: skip
    return tuple(parts)


def within_warp(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    swap = "xor.b32 %t, %lane, 5; mov.u64 %a, cells; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;"
    swap += " ld.shared.u32 %x, [%a]; st.global.u32 [%out], %x;"
    here = f"{WRITE} {opcode} 0xffffffff; {swap}"
    return {
        "": ((WRITE, f"{opcode} 0xffffffff;", swap), (SHARE,)),
        APART: ((f"@!%q bra L1; {here} bra L2; L1: add.u32 %n, %n, 1000; {here} L2:",), (SHARE,)),
    }


def fence(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    return {"": ((WRITE, f"{opcode};", "bar.sync 0;", READ), (SHARE,))}


def never(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Where the guard holds in no thread: nothing happens."""
    return {" guarded": ((f"setp.gt.u32 %q, %lane, 64; @%q {opcode};", "st.global.u32 [%out], %n;"), ())}


def event(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Every event; they are seen by profilers only."""
    triggers = " ".join(f"{opcode} {n};" for n in range(16))
    return {"": ((triggers, f"@%p {opcode} 3;", "st.global.u32 [%out], %n;"), ())}


def sleep(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    return {"": ((f"{opcode} 100;", "st.global.u32 [%out], %n;"), ())}


def stack(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Memory allocated twice in turn, with what was written there before it is freed."""
    keep, free, get = (f"{word}.u64" for word in ("stacksave", "stackrestore", "alloca"))
    if not opcode.endswith("u64"):
        return {}
    lines = [".reg .u64 %s, %b;", f"{keep} %s; {get} %a, 16; {get} %b, 16, 16;"]
    lines += [
        "st.local.u32 [%a], %n; st.local.u32 [%b], %lane; ld.local.u32 %x, [%a]; ld.local.u32 %y, [%b];"
    ]
    lines += [f"{free} %s; add.u32 %x, %x, %y; and.b64 %b, %b, 15; cvt.u32.u64 %y, %b;"]
    return {"": ((*lines, "st.global.u32 [%out], %x; st.global.u32 [%out+8], %y;"), ())}


# ---------------------------------------------------------------- warps


def vote(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Of a whole warp, of 13 lanes and of the other 19, on parity, on the warp's number, on nothing."""
    result, store = ("%r", "selp.u32 %y, 1, 0, %r;") if opcode.endswith("pred") else ("%y", "")
    mask = {"": "", "few": "", "rest": ""}
    if any(o.name == "mask" for o in form.operands):
        mask = {"": ", 0xffffffff", "few": ", 0x1fff", "rest": ", 0xffffe000"}
    one = f".reg .pred %r, %s; setp.lt.u32 %s, %lane, 32; {opcode} {result}, %p{mask['']}; {store}"
    two = f"st.global.u32 [%out], %y; {opcode} {result}, !%s{mask['']}; {store} st.global.u32 [%out+8], %y;"
    few = f"@!%q bra L1; {opcode} {result}, %p{mask['few']}; {store} st.global.u32 [%out+12], %y; bra L2;"
    rest = f"L1: {opcode} {result}, %s{mask['rest']}; {store} st.global.u32 [%out+16], %y; L2:"
    return {" of some": ((one, two, few, rest), ())} | apart(form, opcode, version)


APART = " on both ways of a branch"
GIVEN = {"vote": "%p", "shfl": "%n, 5, LAST", "match": "%s", "redux": "%n"}
"""Operands between result and mask: a predicate or word of the input, or one of few different values."""


def apart(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    """Some lanes of a warp execute it on one way of a branch, the others on the other way, twice, the second
    time with the results of the first; all are named in the mask."""
    if not any(o.name == "mask" for o in form.operands):
        return {}
    given = f"{GIVEN[form.mnemonic]}, " if form.mnemonic in GIVEN else ""
    given = given.replace("LAST", "0" if ".up" in opcode else "31")
    predicate = opcode.endswith("pred")
    result = "%r" if predicate else "%y|%r" if form.mnemonic == "elect" else "%y"
    width = "64" if opcode.endswith("b64") else "32"
    few = f"and.b32 %y, %n, 3; cvt.u{width}.u32 %s, %y;" if form.mnemonic == "match" else ""
    show = "selp.u32 %y, 1, 0, %r;" if predicate else ""
    again = "xor.b32 %n, %n, %y; and.b32 %y, %n, 8; setp.ne.u32 %p, %y, 0;"
    one = f"{few} {opcode} {result}, {given}0xffffffff; {show}"
    both = f"{one} st.global.u32 [%out], %y; {again} {one} st.global.u32 [%out+8], %y;"
    body = f".reg .pred %r; .reg .u{width} %s; @!%q bra L1; {both} bra L2;"
    return {APART: ((body, f"L1: add.u32 %n, %n, 1000; {both} L2:"), ())}


def active(form: Form, opcode: str, version: Version) -> dict[str, Body]:
    parted = f"@!%q bra L1; {opcode} %x; bra L2; L1: {opcode} %x; L2: st.global.u32 [%out], %x;"
    return {"": ((f"{opcode} %y; st.global.u32 [%out+8], %y;", parted), ())}


MAKERS: dict[str, Callable[[Form, str, Version], dict[str, Body]]] = {
    "branch": branch,
    "indirect-branch": indexed,
    "call": call,
    "return": give_back,
    "exit": leave,
    "barrier": barrier,
    "allocate": stack,
    "save-stack": stack,
    "restore-stack": stack,
    "bar": within_warp,
    "membar": fence,
    "fence": fence,
    "trap": never,
    "brkpt": never,
    "pmevent": event,
    "nanosleep": sleep,
    "vote": vote,
    "shfl": apart,
    "match": apart,
    "redux": apart,
    "elect": apart,
    "activemask": active,
}
"""By kind of control flow or mnemonic. What shuffles, matches and reductions give to lanes that are together:
see `tests.hw.conversions`."""


# ---------------------------------------------------------------- special registers

ADVANCING = ("%clock", "%clock64", "%globaltimer", "%globaltimer_lo")
"""Of these two readings are compared; their values are the machine's affair."""

RELATED = ("%warpid", "%smid", "%nsmid", "%nwarpid", "%gridid")
"""Of these the values of threads are compared with each other: of one warp, and of two."""

CHANGING = {
    "%clock_hi": "is zero for the first second or so",
    "%globaltimer_hi": "is the time of day",
    "%current_graph_exec": "a handle",
}
"""Registers that are not compared, with the reason; likewise the prefixes below."""
MACHINE = {
    "%envreg": "recorded under many launches: see `tests.hw.environment`",
    "%reserved_smem": "what a driver keeps of shared memory",
    "%aggr_smem": "what a driver keeps of shared memory is in it",
}


def unsure(name: str) -> str | None:
    """Why the values of a register are not compared, or None."""
    return CHANGING.get(name) or next((why for start, why in MACHINE.items() if name.startswith(start)), None)


def registers() -> Iterator[Probe]:
    """Every register that programs can rely on, in every width, by `mov` and by `cvt`."""
    for register in SPECIAL_REGISTERS.values():
        if unsure(register.name) is None:
            if register.requirement.version <= OLD_VERSION:
                yield from _reads(register, OLD_VERSION, OLD_TARGET)
            yield from _reads(register, NEWEST, 90)


def _reads(register: SpecialRegister, version: Version, target: int) -> Iterator[Probe]:
    old = "1.4 " if version == OLD_VERSION else ""
    if register.name in ADVANCING or register.name in RELATED:
        make, variables = (_twice, ()) if register.name in ADVANCING else (_neighbours, (VALUES,))
        body = make(register.name, register.declared(version).bits)
        yield Probe(f"{old}{register.name}", register, version, target, body, variables)
        return
    lines: list[str] = []
    declared = register.declared(version)
    for i, component in enumerate(register.components):
        name = f"{register.name}.{component}" if component else register.name
        lines += _read(name, declared.name, declared.bits, i)
    lines += ["exit;"]
    grid, block = ((3, 2, 2), (4, 4, 4))
    yield Probe(f"{old}{register.name}", register, version, target, tuple(lines), grid=grid, block=block)


def _read(name: str, declared: str, bits: int, place: int) -> list[str]:
    """By `mov` in the declared type, and by `cvt`, wider."""
    at = f"[%out+{16 * place}]"
    if declared == "pred":
        return [
            "{ .reg .pred %p; .reg .u32 %v;",
            f"mov.pred %p, {name}; selp.u32 %v, 1, 0, %p; st.global.u32 {at}, %v; }}",
        ]
    first = f"{{ .reg .u{bits} %v; mov.u{bits} %v, {name}; st.global.u{bits} {at}, %v; }}"
    second = f"{{ .reg .u64 %v; cvt.u64.u{bits} %v, {name}; st.global.u64 [%out+{16 * place + 8}], %v; }}"
    return [first, second]


def _twice(name: str, bits: int) -> tuple[str, ...]:
    """Whether a second reading is not before the first."""
    read = f".reg .u{bits} %v, %w; mov.u{bits} %v, {name}; bar.sync 0; mov.u{bits} %w, {name};"
    return (read, f"sub.u{bits} %w, %w, %v; .reg .pred %p; setp.ge.s{bits} %p, %w, 0;",
            "selp.u32 %t, 1, 0, %p; st.global.u32 [%out], %t; exit;")  # fmt: skip


VALUES = ".shared .align 8 .u64 values[64];"


def _neighbours(name: str, bits: int) -> tuple[str, ...]:
    """Whether a thread of the same warp, and one of the other, have the same value."""
    own = "mov.u64 %a, values; mul.wide.u32 %o, %lane, 8; add.u64 %a, %a, %o;"
    start = f".reg .u{bits} %v, %w; .reg .u64 %a; .reg .pred %p; mov.u{bits} %v, {name}; {own}"
    lines = [start, f"st.shared.u{bits} [%a], %v; bar.sync 0;"]
    for i, other in enumerate((1, 32)):
        lines += [
            f"xor.b32 %t, %lane, {other}; mov.u64 %a, values; mul.wide.u32 %o, %t, 8; add.u64 %a, %a, %o;"
        ]
        lines += [f"ld.shared.u{bits} %w, [%a]; setp.eq.u{bits} %p, %v, %w; selp.u32 %t, 1, 0, %p;"]
        lines += [f"st.global.u32 [%out+{8 * i}], %t;"]
    return (*lines, "exit;")


# ---------------------------------------------------------------- the ends of programs


def fatal() -> dict[str, Probe]:
    """Programs in which half of the threads execute an instruction that ends or halts them."""
    found: dict[str, Probe] = {}
    for form in (f for f in forms("control") if f.mnemonic in FATAL):
        for name, version, target in versions(form, {}):
            lines = (
                START,
                PREDICATES,
                "mov.u32 %x, 7;",
                f"@%p {form.mnemonic};",
                "st.global.u32 [%out], %n;",
                END,
            )
            found[name] = Probe(name, form, version, target, lines, given=data())
    return found
