"""Runs kernels of `tests.property.index_programs` and compares them with the model.

`python -m tests.property.index_running FIRST END [--engine jit] [--cpu x86-64-v3] [--seconds 500]` tries some
seeds.
"""

from __future__ import annotations

import argparse
import math
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import simt
from simt.analysis import taking_turns
from simt.analysis.shape import BlockShape
from simt.engine import llvm_slots
from simt.engine.cache import ObjectCache
from simt.engine.jit import Jit
from tests.property.index_generator import program
from tests.property.index_long import LongText
from tests.property.index_memory import Rejected
from tests.property.index_model import Model, first
from tests.property.index_programs import Program
from tests.property.index_text import Text


def problem(made: Program, device: simt.Device, write: type[Text] = Text) -> str:
    """What an engine does wrong, empty if nothing. Raises `Rejected`."""
    text = write(made)
    model = Model(made, text.lines_of)
    array = device.array(first())
    try:
        parameters = [np.uint32(p) for p in made.parameters]
        device.load(str(text))["k"](made.grid, made.block, (array, *parameters))
        found = np.array(array.numpy())
    except simt.MemoryFault as fault:
        return _wrong_fault(fault, model, array.ptr)
    finally:
        array.free()
    if model.candidates:
        return f"no fault, but there are {model.candidates[:3]}"
    wrong = np.flatnonzero(found != model.memory)
    if len(wrong):
        at = int(wrong[0]) // 4
        word, expected = found.view("u4")[at], model.memory.view("u4")[at]
        return f"{len(wrong)} bytes wrong, the first in word {at}: {word} instead of {expected}"
    return ""


@contextmanager
def reshaped(jit: Jit) -> Iterator[None]:
    """The JIT fills up rows of CTAs, joins CTAs, and lets warps take turns in loops, wherever no thread can
    tell, whether it pays or not. Such code has a cache of its own."""

    def cost(*given: Any) -> int:
        block = next(x for x in given if isinstance(x, BlockShape))
        return -(1 << 40) if block.threads_of_row or block.joins else 1 << 40

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvm_slots, "cost", cost)
        patch.setattr(taking_turns, "_walks", taking_turns._only_plain)
        patch.setattr(taking_turns, "_goes_through_planes", taking_turns._only_plain)
        patch.setattr(jit.compiler, "objects", ObjectCache(Path(folder)))
        yield


def _wrong_fault(fault: simt.MemoryFault, model: Model, base: int) -> str:
    site = fault.site
    x, y, _ = model.program.block
    assert site.cta
    assert site.thread
    thread = site.thread[0] + x * (site.thread[1] + y * site.thread[2])
    relative = fault.address - base if fault.space in ("global", "") else fault.address
    cta = site.cta[0] + model.program.grid[0] * site.cta[1]
    told = (cta, thread, site.line, relative % 2**64, str(fault).startswith("misaligned"))
    possible = [(c.cta, c.thread, c.line, c.address, c.misaligned) for c in model.candidates]
    if told in possible:
        return ""
    return f"fault {told}, not one of {possible[:4]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--engine", action="append", choices=("jit", "interpreter"), help="both by default")
    parser.add_argument("--cpu", help="that the JIT makes code for")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no other is begun")
    parser.add_argument("--tiles", action="store_true", help="indices are cut into rows")
    parser.add_argument("--speaks", action="store_true", help="lanes speak with those of their warp")
    parser.add_argument("--reshaped", action="store_true", help="CTAs are filled up and joined")
    parser.add_argument("--long", action="store_true", help="divisions are of 64 bits")
    given = parser.parse_args()
    devices = {
        engine: simt.Device("sm_90", engine=engine, memory="256MiB", timeout=20, cpu=given.cpu)
        for engine in given.engine or ("jit", "interpreter")
    }
    modes = given.tiles, given.reshaped, given.speaks
    write = LongText if given.long else Text
    ran = rejected = wrong = 0
    end = time.monotonic() + given.seconds
    for seed in range(given.first, given.end):
        if time.monotonic() > end:
            break
        ran += 1
        try:
            found = {
                engine: _outcome(program(Random(seed), *modes), device, given.reshaped, write)
                for engine, device in devices.items()
            }
        except Rejected:
            rejected += 1
            continue
        for engine, what in found.items():
            if what:
                wrong += 1
                print(f"seed {seed}, {engine}: {what}", flush=True)
    print(f"{ran} programs, {rejected} rejected, {wrong} wrong")


def _outcome(made: Program, device: simt.Device, apart: bool, write: type[Text]) -> str:
    """What is wrong with a program's results, or the error of our own that kept it from any."""
    try:
        if apart and isinstance(device.engine, Jit):
            with reshaped(device.engine):
                return problem(made, device, write)
        return problem(made, device, write)
    except Rejected:
        raise
    except Exception:
        return traceback.format_exc()


if __name__ == "__main__":
    main()
