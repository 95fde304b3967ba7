"""The shape of a value: how its lanes differ; and the shape of a CTA, on which that depends."""

from __future__ import annotations

from enum import IntEnum

from simt.records import dataclass

WARP = 32


class Hold(IntEnum):
    """How sure the stride of a shape is, and so how the value is held."""

    EXACT = 0
    """Always right: held as base and stride."""
    GUARDED = 1
    """Right unless an extension to more bits wrapped within the warp, or a minimum or maximum changed a lane:
    held as base and stride with a flag, and in full for the case that the flag says no."""
    LIKELY = 2
    """Lanes were brought together from different definitions: held in full."""


@dataclass(frozen=True, slots=True)
class Shape:
    """lane value = base(lane's segment) + stride * (lane within its segment).

    `width`: number of bases: 1 (one segment), a divisor of 32, or 32 (every lane has its own value;
    stride is then 0). `const`: the value, where it is a known integer.
    """

    width: int
    stride: int = 0
    hold: Hold = Hold.EXACT
    const: int | None = None

    @property
    def exact(self) -> bool:
        return self.hold == Hold.EXACT

    @property
    def is_uniform(self) -> bool:
        return self.exact and self.width == 1 and self.stride == 0

    @property
    def is_affine(self) -> bool:
        """Held as base and stride (uniform values included)."""
        return self.exact and self.width < WARP

    @property
    def is_guarded(self) -> bool:
        """Held as base and stride with a flag that says whether they are right."""
        return self.hold == Hold.GUARDED and self.width < WARP


UNIFORM = Shape(1)
VARYING = Shape(WARP)


@dataclass(frozen=True, slots=True)
class BlockShape:
    """The shape of a CTA, for which code is specialised."""

    x: int
    y: int
    z: int

    @property
    def threads(self) -> int:
        return self.x * self.y * self.z

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP)

    @property
    def linear(self) -> bool:
        return self.y == 1 and self.z == 1

    @property
    def segments(self) -> int:
        """Rows of the CTA in one warp, where a warp holds several whole rows; else 1."""
        return 1 if self.linear or self.x == 1 or WARP % self.x != 0 else WARP // self.x

    @property
    def rows_fit(self) -> bool:
        """Whether tid.x grows by 1 within every segment."""
        return self.linear or self.x % WARP == 0 or self.segments > 1

    @property
    def lane(self) -> Shape:
        return Shape(self.segments, 1)

    def special(self, name: str, component: str) -> Shape:
        """Shape of a special register; everything that is not per thread is uniform in a warp."""
        if name == "tid":
            return self._tid(component)
        if name == "laneid":
            return self.lane
        return VARYING if name.startswith("lanemask") else UNIFORM

    def _tid(self, component: str) -> Shape:
        if component == "w" or (self.linear and component != "x"):
            return Shape(1, const=0)
        if not self.rows_fit:
            return VARYING
        return Shape(1, 1) if component == "x" else Shape(self.segments)
