"""Kernel arguments to the bytes of the parameter block.

Rules, in this order (`docs/` and the tests hold them):

- `bytes` (bytearray, memoryview, structures of `ctypes`) of exactly the parameter's size are taken as they
  are;
- device arrays give their address, for integer and untyped parameters of the module's address size;
- NumPy scalars must have the parameter's size; untyped and array parameters take their bits;
- Python and NumPy numbers convert to the declared type if their value fits. Integer parameters take
  negative and unsigned values alike, because compilers declare `int` as `.u32`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from simt.analysis.outline import Parameter
from simt.errors import LaunchError
from simt.machine.launch import Place
from simt.ptx.types import F16, F32, F64, Kind, Type
from simt.records import dataclass

AddressOf: TypeAlias = Callable[[object], "int | None"]
"""The device address that an argument stands for, None if it is no device array. Raises LaunchError."""

_FORMATS = {F16.name: "<e", F32.name: "<f", F64.name: "<d"}
_INTEGERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Letters of `struct` by bytes."""


_FOREIGN = (ctypes.Structure, ctypes.Union, ctypes.Array)


class _Refused(Exception):
    """Why an argument does not fit, without saying which."""


class Packer:
    """Makes parameter blocks for one kernel.

    `size`: bytes of the block. `address_bits`: of the module. `address_of`: knows the device's arrays.
    """

    def __init__(
        self, parameters: Sequence[Parameter], size: int, address_bits: int, address_of: AddressOf
    ) -> None:
        self.parameters = parameters
        self.size = size
        self.address_bits = address_bits
        self.address_of = address_of
        self._struct, self._taken = _layout(parameters, size, address_bits)
        self._structures = tuple([(i, p.size) for i, p in enumerate(parameters) if p.array])
        self.places = tuple([_place(p) for p in parameters])
        """For each parameter, where it is, if others may stand there in place of what `plain` took: arrays in
        place of an array, integers that are not negative in that of one of their type, and so floats."""

    def pack(self, arguments: Sequence[object]) -> bytes:
        """The parameter block. Raises `LaunchError` naming the first bad parameter."""
        return self.plain(arguments) or self._convert_all(arguments)

    def plain(self, arguments: Sequence[object]) -> bytes | None:
        """The block if all arguments are numbers that `Struct.pack` converts just as the rules want it, bytes
        for structures, or arrays; None if one is rarer, or wrong."""
        if len(arguments) != len(self._taken):
            return None
        for index, nbytes in self._structures:  # of other lengths `Struct.pack` would make fitting ones
            argument = arguments[index]
            if not (type(argument) is bytes and len(argument) == nbytes):
                return None
        values: list[object] = []
        try:
            for argument, taken in zip(arguments, self._taken):
                if type(argument) in taken.types:
                    values.append(argument)
                else:  # `Struct.pack` refuses None
                    values.append(self.address_of(argument) if taken.address else None)
            return self._struct.pack(*values)
        except (struct.error, OverflowError, LaunchError):
            return None

    def _convert_all(self, arguments: Sequence[object]) -> bytes:
        if len(arguments) != len(self.parameters):
            raise LaunchError(_wrong_number(self.parameters, arguments))
        block = bytearray(self.size)
        for index, (parameter, argument) in enumerate(zip(self.parameters, arguments)):
            try:
                data = _convert(parameter, argument, self.address_bits, self.address_of)
            except (_Refused, LaunchError) as problem:
                raise LaunchError(f"parameter {index} {describe(parameter)}: {problem}") from None
            block[parameter.offset : parameter.offset + parameter.size] = data
        return bytes(block)


@dataclass(frozen=True, slots=True)
class _Taken:
    """Arguments that `Struct.pack` takes for a parameter: their types, and whether it can be an address."""

    types: frozenset[type]
    address: bool = False


_NOTHING = _Taken(frozenset())
_STRUCTURE = _Taken(frozenset({bytes}))


def _layout(
    parameters: Sequence[Parameter], size: int, address_bits: int
) -> tuple[Struct, tuple[_Taken, ...]]:
    """The block as `struct` sees it; parameters without numbers are never taken."""
    text, at, taken = "<", 0, list[_Taken]()
    for parameter in parameters:
        letter, found = _letter(parameter, address_bits)
        text += f"{parameter.offset - at}x{letter}"
        at = parameter.offset + parameter.size
        taken.append(found)
    return Struct(f"{text}{size - at}x"), tuple(taken)


def _letter(parameter: Parameter, address_bits: int) -> tuple[str, _Taken]:
    t, size = parameter.type, parameter.size
    if parameter.single and not parameter.array:
        return "f4x", _Taken(frozenset({int, float, np.float64}))
    if parameter.array:
        return f"{size}s", _STRUCTURE
    if t.kind == Kind.PACKED or size not in _INTEGERS:
        return f"{size}s", _NOTHING
    if t.is_float:
        known = t.name in _FORMATS
        types = frozenset({int, float, np.dtype(f"f{size}").type}) if known else frozenset[type]()
        return (_FORMATS[t.name][1:], _Taken(types)) if known else (f"{size}s", _NOTHING)
    types = frozenset({int, bool, np.dtype(f"i{size}").type, np.dtype(f"u{size}").type})
    return _INTEGERS[size], _Taken(types, 8 * size == address_bits)


def _place(parameter: Parameter) -> Place | None:
    t = parameter.type
    plain = not parameter.array and (not t.is_float or (t in (F32, F64) and not parameter.single))
    return Place(parameter.offset, 8 * parameter.size, t.is_float) if plain else None


def _wrong_number(parameters: Sequence[Parameter], arguments: Sequence[object]) -> str:
    listed = "; ".join(describe(p) for p in parameters)
    expected = f"{len(parameters)} argument{'s' * (len(parameters) != 1)}"
    return f"the kernel takes {expected}{f' ({listed})' if listed else ''}, {len(arguments)} given"


def describe(parameter: Parameter) -> str:
    """`name (.u32)`, `name (.b8[24])`."""
    count = f"[{parameter.size // parameter.type.bytes}]" if parameter.array else ""
    return f"{parameter.name} ({parameter.type}{count})"


def _convert(parameter: Parameter, argument: Any, address_bits: int, address_of: AddressOf) -> bytes:
    if isinstance(argument, (bytes, bytearray, memoryview)):
        return _sized(parameter, bytes(cast("bytes", argument)), "bytes object")
    if isinstance(argument, _FOREIGN):
        data = bytes(cast("bytes", argument))
        return _sized(parameter, data, "structure of `ctypes`")
    value = _scalar(argument)
    address = address_of(value)
    if address is not None:
        return _pointer(parameter, address, address_bits)
    if isinstance(value, np.generic) and not isinstance(value, (np.str_, np.bytes_)):
        return _numpy_scalar(parameter, cast("np.generic[Any]", value))
    if parameter.array or not isinstance(value, (bool, int, float)):
        raise _Refused(_unsuitable(parameter, argument))
    return _value(parameter, value)


def contents(argument: object) -> bytes | None:
    """The bytes of a structure; None of what is none."""
    if isinstance(argument, bytes):
        return argument
    if isinstance(argument, np.void):
        return argument.tobytes()
    if isinstance(argument, (bytearray, memoryview, *_FOREIGN)):
        return bytes(cast("bytes", argument))
    if isinstance(argument, np.ndarray):
        array = cast("NDArray[Any]", argument)
        return array.tobytes() if array.ndim == 0 and array.dtype.kind == "V" else None
    return None


def _scalar(argument: Any) -> Any:
    """A NumPy array without dimensions as its scalar, anything else as it is."""
    if isinstance(argument, np.ndarray):
        array = cast("NDArray[Any]", argument)
        return array[()] if array.ndim == 0 else array
    return argument


def _sized(parameter: Parameter, data: bytes, what: str) -> bytes:
    if len(data) != parameter.size:
        raise _Refused(f"expected {parameter.size} bytes, a {what} of {len(data)} given")
    return data


def _unsuitable(parameter: Parameter, argument: object) -> str:
    if isinstance(argument, np.ndarray):
        return "a host array was given; copy it to the device with Device.array first"
    expected = f"bytes of size {parameter.size}" if parameter.array else f"a {_wanted(parameter.type)}"
    given = "None" if argument is None else f"{type(argument).__name__} {_short(argument)}"
    return f"expected {expected}, {given} given"


def _wanted(t: Type) -> str:
    return "number" if t.is_float else "device array or integer" if t.bits >= 32 else "integer"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _pointer(parameter: Parameter, address: int, address_bits: int) -> bytes:
    if parameter.array or parameter.type.is_float or parameter.size * 8 != address_bits:
        raise _Refused(f"a device array was given; expected {_expected_value(parameter)}")
    return address.to_bytes(parameter.size, "little")


def _expected_value(parameter: Parameter) -> str:
    return f"bytes of size {parameter.size}" if parameter.array else f"a value of type {parameter.type}"


def _numpy_scalar(parameter: Parameter, argument: np.generic[Any]) -> bytes:
    t = parameter.type
    what = f"NumPy {argument.dtype} scalar"
    data = _sized(parameter, argument.tobytes(), what)
    if parameter.array or _is_untyped(t) or argument.dtype.kind not in "biuf":
        return data
    return _value(parameter, argument.item())


def _is_untyped(t: Type) -> bool:
    """Whether NumPy has no number type for it, so that a scalar can only mean bits."""
    return t.kind in (Kind.BITS, Kind.PACKED) or (t.is_float and t.name not in _FORMATS)


def _value(parameter: Parameter, value: Any) -> bytes:
    return _float(F32, value) + bytes(4) if parameter.single else _number(parameter.type, value)


def _number(t: Type, value: Any) -> bytes:
    return _float(t, value) if t.is_float else _integer(t, value)


def _integer(t: Type, value: Any) -> bytes:
    if isinstance(value, float):
        raise _Refused(f"expected an integer, float {value!r} given")
    low, high = -(1 << (t.bits - 1)), (1 << t.bits) - 1
    if not low <= value <= high:
        raise _Refused(f"{_short(value)} is out of range: expected {low} to {high}")
    return (int(value) & high).to_bytes(t.bytes, "little")


def _float(t: Type, value: Any) -> bytes:
    if t.name not in _FORMATS:
        raise _Refused(f"numbers do not convert to {t}; give its bits as bytes or a NumPy uint{t.bits}")
    try:
        return struct.pack(_FORMATS[t.name], float(value))
    except OverflowError:
        raise _Refused(f"{_short(value)} is too large for {t}") from None
