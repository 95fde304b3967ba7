"""What a case is: inputs, the launches that solve it, the answer by NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Scalar = np.generic
Real = np.dtype[Any]
Function = Callable[..., object]
Jit = Callable[[Function], Function]
Extents = int | tuple[int, ...]
KERNELS = Path(__file__).resolve().parent / "kernels"


@dataclass(frozen=True)
class Launch:
    """One launch: `grid` CTAs of `block` threads, up to three extents each. `args`: names of arrays and
    scalars of the problem, or values. `shared`: bytes of dynamic shared memory."""

    kernel: str
    grid: Extents
    block: Extents
    args: Sequence[str | Scalar]
    shared: int = 0


@dataclass(frozen=True)
class Problem:
    """One case at one size.

    A native function's parameters are `native`'s arrays (all if it is empty) in order, then all `scalars`;
    kernels run as `launches`.
    `expected()`: what some arrays must hold afterwards, from NumPy (nothing in the survey, whose judge is C).
    `sample`: the part of the last axis that is compared. `changed`: arrays put back to their first values
    before every run. `tolerance`: allowed difference relative to the largest expected value. `mismatches`:
    fraction of elements that may differ more, where rounding can turn a decision. `unordered`: arrays whose
    elements may be in any order.
    """

    arrays: dict[str, Array]
    scalars: dict[str, Scalar]
    launches: Sequence[Launch]
    expected: Callable[[], dict[str, Array]] = dict[str, Array]
    changed: Sequence[str] = ()
    native: Sequence[str] = ()
    tolerance: float = 0.0
    mismatches: float = 0.0
    unordered: Sequence[str] = ()
    sample: slice = field(default_factory=lambda: slice(None))

    def wrong(self, answer: dict[str, Array], found: Callable[[str], Array]) -> str:
        """What is wrong with a result, empty if it is right."""
        for name, wanted in answer.items():
            values = found(name)[..., self.sample]
            if name in self.unordered:
                values, wanted = np.sort(values), np.sort(wanted)
            limit = self.tolerance * float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
            with np.errstate(invalid="ignore"):
                difference = np.abs(values.astype("f8") - wanted.astype("f8"))
            difference[values == wanted] = 0  # infinities
            share = float(np.mean(~(difference <= limit)))  # a NaN is wrong
            if share > self.mismatches:
                return f"{share:.2%} of {name} differ by up to {np.nanmax(difference):.3g}"
        return ""


class Program(Protocol):
    """What the virtual GPU needs of an entry: its PTX file, and how approximate functions are computed."""

    @property
    def ptx(self) -> Path: ...

    @property
    def approx(self) -> str | None: ...


@dataclass(frozen=True)
class Entry:
    """A line of the suite: a kernel's folder and the variant of it.

    `real`: its element type. `ftz`: compiled with subnormals flushed (the native versions run as ever: the
    data holds none). `native`: the folder of the C and Numba versions, where another kernel's serve.
    `approx`: how `simt` computes approximate functions, as usual if None.
    """

    name: str
    folder: str
    real: Real = field(default_factory=lambda: np.dtype("f4"))
    ftz: bool = False
    native: str = ""
    approx: str | None = None

    @property
    def case(self) -> ModuleType:
        return importlib.import_module(f"suite.kernels.{self.folder}.case")

    @property
    def native_case(self) -> ModuleType:
        return importlib.import_module(f"suite.kernels.{self.native or self.folder}.case")

    def problem(self, size: str) -> Problem:
        case = self.case
        return case.problem(case.SIZES[size], self.real)

    @property
    def defines(self) -> tuple[str, ...]:
        """Preprocessor options that make this variant."""
        options = {"f4": (), "f8": ("-DREAL=double",), "f2": ("-DHALF",)}
        return options[self.real.str[1:]]

    @property
    def ptx(self) -> Path:
        suffix = {"f4": "", "f8": ".f64", "f2": ".f16"}[self.real.str[1:]] + (".ftz" if self.ftz else "")
        return KERNELS / self.folder / f"kernel{suffix}.ptx"


def random(n: int, seed: int = 0) -> Array:
    """`n` doubles in [0, 1), always the same."""
    return np.random.default_rng(seed + 1).random(n)


def blocks(n: int, size: int = 256) -> int:
    """CTAs of `size` threads that cover `n` threads."""
    return -(-n // size)


def pair(extents: Extents) -> tuple[int, ...]:
    return (extents, 1) if isinstance(extents, int) else extents


def triple(extents: Extents) -> tuple[int, int, int]:
    x, y, z = (*pair(extents), 1)[:3]
    return x, y, z
