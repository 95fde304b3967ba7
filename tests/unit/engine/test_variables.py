"""Small variables of the module that lanes look up at places of their own."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import SLOW_GATHERS, named_cpus
from simt.engine.llvm_kernel import emit
from tests.conftest import shared_device

TYPES = {"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2", "u32": "u4", "f32": "f4", "u64": "u8", "f64": "f8"}
LOOKED_UP = "@simt.table.look"
VBMI = frozenset({"avx512vbmi"})


def text(t: str, count: int, space: str = "const", address: str = "add.u64 %table, %table, %far;") -> str:
    """out[i] = table[index[i]], of a type that is kept in 64 bits, for threads whose index is no 1000."""
    size, wide = int(t[1:]) // 8, "%d" if t == "f64" else "%f" if t == "f32" else "%w"
    out = f"st.global.f{8 * size} [%out], {wide};" if t[0] == "f" else "st.global.u64 [%out], %w;"
    return f""".version 7.0
.target sm_75
.address_size 64
.{space} .align 8 .b8 before[64];
.{space} .align 8 .{t} table[{count}];
.{space} .align 8 .b8 behind[64];
.visible .entry k(.param .u64 index, .param .u64 out)
{{
    .reg .b64 %in, %out, %far, %table, %w; .reg .b32 %t, %i; .reg .f32 %f; .reg .f64 %d; .reg .pred %p;
    mov.u32 %t, %tid.x; ld.param.u64 %in, [index]; ld.param.u64 %out, [out];
    mul.wide.u32 %far, %t, 4; add.u64 %in, %in, %far; ld.global.u32 %i, [%in];
    mul.wide.u32 %far, %t, 8; add.u64 %out, %out, %far;
    setp.eq.u32 %p, %i, 1000; @%p bra END;
    mul.wide.s32 %far, %i, {size}; mov.u64 %table, table; {address}
    ld.{space}.{t} {wide}, [%table];
    {out}
END:
    ret;
}}
"""


VOLATILE = text("u32", 64, "global").replace("ld.global.u32 %w", "ld.volatile.global.u32 %w")


def code(source: str, cpu: str = "x86-64-v4", more: frozenset[str] = VBMI) -> str:
    program = shared_device(engine="jit").load(source).program
    features = named_cpus()[cpu].features | more
    return emit(program, program.functions["k"], BlockShape(64, 1, 1), features, "nounwind")[0]


@pytest.mark.parametrize(
    ("source", "cpu", "more", "there"),
    [
        (text("u32", 64), "x86-64-v4", VBMI, True),
        (text("u32", 64, "global"), "x86-64-v4", VBMI, True),
        (text("u32", 64), "x86-64-v4", frozenset[str](), True),
        (text("u8", 256), "x86-64-v4", VBMI, True),
        (text("u8", 256), "x86-64-v4", frozenset[str](), False),
        (text("u8", 257), "x86-64-v4", VBMI, False),
        (text("f64", 32), "x86-64-v4", VBMI, True),
        (text("f64", 33), "x86-64-v4", VBMI, False),
        (text("f64", 33), "x86-64-v4", VBMI | {SLOW_GATHERS}, True),
        (text("u32", 256), "x86-64-v4", VBMI | {SLOW_GATHERS}, True),
        (text("u32", 257), "x86-64-v4", VBMI | {SLOW_GATHERS}, False),
        (text("u8", 257), "x86-64-v4", VBMI | {SLOW_GATHERS}, False),
        (text("u32", 64), "x86-64-v3", frozenset[str](), False),
        (VOLATILE, "x86-64-v4", VBMI, False),
        (text("u32", 64, address="add.u64 %table, %far, %table;"), "x86-64-v4", VBMI, True),
        (text("u32", 64, address="mad.lo.u64 %table, %far, 1, %table;"), "x86-64-v4", VBMI, True),
        (text("u32", 64, address="xor.b64 %table, %table, %far;"), "x86-64-v4", VBMI, False),
        (text("u32", 64, address="mov.u64 %table, %in;"), "x86-64-v4", VBMI, False),
    ],
)  # fmt: skip
def test_which_tables_are_looked_up_in_registers(
    source: str, cpu: str, more: frozenset[str], there: bool
) -> None:
    assert (LOOKED_UP in code(source, cpu, more)) == there


@pytest.mark.parametrize("space", ["const", "global"])
@pytest.mark.parametrize("t", TYPES)
def test_lanes_find_their_words(t: str, space: str) -> None:
    """With tables that fill one register, or several, or anything in between; some lanes look nothing up."""
    random, kind = np.random.default_rng(1), np.dtype(TYPES[t])
    most = 256 // kind.itemsize if kind.itemsize == 1 else 1024 // kind.itemsize
    counts = {
        1,
        2,
        *(max(1, most * i // 16 + more) for i in (1, 2, 3, 4, 5, 8, 9, 13) for more in (-1, 0, 3)),
        most,
    }
    for count in sorted(counts):
        device = simt.Device("sm_90", engine="jit", workers=1)
        module = device.load(text(t, count, space))
        table = random.integers(0, 256, count * kind.itemsize, "u1").view(kind)
        if kind.kind == "f":
            table = random.random(count).astype(kind)
        module.symbol("table").copy_from(table)
        index = random.integers(0, count, 64).astype("u4")
        index[random.random(64) < 0.2] = 1000
        out = device.zeros(64, "i8")
        module["k"](1, 64, (device.array(index), out))
        found = out.numpy().view(kind if kind.kind == "f" else "i8")[
            :: 8 // kind.itemsize if kind.kind == "f" else 1
        ]
        expected = np.where(index == 1000, 0, table[np.minimum(index, count - 1)].astype(found.dtype))
        np.testing.assert_array_equal(found, expected)


SHARED = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 index, .param .u64 table, .param .u64 out)
{{
    .shared .align 4 .b8 before[4]; .shared .align 4 .b8 own[{bytes}]; .shared .align 4 .b8 behind[8];
    .reg .b64 %in, %out, %far, %table; .reg .b32 %t, %i, %own, %w; .reg .pred %p;
    mov.u32 %t, %tid.x; ld.param.u64 %in, [index]; ld.param.u64 %out, [out]; ld.param.u64 %table, [table];
    mul.wide.u32 %far, %t, 4; add.u64 %in, %in, %far; add.u64 %out, %out, %far; ld.global.u32 %i, [%in];
    mov.u32 %own, own; setp.ge.u32 %p, %t, {count}; @%p bra FILLED;
    mul.wide.u32 %far, %t, {size}; add.u64 %table, %table, %far; ld.global.{t} %w, [%table];
    mad.lo.u32 %own, %t, {size}, %own; st.shared.{t} [%own], %w;
    st.shared.{t} [before], %w; st.shared.{t} [behind], %w;
FILLED:
    bar.sync 0;
    mov.u32 %own, own; mad.lo.u32 %own, %i, {size}, %own; ld.shared.{t} %w, [%own];
    st.global.u32 [%out], %w;
    ret;
}}
"""


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize(("t", "count"), [("u8", 256), ("u8", 17), ("u16", 128), ("u16", 33)])
def test_bytes_and_halves_of_shared_memory(t: str, count: int, engine: str) -> None:
    size = int(t[1:]) // 8
    source = SHARED.format(t=t, size=size, count=count, bytes=count * size)
    assert LOOKED_UP in code(source)
    random = np.random.default_rng(1)
    table, index = random.integers(0, 1 << 8 * size, count, f"u{size}"), random.integers(0, count, 256, "u4")
    device = simt.Device("sm_90", engine=engine, workers=1)
    out = device.zeros(256, "u4")
    device.load(source)["k"](1, 256, (device.array(index), device.array(table), out))
    np.testing.assert_array_equal(out.numpy(), table[index])


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_what_lies_around_a_table_is_found_too(engine: str) -> None:
    """An index out of bounds is no fault while there is a variable."""
    device = simt.Device("sm_90", engine=engine, workers=1)
    module = device.load(text("u32", 16))
    words = np.arange(16, dtype="u4")
    for name, first in (("before", 100), ("table", 200), ("behind", 300)):
        symbol = module.symbol(name)
        symbol.copy_from((words + first).view(symbol.dtype))
    places = {name: module.symbol(name).ptr for name in ("before", "table", "behind")}
    index, out = np.full(32, 3, "i4"), device.zeros(32, "u8")
    index[5] = (places["behind"] + 8 - places["table"]) // 4
    index[7] = (places["before"] + 12 - places["table"]) // 4
    module["k"](1, 32, (device.array(index), out))
    expected = np.full(32, 203)
    expected[5], expected[7] = 302, 103
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
def test_a_wild_index_is_a_fault_of_its_thread(engine: str) -> None:
    device = simt.Device("sm_90", engine=engine, workers=1)
    index = np.zeros(32, "i4")
    index[9] = 1 << 29
    with pytest.raises(simt.MemoryFault, match=r"thread \(9, 0, 0\)"):
        device.load(text("u8", 256))["k"](1, 32, (device.array(index), device.zeros(32, "u8")))


VECTORS = """.version 7.0
.target sm_75
.address_size 64
.global .align 16 .b8 before[64];
.global .align 16 .b8 table[{size}];
.global .align 16 .b8 behind[64];
.visible .entry k(.param .u64 index, .param .u64 out)
{{
    .reg .b64 %in, %out, %far, %table; .reg .b32 %t, %i; .reg .{t} %v<4>; .reg .pred %p;
    mov.u32 %t, %tid.x; ld.param.u64 %in, [index]; ld.param.u64 %out, [out];
    mul.wide.u32 %far, %t, 4; add.u64 %in, %in, %far; ld.global.u32 %i, [%in];
    mul.wide.u32 %far, %t, {bytes}; add.u64 %out, %out, %far;
    setp.eq.u32 %p, %i, 1000; @%p bra END;
    mul.wide.s32 %far, %i, {bytes}; mov.u64 %table, table; add.u64 %table, %table, %far;
    ld.global.nc.v{count}.{t} {{{values}}}, [%table+{shift}];
    st.global.v{count}.{t} [%out], {{{values}}};
END:
    ret;
}}
"""


def vectors(t: str, count: int, size: int, shift: int = 0) -> str:
    values = ", ".join(f"%v{i}" for i in range(count))
    return VECTORS.format(
        t=t, count=count, size=size, bytes=int(t[1:]) // 8 * count, values=values, shift=shift
    )


@pytest.mark.parametrize("cpu", ["x86-64-v4", "host"])
@pytest.mark.parametrize(("t", "count"), [("f64", 2), ("b64", 2), ("f32", 4), ("b32", 2), ("b16", 4)])
@pytest.mark.parametrize("size", [16, 64, 128, 144, 256])
def test_lanes_find_their_vectors(t: str, count: int, size: int, cpu: str) -> None:
    """Such as coefficients of nvcc's sines in double precision. Some lanes get at another variable."""
    try:
        device = simt.Device("sm_90", engine="jit", workers=1, cpu=cpu)
    except simt.SimtError as reason:
        pytest.skip(str(reason))
    nbytes = int(t[1:]) // 8 * count
    module, random = device.load(vectors(t, count, size)), np.random.default_rng(size)
    table, behind = random.integers(0, 255, size, "u1"), random.integers(0, 255, 64, "u1")
    module.symbol("table").copy_from(table)
    module.symbol("behind").copy_from(behind)
    apart = (module.symbol("behind").ptr - module.symbol("table").ptr) // nbytes
    rows = {
        **dict(enumerate(table.reshape(-1, nbytes))),
        apart: behind[:nbytes],
        apart + 1: behind[nbytes : 2 * nbytes],
    }
    for places in ([*range(size // nbytes)], [*rows]):
        index = random.choice(places, 64).astype("u4")
        index[random.random(64) < 0.2] = 1000
        out = device.zeros(64 * nbytes, "u1")
        module["k"](1, 64, (device.array(index), out))
        expected = np.array([rows.get(int(i), np.zeros(nbytes, "u1")) for i in index])
        np.testing.assert_array_equal(out.numpy().reshape(64, nbytes), expected)


def test_vectors_are_looked_up_in_registers() -> None:
    assert LOOKED_UP in code(vectors("f64", 2, 128))
    assert LOOKED_UP in code(vectors("f64", 2, 128, shift=32))


FUNCTIONS = ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_indices_that_approximate_functions_give(function: str) -> None:
    """On an H200 these are arithmetic on tables; what an address and a loop that tries again are made of is
    followed through them."""
    body = f"""cvt.rn.f32.u32 %f, %i; {function}.approx.f32 %f, %f; mul.f32 %f, %f, 0f43800000;
    cvt.rzi.s32.f32 %i, %f; and.b32 %i, %i, 31; mul.wide.u32 %far, %i, 4;
    mov.u64 %table, table; add.u64 %table, %table, %far;
AGAIN:
    cvt.rn.f32.u32 %f, %t; {function}.approx.f32 %f, %f; setp.gt.f32 %p, %f, 0f40000000;
    atom.global.cas.b32 %i, [%out], 0, 7; @%p bra ON; setp.ne.u32 %p, %i, 0; @!%p bra AGAIN;
ON:"""
    source = text("u32", 32, "global", body).replace("mul.wide.s32 %far, %i, 4; mov.u64 %table, table; ", "")
    source = source.replace("table[32];", f"table[32] = {{{', '.join(str(3 * k + 1) for k in range(32))}}};")
    index, found = np.arange(1, 65, dtype="u4"), list[np.ndarray]()
    for engine in ("jit", "interpreter"):
        device = simt.Device("sm_90", engine=engine, approx="hardware", memory="4MiB")
        module, out = device.load(source), device.zeros(64, "u8")
        module["k"](1, 64, (device.array(index), out))
        found.append(out.numpy())
    np.testing.assert_array_equal(*found)
