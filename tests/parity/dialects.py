"""The versions and targets that snippets are tried in, each with a module for them to stand in."""

from __future__ import annotations

from dataclasses import dataclass

from simt.isa.form import Version
from simt.isa.targets import parse_target

BASIC_TYPES = ("pred", *(f"{k}{n}" for n in (16, 32, 64) for k in "usb"), "f16", "f32", "f64")
FIRST_PACKED = (4, 2), 53
PARAMETER_LISTS: Version = (1, 4)
LAST_TEX: Version = (1, 4)
FIRST_ADDRESS_SIZE: Version = (2, 3)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A `.version` and what stands after `.target`."""

    version: Version
    target: str

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]} {self.target}"

    @property
    def number(self) -> int:
        """The number in `sm_13`."""
        found = parse_target(self.target.split(",")[0])
        assert found is not None
        return found.number

    @property
    def register_types(self) -> tuple[str, ...]:
        """Types that registers are declared with."""
        packed = self.version >= FIRST_PACKED[0] and self.number >= FIRST_PACKED[1]
        return (*BASIC_TYPES, "f16x2") if packed else BASIC_TYPES

    @property
    def head(self) -> str:
        """The lines before the snippets; the last one is whole."""
        return self.directives + "\n".join((*self._top(), *self._entry(), *self._registers())) + "\n"

    @property
    def directives(self) -> str:
        """The lines that every module begins with."""
        size = ".address_size 64\n" if self.version >= FIRST_ADDRESS_SIZE else ""
        return f".version {self.version[0]}.{self.version[1]}\n.target {self.target}\n{size}"

    def _top(self) -> list[str]:
        texture = ".tex .u64 tvar;" if self.version <= LAST_TEX else ".global .texref tvar;"
        spaces = [f".{s} .align 16 .b8 {s[0]}var[64];" for s in ("global", "shared", "const")]
        return [*spaces, texture, ".func fvar (.reg .u32 %x) { ret; }"]

    def _entry(self) -> list[str]:
        parameter = ".param .align 16 .b8 pvar[64]"
        if self.version >= PARAMETER_LISTS:
            return [f".entry k ({parameter}) {{"]
        return [".entry k {", f"{parameter};"]

    def _registers(self) -> list[str]:
        vectors = [".reg .u8 %u8<3>;", ".reg .v2 .u32 %w2;", ".reg .v4 .f32 %w4;"]
        scalars = [f".reg .{t} %{t}_<6>;" for t in self.register_types]
        return [".local .align 16 .b8 lvar[64];", *vectors, *scalars, "L0:"]


TAIL = "ret;\n}\n"

NEWEST = Dialect((9, 0), "sm_90")
OLD = (
    Dialect((1, 0), "sm_10"),
    Dialect((1, 0), "sm_11"),
    Dialect((1, 1), "sm_11"),
    Dialect((1, 2), "sm_12"),
    Dialect((1, 2), "sm_13"),
    Dialect((1, 3), "sm_10"),
    Dialect((1, 3), "sm_13"),
    Dialect((1, 4), "sm_10"),
    Dialect((1, 4), "sm_10, map_f64_to_f32"),
    Dialect((1, 4), "sm_12"),
    Dialect((1, 4), "sm_13"),
)
MIDDLE = (
    Dialect((1, 5), "sm_13"),
    Dialect((2, 0), "sm_13"),
    Dialect((2, 0), "sm_20"),
    Dialect((2, 3), "sm_20"),
    Dialect((3, 0), "sm_30"),
    Dialect((3, 1), "sm_35"),
    Dialect((4, 0), "sm_50"),
    Dialect((4, 2), "sm_53"),
    Dialect((5, 0), "sm_60"),
    Dialect((6, 0), "sm_70"),
    Dialect((6, 4), "sm_62"),
    Dialect((6, 4), "sm_70"),
    Dialect((7, 0), "sm_80"),
    Dialect((7, 8), "sm_80"),
    Dialect((7, 8), "sm_90"),
    Dialect((8, 0), "sm_90"),
)
DIALECTS = (*OLD, *MIDDLE, NEWEST)
