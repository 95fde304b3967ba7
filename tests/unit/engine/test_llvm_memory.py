"""Loads and stores of every width, in global and shared memory, at addresses of every shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import simt

HEAD = ".version 7.5\n.target sm_75\n.address_size 64\n"
ITEMS = 512  # of an array, in loads and stores of one vector each
SHAPES: dict[str, tuple[str, Callable[..., NDArray[np.int64]]]] = {
    "uniform": ("mov.u32 %i, %cta;", lambda x, y, cta, g: cta + 0 * g),
    "contiguous": ("mov.u32 %i, %g;", lambda x, y, cta, g: g),
    "rows": (
        "mad.lo.u32 %i, %cta, 100, %x; mad.lo.u32 %i, %y, 11, %i;",
        lambda x, y, cta, g: 100 * cta + x + 11 * y,
    ),
    "columns": (
        "mad.lo.u32 %i, %x, 9, %y; mad.lo.u32 %i, %cta, 12, %i;",
        lambda x, y, cta, g: 9 * x + y + 12 * cta,
    ),
    "strided": ("mul.lo.u32 %i, %g, 5;", lambda x, y, cta, g: 5 * g),
    "backward": ("sub.u32 %i, 300, %g;", lambda x, y, cta, g: 300 - g),
    "scattered": ("mul.lo.u32 %i, %g, 37; and.b32 %i, %i, 255;", lambda x, y, cta, g: 37 * g % 256),
    "wrapped": ("sub.u32 %i, %g, 7; add.u32 %i, %i, 7;", lambda x, y, cta, g: g),
    "within rows": ("xor.b32 %i, %g, 3;", lambda x, y, cta, g: g ^ 3),
}
"""The index of a thread's item, as PTX and as NumPy. `g` counts all threads."""

GUARDS: dict[str, tuple[str, Callable[[NDArray[np.int64]], NDArray[np.bool_]]]] = {
    "all": ("", lambda g: g >= 0),
    "some": ("and.b32 %z, %g, 5; setp.ne.u32 %p, %z, 4;", lambda g: (g & 5) != 4),
    "first": ("setp.lt.u32 %p, %g, 45;", lambda g: g < 45),
}
WIDTHS = [(8, 1), (8, 4), (16, 1), (16, 2), (32, 1), (32, 2), (32, 4), (64, 1), (64, 2)]
FEW = [(8, 1), (32, 1), (32, 4), (64, 1)]
CASES = [
    *(
        (*width, space, guard)
        for width in WIDTHS
        for space, guard in (("global", "all"), ("generic", "some"))
    ),
    *((*width, "global", "first") for width in FEW),
    *((*width, "shared", guard) for width, guard in zip(FEW, ("all", "some", "first", "some"))),
]
BLOCKS = [(48, 1), (8, 6), (5, 7)]


WORD = 8


def copy(name: str, nbytes: int, target: str, source: str) -> list[str]:
    """All threads of a CTA copy bytes, between barriers. A source "" is zeros."""
    read = f"add.u64 %b, {source.split()[1]}, %o; ld.{source.split()[0]}.b64 %c, [%b];" if source else ""
    space, base = target.split()
    return [
        "bar.sync 0;", "mov.u32 %z, %t;", "mov.u64 %c, 0;",
        f"{name}: mul.wide.u32 %o, %z, {WORD}; {read}",
        f"add.u64 %b, {base}, %o; st.{space}.b64 [%b], %c;",
        "add.u32 %z, %z, %threads;", f"setp.lt.u32 %q, %z, {nbytes // WORD};", f"@%q bra {name};",
        "bar.sync 0;",
    ]  # fmt: skip


def kernel(bits: int, vector: int, space: str, guard: str, stores: bool) -> str:
    """A kernel that reads or writes one item for each shape; the shapes follow each other in `out`."""
    size = bits // 8 * vector
    registers = ", ".join(f"%v{i}" for i in range(vector))
    value = f"{{{registers}}}" if vector > 1 else registers
    mode = f"{f'.v{vector}' if vector > 1 else ''}.b{bits}"
    on = "@%p " if GUARDS[guard][0] else ""
    local = space == "shared"
    far = "%box" if local else "%out" if stores else "%in"
    specials = {"x": "tid.x", "y": "tid.y", "cta": "ctaid.x", "w": "ntid.x", "h": "ntid.y"}
    lines = [
        ".reg .pred %p, %q;", f".reg .b{max(bits, 16)} {registers};",
        ".reg .b32 %x, %y, %cta, %w, %h, %threads, %t, %g, %z, %i;",
        ".reg .b64 %in, %out, %box, %a, %b, %c, %o;", f".shared .align 16 .b8 box[{ITEMS * size}];",
        "ld.param.u64 %in, [in];", "ld.param.u64 %out, [out];", "mov.u64 %box, box;",
        *(f"mov.u32 %{name}, %{source};" for name, source in specials.items()),
        "mad.lo.u32 %t, %y, %w, %x;", "mul.lo.u32 %threads, %w, %h;", "mad.lo.u32 %g, %cta, %threads, %t;",
        *(copy("FILL", ITEMS * size, "shared %box", "global %in") if local and not stores else ()),
        GUARDS[guard][0],
    ]  # fmt: skip
    for number, (index, _) in enumerate(SHAPES.values()):
        near = [f"mul.wide.u32 %o, %g, {size};", f"add.u64 %b, {'%in' if stores else '%out'}, %o;"]
        place = [index, f"mul.wide.u32 %o, %i, {size};", f"add.u64 %a, {far}, %o;"]
        clear = [f"mov.b{max(bits, 16)} %v{i}, 0;" for i in range(vector)]
        if stores:
            lines += copy(f"CLEAR{number}", ITEMS * size, "shared %box", "") if local else []
            lines += [*near, f"ld.global{mode} {value}, [%b];", *place, GUARDS[guard][0]]
            lines += [f"{on}st.{space}{mode} [%a], {value};"]
            lines += copy(f"KEEP{number}", ITEMS * size, "global %out", "shared %box") if local else []
        else:
            lines += [*clear, *place, f"{on}ld.{space}{mode} {value}, [%a];"]
            lines += [*near, f"st.global{mode} [%b], {value};"]
        lines += [f"add.u64 %out, %out, {ITEMS * size};"]
    body = "\n    ".join(line for line in lines if line).replace(".generic", "")
    return f"{HEAD}.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n    {body}\n    ret;\n}}\n"


def threads(ctas: int, block: tuple[int, int]) -> tuple[NDArray[np.int64], ...]:
    """x, y, cta and number of all threads."""
    g = np.arange(ctas * block[0] * block[1])
    cta, t = np.divmod(g, block[0] * block[1])
    return t % block[0], t // block[0], cta, g


def items(bits: int, vector: int, count: int) -> NDArray[np.unsignedinteger]:
    return np.random.default_rng(bits + vector).integers(1, 2**bits, (count, vector), dtype=f"u{bits // 8}")


@pytest.mark.share(3)
@pytest.mark.parametrize(("bits", "vector", "space", "guard"), CASES)
def test_loads(device: simt.Device, bits: int, vector: int, space: str, guard: str) -> None:
    block = BLOCKS[(bits // 8 + vector) % 3]
    source = items(bits, vector, ITEMS)
    out = device.zeros((len(SHAPES), *source.shape), source.dtype)
    device.load(kernel(bits, vector, space, guard, stores=False))["k"](2, block, (device.array(source), out))
    x, y, cta, g = threads(2, block)
    on = GUARDS[guard][1](g)[:, None]
    for found, (name, (_, index)) in zip(out.numpy(), SHAPES.items()):
        expected = np.where(on, source[index(x, y, cta, g)], 0)
        np.testing.assert_array_equal(found[: len(g)], expected, name)
        assert not found[len(g) :].any(), name


@pytest.mark.share(2)
@pytest.mark.parametrize(("bits", "vector", "space", "guard"), CASES)
def test_stores(device: simt.Device, bits: int, vector: int, space: str, guard: str) -> None:
    """Where several threads write one item, it is that of one of them."""
    ctas = 1 if space == "shared" else 2
    block = BLOCKS[(bits // 8 + vector + 1) % 3]
    x, y, cta, g = threads(ctas, block)
    source = items(bits, vector, len(g))
    out = device.zeros((len(SHAPES), ITEMS, vector), source.dtype)
    device.load(kernel(bits, vector, space, guard, stores=True))["k"](
        ctas, block, (device.array(source), out)
    )
    on = GUARDS[guard][1](g)
    for found, (name, (_, index)) in zip(out.numpy(), SHAPES.items()):
        places = index(x, y, cta, g)
        written = np.zeros(ITEMS, bool)
        written[places[on]] = True
        assert not found[~written].any(), name
        for place in np.flatnonzero(written):
            assert (source[on & (places == place)] == found[place]).all(1).any(), (name, place)


EDGE = """.visible .entry k(.param .u64 start, .param .u64 out, .param .u32 from, .param .u32 to)
{
    .reg .pred %p, %q;
    .reg .b32 %t, %a, %b, %v;
    .reg .b64 %s, %o, %at;
    ld.param.u64 %s, [start];
    ld.param.u64 %o, [out];
    ld.param.u32 %a, [from];
    ld.param.u32 %b, [to];
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, %a;
    setp.lt.and.u32 %p, %t, %b, %p;
    mul.wide.u32 %at, %t, 4;
    add.u64 %o, %o, %at;
    SCALE
    add.u64 %s, %s, %at;
    mov.u32 %v, 7;
    @%p ACCESS
    st.global.u32 [%o], %v;
    ret;
}
"""
SCALES = {
    "contiguous": (4, ""),
    "strided": (12, "mul.wide.u32 %at, %t, 12;"),
    "uniform": (0, "mov.u64 %at, 0;"),
}
ACCESSES = {"load": "ld.global.u32 %v, [%s];", "store": "st.global.u32 [%s], %v;"}


@pytest.mark.share(2)
@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("first", "last"), [(0, 32), (0, 1), (3, 29), (31, 32), (0, 0)])
def test_ends_of_the_arena(device: simt.Device, scale: str, access: str, first: int, last: int) -> None:
    """Active lanes may use the arena to its last byte; the first one beyond it is named with its address."""
    step, code = SCALES[scale]
    text = HEAD + EDGE.replace("SCALE", code).replace("ACCESS", ACCESSES[access])
    module, out = device.load(text), device.zeros(32, "u4")
    module["k"](1, 32, (device.memory.base, out, 0, 0))  # takes what memory its threads need
    base, limit = device.memory.base, device.memory.limit
    addresses = {lane: step * lane for lane in range(first, last)}
    inside = limit - 4 - max(addresses.values(), default=0)
    module["k"](1, 32, (inside, out, first, last))
    assert limit == device.memory.limit, "the launch itself must not move the end"
    if not addresses:
        module["k"](1, 32, (base - 4096, out, first, last))
        return
    for start in (inside + 4, base - 4 - step * first):
        bad = [lane for lane, at in addresses.items() if not base <= start + at <= limit - 4]
        with pytest.raises(simt.MemoryFault) as fault:
            module["k"](1, 32, (start, out, first, last))
        assert fault.value.address == start + addresses[bad[0]]
        assert fault.value.site.thread == (bad[0], 0, 0)


@pytest.mark.share(2)
@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("first", [0, 5])
def test_misaligned(device: simt.Device, scale: str, access: str, first: int) -> None:
    step, code = SCALES[scale]
    text = HEAD + EDGE.replace("SCALE", code).replace("ACCESS", ACCESSES[access])
    array, out = device.zeros(400, "u4"), device.zeros(32, "u4")
    with pytest.raises(simt.MemoryFault, match="misaligned") as fault:
        device.load(text)["k"](1, 32, (array.ptr + 2, out, first, 32))
    assert fault.value.address == array.ptr + 2 + step * first
    assert fault.value.site.thread == (first, 0, 0)
