"""What a case of the survey is: a CUDA kernel, C that does the same work, and a problem for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from suite.problem import Array, Problem
from suite.versions import BUILD, compile_c

from survey.build_ptx import ARCH, KERNELS, build

HERE = Path(__file__).resolve().parent
Make = Callable[[int], Problem]


@dataclass(frozen=True)
class Case:
    """`source`: the name of its files. `make`: the problem of a size, of which `full` and `quick` are two.
    `arch`: for what its PTX is, which is in `folder`."""

    name: str
    source: str
    full: int
    quick: int
    make: Make
    approx: str | None = None
    arch: int = ARCH
    folder: Path = KERNELS

    @property
    def ptx(self) -> Path:
        return self.folder / f"{self.source}.ptx"

    def made_for(self, arch: int) -> Case:
        """The same for another architecture, with PTX that nvcc makes now."""
        if arch == self.arch:
            return self
        made = replace(self, arch=arch, folder=BUILD / f"survey.{arch}")
        made.folder.mkdir(parents=True, exist_ok=True)
        build(KERNELS / f"{self.source}.cu", made.ptx, arch)
        return made

    def problem(self, size: str) -> Problem:
        return self.make(self.full if size == "full" else self.quick)

    def compiled(self) -> Any:
        """The C function. Raises `LeftOut`."""
        return compile_c(KERNELS / f"{self.source}.c", BUILD / f"survey.{self.name}.so", f"-I{HERE}")


CASES: dict[str, Case] = {}


def case(full: int, quick: int, source: str = "") -> Callable[[Make], Make]:
    """Puts a function that makes problems among the cases, by its name."""

    def register(make: Make) -> Make:
        name = make.__name__
        CASES[name] = Case(name, source or name, full, quick, make)
        return make

    return register


def reals(*shape: int, kind: str = "f4") -> Array:
    """Numbers in [0, 1), always the same for a shape."""
    return np.random.default_rng(sum(shape)).random(shape).astype(kind)


def integers(low: int, high: int, *shape: int, kind: str = "i4") -> Array:
    """Numbers from `low` to `high - 1`, always the same for a shape."""
    return np.random.default_rng(sum(shape) + high).integers(low, high, shape).astype(kind)


def zeros(*shape: int, kind: str = "f4") -> Array:
    return np.zeros(shape, kind)


def settled(values: Array) -> Array:
    """Multiples of 2^-36, the same on all machines: libraries, and Python's `sum`, differ in last bits."""
    return np.rint(values * 2.0**36) * 2.0**-36


def ints(names: str, *values: int) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.int32(value) for name, value in zip(names.split(), values, strict=True)}


def floats(names: str, *values: float) -> dict[str, np.generic]:
    """Parameters by their names."""
    return {name: np.float32(value) for name, value in zip(names.split(), values, strict=True)}
