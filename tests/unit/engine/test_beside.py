"""Atomic operations at consecutive places, against the same done one thread after the other."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simt
from simt.analysis.shape import BlockShape
from simt.engine.host import host_features
from simt.engine.llvm_kernel import emit
from simt.ptx.types import TYPES
from tests.conftest import kept_for_each_way, shared_device
from tests.unit.engine.arrays import words_at_the_end
from tests.unit.engine.test_atomics import CASES, HEAD, MODELS, number

GUARDS = {"all": lambda _: True, "some": lambda t: (t & 5) != 4}
PLACES = 40
BLOCKS = [(32, 1), (27, 1), (40, 1), (16, 2), (8, 4), (8, 3)]
"""Rows of the last three begin at one place."""


def kernel(op: str, type_: str, space: str, guard: str = "all", offset: int = 0) -> str:
    """Thread `x` of each row changes place `x`; CTAs have one warp, or one row."""
    size, b = TYPES[type_].bytes, TYPES[type_].bits
    third = ", %c" if op == "cas" else ""
    where = "%box" if space == "shared" else "%words"
    some = "and.b32 %x, %n, 5; setp.ne.u32 %p, %x, 4;" if guard == "some" else "setp.ge.u32 %p, %n, 0;"
    return f"""{HEAD}
.visible .entry k(.param .u64 words, .param .u64 numbers, .param .u64 olds)
{{
    .reg .pred %p; .reg .b32 %t, %n, %x, %y; .reg .b{b} %b, %c, %old;
    .reg .b64 %words, %numbers, %olds, %box, %a, %o, %w;
    .shared .align 8 .b8 box[{PLACES * size}];
    ld.param.u64 %words, [words]; ld.param.u64 %numbers, [numbers]; ld.param.u64 %olds, [olds];
    mov.u64 %box, box; mov.u32 %t, %tid.x;
    mov.u32 %y, %tid.y; mov.u32 %x, %ntid.x; mad.lo.u32 %n, %y, %x, %t;
    mul.wide.u32 %o, %n, {size}; add.u64 %numbers, %numbers, %o; add.u64 %olds, %olds, %o;
    mul.wide.u32 %o, %t, {size}; add.u64 %w, %words, %o;
    ld.global.b{b} %old, [%w]; add.u64 %a, %box, %o; st.shared.b{b} [%a], %old;
    ld.global.b{b} %b, [%numbers]; ld.global.b{b} %c, [%numbers+{size}];
    bar.sync 0;
    add.u64 %a, {where}, %o;
    {some}
    @%p atom.{space}.{op}.{type_} %old, [%a+{offset}], %b{third};
    @%p st.global.b{b} [%olds], %old;
    bar.sync 0;
    {f"add.u64 %a, %box, %o; ld.shared.b{b} %old, [%a]; st.global.b{b} [%w], %old;" * (space == "shared")}
    ret;
}}
"""


@kept_for_each_way
def device_with(workers: int) -> simt.Device:
    return simt.Device("sm_90", memory="64MiB", workers=workers, timeout=20)


@pytest.fixture(params=["interpreter", "one thread", "threads"])
def any_device(request: pytest.FixtureRequest) -> simt.Device:
    if request.param == "interpreter":
        return shared_device("interpreter")
    return device_with(1 if request.param == "one thread" else 2)


@pytest.mark.share(10)
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("op", "type_"), CASES)
def test_integers(
    any_device: simt.Device, op: str, type_: str, space: str, block: tuple[int, int], guard: str
) -> None:
    bits, threads = TYPES[type_].bits, block[0] * block[1]
    words = [number(t, bits) for t in range(7, 7 + PLACES)]
    numbers = [number(t, bits) for t in range(threads + 1)]

    def signed(n: int) -> int:
        return n - 2**bits if TYPES[type_].is_signed and n >> (bits - 1) else n

    dtype = f"u{bits // 8}"
    memory, olds = any_device.array(np.array(words, dtype)), any_device.zeros(threads, dtype)
    k = any_device.load(kernel(op, type_, space, guard))["k"]
    k(1, block, (memory, any_device.array(np.array(numbers, dtype)), olds))
    seen = [0] * threads
    for t in filter(GUARDS[guard], range(threads)):
        at = t % block[0]
        seen[t] = words[at]
        words[at] = MODELS[op](*map(signed, (words[at], numbers[t], numbers[t + 1]))) % 2**bits
    assert memory.numpy().tolist() == words
    assert olds.numpy().tolist() == seen


LEAST = 2.0**-126
FLOATS = [
    1.5,
    0.1,
    -0.3,
    3e7,
    -1e-3,
    0.0,
    -0.0,
    LEAST,
    2.0**-140,
    -(2.0**-140),
    np.inf,
    -np.inf,
    np.nan,
    -LEAST,
]


def flushed(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < np.float32(LEAST), np.copysign(np.float32(0), x), x)


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("type_", ["f32", "f64"])
@pytest.mark.parametrize("block", [(32, 1), (27, 1), (16, 2)], ids=str)
def test_sums_of_floats(any_device: simt.Device, space: str, type_: str, block: tuple[int, int]) -> None:
    """Global memory's unit flushes f32; the shared one does not (H200)."""
    random, dtype, threads = np.random.default_rng(3), f"f{TYPES[type_].bytes}", block[0] * block[1]
    flush = flushed if (space, type_) == ("global", "f32") else lambda x: x
    k = any_device.load(kernel("add", type_, space))["k"]
    for _ in range(6):
        words, numbers = (random.choice(FLOATS, n).astype(dtype) for n in (PLACES, threads + 1))
        memory, olds = any_device.array(words), any_device.zeros(threads, dtype)
        k(1, block, (memory, any_device.array(numbers), olds))
        seen = []
        with np.errstate(all="ignore"):
            for row in numbers[:threads].reshape(block[::-1]):
                seen += words[: block[0]].tolist()
                words[: block[0]] = flush(flush(words[: block[0]]) + flush(row))
        assert np.array_equal(memory.numpy(), words, equal_nan=True)
        assert np.array_equal(np.signbit(memory.numpy()[words == 0]), np.signbit(words[words == 0]))
        assert np.array_equal(olds.numpy(), np.array(seen, dtype), equal_nan=True)


@pytest.mark.parametrize(("threads", "past"), [(32, 13), (27, 20), (32, 40)])
def test_places_beyond_the_end(threads: int, past: int) -> None:
    device = simt.Device("sm_90", memory="64MiB", workers=1, timeout=20)
    last = words_at_the_end(device, np.uint32(7))
    k = device.load(kernel("add", "u32", "global", offset=4 * past))["k"]
    with pytest.raises(simt.MemoryFault) as error:
        k(1, threads, (last.ptr + last.nbytes - 4 * PLACES, last, last.ptr + 4096))
    assert error.value.site.thread == (PLACES - past, 0, 0)
    assert error.value.address == last.ptr + last.nbytes


def test_misaligned_places(any_device: simt.Device) -> None:
    k = any_device.load(kernel("add", "u32", "global", offset=2))["k"]
    words = any_device.zeros(64, "u4")
    with pytest.raises(simt.MemoryFault) as error:
        k(1, 32, (words, words, any_device.zeros(64, "u4")))
    assert error.value.site.thread == (0, 0, 0)


def code(text: str, block: BlockShape) -> str:
    program = shared_device("jit").load(text).program
    return emit(program, program.functions["k"], block, host_features(), "nounwind")[0]


@pytest.mark.parametrize(
    ("block", "width", "ways"), [(BlockShape(64, 1, 1), 32, 1), (BlockShape(16, 2, 1), 16, 2)]
)
def test_one_update_of_vectors(block: BlockShape, width: int, ways: int) -> None:
    """Where all lanes run, and where some do, by masks. In one row a comparison with zero lets all run."""
    added, each = re.compile(rf"fadd <{width} x float>"), 32 // width
    assert len(added.findall(code(kernel("add", "f32", "shared", "some"), block))) == 2 * each
    assert len(added.findall(code(kernel("add", "f32", "shared"), block))) == ways * each


@pytest.mark.parametrize(("space", "start"), [("global", "%words"), ("shared", "%box")])
def test_any_index_is_not_expected_to_be_consecutive(space: str, start: str) -> None:
    """Nor is one of shared memory that begins where a parameter says."""
    text = kernel("add", "u32", space).replace("mul.wide.u32 %o, %t, 4; add.u64 %w", "add.u64 %w")
    text = text.replace("mov.u64 %box, box;", "ld.param.u64 %box, [olds];")
    text = text.replace(f"add.u64 %a, {start}, %o;\n", f"mul.wide.u32 %o, %b, 4; add.u64 %a, {start}, %o;\n")
    emitted = code(text, BlockShape(32, 1, 1)).partition("simt.updates")[0]
    assert not re.search(r"add <32 x i32> %\S+, %", emitted)
