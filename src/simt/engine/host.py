"""The CPU that compiled code is for: this machine's own, or an older one that it can stand in for."""

from __future__ import annotations

import platform
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple, cast

from simt.digests import digest
from simt.engine.cache import ObjectCache, code_fingerprint, llvm_fingerprint
from simt.errors import SimtError
from simt.imports import import_whole
from simt.records import dataclass

HOST = "host"
_X86_LEVELS = {
    "x86-64": "cmov cx8 fxsr mmx sse sse2",
    "x86-64-v2": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3",
    "x86-64-v3": "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}
"""What each level adds to the one before (x86-64 psABI, "Micro-Architecture Levels"), by LLVM's names."""
SLOW_GATHERS = "slow-gathers"
"""A name of our own: a gather takes longer than a load for each lane, as on AMD's Zen up to the fifth. LLVM
takes it so for AVX2 where it does not know the CPU."""
ASKS_FAR = "asks-far"
"""A name of our own: what is asked for into the second cache, as much as a CTA loads, is there when it is
used. AMD's Zen 4 and 5 take 1.7 times and more than twice the time of a scan with it."""
ASKS_BY_PHASES = "asks-by-phases"
"""A name of our own: what a CTA asks for next to each of its barriers is there when it is used. AMD's Zen 4
takes 0.74 of the time of a scan in three passes with it, Zen 3 0.82 (28 kernels 0.99 in the mean, sums with
`tid % (2 * step)` 1.2). (Zen 5 was not measured, and goes without.)"""
FOLLOWS_WIDE = "follows-wide"
"""A name of our own: the CPU follows warps that load 16 bytes for each thread, and is disturbed where what
later ones load is asked for: AMD's Zen 4 takes 1.7 times as long for a scan, 1.5 for small matrices. (Zen 3
does not follow: it takes 1.2 and 1.4 times as long where it is not asked for.)"""
PAGES_APART = "pages-apart"
"""A name of our own: several pages of memory that take turns are there sooner than one page after the other.
On AMD's Zen 5 no order is faster than the plain one; Zen 4 takes 1.5 times as long for a saxpy with it."""
STALE_PLACES = "stale-places"
"""A name of our own: where a general register comes straight from a vector and holds an address, an integer
that is loaded there is first taken for what was stored at the address that the register held before, and
found out to be wrong 15 ns later. So are AMD's Zen 4; Zen 5 is not."""
FAR_TURNS = "far-turns"
"""A name of our own: what a loop loads from another page in each turn comes late, since the CPU does not ask
for it ahead, nor gets as far as some turns on. So are AMD's Zen 3 and 4 (down the columns of a matrix 0.3 to
0.55 of the time where it is asked for); on Zen 5 such loops take less than half of that."""
_OF_AMD = {
    "znver3": frozenset({SLOW_GATHERS, ASKS_BY_PHASES, FAR_TURNS}),
    "znver4": frozenset({SLOW_GATHERS, ASKS_BY_PHASES, FOLLOWS_WIDE, STALE_PLACES, FAR_TURNS}),
}
_OF_OTHERS = frozenset({ASKS_FAR, ASKS_BY_PHASES, PAGES_APART})
HABITS = _OF_OTHERS.union(*_OF_AMD.values()) - {SLOW_GATHERS}
"""All that some CPU has of these, but for what its instructions take."""
_TOLD_OF_X86 = "vendor_id", "cpu family", "model\t", "stepping", "flags"
"""How lines of `/proc/cpuinfo` begin that tell what a CPU is, and what it can do."""
_ARM_BASE = frozenset({"fma", "fp-armv8", "neon", "round"})
"""What every 64-bit Arm CPU has; `fma` and `round` (to integral values) are names of our own."""


_PIECES = {"avx512f": 1, "avx2": 2}


def pieces(features: frozenset[str]) -> int:
    """As many times as AVX-512 needs, a CPU needs registers for a warp's values. LLVM works about as many
    times as long on a line of IR."""
    return next((number for name, number in _PIECES.items() if name in features), 4)


def only_avx2(features: frozenset[str]) -> bool:
    """Whether a CPU computes in registers of 256 bits, and has none for masks: comparisons leave words."""
    return pieces(features) == _PIECES["avx2"]


def looks_far(features: frozenset[str]) -> bool:
    """Whether a CPU looks far enough ahead past branches and stores that wait for memory. By measurement, Zen
    4 takes 1.04 to 1.15 times as long where turns of a loop ask for the words of a later one (a search of a
    graph by levels, sums by edges), Zen 3 0.57 to 0.85. CPUs with AVX-512 are taken to look far."""
    return "avx512f" in features


_PICKS = {"avx512vbmi": 1, "avx512bw": 2, "avx512f": 4}


def picks(features: frozenset[str]) -> int | None:
    """Bytes of the smallest words that a CPU picks out of any two registers by one instruction."""
    return next((word for name, word in _PICKS.items() if name in features), None)


def stores_some(features: frozenset[str]) -> bool:
    """Whether a CPU stores some words of a vector as fast as all of them, bytes and halves too. AVX2 has such
    stores of larger words, which take AMD's Zen 3 5 ns for each register."""
    return "avx512bw" in features


@dataclass(frozen=True, slots=True)
class Cpu:
    """What LLVM is told about a CPU, and what emission asks about it.

    `name`, `flags`: LLVM's name, and features beyond those that go with the name, as LLVM writes them.
    `features`: all that code may use, by LLVM's names.
    """

    name: str
    triple: str
    flags: str
    features: frozenset[str]

    @property
    def identity(self) -> str:
        """Differs between CPUs whose code may differ."""
        return "\n".join((self.name, self.triple, self.flags, *sorted(self.features)))

    @property
    def on_linux(self) -> bool:
        return "linux" in self.triple

    @property
    def is_x86_linux(self) -> bool:
        """x86-64 under Linux."""
        return self.on_linux and self.triple.startswith("x86_64")


AARCH64 = Cpu("generic", "aarch64-unknown-linux-gnu", "", _ARM_BASE)
"""Every 64-bit Arm CPU under Linux."""


class Told(NamedTuple):
    """What LLVM tells of this machine: `flags` are all features that it knows, with + or -."""

    name: str
    triple: str
    flags: str


@cache
def told() -> Told:
    """From the cache, by what the system tells of the CPU: LLVM need not be loaded for it then."""
    cpu = _by_system()
    if cpu is None:
        return _ask_llvm()
    parts = "host", code_fingerprint(), llvm_fingerprint(), cpu
    objects, key = ObjectCache(), digest("\0".join(parts).encode()).hex()
    found = objects.load(key)
    if found is not None:
        return Told(**cast("dict[str, Any]", found[0]))
    asked = _ask_llvm()
    objects.store(key, asked._asdict(), b"")
    return asked


def _ask_llvm() -> Told:
    import_whole("simt.engine.library")
    from simt.engine.library import llvm  # only if needed: start-up time

    flags = llvm.get_host_cpu_features().flatten()
    return Told(llvm.get_host_cpu_name(), llvm.get_process_triple(), flags)


def _by_system() -> str | None:
    """What Linux tells of an x86 CPU. None for others, and where it tells nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = list(takewhile(str.strip, file))
    except OSError:
        return None
    found = [line for line in lines if line.startswith(_TOLD_OF_X86)]
    return "".join(found) if len(found) >= len(_TOLD_OF_X86) else None


def host_features() -> frozenset[str]:
    """Features of this machine's CPU."""
    found = told()
    enabled = frozenset(flag[1:] for flag in found.flags.split(",") if flag.startswith("+"))
    enabled |= _habits(found.name)
    return enabled | _ARM_BASE if _is_arm() else enabled


def _habits(name: str) -> frozenset[str]:
    """What is known by measurement about the CPU to which LLVM gives a name."""
    return _OF_AMD.get(name, frozenset({SLOW_GATHERS})) if name.startswith("znver") else _OF_OTHERS


@cache
def host_cpu() -> Cpu:
    """This machine's CPU, with all that it can do."""
    found = told()
    return Cpu(found.name, found.triple, found.flags, host_features())


@cache
def named_cpus() -> dict[str, Cpu]:
    """The CPUs of this machine's architecture by the names that users give, the oldest first."""
    if _is_arm():
        return {"aarch64": Cpu("generic", _triple(), "", _ARM_BASE)}
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return {}
    found: dict[str, Cpu] = {}
    features: frozenset[str] = frozenset()
    for name, added in _X86_LEVELS.items():
        features |= frozenset(added.split())
        slow = {SLOW_GATHERS} if only_avx2(features) else set[str]()
        found[name] = Cpu(name, _triple(), "", features | slow)
    return found


def find_cpu(name: str) -> Cpu:
    """The CPU of a name: `host`, or one of `named_cpus`. Raises `SimtError` if there is no such name, or if
    this machine cannot run that CPU's code."""
    if name == HOST:
        return host_cpu()
    found = named_cpus().get(name)
    if found is None:
        expected = ", ".join((HOST, *named_cpus()))
        raise SimtError(f"no CPU {name!r}: expected one of {expected} (this machine is {platform.machine()})")
    if missing := sorted(found.features - host_features() - {SLOW_GATHERS}):
        raise SimtError(f"cpu: {name} needs {', '.join(missing)}, which this machine's CPU does not have")
    return found


def _is_arm() -> bool:
    return platform.machine().lower() in ("aarch64", "arm64")


def _triple() -> str:
    return told().triple
