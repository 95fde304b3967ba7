"""Programs that load, store and move: every type, space and vector."""

from __future__ import annotations

from collections.abc import Iterator

from simt.isa.form import Binding, Form, Version
from simt.isa.memory import state_space
from simt.ptx.types import U64, Type
from tests.hw.probes import THREADS, Probe, data, forms, versions, wanted, words

CELLS = 32 * THREADS
"""Bytes of the arrays in shared and local memory: 32 a thread."""


def probes() -> Iterator[Probe]:
    """Of the chapters on memory and moves."""
    for form in forms("memory", "move"):
        make = {"ld": load, "ldu": load, "st": store, "mov": move}.get(form.mnemonic, other)
        for binding in addresses(form) if form.mnemonic == "cvta" else wanted(form):
            for name, version, target in versions(form, binding):
                yield from make(form, binding, name, version, target)


def addresses(form: Form) -> list[Binding]:
    """All spaces, in modules of 64-bit addresses."""
    return [b for b in form.bindings() if b["type"] is U64]


def registers(t: Type, wide: bool) -> str:
    """The type of a register that holds a value of a type, or a wider one."""
    if t.is_native_float:
        return t.name
    return "b64" if wide else f"b{max(t.bits, 16)}"


def vector(names: list[str]) -> str:
    """One operand of several registers."""
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def count(binding: Binding) -> int:
    """Elements of the vector, 1 for a scalar."""
    return int(str(binding["vec"])[1:]) if binding.get("vec") else 1


def copied(source: str, target: str, size: int = 16) -> list[str]:
    """Copies bytes word by word: `source` and `target` as `global.u32 [%a`, without the closing bracket."""
    load, store = source.split(" ", 1), target.split(" ", 1)
    return [f"ld.{load[0]} %t, {load[1]}+{i}]; st.{store[0]} {store[1]}+{i}], %t;" for i in range(0, size, 4)]


# ---------------------------------------------------------------- ld


def load(form: Form, binding: Binding, name: str, version: Version, target: int) -> Iterator[Probe]:
    """Into registers of the value's width, and into wider ones: 8 bytes an element, four and four."""
    t = binding["type"]
    assert isinstance(t, Type)
    written = str(binding.get("space") or "")
    space, n = state_space(written), count(binding)
    before, address, variables = _cell(space, version)
    body = [
        ".reg .b64 %a;",
        f"mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o; mul.wide.u32 %o, %lane, {64};",
    ]
    body += before
    widths = (False,) if t.is_float else (False, True)
    for part, wide in enumerate(widths):
        kind = registers(t, wide)
        names = [f"%d{part}{i}" for i in range(n)]
        body.append(f".reg .{kind} {', '.join(names)};")
        body.append(f"{form.spell(binding)} {vector(names)}, [{address}];")
        body += [f"st.global.{kind} [%out+{32 * part + 8 * i}], {r};" for i, r in enumerate(names)]
    yield Probe(
        name, form, version, target, (*body, "exit;"), tuple(variables), data(),
        parameter=data()[:16] if space == "param" else b"",
    )  # fmt: skip


def _cell(space: str, version: Version) -> tuple[list[str], str, list[str]]:
    """How a thread's 16 bytes of input get into a space, where they are, and what is declared for it."""
    if space == "param":
        return [], "blob", []
    if space == "const":
        table = f".const .align 16 .u32 table[{len(data()) // 4}] = {{{words(data())}}};"
        return ["mov.u64 %a, table; mul.wide.u32 %o, %lane, 16; add.u64 %a, %a, %o;"], "%a", [table]
    if space in ("shared", "local"):
        array = f".{space} .align 16 .b8 cells[{16 * THREADS}];"
        mine = ["mov.u64 %a, cells;"]
        if space == "local":
            return [array, *mine, *copied("global.u32 [%in", "local.u32 [%a")], "%a", []
        other = "xor.b32 %t, %lane, 1; mov.u64 %a, cells; mul.wide.u32 %o, %t, 16; add.u64 %a, %a, %o;"
        place = "mul.wide.u32 %o, %lane, 16; add.u64 %a, %a, %o;"
        return (
            [*mine, place, *copied("global.u32 [%in", "shared.u32 [%a"), "bar.sync 0;", other],
            "%a",
            [array],
        )
    return [], "%in", []


# ---------------------------------------------------------------- st


def store(form: Form, binding: Binding, name: str, version: Version, target: int) -> Iterator[Probe]:
    """From registers of the value's width, and from wider ones: 16 bytes each."""
    t = binding["type"]
    assert isinstance(t, Type)
    space, n = state_space(str(binding.get("space") or "")), count(binding)
    body = [".reg .b64 %a; mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o;"]
    array, variables = f".{space} .align 16 .b8 cells[{CELLS}];", list[str]()
    address = "%out"
    if space in ("shared", "local"):
        address = "%a"
        variables += [array] if space == "shared" else []
        body += [array] if space == "local" else []
        body += ["mov.u64 %a, cells;"]
        body += ["mul.wide.u32 %o, %lane, 32; add.u64 %a, %a, %o;"] if space == "shared" else []
        body += [f"mov.u32 %t, 0; st.{space}.u32 [%a+{i}], %t;" for i in range(0, 32, 4)]
    widths = (False,) if t.is_float else (False, True)
    for part, wide in enumerate(widths):
        names = [f"%s{part}{i}" for i in range(n)]
        body += _sources(t, names, wide)
        if space == "param":
            body += _passed(form.spell(binding), vector(names), part)
        else:
            body.append(f"{form.spell(binding)} [{address}+{16 * part}], {vector(names)};")
    if space in ("shared", "local"):
        body += copied(f"{space}.u32 [%a", "global.u32 [%out", 32)
    variables += [PASS_ON] if space == "param" else []
    yield Probe(name, form, version, target, (*body, "exit;"), tuple(variables), data())


PASS_ON = """.func (.param .align 16 .b8 r[16]) pass (.param .align 16 .b8 p[16]) {
.reg .u32 %x; ld.param.u32 %x, [p+0]; st.param.u32 [r+0], %x; ld.param.u32 %x, [p+4]; st.param.u32 [r+4], %x;
ld.param.u32 %x, [p+8]; st.param.u32 [r+8], %x; ld.param.u32 %x, [p+12]; st.param.u32 [r+12], %x; ret; }"""


def _passed(opcode: str, value: str, part: int) -> list[str]:
    """A value as the parameter of a function, and what comes back into the output."""
    clear = "mov.u32 %t, 0; " + " ".join(f"st.param.u32 [p+{i}], %t;" for i in range(0, 16, 4))
    back = copied("param.u32 [r", f"global.u32 [%out+{16 * part}")
    return [
        "{ .param .align 16 .b8 p[16]; .param .align 16 .b8 r[16];",
        clear,
        f"{opcode} [p], {value}; call (r), pass, (p);",
        *[line.replace(f"[%out+{16 * part}+", f"[%out+{16 * part} + ") for line in back],
        "}",
    ]


def _sources(t: Type, names: list[str], wide: bool) -> list[str]:
    """Registers with values of the input; wide ones hold more than the value."""
    kind = registers(t, wide)
    lines = [f".reg .{kind} {', '.join(names)};"]
    size = 8 if kind.endswith("64") else int(kind[1:]) // 8
    return lines + [f"ld.global.{kind} {r}, [%in+{(size * i) % 16}];" for i, r in enumerate(names)]


# ---------------------------------------------------------------- mov


def move(form: Form, binding: Binding, name: str, version: Version, target: int) -> Iterator[Probe]:
    """Between registers; for untyped bits also vectors of their parts, both ways."""
    t = binding["type"]
    assert isinstance(t, Type)
    opcode, start = form.spell(binding), "mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o;"
    if t.is_predicate:
        body = [".reg .pred %p, %q; ld.global.u32 %t, [%in]; and.b32 %t, %t, 1; setp.ne.u32 %p, %t, 0;"]
        body += [f"{opcode} %q, %p; selp.u32 %t, 1, 0, %q; st.global.u32 [%out], %t;"]
        yield Probe(name, form, version, target, (start, *body, "exit;"), given=data())
        return
    n = count(binding)
    sources, results = [f"%s{i}" for i in range(n)], [f"%d{i}" for i in range(n)]
    body = [*_sources(t, sources, False), f".reg .{registers(t, False)} {', '.join(results)};"]
    body += [f"{opcode} {vector(results)}, {vector(sources)};", *_results(registers(t, False), results)]
    yield Probe(name, form, version, target, (start, *body, "exit;"), given=data())
    if "unpack" in form.defaults:
        for parts in (2, 4):
            if t.bits // parts >= 8:
                yield from _packs(form, t, parts, name, version, target)


def _results(kind: str, names: list[str]) -> list[str]:
    return [f"st.global.{kind} [%out+{8 * i}], {r};" for i, r in enumerate(names)]


def _packs(form: Form, t: Type, parts: int, name: str, version: Version, target: int) -> Iterator[Probe]:
    opcode, start = f"mov.{t.name}", "mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o;"
    part, size = f"b{t.bits // parts}", t.bits // parts // 8
    names = [f"%e{i}" for i in range(parts)]
    whole, pieces = f".reg .{t.name} %w;", f".reg .{part} {', '.join(names)};"
    loads = [f"ld.global.{part} {r}, [%in+{size * i}];" for i, r in enumerate(names)]
    packing = [whole, pieces, *loads, f"{opcode} %w, {vector(names)};", f"st.global.{t.name} [%out], %w;"]
    yield Probe(f"{name} from {parts}", form, version, target, (start, *packing, "exit;"), given=data())
    unpacking = [whole, pieces, f"ld.global.{t.name} %w, [%in];", f"{opcode} {vector(names)}, %w;"]
    unpacking += _results(part, names)
    yield Probe(f"{name} to {parts}", form, version, target, (start, *unpacking, "exit;"), given=data())


# ---------------------------------------------------------------- the others


def other(form: Form, binding: Binding, name: str, version: Version, target: int) -> Iterator[Probe]:
    """Prefetches, which change nothing; conversions of addresses, judged by what is found there."""
    space = state_space(str(binding.get("space") or ""))
    if form.mnemonic.startswith("prefetch"):
        before, address, variables = _cell("local" if space == "local" else "", version)
        body = [".reg .b64 %a; mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o;", *before]
        body += [f"{form.spell(binding)} [{address}];", *copied("global.u32 [%in", "global.u32 [%out")]
        yield Probe(name, form, version, target, (*body, "exit;"), tuple(variables), data())
    else:
        yield _address(form, binding, name, version, target, space)


def _address(
    form: Form, binding: Binding, name: str, version: Version, target: int, space: str
) -> Probe:  # fmt: skip
    """`cvta` there and back with a load by each address; `isspacep` on addresses of all spaces."""
    before, _, variables = _cell(space, version)
    start = [".reg .b64 %a, %g; .reg .pred %p; mul.wide.u32 %o, %lane, 16; add.u64 %in, %in, %o;", *before]
    start += ["mov.u64 %a, %in;"] if space == "global" else ["mov.u64 %a, blob;"] if space == "param" else []
    written, opcode = str(binding["space"]), form.spell(binding)
    if form.mnemonic == "isspacep":
        body = [f"cvta.{written}.u64 %g, %a;"]
        for i, address in enumerate(("%g", "%in" if space != "global" else "%a")):
            body += [f"{opcode} %p, {address}; selp.u32 %t, 1, 0, %p; st.global.u32 [%out+{4 * i}], %t;"]
    elif ".to." in opcode:
        body = [f"cvta.{written}.u64 %g, %a; {opcode} %g, %g;"]
        body += copied(f"{space}.u32 [%g", "global.u32 [%out")
    else:
        body = [f"{opcode} %g, %a;", *copied("u32 [%g", "global.u32 [%out")]
    return Probe(
        name, form, version, target, (*start, *body, "exit;"), tuple(variables), data(),
        parameter=data()[:16] if space == "param" else b"",
    )  # fmt: skip
