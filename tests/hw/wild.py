"""Accesses at addresses that leave their state space, or write what is constant: for the recorder and for the
test of what it recorded.

Every program is a module of its own with an entry `k` of a pointer to 8 words of 32 bits, run by one thread.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).parent / "vectors" / "wild.json"
WORDS = 8
"""Of output."""
BEGUN = 77
"""The first of them when an access was reached that ends without an error."""

SHARED = ".shared .align 16 .b32 cell[8];"
CONST = ".const .align 16 .b32 fixed[8] = {101, 102, 103, 104, 105, 106, 107, 108};"
GLOBAL = ".global .align 16 .b32 fixed[8] = {101, 102, 103, 104, 105, 106, 107, 108};"
UPPER = {"bit 32": 1 << 32, "bit 40": 1 << 40, "bit 63": 1 << 63, "all": 0xFFFF_FFFF << 32}
"""What is added to an address that fits 32 bits."""
TEXTS = {"2.0": ("2.0", 20), "3.1": ("3.1", 30), "8.0": ("8.0", 90)}


@dataclass(frozen=True)
class Wild:
    """`body`: may use `%a` and `%b` of 64 bits, `%zero` of 64 and `%x`, `%y`, `%z`, `%w` of 32 bits, which
    are 0 though a compiler cannot know it, the local variable `own` of 8 words, and the parameter `blob` of
    the words 201 to 208. `variables`: of the module."""

    name: str
    version: str
    target: int
    body: str
    variables: str = ""

    @property
    def text(self) -> str:
        size = ".address_size 64\n" if self.version not in ("1.4", "2.0") else ""
        return f""".version {self.version}
.target sm_{self.target}
{size}{self.variables}
.entry k (.param .u64 out, .param .align 16 .b8 blob[32])
{{
    .reg .u64 %out, %zero, %a, %b; .reg .u32 %x, %y, %z, %w; .reg .pred %p;
    .local .align 16 .b32 own[8];
    ld.param.u64 %out, [out];
    ld.global.u64 %zero, [%out+24];
    cvt.u32.u64 %x, %zero; mov.u32 %y, %x; mov.u32 %z, %x; mov.u32 %w, %x;
{self.body}
    st.global.u32 [%out], {BEGUN};
    st.global.u32 [%out+4], %x; st.global.u32 [%out+8], %y;
    st.global.u32 [%out+12], %z; st.global.u32 [%out+16], %w;
    exit;
}}
"""


def _upper_halves() -> Iterator[Wild]:
    """State spaces of 32 bits at addresses of 64 bits that do not fit. What is there is 11, 12, 13, 14."""
    for text, (version, target) in TEXTS.items():
        uppers = UPPER if text == "8.0" else {"bit 32": UPPER["bit 32"]}
        for space, name in (("shared", "cell"), ("local", "own")):
            filled = "".join(f"    st.{space}.u32 [{name}+{4 * i}], {11 + i};\n" for i in range(4))
            for what, upper in uppers.items():
                start = f"{filled}    mov.u64 %a, {name}; add.u64 %a, %a, {upper:#x};\n"
                start += "    add.u64 %a, %a, %zero;\n"
                back = f"    ld.{space}.u32 %x, [{name}]; ld.{space}.u32 %y, [{name}+4];"
                accesses = {
                    "ld": f"    ld.{space}.u32 %x, [%a]; ld.{space}.u32 %y, [%a+4];",
                    "ld.v4": f"    ld.{space}.v4.u32 {{%x, %y, %z, %w}}, [%a];",
                    "st": f"    st.{space}.u32 [%a+4], 99;\n{back}",
                }
                if space == "shared":
                    accesses["atom"] = f"    atom.shared.add.u32 %z, [%a+4], 5;\n{back}"
                    accesses["red"] = f"    red.shared.add.u32 [%a+4], 5;\n{back}"
                variables = SHARED if space == "shared" else ""
                for access, lines in accesses.items():
                    yield Wild(
                        f"{access} {space}, {what}, PTX {text}", version, target, start + lines, variables
                    )
        for what, upper in uppers.items():
            start = f"    mov.u64 %a, fixed; add.u64 %a, %a, {upper:#x}; add.u64 %a, %a, %zero;\n"
            yield Wild(
                f"ld const, {what}, PTX {text}", version, target, f"{start}    ld.const.u32 %x, [%a];", CONST
            )
            start = f"    mov.u64 %a, blob; add.u64 %a, %a, {upper:#x}; add.u64 %a, %a, %zero;\n"
            yield Wild(f"ld param, {what}, PTX {text}", version, target, f"{start}    ld.param.u32 %x, [%a];")


def _sums() -> Iterator[Wild]:
    """Register and offset whose sum does not fit 32 bits: -4 and 8."""
    for text, (version, target) in TEXTS.items():
        filled = "".join(f"    st.shared.u32 [cell+{4 * i}], {11 + i};\n" for i in range(4))
        for wide, minus in ((32, 0xFFFF_FFFC), (64, 0xFFFF_FFFC), (64, 0xFFFF_FFFF_FFFF_FFFC)):
            register, zero = ("%a", "%zero") if wide == 64 else ("%w", "%x")
            body = f"""{filled}    mov.u{wide} {register}, cell;
    add.u{wide} {register}, {register}, {minus:#x}; add.u{wide} {register}, {register}, {zero};
    ld.shared.u32 %y, [{register}+8]; mov.u32 %w, 0;"""
            yield Wild(f"sum, {wide} bits, {minus:#x}, PTX {text}", version, target, body, SHARED)


def _constants() -> Iterator[Wild]:
    """Constant memory by its generic address, and as an address of global memory; likewise parameters."""
    for text in ("3.1", "8.0"):
        version, target = TEXTS[text]
        for where, variables, space in (
            ("fixed", CONST, "const"), ("fixed", GLOBAL, "global"), ("blob", "", "param"),
        ):  # fmt: skip
            if space == "param" and text != "8.0":  # cvta.param is of PTX 7.7
                continue
            start = f"    mov.u64 %b, {where}; cvta.{space}.u64 %a, %b;\n"
            back = f"    ld.{space}.u32 %y, [{where}+4]; ld.u32 %z, [%a+4];"
            accesses = {
                "ld": "    ld.u32 %x, [%a]; ld.u32 %y, [%a+4];",
                "ld.global": "    ld.global.u32 %x, [%a];",
                "st": f"    st.u32 [%a+4], 99;\n{back}",
                "st.global": f"    st.global.u32 [%a+4], 99;\n{back}",
                "st.volatile": f"    st.volatile.u32 [%a+4], 99;\n{back}",
                "atom": f"    atom.add.u32 %x, [%a+4], 5;\n{back}",
                "red": f"    red.add.u32 [%a+4], 5;\n{back}",
                "atom.cas": f"    atom.cas.b32 %x, [%a+4], 102, 99;\n{back}",
            }
            for access, lines in accesses.items():
                yield Wild(f"{access} of {space}, PTX {text}", version, target, start + lines, variables)


@functools.cache
def programs() -> dict[str, Wild]:
    every = (*_upper_halves(), *_sums(), *_constants())
    return {wild.name: wild for wild in every}


@functools.cache
def recorded() -> dict[str, list[int] | str]:
    """By name: the words of the output, or the driver's error."""
    return json.loads(RECORDED.read_text())
