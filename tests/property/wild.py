"""Kernels that do what they should not, for the robustness tests: wild addresses by state space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

import simt

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"
CTA, THREAD, BLOCK = 1, 35, 37
"""The thread that makes the access."""

SHARED, LOCAL, ARRAY = 96, 64, 256
"""Bytes of the shared and local variables, and of the array in global memory."""

SPACES = ("global", "shared", "local", "")
ACCESSES = {
    "load8": (1, "ld{s}.u8 %r0, [%a];"),
    "load32": (4, "ld{s}.u32 %r0, [%a];"),
    "load64": (8, "ld{s}.b64 %d0, [%a];"),
    "load2": (8, "ld{s}.v2.b32 {{%r0, %r1}}, [%a];"),
    "load4": (16, "ld{s}.v4.f32 {{%f0, %f1, %f2, %f3}}, [%a];"),
    "store16": (2, "st{s}.b16 [%a], 7;"),
    "store32": (4, "st{s}.u32 [%a], 7;"),
    "store4": (16, "st{s}.v4.b32 [%a], {{%r0, %r0, %r1, %r1}};"),
    "atom32": (4, "atom{s}.add.u32 %r0, [%a], 1;"),
    "atom64": (8, "atom{s}.cas.b64 %d0, [%a], 1, 2;"),
}
"""Size and instruction by name."""


def kernel(name: str, space: str, instruction: str) -> str:
    """One thread of the grid makes the access; all write their number to `out` before it."""
    line = instruction.format(s=f".{space}" if space else "")
    return f""".visible .entry {name}(.param .u64 address, .param .u64 out) {{
    .shared .align 16 .b8 window[{SHARED}]; .local .align 16 .b8 frame[{LOCAL}];
    .reg .u32 %r<4>; .reg .b64 %d<2>; .reg .f32 %f<4>; .reg .u64 %a, %o; .reg .pred %p, %q;
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    st.local.u32 [frame], %r0; st.shared.u32 [window], %r0;
    setp.eq.u32 %p, %r0, {THREAD}; setp.eq.and.u32 %p, %r1, {CTA}, %p;
    mad.lo.u32 %r2, %r1, %r2, %r0; ld.param.u64 %a, [address]; ld.param.u64 %o, [out];
    mul.wide.u32 %d0, %r2, 4; add.u64 %o, %o, %d0; st.global.u32 [%o], %r2;
    @!%p ret;
    {line}
    st.global.b32 [%o], %r0; st.global.f32 [%o], %f0; cvt.u32.u64 %r1, %d0; st.global.u32 [%o], %r1;
    ret;
}}
"""


def name_of(space: str, access: str) -> str:
    return f"{access}_{space or 'generic'}"


def module_text() -> str:
    cases = [(s, a) for s in SPACES for a in ACCESSES if not (s == "local" and a.startswith("atom"))]
    return HEADER + "".join(kernel(name_of(s, a), s, ACCESSES[a][1]) for s, a in cases)


@cache
def wild_module(device: simt.Device) -> simt.Module:
    return device.load(module_text())


@dataclass(frozen=True)
class Access:
    """One access at one address."""

    space: str
    access: str
    address: int

    @property
    def size(self) -> int:
        return ACCESSES[self.access][0]

    @property
    def name(self) -> str:
        return name_of(self.space, self.access)

    @property
    def place(self) -> int:
        """Where the access goes: of addresses of shared and local memory a GPU takes 32 bits."""
        return self.address % (1 << 32) if self.space in ("shared", "local") else self.address


def random_access(random: Random, base: int, limit: int, array: int) -> Access:
    """Any access anywhere, but none that may change an array other than the one at `array`."""
    space = random.choice(SPACES)
    access = random.choice([a for a in ACCESSES if not (space == "local" and a.startswith("atom"))])
    found = Access(space, access, _address(random, space, base, limit, array))
    own = array <= found.address and found.address + found.size <= array + ARRAY
    elsewhere = space in ("global", "") and base <= found.address < limit and not own
    if elsewhere and not access.startswith("load"):
        return Access(space, "load32", found.address)
    return found


def _address(random: Random, space: str, base: int, limit: int, array: int) -> int:
    near = random.randint(-24, 24)
    windows = {"shared": SHARED, "local": LOCAL}
    places = [
        0,
        1 << 31,
        1 << 32,
        1 << 47,
        1 << 63,
        (1 << 64) - 1,
        random.getrandbits(64),
        random.getrandbits(20),
    ]
    places += [windows[space]] * 6 if space in windows else [base, limit, array, array, array + ARRAY]
    return (random.choice(places) + near) % (1 << 64)


def must_fault(a: Access, base: int, limit: int) -> bool | None:
    """Whether the access is illegal; None where that depends on where the windows lie."""
    if a.place % a.size:
        return True
    if a.space == "":
        return None if not base <= a.place < limit else a.place + a.size > limit
    first, end = {"global": (base, limit), "shared": (0, SHARED), "local": (0, LOCAL)}[a.space]
    return not (first <= a.place and a.place + a.size <= end)
