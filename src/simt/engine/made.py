"""Machine code, and what is known of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple, cast

from simt.analysis.shape import BlockShape
from simt.engine.drafts import Draft, Source
from simt.engine.fine import Coarse
from simt.engine.system_gate import SystemCall
from simt.records import dataclass

Entry = Callable[[int, int], None]


class Made(NamedTuple):
    """Object code, one object after the other (`objects_of`), and what else the cache keeps with it. `draft`:
    there if better code is to follow."""

    header: dict[str, object]
    image: bytes
    draft: Source | None


def objects_of(header: dict[str, object], image: bytes) -> list[bytes]:
    """The objects of a kernel's code, which are to be linked with each other."""
    ends = list(itertools.accumulate(cast("list[int]", header["sizes"])))
    return [image[start:end] for start, end in zip([0, *ends], ends)]


@dataclass
class Compiled:
    """A kernel's machine code for one shape of CTA.

    `entry(launch, worker)` takes the addresses of the blocks of `simt.engine.abi`; it lies at `address`.
    `symbols`: module variables in the order of the launch's table. `context`: bytes of saved context for
    each warp. `system`: the functions of the system that it calls, by number. `spins`: it has loops that
    wait for other threads. `locks`: it changes device memory by atomic operations. `shallow`: it takes little
    native stack. `fetches`: how it reads textures: geometry, type of coordinates. `block`: how it counts
    threads and CTAs (`simt.analysis.turned`, `simt.analysis.padded`). `code` keeps the machine code alive.
    `draft`: there if better code is to follow; `coarse`: there if it may, or has just come."""

    entry: Entry
    address: int
    symbols: tuple[str, ...]
    context: int
    system: tuple[SystemCall, ...]
    spins: bool
    locks: bool
    shallow: bool
    fetches: tuple[tuple[str, str], ...]
    block: BlockShape
    code: object
    draft: Draft | None = None
    coarse: Coarse | None = None


@dataclass
class Native:
    """`run(call)` takes the address of a block of `CallSlot`s and gives the number of launches that were not
    stopped, or raises what a handler of signals raised. `serve`: an address, for `LaunchSlot.SERVE`. The
    others are for threads that help: see `simt.engine.native_seats`; and for fibers: see
    `simt.engine.native_fibers`. `yields`, `drain`, `system`: addresses. `hire`: None where there are no
    fibers. `repeat`: an address, for `simt.engine.repeat`."""

    run: Callable[[int], int]
    serve: int
    linger: Callable[[int], None]
    ask: Callable[[int, int, int, int, int, int, int, int], int]
    withdraw: Callable[[int, int, int], int]
    join: Callable[[int, int, int, int], int]
    yields: int
    drain: int
    system: int
    hire: Callable[[int, int, int, int, int], None] | None
    repeat: int
    code: object
