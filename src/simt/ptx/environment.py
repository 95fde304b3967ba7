"""What the meaning of an instruction may depend on besides its operands."""

from __future__ import annotations

from typing import Literal

from simt.records import dataclass

Approximation = Literal["hardware", "fast"]


@dataclass(frozen=True, slots=True)
class Environment:
    """What a meaning may depend on besides its operands.

    `version`, `target`: of the module, as (1, 4) and 13. `map_f64_to_f32`: of its `.target`.
    `machine`: the virtual device's compute capability times ten (sm_90: 90). `approx`: how the approximate
    functions are computed, bit for bit as by an H200 ("hardware") or within the manual's bounds ("fast").
    `fmad`: whether products and sums that name no rounding are fused, as ptxas does it.
    """

    version: tuple[int, int] = (9, 0)
    target: int = 75
    machine: int = 90
    map_f64_to_f32: bool = False
    approx: Approximation = "fast"
    fmad: bool = True

    @property
    def has_single_only(self) -> bool:
        """Whether instructions of double precision compute in single precision: where the module allows it
        and the machine is of the time when it was needed. Newer GPUs pass over the option."""
        return self.map_f64_to_f32 and self.machine < 20
