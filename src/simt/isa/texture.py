"""Texture look-up (PTX 1.4 section 7.7.6, table 71)."""

from __future__ import annotations

from simt.isa.algebra import Algebra, V
from simt.isa.catalogue import instruction
from simt.isa.memory import elements
from simt.ptx.types import PRED, Type

DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3}
COMPONENTS = 4
"""Of a texel."""


@instruction(
    "tex.geom.v4.dtype.btype d:x4(dtype)[|p], a:texture", geom=" ".join(DIMENSIONS), dtype="u32 s32 f32",
    btype="s32 f32", requires={"|": "7.1 sm_60"}, effects="memory", ref="PTX 1.4 table 71",
)  # fmt: skip
def tex(
    m: Algebra[V], a: V, c: V | tuple[V, ...], geom: str, dtype: Type, btype: Type
) -> tuple[V, V, V, V, V]:  # fmt: skip
    """Reads four components of a texture at a coordinate; coordinates beyond the geometry's are ignored.

    What is bound to the texture says the rest: addressing outside it, filtering between texels with weights
    of 8 bits, whether coordinates are normalised, whether integers are read as numbers from 0 or -1 to 1.
    Components that the texture lacks are 0. `p` tells whether the texels are in memory: always.
    """
    return *m.texture(geom, dtype, btype, a, elements(c)[: DIMENSIONS[geom]]), m.const(PRED, 1)
