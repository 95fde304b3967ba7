"""NumPy's arithmetic in another rounding mode: the processor's own, set for the time of one operation.

NumPy's loops are compiled C without a rounding mode of their own, so that they round as the thread's
floating-point environment says. Where that cannot be set, or a check finds that some loop does not follow,
`engine.exact` does it."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.isa.algebra import Rounding
from simt.records import dataclass

Array = NDArray[Any]

_X86 = {"rn": 0, "rm": 0x400, "rp": 0x800, "rz": 0xC00}
_ARM = {"rn": 0, "rp": 0x400000, "rm": 0x800000, "rz": 0xC00000}
MODES: dict[str, dict[str, int]] = {"x86_64": _X86, "aarch64": _ARM, "arm64": _ARM}
"""What `fesetround` takes, by machine."""

ROUNDINGS: tuple[Rounding, ...] = ("rm", "rp", "rz", "rn")
Sample = tuple[Callable[..., Array], list[Array], dict[str, Any]]
"""An operation, its operands, and its results by rounding."""

_LENGTH = 67  # some vectors and a rest


@dataclass(frozen=True)
class Environment:
    """How to set the thread's rounding mode: the C function, and what it takes."""

    set_mode: Callable[[int], int]
    modes: Mapping[str, int]

    def apply(self, rounding: Rounding, operation: Callable[..., Array], *operands: Any) -> Array:
        self.set_mode(self.modes[rounding])
        try:
            return operation(*operands)
        finally:
            self.set_mode(self.modes["rn"])

    def works(self) -> bool:
        """Whether inexact results go where they should: of sums, differences, products, quotients, roots
        and conversions to f32 and f64, in whole vectors and in what remains."""
        for operation, operands, wanted in _samples():
            columns = [np.repeat(x, _LENGTH) for x in operands]
            for rounding in ROUNDINGS:
                if not (self.apply(rounding, operation, *columns) == wanted[rounding]).all():
                    return False
        return True


@cache
def environment() -> Environment | None:
    """That of this machine; None if it has none, or not one that works."""
    modes = MODES.get(platform.machine())
    try:
        found = Environment(ctypes.CDLL(None).fesetround, modes) if modes else None
    except (AttributeError, OSError, TypeError):
        return None
    with np.errstate(all="ignore"):
        return found if found and found.works() else None


def available() -> bool:
    """Whether NumPy rounds as it is told."""
    return environment() is not None


def apply(rounding: Rounding, operation: Callable[..., Array], *operands: Any) -> Array:
    """`operation(*operands)` in a rounding mode. Other modes than to nearest must be `available`."""
    if rounding == "rn":
        return operation(*operands)
    here = environment()
    assert here is not None
    return here.apply(rounding, operation, *operands)


def _samples() -> Iterator[Sample]:
    for f in (np.float32, np.float64):
        for sign in (1, -1):
            yield from _arithmetic(f, sign)
            yield from _from_integers(f, sign)
    for sign in (1, -1):
        wide = np.array([sign * (1 + 2.0**-30)])
        yield _cast(np.float32), [wide], _between(sign, sign, sign * (1 + 2.0**-23), sign)


def _arithmetic(f: Any, sign: int) -> Iterator[Sample]:
    e = float(np.finfo(f).eps)  # the step above 1
    one, little, long, product = (np.array([x], f) for x in (sign, sign * e / 512, 1 + e, sign * (1 + 2 * e)))
    yield np.add, [one, little], _between(sign, sign, sign * (1 + e), sign)
    yield np.subtract, [one, little], _between(sign, sign * (1 - e / 2), sign, sign)
    # (1 + e)^2 is a little more than 1 + 2e
    yield np.multiply, [long, long * one], _between(sign, sign * (1 + 2 * e), sign * (1 + 3 * e), product)
    # (1 + 2e) / (1 + e) and the root of 1 + 2e are a little less than 1 + e
    yield np.divide, [product, long], _between(sign, sign, sign * (1 + e), sign * (1 + e))
    yield np.sqrt, [np.abs(product)], _between(1, 1, 1 + e, 1 + e)


def _from_integers(f: Any, sign: int) -> Iterator[Sample]:
    digits = int(np.finfo(f).nmant) + 2
    nearest, next_one = sign * 2**digits, sign * (2**digits + 4)
    for dtype in ("i8", "u8") if sign > 0 else ("i8",):
        whole = np.array([sign * (2**digits + 1)], dtype)
        yield _cast(f), [whole], _between(sign, nearest, next_one, nearest)


def _cast(f: Any) -> Callable[[Array], Array]:
    return lambda a: a.astype(f)


def _between(sign: int, inner: Any, outer: Any, nearest: Any) -> dict[str, Any]:
    """By rounding, the result that lies between two magnitudes."""
    down, up = (inner, outer) if sign > 0 else (outer, inner)
    return {"rn": nearest, "rz": inner, "rm": down, "rp": up}
