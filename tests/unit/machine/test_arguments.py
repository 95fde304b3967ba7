"""The conversion of kernel arguments, rule by rule."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest

from simt.analysis.program import Parameter
from simt.errors import LaunchError
from simt.machine.arguments import AddressOf, Packer
from simt.ptx.types import TYPES


class FakeArray:
    ptr = 0x7F00_0000_1000


def address_of(argument: object) -> int | None:
    return argument.ptr if isinstance(argument, FakeArray) else None


def parameter(type_name: str, count: int = 1, offset: int = 0, name: str = "k_param_0") -> Parameter:
    t = TYPES[type_name]
    return Parameter(name, t, offset, t.bytes * count, t.bytes, array=count > 1)


def pack(parameters: list[Parameter], size: int, arguments: Any, bits: int, address_of: AddressOf) -> bytes:
    return Packer(parameters, size, bits, address_of).pack(arguments)


def convert(type_name: str, value: Any, count: int = 1) -> bytes:
    p = parameter(type_name, count)
    return pack([p], p.size, [value], 64, address_of)


@pytest.mark.parametrize(
    ("type_name", "value", "expected"),
    [
        ("u32", 5, b"\x05\0\0\0"),
        ("u32", -1, b"\xff\xff\xff\xff"),
        ("s32", 2**32 - 1, b"\xff\xff\xff\xff"),
        ("u8", True, b"\x01"),
        ("s16", -2, b"\xfe\xff"),
        ("b64", 1 << 63, b"\0\0\0\0\0\0\0\x80"),
        ("u64", FakeArray.ptr, struct.pack("<Q", FakeArray.ptr)),
        ("f32", 2.5, struct.pack("<f", 2.5)),
        ("f32", 3, struct.pack("<f", 3.0)),
        ("f32", math.inf, struct.pack("<f", math.inf)),
        ("f64", 0.1, struct.pack("<d", 0.1)),
        ("f16", 1.5, struct.pack("<e", 1.5)),
        ("u32", np.int32(-7), struct.pack("<i", -7)),
        ("u32", np.uint32(7), struct.pack("<I", 7)),
        ("f32", np.float32(0.1), struct.pack("<f", 0.1)),
        ("f32", np.int32(4), struct.pack("<f", 4.0)),
        ("f64", np.float64(0.1), struct.pack("<d", 0.1)),
        ("b32", np.float32(1.0), struct.pack("<f", 1.0)),
        ("b16", np.float16(1.0), struct.pack("<e", 1.0)),
        ("bf16", np.uint16(0x3F80), b"\x80\x3f"),
        ("u32", np.array(9, np.uint32), b"\x09\0\0\0"),
        ("u8", np.bool_(True), b"\x01"),
        ("u32", b"abcd", b"abcd"),
        ("f64", bytearray(b"12345678"), b"12345678"),
        ("f32", memoryview(b"wxyz"), b"wxyz"),
    ],
)
def test_accepted(type_name: str, value: Any, expected: bytes) -> None:
    assert convert(type_name, value) == expected


def test_device_arrays_give_pointers() -> None:
    for type_name in ("u64", "s64", "b64"):
        assert convert(type_name, FakeArray()) == struct.pack("<Q", FakeArray.ptr)


def test_structures_take_bytes_and_numpy_structures() -> None:
    point = np.array([(1.0, 2.0, 3)], dtype=[("x", "f4"), ("y", "f4"), ("n", "i4")])
    expected = struct.pack("<ffi", 1.0, 2.0, 3)
    assert convert("b8", point[0], 12) == expected
    assert convert("b8", expected, 12) == expected


@pytest.mark.parametrize(
    ("type_name", "count", "value", "message"),
    [
        ("u32", 1, 1 << 32, "4294967296 is out of range: expected -2147483648 to 4294967295"),
        ("s8", 1, -129, "-129 is out of range: expected -128 to 255"),
        ("u32", 1, 2.0, "expected an integer, float 2.0 given"),
        ("f32", 1, 1e300, "1e+300 is too large for .f32"),
        ("f64", 1, 10**400, "1" + "0" * 56 + "... is too large for .f64"),
        ("u32", 1, "5", "expected a device array or integer, str '5' given"),
        ("u64", 1, None, "expected a device array or integer, None given"),
        ("f32", 1, 1j, "expected a number, complex 1j given"),
        ("u32", 1, np.int64(5), "expected 4 bytes, a NumPy int64 scalar of 8 given"),
        ("f32", 1, np.float64(5), "expected 4 bytes, a NumPy float64 scalar of 8 given"),
        ("u32", 1, np.float32(5), "expected an integer, float 5.0 given"),
        ("u32", 1, b"abc", "expected 4 bytes, a bytes object of 3 given"),
        ("bf16", 1, 1.0, "numbers do not convert to .bf16; give its bits as bytes or a NumPy uint16"),
        ("f64", 1, FakeArray(), "a device array was given; expected a value of type .f64"),
        ("u32", 1, FakeArray(), "a device array was given; expected a value of type .u32"),
        ("b8", 12, FakeArray(), "a device array was given; expected bytes of size 12"),
        ("b8", 12, 5, "expected bytes of size 12, int 5 given"),
        ("b8", 12, b"short", "expected 12 bytes, a bytes object of 5 given"),
        ("u64", 1, np.zeros(4), "a host array was given; copy it to the device with Device.array first"),
    ],
)
def test_refused(type_name: str, count: int, value: Any, message: str) -> None:
    declared = f".{type_name}[{count}]" if count > 1 else f".{type_name}"
    with pytest.raises(LaunchError) as problem:
        convert(type_name, value, count)
    assert str(problem.value) == f"parameter 0 k_param_0 ({declared}): {message}"


def test_each_argument_lands_at_its_offset() -> None:
    parameters = [parameter("u8", offset=0), parameter("u64", offset=8), parameter("f32", offset=16)]
    block = pack(parameters, 20, (1, FakeArray(), 1.0), 64, address_of)
    assert block == struct.pack("<B7xQf", 1, FakeArray.ptr, 1.0)


def test_the_message_names_the_right_parameter() -> None:
    parameters = [parameter("u32", name="n"), parameter("f32", offset=4, name="a")]
    with pytest.raises(LaunchError, match=r"^parameter 1 a \(\.f32\): expected a number, str 'x' given$"):
        pack(parameters, 8, (1, "x"), 64, address_of)


def test_wrong_number_of_arguments() -> None:
    parameters = [parameter("u32", name="n"), parameter("b8", 12, 4, name="s")]
    with pytest.raises(LaunchError) as problem:
        pack(parameters, 16, (1,), 64, address_of)
    assert str(problem.value) == "the kernel takes 2 arguments (n (.u32); s (.b8[12])), 1 given"
    with pytest.raises(LaunchError, match=r"^the kernel takes 0 arguments, 1 given$"):
        pack([], 0, (1,), 64, address_of)


def test_pointers_of_32_bit_modules() -> None:
    class Low(FakeArray):
        ptr = 0x1234_5000

    p = parameter("u32")
    assert pack([p], 4, (Low(),), 32, address_of) == struct.pack("<I", 0x1234_5000)
    with pytest.raises(LaunchError, match=r"a device array was given; expected a value of type .u64"):
        pack([parameter("u64")], 8, (Low(),), 32, address_of)
