"""Where a kernel's time goes: `python bench/samples.py NAME [--least 2] [--seconds 3] [--code]`.

A kernel of the suite or the survey runs on one core, made as well as can be, and is asked a thousand times a
second (of processor time) where it is. For each kernel of the problem the functions and the blocks of machine
code are listed that have some of the samples; with `--code` the instructions of these blocks, too. An
instruction that waits gets the samples, and often those of the one behind it. For x86-64 under
Linux, where gcc and objdump are.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import subprocess
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["SIMT_DRAFTS"] = "0"  # before simt is imported

import numpy as np
from suite.catalogue import ENTRIES
from suite.measure import timed
from suite.problem import Problem
from suite.versions import BUILD, Virtual
from survey.catalogue import CASES
from timing import pin_to_one_core

from simt.engine import compiler
from simt.engine.abi import KERNEL

MICROSECONDS = 1000
MOST = 1 << 18
PROBLEMS: dict[str, Any] = {**{entry.name: entry for entry in ENTRIES}, **CASES}


@dataclass
class Instruction:
    """`place`: in the object. `samples`: how many found it waiting."""

    place: int
    function: str
    text: str
    samples: int = 0


def sampler() -> Any:
    BUILD.mkdir(parents=True, exist_ok=True)
    source, library = Path(__file__).with_suffix(".c"), BUILD / "samples.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def watch_links() -> list[tuple[int, bytes]]:
    """Addresses of the kernels that are put into memory from now on, and the objects that hold them."""
    found, place = list[tuple[int, bytes]](), compiler.place

    def noted(images: Sequence[bytes], names: Sequence[str]) -> tuple[list[int], object]:
        addresses, code = place(images, names)
        if tuple(names) == (KERNEL,):
            found.append((addresses[0], images[0]))
        return addresses, code

    compiler.place = noted
    return found


def sampled(virtual: Virtual, problem: Problem, seconds: float) -> np.ndarray:
    """Addresses at which the thread was."""
    library, places = sampler(), np.zeros(MOST, "u8")
    timed(virtual, problem, time.process_time)
    end = time.process_time() + seconds
    library.start(MICROSECONDS)
    while time.process_time() < end:
        timed(virtual, problem, time.process_time)
    count = library.stop(ctypes.c_void_p(places.ctypes.data))
    return places[:count]


def instructions(image: bytes) -> list[Instruction]:
    """Those of the section that the kernel itself is in: other code runs seldom."""
    path = BUILD / "samples.o"
    path.write_bytes(image)
    command = ["objdump", "-d", "--no-show-raw-insn", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found, function = list[Instruction](), ""
    for line in text.splitlines():
        if line.startswith("Disassembly of section"):
            if any(i.function == KERNEL for i in found):
                break
            found = []
        if head := re.match(r"^\w+ <(.*)>:", line):
            function = head[1]
        elif item := re.match(r"^\s*(\w+):\s+(.*)", line):
            found.append(Instruction(int(item[1], 16), function, item[2].strip()))
    return found


def blocks(code: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Instructions that run one after the other."""
    targets = {int(m[1], 16) for i in code if (m := re.match(r"j\w+\s+(\w+)", i.text))}
    block = list[Instruction]()
    for i in code:
        if block and (
            i.place in targets or re.match("j|ret", block[-1].text) or i.function != block[-1].function
        ):
            yield block
            block = []
        block.append(i)
    yield block


def report(address: int, image: bytes, places: np.ndarray, least: float, with_code: bool) -> None:
    """Of one kernel. `least`: percent of its samples from which a block is listed."""
    code = instructions(image)
    start = next((i.place for i in code if i.function == KERNEL), None)
    if start is None:
        print("a kernel whose code is in several objects: not looked at")
        return
    offsets, ends = places.astype("i8") - (address - start), code[-1].place + 16
    own = offsets[(offsets >= 0) & (offsets < ends)]
    starts = [i.place for i in code]
    for offset in own.tolist():
        code[bisect_right(starts, offset) - 1].samples += 1
    functions = Counter[str]()
    for i in code:
        functions[i.function] += i.samples
    shares = ", ".join(f"{name} {count / max(len(own), 1):.0%}" for name, count in functions.most_common(6))
    print(f"kernel at {address:#x}: {len(own)} of {len(places)} samples; {shares}")
    for block in blocks(code):
        share = 100 * sum(i.samples for i in block) / max(len(own), 1)
        if share < least:
            continue
        print(f"{share:5.1f}%  {block[0].place:6x}  {len(block):4d} instructions of {block[0].function}")
        for i in block if with_code else ():
            print(f"    {i.samples or '':>5}  {i.place:6x}  {i.text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of a kernel of the suite or the survey")
    parser.add_argument("--least", type=float, default=2.0, help="percent of the samples of a block to list")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--arch", type=int, help="100: a kernel of the survey as nvcc makes it for sm_100")
    parser.add_argument("--code", action="store_true", help="list the instructions, too")
    given = parser.parse_args()
    if given.name not in PROBLEMS:
        parser.error(f"nothing of the name {given.name}")
    pin_to_one_core()
    entry, kernels = PROBLEMS[given.name], watch_links()
    if given.arch is not None:
        entry = entry.made_for(given.arch)
    arch = f"sm_{max(getattr(entry, 'arch', 90), 90)}"
    problem = entry.problem("full")
    virtual = Virtual(entry, problem, 1, arch=arch)
    places = sampled(virtual, problem, given.seconds)
    for address, image in kernels:
        report(address, image, places, given.least, given.code)


if __name__ == "__main__":
    main()
