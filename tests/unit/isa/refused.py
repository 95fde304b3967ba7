"""What the text of PTX 1.4 allows and NVIDIA's assembler refuses, in the arithmetic chapters."""

from __future__ import annotations

UNIMPLEMENTED = (
    "table {} defines it; section 10.1.4 lists it as not implemented in NVIDIA's tools of that time"
)
DIFFERENCES = {
    **{
        f"mad.{rounding}{ftz}{sat}.f32": UNIMPLEMENTED.format(42)
        for rounding in ("rn", "rz", "rm", "rp") for ftz in ("", ".ftz") for sat in ("", ".sat")
    },
    **{
        f"{name}.{rounding}{ftz}{sat}.f32": UNIMPLEMENTED.format(table)
        for name, table in (("add", 38), ("sub", 39), ("mul", 40))
        for rounding in ("rm", "rp") for ftz in ("", ".ftz") for sat in ("", ".sat")
    },
    "div.sat.f32": "PTX 1.4 section 10.1.1 removed it, so 1.3 and before had it",
    "rcp.f64": "table 48 makes it rcp.rn.f64 in versions up to 1.3; ptxas reads rcp.approx.f64",
}  # fmt: skip
"""What the text of PTX 1.4 allows and ptxas 13 refuses in its modules, by opcode, with the reason."""
