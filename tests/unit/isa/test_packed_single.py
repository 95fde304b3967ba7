"""What compute capability 10.0 brought for single precision, against the instructions it is made of, which
were recorded on an H200."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import simt

HEAD = ".version 8.8\n.target sm_100a\n.address_size 64\n"
SPECIAL = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000,
    0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x33800000, 0x4B800001,
]  # fmt: skip
COUNT = 512


def numbers(seed: int) -> NDArray[np.uint32]:
    """Bits of numbers of all sizes, and of special ones."""
    random = np.random.default_rng(seed)
    some = random.integers(0, 1 << 32, COUNT, dtype="u4")
    return np.where(random.random(COUNT) < 0.5, random.choice(np.array(SPECIAL, "u4"), COUNT), some)


def results(engine: str, body: str, *columns: NDArray[np.generic], width: int = 4) -> NDArray[np.uint32]:
    """What `body` leaves in `%out` of %x0, %x1, ... (32 bits), %y0, ... (64) or %h0, ... (16), for each
    thread's words of the columns."""
    loads, parameters = "", ""
    for i, column in enumerate(columns):
        size = column.dtype.itemsize
        name = {2: "h", 4: "x", 8: "y"}[size]
        parameters += f", .param .u64 p{i}"
        place = f"ld.param.u64 %a, [p{i}]; mad.wide.u32 %a, %t, {size}, %a;"
        loads += f"{place} ld.global.b{8 * size} %{name}{i}, [%a];\n"
    ptx = f"""{HEAD}
.visible .entry k(.param .u64 p_out{parameters})
{{
    .reg .b64 %a, %y<4>, %wide; .reg .b32 %t, %u, %x<4>, %out, %r<8>; .reg .b16 %h<4>; .reg .f32 %f<8>;
    mov.u32 %t, %tid.x; mov.u32 %u, %ctaid.x; mad.lo.u32 %t, %u, 128, %t;
    {loads}
    {body}
    ld.param.u64 %a, [p_out]; mad.wide.u32 %a, %t, {width}, %a;
    st.global.b{8 * width} [%a], {"%out" if width == 4 else "%wide"};
    ret;
}}
"""
    device = simt.Device("sm_100", engine=engine, memory="64MiB")
    out = device.zeros(COUNT * width // 4, "u4")
    device.load(ptx)["k"](COUNT // 128, 128, (out, *map(device.array, columns)))
    return out.numpy().copy()


def pair(low: NDArray[np.uint32], high: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return np.stack((low, high), axis=1).reshape(-1).view("u8")


@pytest.mark.parametrize(
    "opcode", ["add", "add.rz.ftz", "sub", "sub.rp", "mul", "mul.rm.ftz", "fma.rn", "fma.rz.ftz", "add.ftz"]
)
def test_pairs(engine: str, opcode: str) -> None:
    count = 3 if opcode.startswith("fma") else 2
    low, high = ([numbers(10 * part + i) for i in range(count)] for part in (1, 2))
    of = ", ".join(f"%x{i}" for i in range(count))
    one = f"mov.b32 %f0, %x0; {opcode}.f32 %f7, {of.replace('x', 'f')}; mov.b32 %out, %f7;"
    one = "".join(f"mov.b32 %f{i}, %x{i};" for i in range(1, count)) + one
    of_pairs = f"{opcode}.f32x2 %wide, {of.replace('x', 'y')};"
    found = results(engine, of_pairs, *map(pair, low, high), width=8).reshape(-1, 2)
    assert np.array_equal(found[:, 0], results(engine, one, *low))
    assert np.array_equal(found[:, 1], results(engine, one, *high))


@pytest.mark.parametrize("modifiers", ["", ".ftz", ".NaN", ".ftz.NaN", ".abs", ".ftz.NaN.abs"])
@pytest.mark.parametrize("opcode", ["min", "max"])
def test_three_numbers(engine: str, opcode: str, modifiers: str) -> None:
    columns = [numbers(i) for i in range(3)]
    given = "".join(f"mov.b32 %f{i}, %x{i};" for i in range(3))
    three = f"{given} {opcode}{modifiers}.f32 %f7, %f0, %f1, %f2; mov.b32 %out, %f7;"
    magnitudes = "".join(f"abs.f32 %f{i}, %f{i};" for i in range(3)) if "abs" in modifiers else ""
    two = f"{opcode}{modifiers.replace('.abs', '')}.f32"
    steps = f"{given} {magnitudes} {two} %f6, %f0, %f1; {two} %f7, %f6, %f2; mov.b32 %out, %f7;"
    assert np.array_equal(results(engine, three, *columns), results(engine, steps, *columns))


@pytest.mark.parametrize("half", ["f16", "bf16"])
@pytest.mark.parametrize("opcode", ["add", "add.rz.sat", "sub.rm", "fma.rn", "fma.rp.sat"])
def test_halves_and_numbers(engine: str, opcode: str, half: str) -> None:
    count = 2 if opcode.startswith("fma") else 1
    halves = [numbers(30 + i).view("u2")[::2].copy() for i in range(count)]
    columns = [*halves, numbers(40)]
    extended = "".join(f"cvt.f32.{half} %f{i}, %h{i};" for i in range(count))
    sources = ", ".join(f"%h{i}" for i in range(count))
    given = f"mov.b32 %f3, %x{count};"
    mixed = f"{given} {opcode}.f32.{half} %f7, {sources}, %f3; mov.b32 %out, %f7;"
    single = f"{given} {extended} {opcode}.f32 %f7, {sources.replace('h', 'f')}, %f3; mov.b32 %out, %f7;"
    assert np.array_equal(results(engine, mixed, *columns), results(engine, single, *columns))


@pytest.mark.parametrize("modifiers", ["", ".abs", ".NaN", ".abs.NaN"])
@pytest.mark.parametrize("opcode", ["min", "max"])
@pytest.mark.parametrize("members", [0xFFFFFFFF, 0x80000001, 0x00FF00F0])
def test_numbers_of_a_warp(engine: str, opcode: str, modifiers: str, members: int) -> None:
    column = numbers(50)
    body = f"""mov.b32 %f0, %x0; mov.u32 %out, 0; .reg .pred %in; mov.u32 %r1, %laneid;
    shr.u32 %r2, {members}, %r1; and.b32 %r2, %r2, 1; setp.eq.u32 %in, %r2, 0; @%in bra OUT;
    redux.sync.{opcode}{modifiers}.f32 %f7, %f0, {members}; mov.b32 %out, %f7; OUT:"""
    found = results(engine, body, column).reshape(-1, 32)
    taking = [lane for lane in range(32) if members >> lane & 1]
    for warp, bits in zip(found, column.reshape(-1, 32)):
        given = bits[taking] & np.uint32(0x7FFFFFFF if "abs" in modifiers else 0xFFFFFFFF)
        assert {int(number) for number in warp[taking]} == {
            best_of(given, opcode == "min", "NaN" in modifiers)
        }
        assert not np.delete(warp, taking).any()


def best_of(given: NDArray[np.uint32], least: bool, nan_wins: bool) -> int:
    """Bits of the least or greatest of some numbers. Without their sign, the bits are in their order."""
    is_nan = given & 0x7FFFFFFF > 0x7F800000
    if is_nan.all() or (is_nan.any() and nan_wins):
        return 0x7FFFFFFF
    numbers = [int(n) for n in given[~is_nan]]
    return (min if least else max)(numbers, key=lambda n: -(n & 0x7FFFFFFF) - 1 if n >> 31 else n)
