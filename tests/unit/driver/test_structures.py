"""Structures as arguments: of NumPy, `ctypes`, or bytes, which may change from launch to launch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

import simt
from tests.conftest import shared_device

KERNEL = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .align 4 .b8 pair[8], .param .u64 out, .param .align 4 .b8 one[4])
{
    .reg .b32 %a, %b, %c; .reg .b64 %out;
    ld.param.u64 %out, [out]; ld.param.u32 %a, [pair]; ld.param.u32 %b, [pair+4]; ld.param.u32 %c, [one];
    mad.lo.u32 %a, %a, 100, %b; mad.lo.u32 %a, %a, 100, %c; st.global.u32 [%out], %a; ret;
}
"""
PAIR = np.dtype([("n", "i4"), ("k", "i4")])


class Pair(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int32), ("k", ctypes.c_int32)]


TABLE, FLAT, FOREIGN = np.zeros(3, PAIR), np.array((7, 7), PAIR), Pair(0, 0)
VIEW = TABLE[1]


def of_table(n: int, k: int) -> object:
    TABLE[1] = (n, k)
    return VIEW


def without_dimensions(n: int, k: int) -> object:
    FLAT[()] = (n, k)
    return FLAT


def new_scalar(n: int, k: int) -> object:
    return np.array([(n, k)], PAIR)[0]


def foreign(n: int, k: int) -> object:
    FOREIGN.n, FOREIGN.k = n, k
    return FOREIGN


def plain_bytes(n: int, k: int) -> object:
    return np.array([n, k], "i4").tobytes()


@pytest.mark.parametrize("engine", ["jit", "interpreter"])
@pytest.mark.parametrize("way", [of_table, without_dimensions, new_scalar, foreign, plain_bytes])
def test_what_changes_between_launches_is_seen(way: Callable[[int, int], object], engine: str) -> None:
    """Also after many launches, when nothing else is looked at."""
    device, one = shared_device(engine), bytearray(4)
    kernel, out = device.load(KERNEL)["k"], device.zeros(1, "u4")
    for turn in range(30):
        n, k, c = turn // 10 % 3 + 1, turn // 5 % 4, turn // 7
        one[0] = c
        for args in ((way(n, k), out, one), [way(n, k), out, one]):
            kernel(1, 1, args)
            assert out.numpy()[0] == (100 * n + k) * 100 + c


def test_structures_of_another_size_are_refused() -> None:
    device = shared_device("jit")
    kernel, out = device.load(KERNEL)["k"], device.zeros(1, "u4")
    good = bytes(8), out, bytes(4)
    for _ in range(5):
        kernel(1, 1, good)
    for pair, given in (
        (bytes(7), "a bytes object of 7 given"),
        (bytes(9), "a bytes object of 9 given"),
        (np.zeros(1, [("n", "i4")])[0], "4 given"),
        (Pair.from_buffer_copy(bytes(8)).n, "int 0 given"),
        ((ctypes.c_int32 * 3)(), "of 12 given"),
        (np.zeros(8, "u1"), "a host array was given"),
        (None, "None given"),
    ):
        with pytest.raises(simt.LaunchError, match=r"parameter 0 pair \(\.b8\[8\]\)") as refused:
            kernel(1, 1, (pair, out, bytes(4)))
        assert given in str(refused.value)
    with pytest.raises(simt.LaunchError, match="3 arguments"):
        kernel(1, 1, (bytes(8), out))
    kernel(1, 1, good)
    assert out.numpy()[0] == 0
